/** What follows the first answer: the other presets, the map, the tables, and ways to share. */

import { makeMap } from "./map.js";
import { rest } from "./rest.js";
import { asCommand, asCsv, asPython } from "./share.js";
import { makeTables } from "./tables.js";

globalThis.stLater = { asCommand, asCsv, asPython, makeMap, makeTables, rest };
