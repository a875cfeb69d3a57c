/** What a page fetches when the first software, month or fact is to be stated. */

import { makeHow } from "./how.js";
import { makeNamed } from "./named.js";
import { tables } from "./tables-of-software.js";

globalThis.stSoftware = { makeHow, makeNamed, tables };
