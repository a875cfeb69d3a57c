/** What follows the first answer, or makes it where an address asks for another: all but the form. */

import { data } from "./data.js";
import { mount } from "./explorer.js";
import { fetched } from "./fetched.js";
import * as formulas from "./formulas.js";

/** Formulas as text, and what shows them, are fetched when the first one is opened. */
async function loadTexts() {
  await fetched("formula-text.js");
  const { makeFormulaDialog, texts } = globalThis.stOpened;
  for (const name of texts.tables) texts.constants[name] = formulas[name];
  return { makeFormulaDialog, texts };
}

/** The other presets, the form, the map and the tables. */
async function loadLater() {
  await Promise.all(["later.js", "app.css"].map(fetched));
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

const loads = { loadTexts, loadTables, loadLater, loadSoftware, loadGiven };
globalThis.stApp = (element, view) => mount(element, data, formulas, view, loads);
