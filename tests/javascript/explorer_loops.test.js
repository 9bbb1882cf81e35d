// Training loops and what backward passes leave: turns, gradients that are yet to come, numbers beside edges.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fold, hasValue } from "../../autodiff_lab/widgets/explorer/fold.js";
import { decode, stepsIn, turnOf } from "../../autodiff_lab/widgets/explorer/scene.js";
import { freePlace } from "../../autodiff_lab/widgets/explorer/viewport.js";
import { bracketed } from "../../autodiff_lab/widgets/explorer/words.js";
import { payload, there } from "./explorer_sample.js";

const scopes = ["step 1", "step 1/model", "step 2"];
const rows = /** @type {Record<string, any[]>} */ (payload.applications);
const applications = Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, [...row.slice(0, 4), Number(key), ...row.slice(5)]]));
const scene = decode({
  ...payload, scopes, applications, loops: [["step 1", "step 2"]],
  tensors: { ...payload.tensors, 6: ["slope", "gradient", 7, 99, -1, 0, "", 6], 7: ["", "gradient", 7, 99, -1, 0, "∂y/∂x", 6] },
});

test("a gradient is not there before the step that delivers it", () => {
  const slope = there(scene.tensors.get(6));
  assert.deepEqual([0, 5, 6].map((step) => hasValue(scene, fold(scene, step), slope)), [false, false, true]);
});

test("a gradient that nobody named is called by what it is the gradient of", () => {
  assert.equal(there(scene.tensors.get(7)).name, "∂y/∂x");
  assert.equal(there(scene.tensors.get(6)).name, "slope");
});

test("a scope lies in its turn of the loop, and others in none", () => {
  assert.deepEqual(turnOf(scene, "step 1/model"), { turns: ["step 1", "step 2"], at: 0, path: "step 1" });
  assert.equal(turnOf(scene, "step 2")?.at, 1);
  assert.equal(turnOf(scene, "step 22"), null);
  assert.equal(turnOf(scene, ""), null);
});

test("the steps of a turn are those of the ops in it, forwards and backwards", () => {
  assert.deepEqual(stepsIn(scene, "step 1"), [1, 2, 5, 6]);
  assert.deepEqual(stepsIn(scene, "step 2"), [3, 4]);
});

test("a number stands beside its edge where no box is, or nowhere", () => {
  /** @type {[number, number][]} */
  const line = [[0, 50], [30, 50], [70, 50], [100, 50]];
  const covers = (/** @type {[number, number] | null} */ place, /** @type {number} */ letters) => {
    const [x, y] = there(place);
    return Math.abs(x - 120) < 20 + letters * 3.5 && y > 40 && y - 10 < 60;
  };
  const box = { x: 100, y: 40, width: 40, height: 20 };
  assert.equal(covers(freePlace(line, 5, [box], 0), 5), false);
  assert.notDeepEqual(freePlace(line, 3, [box], 0), freePlace(line, 3, [box], 1));
  assert.equal(freePlace(line, 5, [{ x: -500, y: -500, width: 1000, height: 1000 }], 0), null);
});

test("in a formula a sum is held together, a call and a name are not", () => {
  assert.deepEqual(bracketed(["x", "exp(x)", "x * y", "-3.0", "gradient of w"]), ["x", "exp(x)", "(x * y)", "-3.0", "gradient of w"]);
});
