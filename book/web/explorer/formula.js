/**
 * Each number opens the formula that gave it: the lines of the Python source, walked with
 * the reader's numbers put in. A formula inside a formula opens in turn.
 */

import { fill, h } from "./dom.js";
import { named } from "./format.js";

const BINDING = { "+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2 };
const SIGNS = { "*": " × ", "/": " / ", "-": " − ", "+": " + ", "//": " // ", "%": " mod " };
const BASIC = {
  where: (yes, a, b) => (yes ? a : b),
  maximum: (a, b) => (b > a || Number.isNaN(b) ? b : a),
  minimum: (a, b) => (b < a ? b : a),
  floor: (a) => Math.floor(a),
  ceil: (a) => Math.ceil(a),
  ceil_div: (a, b) => Math.ceil(a / b),
  len: (a) => a.length,
};
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
const ARITHMETIC = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "//": (a, b) => Math.floor(a / b),
  "%": (a, b) => a - Math.floor(a / b) * b,
};

/** Walk formulas that are data: `call(name, args)` gives {value, lines, env}. */
export function makeWalker(texts) {
  function call(name, args) {
    const formula = texts.functions[name];
    const env = Object.fromEntries(formula.args.map((arg, index) => [arg, args[index]]));
    const lines = [];
    const value = run(formula.body, env, lines);
    return { value, env, lines };
  }

  function run(body, env, lines) {
    for (const statement of body) {
      const [kind, target, source] = statement;
      if (kind === "return") return evaluate(target, env);
      if (kind === "=") {
        env[target] = evaluate(source, env);
        if (lines) lines.push([target, source]);
      } else if (kind === "unpack") {
        const values = evaluate(source, env);
        target.forEach((name, index) => {
          env[name] = values[index];
          if (lines && source[0] === "list") lines.push([name, source[index + 1]]);
        });
      } else if (kind === "put") {
        evaluate(target, env)[evaluate(source, env)] = evaluate(statement[3], env);
      } else if (kind === "for") {
        for (const item of evaluate(source, env)) {
          if (Array.isArray(target)) target.slice(1).forEach((one, at) => (env[one] = item[at]));
          else env[target] = item;
          const early = run(statement[3], env, null);
          if (early !== undefined) return early;
        }
      }
    }
    return undefined;
  }

  function evaluate(node, env) {
    if (typeof node === "number" || typeof node === "boolean") return node;
    if (typeof node === "string") return node in env ? env[node] : texts.constants[node];
    const [kind, ...rest] = node;
    if (kind in ARITHMETIC) return ARITHMETIC[kind](evaluate(rest[0], env), evaluate(rest[1], env));
    if (kind in COMPARE) return COMPARE[kind](evaluate(rest[0], env), evaluate(rest[1], env));
    if (kind === "neg") return -evaluate(rest[0], env);
    if (kind === "text") return rest[0];
    if (kind === ".") return evaluate(rest[0], env)[rest[1]];
    if (kind === "at") return evaluate(rest[0], env)[evaluate(rest[1], env)];
    if (kind === "list") return rest.map((one) => evaluate(one, env));
    if (kind === "dict") {
      return Object.fromEntries(rest.map(([key, value]) => [key, evaluate(value, env)]));
    }
    const [name, ...args] = rest;
    const values = args.map((one) => evaluate(one, env));
    return name in BASIC ? BASIC[name](...values) : call(name, values).value;
  }

  /** The names that an expression reads, itself and through dots. */
  function reads(node, found = new Set()) {
    if (typeof node === "string") found.add(node);
    if (!Array.isArray(node)) return found;
    const from = node[0] === "call" ? 2 : 1;
    if (node[0] === "." || node[0] === "at") return reads(node[1], found);
    for (const child of node.slice(from)) {
      if (node[0] === "dict") reads(child[1], found);
      else reads(child, found);
    }
    return found;
  }
  return { call, evaluate, reads, texts };
}

