// Arrays as the twins compute with them: every dtype in doubles, rounded to what the dtype can hold after each
// operation, and strided views that say where the elements of a part, a transpose or a window lie.  Pure: no DOM.

import { sizeOf } from "../basics.js";

/** @typedef {{ dtype: string, shape: number[], data: Float64Array }} Arr */
/** @typedef {{ dtype: string, shape: number[] }} Spec what a recording says of a result before it is computed */
/** @typedef {{ shape: number[], strides: number[], offset: number }} View */

/** Raised where the page cannot compute what Python did; the message says why. */
export class NotHere extends Error {}

/** @param {string} dtype */
export const isFloat = (dtype) => dtype.includes("float");

/** @type {Record<string, (value: number) => number>} */
const ROUNDINGS = {
  float64: (value) => value,
  float32: Math.fround,
  float16: (value) => toHalf(value, 10, -14, 65504),
  bfloat16: (value) => toHalf(value, 7, -126, 3.3895313892515355e38),
  bool: (value) => (value ? 1 : 0),
};

/** How numbers are rounded to a dtype; integers wrap around. @param {string} dtype @returns {(value: number) => number} */
export function roundingOf(dtype) {
  const known = ROUNDINGS[dtype];
  if (known) return known;
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(dtype) ?? [];
  if (!bits) throw new NotHere(`${dtype} numbers are not computed in the page`);
  const span = 2 ** Number(bits);
  const low = unsigned ? 0 : -span / 2;
  return (ROUNDINGS[dtype] = (value) => {
    if (value >= low && value < low + span) return safe(Math.trunc(value));
    return safe(value) - span * Math.floor((value - low) / span);
  });
}

/** @param {number} value */
function safe(value) {
  if (!Number.isSafeInteger(value)) throw new NotHere("an integer above 2^53 is not computed in the page");
  return value;
}

/** Round to a short float, ties to even. @param {number} value @param {number} bits @param {number} least @param {number} most */
function toHalf(value, bits, least, most) {
  const single = Math.fround(value);
  if (!Number.isFinite(single) || single === 0) return single;
  const unit = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(single))), least) - bits);
  const steps = single / unit;
  const floor = Math.floor(steps);
  const rest = steps - floor;
  const rounded = (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * unit;
  return Math.abs(rounded) > most ? Math.sign(rounded) * Infinity : rounded || 0 * single;
}

/** An array from numbers that are not rounded yet. @param {Spec} spec @param {ArrayLike<number>} numbers @returns {Arr} */
export function rounded({ dtype, shape }, numbers) {
  const data = dtype === "float64" && numbers instanceof Float64Array ? numbers : Float64Array.from(numbers, roundingOf(dtype));
  if (data.length !== sizeOf(shape)) throw new NotHere("the shape of a result depends on values");
  return { dtype, shape, data };
}

/** A function of each position. @param {Spec} spec @param {(at: number) => number} value @returns {Arr} */
export function computed(spec, value) {
  const numbers = new Float64Array(sizeOf(spec.shape));
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = value(at);
  return rounded(spec, numbers);
}

/** The elements at some places; a place of -1 is none. @param {ArrayLike<number>} data @param {ArrayLike<number>} places @param {number} [otherwise] */
export function taken(data, places, otherwise = 0) {
  const found = new Float64Array(places.length);
  for (let at = 0; at < found.length; at += 1) found[at] = places[at] < 0 ? otherwise : data[places[at]];
  return found;
}

/** Values summed up at their places; a place of -1 is none. @param {ArrayLike<number>} values @param {ArrayLike<number>} places @param {Spec} out */
export function addedUp(values, places, out) {
  const whole = new Float64Array(sizeOf(out.shape));
  for (let at = 0; at < places.length; at += 1) whole[places[at]] += values[at];
  return rounded(out, whole);
}

/** The view of all elements. @param {number[]} shape @returns {View} */
export function viewOf(shape) {
  const strides = new Array(shape.length);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return { shape: [...shape], strides, offset: 0 };
}

