// Twins of the ops that pick elements by position and of those that add them up there: gather, scatter, sort's helpers.

import { NotHere, broadcast, dropped, computed, positions, rounded, sizeOf, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

/** @param {number} index @param {number} length */
function within(index, length) {
  if (!(index >= 0 && index < length)) throw new NotHere(`index ${index} is not in [0, ${length})`);
  return index;
}

/**
 * For each element of the picked array, its place in the whole: the axes of the indices stand for one axis of it.
 * @param {number[]} whole @param {Arr} indices @param {number} axis from the end of the whole
 */
function pickedPlaces(whole, indices, axis) {
  const at = whole.length + axis;
  const stride = sizeOf(whole.slice(at + 1));
  const before = sizeOf(whole.slice(0, at));
  const count = indices.data.length;
  const places = new Int32Array(before * count * stride);
  let next = 0;
  for (let block = 0; block < before; block += 1) {
    for (let k = 0; k < count; k += 1) {
      const start = (block * whole[at] + within(indices.data[k], whole[at])) * stride;
      for (let inner = 0; inner < stride; inner += 1) places[next++] = start + inner;
    }
  }
  return places;
}

/** The same for rows of coordinates, which count from axis `lead` on. @param {number[]} whole @param {Arr} indices @param {number} lead */
function pointedPlaces(whole, indices, lead) {
  const depth = indices.shape[indices.shape.length - 1];
  const count = sizeOf(indices.shape.slice(0, -1));
  const axes = whole.slice(lead, lead + depth);
  const width = sizeOf(whole.slice(lead + depth));
  const block = sizeOf(whole.slice(lead));
  const before = sizeOf(whole.slice(0, lead));
  const places = new Int32Array(before * count * width);
  let next = 0;
  for (let stacked = 0; stacked < before; stacked += 1) {
    for (let row = 0; row < count; row += 1) {
      let place = 0;
      axes.forEach((length, k) => { place = place * length + within(indices.data[row * depth + k], length); });
      for (let inner = 0; inner < width; inner += 1) places[next++] = stacked * block + place * width + inner;
    }
  }
  return places;
}

/** Elements in another order, row by row. @param {number[]} shape of the elements @param {Arr} indices @param {number} axis @param {number} length */
function alongPlaces(shape, indices, axis, length) {
  const at = shape.length + axis;
  const whole = shape.map((n, k) => (k === at ? length : n));
  const rows = dropped(viewOf(whole), axis, 0);
  const starts = positions({ ...broadcastAxis(rows, at, shape[at]), offset: 0 });
  const picked = positions(broadcast(viewOf(indices.shape), shape));
  const { strides } = viewOf(whole);
  return starts.map((start, k) => start + within(indices.data[picked[k]], length) * strides[at]);
}

/** An axis along which nothing moves, put into a view. @param {import("./arrays.js").View} view @param {number} at @param {number} length */
function broadcastAxis({ shape, strides }, at, length) {
  return { shape: [...shape.slice(0, at), length, ...shape.slice(at)], strides: [...strides.slice(0, at), 0, ...strides.slice(at)] };
}

/** @param {Arr} x @param {Int32Array} places @param {Spec} out */
function picked(x, places, out) {
  return rounded(out, Float64Array.from(places, (place) => x.data[place]));
}

/** @param {Float64Array} values @param {Int32Array} places @param {Spec} out */
function addedUp(values, places, out) {
  const whole = new Float64Array(sizeOf(out.shape));
  places.forEach((place, at) => { whole[place] += values[at]; });
  return rounded(out, whole);
}

twin("gather", ([x, indices], { axis }, [out]) => picked(x, pickedPlaces(x.shape, indices, axis), out));
twin("scatter_axis", ([g, indices], { axis }, [out]) => addedUp(g.data, pickedPlaces(out.shape, indices, axis), out));
twin("gather_nd", ([x, indices], { lead = 0 }, [out]) => picked(x, pointedPlaces(x.shape, indices, lead), out));
twin("scatter_nd", ([g, indices], { shape }, [out]) => addedUp(g.data, pointedPlaces(out.shape, indices, out.shape.length - shape.length), out));
twin("take_along", ([x, indices], { axis }, [out]) => {
  const at = x.shape.length + axis;
  return picked(x, alongPlaces(out.shape, indices, axis, x.shape[at]), out);
});
twin("put_along", ([g, indices], { axis, length }, [out]) => addedUp(g.data, alongPlaces(g.shape, indices, axis, length), out));
twin("kept_mask", ([indices], { shape }, [out]) => {
  const gone = new Set(pointedPlaces(shape, indices, 0));
  return computed(out, (at) => (gone.has(at) ? 0 : 1));
});
twin("one_hot", ([indices], { depth, on, off, axis }, [out]) => {
  const at = axis === -1 ? out.shape.length - 1 : axis;
  const stride = sizeOf(out.shape.slice(at + 1));
  return computed(out, (place) => {
    const inner = place % stride;
    const hot = Math.floor(place / stride) % depth;
    const row = Math.floor(place / (stride * depth));
    return indices.data[row * stride + inner] === hot ? Number(on) : Number(off);
  });
});
twin("permute", ([x, order], _, [out]) => picked(x, rowPlaces(x.shape, order, false), out));
twin("unpermute", ([x, order], _, [out]) => picked(x, rowPlaces(x.shape, order, true), out));

/** Rows of matrices in another order. @param {number[]} shape @param {Arr} order @param {boolean} back */
function rowPlaces(shape, order, back) {
  const [rows, columns] = shape.slice(-2);
  return positions(viewOf(shape)).map((at) => {
    const matrix = Math.floor(at / (rows * columns));
    const row = Math.floor(at / columns) % rows;
    const lane = order.data.subarray(matrix * rows, (matrix + 1) * rows);
    return (matrix * rows + (back ? lane.indexOf(row) : lane[row])) * columns + (at % columns);
  });
}

/** @param {(old: number, update: number) => number} change */
function scattered(change) {
  return (/** @type {Arr[]} */ [x, updates, indices], /** @type {any} */ _, /** @type {Spec[]} */ [out]) => {
    const whole = Float64Array.from(x.data);
    const places = pointedPlaces(x.shape, indices, 0);
    const from = positions(broadcast(viewOf(updates.shape), [...indices.shape.slice(0, -1), ...x.shape.slice(indices.shape[indices.shape.length - 1])]));
    places.forEach((place, at) => { whole[place] = change(whole[place], updates.data[from[at]]); });
    return rounded(out, whole);
  };
}

twin("tensor_scatter_nd_update", scattered((_, update) => update));
twin("tensor_scatter_nd_add", scattered((old, update) => old + update));
twin("tensor_scatter_nd_sub", scattered((old, update) => old - update));
twin("tensor_scatter_nd_max", scattered((old, update) => Math.max(old, update)));
twin("tensor_scatter_nd_min", scattered((old, update) => Math.min(old, update)));
