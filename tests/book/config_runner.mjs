// Reads configs.json with the page's own reader.
import { readFileSync, writeFileSync } from "node:fs";
import { readConfig } from "./find/config.js";
import { tables } from "./find/tables.js";
const texts = JSON.parse(readFileSync("configs.json", "utf8"));
writeFileSync("answers.json", JSON.stringify(texts.map((text) => readConfig(text, tables))));
