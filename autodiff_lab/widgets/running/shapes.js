// Twins of the ops that move elements: shapes, joins, slices, diagonals.  Their rules move them back.

import { NotHere, broadcast, dropped, computed, permuted, positions, ranged, rounded, sizeOf, taken, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec, View } from "./arrays.js" */
/** @typedef {["i", number] | ["s", number | null, number | null, number | null] | ["n"]} Item of an index in brackets */

/** The elements of a view of x, in the shape that the recording says. @param {Arr} x @param {View} view @param {Spec} out */
function part(x, view, out) {
  return rounded(out, taken(x, view));
}

/** Zeros with x laid into a part of them. @param {Arr} x @param {Spec} out @param {View} view of the whole */
function laid(x, out, view) {
  const whole = new Float64Array(sizeOf(out.shape));
  positions(view).forEach((place, at) => { whole[place] = x.data[at]; });
  return rounded(out, whole);
}

twin("identity stop_gradient after copy_to_device reshape", ([x], _, [out]) => rounded(out, x.data));
twin("cast", ([x], _, [out]) => rounded(out, x.data));
twin("cast_to_discrete", ([x], _, [out]) => rounded(out, /int/.test(out.dtype) ? x.data.map(whole) : x.data));
twin("broadcast_to", ([x], _, [out]) => part(x, broadcast(viewOf(x.shape), out.shape), out));
twin("transpose", ([x], { perm }, [out]) => part(x, permuted(viewOf(x.shape), perm), out));
twin("shape", ([x], _, [out]) => rounded(out, x.shape));
twin("slice_axis", ([x], { axis, start }, [out]) => part(x, ranged(viewOf(x.shape), axis, start, out.shape[out.shape.length + axis]), out));
twin("pad_axis", ([x], { axis, before }, [out]) => laid(x, out, ranged(viewOf(out.shape), axis, before, x.shape[x.shape.length + axis])));
twin("take", ([x], { axis, index }, [out]) => part(x, dropped(viewOf(x.shape), axis, index), out));
twin("slice", ([x], { items }, [out]) => part(x, bracketView(x.shape, items), out));
twin("unslice", ([x], { items, shape }, [out]) => {
  const lead = out.shape.slice(0, out.shape.length - shape.length);
  return laid(x, out, bracketView([...lead, ...shape], items));
});
twin("concat", (ins, { axis }, [out]) => {
  const whole = new Float64Array(sizeOf(out.shape));
  let start = 0;
  for (const x of ins) {
    const length = x.shape[x.shape.length + axis];
    positions(ranged(viewOf(out.shape), axis, start, length)).forEach((place, at) => { whole[place] = x.data[at]; });
    start += length;
  }
  return rounded(out, whole);
});
twin("stack", (ins, { axis }, [out]) => {
  const whole = new Float64Array(sizeOf(out.shape));
  ins.forEach((x, k) => positions(dropped(viewOf(out.shape), axis, k)).forEach((place, at) => { whole[place] = x.data[at]; }));
  return rounded(out, whole);
});
twin("accumulate_parts", (ins, { places, shape, onto }, [out]) => {
  const whole = onto ? Float64Array.from(ins[0].data) : new Float64Array(sizeOf(shape));
  ins.slice(onto ? 1 : 0).forEach((x, k) => {
    const [op, pairs] = places[k];
    const of = Object.fromEntries(pairs);
    positions(partOf(op, of, out.shape)).forEach((place, at) => { whole[place] += x.data[at]; });
  });
  return rounded(out, whole);
});
twin("tile", ([x], { multiples }, [out]) => {
  const twice = multiples.flatMap((/** @type {number} */ times, /** @type {number} */ axis) => [times, x.shape[axis]]);
  const { strides } = viewOf(x.shape);
  return part(x, { shape: twice, strides: strides.flatMap((stride) => [0, stride]), offset: 0 }, out);
});
twin("roll", ([x], { shifts, axes }, [out]) => {
  let places = positions(viewOf(x.shape));
  axes.forEach((/** @type {number} */ axis, /** @type {number} */ k) => {
    const length = x.shape[x.shape.length + axis];
    const stride = viewOf(x.shape).strides[x.shape.length + axis];
    const before = places;
    places = places.map((_, at) => {
      const index = Math.floor(at / stride) % length;
      return before[at + ((((index - shifts[k]) % length) + length) % length - index) * stride];
    });
  });
  return rounded(out, Float64Array.from(places, (place) => x.data[place]));
});
twin("reverse", ([x], { axes }, [out]) => {
  const turned = axes.reduce((/** @type {View} */ view, /** @type {number} */ axis) => (
    ranged(view, axis, view.shape[view.shape.length + axis] - 1, view.shape[view.shape.length + axis], -1)), viewOf(x.shape));
  return part(x, turned, out);
});
twin("pad", ([x], { paddings, value }, [out]) => {
  const whole = computed(out, () => Number(value));
  const inner = paddings.reduce((/** @type {View} */ view, /** @type {[number, number]} */ [before], /** @type {number} */ axis) => (
    ranged(view, axis, before, x.shape[axis])), viewOf(out.shape));
  positions(inner).forEach((place, at) => { whole.data[place] = x.data[at]; });
  return whole;
});
twin("diag_part", ([x], { k }, [out]) => part(x, diagonal(x.shape, k), out));
twin("diag", ([x], { k }, [out]) => laid(x, out, diagonal(out.shape, k)));
twin("diag_range_part", ([x], { low, high, align }, [out]) => moveDiagonals(x, out, x.shape, out.shape, low, high, align, false));
twin("diag_range", ([x], { low, high, align }, [out]) => moveDiagonals(x, out, out.shape, x.shape, low, high, align, true));
twin("band_part", ([x], { lower, upper }, [out]) => {
  const [rows, columns] = x.shape.slice(-2);
  return computed(out, (at) => {
    const distance = (at % columns) - (Math.floor(at / columns) % rows);
    return (lower < 0 || distance >= -lower) && (upper < 0 || distance <= upper) ? x.data[at] : 0;
  });
});
twin("linspace", ([first, last], { num, axis }, [out]) => {
  const steps = Math.max(num - 1, 1);
  const stride = viewOf(out.shape).strides[out.shape.length + axis];
  return computed(out, (at) => {
    const index = Math.floor(at / stride) % num;
    const from = (at % stride) + Math.floor(at / (stride * num)) * stride;
    const [a, b] = [first.data[from], last.data[from]];
    return index === steps ? b : a + ((b - a) / steps) * index;
  });
});

