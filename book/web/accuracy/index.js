/** Start the chart on a page that has an element with the id "accuracy". */

import { mount } from "./figure.js";

const element = document.getElementById("accuracy");
if (element) window.stAccuracy = mount(element);
