/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";
import { script } from "../shared/script.js";
import { unpackedTexts } from "./unpack.js";

const element = document.getElementById("layout");

/** Fetch a script that lies beside this one. */
function fetched(name) {
  return new Promise((done, failed) => {
    const tag = document.createElement("script");
    tag.src = new URL(name, script).href;
    tag.onerror = failed;
    tag.onload = done;
    document.head.append(tag);
  });
}

/** Formulas as text are fetched when the first one is opened. */
async function loadTexts() {
  await fetched("formula-text.js");
  const texts = unpackedTexts(globalThis.stFormulaTexts);
  for (const name of texts.tables) texts.constants[name] = formulas[name];
  return { texts };
}

/** Long tables are fetched with the first state whose schedule reads one. */
async function loadTables() {
  await fetched("tables.js");
  for (const [name, table] of Object.entries(globalThis.stTables)) Object.assign(formulas[name], table);
}

if (element) {
  window.stExplorer = mount(element, data, formulas, { loadTexts, loadTables });
  performance.mark("explorer-ready");
}
