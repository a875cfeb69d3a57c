/** Start the racks on a page that has an element with the id "racks". */

import { mount } from "./figure.js";
// Named here too, so that the browser fetches all of them at once.
import "../shared/dom.js";
import "../shared/live.js";
import "./draw.js";
import "./model.js";
import "./ranks.js";
import "./state.js";

const element = document.getElementById("racks");
if (element) window.stRacks = mount(element);
