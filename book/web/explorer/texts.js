/** The formulas as data, each again with what the file lists by column. */
export function unpackedTexts({ functions, columns, files, names, bodies, ...others }) {
  const lists = nested(bodies).map(bodyOf);
  const places = Object.entries(files).flatMap(([file, count]) => Array(count).fill(file));
  const [says, from, args] = ["says", "from", "args"].map((name) => columns[name].split("|"));
  const entries = functions.split("|").map((key, at) => {
    const told = { args: args[at] ? args[at].split(" ") : [], says: says[at], from: from[at] };
    return [key, { ...told, file: places[at], body: lists[at], name: names[key] }];
  });
  return { ...others, functions: Object.fromEntries(entries) };
}

/** Words that begin a statement; any other begins one that names a value. */
const STATEMENTS = ["return", "unpack", "put", "for", "if", "push"];

/** What a function does: its last entry is what it returns. */
const bodyOf = (list) => [...list.slice(0, -1).map(statementOf), ["return", list.at(-1)]];

function statementOf(list) {
  const [word] = list;
  if (!STATEMENTS.includes(word)) return ["=", ...list];
  return word === "if" || word === "for" ? [...list.slice(0, -1), list.at(-1).map(statementOf)] : list;
}

/** Nested lists from their short form: `(+ job.tp(! floor terms'total))`. */
function nested(short) {
  const stack = [[]];
  for (const [word] of short.matchAll(/[()]|[^\s()]+/g)) {
    const inner = stack[stack.length - 1];
    if (word === "(") stack.push([]);
    else if (word === ")") stack[stack.length - 2].push(stack.pop());
    else inner.push(inner[0] === "dict" ? ownEntry(readWord(word)) : readWord(word));
  }
  return stack[0];
}

/** An entry of a record that has its value's own name. */
function ownEntry(value) {
  if (!Array.isArray(value)) return [value, value];
  return [value[0] === "at" ? value[2][1] : value[2], value];
}

/** A number, a name, or an entry: of a record by its field, of an answer by its key. */
function readWord(word) {
  if (word === "!") return "call";
  const [, record, sign, name] = /^(\w*)([.'])(\w+)$/.exec(word) ?? [];
  if (sign === "'") return record ? ["at", record, ["text", name]] : ["text", name];
  const number = Number(word);
  return Number.isNaN(number) ? (sign ? [".", record, name] : word) : number;
}
