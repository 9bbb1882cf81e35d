// The bottom bar: first, previous, next, last, play, a slider over all steps, and what the nodes show.

import { element, icon, iconButton, setAttribute } from "./dom.js";

/** @import { Scene } from "./scene.js" */
/** @import { State } from "./fold.js" */

const BEAT = 900;
export const SWITCHES = ["values", "gradients", "shapes", "names"];

/**
 * @param {Scene} scene
 * @param {{ step: () => number, go: (step: number) => void, show: (what: string, on: boolean) => void, signal: AbortSignal }} acts
 */
export function makeTransport(scene, acts) {
  const { signal } = acts;
  const by = (/** @type {number} */ count) => () => acts.go(acts.step() + count);
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let clock;
  const play = iconButton("play", "Play", "Space", () => toggle(), signal);
  const slider = element("input", { type: "range", min: 0, max: scene.last, step: 1, "aria-label": "Step" });
  slider.addEventListener("input", () => acts.go(Number(slider.value)), { signal });

  const stop = () => {
    clearInterval(clock);
    clock = undefined;
    play.replaceChildren(icon("play"));
    play.setAttribute("aria-label", "Play");
  };
  const beat = () => {
    if (acts.step() >= scene.last) stop();
    else acts.go(acts.step() + 1, );
  };
  const toggle = () => {
    if (clock !== undefined) return stop();
    if (acts.step() >= scene.last) acts.go(0);
    else acts.go(acts.step() + 1);
    clock = setInterval(beat, BEAT);
    play.replaceChildren(icon("pause"));
    return play.setAttribute("aria-label", "Pause");
  };
  signal.addEventListener("abort", stop);

  const buttons = element(
    "div", { class: "buttons", role: "group", "aria-label": "Steps" },
    iconButton("first", "First step", "Home", () => acts.go(0), signal),
    iconButton("previous", "Previous step", "←", by(-1), signal),
    iconButton("next", "Next step", "→", by(1), signal),
    iconButton("last", "Last step", "End", () => acts.go(scene.last), signal),
    play,
  );
  const made = element("div", { class: "transport" }, buttons, slider, makeSwitches(acts.show, signal));
  /** @param {State} state @param {string} spoken */
  const paint = (state, spoken) => {
    if (Number(slider.value) !== state.step) slider.value = String(state.step);
    setAttribute(slider, "aria-valuetext", spoken);
  };
  return { element: made, paint, toggle, stop, playing: () => clock !== undefined };
}

/** @param {(what: string, on: boolean) => void} show @param {AbortSignal} signal */
function makeSwitches(show, signal) {
  const made = element("div", { class: "switches", role: "group", "aria-label": "Shown on nodes" });
  for (const what of SWITCHES) {
    const box = element("input", { type: "checkbox", name: what, checked: what !== "shapes" });
    box.addEventListener("change", () => show(what, box.checked), { signal });
    made.append(element("label", {}, box, what));
  }
  return made;
}
