/** Formulas as data, walked: the same lines as the Python source, with a reader's numbers. */

export const BASIC = {
  where: (yes, a, b) => (yes ? a : b),
  maximum: (a, b) => (b > a || Number.isNaN(b) ? b : a),
  minimum: (a, b) => (b < a ? b : a),
  floor: (a) => Math.floor(a),
  ceil: (a) => Math.ceil(a),
  ceil_div: (a, b) => Math.ceil(a / b),
  len: (a) => a.length,
};
export const COMPARE = {
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
