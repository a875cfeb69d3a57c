/** Expressions of formulas written out: with their names, or with a reader's numbers put in. */

import { h } from "./dom.js";
import { named } from "./format.js";
import { BASIC, COMPARE } from "./walker.js";

const BINDING = { "+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2 };
const SIGNS = { "*": " × ", "/": " / ", "-": " − ", "+": " + ", "//": " // ", "%": " mod " };
/** Records whose fields speak for themselves: their own name is left out. */
const RECORDS = ["job", "constants", "facts", "stack"];

/** Names that hold bytes, or seconds, in files where nothing else says so. */
const BYTES =
  /^(terms\.)?(weights|gradients|optimizer|activations|logits|buffers|reserve|moving|work|total|state|gathered|rank_activations|rank_buffers|shared\.(logits|moment|work|dispatch))$/;
const PARTS = /^parts\./;
const LAYER = /^((layer|products|core|other|messages)\.\w+|weight|grads|computing|adding|half|forward|backward|host)$/;

/** A number of a formula with its unit: from its name, or from the formula that gave it. */
export function withUnit(name, number, formula, node) {
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

/**
 * Write an expression as names, or where it is `filled` with the numbers that they have in `env`.
 * What another formula gave is a button: `open(function, arguments, entry of its result)`.
 */
export function written(node, env, filled, walker, formula, open) {
  const level = (child) => (Array.isArray(child) ? (BINDING[child[0]] ?? 9) : 9);
  const value = (name, number, from) =>
    h("span", { class: "value", title: name }, withUnit(name, number, formula, from));
  const dive = (word, ...to) =>
    h("button", { type: "button", class: "dive", onclick: () => open(...to) }, word);
  function write(part) {
    if (typeof part === "number") return String(part);
    if (typeof part === "string") {
      const number = filled && walker.evaluate(part, env);
      return typeof number === "number" ? value(part, number) : part;
    }
    const [kind, a, b] = part;
    if (kind === "." || kind === "at") return writeField(part);
    if (kind === "neg") return ["−", write(a)];
    if (kind === "not") return ["not ", write(a)];
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
  function writeField(part) {
    const [kind, a, b] = part;
    const plain = kind === "." || Array.isArray(b);
    const key = kind === "." ? b : Array.isArray(b) ? String(b[1]) : write(b);
    const name = plain ? fieldName(a, key) : [a, "[", key, "]"];
    const number = walker.evaluate(part, env);
    if (typeof number !== "number") return name;
    if (filled) return value(String(name), number);
    const origin = plain && walker.origins.get(walker.evaluate(a, env));
    return origin ? dive(name, ...origin, key) : name;
  }
  function writeCall([, name, ...args]) {
    if (filled && name === "where") return write(walker.evaluate(args[0], env) ? args[1] : args[2]);
    const call = ["call", name, ...args];
    const number = filled && !(name in BASIC) ? walker.evaluate(call, env) : null;
    if (typeof number === "number") return value(name, number, call);
    const records = (one) => RECORDS.includes(one) || typeof env[one] === "object";
    const shown = args.filter((one) => !records(one));
    const list = shown.map((one, at) => [at ? ", " : "", write(one)]);
    if (name in BASIC) return [name, "(", list, ")"];
    const values = args.map((one) => walker.evaluate(one, env));
    const link = dive(walker.texts.functions[name].name ?? name, name, values, null);
    return shown.length ? [link, "(", list, ")"] : link;
  }
  return write(node);
}
