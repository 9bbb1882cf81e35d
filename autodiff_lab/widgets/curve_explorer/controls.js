// Everything of the explorer that is not the picture: switches, numbers, buttons, sentences, table, keys.

import { element } from "../dom.js";
import { makeHint } from "../host.js";
import { addButton, addCheckbox, addLive, make } from "../plotting/elements.js";
import { short } from "../numbers.js";
import { place } from "../plotting/numbers.js";
import { averageRate, isNone, pointSentence, secantSentence, statusSentence, tableRows, valueWord } from "./sentences.js";
import { magnification } from "../plotting/view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {{ change: (act: () => void) => void, stop: AbortSignal }} Hands */

/** @typedef {(state: State, handle: "point" | "other", far: number) => unknown} Act */

/** The keys, as the help shows them, and what each of them does. @type {[string, string, Record<string, Act>][]} */
const KEYS = [
  ["← →", "one sample (with Shift: ten)", {
    ArrowLeft: (state, handle, far) => state.stepBy(handle, -far), ArrowRight: (state, handle, far) => state.stepBy(handle, far),
    ArrowDown: (state, handle, far) => state.stepBy(handle, -far), ArrowUp: (state, handle, far) => state.stepBy(handle, far),
  }],
  ["Home End", "first, last sample", { Home: (state, handle) => state.toEnd(handle, 0), End: (state, handle) => state.toEnd(handle, 1) }],
  ["+ − 0", "zoom in, zoom out, whole curve", {
    "+": state => state.zoom(2), "=": state => state.zoom(2), "-": state => state.zoom(0.5), _: state => state.zoom(0.5), 0: state => state.reset(),
  }],
  ["PgUp PgDn", "look left, right", { PageUp: state => state.pan(-0.25), PageDown: state => state.pan(0.25) }],
  ["S", "secant", { s: state => (state.secant = !state.secant) }],
  ["D", "more derivatives, or none", { d: state => (state.order = (state.order + 1) % state.facts.names.length) }],
  ["F", "fit heights", { f: state => (state.fit = !state.fit) }],
  ["L", "heights on a logarithmic axis", { l: state => (state.log = !state.log) }],
  ["T", "trace the slope instead of showing it", { t: state => state.setTraced(!state.traced) }],
  ["N", "a step of Newton's method, to where the tangent meets 0", { n: state => state.stepOn("newton") }],
  ["G", "a step of gradient descent: rate × slope, downhill", { g: state => state.stepOn("descent") }],
  ["Esc", "back to the notebook", {}],
];
/** @type {Record<string, Act>} */
const ACTS = Object.assign({}, ...KEYS.map(([, , acts]) => acts));
const TABLE_ROWS = 21;

/** @param {Element} parent @param {string} text @param {string} label @param {() => void} act @param {Hands} hands */
const button = (parent, text, label, act, { change, stop }) => addButton(parent, text, label, () => change(act), stop);

/** @param {Element} parent @param {string} text @param {(on: boolean) => void} act @param {Hands} hands */
const checkbox = (parent, text, act, { change, stop }) => addCheckbox(parent, text, on => change(() => act(on)), stop);

/**
 * The head: what is shown, and the switches.
 * @param {Element} root
 * @param {State} state
 * @param {Hands} hands
 */
export function makeHead(root, state, hands) {
  const options = state.facts.names.map((_, order) => element("option", { value: order }, String(order)));
  const orders = element("select", { onchange: () => hands.change(() => { state.order = Number(orders.value); }) }, ...options);
  const switches = element("span", { class: "switches" }, element("label", {}, "derivatives", orders));
  root.append(element("div", { class: "head" }, element("span", { class: "title" }, state.facts.title), makeHint("← →"), switches));
  const boxes = /** @type {const} */ ([["secant", "secant"], ["fit", "fit heights"], ["log", "log heights"], ["traced", "trace"]]).map(([name, text]) => (
    { name, box: checkbox(switches, text, on => (name === "traced" ? state.setTraced(on) : (state[name] = on)), hands) }));
  return () => {
    orders.value = String(state.order);
    for (const { name, box } of boxes) box.checked = state[name];
  };
}

/**
 * The numbers: name and value pairs in one line.
 * @param {Element} root
 * @param {State} state
 */
export function makeReadout(root, state) {
  const { names, variable } = state.facts;
  const pair = (/** @type {string} */ name, /** @type {string} */ key) => {
    const at = element("dd");
    return { at, group: element("div", { class: key }, element("dt", {}, name), at) };
  };
  const x = pair(variable, "x");
  const values = names.map((name, row) => pair(row === 1 ? `slope ${name}` : name, `value${row}`));
  const rate = pair("average rate", "rate");
  root.append(element("dl", { class: "readout" }, ...[x, ...values, rate].map(({ group }) => group)));
  return () => {
    const { point, other } = state;
    const say = (/** @type {HTMLElement} */ at, /** @type {string} */ text, /** @type {number} */ full) => {
      at.textContent = text;
      at.title = String(full);
      at.classList.toggle("missing", !Number.isFinite(full));
    };
    say(x.at, place(point.x, state.grain), point.x);
    values.forEach(({ at, group }, row) => {
      say(at, `${point.interpolated ? "≈ " : ""}${valueWord(state.facts, row, point)}`, point.values[row]);
      if (Number.isNaN(point.values[row]) && isNone(state.facts, row, point.x)) at.title = "None";
      group.hidden = row > state.order;
    });
    const average = averageRate(point, other);
    say(rate.at, Number.isNaN(average) ? "0/0" : short(average), average);
    rate.group.hidden = !state.secant;
  };
}

