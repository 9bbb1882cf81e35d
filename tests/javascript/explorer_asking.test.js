// The lock of the explorer: which numbers are asked, what counts as right, and how far one may go.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Asker, agrees, blanksOf } from "../../autodiff_lab/widgets/explorer/asking.js";
import { fold, gradientOf } from "../../autodiff_lab/widgets/explorer/fold.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { payload, there } from "./explorer_sample.js";

const scene = decode(payload);

/** @param {Record<string, unknown>} traits */
function asker(traits) {
  const model = { get: (/** @type {string} */ name) => traits[name], set: () => {}, save_changes: () => {} };
  return new Asker(/** @type {any} */ ({ scene, model, back: () => {} }));
}

test("a backward step asks for each delivery, and a forward op for nothing", () => {
  assert.deepEqual([1, 2, 3].map((step) => blanksOf(scene, step).length), [0, 0, 0]);
  const asked = blanksOf(scene, 5);
  assert.deepEqual(asked.map(({ name, shown }) => [name, shown]), [["x", "−0.99"]]);
  assert.equal(asked[0].value, -0.99);
});

test("a number counts up to 0.5 %, with either minus and a comma; rounded to two digits up to 1 %", () => {
  for (const [typed, value] of /** @type {[string, number][]} */ ([["0.33", 1 / 3], [".33", 1 / 3], ["-0.42", -0.41615], ["2.6", 2.584], ["332", 333], ["3.3e-1", 0.331], ["1.0", 0.995]])) assert.ok(agrees(typed, value), typed);
  for (const [typed, value] of /** @type {[string, number][]} */ ([["0.34", 1 / 3], ["0.335", 1 / 3 - 0.0004], ["1", 0.9915], ["2.56", 2.584], ["10", 9.85], ["0.3", 0.303], ["336", 333]])) assert.ok(!agrees(typed, value), typed);
  for (const typed of ["-0.99", "−0.99", " -0,99 ", "-0.986"]) assert.ok(agrees(typed, -0.9899925), typed);
  for (const typed of ["0.99", "-0.9", "", "  ", "x", "-0.99 or so", "NaN"]) assert.ok(!agrees(typed, -0.9899925), typed);
  for (const [typed, value] of /** @type {[string, number][]} */ ([["1,000", 1000], ["1,000,000", 1e6], ["1,234.5", 1234.5], ["1,234", 1234], ["1,234", 1.234]])) assert.ok(agrees(typed, value), typed);
  for (const [typed, value] of /** @type {[string, number][]} */ ([["1,000", 1], ["1,00,000", 1e5], ["0,125", 125]])) assert.ok(!agrees(typed, value), typed);
  assert.ok(agrees("0", 0));
  assert.ok(!agrees("0", 0.01));
  assert.ok(!agrees("", 0));
});

test("without a lock every step may be shown, with one those that are solved", () => {
  assert.equal(asker({}).limit(), scene.last);
  assert.equal(asker({ ask: true, solved: 0 }).limit(), 3);
  assert.equal(asker({ ask: true, solved: 4 }).limit(), 4);
  assert.equal(asker({ ask: true, solved: scene.last }).limit(), scene.last);
});

test("arrays and numbers that are not finite are not asked", () => {
  const kinds = [["float32", "[2]"]];
  assert.deepEqual(blanksOf(decode({ ...payload, kinds }), 5), []);
  const values = payload.values.map((row) => (row[0] === "−0.99" ? ["nan", "nan", "", 0, 2] : row));
  assert.deepEqual(blanksOf(decode({ ...payload, values }), 5), []);
});

test("a forward sweep asks for the tangent of the result, and the next one starts afresh", () => {
  const [ONE, COSINE, PART] = [4, 5, 6];
  const steps = [...payload.steps.slice(0, 3), [1, 0, [ONE], [[0, 2, COSINE, COSINE, COSINE, 1, 1]]],
    [2, 0, [-1, COSINE], [[1, 3, ONE, COSINE, PART, 1, 1]]], [2, 1, [ONE, -1], [[0, 3, ONE, ONE, ONE, 1, 1]]]];
  const sweeps = [[[0], [ONE], [3], [PART], 1, -1, [], 1], [[1], [ONE], [3], [ONE], 1, -1, [], 1]];
  const forward = decode({ ...payload, steps, sweeps });
  assert.deepEqual(blanksOf(forward, 5).map(({ name, shown }) => [name, shown]), [["y", "2.01"]]);
  const sine = there(forward.tensors.get(2));
  assert.equal(gradientOf(forward, fold(forward, 5), sine).value?.short, "−0.99");
  assert.equal(gradientOf(forward, fold(forward, 6), sine).value?.short, "0");
});
