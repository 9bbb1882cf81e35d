// Twins of what makes one number of many: reductions, scans, sorting.

import { byLane, isFloat, largest, reduced, roundingOf, smallest, total } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

twin("sum", ([x], { axes }, [out]) => reduced(out, x, axes, total));
twin("mean", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => total(lane) / (isFloat(x.dtype) ? lane.length : Math.max(lane.length, 1))));
twin("max", ([x], { axes }, [out]) => reduced(out, x, axes, largest));
twin("min", ([x], { axes }, [out]) => reduced(out, x, axes, smallest));
twin("prod", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => lane.reduce((product, value) => product * value, 1)));
twin("any", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => (lane.some(Boolean) ? 1 : 0)));
twin("all", ([x], { axes }, [out]) => reduced(out, x, axes, (lane) => (lane.every(Boolean) ? 1 : 0)));
twin("euclidean_norm", ([x], { axes }, [out]) => {
  const round = roundingOf(out.dtype);
  return reduced(out, x, axes, (lane) => Math.sqrt(round(total(lane.map((value) => value * value)))));
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

/** Positions in ascending order, equal ones as they stand, nan last. @param {Float64Array} lane */
function orderOf(lane) {
  const after = (/** @type {number} */ x, /** @type {number} */ y) => (x < y ? -1 : x > y ? 1 : Number(Number.isNaN(x)) - Number(Number.isNaN(y)));
  return Array.from(lane, (_, at) => at).sort((i, j) => after(lane[i], lane[j]) || i - j);
}

/** The same from the largest on, the first of equals first. @param {Float64Array} lane */
const orderDown = (lane) => orderOf(lane.slice().reverse()).reverse().map((at) => lane.length - 1 - at);

twin("argsort", ([x], { axis, descending }, [out]) => byLane(out, x, [axis], (lane) => lane.set(descending ? orderDown(lane) : orderOf(lane))));
