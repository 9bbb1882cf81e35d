// Where keys and presses lead in the Jacobian map.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inside, moved, partner, pressed } from "../../autodiff_lab/widgets/jacobian_map/places.js";

// C = A·B with A (2×2) and B (2×1): C has 2 elements, A has 4.
/** @type {import("../../autodiff_lab/widgets/jacobian_map/places.js").MapFacts} */
const facts = {
  size: [2, 4], cell: 26, title: "", panels: [], sentences: [],
  rows: [[0, 0], [1, 0]], columns: [[0, 0], [0, 1], [1, 0], [1, 1]],
  fixed: [[0, 0], [0, 1], [], [], [], [], [0, 0], [0, 1]],
};

test("arrow keys move by one and stop at the edges", () => {
  assert.deepEqual(moved({ row: 0, column: 0 }, "ArrowRight", facts.size), { row: 0, column: 1 });
  assert.deepEqual(moved({ row: 0, column: 0 }, "ArrowDown", facts.size), { row: 1, column: 0 });
  assert.deepEqual(moved({ row: 1, column: 3 }, "ArrowDown", facts.size), { row: 1, column: 3 });
  assert.deepEqual(moved({ row: 0, column: 0 }, "ArrowLeft", facts.size), { row: 0, column: 0 });
  assert.deepEqual(moved({ row: 1, column: 2 }, "Home", facts.size), { row: 1, column: 0 });
  assert.deepEqual(moved({ row: 1, column: 2 }, "End", facts.size), { row: 1, column: 3 });
});

test("other keys mean nothing here, those of every object included", () => {
  for (const key of ["a", "Tab", "Enter", "constructor", "toString"]) {
    assert.equal(moved({ row: 0, column: 0 }, key, facts.size), null);
  }
});

test("a place outside the table is held to it", () => {
  assert.deepEqual(inside({ row: 9, column: -1 }, facts.size), { row: 1, column: 0 });
});

test("an entry has its partners in the product, and none in the fixed factor where it is 0 for good", () => {
  assert.deepEqual(partner(facts, { row: 1, column: 3 }, "row"), [1, 0]);
  assert.deepEqual(partner(facts, { row: 1, column: 3 }, "column"), [1, 1]);
  assert.deepEqual(partner(facts, { row: 1, column: 3 }, "entry"), [0, 1]);
  assert.equal(partner(facts, { row: 1, column: 0 }, "entry"), null);
});

test("outputs and inputs that are vectors have no place in a product of matrices", () => {
  const vectors = { ...facts, rows: [[0], [1]], columns: [[0], [1], [2], [3]] };
  assert.equal(partner(vectors, { row: 1, column: 3 }, "row"), null);
});

test("a press on a cell of the product moves to an entry that it belongs to", () => {
  const from = { row: 0, column: 1 };
  assert.deepEqual(pressed(facts, from, "jacobian", 1, 2), { row: 1, column: 2 });
  assert.deepEqual(pressed(facts, from, "row", 1, 0), { row: 1, column: 1 });
  assert.deepEqual(pressed(facts, from, "column", 1, 0), { row: 0, column: 2 });
  for (const [row, column] of [[0, 0], [0, 1]]) {
    const entry = pressed(facts, from, "entry", row, column);
    assert.deepEqual(partner(facts, entry, "entry"), [row, column]);
  }
});
