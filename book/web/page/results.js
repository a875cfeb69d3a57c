/** The page of the site's search: results as one types; the index comes when it is first needed. */

import { h } from "../shared/dom.js";
import { inNumber } from "../shared/number.js";
import { script } from "../shared/script.js";
import { asked, found } from "./find.js";

const MOST = 40;
const TYPING_MS = 120;

let coming = null;

function index() {
  coming ??= new Promise((done, failed) => {
    const tag = h("script", { src: new URL("search-index.js", script).href });
    tag.addEventListener("load", () => done(globalThis.stPages));
    tag.addEventListener("error", failed);
    document.head.append(tag);
  });
  return coming;
}

/** A text with what was looked for marked. */
function marked(text, wanted) {
  const escaped = wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pieces = text.split(new RegExp(`(${escaped.join("|")})`, "giu"));
  return pieces.map((piece, place) => (place % 2 ? h("mark", {}, piece) : piece));
}

function item(one, parts, wanted) {
  const [address, anchor] = one.place.split("#");
  const href = `${address}.html${anchor ? "#" : ""}${anchor ?? ""}`;
  const where = one.page === one.title ? parts[one.part] : `${parts[one.part]}: ${one.page}`;
  return h("li", {}, h("a", { href }, one.title), h("span", { class: "st-where" }, where),
    h("p", {}, marked(one.text, wanted)));
}

export function searchPage() {
  const place = document.querySelector("#search-results");
  const field = document.querySelector(".bd-article-container form.bd-search input");
  if (!place || !field) return;
  const told = h("p", { role: "status" });
  const list = h("ol", { class: "st-results" });
  place.replaceChildren(told, list);

  async function show() {
    const query = field.value.trim();
    const url = new URL(location.href);
    if (query) url.searchParams.set("q", query);
    else url.searchParams.delete("q");
    history.replaceState(null, "", url);
    if (!query) {
      told.textContent = "Try: ring attention, OOM, FSDP, bubble.";
      list.replaceChildren();
      return;
    }
    const pages = await index();
    if (query !== field.value.trim()) return;
    const results = found(pages, query, MOST);
    const places = inNumber(results.length, "places");
    const count = results.length === MOST ? `The first ${MOST} places` : `${results.length} ${places}`;
    told.textContent = results.length ? `${count}: chapters first, the reference last.` : `Nothing has all of “${query}”: try fewer words, or another.`;
    list.replaceChildren(...results.map((one) => item(one, pages.parts, asked(query))));
    performance.mark("results-ready");
  }

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, TYPING_MS);
  });
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  show();
}
