/** Start the figure on a page that has an element with the id "ring". */

import { frames } from "../shared/frames.js";
import { DATA } from "./data.js";

const element = document.getElementById("ring");
if (element) globalThis.stFrames = frames(element, DATA);
