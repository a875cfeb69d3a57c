/** Files of the page that are fetched when they are needed. */

import { h } from "../shared/dom.js";
import { script } from "../shared/script.js";

/** Fetch a script or a style that lies beside this one. */
export function fetched(name) {
  return new Promise((done, failed) => {
    const href = new URL(name, script).href;
    const tag = name.endsWith(".js") ? h("script", { src: href }) : h("link", { rel: "stylesheet", href });
    tag.onerror = failed;
    tag.onload = done;
    document.head.append(tag);
  });
}
