// How far a number moves when it is dragged or nudged, and what was typed for one.  Pure: no DOM.

import { readings } from "../numbers.js";

/** The step of a number: a hundredth of its size, a power of ten; 1 for integers. @param {number} value @param {boolean} whole */
export function stepOfNumber(value, whole) {
  if (whole) return 1;
  const size = Math.abs(value);
  return Number(`1e${size > 0 && Number.isFinite(size) ? Math.floor(Math.log10(size) + 1e-9) - 2 : -2}`);
}

/** A number moved by some steps, without the noise of adding decimals. @param {number} value @param {number} step @param {number} count */
export function moved(value, step, count) {
  const next = value + step * count;
  const decimals = Math.max(0, Math.min(20, Math.round(-Math.log10(step)) + 2));
  const near = Number(next.toFixed(decimals));
  return Math.abs(near) < step / 1e6 ? 0 : near;
}

/** The number that was typed, also with a true minus sign, or null for none and for what may be two. @param {string} text */
export function numberFrom(text) {
  const plain = text.trim().replace("−", "-").toLowerCase();
  const word = /^([+-]?)(nan|inf|infinity)$/.exec(plain);
  if (word) return word[2] === "nan" ? NaN : word[1] === "-" ? -Infinity : Infinity;
  const found = readings(plain);
  return found.length === 1 ? found[0] : null;
}
