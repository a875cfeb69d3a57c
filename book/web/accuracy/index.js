/** Start the chart on a page that has an element with the id "accuracy". */

import { mount } from "./figure.js";
// Named here too, so that the browser fetches all of them at once.
import "../shared/dom.js";
import "../shared/live.js";
import "./card.js";
import "./chart.js";
import "./controls.js";
import "./data.js";
import "./model.js";
import "./state.js";
import "./words.js";

const element = document.getElementById("accuracy");
if (element) window.stAccuracy = mount(element);
