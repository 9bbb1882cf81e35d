// The health of one observed step: what is suspicious, and a row for each parameter on one logarithmic axis.  Pure
// functions first, then the drawing.

import { element } from "../dom.js";
import { axisTicks, share } from "../plotting/axes.js";
import { add, make } from "../plotting/elements.js";

/** @import { AxisFacts } from "../plotting/axes.js" */
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

/** The position on the track of a number that can be drawn, or null. @param {AxisFacts} axis @param {Sent} value */
export function placeOf(axis, value) {
  if (typeof value !== "number" || value <= 0) return null;
  return Math.min(Math.max(share(axis, value), 0), 1) * TRACK;
}

/** @param {HTMLElement} place @param {Sample} sample @param {AxisFacts} axis of gradients and weights */
export function drawHealth(place, sample, axis) {
  const suspects = sample.suspects.map(([name, words]) => element("li", {}, element("strong", {}, name), `: ${words}`));
  const fine = element("li", { class: "fine" }, "Nothing suspicious in this step.");
  place.replaceChildren(element("ul", { class: "suspects" }, ...(suspects.length ? suspects : [fine])));
  if (sample.rows.length) place.append(normsOf(sample, axis));
  const dead = sample.units.filter(([, , count]) => count);
  if (dead.length) make(place, "p", "units", `Units that are 0 for every example: ${dead.map(([name, count, many]) => `${many} of ${count} in ${name}`).join("; ")}.`);
}

/** @param {Sample} sample @param {AxisFacts} axis */
function normsOf(sample, axis) {
  const names = ["parameter", "", "gradient", "weight", "change"].map(name => element("th", { scope: "col" }, name));
  drawTicks(names[1], axis);
  const rows = sample.rows.map(([name, gradient, weight, change]) => {
    const track = element("td", { class: "track" });
    drawTrack(track, axis, gradient, weight);
    const numbers = [gradient, weight, change].map(value => element("td", {}, brief(value)));
    return element("tr", { class: sample.suspicious.includes(name) ? "suspicious" : undefined }, element("th", { scope: "row" }, name), track, ...numbers);
  });
  if (sample.more) rows.push(element("tr", {}, element("td", { colspan: 5 }, `and ${sample.more} more`)));
  const caption = element("caption", {}, "Norms, from the first parameter to the last; “change” is a part of the weight.");
  const table = element("table", { class: "health" }, caption, element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows));
  return element("div", { class: "scroll" }, table);
}

/** @param {HTMLElement} cell @param {AxisFacts} axis */
function drawTicks(cell, axis) {
  cell.append(element("span", { class: "unseen" }, "gradient ● and weight ○ on a logarithmic axis"));
  const svg = add(cell, "svg", { width: TRACK + 2 * EDGE, height: 16, "aria-hidden": "true" });
  for (const { value, text } of axisTicks(axis, 4)) {
    add(svg, "text", { class: "tick across", x: EDGE + (placeOf(axis, value) ?? 0), y: 12 }, text);
  }
}

/** @param {HTMLElement} cell @param {AxisFacts} axis @param {Sent} gradient @param {Sent} weight */
function drawTrack(cell, axis, gradient, weight) {
  const svg = add(cell, "svg", { width: TRACK + 2 * EDGE, height: 20, "aria-hidden": "true" });
  add(svg, "line", { class: "grid", x1: EDGE, x2: EDGE + TRACK, y1: 10, y2: 10 });
  const [at, other] = [placeOf(axis, gradient), placeOf(axis, weight)];
  if (other !== null) add(svg, "circle", { class: "weight", cx: EDGE + other, cy: 10, r: 4 });
  if (at !== null) add(svg, "circle", { class: "gradient", cx: EDGE + at, cy: 10, r: 4 });
  else add(svg, "text", { class: "none", x: EDGE, y: 14 }, gradient === null ? "no gradient" : brief(gradient));
}
