// Everything of the explorer that is not the picture: switches, numbers, buttons, sentences, table, keys.

import { makeHint } from "../host.js";
import { addButton, addCheckbox, make } from "../plotting/elements.js";
import { short } from "../numbers.js";
import { place } from "../plotting/numbers.js";
import { averageRate, isNone, pointSentence, secantSentence, statusSentence, tableRows, valueWord } from "./sentences.js";
import { magnification } from "../plotting/view.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {{ change: (act: () => void) => void, stop: AbortSignal }} Hands */

const KEYS = [
  ["← →", "one sample (with Shift: ten)"],
  ["Home End", "first, last sample"],
  ["+ − 0", "zoom in, zoom out, whole curve"],
  ["PgUp PgDn", "look left, right"],
  ["S", "secant"],
  ["D", "more derivatives, or none"],
  ["F", "fit heights"],
  ["L", "heights on a logarithmic axis"],
  ["T", "trace the slope instead of showing it"],
  ["N", "a step of Newton's method, to where the tangent meets 0"],
  ["G", "a step of gradient descent: rate × slope, downhill"],
  ["Esc", "back to the notebook"],
];
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
  const head = make(root, "div", "head");
  make(head, "span", "title", state.facts.title);
  head.append(makeHint("← →"));
  const switches = make(head, "span", "switches");
  const choice = make(switches, "label", "", "derivatives");
  const orders = make(choice, "select");
  state.facts.names.forEach((_, order) => (make(orders, "option", "", String(order)).value = String(order)));
  orders.addEventListener("change", () => hands.change(() => (state.order = Number(orders.value))), { signal: hands.stop });
  const secant = checkbox(switches, "secant", on => (state.secant = on), hands);
  const fit = checkbox(switches, "fit heights", on => (state.fit = on), hands);
  const log = checkbox(switches, "log heights", on => (state.log = on), hands);
  const trace = checkbox(switches, "trace", on => state.setTraced(on), hands);
  return () => {
    orders.value = String(state.order);
    log.checked = state.log;
    trace.checked = state.traced;
    secant.checked = state.secant;
    fit.checked = state.fit;
  };
}

/**
 * The numbers: name and value pairs in one line.
 * @param {Element} root
 * @param {State} state
 */
export function makeReadout(root, state) {
  const list = make(root, "dl", "readout");
  const { names, variable } = state.facts;
  const pair = (/** @type {string} */ name, /** @type {string} */ key) => {
    const group = make(list, "div", key);
    make(group, "dt", "", name);
    return make(group, "dd");
  };
  const x = pair(variable, "x");
  const values = names.map((name, row) => pair(row === 1 ? `slope ${name}` : name, `value${row}`));
  const rate = pair("average rate", "rate");
  return () => {
    const { point, other } = state;
    const say = (/** @type {HTMLElement} */ at, /** @type {string} */ text, /** @type {number} */ full) => {
      at.textContent = text;
      at.title = String(full);
      at.classList.toggle("missing", !Number.isFinite(full));
    };
    say(x, place(point.x, state.grain), point.x);
    values.forEach((value, row) => {
      say(value, `${point.interpolated ? "≈ " : ""}${valueWord(state.facts, row, point)}`, point.values[row]);
      if (Number.isNaN(point.values[row]) && isNone(state.facts, row, point.x)) value.title = "None";
      if (value.parentElement) value.parentElement.hidden = row > state.order;
    });
    const average = averageRate(point, other);
    say(rate, Number.isNaN(average) ? "0/0" : short(average), average);
    if (rate.parentElement) rate.parentElement.hidden = !state.secant;
  };
}

/**
 * A slider for each parameter of the function; without a kernel they say where they stand and cannot be moved.
 * @param {Element} root
 * @param {{ get: (name: "parameters") => Record<string, [number, number, number]> }} model
 * @param {State} state
 * @param {(values: Record<string, number>) => void} act
 * @param {AbortSignal} signal
 */