/** @param {View} view @param {number} axis from either end @param {number} start @param {number} length @param {number} [step] @returns {View} */
export function ranged(view, axis, start, length, step = 1) {
  const at = axis < 0 ? axis + view.shape.length : axis;
  return {
    shape: view.shape.map((n, k) => (k === at ? length : n)),
    strides: view.strides.map((n, k) => (k === at ? n * step : n)),
    offset: view.offset + (length ? start * view.strides[at] : 0),
  };
}

/** @param {View} view @param {number[]} perm axes from either end @returns {View} */
function permuted({ shape, strides, offset }, perm) {
  const axes = perm.map((axis) => (axis < 0 ? axis + shape.length : axis));
  return { shape: axes.map((axis) => shape[axis]), strides: axes.map((axis) => strides[axis]), offset };
}

/** @param {View} view @param {number[]} shape @returns {View} */
export function broadcast(view, shape) {
  const lead = shape.length - view.shape.length;
  return {
    shape, offset: view.offset,
    strides: shape.map((_, k) => (k < lead || view.shape[k - lead] === 1 ? 0 : view.strides[k - lead])),
  };
}

/** The shape to which several broadcast. @param {number[][]} shapes */
export function commonShape(shapes) {
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, k) => shapes.reduce((length, shape) => {
    const n = shape[k - rank + shape.length] ?? 1;
    return n === 1 ? length : n;
  }, 1));
}

/** Where the elements of a view lie, in row-major order. @param {View} view */
export function positions({ shape, strides, offset }) {
  const made = new Int32Array(sizeOf(shape));
  if (!made.length) return made;
  made[0] = offset;
  let filledUpTo = 1;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const length = filledUpTo;
    for (let k = 1; k < shape[axis]; k += 1) {
      const shift = k * strides[axis];
      for (let at = 0; at < length; at += 1) made[filledUpTo + at] = made[at] + shift;
      filledUpTo += length;
    }
  }
  return made;
}

/** @param {number[]} axes negative, as recordings have them @param {number} rank */
export function split(axes, rank) {
  const over = axes.map((axis) => (axis < 0 ? axis + rank : axis));
  return { over, kept: Array.from({ length: rank }, (_, k) => k).filter((k) => !over.includes(k)) };
}

/**
 * The elements that become one each, laid side by side: `length` of them a lane.
 * @param {Arr} x
 * @param {number[]} axes
 */
export function lanes(x, axes) {
  const { over, kept } = split(axes, x.shape.length);
  const view = permuted(viewOf(x.shape), [...kept, ...over]);
  const length = sizeOf(over.map((axis) => x.shape[axis]));
  const places = positions(view);
  return { places, data: taken(x.data, places), length, count: sizeOf(kept.map((axis) => x.shape[axis])) };
}

/** Compute lane by lane, in place, with the result where the elements were. @param {Spec} spec @param {Arr} x @param {number[]} axes @param {(lane: Float64Array) => void} change */
export function byLane(spec, x, axes, change) {
  const { places, data, length } = lanes(x, axes);
  const made = new Float64Array(data.length);
  for (let start = 0; start < data.length; start += length) {
    const lane = data.subarray(start, start + length);
    change(lane);
    for (let k = 0; k < length; k += 1) made[places[start + k]] = lane[k];
  }
  return rounded(spec, made);
}

/** One number for each lane. @param {Spec} spec @param {Arr} x @param {number[]} axes @param {(lane: Float64Array) => number} reduce */
export function reduced(spec, x, axes, reduce) {
  const { data, length, count } = lanes(x, axes);
  return computed(spec, (at) => (at < count ? reduce(data.subarray(at * length, (at + 1) * length)) : 0));
}

/** @param {ArrayLike<number>} numbers */
export function total(numbers) {
  let sum = 0;
  for (let at = 0; at < numbers.length; at += 1) sum += numbers[at];
  return sum;
}

/** @param {ArrayLike<number>} numbers */
export const smallest = (numbers) => -largest(Array.from(numbers, (value) => -value));

/** The largest element; nan if any is. @param {ArrayLike<number>} numbers */
export function largest(numbers) {
  let best = -Infinity;
  for (let at = 0; at < numbers.length; at += 1) best = Math.max(best, numbers[at]);
  return best;
}
