// Twins of the ops that move elements: shapes, joins, slices, diagonals.  Where the elements of a result come from was
// found out by draw/moves.py, which runs the kernels on places; casts are here too.

import { remembered, sizeOf } from "../basics.js";
import { NotHere, positions, rounded, taken } from "./arrays.js";
import { twin } from "./twins.js";

/** @typedef {number[][]} Ranges each a start, and a length and a stride for every axis */

const placesOf = remembered((/** @type {Ranges} */ ranges) => Int32Array.from(ranges.flatMap(([offset, ...axes]) => {
  const [shape, strides] = [0, 1].map((odd) => axes.filter((_, at) => at % 2 === odd));
  return Array.from(positions({ shape, strides, offset }));
})));

twin("band_part broadcast_to concat diag diag_part diag_range diag_range_part pad pad_axis reverse roll slice slice_axis stack take tile transpose unslice",
  (ins, { places, value = 0 }, [out]) => {
    const data = ins.length === 1 ? ins[0].data : ins.flatMap((x) => Array.from(x.data));
    return rounded(out, taken(data, placesOf(places), Number(value)));
  });
twin("accumulate_parts", (ins, { places, onto }, [out]) => {
  const whole = onto ? Float64Array.from(ins[0].data) : new Float64Array(sizeOf(out.shape));
  ins.slice(onto ? 1 : 0).forEach((x, k) => placesOf(places[k]).forEach((place, at) => { whole[place] += x.data[at]; }));
  return rounded(out, whole);
});
twin("identity stop_gradient after copy_to_device reshape cast", ([x], _, [out]) => rounded(out, x.data));
twin("cast_to_discrete", ([x], _, [out]) => rounded(out, /int/.test(out.dtype) ? x.data.map(whole) : x.data));
twin("shape", ([x], _, [out]) => rounded(out, x.shape));

/** An integer from a float, as a cast makes it. @param {number} value */
function whole(value) {
  if (!Number.isFinite(value)) throw new NotHere("a cast of nan or infinity to an integer depends on the machine");
  return Math.trunc(value);
}
