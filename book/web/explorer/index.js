/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";

const element = document.getElementById("layout");
// Formulas as text are fetched when the first one is opened.
if (element) {
  window.stExplorer = mount(element, data, formulas, () => import("./formula-text.js"));
  performance.mark("explorer-ready");
}
