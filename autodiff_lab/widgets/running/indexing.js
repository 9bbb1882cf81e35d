// Twins of the ops that pick elements by position and of those that add them up there: gather, scatter, sort's helpers.

import { sizeOf } from "../basics.js";
import { NotHere, addedUp, broadcast, positions, rounded, taken, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

/** @param {number} index @param {number} length */
function within(index, length) {
  if (!(index >= 0 && index < length)) throw new NotHere(`index ${index} is not in [0, ${length})`);
  return index;
}

/** Indices as coordinates along one axis. @param {Arr} indices @returns {Arr} */
const column = (indices) => ({ ...indices, shape: [...indices.shape, 1] });

/** For each element of a part, its place in the whole: along one axis an index says where. @param {number[]} shape of the part @param {Arr} indices @param {number} axis @param {number} length of the whole */
function alongPlaces(shape, indices, axis, length) {
  const at = shape.length + axis;
  const [count, stride] = [shape[at], sizeOf(shape.slice(at + 1))];
  return positions(broadcast(viewOf(indices.shape), shape)).map((place, k) => (
    (Math.floor(k / (count * stride)) * length + within(indices.data[place], length)) * stride + (k % stride)));
}

/** Rows of coordinates, which count from axis `lead` on. @param {number[]} whole @param {Arr} indices @param {number} lead */
function pointedPlaces(whole, indices, lead) {
  const depth = indices.shape[indices.shape.length - 1];
  const count = sizeOf(indices.shape.slice(0, -1));
  const axes = whole.slice(lead, lead + depth);
  const width = sizeOf(whole.slice(lead + depth));
  const block = sizeOf(whole.slice(lead));
  return Int32Array.from({ length: sizeOf(whole.slice(0, lead)) * count * width }, (_, at) => {
    const row = (Math.floor(at / width) % count) * depth;
    const place = axes.reduce((so, length, axis) => so * length + within(indices.data[row + axis], length), 0);
    return Math.floor(at / (width * count)) * block + place * width + (at % width);
  });
}

twin("gather", ([x, indices], { axis }, [out]) => rounded(out, taken(x.data, pointedPlaces(x.shape, column(indices), x.shape.length + axis))));
twin("scatter_axis", ([g, indices], { axis }, [out]) => addedUp(g.data, pointedPlaces(out.shape, column(indices), out.shape.length + axis), out));
twin("gather_nd", ([x, indices], { lead = 0 }, [out]) => rounded(out, taken(x.data, pointedPlaces(x.shape, indices, lead))));
twin("scatter_nd", ([g, indices], { shape }, [out]) => addedUp(g.data, pointedPlaces(out.shape, indices, out.shape.length - shape.length), out));
twin("take_along", ([x, indices], { axis }, [out]) => {
  const at = x.shape.length + axis;
  return rounded(out, taken(x.data, alongPlaces(out.shape, indices, axis, x.shape[at])));
});
twin("put_along", ([g, indices], { axis, length }, [out]) => addedUp(g.data, alongPlaces(g.shape, indices, axis, length), out));
twin("permute", ([x, order], _, [out]) => rounded(out, taken(x.data, rowPlaces(x.shape, order))));
twin("unpermute", ([x, order], _, [out]) => addedUp(x.data, rowPlaces(x.shape, order), out));

/** Rows of matrices in another order. @param {number[]} shape @param {Arr} order */
const rowPlaces = (shape, order) => alongPlaces(shape, column(order), -2, shape[shape.length - 2]);

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
twin("tensor_scatter_nd_max", scattered((old, update) => Math.max(old, update)));
twin("tensor_scatter_nd_min", scattered((old, update) => Math.min(old, update)));
