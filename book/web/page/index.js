/** All that a page of the book needs besides its figures. */

import { copyButtons } from "./copy.js";
import { origins } from "./origin.js";
import { openAnswers } from "./print.js";
import { searchPage } from "./results.js";
import { keyboardScroll } from "./scroll.js";
import { searchField } from "./search.js";
import { sidebars } from "./sidebar.js";
import { themeButton } from "./theme.js";
import { followHeadings, upButton } from "./toc.js";

themeButton();
searchField();
searchPage();
sidebars();
followHeadings();
upButton();
copyButtons();
keyboardScroll();
openAnswers();
origins();
// By then every figure has come, and needs the room that was kept for it no more.
addEventListener("load", () => {
  for (const place of document.querySelectorAll(".st-widget")) place.classList.add("st-ready");
});
