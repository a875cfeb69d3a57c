/** The racks: one state, from which picture, verdict, table and address all come. */

import { h, text } from "../shared/dom.js";
import { liveRegion } from "../shared/live.js";
import { inNumber } from "../shared/number.js";
import { legend, picture } from "./draw.js";
import { placed, story, verdict } from "./model.js";
import { CHOICES, FIRST, NAMES, STORIES, fromAddress, toAddress } from "./state.js";

/** Take over an element; return what a test may ask for. */
export function mount(element) {
  const first = fromAddress(location.search);
  let state = first.state;
  let chosen = -1;
  let job = placed(state);
  const live = liveRegion();
  const out = h("p", { class: "rk-verdict", "data-out": "verdict" });
  const chart = h("div", { class: "rk-chart", tabindex: 0, role: "group", "aria-label": "Domains; arrow keys go from GPU to GPU" });
  const key = h("p", { class: "rk-key" });
  const detail = h("p", { class: "rk-detail", "data-out": "detail" });
  const see = h("p", { class: "rk-see" });
  const counts = h("tbody", {});
  const stories = STORIES.map((one, place) =>
    h("button", { type: "button", "data-story": place + 1, onclick: () => tell(place) }, `${place + 1} ${one.name}`),
  );
  const groups = Object.keys(CHOICES).map((key) => choice(key));
  const head = ["groups", "size", "inside", "crossing"].map((name) => h("th", { scope: "col" }, name));
  element.replaceChildren(
    out,
    key,
    chart,
    detail,
    h("div", { class: "rk-stories", role: "group", "aria-label": "Stories" }, stories),
    see,
    h("div", { class: "rk-controls" }, groups),
    h("table", { class: "rk-table" }, [
      h("caption", {}, "Groups inside one NVLink domain, and groups that cross the network"),
      h("thead", {}, h("tr", {}, head)),
      counts,
    ]),
    live.element,
  );

  function choice(key) {
    const name = "rk-" + key;
    const radios = CHOICES[key].map((value) =>
      h("label", {}, [
        h("input", { type: "radio", name, value, onchange: () => change({ ...state, [key]: value }) }),
        h("span", {}, String(value)),
      ]),
    );
    return h("fieldset", { "data-key": key }, [h("legend", {}, NAMES[key]), radios]);
  }

  function tell(place) {
    change(STORIES[place].state, true);
  }

  function change(next, isStory = false) {
    state = { ...next };
    chosen = -1;
    const address = toAddress(state, location.href);
    if (isStory) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    draw();
    live.say(verdict(job));
  }

  function draw() {
    job = placed(state);
    const said = verdict(job);
    text(out, said);
    const width = Math.max(296, Math.min(688, element.clientWidth || 688));
    const drawn = picture(job, width, chosen, said);
    chart.replaceChildren(drawn.svg);
    key.replaceChildren(...legend(job));
    const more = job.domains - drawn.shown;
    const rest = more > 0 ? ` ${more.toLocaleString("en")} more ${inNumber(more, "domains")} like these.` : "";
    text(detail, chosen < 0 ? "Choose a GPU to see its pipeline." + rest : story(job, chosen));
    const at = STORIES.findIndex((one) => Object.keys(one.state).every((key) => one.state[key] === state[key]));
    const odd = first.odd ? "Part of the address made no sense and was left out. " : "";
    text(see, at < 0 ? odd + "Your own job." : odd + STORIES[at].see);
    stories.forEach((button, place) => button.setAttribute("aria-pressed", String(place === at)));
    for (const key of Object.keys(CHOICES)) {
      for (const input of element.querySelectorAll(`input[name="rk-${key}"]`)) {
        input.checked = input.value === String(state[key]);
        input.disabled = key === "e" && (state.t * state.c * state.d) % Number(input.value) !== 0;
      }
    }
    const rows = job.groups.map((group) => row(group.kind, group.size, group.stay, group.cross));
    if (job.near + job.far) rows.push(row("pipeline hops", "-", job.near, job.far));
    counts.replaceChildren(...rows);
  }

  function row(kind, size, stay, cross) {
    const cells = [size, stay.toLocaleString("en"), cross.toLocaleString("en")];
    return h("tr", { "data-kind": kind }, [
      h("th", { scope: "row" }, kind),
      ...cells.map((cell) => h("td", {}, String(cell))),
    ]);
  }

  function choose(rank) {
    const last = chart.querySelectorAll("[data-rank]").length - 1;
    chosen = Math.max(0, Math.min(last, rank));
    draw();
    live.say(story(job, chosen));
  }

  chart.addEventListener("click", (event) => {
    const rank = event.target.getAttribute("data-rank");
    if (rank !== null) choose(Number(rank));
  });
  chart.addEventListener("keydown", (event) => {
    const side = state.n <= 16 ? 4 : 8;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: side, ArrowUp: -side };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose(chosen < 0 ? 0 : chosen + step);
  });
  addEventListener("popstate", () => {
    state = fromAddress(location.search).state;
    chosen = -1;
    draw();
  });
  let width = element.clientWidth;
  addEventListener("resize", () => {
    if (element.clientWidth !== width) {
      width = element.clientWidth;
      draw();
    }
  });
  draw();
  return { placed: () => placed(state), state: () => ({ ...state }), first: FIRST };
}
