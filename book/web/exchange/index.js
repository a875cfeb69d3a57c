/** Start the figure on a page that has an element with the id "exchange". */

import { frames } from "../shared/frames.js";
import { DATA } from "./data.js";

const element = document.getElementById("exchange");
if (element) globalThis.stFrames = frames(element, DATA);
