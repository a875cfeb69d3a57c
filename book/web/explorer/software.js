/** What a page fetches when software is to be stated, or what was assumed of it is to be seen. */

import { makeAssumed } from "./assumed.js";
import { makeHow } from "./how.js";
import { makeNamed } from "./named.js";
import { makeRanked } from "./ranked.js";
import { tables } from "./tables-of-software.js";
import { makeTold } from "./told.js";

globalThis.stSoftware = { makeAssumed, makeHow, makeNamed, makeRanked, makeTold, tables };
