/** The unit of a count, in its number: 1 GPU, 2 GPUs; the package has the same in Python. */
export function inNumber(count, words) {
  return count === 1 ? words.replace(/(?<=ch)es$|s$/, "") : words;
}
