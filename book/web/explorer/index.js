/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";
import { script } from "../shared/script.js";
import { unpackedTexts } from "./unpack.js";

const element = document.getElementById("layout");
/** Formulas as text are fetched when the first one is opened; their tables are here already. */
function loadTexts() {
  return new Promise((done, failed) => {
    const tag = document.createElement("script");
    tag.src = new URL("formula-text.js", script).href;
    tag.onerror = failed;
    tag.onload = () => {
      const texts = unpackedTexts(globalThis.stFormulaTexts);
      for (const name of texts.tables) texts.constants[name] = formulas[name];
      done({ texts });
    };
    document.head.append(tag);
  });
}

if (element) {
  window.stExplorer = mount(element, data, formulas, loadTexts);
  performance.mark("explorer-ready");
}
