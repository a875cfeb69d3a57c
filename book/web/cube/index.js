/** Start the figure on a page that has an element with the id "cube". */

import { mount } from "./figure.js";

const element = document.getElementById("cube");
if (element) globalThis.stCube = mount(element);
