/**
 * Start the explorer on a page that has an element with the id "layout". A page whose address
 * asks for nothing shows the answer that was made with it; all else is fetched, and asked of that.
 */

import { fetched } from "./fetched.js";
import { first } from "./first.js";
import { makeView } from "./view.js";

/** How an address begins to say a state. */
const SAID = /[?&]l\./;

/** Show the explorer in an element. */
function start(element) {
  let app = null;
  let coming = null;
  let made = null;
  const view = () => (made ??= makeView(element, actions));

  /** Fetch the whole explorer, once. */
  function whole() {
    coming ??= fetched("app.js").then(
      () => {
        app = globalThis.stApp(element, view());
        window.stExplorer = app;
        return app;
      },
      () => {
        coming = null;
        view().note("Not all could be loaded: reload.");
      },
    );
    return coming;
  }
  // What a reader does before the rest is here is done when it is.
  const asked = (name) => (...given) => (app ? app[name](...given) : whole().then((one) => one?.[name](...given)));
  const actions = Object.fromEntries(["take", "change", "open"].map((name) => [name, asked(name)]));

  if (first && !SAID.test(location.search)) {
    const { way } = first;
    const { steps, chosen } = first.answer;
    const answer = { ...first.answer, chosen: steps[chosen] };
    view().show({ answer, way, good: answer, before: null, pinned: null });
    performance.mark("explorer-ready");
    // The answer is painted first; what follows comes side by side.
    setTimeout(() => {
      whole();
      for (const name of ["later.js", "app.css"]) fetched(name).catch(() => {});
    });
  } else whole().then(() => performance.mark("explorer-ready"));
}

const element = document.getElementById("layout");
if (element) start(element);
