/** Watch for anything that changes colours: the theme switch, the system, forced colours. */

const QUERIES = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"];

/** Call `changed` after each change of theme; return a function that stops it. */
export function onThemeChange(changed) {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme", "class"] });
  const lists = QUERIES.map((query) => matchMedia(query));
  for (const list of lists) list.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    for (const list of lists) list.removeEventListener("change", changed);
  };
}

/** Return what CSS variables of an element amount to, as colours a canvas can use. */
export function colours(element, names) {
  const probe = element.appendChild(document.createElement("i"));
  const found = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

/** Whether the reader asked for less motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
