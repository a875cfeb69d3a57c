/** Find sections: what explains a thing first, the reference last, and what a word also means. */

const HEADING = 20;
const TITLE = 8;
const TEXT = 1;
const SHOWN = 160;

const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}_.+-]+/gu, " ").trim();

/** The words that are looked for; a plural finds its singular. */
export function asked(query) {
  return plain(query).split(" ").filter(Boolean)
    .map((word) => (word.length > 3 ? word.replace(/([^s])s$/, "$1") : word));
}

/** Whether a word begins in a text: "oom" is not in "room". */
function weight(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return 1;
  }
  return 0;
}

function score(section, title, wanted) {
  const heading = plain(section[1]);
  const text = plain(section[2]);
  let sum = 0;
  for (const word of wanted) {
    const one = HEADING * weight(heading, word) + TITLE * weight(title, word) + TEXT * weight(text, word);
    if (!one) return 0;
    sum += one;
  }
  // A name as code writes it, or several words that are a heading, are what was meant.
  const whole = wanted.join(" ");
  return sum + (heading === whole && /[ _.]/.test(whole) ? 10 * HEADING : 0);
}

/** The places whose other names stand in the query, or of which it is the beginning. */
function meant(words, query) {
  const begins = asked(query).join(" ");
  const fits = (name) => {
    const one = asked(name).join(" ");
    return ` ${begins} `.includes(` ${one} `) || (begins.length > 3 && one.startsWith(begins));
  };
  return words.filter(([names]) => names.some(fits));
}

/** The part of a text where the first word stands. */
function around(text, wanted) {
  const at = Math.max(0, ...wanted.map((word) => text.toLowerCase().indexOf(word)).slice(0, 1));
  const from = at < SHOWN / 2 ? 0 : text.indexOf(" ", at - SHOWN / 2) + 1;
  const piece = text.slice(from, from + SHOWN);
  const cut = from + SHOWN < text.length ? `${piece.slice(0, piece.lastIndexOf(" "))} …` : piece;
  return (from ? "… " : "") + cut;
}

/** Return [{ place, title, page, part, text }] for a query: best first, what explains before the rest. */
export function found({ pages, words }, query, limit) {
  const wanted = asked(query);
  if (!wanted.length) return [];
  const known = new Map(pages.map((page) => [page[0], page]));
  const first = meant(words, query).map(([, title, place]) => {
    const [address, anchor = ""] = place.split("#");
    const [, part, sections] = known.get(address);
    const section = sections.find((one) => one[0] === anchor) ?? sections[0];
    return { place, title, page: sections[0][1], part, text: around(section[2], wanted), score: Infinity };
  });
  const taken = new Set(first.map((one) => one.place));
  const rest = [];
  for (const [address, part, sections] of pages) {
    const page = sections[0]?.[1] ?? address;
    for (const section of sections) {
      const place = section[0] ? `${address}#${section[0]}` : address;
      const points = taken.has(place) ? 0 : score(section, plain(page), wanted);
      if (points) rest.push({ place, title: section[1], page, part, text: around(section[2], wanted), score: points });
    }
  }
  const exact = (one) => (one.score > 10 * HEADING ? 0 : 1);
  rest.sort((a, b) => exact(a) - exact(b) || a.part - b.part || b.score - a.score);
  return [...first, ...rest].slice(0, limit);
}
