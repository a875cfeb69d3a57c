/**
 * The search in a thread of its own; on a page from a file, which may start none, the page loads
 * this as a script and it works in turns of a few milliseconds.
 */

import * as presets from "../explorer/data.js";
import { script } from "../shared/script.js";
import { search } from "./data.js";
import { makeDriver } from "./driver.js";
import * as formulas from "./formulas.js";

const data = { ...presets.data, search };
const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();
/** Lets other messages in; unlike a timer it does not wait four milliseconds. */
const pause = () =>
  new Promise((go) => {
    waiting.push(go);
    channel.port2.postMessage(0);
  });

if (typeof document === "undefined") {
  const bring = async () => importScripts(new URL("named.js", location.href).href);
  const times = { turn_ms: 40, first_ms: 60, next_ms: 150, pause, bring };
  const driver = makeDriver(data, formulas, (message) => postMessage(message), times);
  onmessage = ({ data }) => driver.hear(data);
} else {
  const bring = () =>
    new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = new URL("named.js", script).href;
      element.onload = done;
      element.onerror = failed;
      document.head.append(element);
    });
  const times = { turn_ms: 6, first_ms: 150, next_ms: 400, pause, bring };
  globalThis.stSearchHere = (tell) => makeDriver(data, formulas, tell, times);
}
