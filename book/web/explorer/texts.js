/** The formulas as data, each again with what the file lists by column. */
export function unpackedTexts({ functions, columns, files, names, bodies, ...others }) {
  const [lists] = nested(bodies);
  const places = Object.entries(files).flatMap(([file, lines]) => lines.map((line) => `${file}:${line}`));
  const entries = functions.map((key, at) => {
    const fields = Object.entries(columns).map(([name, values]) => [name, values[at]]);
    return [key, { ...Object.fromEntries(fields), file: places[at], body: lists[at], name: names[key] }];
  });
  return { ...others, functions: Object.fromEntries(entries) };
}

/** Nested lists from their short form: `(+ job.tp(! floor terms'total))`. */
function nested(short) {
  const stack = [[]];
  for (const [word] of short.matchAll(/[()]|[^\s()]+/g)) {
    const inner = stack[stack.length - 1];
    if (word === "(") stack.push([]);
    else if (word === ")") stack[stack.length - 2].push(stack.pop());
    else inner.push(read(word));
  }
  return stack[0];
}

/** A number, a name, or an entry: of a record by its field, of an answer by its key. */
function read(word) {
  if (word === "!") return "call";
  const [, record, sign, name] = /^(\w*)([.'])(\w+)$/.exec(word) ?? [];
  if (sign === "'") return record ? ["at", record, ["text", name]] : ["text", name];
  const number = Number(word);
  return Number.isNaN(number) ? (sign ? [".", record, name] : word) : number;
}
