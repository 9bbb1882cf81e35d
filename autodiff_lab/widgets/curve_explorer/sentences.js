// What the explorer says: the live sentence, the text of the status line, the rows of the table.  Pure.

import { short } from "../numbers.js";
import { place, placeInText } from "../plotting/numbers.js";

/** @typedef {import("./samples.js").Reading} Reading */
/** @typedef {import("./samples.js").Mark} Mark */
/** @typedef {{ name: string, names: string[], variable: string, nones?: [number, number][][] }} Words */

/** Whether the program returned None there, which is not nan. @param {Words} words @param {number} row @param {number} x */
export const isNone = (words, row, x) => (words.nones?.[row] ?? []).some(([lo, hi]) => x >= lo && x <= hi);

/** A value as text. @param {Words} words @param {number} row @param {Reading} at */
export const valueWord = (words, row, at) =>
  Number.isNaN(at.values[row]) && isNone(words, row, at.x) ? "None" : short(at.values[row]);

/**
 * Average rate of change between two readings; nan where they coincide, as 0/0 is.
 * @param {Reading} a
 * @param {Reading} b
 */
export const averageRate = (a, b) => (b.values[0] - a.values[0]) / (b.x - a.x);

/**
 * One sentence about the point, for everybody and for screen readers.
 * @param {Words} words
 * @param {Reading} point
 * @param {number} step the smallest difference of x that matters, which says how many decimals to write
 * @param {Mark | undefined} mark the mark on which the point sits
 */
export function pointSentence(words, point, step, mark) {
  const here = `At ${words.variable} = ${placeInText(point.x, step)}`;
  const [value, slope] = point.values;
  if (mark?.kind === "kink" && mark.limits[1]) {
    const [left, right] = mark.limits[1].map(limit => (limit === null ? "none" : short(limit)));
    return `${here} there is a kink: slope ${left} from the left, ${right} from the right; the tape says ${short(slope)}.`;
  }
  if (Number.isNaN(value) && isNone(words, 0, point.x)) return `${here}, ${words.name} returned None: there is no value.`;
  if (Number.isNaN(value)) return `${here}, ${words.name} is undefined.`;
  if (!Number.isFinite(value)) return `${here}, ${words.names[0]} is ${short(value)}: the curve has no point there.`;
  const about = point.interpolated ? "about " : "";
  if (slope === undefined) return `${here}, ${words.names[0]} is ${about}${short(value)}.`;
  if (Number.isNaN(slope) && isNone(words, 1, point.x)) {
    return `${here}, ${words.names[0]} is ${about}${short(value)}; its gradient is None.`;
  }
  if (Number.isNaN(slope)) return `${here}, ${words.names[0]} is ${about}${short(value)} and has no slope.`;
  const course = slope > 0 ? "rising" : slope < 0 ? "falling" : "level";
  return `${here}, ${words.names[0]} is ${about}${short(value)} and ${course} with slope ${about}${short(slope)}.`;
}

/**
 * Where a step led, or why none was taken.
 * @param {"newton" | "descent"} kind
 * @param {number} count
 * @param {number} x
 * @param {boolean} inside the interval that is shown
 * @param {number} rate
 */
export function walkSentence(kind, count, x, inside, rate) {
  const name = kind === "newton" ? "Newton's method" : "Gradient descent";
  if (!Number.isFinite(x)) return `${name} has no step here: ${kind === "newton" ? "the tangent never meets 0" : "the slope is undefined"}.`;
  if (!inside) return `${name} would go to x = ${short(x)}, which is not in the picture.`;
  const how = kind === "newton" ? "the tangent meets 0 there" : `${short(rate)} times the slope downhill`;
  return `${name}, step ${count}: to x = ${short(x, 8)}, ${how}.`;
}

/**
 * One sentence about the secant.
 * @param {Words} words
 * @param {Reading} point
 * @param {Reading} other
 * @param {number} step
 */
export function secantSentence(words, point, other, step) {
  if (point.x === other.x) return "The two points coincide: the average rate would be 0/0.";
  const [from, to] = [Math.min(point.x, other.x), Math.max(point.x, other.x)];
  const between = `between ${words.variable} = ${placeInText(from, step)} and ${placeInText(to, step)}`;
  return `The average rate ${between} is ${short(averageRate(point, other))}.`;
}

/**
 * What the picture is made of: how many samples, how fine, by whom.
 * @param {{ count: number, magnified: number, interpolated: boolean, waiting: boolean, problem: string, derived: boolean }} facts
 *   `derived` tells whether there is a derivative anywhere
 */
export function statusSentence({ count, magnified, interpolated, waiting, problem, derived }) {
  const zoomed = magnified > 1.001 ? `enlarged ${short(magnified, 3)}×, ` : "";
  if (problem) return `${zoomed}interpolated between the samples: ${problem}`;
  if (waiting) return `${zoomed}computing finer samples`;
  if (interpolated) return `${zoomed}interpolated between the samples: there is no kernel to ask for finer ones`;
  return `${zoomed}${count} samples in view${derived ? ", each derivative computed by the tape" : ""}`;
}

/**
 * Rows of the table: about `most` evenly chosen samples in view, as texts.
 * @param {import("./samples.js").Samples} samples
 * @param {{ lo: number, hi: number }} view
 * @param {number} most
 * @returns {string[][]}
 */
export function tableRows(samples, view, most) {
  const inside = [...samples.x.keys()].filter(i => samples.x[i] >= view.lo && samples.x[i] <= view.hi);
  const stride = Math.max(1, Math.ceil((inside.length - 1) / (most - 1)));
  const chosen = inside.filter((_, position) => position % stride === 0);
  const step = (view.hi - view.lo) / (most - 1);
  return chosen.map(i => [place(samples.x[i], step / 100), ...samples.rows.map(row => short(row[i]))]);
}
