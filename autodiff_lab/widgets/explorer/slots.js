// Above the picture of forward sweeps: the gradient that they fill, one slot a sweep.  A slot leads to its sweep.

import { element, setAttribute, setText } from "../dom.js";
import { counted, namesOf } from "./words.js";

/** @import { Scene, Sweep } from "./scene.js" */
/** @import { State } from "./fold.js" */

/** @param {Scene} scene @param {(step: number) => void} go */
export function makeSlots(scene, go) {
  const sweeps = scene.sweeps.filter(({ tangent }) => tangent);
  const slots = sweeps.map((sweep) => {
    const value = element("strong", { class: "backward" });
    const made = element("button", { type: "button", class: "slot", onclick: () => go(sweep.first) }, element("small", {}, seedWords(scene, sweep)), `${slopeWords(scene, sweep)} = `, value);
    return { made, value, at: scene.sweeps.indexOf(sweep) };
  });
  const count = element("span", { class: "sweep-count" });
  const made = element("div", { class: "slots", role: "group", "aria-label": "Sweeps" }, count, ...slots.map((slot) => slot.made));
  made.hidden = !slots.length;
  /** @param {State} state */
  const paint = (state) => {
    for (const { made: slot, value, at } of slots) {
      setText(value, state.finished.has(at) ? scene.sweeps[at].results[0]?.short ?? "0" : "?");
      setAttribute(slot, "aria-pressed", String(state.sweep === at));
    }
    const now = slots.findIndex(({ at }) => at === state.sweep);
    setText(count, now < 0 ? counted(slots.length, "forward sweep") : `Sweep ${now + 1} of ${slots.length}`);
  };
  return { element: made, paint };
}

/** Which inputs move: "seed x = 1". @param {Scene} scene @param {Sweep} sweep */
function seedWords(scene, { targets, seeds }) {
  return `seed ${namesOf(scene, targets).map((name, at) => `${name} = ${seeds[at]?.short ?? ""}`).join(", ")}`;
}

/** What the sweep finds: a partial derivative, or the tangent of the result. @param {Scene} scene @param {Sweep} sweep */
function slopeWords(scene, { targets, seeds, sources }) {
  const [result] = namesOf(scene, sources);
  const alone = targets.length === 1 && seeds[0]?.short === "1";
  return alone ? `∂${result}/∂${namesOf(scene, targets)[0]}` : `tangent of ${result}`;
}
