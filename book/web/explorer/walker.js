/** Formulas as data, walked: the same lines as the Python source, with a reader's numbers. */

export const BASIC = {
  where: (yes, a, b) => (yes ? a : b),
  maximum: (a, b) => (b > a || Number.isNaN(b) ? b : a),
  minimum: (a, b) => (b < a ? b : a),
  floor: (a) => Math.floor(a),
  ceil: (a) => Math.ceil(a),
  ceil_div: (a, b) => Math.ceil(a / b),
  anywhere: (a) => a,
  taken: (table, at) => table[Math.trunc(Math.min(Math.max(at, 0), table.length - 1))],
  len: (a) => a.length,
  range: (a) => Array.from({ length: a }, (_, at) => at),
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

/**
 * Walk formulas that are data: `call(name, args)` gives {value, lines, env}, each line as
 * [name, expression, value, what was known before]; `result` is the expression that it
 * returned. `origins` tells which call gave a record.
 */
export function makeWalker(texts) {
  const origins = new WeakMap();

  function call(name, args) {
    const formula = texts.functions[name];
    const env = Object.fromEntries(formula.args.map((arg, index) => [arg, args[index]]));
    const lines = [];
    const value = run(formula.body, env, lines);
    const result = lines.result;
    if (typeof value === "object" && !Array.isArray(value)) origins.set(value, [name, args]);
    return { value, env, lines, result };
  }

  function run(body, env, lines) {
    for (const statement of body) {
      const [kind, target, source] = statement;
      if (kind === "return") {
        if (lines) lines.result = target;
        return evaluate(target, env);
      }
      if (kind === "=") {
        const value = evaluate(source, env);
        lines?.push([target, source, value, { ...env }]);
        env[target] = value;
      } else if (kind === "unpack") {
        const values = evaluate(source, env);
        const before = { ...env };
        target.forEach((name, index) => {
          env[name] = values[index];
          if (source[0] === "list") lines?.push([name, source[index + 1], values[index], before]);
        });
      } else if (kind === "put") {
        evaluate(target, env)[evaluate(source, env)] = evaluate(statement[3], env);
      } else if (kind === "push") {
        evaluate(target, env).push(evaluate(source, env));
      } else if (kind === "if") {
        const early = evaluate(target, env) ? run(source, env, lines) : undefined;
        if (early !== undefined) return early;
      } else if (kind === "for") {
        for (const item of evaluate(source, env)) {
          if (Array.isArray(target)) target.slice(1).forEach((one, at) => (env[one] = item[at]));
          else env[target] = item;
          // A loop that looks for the one that applies shows the lines of that one.
          const early = run(statement[3], env, statement[3][0][0] === "if" ? lines : null);
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
    if (kind === "not") return !evaluate(rest[0], env);
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

  /** What stands for an expression once the branches that are not taken are gone. */
  function picked(node, env) {
    if (!Array.isArray(node) || node[0] !== "call" || node[1] !== "where") return node;
    return picked(evaluate(node[2], env) ? node[3] : node[4], env);
  }

  /** The names that an expression reads, itself and through dots, in branches that are taken. */
  function reads(node, env, found = new Set()) {
    if (typeof node === "string") found.add(node);
    if (!Array.isArray(node)) return found;
    if (node[0] === "." || node[0] === "at") return reads(node[1], env, found);
    if (node[0] === "call" && node[1] === "where") {
      reads(node[2], env, found);
      return reads(evaluate(node[2], env) ? node[3] : node[4], env, found);
    }
    for (const child of node.slice(node[0] === "call" ? 2 : 1)) {
      reads(node[0] === "dict" ? child[1] : child, env, found);
    }
    return found;
  }
  return { call, evaluate, origins, picked, reads, texts };
}
