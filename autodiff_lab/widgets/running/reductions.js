// Twins of what makes one number of many: reductions, scans, sorting, segments.

import { sizeOf } from "../basics.js";
import { broadcast, byLane, computed, isFloat, keptShape, lanes, largest, positions, reduced, rounded, roundingOf, smallest, total, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

twin("sum", ([x], { axes }, [out]) => reduced(out, x, axes, total));
twin("mean", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => total(lane) / (isFloat(x.dtype) ? lane.length : Math.max(lane.length, 1))));
twin("max", ([x], { axes }, [out]) => reduced(out, x, axes, largest));
twin("min", ([x], { axes }, [out]) => reduced(out, x, axes, smallest));
twin("prod", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => lane.reduce((product, value) => product * value, 1)));
twin("any", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => (lane.some(Boolean) ? 1 : 0)));
twin("all", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => (lane.every(Boolean) ? 1 : 0)));
twin("l2_loss", ([x], _, [out]) => rounded(out, [total(x.data.map((value) => value * value)) / 2]));
twin("euclidean_norm", ([x], { axes }, [out]) => {
  const round = roundingOf(out.dtype);
  return reduced(out, x, axes, (lane) => Math.sqrt(round(total(lane.map((value) => value * value)))));
});
twin("extreme_grad", ([g, best, x], { axes }, [out]) => {
  const shape = keptShape(x.shape, axes);
  const at = positions(broadcast(viewOf(shape), x.shape));
  const counts = new Float64Array(sizeOf(shape));
  x.data.forEach((value, k) => { counts[at[k]] += value === best.data[at[k]] ? 1 : 0; });
  const size = x.data.length;
  return computed(out, (k) => {
    const place = at[k % size];
    const share = (x.data[k % size] === best.data[place] ? 1 : 0) / counts[place];
    return share === 0 ? 0 : g.data[Math.floor(k / size) * counts.length + place] * share;
  });
});

/** The place of the best element of each lane, the first of equals; nan is the best of all. @param {1 | -1} sign */
function bestPlace(sign) {
  return (/** @type {Arr[]} */ [x], /** @type {any} */ { axis }, /** @type {Spec[]} */ [out]) => reduced(out, x, [axis], (lane) => {
    const nan = lane.findIndex(Number.isNaN);
    return nan >= 0 ? nan : lane.reduce((best, value, at) => (sign * value > sign * lane[best] ? at : best), 0);
  });
}

twin("argmax", bestPlace(1));
twin("argmin", bestPlace(-1));

/** A scan along an axis. @param {(before: number, value: number) => number} step @param {number} start */
function scan(step, start) {
  return (/** @type {Arr[]} */ [x], /** @type {any} */ { axis, exclusive = false, reverse }, /** @type {Spec[]} */ [out]) => byLane(out, x, [axis], (lane) => {
    const line = reverse ? lane.slice().reverse() : lane.slice();
    let state = start;
    line.forEach((value, at) => {
      const next = step(state, value);
      line[at] = exclusive ? state : next;
      state = next;
    });
    lane.set(reverse ? line.reverse() : line);
  });
}

twin("cumsum", scan((sum, value) => sum + value, 0));
twin("cumprod", scan((product, value) => product * value, 1));
twin("cumulative_logsumexp", scan((sum, value) => {
  const top = Math.max(sum, value);
  return top === -Infinity || Number.isNaN(top) || top === Infinity ? top : top + Math.log1p(Math.exp(Math.min(sum, value) - top));
}, -Infinity));
twin("running_top", (ins, params, outs) => {
  const most = outs[0].dtype === "float32" ? 3.4028234663852886e38 : Number.MAX_VALUE;
  return scan((best, value) => Math.max(best, Math.min(Math.max(value, -most), most)), -most)(ins, params, outs);
});
twin("recurrence", ([b, a], { axis, reverse }, [out]) => {
  const factors = lanes({ ...a, shape: b.shape, data: Float64Array.from(positions(broadcast(viewOf(a.shape), b.shape)), (at) => a.data[at]) }, [axis]);
  let lane = 0;
  return byLane(out, b, [axis], (line) => {
    const start = lane * factors.length;
    lane += 1;
    let last = NaN;
    for (let step = 0; step < line.length; step += 1) {
      const at = reverse ? line.length - 1 - step : step;
      last = step ? line[at] + factors.data[start + at] * last : line[at];
      line[at] = last;
    }
  });
});

