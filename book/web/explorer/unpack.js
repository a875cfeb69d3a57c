/** The data as records again: the file lists them by column, and a value that many share once. */

const KINDS = ["models", "accelerators"];
const PACKED = [...KINDS, "software", "schedules"];

function list(column) {
  if (Array.isArray(column)) return column;
  const of = Array.isArray(column.of) ? column.of : rows(column.of);
  return column.at ? column.at.map((at) => of[at] ?? null) : of;
}

function rows({ rows: count, columns }) {
  const lists = Object.entries(columns).map(([name, column]) => [name, list(column)]);
  return Array.from({ length: count }, (_, at) => Object.fromEntries(lists.map(([name, one]) => [name, one[at]])));
}

/** Put what is known of models and accelerators to their names: both lists have one order. */
export function filled(data, more) {
  Object.assign(data, more.words);
  for (const kind of KINDS) rows(more[kind]).forEach((row, at) => Object.assign(data[kind][at], row));
}

export function unpacked(data) {
  for (const kind of PACKED) data[kind] = rows(data[kind]);
  if (data.first) filled(data, data.first);
  return data;
}
