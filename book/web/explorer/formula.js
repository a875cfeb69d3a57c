/**
 * Each number opens the formula that gave it: the lines of the Python source with the
 * reader's numbers put in. A formula inside a formula opens in turn.
 */

import { fill, h } from "./dom.js";
import { named } from "./format.js";
import { BASIC, COMPARE, makeWalker } from "./walker.js";

const BINDING = { "+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2 };
const SIGNS = { "*": " × ", "/": " / ", "-": " − ", "+": " + ", "//": " // ", "%": " mod " };
/** Records whose fields speak for themselves: their own name is left out. */
const RECORDS = ["job", "constants", "facts", "stack"];

/** Names that hold bytes, or seconds, in files where nothing else says so. */
const BYTES =
  /^(terms\.)?(weights|gradients|optimizer|activations|logits|buffers|reserve|moving|work|total|state|gathered|rank_activations|rank_buffers|shared\.(logits|moment|work|dispatch))$/;
const PARTS = /^parts\./;
const LAYER = /^((layer|products|core|other|messages)\.\w+|computing|adding|half|forward|backward|host)$/;

/** A number of a formula with its unit: from its name, or from the formula that gave it. */
function withUnit(name, number, formula, node) {
  if (typeof number !== "number") return "several values";
  const source = node ?? formula?.body.find(([kind, local]) => kind === "=" && local === name)?.[2];
  if (Array.isArray(source) && source[0] === "call" && !(source[1] in BASIC)) name = source[1];
  if (PARTS.test(name)) return named("_s", number);
  if (formula?.file.includes("roofline/step") && LAYER.test(name)) return named("_s", number);
  if (formula?.file.includes("memory/total") && BYTES.test(name)) return named("_bytes", number);
  return named(name, number);
}

/** The name of a field as readers see it: `tp` of the job, `kept.layers` of a local. */
function fieldName(base, name) {
  return typeof base === "string" && !RECORDS.includes(base) ? `${base}.${name}` : name;
}

/** Write an expression: names, or with `env` the numbers in their place. */
function written(node, env, walker, formula, open) {
  const level = (child) => (Array.isArray(child) ? (BINDING[child[0]] ?? 9) : 9);
  const value = (name, number, from) =>
    h("span", { class: "value", title: name }, withUnit(name, number, formula, from));
  function write(part) {
    if (typeof part === "number") return String(part);
    if (typeof part === "string") {
      const number = env && walker.evaluate(part, env);
      return typeof number === "number" ? value(part, number) : part;
    }
    const [kind, a, b] = part;
    if (kind === "." || kind === "at") {
      const key = kind === "." ? b : Array.isArray(b) ? String(b[1]) : write(b);
      const name = kind === "." || Array.isArray(b) ? fieldName(a, key) : [a, "[", key, "]"];
      const number = env && walker.evaluate(part, env);
      return typeof number === "number" ? value(String(name), number) : name;
    }
    if (kind === "neg") return ["−", write(a)];
    if (kind in SIGNS) {
      const tight = BINDING[kind];
      const left = level(a) < tight ? ["(", write(a), ")"] : write(a);
      const close = level(b) < tight || (level(b) === tight && "-/".includes(kind[0]));
      return [left, SIGNS[kind], close ? ["(", write(b), ")"] : write(b)];
    }
    if (kind in COMPARE) return [write(a), ` ${kind} `, write(b)];
    if (kind === "call") return writeCall(part);
    if (kind === "list") return ["[", part.slice(1).map((one, at) => [at ? ", " : "", write(one)]), "]"];
    return "…";
  }
  function writeCall([, name, ...args]) {
    if (env && name === "where") return write(walker.evaluate(args[0], env) ? args[1] : args[2]);
    const call = ["call", name, ...args];
    const number = env && !(name in BASIC) ? walker.evaluate(call, env) : null;
    if (typeof number === "number") return value(name, number, call);
    const records = (one) => RECORDS.includes(one) || typeof env?.[one] === "object";
    const shown = args.filter((one) => !records(one));
    const list = shown.map((one, at) => [at ? ", " : "", write(one)]);
    if (name in BASIC) return [name, "(", list, ")"];
    const onclick = () => open(name, args);
    const known = walker.texts.functions[name].name ?? name;
    const link = h("button", { type: "button", class: "dive", onclick }, known);
    return shown.length ? [link, "(", list, ")"] : link;
  }
  return write(node);
}

/** Make the dialog; `show(title, formula)` opens it on [function, arguments, key]. */
export function makeFormulaDialog(load, id) {
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
  let walker = null;

  async function show(name, formula) {
    walker ??= makeWalker((await load()).texts);
    trail.length = 0;
    enter(name, ...formula);
    if (!dialog.open) dialog.showModal();
  }

  function goBack() {
    trail.pop();
    draw();
  }

  /** Go to a formula; one that only hands on to another is passed through. */
  function enter(name, func, args, key) {
    const found = walker.call(func, args);
    const result = resultOf(walker.texts.functions[func], key);
    const from = result[0] === "at" && found.lines.find(([local]) => local === result[1])?.[1];
    if (from?.[0] === "call") {
      const values = from.slice(2).map((node) => walker.evaluate(node, found.env));
      enter(name, from[1], values, result[2][1]);
      return;
    }
    const handsOn = result[0] === "call" && !(result[1] in BASIC);
    const alone = key || neededLines(result, found, walker).length === 0;
    if (handsOn && alone) {
      const inner = walker.texts.functions[result[1]];
      const values = result.slice(2).map((node) => walker.evaluate(node, found.env));
      const last = inner.body[inner.body.length - 1][1];
      const next = key && (last[0] === "dict" || last[0] === "call") ? key : null;
      enter(name, result[1], values, next && givesKey(func, key) ? next : null);
      return;
    }
    trail.push([name, func, args, key]);
    draw();
  }

  /** Whether a key belongs to the record that a formula hands on, not to one entry of it. */
  function givesKey(func, key) {
    const result = walker.texts.functions[func].body.at(-1)[1];
    return result[0] !== "dict" || !result.slice(1).some(([name]) => name === key);
  }

  function draw() {
    const [name, func, args, key] = trail[trail.length - 1];
    back.hidden = trail.length < 2;
    const found = walker.call(func, args);
    const formula = walker.texts.functions[func];
    const value = key ? found.value[key] : found.value;
    const result = resultOf(formula, key);
    const open = (inner, nodes) => {
      const values = nodes.map((node) => walker.evaluate(node, found.env));
      enter(inner.replace(/_s$/, "").replaceAll("_", " "), inner, values, null);
    };
    const line = (label, node, number) => {
      const unit = withUnit(label, number, formula, node);
      const put = h("code", { class: "filled" }, "= ", written(node, found.env, walker, formula, open));
      return h(
        "div",
        { class: "line" },
        h("code", {}, `${label} = `, written(node, null, walker, formula, open)),
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
      h("p", {}, sentence(formula.says)),
      neededLines(result, found, walker).map(([one, node]) => line(one, node, found.env[one])),
      entries
        ? entries.map(([one, node]) => line(one, node, value[one]))
        : line(label === func ? label : unitName(func, key), result, value),
      formula.from && h("p", { class: "from" }, `Source: ${formula.from}`),
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

function sentence(says) {
  const rest = says.replace(/^Return (whether )?/, "").replaceAll("`", "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** The expression that a formula returns, or one entry of it, seen through plain names. */
function resultOf(formula, key) {
  let node = formula.body[formula.body.length - 1][1];
  if (key && node[0] === "dict") node = node.slice(1).find(([name]) => name === key)?.[1] ?? node;
  const set = formula.body.filter(([kind, name]) => kind === "=" && name === node);
  return typeof node === "string" && set.length === 1 ? set[0][2] : node;
}

/** The assignments that a result needs, in the order of the source. */
function neededLines(result, found, walker) {
  const wanted = walker.reads(result);
  const kept = [];
  for (const [name, node] of [...found.lines].reverse()) {
    if (!wanted.has(name) || node === result) continue;
    walker.reads(node, wanted);
    const worth = typeof found.env[name] === "number" || node[0] === "call";
    if (worth) kept.unshift([name, node]);
  }
  return kept;
}
