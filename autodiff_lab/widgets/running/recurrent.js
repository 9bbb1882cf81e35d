// Twins of the recurrent cells over whole sequences, forward and backward, step by step in doubles.

import { rounded } from "./arrays.js";
import { times, turned } from "./products.js";
import { twin } from "./twins.js";

/** @import { Arr } from "./arrays.js" */
/** @typedef {{ batch: number, steps: number, n: number, width: number }} Sizes */

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** @param {Arr} x @param {Arr} h @returns {Sizes} */
function sizesOf(x, h) {
  return { batch: x.shape[0], steps: x.shape[1], n: h.shape[1], width: x.shape[2] };
}

/** x times the kernel for all steps, one row each. @param {Arr} x @param {Arr} kernel @param {Sizes} sizes */
function fed(x, kernel, { batch, steps, width }) {
  return times(x.data, kernel.data, batch * steps, width, kernel.shape[1]);
}

/** Whether an example takes part in a step. @param {Arr | undefined} mask @param {number} row */
function on(mask, row) {
  return !mask || mask.data[row] !== 0;
}

/** The state that a step begins with. @param {Arr} first @param {Float64Array} states @param {number} example @param {number} step @param {Sizes} sizes */
function before(first, states, example, step, { steps, n }) {
  return step ? states.subarray((example * steps + step - 1) * n, (example * steps + step) * n) : first.data.subarray(example * n, (example + 1) * n);
}

twin("simple_rnn", ([x, h, kernel, recurrent, bias, mask], _, [out]) => {
  const sizes = sizesOf(x, h);
  const { batch, steps, n } = sizes;
  const given = fed(x, kernel, sizes);
  const hidden = new Float64Array(batch * steps * n);
  for (let example = 0; example < batch; example += 1) {
    for (let step = 0; step < steps; step += 1) {
      const row = example * steps + step;
      const old = before(h, hidden, example, step, sizes);
      const z = times(old, recurrent.data, 1, n, n);
      for (let k = 0; k < n; k += 1) hidden[row * n + k] = on(mask, row) ? Math.tanh(given[row * n + k] + bias.data[k] + z[k]) : old[k];
    }
  }
  return rounded(out, hidden);
});

twin("lstm", ([x, h, c, kernel, recurrent, bias, mask], _, outs) => {
  const sizes = sizesOf(x, h);
  const { batch, steps, n } = sizes;
  const given = fed(x, kernel, sizes);
  const [hidden, cells] = [new Float64Array(batch * steps * n), new Float64Array(batch * steps * n)];
  const gates = new Float64Array(batch * steps * 4 * n);
  for (let example = 0; example < batch; example += 1) {
    for (let step = 0; step < steps; step += 1) {
      const row = example * steps + step;
      const [oldH, oldC] = [before(h, hidden, example, step, sizes), before(c, cells, example, step, sizes)];
      const z = times(oldH, recurrent.data, 1, n, 4 * n);
      for (let k = 0; k < 4 * n; k += 1) {
        const sum = given[row * 4 * n + k] + bias.data[k] + z[k];
        gates[row * 4 * n + k] = Math.floor(k / n) === 2 ? Math.tanh(sum) : sigmoid(sum);
      }
      for (let k = 0; k < n; k += 1) {
        const [i, f, g, o] = [0, 1, 2, 3].map((gate) => gates[(row * 4 + gate) * n + k]);
        const cell = f * oldC[k] + i * g;
        cells[row * n + k] = on(mask, row) ? cell : oldC[k];
        hidden[row * n + k] = on(mask, row) ? o * Math.tanh(cell) : oldH[k];
      }
    }
  }
  return [hidden, cells, gates].map((data, at) => rounded(outs[at], data));
});

