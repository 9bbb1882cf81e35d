// Twins of products of matrices and of linear systems.  Sums of products are taken in doubles and rounded at the end.

import { sizeOf } from "../basics.js";
import { NotHere, rounded, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

/** A view of numbers that a loop reads or adds to: a stride for each axis of the loop. @typedef {{ data: Float64Array, strides: number[] }} Operand */

/**
 * Add up products: for every index of a loop, that of `a` and `b` there to the element of `into` there.
 * @param {number[]} shape of the loop @param {Operand} into @param {Operand} a @param {Operand} b
 */
function contract(shape, into, a, b) {
  const last = shape.length - 1;
  const walk = (/** @type {number} */ axis, /** @type {number} */ to, /** @type {number} */ p, /** @type {number} */ q) => {
    const [s, t, u] = [into.strides[axis], a.strides[axis], b.strides[axis]];
    for (let k = 0; k < shape[axis]; k += 1) {
      if (axis === last) into.data[to + k * s] += a.data[p + k * t] * b.data[q + k * u];
      else walk(axis + 1, to + k * s, p + k * t, q + k * u);
    }
  };
  if (last < 0) into.data[0] += a.data[0] * b.data[0];
  else walk(0, 0, 0, 0);
  return into.data;
}

twin("einsum", (ins, { inputs: terms, output: right }, [out]) => {
  /** @type {Record<string, number>} */
  const lengths = {};
  terms.forEach((/** @type {string} */ term, /** @type {number} */ k) => [...term].forEach((letter, axis) => {
    const length = ins[k].shape[axis];
    if (length !== 1 || !(letter in lengths)) lengths[letter] = length;
  }));
  const letters = [...right, ...Object.keys(lengths).filter((letter) => !right.includes(letter))];
  const shape = letters.map((letter) => lengths[letter]);
  const stridesOf = (/** @type {string} */ term, /** @type {number[]} */ own) => letters.map((letter) => (
    viewOf(own).strides.reduce((sum, stride, axis) => (term[axis] === letter && own[axis] > 1 ? sum + stride : sum), 0)));
  const operands = ins.map(({ data, shape: own }, k) => ({ data, strides: stridesOf(terms[k], own) }));
  const last = operands.pop() ?? { data: new Float64Array(1), strides: [] };
  const one = { data: Float64Array.of(1), strides: letters.map(() => 0) };
  const all = operands.reduce((product, operand, k) => (k ? spreadOut(shape, product, operand) : operand), one);
  return rounded(out, contract(shape, { data: new Float64Array(sizeOf(out.shape)), strides: stridesOf(right, out.shape) }, all, last));
});

/** Elementwise products over a whole loop. @param {number[]} shape @param {Operand} a @param {Operand} b @returns {Operand} */
function spreadOut(shape, a, b) {
  const { strides } = viewOf(shape);
  return { data: contract(shape, { data: new Float64Array(sizeOf(shape)), strides }, a, b), strides };
}

/**
 * The solution x of a·x = b, by elimination with the largest pivot above and below it, the determinant of a, and whether a pivot is 0.
 * @param {Float64Array} a @param {number} n @param {Float64Array} b @param {number} m
 */
function eliminated(a, n, b, m) {
  const rows = Array.from({ length: n }, (_, i) => [...a.subarray(i * n, (i + 1) * n), ...b.subarray(i * m, (i + 1) * m)]);
  let det = 1;
  for (let k = 0; k < n; k += 1) {
    const best = rows.reduce((so, row, i) => (i > k && Math.abs(row[k]) > Math.abs(rows[so][k]) ? i : so), k);
    [rows[k], rows[best]] = [rows[best], rows[k]];
    det *= best === k ? rows[k][k] : -rows[k][k];
    rows.forEach((row, i) => {
      const factor = i === k ? 0 : row[k] / rows[k][k];
      for (let j = k; factor && j < n + m; j += 1) row[j] -= factor * rows[k][j];
    });
  }
  return { det, singular: rows.some((row, i) => row[i] === 0), x: rows.flatMap((row, i) => row.slice(n).map((value) => value / row[i])) };
}

/** Matrix by matrix. @param {(a: Float64Array, n: number, b: Float64Array, m: number, params: any) => ArrayLike<number>} solve @param {boolean} [alone] without a right-hand side: the identity */
function eachMatrix(solve, alone = false) {
  return (/** @type {Arr[]} */ [x, y], /** @type {any} */ params, /** @type {Spec[]} */ [out]) => {
    const n = x.shape[x.shape.length - 1];
    const m = alone ? n : y.shape[y.shape.length - 1];
    const count = x.data.length / (n * n || 1);
    if (!alone && y.data.length !== count * n * m) throw new NotHere("systems that broadcast are not solved in the page");
    const identity = Float64Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0));
    const parts = Array.from({ length: count }, (_, k) => Array.from(solve(
      x.data.slice(k * n * n, (k + 1) * n * n), n, alone ? identity.slice() : y.data.slice(k * n * m, (k + 1) * n * m), m, params)));
    return rounded(out, parts.flat());
  };
}

/** @param {Float64Array} a @param {number} n @param {Float64Array} b @param {number} m */
function solved(a, n, b, m) {
  const { singular, x } = eliminated(a, n, b, m);
  if (singular) throw new NotHere("the matrix is singular");
  return Float64Array.from(x);
}

twin("inv", eachMatrix(solved, true));
twin("solve", eachMatrix(solved));
twin("det", eachMatrix((a, n, b, m) => [eliminated(a, n, b, m).det], true));
twin("cholesky", eachMatrix((a, n) => {
  const factor = new Float64Array(n * n);
  for (let row = 0; row < n; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      let rest = (a[row * n + column] + a[column * n + row]) / 2;
      for (let k = 0; k < column; k += 1) rest -= factor[row * n + k] * factor[column * n + k];
      if (row === column && !(rest > 0)) throw new NotHere("the matrix is not positive definite");
      factor[row * n + column] = row === column ? Math.sqrt(rest) : rest / factor[column * n + column];
    }
  }
  return factor;
}, true));
