/** The field that searches the site: a key opens it, and its own page does not. */

import { closesOutside } from "./sidebar.js";

const MAC = /^(Mac|iPhone|iPad)/.test(navigator.platform);

export function searchField() {
  const dialog = document.querySelector("#pst-search-dialog");
  const own = document.querySelector(".bd-article-container form.bd-search input");
  const open = () => {
    if (own) {
      own.focus();
      own.select();
    } else if (dialog && !dialog.open) {
      dialog.showModal();
      dialog.querySelector("input").select();
    }
  };
  for (const button of document.querySelectorAll(".search-button__button")) {
    button.addEventListener("click", open);
  }
  if (MAC) {
    for (const keys of document.querySelectorAll(".search-button__kbd-shortcut")) {
      keys.querySelector("kbd").textContent = "⌘";
    }
  }
  addEventListener("keydown", (event) => {
    const asked = MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    if (!asked || event.shiftKey || event.altKey || !/^k$/i.test(event.key)) return;
    event.preventDefault();
    if (dialog?.open) dialog.close();
    else open();
  });
  if (dialog) closesOutside(dialog);
  own?.focus();
}
