// What nodes can be coloured by.  Pure: no DOM.

import { short } from "../numbers.js";

/** @import { Scene, Box } from "./scene.js" */

/** How many strengths of a colour there are. */
const SHADES = 5;

/**
 * The number of a box: that of its tensor; of a folded scope the bytes together, or the largest.
 * @param {Scene} scene @param {string} what @param {Box} box
 * @returns {number | null}
 */
export function measured(scene, what, box) {
  const known = scene.measures[what] ?? {};
  const made = box.members.flatMap((member) => scene.applications.get(member)?.outputs ?? []);
  const numbers = [...new Set([...box.tensors, ...made])].flatMap((number) => known[number] ?? []);
  if (!numbers.length) return null;
  return what === "bytes" || isTime(what) ? numbers.reduce((sum, number) => sum + number, 0) : numbers.reduce((most, number) => Math.max(most, number));
}

/** Seconds from `lab.costs`. @param {string} what */
export const isTime = (what) => what === "forward time" || what === "backward time";

/**
 * From 1 to 5, how large each number is among the others: by its logarithm where all are positive; 0 where there is none.
 * @param {(number | null)[]} numbers
 */
export function levels(numbers) {
  const known = numbers.filter((number) => number !== null);
  const logs = known.every((number) => number >= 0);
  const sizes = known.filter((number) => !logs || number > 0).map((number) => (logs ? Math.log(number) : number));
  const low = sizes.reduce((least, size) => Math.min(least, size), Infinity);
  const span = sizes.reduce((most, size) => Math.max(most, size), -Infinity) - low;
  return numbers.map((number) => {
    if (number === null) return 0;
    if (logs && number === 0) return 1;
    return span > 0 ? 1 + Math.round((SHADES - 1) * ((logs ? Math.log(number) : number) - low) / span) : 3;
  });
}

/** A number of a measure as it is written on a node. @param {string} what @param {number} number */
export function writeMeasure(what, number) {
  if (isTime(what)) return timeText(number);
  return what === "bytes" ? bytesText(number) : short(number, 3);
}

/** @param {number} seconds */
function timeText(seconds) {
  const at = seconds >= 1 ? 0 : seconds >= 1e-3 ? 1 : 2;
  return `${short(seconds * 1000 ** at, 3)} ${["s", "ms", "µs"][at]}`;
}

/** @param {number} count */
export function bytesText(count) {
  const at = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), 3);
  return `${short(count / 1000 ** at, 3)} ${["B", "kB", "MB", "GB"][at]}`;
}
