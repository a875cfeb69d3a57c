/**
 * Each number opens the formula that gave it: the lines of the Python source with the
 * reader's numbers put in. A formula inside a formula opens in turn.
 */

import { fill, h } from "./dom.js";
import { BASIC, makeWalker } from "./walker.js";
import { withUnit, written } from "./written.js";

/** Make the dialog; `show(title, formula)` opens it on [function, arguments, key]. */
export function makeFormulaDialog(texts, id) {
  const body = h("div", { class: "formula-body" });
  const back = h("button", { type: "button", class: "tool", onclick: goBack }, "← back");
  const close = h("button", { type: "button", class: "tool", onclick: () => dialog.close() }, "Close");
  const title = h("h2", { id: `${id}-formula`, class: "formula-title" });
  const dialog = h(
    "dialog",
    { class: "formula", "aria-labelledby": `${id}-formula` },
    h("div", { class: "formula-head" }, title, back, close),
    body,
  );
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  const trail = [];
  const walker = makeWalker(texts);

  function show(name, formula) {
    trail.length = 0;
    enter(name, ...formula);
    if (!dialog.open) dialog.showModal();
  }

  function goBack() {
    trail.pop();
    draw();
  }

  /** Go to a formula; one that only hands on to another is passed through. */
  function enter(name, func, args, key, via = "") {
    const found = walker.call(func, args);
    const from = walker.texts.functions[func].from || via;
    const result = resultOf(walker.texts.functions[func], key, found.result);
    const [, handed, , env] =
      (result[0] === "at" && found.lines.find(([local]) => local === result[1])) || [];
    if (handed?.[0] === "call") {
      const values = handed.slice(2).map((node) => walker.evaluate(node, env));
      enter(name, handed[1], values, result[2][1], from);
      return;
    }
    const handsOn = result[0] === "call" && !(result[1] in BASIC);
    const alone = key || neededLines(result, found, walker).length === 0;
    if (handsOn && alone) {
      const inner = walker.texts.functions[result[1]];
      const values = result.slice(2).map((node) => walker.evaluate(node, found.env));
      const last = inner.body[inner.body.length - 1][1];
      const next = key && (last[0] === "dict" || last[0] === "call") ? key : null;
      enter(name, result[1], values, next && givesKey(func, key) ? next : null, from);
      return;
    }
    trail.push([name, func, args, key, from]);
    draw();
  }

  /** Whether a key belongs to the record that a formula hands on, not to one entry of it. */
  function givesKey(func, key) {
    const result = walker.texts.functions[func].body.at(-1)[1];
    return result[0] !== "dict" || !result.slice(1).some(([name]) => name === key);
  }

  function draw() {
    const [name, func, args, key, from] = trail[trail.length - 1];
    back.hidden = trail.length < 2;
    const found = walker.call(func, args);
    const formula = walker.texts.functions[func];
    const value = key ? found.value[key] : found.value;
    const result = resultOf(formula, key, found.result);
    const open = (inner, values, entry) => {
      enter((entry ?? inner).replace(/_s$/, "").replaceAll("_", " "), inner, values, entry, from);
    };
    const line = (label, node, number, env = found.env) => {
      const unit = withUnit(label, number, formula, node);
      const write = (filled) => written(node, env, filled, walker, formula, open);
      const put = h("code", { class: "filled" }, "= ", write(true));
      return h(
        "div",
        { class: "line" },
        h("code", {}, `${label} = `, write(false)),
        typeof number === "number" && [
          put.textContent !== `= ${unit}` && put,
          h("code", { class: "filled" }, "= ", h("b", {}, unit)),
        ],
      );
    };
    const entries = typeof value === "object" && result[0] === "dict" ? result.slice(1) : null;
    const label = key ?? func;
    const total = typeof value === "number" ? `: ${withUnit(unitName(func, key), value, formula, result)}` : "";
    title.textContent = `${name}${total}`;
    fill(
      body,
      h("p", {}, `${formula.says.charAt(0).toUpperCase()}${formula.says.slice(1)}.`),
      neededLines(result, found, walker).map(([one, node, number, env]) => line(one, node, number, env)),
      entries
        ? entries.map(([one, node]) => line(one, node, value[one]))
        : result !== label && line(label === func ? label : unitName(func, key), result, value),
      h("p", { class: "from" }, sourceWords(walker, func, args, key, from)),
      h("p", { class: "from" }, `Code: ${formula.file}, ${func}`),
    );
  }
  return { dialog, show };
}

/** The name of an entry, with the unit that the whole record has. */
function unitName(func, key) {
  if (!key) return func;
  return /_step$/.test(func) ? `${key}_s` : key;
}

/** The expression that a formula returns, or one entry of it, seen through plain names. */
function resultOf(formula, key, returned) {
  let node = returned;
  if (key && node[0] === "dict") node = node.slice(1).find(([name]) => name === key)?.[1] ?? node;
  const set = formula.body.filter(([kind, name]) => kind === "=" && name === node);
  return typeof node === "string" && set.length === 1 ? set[0][2] : node;
}

/** Where a result is from: its formula's source, those of the parts it needs, or of the whole. */
function sourceWords(walker, func, args, key, from) {
  const own = walker.texts.functions[func].from;
  if (own) return `Source: ${own}.`;
  const parts = [...partSources(walker, func, args, key)];
  if (parts.length) return `Sources of its parts: ${parts.join("; ")}.`;
  return from ? `Source of what it is part of: ${from}.` : "Source: what the name means.";
}

function partSources(walker, func, args, key, found = new Set()) {
  const formula = walker.texts.functions[func];
  if (formula.from) return found.add(formula.from);
  const run = walker.call(func, args);
  const result = resultOf(formula, key, run.result);
  const look = (node, env) => {
    if (!Array.isArray(node)) return;
    const [kind, a, b] = node;
    if (kind === "." || kind === "at") {
      const origin = walker.origins.get(walker.evaluate(a, env));
      if (origin) partSources(walker, ...origin, kind === "." ? b : b[1], found);
    } else if (kind === "call" && walker.texts.functions[a]) {
      const values = node.slice(2).map((one) => walker.evaluate(one, env));
      if (typeof walker.evaluate(node, env) === "number") partSources(walker, a, values, null, found);
    } else node.slice(1).forEach((one) => look(walker.picked(one, env), env));
  };
  look(walker.picked(result, run.env), run.env);
  for (const [, node, , env] of neededLines(result, run, walker)) look(walker.picked(node, env), env);
  return found;
}

/**
 * The assignments that a result needs, in the order of the source, with the values of their
 * moment; a line that leaves its name as it was is left out.
 */
function neededLines(result, found, walker) {
  const wanted = walker.reads(result, found.env);
  const kept = [];
  for (const line of [...found.lines].reverse()) {
    const [name, node, value, env] = line;
    if (!wanted.has(name) || node === result || walker.picked(node, env) === name) continue;
    wanted.delete(name);
    walker.reads(node, env, wanted);
    if (typeof value === "number" || node[0] === "call") kept.unshift(line);
  }
  return kept;
}
