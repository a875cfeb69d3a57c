/** The data with each record's values under their names, which the file lists once a kind. */
export function unpacked(data) {
  for (const kind of ["models", "accelerators"]) {
    const names = data[`${kind}_fields`];
    for (const one of data[kind]) {
      one.fields = Object.fromEntries(names.map((name, at) => [name, one.fields[at]]));
    }
  }
  return data;
}
