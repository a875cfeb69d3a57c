/** What follows the first answer: the other presets, the map and the tables. */

import { makeMap } from "./map.js";
import { makePlace } from "./place.js";
import { rest } from "./rest.js";
import { makeTables } from "./tables.js";

globalThis.stLater = { makeMap, makePlace, makeTables, rest };
