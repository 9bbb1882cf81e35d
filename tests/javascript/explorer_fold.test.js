// The state of the explorer follows from the scene and the step alone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fold, gradientOf, hasValue, reach, stepOf } from "../../autodiff_lab/widgets/explorer/fold.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { counter, liveLine } from "../../autodiff_lab/widgets/explorer/words.js";
import { payload, there } from "./explorer_sample.js";

const scene = decode(payload);
const tensor = (/** @type {number} */ number) => there(scene.tensors.get(number));
const gradient = (/** @type {number} */ step, /** @type {number} */ number) => gradientOf(scene, fold(scene, step), tensor(number));

test("before the first step only leaves have values, and no gradient is there", () => {
  const state = fold(scene, 0);
  assert.equal(state.phase, "start");
  assert.deepEqual([0, 1, 2, 3].map((number) => hasValue(scene, state, tensor(number))), [true, false, false, false]);
  assert.deepEqual([0, 1, 3].map((number) => gradient(0, number).state), ["pending", "pending", "pending"]);
});

test("a value appears at the step of its op and not before", () => {
  assert.deepEqual([1, 2, 3].map((step) => hasValue(scene, fold(scene, step), tensor(2))), [false, true, true]);
});

test("the target's gradient is its seed from the first step of the sweep on", () => {
  assert.equal(gradient(3, 3).state, "pending");
  assert.equal(gradient(4, 3).value?.short, "1");
});

test("contributions add up, one after the other", () => {
  assert.equal(gradient(4, 0).state, "pending");
  assert.deepEqual([gradient(5, 0).value?.short, gradient(5, 0).arrived, gradient(5, 0).expected], ["−0.99", 1, 3]);
  assert.deepEqual([gradient(6, 0).value?.short, gradient(6, 0).arrived], ["5.01", 3]);
  assert.deepEqual(there(fold(scene, 6).adjoints.get(0)).shares.map((share) => share.short), ["−0.99", "3", "3"]);
});

test("not yet, no path and nothing expected are three different states", () => {
  assert.equal(gradient(5, 5).state, "pending");
  assert.equal(gradient(6, 5).state, "no path");
  assert.equal(gradient(6, 4).state, "none");
});

test("an unfinished sweep proves no missing path", () => {
  const sweeps = payload.sweeps.map((row) => [...row.slice(0, 4), 0, row[5]]);
  const open = decode({ ...payload, sweeps });
  assert.equal(gradientOf(open, fold(open, 6), there(open.tensors.get(5))).state, "pending");
});

test("the state at a step does not depend on the way there", () => {
  const once = JSON.stringify([...fold(scene, 5).adjoints]);
  for (const step of [6, 0, 3, 5]) fold(scene, step);
  assert.equal(JSON.stringify([...fold(scene, 5).adjoints]), once);
});

test("shares are known for each input, so that x·x has two", () => {
  assert.deepEqual([...fold(scene, 6).passed.keys()], ["2:0", "2:1", "1:0", "0:0", "0:1"]);
});

test("an op is visited where it ran, or in the sweep that is shown", () => {
  assert.equal(stepOf(scene, fold(scene, 3), 0), 1);
  assert.equal(stepOf(scene, fold(scene, 4), 0), 6);
});

test("a second sweep forgets what it will reach again and keeps the rest", () => {
  const again = decode({
    ...payload,
    steps: [...payload.steps, [1, 1, [4], [[0, 0, 5, 5, 5, 1, 1]]]],
    sweeps: [...payload.sweeps, [[2], [4], [0], [5], 1, -1]],
    phases: [...payload.phases, [1, 7, 7]],
    labels: ["backward 1", "backward 2"],
  });
  const state = fold(again, 7);
  assert.equal(gradientOf(again, state, there(again.tensors.get(0))).value?.short, "−0.99");
  assert.equal(gradientOf(again, state, there(again.tensors.get(3))).value?.short, "1");
  assert.deepEqual([...reach(again, 1)], [2, 0]);
  assert.deepEqual(again.phases.map((phase) => phase.label), ["forward", "backward 1", "backward 2"]);
});

test("ops that a rule ran belong to their backward pass, not to the forward one", () => {
  const nested = decode({
    ...payload,
    tensors: { ...payload.tensors, 6: ["", "output", 5, 3, 0, 1, "cos(x)"], 7: ["dy", "output", 7, 4, 0, 1] },
    applications: { ...payload.applications, 3: [1, [0], [6], 0, 0, 5, "", "", "derivative of sin", 1], 4: [2, [6, 6], [7], 0, 0, 8, "", "", "derivative of sin", 1] },
    steps: [...payload.steps.slice(0, 4), [3], ...payload.steps.slice(4), [4], [4, 1, [4], [[0, 6, 4, 4, 4, 1, 1]]]],
    sweeps: [...payload.sweeps, [[7], [4], [0], [5], 1, 0]],
    phases: [[-1, 1, 3], [0, 4, 8], [1, 9, 9]],
    labels: ["backward 1 from y", "backward 2 from dy"],
  });
  assert.deepEqual(nested.phases.map(({ label, first, last }) => [label, first, last]), [
    ["forward", 1, 3], ["backward 1 from y", 4, 8], ["backward 2 from dy", 9, 9],
  ]);
  assert.deepEqual(nested.steps.map((step) => step.within), [-1, -1, -1, -1, 0, -1, -1, 0, -1]);
  assert.ok(liveLine(nested, fold(nested, 5)).startsWith("Step 5 of 9, run by backward 1 from y: sin; from x = 3 makes"));
  assert.equal(counter(nested, fold(nested, 9)), "Step 9 of 9 · backward 2 from dy");
});
