/** Start the figure on a page that has an element with the id "split". */

import { mount } from "./figure.js";

const element = document.getElementById("split");
if (element) mount(element);