/** An integer from a float, as a cast makes it. @param {number} value */
function whole(value) {
  if (!Number.isFinite(value)) throw new NotHere("a cast of nan or infinity to an integer depends on the machine");
  return Math.trunc(value);
}

/** The part that an index in brackets names; leading axes that it does not know are kept. @param {number[]} shape @param {Item[]} items */
function bracketView(shape, items) {
  const lead = shape.length - items.filter(([kind]) => kind !== "n").length;
  let view = viewOf(shape);
  let axis = lead;
  for (const [kind, ...of] of items) {
    if (kind === "n") {
      view = { ...view, shape: [...view.shape.slice(0, axis), 1, ...view.shape.slice(axis)], strides: [...view.strides.slice(0, axis), 0, ...view.strides.slice(axis)] };
      axis += 1;
    } else if (kind === "i") {
      const index = Number(of[0]);
      view = dropped(view, axis, index < 0 ? index + view.shape[axis] : index);
    } else {
      view = bounded(view, axis, of);
      axis += 1;
    }
  }
  return view;
}

/** start:stop:step of an axis. @param {View} view @param {number} axis @param {(number | null | undefined)[]} bounds @returns {View} */
function bounded(view, axis, [start, stop, by]) {
  const length = view.shape[axis];
  const step = by ?? 1;
  const low = step < 0 ? -1 : 0;
  const high = step < 0 ? length - 1 : length;
  const at = (/** @type {number} */ bound) => Math.min(Math.max(bound < 0 ? bound + length : bound, low), high);
  const from = start === null || start === undefined ? (step < 0 ? high : low) : at(start);
  const to = stop === null || stop === undefined ? (step < 0 ? low : high) : at(stop);
  return ranged(view, axis, from, Math.max(Math.ceil((to - from) / step), 0), step);
}

/** The part that an op takes. @param {string} op @param {any} of its parameters @param {number[]} shape */
function partOf(op, of, shape) {
  if (op === "take") return dropped(viewOf(shape), of.axis, of.index);
  if (op === "slice") return bracketView(shape, of.items);
  if (op === "slice_axis") return ranged(viewOf(shape), of.axis, of.start, of.stop - of.start);
  throw new NotHere(`the part that ${op} takes is not known`);
}

/** Diagonal k of the last two axes, as a view. @param {number[]} shape @param {number} k @returns {View} */
function diagonal(shape, k) {
  const { strides } = viewOf(shape);
  const [rows, columns] = shape.slice(-2);
  const length = Math.max(Math.min(rows + Math.min(k, 0), columns - Math.max(k, 0)), 0);
  return {
    shape: [...shape.slice(0, -2), length], strides: [...strides.slice(0, -2), columns + 1],
    offset: length ? Math.max(-k, 0) * columns + Math.max(k, 0) : 0,
  };
}

/**
 * Diagonals between a matrix and the rows that they are packed into.
 * @param {Arr} x @param {Spec} out @param {number[]} matrix @param {number[]} packed @param {number} low @param {number} high
 * @param {string} align @param {boolean} back
 */
function moveDiagonals(x, out, matrix, packed, low, high, align, back) {
  const [above, below] = align.split("_");
  const whole = new Float64Array(sizeOf(out.shape));
  for (let k = high, row = 0; k >= low; k -= 1, row += 1) {
    const line = diagonal(matrix, k);
    const length = line.shape[line.shape.length - 1];
    const left = (k >= 0 && above === "LEFT") || (k <= 0 && below === "LEFT");
    const width = packed[packed.length - 1];
    const place = ranged(dropped(viewOf(packed), -2, row), -1, left ? 0 : width - length, length);
    const [from, to] = back ? [positions(place), positions(line)] : [positions(line), positions(place)];
    if (length) from.forEach((source, at) => { whole[to[at]] = x.data[source]; });
  }
  return rounded(out, whole);
}
