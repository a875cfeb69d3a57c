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
