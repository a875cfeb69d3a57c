/** Where the reader is: the heading in the list of contents, and a way back to the top. */

export function followHeadings() {
  const list = document.querySelector("#pst-page-toc-nav");
  if (!list) return;
  const links = [...list.querySelectorAll("a[href^='#']")];
  const entries = [...list.querySelectorAll(".toc-entry")];
  const activate = (link) => {
    for (const one of links) {
      one.classList.toggle("active", one === link);
      if (one === link) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
    for (const one of entries) one.classList.toggle("active", one.contains(link));
  };
  const byHeading = new Map();
  for (const link of links) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) byHeading.set(section.querySelector("h1, h2, h3, h4, h5, h6") ?? section, link);
  }
  const fromAddress = () => {
    const link = links.find((one) => one.hash && one.hash === location.hash);
    if (link) activate(link);
  };
  const seen = (found) => {
    const heading = found.filter((one) => one.isIntersecting).pop();
    if (heading) activate(byHeading.get(heading.target));
  };
  const observer = new IntersectionObserver(seen, { rootMargin: "0px 0px -70% 0px" });
  for (const heading of byHeading.keys()) observer.observe(heading);
  addEventListener("hashchange", fromAddress);
  fromAddress();
}

export function upButton() {
  const button = document.querySelector("#pst-back-to-top");
  if (!button) return;
  let last = scrollY;
  // Shown on the way up only: on the way down it would stand in the way.
  addEventListener("scroll", () => {
    button.style.display = scrollY < last && scrollY > innerHeight ? "block" : "none";
    last = scrollY;
  }, { passive: true });
  button.addEventListener("click", () => scrollTo(0, 0));
}
