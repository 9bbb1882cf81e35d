// Twins of the recurrent cells over whole sequences, forward and backward, step by step in doubles.  A cell is what one unit
// computes; the walk over examples and steps, the mask and the weights are the same for all.

import { sizeOf } from "../basics.js";
import { rounded } from "./arrays.js";
import { times } from "./products.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */
/** @typedef {(gate: number) => number} Gates one number for each gate of a unit */

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** @param {Arr} x @param {Arr} h @param {Arr} kernel @param {Arr} [mask] */
function sizesOf(x, h, kernel, mask) {
  const [batch, steps, width] = x.shape;
  const n = h.shape[1];
  /** The states that a row begins with. @param {Arr} first @param {Float64Array} states @param {number} row */
  const before = (first, states, row) => (
    row % steps ? states.subarray((row - 1) * n, row * n) : first.data.subarray((row / steps) * n, (row / steps + 1) * n));
  /** Whether an example takes part in a step. @param {number} row */
  const on = (row) => !mask || mask.data[row] !== 0;
  return { rows: batch * steps, steps, width, n, columns: kernel.shape[1], before, on };
}

/**
 * @param {number} held how many states are carried from step to step
 * @param {(fed: Gates, back: Gates, old: number[]) => number[][]} cell from what a unit is fed and fed back: its states, and its gates
 */
function forwards(held, cell) {
  return (/** @type {Arr[]} */ [x, ...rest], /** @type {any} */ _, /** @type {Spec[]} */ outs) => {
    const firsts = rest.splice(0, held);
    const [kernel, recurrent, bias, mask] = rest;
    const { rows, width, n, columns, before, on } = sizesOf(x, firsts[0], kernel, mask);
    const given = times(x.data, kernel.data, rows, width, columns);
    const made = outs.map(({ shape }) => new Float64Array(sizeOf(shape)));
    for (let row = 0; row < rows; row += 1) {
      const old = firsts.map((first, s) => before(first, made[s], row));
      const z = times(old[0], recurrent.data, 1, n, columns);
      for (let k = 0; k < n; k += 1) {
        const [states, gates] = cell(
          (gate) => given[row * columns + gate * n + k] + bias.data[gate * n + k],
          (gate) => z[gate * n + k] + (bias.data[columns + gate * n + k] ?? 0),
          old.map((one) => one[k]),
        );
        states.forEach((value, s) => { made[s][row * n + k] = on(row) ? value : old[s][k]; });
        gates.forEach((value, gate) => { made[held][(row * gates.length + gate) * n + k] = value; });
      }
    }
    return made.map((data, at) => rounded(outs[at], data));
  };
}

twin("simple_rnn", forwards(1, (fed, back) => [[Math.tanh(fed(0) + back(0))], []]));
twin("lstm", forwards(2, (fed, back, [, c]) => {
  const [i, f, o] = [0, 1, 3].map((gate) => sigmoid(fed(gate) + back(gate)));
  const g = Math.tanh(fed(2) + back(2));
  const cell = f * c + i * g;
  return [[o * Math.tanh(cell), cell], [i, f, g, o]];
}));
twin("gru", forwards(1, (fed, back, [h]) => {
  const [update, reset] = [0, 1].map((gate) => sigmoid(fed(gate) + back(gate)));
  const candidate = Math.tanh(fed(2) + reset * back(2));
  return [[(h - candidate) * update + candidate], [candidate, update, reset, back(2)]];
}));

/**
 * @param {number} held
 * @param {number} gated 1 if the op also made its gates, whose adjoints come after those of the states
 * @param {(d: number[], states: number[], old: number[], gate: Gates, own: Gates) => number[][]} cell from the adjoints of the
 *   states of a unit: those of what it was fed, of what was fed back if they differ, and of its old states apart from that
 */
function backwards(held, gated, cell) {
  return (/** @type {Arr[]} */ ins, /** @type {{ wanted: number[] }} */ { wanted }, /** @type {Spec[]} */ outs) => {
    const rest = [...ins];
    const [arriving, [own], states, [gates], [x], firsts] = [held, gated, held, gated, 1, held].map((count) => rest.splice(0, count));
    const [kernel, recurrent, mask] = rest;
    const { rows, steps, width, n, columns, before, on } = sizesOf(x, firsts[0], kernel, mask);
    const [fed, fedBack] = [new Float64Array(rows * columns), new Float64Array(rows * columns)];
    const carried = firsts.map(({ data }) => new Float64Array(data.length));
    const oldStates = new Float64Array(rows * n);
    let differ = false;
    for (let row = rows - 1; row >= 0; row -= 1) {
      const start = Math.floor(row / steps) * n;
      const old = firsts.map((first, s) => before(first, states[s].data, row));
      oldStates.set(old[0], row * n);
      for (let k = 0; k < n; k += 1) {
        const d = carried.map((so, s) => so[start + k] + arriving[s].data[row * n + k]);
        const at = (/** @type {number} */ gate) => (row * (gates ? 4 : 1) + gate) * n + k;
        const [sums, past, back] = cell(
          on(row) ? d : d.map(() => 0), states.map(({ data }) => data[row * n + k]), old.map((one) => one[k]),
          (gate) => gates.data[at(gate)], (gate) => own.data[at(gate)],
        );
        differ ||= back !== undefined;
        sums.forEach((value, gate) => { fed[row * columns + gate * n + k] = value; });
        (back ?? sums).forEach((value, gate) => { fedBack[row * columns + gate * n + k] = value; });
        carried.forEach((so, s) => { so[start + k] = (past[s] ?? 0) + (on(row) ? 0 : d[s]); });
      }
      const through = times(fedBack.subarray(row * columns, (row + 1) * columns), recurrent.data, 1, columns, n, "b");
      through.forEach((value, k) => { carried[0][start + k] += value; });
    }
    const sumOf = (/** @type {Float64Array} */ grads) => times(new Float64Array(rows).fill(1), grads, 1, rows, columns);
    const parts = [
      () => times(fed, kernel.data, rows, columns, width, "b"), ...carried.map((so) => () => so),
      () => times(x.data, fed, width, rows, columns, "a"), () => times(oldStates, fedBack, n, rows, columns, "a"),
      () => (differ ? Float64Array.of(...sumOf(fed), ...sumOf(fedBack)) : sumOf(fed)),
    ];
    return wanted.map((part, at) => rounded(outs[at], parts[part]()));
  };
}

twin("simple_rnn_grad", backwards(1, 0, ([d], [h]) => [[d * (1 - h * h)], []]));
twin("lstm_grad", backwards(2, 1, ([d, dc], [, c], [, old], gate, own) => {
  const [i, f, g, o] = [0, 1, 2, 3].map(gate);
  const squashed = Math.tanh(c);
  const cell = dc + d * o * (1 - squashed ** 2);
  return [[
    (cell * g + own(0)) * i * (1 - i), (cell * old + own(1)) * f * (1 - f),
    (cell * i + own(2)) * (1 - g * g), (d * squashed + own(3)) * o * (1 - o),
  ], [0, cell * f]];
}));
twin("gru_grad", backwards(1, 1, ([d], _, [old], gate, own) => {
  const [candidate, update, reset, part] = [0, 1, 2, 3].map(gate);
  const ofCandidate = (d * (1 - update) + own(0)) * (1 - candidate ** 2);
  const ofUpdate = (d * (old - candidate) + own(1)) * update * (1 - update);
  const ofReset = (ofCandidate * part + own(2)) * reset * (1 - reset);
  return [[ofUpdate, ofReset, ofCandidate], [d * update], [ofUpdate, ofReset, ofCandidate * reset + own(3)]];
}));
