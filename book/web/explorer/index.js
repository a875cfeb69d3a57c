/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";
import { unpackedTexts } from "./unpack.js";

const element = document.getElementById("layout");
/** Formulas as text are fetched when the first one is opened; their tables are here already. */
async function loadTexts() {
  const { packed } = await import("./formula-text.js");
  const texts = unpackedTexts(packed);
  for (const name of texts.tables) texts.constants[name] = formulas[name];
  return { texts };
}

if (element) {
  window.stExplorer = mount(element, data, formulas, loadTexts);
  performance.mark("explorer-ready");
}
