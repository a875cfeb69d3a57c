/** The button for light, dark, or what the reader's system says. The first paint is theme-first.js's. */

const root = document.documentElement;
const night = matchMedia("(prefers-color-scheme: dark)");

function show(mode) {
  const theme = mode === "auto" ? (night.matches ? "dark" : "light") : mode;
  root.dataset.mode = mode;
  root.dataset.theme = theme;
}

export function themeButton() {
  night.addEventListener("change", () => root.dataset.mode === "auto" && show("auto"));
  for (const button of document.querySelectorAll(".theme-switch-button")) {
    button.addEventListener("click", () => {
      // The first click is seen: what differs from the system's own comes first.
      const modes = night.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
      const next = modes[(modes.indexOf(root.dataset.mode) + 1) % modes.length];
      show(next);
      // A private window may refuse to remember.
      try { localStorage.setItem("mode", next); } catch (refused) { }
    });
  }
}
