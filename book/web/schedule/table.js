/** The same timeline as a table: every action, or one GPU's where there are thousands. */

import { h } from "../shared/dom.js";
import { LETTERS, needed } from "./model.js";
import { KINDS, num, sizes, title } from "./words.js";

const MOST = 4000;
const HEADS = ["GPU", "Action", "Micro-batch", "Stage", "Start", "End", "Needs"];

/** Return a table of each timeline. */
export const tables = (runs) => runs.map(one);

function one(run) {
  const whole = run.boxes <= MOST;
  const body = h("tbody", {});
  const fill = (rows) => {
    body.innerHTML = rows.map((row) => row.map((box) => line(run, box)).join("")).join("");
  };
  const pick = whole
    ? null
    : h(
        "select",
        { "aria-label": "GPU", onchange: () => fill([run.rows[+pick.value]]) },
        run.rows.map((_, rank) => h("option", { value: rank }, `GPU ${rank}`)),
      );
  fill(whole ? run.rows : [run.rows[0]]);
  return h(
    "div",
    {},
    pick,
    h(
      "div",
      { class: "wide", tabindex: 0, role: "region", "aria-label": `Table of ${title(run.name)}` },
      h(
        "table",
        {},
        h(
          "caption",
          {},
          `${title(run.name)}, ${sizes(run)}: what each GPU does when, in units of time`,
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            HEADS.map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        body,
      ),
    ),
  );
}

function line(run, box) {
  const source = needed(run, box);
  const needs = source ? `${LETTERS[source.kind]}${source.mb + 1}, GPU ${source.rank}` : "nothing";
  const cells = [
    LETTERS[box.kind],
    box.mb + 1,
    box.stage,
    num(box.start, 3),
    num(box.end, 3),
    needs,
  ];
  return `<tr><th scope="row">${box.rank}</th><td title="${KINDS[box.kind]}">${cells.join("</td><td>")}</td></tr>`;
}
