/** The front page: the picture that Python drew plays, and the answer follows two lists. */

import { liveRegion } from "../shared/live.js";
import { answers } from "./answers.js";
import { DATA } from "./data.js";
import { film } from "./film.js";

/** Take over an element; return what a test may ask for. */
export function mount(root) {
  const live = liveRegion();
  root.append(live.element);
  const shown = film(root, DATA, live.say);
  answers(root, DATA, live.say);
  return shown;
}
