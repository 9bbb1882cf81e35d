// Cells and the sums over them: pictures agree with draw/cells.py by the table in tests/data/cells.json, and what an
// element is made of is checked against sums worked out here.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { backwardArithmetic, forwardArithmetic, lensOf, partsOf, sumWords, tableOf, transposed } from "../../autodiff_lab/widgets/explorer/arithmetic.js";
import { barsPath, cellSize, elementsIn, gridOf, levelOf, pathsOf } from "../../autodiff_lab/widgets/explorer/cells.js";

const TABLE = JSON.parse(readFileSync(new URL("../data/cells.json", import.meta.url), "utf8"));

/** @param {string} shape @param {number[]} numbers @param {object} [more] @returns {any} */
const value = (shape, numbers, more = {}) => ({ short: "", full: JSON.stringify(numbers), small: "", dtype: "float32", shape, mark: "", ...more });

test("grids, levels, cells and bars are those of Python", () => {
  for (const [shape, wanted] of TABLE.grids) {
    const grid = gridOf(shape);
    assert.deepEqual(grid && [grid.rows, grid.columns, cellSize(grid)], wanted, `${shape}`);
  }
  for (const [number, largest, wanted] of TABLE.levels) assert.equal(levelOf(number === "nan" ? NaN : number, largest), wanted);
  for (const { numbers, columns, size, paths } of TABLE.paths) {
    assert.deepEqual(Object.fromEntries(pathsOf(numbers, columns, size)), paths);
  }
  for (const [heights, [width, height], wanted] of TABLE.bars) assert.equal(barsPath(heights, { width, height }), wanted);
});

test("elements are read from the full text, or from the cells where that was cut", () => {
  assert.deepEqual(elementsIn(value("[2×2]", [1, -2.5, 3e-7, 4])), [1, -2.5, 3e-7, 4]);
  assert.deepEqual(elementsIn({ ...value("[3]", []), full: "[nan, -inf, 1e-05]" }), [NaN, -Infinity, 1e-5]);
  assert.deepEqual(elementsIn(value("[2]", [], { full: "[1.0, ‥", cells: [1, "nan"] })), [1, NaN]);
  assert.equal(elementsIn(value("[3]", [1, 2])), null, "not all are there");
  assert.equal(elementsIn(value("[2]", [1, 2], { dtype: "complex64" })), null);
  assert.equal(elementsIn(value("[2]", [], { full: "min 0, max 1; the first elements: 0.5, 1" })), null);
});

test("a product of matrices multiplies rows by columns", () => {
  const scene = /** @type {any} */ ({ tensors: new Map([
    [0, { name: "a", named: true, value: value("[2×3]", [1, 2, 3, 4, 5, 6]) }],
    [1, { name: "W", named: true, value: value("[3×2]", [1, 0, 0, -1, 2, 2]) }],
    [2, { name: "y", named: true, value: value("[2×2]", [7, 4, 16, 7]) }],
  ]) });
  const matmul = /** @type {any} */ ({ op: { name: "matmul" }, inputs: [0, 1], outputs: [2], params: "" });
  const forward = forwardArithmetic(scene, matmul);
  assert.ok(forward);
  assert.deepEqual(forward.terms.map(({ sign, words }) => [sign, words]), [["", "a"], ["·", "W"], ["=", "y"]]);
  assert.deepEqual(partsOf(forward, 3), [[3, 4, 5], [1, 3, 5]]);
  assert.equal(sumWords(forward, 3), "y[1, 1] = 4 × 0 + 5 × (−1) + 6 × 2 = 7");
  const incoming = value("[2×2]", [1, 1, 1, 1]);
  const flow = { position: 1, input: 1, local: null, outgoing: value("[3×2]", [5, 5, 7, 7, 9, 9]), summed: [] };
  const backward = backwardArithmetic(scene, matmul, /** @type {any} */ ({ incoming: [incoming] }), /** @type {any} */ (flow));
  assert.deepEqual(backward?.terms.map(({ sign, words }) => [sign, words]), [["", "aᵀ"], ["·", "incoming"], ["=", "to W"]]);
  assert.deepEqual(backward?.terms[0].table?.numbers, [1, 4, 2, 5, 3, 6], "the transposed table");
  assert.equal(backward && sumWords(backward, 4), "to W[2, 0] = 3 × 1 + 6 × 1 = 9");
});

test("what was broadcast is summed over the axes that the event names", () => {
  const incoming = value("[2×3]", [1, 2, 3, 4, 5, 6]);
  const local = value("[2×3]", [1, 1, 1, 10, 10, 10]);
  const scene = /** @type {any} */ ({ tensors: new Map([[0, { name: "b", value: value("[3]", [0, 0, 0]) }]]) });
  const flow = /** @type {any} */ ({ position: 0, input: 0, local, outgoing: value("[3]", [41, 52, 63]), summed: [0] });
  const made = backwardArithmetic(scene, /** @type {any} */ ({ op: { name: "multiply" }, inputs: [0] }), /** @type {any} */ ({ incoming: [incoming] }), flow);
  assert.ok(made);
  assert.equal(made.lens, "[2×3] → sum axis 0 → [3]");
  assert.deepEqual(partsOf(made, 1), [[1, 4], [1, 4]]);
  assert.equal(sumWords(made, 1), "to b[1] = 2 × 1 + 5 × 10 = 52");
  const kept = /** @type {any} */ ({ ...flow, outgoing: value("[2×1]", [6, 150]), summed: [1] });
  const wide = backwardArithmetic(scene, /** @type {any} */ ({ op: { name: "multiply" }, inputs: [0] }), /** @type {any} */ ({ incoming: [incoming] }), kept);
  assert.equal(wide && sumWords(wide, 1), "to b[1, 0] = 4 × 10 + 5 × 10 + 6 × 10 = 150");
  assert.equal(lensOf(incoming, /** @type {any} */ ({ summed: [0, 1], outgoing: value("", [21]) })), "[2×3] → sum axes 0, 1 → one number");
});

test("what is stretched knows of each element of the result which one is repeated there", () => {
  const made = (/** @type {any[]} */ inputs, /** @type {any} */ result) => forwardArithmetic(
    /** @type {any} */ ({ tensors: new Map([...inputs, result].map((each, at) => [at, { name: "abc"[at], named: true, value: each }])) }),
    /** @type {any} */ ({ op: { name: "add" }, inputs: inputs.map((_, at) => at), outputs: [inputs.length], params: "" }),
  )?.terms.map(({ copies }) => copies);
  const six = value("[2×3]", [11, 21, 31, 12, 22, 32]);
  assert.deepEqual(made([value("[2×1]", [1, 2]), value("[3]", [10, 20, 30])], six), [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], undefined]);
  assert.deepEqual(made([value("[2×3]", [1, 1, 1, 2, 2, 2]), value("", [10])], six), [undefined, undefined, undefined], "a number stays a number");
  const deep = value("[2×2×1]", [11, 12, 21, 22]);
  assert.deepEqual(made([value("[2×1×1]", [10, 20]), value("[2×1]", [1, 2])], deep), [[0, 0, 1, 1], [0, 1, 0, 1], undefined]);
});

test("tables have at most sixteen rows and columns, and turn round", () => {
  assert.equal(tableOf(value("[17×1]", Array(17).fill(1))), null);
  const table = tableOf(value("[2×3]", [1, 2, 3, 4, 5, 6]));
  assert.deepEqual(table && transposed(transposed(table)), table);
});
