/** The unit of a count, in its number: 1 GPU, 2 GPUs, 1 copy; the package has the same in Python. */
export function inNumber(count, words) {
  return count === 1 ? words.replace(/ies$/, "y").replace(/(?<=ch)es$|s$/, "") : words;
}
