// Twins of the ops of networks: softmax, losses, normalization.

import { broadcast, byLane, computed, isFloat, keptShape, largest, positions, reduced, rounded, total, viewOf } from "./arrays.js";
import { logSumExp, toShares } from "./reductions.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

/** As arrays that rounding leaves alone, to be used on the way. @param {Arr | number[]} x @returns {Spec} */
function wide(x) {
  return { dtype: "float64", shape: Array.isArray(x) ? x : x.shape };
}

/** x + weight · y and the like, elementwise; y may be smaller. @param {Arr} x @param {Arr} y @param {(x: number, y: number) => number} of @returns {Arr} */
function pair(x, y, of) {
  const shape = x.shape.length >= y.shape.length ? x.shape : y.shape;
  const [a, b] = [x, y].map((one) => positions(broadcast(viewOf(one.shape), shape)));
  return computed(wide(shape), (at) => of(x.data[a[at]], y.data[b[at]]));
}

/** @param {number} x @param {number} y */
const multiply = (x, y) => x * y;
/** @param {number} x @param {number} y */
const subtract = (x, y) => x - y;

/** Means over axes, which stay with length 1. @param {Arr} x @param {number[]} axes */
const means = (x, axes) => over(x, axes, (lane) => total(lane) / lane.length);

/** @param {Arr} x @param {number[]} axes @param {(lane: Float64Array) => number} of */
function over(x, axes, of) {
  return reduced(wide(keptShape(x.shape, axes)), x, axes, of);
}

/** Softmax in doubles. @param {Arr} x @param {number} axis */
function shares(x, axis) {
  return byLane(wide(x), x, [axis], (lane) => toShares(lane));
}

/** ln of e to each number over their sum, in place. @param {Float64Array} lane */
function toLogShares(lane) {
  const top = largest(lane);
  const shifted = lane.map((value) => value - top);
  const rest = logSumExp(shifted);
  lane.set(shifted.map((value) => value - rest));
}

twin("softmax", ([x], { axis }, [out]) => rounded(out, shares(x, axis).data));
twin("log_softmax", ([x], { axis }, [out]) => byLane(out, x, [axis], toLogShares));
twin("softmax_grad", ([g, y], { axis }, [out]) => rounded(out, pair(pair(g, over(pair(g, y, multiply), [axis], total), subtract), y, multiply).data));
twin("log_softmax_grad", ([g, y], { axis }, [out]) => (
  rounded(out, pair(g, pair(y, over(g, [axis], total), (value, sum) => Math.exp(value) * sum), subtract).data)));

/** -Σ labels · ln softmax, row by row. @param {Arr} logits @param {Arr} labels */
function crossEntropy(logits, labels) {
  const logs = byLane(wide(logits), logits, [-1], toLogShares);
  return over(pair(labels, logs, multiply), [-1], (lane) => -total(lane));
}

/** One for the class of each row, as floats. @param {Arr} labels @param {number} count */
function oneHot(labels, count) {
  return computed(wide([...labels.shape, count]), (at) => (labels.data[Math.floor(at / count)] === at % count ? 1 : 0));
}

/** @param {Arr} logits @param {Arr} labels distributions or class numbers */
function distributions(logits, labels) {
  return isFloat(labels.dtype) ? labels : oneHot(labels, logits.shape[logits.shape.length - 1]);
}

/** softmax · Σ labels - labels. @param {Arr} logits @param {Arr} labels */
function distance(logits, labels) {
  return pair(pair(shares(logits, -1), over(labels, [-1], total), multiply), labels, subtract);
}

twin("softmax_cross_entropy sparse_softmax_cross_entropy", ([logits, labels], _, [out]) => (
  rounded(out, crossEntropy(logits, distributions(logits, labels)).data)));
twin("softmax_cross_entropy_grad sparse_softmax_cross_entropy_grad", ([g, logits, labels], _, [out]) => {
  const column = { ...g, shape: [...g.shape, 1] };
  return rounded(out, pair(distance(logits, distributions(logits, labels)), column, multiply).data);
});
twin("softmax_minus_label", ([logits, labels], _, [out]) => rounded(out, pair(shares(logits, -1), distributions(logits, labels), subtract).data));

/** (x - mean) / √(variance + epsilon), and one over the root. @param {Arr} x @param {any} how */
function standard(x, { axes, epsilon }) {
  const away = pair(x, means(x, axes), subtract);
  const root = means(pair(away, away, multiply), axes);
  root.data.forEach((value, at) => { root.data[at] = 1 / Math.sqrt(value + epsilon); });
  return { y: pair(away, root, multiply), root };
}

/** Root times (g - mean of g - y · mean of g·y). @param {Arr} g @param {Arr} x @param {any} how */
function standardBack(g, x, how) {
  const { y, root } = standard(x, how);
  const inner = pair(pair(g, means(g, how.axes), subtract), pair(y, means(pair(g, y, multiply), how.axes), multiply), subtract);
  return pair(inner, root, multiply);
}

twin("moments", ([x], { axes }, [mean, variance]) => {
  const middle = means(x, axes);
  const away = pair(x, middle, subtract);
  return [rounded(mean, middle.data), rounded(variance, means(pair(away, away, multiply), axes).data)];
});
twin("standardize", ([x], how, [out]) => rounded(out, standard(x, how).y.data));
twin("standardize_grad", ([g, x], how, [out]) => rounded(out, standardBack(g, x, how).data));
twin("normalize", ([x, scale, offset], how, [out]) => (
  rounded(out, pair(pair(standard(x, how).y, scale, multiply), offset, (a, b) => a + b).data)));
twin("normalize_grad", ([g, x, scale], how, [first, ...rest]) => {
  const { y } = standard(x, how);
  const rank = x.shape.length;
  const axes = Array.from({ length: rank }, (_, k) => k - rank).filter((axis) => -axis > scale.shape.length || scale.shape[scale.shape.length + axis] === 1);
  return [
    rounded(first, standardBack(pair(g, scale, multiply), x, how).data),
    ...[pair(g, y, multiply), g].map((part, k) => rounded(rest[k], over(part, axes, total).data)),
  ];
});
