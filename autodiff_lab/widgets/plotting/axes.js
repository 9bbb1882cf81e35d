// Axes, linear and logarithmic: where a value is on the screen, what value is under a pixel, and round ticks.
// The twin of draw/plots/axes.py; tests hold both to the same table.

import { tickText, ticks } from "./numbers.js";

/**
 * @typedef {{ lo: number, hi: number, log?: boolean, whole?: boolean, name?: string }} AxisFacts
 * @typedef {{ value: number, text: string }} Tick
 */

const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten as people write it. @param {number} exponent */
function powerText(exponent) {
  if (exponent >= -3 && exponent <= 3) return String(Number(`1e${exponent}`));
  const size = [...String(Math.abs(exponent))].map(digit => DIGITS[Number(digit)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${size}`;
}

/** The value as the axis counts: its logarithm where the axis is logarithmic. @param {AxisFacts} axis @param {number} value */
const counted = (axis, value) => (axis.log ? Math.log10(value) : value);

/**
 * How far along the axis a value is: 0 at `lo`, 1 at `hi`; a value that a logarithmic axis does not have is far below.
 * @param {AxisFacts} axis
 * @param {number} value
 */
export function share(axis, value) {
  if (axis.log && value <= 0) return -1e3;
  const [a, b] = [counted(axis, axis.lo), counted(axis, axis.hi)];
  return (counted(axis, value) - a) / (b - a);
}

/** The value that is that far along the axis. @param {AxisFacts} axis @param {number} part */
export function valueAt(axis, part) {
  const [a, b] = [counted(axis, axis.lo), counted(axis, axis.hi)];
  const found = a + part * (b - a);
  return axis.log ? 10 ** found : found;
}

/**
 * Round ticks, about `count` of them at most: powers of ten where the axis is logarithmic and more than a decade is in view.
 * @param {AxisFacts} axis
 * @param {number} count
 * @returns {Tick[]}
 */
export function axisTicks(axis, count) {
  if (axis.log) {
    const [first, last] = [Math.ceil(Math.log10(axis.lo) - 1e-9), Math.floor(Math.log10(axis.hi) + 1e-9)];
    if (last > first) {
      const stride = [1, 2, 4, 5, 10, 20, 50, 100].find(by => (last - first) / by <= count) ?? 100;
      const from = Math.ceil(first / stride) * stride;
      const many = Math.max(Math.floor((last - from) / stride) + 1, 0);
      return Array.from({ length: many }, (_, i) => from + i * stride).map(exponent => ({ value: Number(`1e${exponent}`), text: powerText(exponent) }));
    }
  }
  const { step, values } = ticks(axis.lo, axis.hi, axis.whole ? Math.min(count, axis.hi - axis.lo) : count);
  return values.filter(value => !axis.log || value > 0).map(value => ({ value, text: tickText(value, step) }));
}