twin("gru", ([x, h, kernel, recurrent, bias, mask], _, outs) => {
  const sizes = sizesOf(x, h);
  const { batch, steps, n } = sizes;
  const given = fed(x, kernel, sizes);
  const [hidden, gates] = [new Float64Array(batch * steps * n), new Float64Array(batch * steps * 4 * n)];
  for (let example = 0; example < batch; example += 1) {
    for (let step = 0; step < steps; step += 1) {
      const row = example * steps + step;
      const old = before(h, hidden, example, step, sizes);
      const z = times(old, recurrent.data, 1, n, 3 * n);
      for (let k = 0; k < n; k += 1) {
        const at = (/** @type {number} */ gate) => given[(row * 3 + gate) * n + k] + bias.data[gate * n + k];
        const back = (/** @type {number} */ gate) => z[gate * n + k] + bias.data[(3 + gate) * n + k];
        const [update, reset] = [sigmoid(at(0) + back(0)), sigmoid(at(1) + back(1))];
        const candidate = Math.tanh(at(2) + reset * back(2));
        [candidate, update, reset, back(2)].forEach((value, gate) => { gates[(row * 4 + gate) * n + k] = value; });
        hidden[row * n + k] = on(mask, row) ? (old[k] - candidate) * update + candidate : old[k];
      }
    }
  }
  return [hidden, gates].map((data, at) => rounded(outs[at], data));
});

/** Rows added up into one. @param {Float64Array} rows @param {number} width */
function columnSums(rows, width) {
  const sums = new Float64Array(width);
  rows.forEach((value, at) => { sums[at % width] += value; });
  return sums;
}

/** The states before each step, as rows. @param {Arr} h @param {Arr} hidden @param {Sizes} sizes */
function statesBefore(h, hidden, sizes) {
  const rows = new Float64Array(hidden.data.length);
  for (let row = 0; row < sizes.batch * sizes.steps; row += 1) {
    rows.set(before(h, hidden.data, Math.floor(row / sizes.steps), row % sizes.steps, sizes), row * sizes.n);
  }
  return rows;
}

/** Gradients of x, kernel, recurrent kernel and bias, by name. @param {Float64Array} given @param {Float64Array} back @param {Arr} x @param {Arr} kernel @param {Arr} h @param {Arr} hidden @param {Sizes} sizes */
function ofWeights(given, back, x, kernel, h, hidden, sizes) {
  const { batch, steps, n, width } = sizes;
  const [rows, columns] = [batch * steps, kernel.shape[1]];
  return {
    x: () => times(given, turned(kernel.data, width, columns), rows, columns, width),
    kernel: () => times(turned(x.data, rows, width), given, width, rows, columns),
    recurrent: () => times(turned(statesBefore(h, hidden, sizes), rows, n), back, n, rows, columns),
    bias: () => columnSums(given, columns),
  };
}

/**
 * Walk the steps backwards: `local` turns the adjoint of a state into those of the sums of a step, and says what of it
 * goes past the recurrent product.
 * @param {Sizes} sizes @param {Arr} gh @param {Arr} recurrent @param {Arr | undefined} mask
 * @param {(row: number, k: number, dh: number) => number} local
 * @param {(row: number) => Float64Array} sums
 */
function backwards({ batch, steps, n }, gh, recurrent, mask, local, sums) {
  const columns = recurrent.shape[1];
  const back = turned(recurrent.data, n, columns);
  const first = new Float64Array(batch * n);
  for (let example = 0; example < batch; example += 1) {
    let dh = new Float64Array(n);
    for (let step = steps - 1; step >= 0; step -= 1) {
      const row = example * steps + step;
      const taking = on(mask, row);
      const past = new Float64Array(n);
      for (let k = 0; k < n; k += 1) {
        dh[k] += gh.data[row * n + k];
        past[k] = local(row, k, taking ? dh[k] : 0) + (taking ? 0 : dh[k]);
      }
      const product = times(sums(row), back, 1, columns, n);
      dh = past.map((value, k) => value + product[k]);
    }
    first.set(dh, example * n);
  }
  return first;
}

twin("simple_rnn_grad", ([gh, hidden, x, h, kernel, recurrent, mask], { wanted }, outs) => {
  const sizes = sizesOf(x, h);
  const { n } = sizes;
  const dz = new Float64Array(hidden.data.length);
  const first = backwards(sizes, gh, recurrent, mask, (row, k, dh) => {
    dz[row * n + k] = dh * (1 - hidden.data[row * n + k] ** 2);
    return 0;
  }, (row) => dz.subarray(row * n, (row + 1) * n));
  const of = ofWeights(dz, dz, x, kernel, h, hidden, sizes);
  const parts = [of.x, () => first, of.kernel, of.recurrent, of.bias];
  return wanted.map((/** @type {number} */ k, /** @type {number} */ at) => rounded(outs[at], parts[k]()));
});

