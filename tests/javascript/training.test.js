// The view of a training: axes that hold what is drawn, keys, and numbers as a table shows them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { axisOf, brief, placeOf } from "../../autodiff_lab/widgets/training/health.js";
import { heightsOf, movedBy, shownOf } from "../../autodiff_lab/widgets/training/widget.js";

/** @param {[string, any, any, any][]} rows @returns {import("../../autodiff_lab/widgets/training/health.js").Sample} */
const sample = rows => ({ step: 1, loss: 1, recorded: false, rows, more: 0, units: [], suspects: [], suspicious: [] });

test("numbers have two digits, and words stay words", () => {
  assert.deepEqual([null, "nan", 0, 0.123, 12345, 1e-9, -2].map(value => brief(/** @type {any} */ (value))), ["–", "nan", "0", "0.12", "1.2e4", "1.0e−9", "−2"]);
});

test("the axis holds all norms of all samples, and is one even where there are none", () => {
  const axis = axisOf([sample([["a", 1e-6, 5, null]]), sample([["a", "nan", 0, null], ["b", null, 200, null]])]);
  assert.deepEqual([axis.lo, axis.hi].map(Math.log10).map(Math.round), [-6, 3]);
  assert.ok(axisOf([]).hi > axisOf([]).lo);
  assert.ok(axisOf([sample([["a", 1, 1, null]])]).hi > 1);
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

test("heights hold the losses, whatever they are", () => {
  /** @param {(number | string)[]} losses */
  const facts = losses => ({ title: "", status: "", steps: losses.map((_, i) => i + 1), losses, samples: [] });
  const log = heightsOf(facts([100, 1, "nan"]));
  assert.ok(log.log && log.lo < 1 && log.hi > 100);
  const flat = heightsOf(facts([2, 2]));
  assert.ok(flat.lo < 2 && flat.hi > 2 && !flat.log);
  assert.ok(heightsOf(facts([])).hi > heightsOf(facts(["inf"])).lo);
});
