// The twin of what goes step by step along a sequence, as recurrent cells do.

import { sizeOf } from "../basics.js";
import { positions, ranged, taken, viewOf } from "./arrays.js";
import { runSteps } from "./lowered.js";
import { twin } from "./twins.js";

/** Where the elements of one step lie, the steps being axis 1. @param {number[]} shape @param {number} step */
const placesAt = (shape, step) => positions(ranged(viewOf(shape), 1, step, 1));

/** The last states, and all that was made, put together along axis 1. */
twin("walk", (ins, { steps, made, held, parts, reverse }, outs) => {
  let states = ins.slice(0, held);
  const along = ins.slice(held, held + parts);
  const stacks = outs.slice(held).map((out) => ({ ...out, data: new Float64Array(sizeOf(out.shape)) }));
  const length = along[0].shape[1];
  for (let count = 0; count < length; count += 1) {
    const step = reverse ? length - 1 - count : count;
    const here = along.map(({ dtype, shape, data }) => (
      { dtype, shape: shape.filter((_, axis) => axis !== 1), data: taken(data, placesAt(shape, step)) }));
    const found = runSteps({ steps, made }, [...states, ...here, ...ins.slice(held + parts)]);
    stacks.forEach(({ shape, data }, k) => placesAt(shape, step).forEach((place, at) => { data[place] = found[k].data[at]; }));
    states = found.slice(0, held);
  }
  return [...states, ...stacks];
});
