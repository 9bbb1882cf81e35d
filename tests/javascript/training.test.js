// The view of a training: places on its axis, keys, and numbers as a table shows them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { brief, placeOf } from "../../autodiff_lab/widgets/training/health.js";
import { movedBy, shownOf } from "../../autodiff_lab/widgets/training/widget.js";

test("numbers have two digits, and words stay words", () => {
  assert.deepEqual([null, "nan", 0, 0.123, 12345, 1e-9, -2].map(value => brief(/** @type {any} */ (value))), ["–", "nan", "0", "0.12", "1.2e4", "1.0e−9", "−2"]);
});

test("what a logarithm does not have has no place", () => {
  const axis = { lo: 0.01, hi: 1, log: true };
  assert.deepEqual([0, -1, null, "inf"].map(value => placeOf(axis, value)), [null, null, null, null]);
  assert.equal(placeOf(axis, 0.1), 90);
  assert.equal(placeOf(axis, 1e-9), 0);
});

test("keys choose a step, and past the last one the latest is followed", () => {
  assert.deepEqual(["ArrowLeft", "ArrowRight", "Home", "End", "x"].map(key => movedBy(key, -1, 3)), [1, -1, 0, -1, null]);
  assert.equal(movedBy("ArrowRight", 0, 3), 1);
  assert.equal(movedBy("ArrowLeft", 0, 3), 0);
  assert.equal(movedBy("Home", -1, 0), null);
  assert.deepEqual([shownOf(-1, 3), shownOf(7, 3), shownOf(1, 3)], [2, 2, 1]);
});
