/** Start the figure on a page that has an element with the id "memory". */

import { mount } from "./figure.js";

const element = document.getElementById("memory");
if (element) mount(element);