/**
 * A slider for each parameter of the function; without a kernel they say where they stand and cannot be moved.
 * @param {Element} root
 * @param {{ get: (name: "parameters") => Record<string, [number, number, number]> }} model
 * @param {State} state
 * @param {(values: Record<string, number>) => void} act
 */
export function makeSliders(root, model, state, act) {
  root.append(element("div", { class: "sliders" }, ...Object.entries(model.get("parameters")).map(([name, [lo, hi, value]]) => {
    const shown = element("output", {}, short(value));
    const move = (/** @type {any} */ { target }) => {
      shown.textContent = short(Number(target.value));
      act({ [name]: Number(target.value) });
    };
    const bar = element("input", { type: "range", min: lo, max: hi, step: (hi - lo) / 200, value, disabled: !state.facts.live, oninput: move });
    return element("label", {}, name, bar, shown);
  })));
}

/**
 * The foot: zoom buttons, how the picture was made, keys, notes, the live sentence and the table.
 * @param {Element} root
 * @param {State} state
 * @param {Hands} hands
 */
export function makeFoot(root, state, hands) {
  const sentence = addLive(root);
  const foot = make(root, "div", "foot");
  const buttons = make(foot, "span", "buttons");
  const left = button(buttons, "◀", "Pan left (Page Up)", () => state.pan(-0.25), hands);
  const right = button(buttons, "▶", "Pan right (Page Down)", () => state.pan(0.25), hands);
  const shrink = button(buttons, "−", "Zoom out (−)", () => state.zoom(0.5), hands);
  button(buttons, "+", "Zoom in around the point (+)", () => state.zoom(2), hands);
  const all = button(buttons, "whole", "Whole curve (0)", () => state.reset(), hands);
  const walk = make(foot, "span", "buttons");
  button(walk, "Newton step", "To where the tangent meets 0 (N)", () => state.stepOn("newton"), hands);
  button(walk, "descent step", "Downhill by rate times slope (G)", () => state.stepOn("descent"), hands);
  const setRate = (/** @type {any} */ { target }) => { state.rate = Number(target.value) || 0; };
  walk.append(element("label", {}, "rate", element("input", { class: "rate", type: "number", min: 0, step: "any", value: state.rate, oninput: setRate })));
  const status = make(foot, "span", "status");
  for (const note of state.facts.notes) make(root, "p", "note", note);
  const table = makeTable(root, state, hands);
  makeHelp(root);
  return () => {
    const step = state.grain;
    const words = state.facts;
    const about = [pointSentence(words, state.point, step, state.markHere)];
    if (state.walk.told) about.unshift(state.walk.told);
    if (state.secant) about.push(secantSentence(words, state.point, state.other, step));
    sentence.textContent = about.join(" ");
    const magnified = magnification(state.view, state.facts);
    const { count, samples, problem } = state;
    const { interpolated } = samples;
    const derived = Boolean(samples.rows[1]?.some(Number.isFinite));
    status.textContent = statusSentence({ count, magnified, interpolated, derived, waiting: state.request !== null, problem: interpolated ? problem : "" });
    for (const element of [left, right]) element.disabled = magnified <= 1;
    shrink.disabled = magnified <= 1 && !state.facts.live;
    all.disabled = magnified <= 1 && state.facts.lo === state.home.lo && state.facts.hi === state.home.hi;
    table();
  };
}

/** @param {Element} root @param {State} state @param {Hands} hands */
function makeTable(root, state, { change }) {
  const names = [state.facts.variable, ...state.facts.names].map(name => element("th", { scope: "col" }, name));
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...names)), body);
  const details = element("details", { class: "table", ontoggle: () => change(() => {}) }, element("summary", {}, "Table of the values in view"), table);
  root.append(details);
  return () => {
    if (!details.open) return;
    const rows = tableRows(state.samples, state.view, TABLE_ROWS);
    body.replaceChildren(...rows.map(cells => element("tr", {}, ...cells.map(cell => element("td", {}, cell)))));
  };
}

/** @param {Element} root */
function makeHelp(root) {
  const list = KEYS.flatMap(([keys, meaning]) => [element("dt", {}, keys), element("dd", {}, meaning)]);
  root.append(element("details", { class: "help" }, element("summary", {}, "Keys"), element("dl", {}, ...list)));
}

/**
 * What a key does; null if it means nothing here.
 * @param {State} state
 * @param {{ key: string, shiftKey: boolean }} event
 * @param {"point" | "other"} handle the one that has the focus
 * @returns {(() => void) | null}
 */
export function keyAction(state, { key, shiftKey }, handle) {
  const act = ACTS[key.length === 1 ? key.toLowerCase() : key];
  return act ? () => void act(state, handle, shiftKey ? 10 : 1) : null;
}
