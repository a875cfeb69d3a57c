/** Start the figure on a page that has an element with the id "sched". */

import { mount } from "./figure.js";
// Named here too, so that the browser fetches all of them at once.
import "../shared/dom.js";
import "../shared/live.js";
import "../shared/theme.js";
import "./chart.js";
import "./data.js";
import "./draw.js";
import "./extras.js";
import "./geometry.js";
import "./model.js";
import "./moves.js";
import "./nearest.js";
import "./panel.js";
import "./pipeline.js";
import "./player.js";
import "./state.js";
import "./verdict.js";
import "./words.js";

const element = document.getElementById("sched");
if (element) window.stSchedule = mount(element);
