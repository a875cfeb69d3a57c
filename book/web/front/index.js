/** Start the figure on a page that has an element with the id "home". */

import { mount } from "./figure.js";

const element = document.getElementById("home");
if (element) window.stHome = mount(element);
