// Positions on axes and the labels of ticks.

import { PLAIN_BELOW, short, trimmed } from "../numbers.js";

/**
 * A position on an axis, with as many decimals as tell neighbours `step` apart from each other.
 * @param {number} value
 * @param {number} step
 */
export function place(value, step) {
  if (!(step > 0) || !Number.isFinite(value)) return short(value);
  if (Math.abs(value) >= PLAIN_BELOW || step < 1e-10) return short(value, 12);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const text = value.toFixed(Math.min(decimals, 12));
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/**
 * The same for running text: without the zeros that keep columns steady.
 * @param {number} value
 * @param {number} step
 */
export const placeInText = (value, step) => trimmed(place(value, step));

/**
 * Round tick positions in [lo, hi], about `count` of them at most, and the step between them.
 * @param {number} lo
 * @param {number} hi
 * @param {number} count
 * @returns {{ step: number, values: number[] }}
 */
export function ticks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return { step: 1, values: [] };
  const exponent = Math.floor(Math.log10(raw));
  const power = Number(`1e${exponent}`); // exact, where 10 ** exponent need not be
  const multiple = [1, 2, 5, 10].find(candidate => candidate * power >= raw * 0.75) ?? 10;
  const step = multiple * power;
  const values = [];
  for (let k = Math.ceil(lo / step - 1e-9); k <= Math.floor(hi / step + 1e-9); k += 1) {
    values.push(Number((k * step).toPrecision(15)) + 0);
  }
  return { step, values };
}

/**
 * The label of one tick: decimals for ordinary numbers, an exponent for very large and very small ones.
 * @param {number} value
 * @param {number} step
 */
export function tickText(value, step) {
  const size = Math.max(Math.abs(value), step);
  if (value === 0) return "0";
  return size >= 1e5 || size < 1e-4 ? short(value) : place(value, step);
}
