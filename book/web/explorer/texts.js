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

/** Nested lists from their short form: `(+ a (at terms 'total))`. */
function nested(short) {
  const stack = [[]];
  for (const [word] of short.matchAll(/[()]|[^\s()]+/g)) {
    const inner = stack[stack.length - 1];
    if (word === "(") stack.push([]);
    else if (word === ")") stack[stack.length - 2].push(stack.pop());
    else if (word[0] === "'") inner.push(["text", word.slice(1)]);
    else inner.push(Number.isNaN(Number(word)) ? word : Number(word));
  }
  return stack[0];
}
