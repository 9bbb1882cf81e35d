// Twins of convolutions and pooling, channels last.  A convolution, its gradients and those of one channel at a time are the
// same loop over the same three arrays; which of them is added to tells them apart.

import { sizeOf } from "../basics.js";
import { addedUp, computed, lanes, positions, ranged, rounded, total, viewOf } from "./arrays.js";
import { contract } from "./products.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec, View } from "./arrays.js" */
/** @typedef {{ strides: number[], padding: [number, number][], dilations?: number[], window?: number[], shape?: number[] }} How */

/** An array with its padding, and where its own elements are in it. @param {Spec & { data?: Float64Array }} x zeros without data @param {How} how @param {number} [value] */
function padded({ shape, data }, { padding }, value = 0) {
  const wide = shape.map((n, axis) => n + (padding[axis - 1]?.[0] ?? 0) + (padding[axis - 1]?.[1] ?? 0));
  const view = padding.reduce((/** @type {View} */ so, [low], axis) => ranged(so, axis + 1, low, shape[axis + 1]), viewOf(wide));
  const made = new Float64Array(sizeOf(wide)).fill(value);
  const inner = positions(view);
  if (data) inner.forEach((place, at) => { made[place] = data[at]; });
  return { wide, inner, data: made };
}

/** From element to element of a window, and from one window to the next. @param {number[]} wide @param {How} how */
function windowStrides(wide, { strides, dilations = strides.map(() => 1) }) {
  const own = viewOf(wide).strides;
  return [own[0], ...[strides, dilations].flatMap((steps) => steps.map((by, k) => by * own[k + 1]))];
}

/**
 * A loop over examples, places, the window, channels and filters.
 * @param {"x" | "w" | "y"} part that is computed from the others
 * @param {boolean} [deep] whether every channel has filters of its own
 */
function convolution(part, deep = false) {
  return (/** @type {Arr[]} */ [first, second], /** @type {How} */ how, /** @type {Spec[]} */ [out]) => {
    const empty = { ...out, data: new Float64Array(sizeOf(out.shape)) };
    const [x, w, y] = { x: [empty, second, first], w: [first, empty, second], y: [first, second, empty] }[part];
    const { wide, inner, data } = padded(x, how);
    const [window, filters] = [w.shape.slice(0, -2), w.shape[w.shape.length - 1]];
    const still = window.map(() => 0);
    const shape = [wide[0], ...y.shape.slice(1, -1), ...w.shape];
    const of = {
      x: { data, strides: [...windowStrides(wide, how), 1, 0] },
      w: { data: w.data, strides: [0, ...still, ...viewOf(w.shape).strides] },
      y: { data: y.data, strides: [...viewOf(y.shape).strides.slice(0, -1), ...still, deep ? filters : 0, 1] },
    };
    const { [part]: into, ...others } = of;
    const [a, b] = Object.values(others);
    contract(shape, into, a, b);
    return rounded(out, part === "x" ? Float64Array.from(inner, (place) => data[place]) : into.data);
  };
}

twin("convolve", convolution("y"));
twin("convolve_input", convolution("x"));
twin("convolve_filter", convolution("w"));
twin("depthwise", convolution("y", true));
twin("depthwise_input", convolution("x", true));
twin("depthwise_filter", convolution("w", true));

/** The places in x of the elements of every window, without the padding. @param {number[]} shape @param {number[]} out @param {How} how @returns {number[][]} */
function windowsOf(shape, out, how) {
  const numbered = Float64Array.from({ length: sizeOf(shape) }, (_, at) => at);
  const { wide, data } = padded({ dtype: "float64", shape, data: numbered }, how, -1);
  const window = how.window ?? [];
  const view = { shape: [...out.slice(0, -1), ...window, out[out.length - 1]], strides: [...windowStrides(wide, how), 1], offset: 0 };
  const found = lanes({ dtype: "float64", shape: view.shape, data: Float64Array.from(positions(view), (at) => data[at]) }, window.map((_, k) => k - window.length - 1));
  return Array.from({ length: found.count }, (_, lane) => (
    Array.from(found.data.subarray(lane * found.length, (lane + 1) * found.length)).filter((place) => place >= 0)));
}

/** The place in x of the largest element of each window, the first of equals; -1 where there is only padding. @param {Arr} x @param {number[]} out @param {How} how */
function bestPlaces({ shape, data }, out, how) {
  const better = (/** @type {number} */ one, /** @type {number} */ other) => one > other || (Number.isNaN(one) && !Number.isNaN(other));
  return windowsOf(shape, out, how).map((places) => places.reduce((best, place) => (better(data[place], data[best]) ? place : best), places[0] ?? -1));
}

twin("max_pool", ([x], how, [out]) => {
  const best = bestPlaces(x, out.shape, how);
  return computed(out, (at) => (best[at] < 0 ? -Infinity : x.data[best[at]]));
});
twin("max_pool_input", ([g, x], how, [out]) => {
  return addedUp(g.data, bestPlaces(x, g.shape, how), out);
});
twin("max_pool_pick", ([h, x], how, [out]) => {
  const best = bestPlaces(x, out.shape, how);
  return computed(out, (at) => (best[at] < 0 ? 0 : h.data[best[at]]));
});
twin("average_pool", ([x], how, [out]) => {
  const windows = windowsOf(x.shape, out.shape, how);
  return computed(out, (at) => total(windows[at].map((place) => x.data[place])) / windows[at].length);
});
twin("average_pool_input", ([g], how, [out]) => {
  const windows = windowsOf(out.shape, g.shape, how);
  return addedUp(windows.flatMap((places, at) => places.map(() => g.data[at] / places.length)), windows.flat(), out);
});