twin("lstm_grad", ([gh, gc, gg, hidden, cells, gates, x, h, c, kernel, recurrent, mask], { wanted }, outs) => {
  const sizes = sizesOf(x, h);
  const { batch, steps, n } = sizes;
  const dz = new Float64Array(gates.data.length);
  const dc = new Float64Array(batch * n);
  const oldCells = statesBefore(c, cells, sizes);
  const first = backwards(sizes, gh, recurrent, mask, (row, k, dh) => {
    const [i, f, g, o] = [0, 1, 2, 3].map((gate) => gates.data[(row * 4 + gate) * n + k]);
    const place = Math.floor(row / steps) * n + k;
    const squashed = Math.tanh(cells.data[row * n + k]);
    const arrived = dc[place] + gc.data[row * n + k];
    const cell = on(mask, row) ? arrived + dh * o * (1 - squashed ** 2) : 0;
    const own = (/** @type {number} */ gate) => gg.data[(row * 4 + gate) * n + k];
    dz[row * 4 * n + k] = (cell * g + own(0)) * i * (1 - i);
    dz[(row * 4 + 1) * n + k] = (cell * oldCells[row * n + k] + own(1)) * f * (1 - f);
    dz[(row * 4 + 2) * n + k] = (cell * i + own(2)) * (1 - g * g);
    dz[(row * 4 + 3) * n + k] = (dh * squashed + own(3)) * o * (1 - o);
    dc[place] = on(mask, row) ? cell * f : arrived;
    return 0;
  }, (row) => dz.subarray(row * 4 * n, (row + 1) * 4 * n));
  const of = ofWeights(dz, dz, x, kernel, h, hidden, sizes);
  const parts = [of.x, () => first, () => dc, of.kernel, of.recurrent, of.bias];
  return wanted.map((/** @type {number} */ k, /** @type {number} */ at) => rounded(outs[at], parts[k]()));
});

twin("gru_grad", ([gh, gg, hidden, gates, x, h, kernel, recurrent, mask], { wanted }, outs) => {
  const sizes = sizesOf(x, h);
  const { n } = sizes;
  const rows = sizes.batch * sizes.steps;
  const [given, fedBack] = [new Float64Array(rows * 3 * n), new Float64Array(rows * 3 * n)];
  const old = statesBefore(h, hidden, sizes);
  const first = backwards(sizes, gh, recurrent, mask, (row, k, dh) => {
    const [candidate, update, reset, part] = [0, 1, 2, 3].map((gate) => gates.data[(row * 4 + gate) * n + k]);
    const own = (/** @type {number} */ gate) => gg.data[(row * 4 + gate) * n + k];
    const ofCandidate = (dh * (1 - update) + own(0)) * (1 - candidate ** 2);
    const ofUpdate = (dh * (old[row * n + k] - candidate) + own(1)) * update * (1 - update);
    const ofReset = (ofCandidate * part + own(2)) * reset * (1 - reset);
    [ofUpdate, ofReset, ofCandidate].forEach((value, gate) => {
      given[(row * 3 + gate) * n + k] = value;
      fedBack[(row * 3 + gate) * n + k] = gate === 2 ? ofCandidate * reset + own(3) : value;
    });
    return dh * update;
  }, (row) => fedBack.subarray(row * 3 * n, (row + 1) * 3 * n));
  const of = ofWeights(given, fedBack, x, kernel, h, hidden, sizes);
  const bias = () => Float64Array.of(...columnSums(given, 3 * n), ...columnSums(fedBack, 3 * n));
  const parts = [of.x, () => first, of.kernel, of.recurrent, bias];
  return wanted.map((/** @type {number} */ k, /** @type {number} */ at) => rounded(outs[at], parts[k]()));
});
