/** Start the racks on a page that has an element with the id "racks". */

import { mount } from "./figure.js";

const element = document.getElementById("racks");
if (element) window.stRacks = mount(element);
