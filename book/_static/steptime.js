// What the style sheet cannot do: let the keyboard scroll what is wider than its column.
const SCROLLERS = ".st-scroll, .pst-scrollable-table-container, .highlight pre, div.math";

function name(element) {
  const caption = element.querySelector("caption");
  if (caption) return `${caption.innerText.replace("#", "").trim()} Scrolls sideways`;
  if (element.querySelector("table")) return "Table, scrolls sideways";
  if (element.querySelector("math")) return "Formula, scrolls sideways";
  if (element.querySelector("svg")) return "Figure, scrolls sideways";
  return "Code, scrolls sideways";
}

function update() {
  for (const element of document.querySelectorAll(SCROLLERS)) {
    if (element.scrollWidth > element.clientWidth + 1) {
      element.tabIndex = 0;
      // Said in words above it, since a bar at its end may be a screen further down.
      element.dataset.more = "";
      if (element.tagName !== "PRE") {
        element.setAttribute("role", "group");
        element.setAttribute("aria-label", name(element));
      }
    } else if (element.tabIndex === 0) {
      element.removeAttribute("tabindex");
      delete element.dataset.more;
      element.removeAttribute("role");
      element.removeAttribute("aria-label");
    }
  }
}

// On paper an answer cannot be opened.
const ANSWERS = ".bd-article details.sd-dropdown:not(.st-code, [open])";
let opened = [];

addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(ANSWERS)];
  for (const answer of opened) answer.open = true;
});
addEventListener("afterprint", () => {
  for (const answer of opened) answer.open = false;
});

update();
addEventListener("resize", update);

// The page of the site's search is for typing.
if (/\/search\.html$/.test(location.pathname)) {
  document.querySelector(".bd-article-container form.bd-search input")?.focus();
}

// What a number comes from, in a box beside it: while it is pointed at or has the focus, until Escape.
let origin = null;

function hideOrigin() {
  document.querySelector("[aria-describedby=st-origin]")?.removeAttribute("aria-describedby");
  origin?.remove();
  origin = null;
}

function showOrigin(link) {
  hideOrigin();
  origin = document.createElement("div");
  origin.className = "st-origin";
  origin.id = "st-origin";
  origin.setAttribute("role", "tooltip");
  origin.textContent = link.dataset.from;
  document.body.append(origin);
  link.setAttribute("aria-describedby", origin.id);
  const at = link.getBoundingClientRect();
  const most = document.documentElement.clientWidth - origin.offsetWidth - 8;
  origin.style.left = `${Math.max(8, Math.min(at.left, most)) + scrollX}px`;
  origin.style.top = `${at.bottom + 2 + scrollY}px`;
}

const numbered = (event) => event.target.closest?.("a.st-from");
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const link = numbered(event);
    if (link) showOrigin(link);
    // The box itself may be pointed at, to read or copy from it.
    else if (!event.target.closest?.(".st-origin")) hideOrigin();
  });
}
document.addEventListener("focusout", (event) => numbered(event) && hideOrigin());
document.addEventListener("keydown", (event) => event.key === "Escape" && hideOrigin());
