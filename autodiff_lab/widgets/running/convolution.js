// Twins of convolutions and pooling, channels last: windows are views, so that convolving is a product of matrices.

import { computed, lanes, positions, ranged, rounded, sizeOf, viewOf } from "./arrays.js";
import { times, turned } from "./products.js";
import { twin } from "./twins.js";

/** @import { Arr, View } from "./arrays.js" */
/** @typedef {{ strides: number[], padding: [number, number][], dilations?: number[], window?: number[], shape?: number[] }} How */

/** The shape of x with its padding, and the view of x in it. @param {number[]} shape @param {How} how */
function room(shape, { padding }) {
  const wide = shape.map((n, axis) => n + (padding[axis - 1]?.[0] ?? 0) + (padding[axis - 1]?.[1] ?? 0));
  const inner = padding.reduce((/** @type {View} */ view, [low], axis) => ranged(view, axis + 1, low, shape[axis + 1]), viewOf(wide));
  return { wide, inner: positions(inner) };
}

/** @param {Arr} x @param {How} how @param {number} [value] */
function padded(x, how, value = 0) {
  const { wide, inner } = room(x.shape, how);
  const data = new Float64Array(sizeOf(wide)).fill(value);
  inner.forEach((place, at) => { data[place] = x.data[at]; });
  return { wide, inner, data };
}

/**
 * Where the elements of all windows lie in a padded x: axes (n, *out, *window, c).
 * @param {number[]} wide @param {number[]} window @param {number[]} out lengths of the result's spatial axes @param {How} how
 */
function windowPlaces(wide, window, out, { strides, dilations = window.map(() => 1) }) {
  const own = viewOf(wide).strides;
  const last = wide.length - 1;
  return positions({
    shape: [wide[0], ...out, ...window, wide[last]],
    strides: [own[0], ...strides.map((by, k) => by * own[k + 1]), ...dilations.map((by, k) => by * own[k + 1]), 1],
    offset: 0,
  });
}

/** Rows of window elements. @param {Arr} x @param {number[]} window @param {number[]} out @param {How} how */
function columns(x, window, out, how) {
  const { wide, data } = padded(x, how);
  return Float64Array.from(windowPlaces(wide, window, out, how), (at) => data[at]);
}

/** Rows of window elements added up where they came from, without the padding. @param {Float64Array} rows @param {number[]} shape @param {number[]} window @param {number[]} out @param {How} how */
function spread(rows, shape, window, out, how) {
  const { wide, inner } = room(shape, how);
  const whole = new Float64Array(sizeOf(wide));
  windowPlaces(wide, window, out, how).forEach((place, at) => { whole[place] += rows[at]; });
  return Float64Array.from(inner, (place) => whole[place]);
}

/** @param {number[]} shape */
function spatial(shape) {
  return shape.slice(1, -1);
}

twin("convolve", ([x, w], how, [out]) => {
  const [channels, filters] = w.shape.slice(-2);
  const window = w.shape.slice(0, -2);
  const rows = columns(x, window, spatial(out.shape), how);
  const width = sizeOf(window) * channels;
  return rounded(out, times(rows, w.data, sizeOf(out.shape.slice(0, -1)), width, filters));
});
twin("convolve_input", ([g, w], how, [out]) => {
  const window = w.shape.slice(0, -2);
  const filters = w.shape[w.shape.length - 1];
  const width = w.data.length / (filters || 1);
  const rows = times(g.data, turned(w.data, width, filters), sizeOf(g.shape.slice(0, -1)), filters, width);
  return rounded(out, spread(rows, out.shape, window, spatial(g.shape), how));
});
twin("convolve_filter", ([x, g], how, [out]) => {
  const rows = columns(x, how.window, spatial(g.shape), how);
  const filters = g.shape[g.shape.length - 1];
  const count = sizeOf(g.shape.slice(0, -1));
  const width = sizeOf(how.window) * x.shape[x.shape.length - 1];
  return rounded(out, times(turned(rows, count, width), g.data, width, count, filters));
});

/** For each (row, window element, channel, multiple): the places in rows of windows, in w and in the result. @param {number[]} w @param {number} count @param {(row: number, weight: number, made: number) => void} visit */
function eachDepth(w, count, visit) {
  const [channels, multiple] = w.slice(-2);
  const elements = sizeOf(w.slice(0, -2));
  for (let row = 0; row < count; row += 1) {
    for (let k = 0; k < elements * channels; k += 1) {
      const made = (row * channels + (k % channels)) * multiple;
      for (let j = 0; j < multiple; j += 1) visit(row * elements * channels + k, k * multiple + j, made + j);
    }
  }
}

