// The bottom bar: first, previous, next, last, play, a slider over all steps, and what the nodes show.

import { element, icon, iconButton, setAttribute, setText } from "./dom.js";
import { bytesText, heldBytes, isTime } from "./measures.js";

/** @import { Scene } from "./scene.js" */
/** @import { State } from "./fold.js" */

const BEAT = 900;
const STANDARD = ["value norm", "gradient norm", "bytes"];
export const SWITCHES = ["values", "gradients", "shapes", "names"];

/**
 * @param {Scene} scene
 * @param {{ step: () => number, go: (step: number) => void, show: (what: string, on: boolean) => void, color: (what: string) => void, signal: AbortSignal }} acts
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
  const bytes = heldBytes(scene);
  const memory = element("span", { class: "detail", title: "Values and gradients that a later step can still read" });
  const switches = makeSwitches(acts.show, signal);
  switches.append(...makeColours(scene, acts));
  const made = element("div", { class: "transport" }, buttons, slider, memory, switches);
  /** @param {State} state @param {string} spoken */
  const paint = (state, spoken) => {
    if (Number(slider.value) !== state.step) slider.value = String(state.step);
    setAttribute(slider, "aria-valuetext", spoken);
    if (scene.measures.bytes) setText(memory, `${bytesText(bytes[state.step])} held`);
  };
  return { element: made, paint, toggle, stop, playing: () => clock !== undefined };
}

/** What the nodes are coloured by, and what the colour means. @param {Scene} scene @param {{ color: (what: string) => void, signal: AbortSignal }} acts */
function makeColours(scene, acts) {
  const names = Object.keys(scene.measures).filter((what) => Object.keys(scene.measures[what]).length);
  const list = element("select", { name: "color" }, ...["nothing", ...names].map((what) => element("option", {}, what)));
  const legend = element("span", { class: "detail" });
  const color = () => {
    const what = list.value === "nothing" ? "" : list.value;
    setText(legend, what ? `the stronger, the larger; ${isTime(what) ? "each op was run again alone, the shortest of 5 runs" : "as recorded"}` : "");
    acts.color(what);
  };
  list.addEventListener("change", color, { signal: acts.signal });
  const own = names.find((what) => !STANDARD.includes(what));
  if (own) list.value = own;
  if (own) color();
  return names.length ? [element("label", {}, "colour by ", list), legend] : [];
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
