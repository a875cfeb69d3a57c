/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";
import { script } from "../shared/script.js";

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

/** Formulas as text, and what shows them, are fetched when the first one is opened. */
async function loadTexts() {
  await fetched("formula-text.js");
  const { makeFormulaDialog, texts } = globalThis.stOpened;
  for (const name of texts.tables) texts.constants[name] = formulas[name];
  return { makeFormulaDialog, texts };
}

/** What no first answer needs is fetched after it, or before it where an address asks for more. */
async function loadLater() {
  await fetched("later.js");
  return globalThis.stLater;
}

/** Long tables are fetched with the first state whose schedule reads one. */
async function loadTables() {
  await fetched("tables.js");
  for (const [name, table] of Object.entries(globalThis.stTables)) Object.assign(formulas[name], table);
}

if (element) {
  window.stExplorer = mount(element, data, formulas, { loadTexts, loadTables, loadLater });
  performance.mark("explorer-ready");
}