twin("depthwise", ([x, w], how, [out]) => {
  const rows = columns(x, w.shape.slice(0, -2), spatial(out.shape), how);
  const made = new Float64Array(sizeOf(out.shape));
  eachDepth(w.shape, sizeOf(out.shape.slice(0, -1)), (row, weight, at) => { made[at] += rows[row] * w.data[weight]; });
  return rounded(out, made);
});
twin("depthwise_input", ([g, w], how, [out]) => {
  const count = sizeOf(g.shape.slice(0, -1));
  const rows = new Float64Array(count * sizeOf(w.shape.slice(0, -1)));
  eachDepth(w.shape, count, (row, weight, at) => { rows[row] += g.data[at] * w.data[weight]; });
  return rounded(out, spread(rows, out.shape, w.shape.slice(0, -2), spatial(g.shape), how));
});
twin("depthwise_filter", ([x, g], how, [out]) => {
  const rows = columns(x, how.window, spatial(g.shape), how);
  const made = new Float64Array(sizeOf(out.shape));
  eachDepth(out.shape, sizeOf(g.shape.slice(0, -1)), (row, weight, at) => { made[weight] += rows[row] * g.data[at]; });
  return rounded(out, made);
});

/** Windows as lanes: the elements of each, by channel, and their places in x, -1 for padding. @param {Arr} x @param {number[]} out @param {How} how @param {number} padding */
function pools(x, out, how, padding) {
  const window = how.window ?? [];
  const { wide, inner, data } = padded(x, how, padding);
  const numbers = new Float64Array(data.length).fill(-1);
  inner.forEach((place, at) => { numbers[place] = at; });
  const places = windowPlaces(wide, window, out, how);
  const shape = [wide[0], ...out, ...window, wide[wide.length - 1]];
  const axes = window.map((_, k) => k - window.length - 1);
  const of = (/** @type {Float64Array} */ from) => lanes({ dtype: "float64", shape, data: Float64Array.from(places, (at) => from[at]) }, axes);
  return { values: of(data), numbers: of(numbers) };
}

/** The place in x of the largest element of each window, the first of equals; -1 where there is only padding. @param {Arr} x @param {number[]} out @param {How} how */
function bestPlaces(x, out, how) {
  const { values, numbers } = pools(x, out, how, -Infinity);
  return Float64Array.from({ length: values.count }, (_, lane) => {
    let best = -1;
    for (let at = lane * values.length; at < (lane + 1) * values.length; at += 1) {
      const better = best < 0 || values.data[at] > values.data[best] || (Number.isNaN(values.data[at]) && !Number.isNaN(values.data[best]));
      if (numbers.data[at] >= 0 && better) best = at;
    }
    return best < 0 ? -1 : numbers.data[best];
  });
}

twin("max_pool", ([x], how, [out]) => {
  const best = bestPlaces(x, spatial(out.shape), how);
  return computed(out, (at) => (best[at] < 0 ? -Infinity : x.data[best[at]]));
});
twin("max_pool_input", ([g, x], how, [out]) => {
  const made = new Float64Array(x.data.length);
  bestPlaces(x, spatial(g.shape), how).forEach((place, at) => { if (place >= 0) made[place] += g.data[at]; });
  return rounded(out, made);
});
twin("max_pool_pick", ([h, x], how, [out]) => {
  const best = bestPlaces(x, spatial(out.shape), how);
  return computed(out, (at) => (best[at] < 0 ? 0 : h.data[best[at]]));
});
twin("average_pool", ([x], how, [out]) => {
  const { values, numbers } = pools(x, spatial(out.shape), how, 0);
  return computed(out, (lane) => {
    let [sum, held] = [0, 0];
    for (let at = lane * values.length; at < (lane + 1) * values.length; at += 1) {
      sum += values.data[at];
      if (numbers.data[at] >= 0) held += 1;
    }
    return sum / held;
  });
});
twin("average_pool_input", ([g], how, [out]) => {
  const { numbers } = pools({ ...out, data: new Float64Array(sizeOf(out.shape)) }, spatial(g.shape), how, 0);
  const made = new Float64Array(sizeOf(out.shape));
  for (let lane = 0; lane < numbers.count; lane += 1) {
    const held = Array.from(numbers.data.subarray(lane * numbers.length, (lane + 1) * numbers.length)).filter((place) => place >= 0);
    for (const place of held) made[place] += g.data[lane] / held.length;
  }
  return rounded(out, made);
});
