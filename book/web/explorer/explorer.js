/**
 * The layout explorer: `mount(element, data, formulas, view, { loadTexts, loadTables, … })`.
 * One state gives one answer; the drawing, the verdict, the table and the address follow.
 */

import { makeAnswer, modelFields } from "./answer.js";
import { filled } from "./unpack.js";
import { changeText, nearestFit, nearestLegal } from "./nearest.js";
import { DEFAULTS, Undo, fromQuery, saysHow, settled, toQuery } from "./state.js";
import { pinState, storyOf, storyState } from "./stories.js";

/** Put the explorer beside the view in an element, and show there what the address asks. */
export function mount(element, data, formulas, view, { loadTexts, loadTables, loadLater, loadSoftware, loadGiven }) {
  const machine = makeAnswer(data, formulas);
  const undo = new Undo();
  let { state, shown, bad } = fromQuery(location.search, data);
  let story = storyOf(state);
  let pinned = null;
  let good = null;
  let frame = 0;
  let address = null;

  const hasExperts = (one) => modelFields(one, data).num_experts > 0;
  const actions = { takePublished, change, choose, take, back, reset, pin, writeAddress, more, software, given };
  let beside = null;
  let inLabels = null;

  let tables = false;
  let later = null;
  let named = null;
  let naming = null;
  const awaits = (one) => !tables && data.tabled.includes(one?.schedule);
  const nameless = (list, key) => list.some((one) => one.key === key && !one.fields);
  const unknown = (one) => one && (nameless(data.models, one.model) || nameless(data.accelerators, one.gpu));

  /** Fetch what follows the first answer, once. */
  function more() {
    later ??= loadLater().then(
      (parts) => {
        filled(data, parts.rest);
        inLabels = parts.inLabels;
        beside = parts.makeBeside(element, view, data, machine, actions, loadTexts);
        beside.update(state, null, hasExperts(state));
        view.complete(beside);
        const { answer, way } = view.now() ?? {};
        requestAnimationFrame(() => setTimeout(showMore, 0, answer, way));
        return parts;
      },
      (error) => {
        later = null;
        throw error;
      },
    );
    return later;
  }

  /** Fetch what writes a layout in another form. */
  async function given() {
    const [parts] = await Promise.all([loadGiven(), more()]);
    return parts;
  }

  /** Fetch what is known of software, once. */
  function software() {
    naming ??= Promise.all([loadSoftware(), more()]).then(
      ([parts]) => {
        named = parts.makeNamed(parts.tables, data, formulas);
        machine.learn(named);
        beside.learn(parts.makeHow, named, machine.softwareNow);
        const assumed = parts.makeAssumed(named, data, formulas);
        const ranked = parts.makeRanked(named, machine);
        beside.tell(parts.makeTold({ assumed, ranked, state: beside.openPlace }));
        return parts;
      },
      (error) => {
        naming = null;
        view.note("Not all could be loaded: reload.");
        throw error;
      },
    );
    return naming;
  }
  /** Whether the words of what a state may be refused for are still to come. */
  const wordless = (one) =>
    one && !data.faults && (saysHow(one) || awaits(one) || unknown(one) || Boolean(machine.quick(one).refused));
  const unnamed = (one) => one && saysHow(one) && !named;

  /** Leave out of a state what no table knows, and say so. */
  function known(one) {
    const keys = (one && named?.unread(one)) || [];
    if (!keys.length) return one;
    bad = [...bad, ...keys.map((key) => `${key}=${one[key]}`.slice(0, 40))];
    return { ...one, ...Object.fromEntries(keys.map((key) => [key, DEFAULTS[key]])) };
  }

  /** Call back, at once or when all is here that the answers of some states read. */
  function whenReady(states, then) {
    const needed = [
      states.some(awaits) && loadTables().then(() => (tables = true)),
      states.some(wordless) && more(),
      states.some(unnamed) && software(),
    ];
    if (!needed.some(Boolean)) return then();
    const asked = state;
    Promise.all(needed).then(
      () => asked === state && then(),
      () => view.note("Not all could be loaded: reload."),
    );
  }

  function change(values, key) {
    const next = { ...state, ...values };
    whenReady([next], () => take(settled(next, key, data, hasExperts), key));
  }

  /** Go to the layout in which somebody ran the model. */
  function takePublished() {
    const { published } = data.models.find((one) => one.key === state.model);
    take({ ...state, ...published.state }, "published");
  }

  /** Go to a state by hand: the story stays, marked as changed. */
  function take(next, key) {
    undo.push(state, key);
    // From here on the layout just before is the outline, unless the reader pinned one.
    if (!pinned?.pinnedByHand) pinned = null;
    go(next, "replace");
  }

  function choose(next) {
    undo.push(state, "story");
    story = next;
    go(storyState(next), "push", pinState(next));
  }

  function back() {
    const last = undo.pop();
    if (!last) return;
    if (!pinned?.pinnedByHand) followStory(last);
    go(last, "replace");
  }

  function reset() {
    if (story) choose(story);
    else {
      undo.push(state, "reset");
      pinned = null;
      go({ ...DEFAULTS }, "push");
    }
  }

  function pin() {
    pinned = pinned?.pinnedByHand ? null : good && { ...good, pinnedByHand: true };
    render(null);
  }

  function go(next, how, against) {
    state = next;
    bad = [];
    whenReady([next, against], () => {
      if (against !== undefined) pinned = against && machine.answer(against);
      arrive(how);
    });
  }

  function arrive(how) {
    const before = good;
    // Of a layout that is refused the address also says what stays in the picture.
    const stays = good && machine.quick(state).refused ? good.state : null;
    const url = location.pathname + toQuery(state, location.search, stays) + location.hash;
    if (how === "push") {
      writeAddress();
      history.pushState(null, "", url);
    } else address = url;
    render(before);
  }

  function render(before) {
    const answer = machine.answer(state);
    if (!answer.refused) good = answer;
    const way = wayOut(answer);
    // A page opened on an impossible layout shows the possible one beside it, faded.
    if (!good && way) good = machine.answer(way.to);
    const why = answer.refused && inLabels(answer.refused.text, data);
    view.show({ answer, why, good, before, pinned, story, bad, way, canUndo: !undo.empty });
    beside?.update(state, null, hasExperts(state));
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => setTimeout(showMore, 0, answer, way));
  }

  function writeAddress() {
    if (address) history.replaceState(history.state, "", address);
    address = null;
  }

  /** What may come a frame later: the address, marks on every choice, and the map. */
  function showMore(answer, way) {
    if (answer?.state !== state) return;
    writeAddress();
    beside?.update(state, check, hasExperts(state));
    beside?.showMap(answer);
    const lost = answer.memory?.verdict === "over" && !way;
    if (lost) view.showWay(wayToFit(true));
  }

  function check(key, value) {
    const next = settled({ ...state, [key]: value }, key, data, hasExperts);
    const found = machine.quick(next);
    if (found.refused) return "never";
    return found.memory.verdict === "over" ? "over" : "fits";
  }

  function wayOut(answer) {
    if (answer.refused) {
      const to = nearestLegal(state, answer.refused, machine.legal);
      return to && { to, text: changeText(state, to, data) };
    }
    return answer.memory.verdict === "over" ? wayToFit(false) : null;
  }

  function wayToFit(deep) {
    let missing = null;
    const quick = (one) => {
      const found = machine.quick(one);
      if (found.refused || found.memory.verdict === "over" || !awaits(one)) return found;
      missing = one;
      return { state: one, refused: "not here yet" };
    };
    const found = nearestFit(state, quick, hasExperts(state), deep);
    // What a table may offer is offered when it is here.
    if (missing) whenReady([missing], () => render(null));
    return found && { to: found.state, text: changeText(state, found.state, data), memory: found.memory };
  }

  function read() {
    address = null;
    ({ state, shown, bad } = fromQuery(location.search, data));
    start();
  }

  /** Draw what an address says, and beside a refused layout what was in the picture then. */
  function start() {
    const found = storyOf(state);
    whenReady([state, shown, found && pinState(found)], drawn);
  }

  function drawn() {
    [state, shown] = [known(state), known(shown)];
    const before = shown && machine.answer(shown);
    if (before && !before.refused) good = before;
    followStory(state);
    render(null);
  }

  /** Take the story that a state is, with its outline; none leaves the story as it was. */
  function followStory(next) {
    const found = storyOf(next);
    story = found ?? story;
    const against = found && pinState(found);
    pinned = against && machine.answer(against);
  }

  window.addEventListener("popstate", read);
  start();
  // What failed to come is asked for again by the first change that needs it.
  const formless = () => view.note("Not all could be loaded: reload.");
  setTimeout(() => more().catch(formless));
  /** Whether all is here that the answer of the state reads. */
  const ready = () => !wordless(state) && !unknown(state) && !awaits(state) && !unnamed(state);
  const answer = () => machine.answer(state);
  const goTo = (values, key) => take({ ...state, ...values }, key);
  const open = (...given) => more().then(() => beside.open(...given), formless);
  return { state: () => state, ready, answer, take: goTo, change, open };
}