/** Positions in ascending order, equal ones as they stand, nan last. @param {Float64Array} lane */
function orderOf(lane) {
  const after = (/** @type {number} */ x, /** @type {number} */ y) => (x < y ? -1 : x > y ? 1 : Number(Number.isNaN(x)) - Number(Number.isNaN(y)));
  return Array.from(lane, (_, at) => at).sort((i, j) => after(lane[i], lane[j]) || i - j);
}

/** The same from the largest on, the first of equals first. @param {Float64Array} lane */
function orderDown(lane) {
  return orderOf(lane.slice().reverse()).reverse().map((at) => lane.length - 1 - at);
}

twin("argsort", ([x], { axis, descending }, [out]) => byLane(out, x, [axis], (lane) => lane.set(descending ? orderDown(lane) : orderOf(lane))));
twin("top_positions", ([x], { k }, [out]) => {
  const { data, length, count } = lanes(x, [-1]);
  return rounded(out, Array.from({ length: count }, (_, lane) => orderDown(data.subarray(lane * length, (lane + 1) * length)).slice(0, k)).flat());
});
twin("searchsorted", ([rows, values], { side }, [out]) => {
  const length = rows.shape[rows.shape.length - 1];
  const each = rows.shape.length === 1 ? Math.max(values.data.length, 1) : values.shape[values.shape.length - 1];
  return computed(out, (at) => {
    const start = Math.floor(at / each) * length;
    const line = rows.data.subarray(start, start + length);
    const value = values.data[at];
    const place = line.findIndex((one) => (side === "left" ? !(one < value) : one > value));
    return place < 0 ? length : place;
  });
});
twin("invert_permutation", ([x], _, [out]) => {
  const made = new Float64Array(x.data.length);
  x.data.forEach((to, at) => { made[to] = at; });
  return rounded(out, made);
});

/** Elements reduced by the number of their segment. @param {(lane: number[], empty: number) => number} reduce */
function segments(reduce) {
  return (/** @type {Arr[]} */ [x, ids], /** @type {any} */ { count, empty = 0 }, /** @type {Spec[]} */ [out]) => {
    const width = sizeOf(x.shape.slice(1));
    /** @type {number[][]} */
    const found = Array.from({ length: count * width }, () => []);
    ids.data.forEach((id, row) => { for (let k = 0; k < width; k += 1) found[id * width + k].push(x.data[row * width + k]); });
    return computed(out, (at) => reduce(found[at], empty));
  };
}

twin("segment_sum", segments(total));
twin("segment_max", segments((lane, empty) => (lane.length ? largest(lane) : empty)));
twin("segment_min", segments((lane, empty) => (lane.length ? smallest(lane) : empty)));

/** ln of the sum of e to each number. @param {ArrayLike<number>} lane */
export function logSumExp(lane) {
  const top = largest(lane);
  const shift = Number.isFinite(top) ? top : 0;
  let sum = 0;
  for (let at = 0; at < lane.length; at += 1) sum += Math.exp(lane[at] - shift);
  return Math.log(sum) + shift;
}

/** e to each number over their sum, in place. @param {Float64Array} lane @param {boolean} [guarded] 0 where all are -inf */
export function toShares(lane, guarded = false) {
  const top = largest(lane);
  const shift = guarded && !Number.isFinite(top) ? 0 : top;
  lane.forEach((value, at) => { lane[at] = Math.exp(value - shift); });
  const sum = total(lane);
  lane.forEach((value, at) => { lane[at] = value / (guarded && sum === 0 ? 1 : sum); });
}

twin("logsumexp", ([x], { axes }, [out]) => reduced(out, x, axes, logSumExp));
twin("logsumexp_shares", ([x], { axes }, [out]) => byLane(out, x, axes, (lane) => toShares(lane, true)));
