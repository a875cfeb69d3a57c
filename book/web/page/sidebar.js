/** The two side bars: on a wide page one hides, on a narrow one each opens over the page. */

const WIDE = "(min-width: 62em)";
const PLACE = "sidebar-scroll-top";

/** Close a dialog by a click outside it. */
export function closesOutside(dialog) {
  dialog.addEventListener("click", (event) => {
    if (event.target !== dialog || !dialog.open) return;
    const box = dialog.getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) dialog.close();
  });
}

/** Move all that a side bar shows, and its looks, to another element. */
function move(from, to) {
  to.append(...from.childNodes);
  for (const name of [...from.classList]) {
    from.classList.remove(name);
    to.classList.add(name);
  }
}

function opens(button, bar, dialog, hides) {
  if (!button || !bar || !dialog) return;
  button.addEventListener("click", () => {
    if (hides && matchMedia(WIDE).matches) {
      bar.classList.toggle("pst-sidebar-hidden");
      return;
    }
    move(bar, dialog);
    dialog.showModal();
  });
  closesOutside(dialog);
  dialog.addEventListener("close", () => {
    move(dialog, bar);
    button.focus();
  });
}

/** Keep the place in the list of pages from one page to the next. */
function keepsPlace(bar) {
  let place = null;
  try { place = sessionStorage.getItem(PLACE); } catch (refused) { }
  const active = [...bar.querySelectorAll(".bd-docs-nav .active")].pop();
  if (place !== null) bar.scrollTop = Number(place);
  else if (active && active.offsetTop > innerHeight / 2) bar.scrollTop = active.offsetTop - innerHeight / 4;
  addEventListener("pagehide", () => {
    try { sessionStorage.setItem(PLACE, bar.scrollTop); } catch (refused) { }
  });
}

export function sidebars() {
  const part = (name) => document.querySelector(name);
  const first = part("#pst-primary-sidebar");
  opens(part(".primary-toggle"), first, part("#pst-primary-sidebar-modal"), true);
  opens(part(".secondary-toggle"), part("#pst-secondary-sidebar"), part("#pst-secondary-sidebar-modal"), false);
  if (first) keepsPlace(first);
}
