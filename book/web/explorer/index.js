/** Start the explorer on a page that has an element with the id "layout". */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import * as formulas from "./formulas.js";
import { h } from "../shared/dom.js";
import { script } from "../shared/script.js";

const element = document.getElementById("layout");

/** Fetch a script or a style that lies beside this one. */
function fetched(name) {
  return new Promise((done, failed) => {
    const href = new URL(name, script).href;
    const tag = name.endsWith(".js") ? h("script", { src: href }) : h("link", { rel: "stylesheet", href });
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
  await Promise.all(["later.js", "later.css"].map(fetched));
  return globalThis.stLater;
}

/** Ways to write a layout for use elsewhere. */
async function loadGiven() {
  if (!globalThis.stGiven) await fetched("given.js");
  return globalThis.stGiven;
}

/** What is known of software is fetched with the first that is to be stated. */
async function loadSoftware() {
  await fetched("software.js");
  return globalThis.stSoftware;
}

/** Long tables are fetched with the first state whose schedule reads one. */
async function loadTables() {
  await fetched("tables.js");
  for (const [name, table] of Object.entries(globalThis.stTables)) Object.assign(formulas[name], table);
}

if (element) {
  window.stExplorer = mount(element, data, formulas, { loadTexts, loadTables, loadLater, loadSoftware, loadGiven });
  performance.mark("explorer-ready");
}
