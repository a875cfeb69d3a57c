/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";
// Named here too, so that the browser fetches all of them at once.
import "../shared/dom.js";
import "../shared/live.js";
import "./answer.js";
import "./bars.js";
import "./charts.js";
import "./controls.js";
import "./dom.js";
import "./fields.js";
import "./format.js";
import "./map.js";
import "./nearest.js";
import "./outs.js";
import "./panel.js";
import "./pictures.js";
import "./share.js";
import "./state.js";
import "./stories.js";
import "./tables.js";
import "./tools.js";
import "./unpack.js";
import "./verdict.js";
import "./view.js";

const element = document.getElementById("layout");
// Formulas as text are fetched when the first one is opened.
if (element) {
  window.stExplorer = mount(element, data, formulas, () => import("./formula-text.js"));
  performance.mark("explorer-ready");
}
