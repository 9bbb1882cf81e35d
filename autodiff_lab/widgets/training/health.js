// The health of one observed step: what is suspicious, and a row for each parameter on one logarithmic axis.  Pure
// functions first, then the drawing.

import { axisTicks, share } from "../plotting/axes.js";
import { add, make } from "../plotting/elements.js";

/**
 * Numbers as the kernel sends them: null for none, a word for what is not finite.
 * @typedef {number | string | null} Sent
 * @typedef {[name: string, gradient: Sent, weight: Sent, change: Sent]} Row
 * @typedef {{ step: number, loss: Sent, recorded: boolean, rows: Row[], more: number,
 *   units: [name: string, count: number, dead: number][], suspects: [name: string, words: string][], suspicious: string[] }} Sample
 */

const TRACK = 180;
const EDGE = 20; // room for the labels of the first and the last tick

/** A number with two digits, as a table shows it. @param {Sent} value */
export function brief(value) {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  const size = Math.abs(value);
  if (!size) return "0";
  const text = size >= 1e-3 && size < 1e4 ? String(Number(value.toPrecision(2))) : value.toExponential(1);
  return text.replace("e+", "e").replaceAll("-", "−");
}

/** The logarithmic axis that holds gradients and weights of all samples, so that it stays as steps go by. @param {Sample[]} samples */
export function axisOf(samples) {
  const found = samples.flatMap(({ rows }) => rows.flatMap(([, gradient, weight]) => [gradient, weight]))
    .filter(value => typeof value === "number" && value > 0 && Number.isFinite(value))
    .map(value => Math.log10(/** @type {number} */ (value)));
  const [low, high] = [Math.floor(found.length ? Math.min(...found) : -1), Math.ceil(found.length ? Math.max(...found) : 1)];
  return { lo: 10 ** Math.max(low, -30), hi: 10 ** Math.min(Math.max(high, low + 1), 30), log: true };
}

/** The position on the track of a number that can be drawn, or null. @param {{ lo: number, hi: number, log: boolean }} axis @param {Sent} value */
export function placeOf(axis, value) {
  if (typeof value !== "number" || value <= 0) return null;
  return Math.min(Math.max(share(axis, value), 0), 1) * TRACK;
}

/** @param {HTMLElement} place @param {Sample} sample @param {Sample[]} samples */
export function drawHealth(place, sample, samples) {
  place.replaceChildren();
  const list = make(place, "ul", "suspects");
  for (const [name, words] of sample.suspects) {
    const item = make(list, "li");
    make(item, "strong", "", name);
    item.append(`: ${words}`);
  }
  if (!sample.suspects.length) make(list, "li", "fine", "Nothing suspicious in this step.");
  if (sample.rows.length) drawTable(place, sample, axisOf(samples));
  const dead = sample.units.filter(([, , count]) => count);
  if (dead.length) make(place, "p", "units", `Units that are 0 for every example: ${dead.map(([name, count, many]) => `${many} of ${count} in ${name}`).join("; ")}.`);
}

/** @param {HTMLElement} place @param {Sample} sample @param {{ lo: number, hi: number, log: boolean }} axis */
function drawTable(place, sample, axis) {
  const table = make(make(place, "div", "scroll"), "table", "health");
  make(table, "caption", "", "Norms, from the first parameter to the last; “change” is a part of the weight.");
  const head = make(make(table, "thead"), "tr");
  for (const name of ["parameter", "", "gradient", "weight", "change"]) {
    const cell = make(head, "th", "", name);
    cell.scope = "col";
    if (!name) drawTicks(cell, axis);
  }
  const body = make(table, "tbody");
  const suspicious = new Set(sample.suspicious);
  for (const [name, gradient, weight, change] of sample.rows) {
    const row = make(body, "tr", suspicious.has(name) ? "suspicious" : "");
    const title = make(row, "th", "", name);
    title.scope = "row";
    drawTrack(make(row, "td", "track"), axis, gradient, weight);
    for (const value of [gradient, weight, change]) make(row, "td", "", brief(value));
  }
  if (sample.more) make(make(body, "tr"), "td", "", `and ${sample.more} more`).colSpan = 5;
}

/** @param {HTMLElement} cell @param {{ lo: number, hi: number, log: boolean }} axis */
function drawTicks(cell, axis) {
  cell.setAttribute("aria-label", "gradient ● and weight ○ on a logarithmic axis");
  const svg = add(cell, "svg", { width: TRACK + 2 * EDGE, height: 16, "aria-hidden": "true" });
  for (const { value, text } of axisTicks(axis, 4)) {
    add(svg, "text", { class: "tick across", x: EDGE + (placeOf(axis, value) ?? 0), y: 12 }, text);
  }
}

/** @param {HTMLElement} cell @param {{ lo: number, hi: number, log: boolean }} axis @param {Sent} gradient @param {Sent} weight */
function drawTrack(cell, axis, gradient, weight) {
  const svg = add(cell, "svg", { width: TRACK + 2 * EDGE, height: 20, "aria-hidden": "true" });
  add(svg, "line", { class: "grid", x1: EDGE, x2: EDGE + TRACK, y1: 10, y2: 10 });
  const [at, other] = [placeOf(axis, gradient), placeOf(axis, weight)];
  if (other !== null) add(svg, "circle", { class: "weight", cx: EDGE + other, cy: 10, r: 4 });
  if (at !== null) add(svg, "circle", { class: "gradient", cx: EDGE + at, cy: 10, r: 4 });
  else add(svg, "text", { class: "none", x: EDGE, y: 14 }, gradient === null ? "no gradient" : brief(gradient));
}