/** Write an expression: names, or with `env` the numbers in their place. */
function written(node, env, walker, open) {
  const level = (child) => (Array.isArray(child) ? (BINDING[child[0]] ?? 9) : 9);
  const value = (name, number) => h("span", { class: "value", title: name }, named(name, number));
  function write(part) {
    if (typeof part === "number") return String(part);
    if (typeof part === "string") {
      const number = env && walker.evaluate(part, env);
      return typeof number === "number" ? value(part, number) : part;
    }
    const [kind, a, b] = part;
    if (kind === "." || kind === "at") {
      const name = kind === "." ? b : (b[1] ?? "");
      const number = env && walker.evaluate(part, env);
      if (typeof number === "number") return value(name, number);
      return kind === "." ? name : String(name);
    }
    if (kind === "neg") return ["−", write(a)];
    if (kind in SIGNS) {
      const tight = BINDING[kind];
      const left = level(a) < tight ? ["(", write(a), ")"] : write(a);
      const right = level(b) < tight || (level(b) === tight && "-/".includes(kind[0]))
        ? ["(", write(b), ")"]
        : write(b);
      return [left, SIGNS[kind], right];
    }
    if (kind in COMPARE) return [write(a), ` ${kind} `, write(b)];
    if (kind === "call") return writeCall(part);
    if (kind === "list") return ["[", part.slice(1).map((one, at) => [at ? ", " : "", write(one)]), "]"];
    return "…";
  }
  function writeCall([, name, ...args]) {
    const number = env && !(name in BASIC) && walker.evaluate(["call", name, ...args], env);
    if (env && name === "where") {
      return write(walker.evaluate(args[0], env) ? args[1] : args[2]);
    }
    if (typeof number === "number") return value(name, number);
    const shown = args.filter((one) => !["job", "constants", "facts", "shared"].includes(one));
    const list = shown.map((one, at) => [at ? ", " : "", write(one)]);
    const label = name.replace(/_s$/, "");
    if (name in BASIC) return [name, "(", list, ")"];
    const link = h("button", { type: "button", class: "dive", onclick: () => open(name, args) }, label);
    return shown.length ? [link, "(", list, ")"] : link;
  }
  return write(node);
}

/** Make the dialog; `show(title, formula)` opens it on [function, arguments, key]. */
export function makeFormulaDialog(load, id) {
  const body = h("div", { class: "formula-body" });
  const back = h("button", { type: "button", class: "tool", onclick: goBack }, "← back");
  const close = h("button", { type: "button", class: "tool", onclick: () => dialog.close() }, "Close");
  const title = h("h3", { id: `${id}-formula`, class: "formula-title" });
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
    trail.push([name, ...formula]);
    draw();
    if (!dialog.open) dialog.showModal();
  }

  function goBack() {
    trail.pop();
    draw();
  }

  function draw() {
    const [name, func, args, key] = trail[trail.length - 1];
    back.hidden = trail.length < 2;
    const found = walker.call(func, args);
    const formula = walker.texts.functions[func];
    const value = key ? found.value[key] : found.value;
    title.textContent = `${name}: ${named(unitName(func, key), value)}`;
    const result = resultOf(formula, key);
    const steps = neededLines(result, found, walker);
    const open = (inner, nodes) => {
      const values = nodes.map((node) => walker.evaluate(node, found.env));
      trail.push([inner.replaceAll("_", " "), inner, values, null]);
      draw();
    };
    const alone = steps.length === 0 && result[0] === "call" && !(result[1] in BASIC);
    if (alone && trail[trail.length - 1].length === 4 && key) {
      trail.pop();
      const values = result.slice(2).map((node) => walker.evaluate(node, found.env));
      trail.push([name, result[1], values, null]);
      draw();
      return;
    }
    const line = (label, node, number) =>
      h(
        "div",
        { class: "line" },
        h("code", {}, `${label} = `, written(node, null, walker, open)),
        h("code", { class: "filled" }, "= ", written(node, found.env, walker, open)),
        h("code", { class: "filled" }, "= ", h("b", {}, shown(label, number))),
      );
    fill(
      body,
      h("p", {}, sentence(formula.says)),
      steps.map(([label, node]) => line(label, node, found.env[label])),
      line(unitName(func, key), result, value),
      formula.from && h("p", { class: "from" }, `Source: ${formula.from}`),
      h("p", { class: "from" }, `Code: ${formula.file}, ${func}`),
    );
  }
  return { dialog, show };
}

function shown(name, value) {
  return typeof value === "number" ? named(name, value) : "several values, below";
}

function unitName(func, key) {
  if (!key) return func;
  if (func.endsWith("memory_bytes") && !["rank", "in_flight", "num_layers"].includes(key)) {
    return key === "parameters" ? key : `${key}_bytes`;
  }
  return /_step$/.test(func) ? `${key}_s` : key;
}

function sentence(says) {
  const rest = says.replace(/^Return (whether )?/, "").replaceAll("`", "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** The expression that a formula returns, or one entry of it, seen through plain names. */
function resultOf(formula, key) {
  let node = formula.body[formula.body.length - 1][1];
  if (key && node[0] === "dict") node = node.slice(1).find(([name]) => name === key)[1];
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
    if (typeof found.env[name] === "number") kept.unshift([name, node]);
  }
  return kept;
}