export function makeSliders(root, model, state, act, signal) {
  const row = make(root, "div", "sliders");
  for (const [name, [lo, hi, value]] of Object.entries(model.get("parameters"))) {
    const label = make(row, "label", "", name);
    const bar = make(label, "input");
    Object.assign(bar, { type: "range", min: String(lo), max: String(hi), step: String((hi - lo) / 200), disabled: !state.facts.live });
    bar.value = String(value);
    const shown = make(label, "output", "", short(value));
    bar.addEventListener("input", () => {
      shown.textContent = short(Number(bar.value));
      act({ [name]: Number(bar.value) });
    }, { signal });
  }
}

/**
 * The foot: zoom buttons, how the picture was made, keys, notes, the live sentence and the table.
 * @param {Element} root
 * @param {State} state
 * @param {Hands} hands
 */
export function makeFoot(root, state, hands) {
  const sentence = make(root, "p", "sentence");
  sentence.setAttribute("aria-live", "polite");
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
  const rate = make(make(walk, "label", "", "rate"), "input", "rate");
  Object.assign(rate, { type: "number", min: "0", step: "any", value: String(state.rate) });
  rate.addEventListener("input", () => (state.rate = Number(rate.value) || 0), { signal: hands.stop });
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
    const waiting = state.request !== null;
    status.textContent = statusSentence({
      count, magnified, interpolated: samples.interpolated, waiting, problem: samples.interpolated ? problem : "",
    });
    for (const element of [left, right]) element.disabled = magnified <= 1;
    shrink.disabled = magnified <= 1 && !state.facts.live;
    all.disabled = magnified <= 1 && state.facts.lo === state.home.lo && state.facts.hi === state.home.hi;
    table();
  };
}

/** @param {Element} root @param {State} state @param {Hands} hands */
function makeTable(root, state, { change, stop }) {
  const details = make(root, "details", "table");
  make(details, "summary", "", "Table of the values in view");
  const table = make(details, "table");
  const header = make(make(table, "thead"), "tr");
  for (const name of [state.facts.variable, ...state.facts.names]) make(header, "th", "", name).scope = "col";
  const body = make(table, "tbody");
  details.addEventListener("toggle", () => change(() => {}), { signal: stop });
  return () => {
    if (!details.open) return;
    body.replaceChildren();
    for (const cells of tableRows(state.samples, state.view, TABLE_ROWS)) {
      const row = make(body, "tr");
      for (const cell of cells) make(row, "td", "", cell);
    }
  };
}

/** @param {Element} root */
function makeHelp(root) {
  const details = make(root, "details", "help");
  make(details, "summary", "", "Keys");
  const list = make(details, "dl");
  for (const [keys, meaning] of KEYS) {
    make(list, "dt", "", keys);
    make(list, "dd", "", meaning);
  }
}

/**
 * What a key does; null if it means nothing here.
 * @param {State} state
 * @param {{ key: string, shiftKey: boolean }} event
 * @param {"point" | "other"} handle the one that has the focus
 * @returns {(() => void) | null}
 */
export function keyAction(state, { key, shiftKey }, handle) {
  const far = shiftKey ? 10 : 1;
  /** @type {Record<string, () => void>} */
  const actions = {
    ArrowLeft: () => state.stepBy(handle, -far),
    ArrowRight: () => state.stepBy(handle, far),
    ArrowDown: () => state.stepBy(handle, -far),
    ArrowUp: () => state.stepBy(handle, far),
    Home: () => state.toEnd(handle, 0),
    End: () => state.toEnd(handle, 1),
    "+": () => state.zoom(2),
    "=": () => state.zoom(2),
    "-": () => state.zoom(0.5),
    _: () => state.zoom(0.5),
    0: () => state.reset(),
    PageUp: () => state.pan(-0.25),
    PageDown: () => state.pan(0.25),
    s: () => (state.secant = !state.secant),
    d: () => (state.order = (state.order + 1) % state.facts.names.length),
    l: () => (state.log = !state.log),
    t: () => state.setTraced(!state.traced),
    n: () => state.stepOn("newton"),
    g: () => state.stepOn("descent"),
    f: () => (state.fit = !state.fit),
  };
  return actions[key.length === 1 ? key.toLowerCase() : key] ?? null;
}
