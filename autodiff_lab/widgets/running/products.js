// Twins of products of matrices and of linear systems.  Sums of products are taken in doubles and rounded at the end.

import { sizeOf } from "../basics.js";
import { NotHere, broadcast, commonShape, computed, positions, rounded, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

/** A view of numbers that a loop reads or adds to: a stride for each axis of the loop. @typedef {{ data: Float64Array, strides: number[], offset?: number }} Operand */

/**
 * Add up products: for every index of a loop, that of `a` and `b` there to the element of `into` there.
 * @param {number[]} shape of the loop @param {Operand} into @param {Operand} a @param {Operand} b
 */
export function contract(shape, into, a, b) {
  const last = shape.length - 1;
  const walk = (/** @type {number} */ axis, /** @type {number} */ to, /** @type {number} */ p, /** @type {number} */ q) => {
    const [s, t, u] = [into.strides[axis], a.strides[axis], b.strides[axis]];
    for (let k = 0; k < shape[axis]; k += 1) {
      if (axis === last) into.data[to + k * s] += a.data[p + k * t] * b.data[q + k * u];
      else walk(axis + 1, to + k * s, p + k * t, q + k * u);
    }
  };
  if (last < 0) into.data[0] += a.data[0] * b.data[0];
  else walk(0, into.offset ?? 0, a.offset ?? 0, b.offset ?? 0);
  return into.data;
}

/**
 * (m, k) times (k, n), into (m, n); one that is stored the other way round is `turned`.
 * @param {Float64Array} a @param {Float64Array} b @param {number} m @param {number} k @param {number} n @param {"" | "a" | "b"} [turned]
 */
export function times(a, b, m, k, n, turned = "") {
  return contract([m, k, n], { data: new Float64Array(m * n), strides: [n, 0, 1] },
    { data: a, strides: turned === "a" ? [1, m, 0] : [k, 1, 0] }, { data: b, strides: turned === "b" ? [0, 1, k] : [0, n, 1] });
}

twin("matmul", ([x, y], _, [out]) => {
  const a = x.shape.length === 1 ? [1, ...x.shape] : x.shape;
  const b = y.shape.length === 1 ? [...y.shape, 1] : y.shape;
  const [m, k, n] = [...a.slice(-2), b[b.length - 1]];
  const batch = commonShape([a.slice(0, -2), b.slice(0, -2)]);
  const [p, q] = [broadcast(viewOf(a), [...batch, m, k]).strides, broadcast(viewOf(b), [...batch, k, n]).strides];
  const made = viewOf([...batch, m, n]).strides;
  return rounded(out, contract(
    [...batch, m, k, n],
    { data: new Float64Array(sizeOf(out.shape)), strides: [...made.slice(0, -1), 0, 1] },
    { data: x.data, strides: [...p, 0] },
    { data: y.data, strides: [...q.slice(0, -2), 0, ...q.slice(-2)] },
  ));
});

twin("einsum", (ins, { inputs: terms, output: right }, [out]) => {
  /** @type {Record<string, number>} */
  const lengths = {};
  terms.forEach((/** @type {string} */ term, /** @type {number} */ k) => [...term].forEach((letter, axis) => {
    lengths[letter] = Math.max(lengths[letter] ?? 1, ins[k].shape[axis]);
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

twin("cross", ([a, b], _, [out]) => {
  const shape = commonShape([a.shape, b.shape]);
  const [p, q] = [a, b].map((x) => positions(broadcast(viewOf(x.shape), shape)));
  return computed(out, (at) => {
    const row = at - (at % 3);
    const [first, second] = [row + ((at - row + 1) % 3), row + ((at - row + 2) % 3)];
    return a.data[p[first]] * b.data[q[second]] - a.data[p[second]] * b.data[q[first]];
  });
});

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

/** The part of a matrix on one side of its diagonal, or that turned to the other. @param {Float64Array} a @param {number} n @param {boolean} lower @param {boolean} [turned] */
function triangle(a, n, lower, turned = false) {
  return a.map((_, at) => {
    const [row, column] = [Math.floor(at / n), at % n];
    return (lower ? column > row : column < row) ? 0 : a[turned ? column * n + row : at];
  });
}

twin("inv", eachMatrix(solved, true));
twin("solve", eachMatrix(solved));
twin("det", eachMatrix((a, n, b, m) => [eliminated(a, n, b, m).det], true));
twin("slogdet", (ins, params, outs) => {
  const det = eachMatrix((a, n, b, m) => [eliminated(a, n, b, m).det], true)(ins, params, [{ ...outs[0], dtype: "float64" }]);
  return [rounded(outs[0], det.data.map(Math.sign)), rounded(outs[1], det.data.map((value) => Math.log(Math.abs(value))))];
});
twin("triangular_solve", eachMatrix((a, n, b, m, { lower }) => solved(triangle(a, n, lower), n, b, m)));
twin("cholesky_solve", eachMatrix((a, n, b, m) => solved(triangle(a, n, false, true), n, solved(triangle(a, n, true), n, b, m), m)));
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
