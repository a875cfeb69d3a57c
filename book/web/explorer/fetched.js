/** Files of the page that are fetched when they are needed. */

import { h } from "../shared/dom.js";
import { script } from "../shared/script.js";

const files = {};

/** Fetch a script or a style that lies beside this one, once; scripts run in the order asked. */
export function fetched(name) {
  files[name] ??= new Promise((done, failed) => {
    const href = new URL(name, script).href;
    const tag = name.endsWith(".js") ? h("script", { src: href }) : h("link", { rel: "stylesheet", href });
    tag.async = false;
    tag.onload = done;
    tag.onerror = (error) => {
      delete files[name];
      failed(error);
    };
    document.head.append(tag);
  });
  return files[name];
}
