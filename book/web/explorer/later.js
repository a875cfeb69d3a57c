/** What follows the first answer: the other presets, and all that stands beside and below it. */

import { makeBeside } from "./beside.js";
import { inLabels } from "./refused.js";
import { rest } from "./rest.js";

globalThis.stLater = { inLabels, makeBeside, rest };
