/** What a page fetches when the first formula is opened. */

import { makeFormulaDialog } from "./formula.js";
import { unpackedTexts } from "./texts.js";

globalThis.stOpened = { makeFormulaDialog, texts: unpackedTexts(globalThis.stFormulaTexts) };
