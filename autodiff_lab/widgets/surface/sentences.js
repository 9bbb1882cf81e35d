// The explorer of two numbers in words: what is known at the point that is shown.  Pure.

import { short } from "../numbers.js";
import { bendsOf } from "./paper.js";

/** x, y, f, its gradient and its second derivatives; null where there is none. @typedef {(number | null)[]} Row */
/** @typedef {{ name: string, role: string, rows: Row[] }} Path */

/** Missing numbers as nan. @param {Row} row */
export const numbersOf = row => row.map(value => value ?? NaN);

/** @param {number} x @param {number} y */
export const pairText = (x, y) => `(${short(x)}, ${short(y)})`;

/** What is known at a point: f, its gradient and its curvatures, as far as there are any. @param {Row} row */
export function knownAt(row) {
  const [x, y, value, across, up, xx, xy, yy] = numbersOf(row);
  const told = [`f = ${short(value)}`];
  if (Number.isFinite(across + up)) told.push(`gradient ${pairText(across, up)}`);
  else told.push("no gradient");
  if (Number.isFinite(xx + xy + yy)) {
    const { values } = bendsOf([xx, xy, yy]);
    told.push(`curvatures ${short(values[0])} and ${short(values[1])}`);
  }
  return `at ${pairText(x, y)}: ${told.join(", ")}`;
}

/** @param {Path} path @param {number} step */
export function stepText(path, step) {
  const last = path.rows.length - 1;
  const at = Math.min(step, last);
  const where = !path.name ? "Start" : `${path.name}, step ${at} of ${last}`;
  const ended = step > last ? " (its last one)" : "";
  return `${where}${ended}, ${knownAt(path.rows[at])}.`;
}
