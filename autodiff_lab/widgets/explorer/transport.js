// The bottom bar: first, previous, next, last, play, a slider over all steps, and what the nodes show.

import { element, setAttribute, setText } from "../dom.js";
import { icon, iconButton } from "./dom.js";
import { bytesText, isTime } from "./measures.js";

/** @import { ExplorerView } from "./widget.js" */
/** @import { State } from "./fold.js" */

const BEAT = 900;
const STANDARD = ["value norm", "gradient norm", "bytes"];
const SWITCHES = ["values", "gradients", "shapes", "names"];

/** @param {ExplorerView} view */
export function makeTransport(view) {
  const { scene } = view;
  const by = (/** @type {number} */ count) => () => view.go(view.step() + count);
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let clock;
  const play = iconButton("play", "Play", "Space", () => toggle());
  const slider = element("input", { type: "range", min: 0, max: scene.last, step: 1, "aria-label": "Step", oninput: () => { view.go(Number(slider.value)); } });

  const show = (/** @type {"play" | "pause"} */ name, /** @type {string} */ label) => {
    play.replaceChildren(icon(name));
    play.setAttribute("aria-label", label);
  };
  const stop = () => {
    clearInterval(clock);
    clock = undefined;
    show("play", "Play");
  };
  const toggle = () => {
    if (clock !== undefined) return stop();
    view.go(view.step() >= scene.last ? 0 : view.step() + 1);
    clock = setInterval(() => (view.step() >= scene.last ? stop() : view.go(view.step() + 1)), BEAT);
    return show("pause", "Pause");
  };
  view.stop.signal.addEventListener("abort", stop);

  const buttons = element(
    "div", { class: "buttons", role: "group", "aria-label": "Steps" },
    iconButton("first", "First step", "Home", () => view.go(0)),
    iconButton("previous", "Previous step", "←", by(-1)),
    iconButton("next", "Next step", "→", by(1)),
    iconButton("last", "Last step", "End", () => view.go(scene.last)),
    play,
  );
  const memory = element("span", { class: "detail", title: "Values and gradients that a later step can still read" });
  const turn = (/** @type {any} */ { target }) => { view.root.classList.toggle(`without-${target.name}`, !target.checked); };
  const labels = SWITCHES.map((what) => element("label", {}, element("input", { type: "checkbox", name: what, checked: what !== "shapes", onchange: turn }), what));
  const switches = element("div", { class: "switches", role: "group", "aria-label": "Shown on nodes" }, ...labels, ...makeColours(view));
  const made = element("div", { class: "transport" }, buttons, slider, memory, switches);
  /** @param {State} state @param {string} spoken */
  const paint = (state, spoken) => {
    if (Number(slider.value) !== state.step) slider.value = String(state.step);
    setAttribute(slider, "aria-valuetext", spoken);
    if (scene.held.length) setText(memory, `${bytesText(scene.held[state.step])} held`);
  };
  return { element: made, paint, toggle, stop, playing: () => clock !== undefined };
}

/** What the nodes are coloured by, and what the colour means. @param {ExplorerView} view */
function makeColours({ scene, graph }) {
  const names = Object.keys(scene.measures).filter((what) => Object.keys(scene.measures[what]).length);
  const list = element("select", { name: "color" }, ...["nothing", ...names].map((what) => element("option", {}, what)));
  const legend = element("span", { class: "detail" });
  const color = () => {
    const what = list.value === "nothing" ? "" : list.value;
    setText(legend, what ? `the stronger the colour, the larger the number; ${isTime(what) ? "each op was run again alone, the shortest of 5 runs" : "as recorded"}` : "");
    graph.colours.show({ measure: what });
  };
  list.addEventListener("change", color);
  const own = names.find((what) => !STANDARD.includes(what));
  if (own) list.value = own;
  if (own) color();
  return names.length ? [element("label", {}, "colour by ", list), legend] : [];
}
