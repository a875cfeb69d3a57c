/** What the style sheet cannot do: let the keyboard scroll what is wider than its column. */

const SCROLLERS = ".st-scroll, .pst-scrollable-table-container, .highlight pre, div.math";

function name(element) {
  const caption = element.querySelector("caption");
  if (caption) return `${caption.innerText.replace("#", "").trim()} Scrolls sideways`;
  if (element.querySelector("table")) return "Table, scrolls sideways";
  if (element.querySelector("math")) return "Formula, scrolls sideways";
  if (element.querySelector("svg")) return "Figure, scrolls sideways";
  return "Code, scrolls sideways";
}

function scrolls(element) {
  element.tabIndex = 0;
  // Said in words above it, since a bar at its end may be a screen further down.
  element.dataset.more = "";
  if (element.tagName === "PRE") return;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", name(element));
}

function fits(element) {
  element.removeAttribute("tabindex");
  delete element.dataset.more;
  element.removeAttribute("role");
  element.removeAttribute("aria-label");
}

function update() {
  // All are measured before any is changed, or each would be laid out anew.
  const found = [...document.querySelectorAll(SCROLLERS)];
  const wide = found.map((element) => element.scrollWidth > element.clientWidth + 1);
  found.forEach((element, place) => {
    if (wide[place]) scrolls(element);
    else if (element.tabIndex === 0) fits(element);
  });
}

export function keyboardScroll() {
  update();
  addEventListener("resize", update);
}
