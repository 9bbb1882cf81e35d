// Twins of products of matrices and of linear systems.  Sums of products are taken in doubles and rounded at the end.

import { NotHere, broadcast, commonShape, computed, permuted, positions, rounded, sizeOf, viewOf } from "./arrays.js";
import { twin } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */

/** (m, k) times (k, n), into (m, n), each at a place of its array. @param {Float64Array} a @param {Float64Array} b @param {number} m @param {number} k @param {number} n @param {number} fromA @param {number} fromB */
export function times(a, b, m, k, n, fromA = 0, fromB = 0) {
  const made = new Float64Array(m * n);
  for (let row = 0; row < m; row += 1) {
    for (let inner = 0; inner < k; inner += 1) {
      const factor = a[fromA + row * k + inner];
      const start = fromB + inner * n;
      for (let column = 0; column < n; column += 1) made[row * n + column] += factor * b[start + column];
    }
  }
  return made;
}

/** @param {Float64Array} a a matrix @param {number} rows @param {number} columns */
export function turned(a, rows, columns) {
  return Float64Array.from(positions(permuted(viewOf([rows, columns]), [1, 0])), (at) => a[at]);
}

twin("matmul", ([x, y], _, [out]) => {
  const a = x.shape.length === 1 ? [1, ...x.shape] : x.shape;
  const b = y.shape.length === 1 ? [...y.shape, 1] : y.shape;
  const [m, k] = a.slice(-2);
  const n = b[b.length - 1];
  const batch = commonShape([a.slice(0, -2), b.slice(0, -2)]);
  const starts = (/** @type {number[]} */ shape) => positions(broadcast(viewOf(shape.slice(0, -2)), batch));
  const [fromA, fromB] = [starts(a), starts(b)];
  const made = new Float64Array(sizeOf(batch) * m * n);
  fromA.forEach((at, block) => made.set(times(x.data, y.data, m, k, n, at * m * k, fromB[block] * k * n), block * m * n));
  return rounded(out, made);
});

twin("einsum", (ins, { inputs: terms, output: right }, [out]) => {
  /** @type {Record<string, number>} */
  const lengths = {};
  terms.forEach((/** @type {string} */ term, /** @type {number} */ k) => [...term].forEach((letter, axis) => {
    lengths[letter] = Math.max(lengths[letter] ?? 1, ins[k].shape[axis]);
  }));
  const inner = Object.keys(lengths).filter((letter) => !right.includes(letter));
  const letters = [...right, ...inner];
  const shape = letters.map((letter) => lengths[letter]);
  const places = terms.map((/** @type {string} */ term, /** @type {number} */ k) => {
    const { strides } = viewOf(ins[k].shape);
    const strideOf = (/** @type {string} */ letter) => [...term].reduce((sum, one, axis) => (
      one === letter && ins[k].shape[axis] > 1 ? sum + strides[axis] : sum), 0);
    return positions({ shape, strides: letters.map(strideOf), offset: 0 });
  });
  const length = sizeOf(inner.map((letter) => lengths[letter]));
  return computed(out, (at) => {
    let sum = 0;
    for (let step = at * length; step < (at + 1) * length; step += 1) {
      let product = 1;
      for (let k = 0; k < ins.length; k += 1) product *= ins[k].data[places[k][step]];
      sum += product;
    }
    return sum;
  });
});

twin("cross", ([a, b], _, [out]) => {
  const shape = commonShape([a.shape, b.shape]);
  const [p, q] = [a, b].map((x) => positions(broadcast(viewOf(x.shape), shape)));
  return computed(out, (at) => {
    const row = at - (at % 3);
    const [first, second] = [row + ((at - row + 1) % 3), row + ((at - row + 2) % 3)];
    return a.data[p[first]] * b.data[q[second]] - a.data[p[second]] * b.data[q[first]];
  });
});

/** Gaussian elimination with the largest pivot: changes a to triangles and b to the solution; returns the determinant. @param {Float64Array} a @param {number} n @param {Float64Array} b @param {number} m */
function eliminate(a, n, b, m) {
  let det = 1;
  for (let column = 0; column < n; column += 1) {
    let best = column;
    for (let row = column + 1; row < n; row += 1) if (Math.abs(a[row * n + column]) > Math.abs(a[best * n + column])) best = row;
    if (best !== column) {
      det = -det;
      swapRows(a, n, column, best);
      swapRows(b, m, column, best);
    }
    const pivot = a[column * n + column];
    det *= pivot;
    for (let row = column + 1; row < n; row += 1) {
      const factor = a[row * n + column] / pivot;
      for (let k = column; k < n; k += 1) a[row * n + k] -= factor * a[column * n + k];
      for (let k = 0; k < m; k += 1) b[row * m + k] -= factor * b[column * m + k];
    }
  }
  substitute(a, n, b, m, false);
  return det;
}

/** @param {Float64Array} a @param {number} width @param {number} i @param {number} j */
function swapRows(a, width, i, j) {
  for (let k = 0; k < width; k += 1) [a[i * width + k], a[j * width + k]] = [a[j * width + k], a[i * width + k]];
}

/** Solve a triangular system, in place. @param {Float64Array} a @param {number} n @param {Float64Array} b @param {number} m @param {boolean} lower */
function substitute(a, n, b, m, lower) {
  for (let step = 0; step < n; step += 1) {
    const row = lower ? step : n - 1 - step;
    for (let k = 0; k < m; k += 1) {
      let rest = b[row * m + k];
      for (let other = lower ? 0 : row + 1; other < (lower ? row : n); other += 1) rest -= a[row * n + other] * b[other * m + k];
      b[row * m + k] = rest / a[row * n + row];
    }
  }
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
  if (eliminate(a, n, b, m) === 0) throw new NotHere("the matrix is singular");
  return b;
}

twin("inv", eachMatrix(solved, true));
twin("solve", eachMatrix(solved));
twin("det", eachMatrix((a, n, b, m) => [eliminate(a, n, b, m)], true));
twin("slogdet", (ins, params, outs) => {
  const det = eachMatrix((a, n, b, m) => [eliminate(a, n, b, m)], true)(ins, params, [{ ...outs[0], dtype: "float64" }]);
  return [rounded(outs[0], det.data.map(Math.sign)), rounded(outs[1], det.data.map((value) => Math.log(Math.abs(value))))];
});
twin("triangular_solve", eachMatrix((a, n, b, m, { lower }) => {
  substitute(a, n, b, m, lower);
  return b;
}));
twin("cholesky_solve", eachMatrix((a, n, b, m) => {
  substitute(a, n, b, m, true);
  substitute(turned(a, n, n), n, b, m, false);
  return b;
}));
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
