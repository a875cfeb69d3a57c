/** What a page fetches when a layout is first copied in another form. */

import { asCommand, asCsv, asPython } from "./share.js";

globalThis.stGiven = { asCommand, asCsv, asPython };
