import assert from "node:assert/strict";
import { test } from "node:test";

import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { rounded, roundingOf } from "../../autodiff_lab/widgets/running/arrays.js";
import { Changes } from "../../autodiff_lab/widgets/running/changes.js";
import {} from "../../autodiff_lab/widgets/running/families.js";
import { Program } from "../../autodiff_lab/widgets/running/program.js";
import { moved, numberFrom, stepOfNumber } from "../../autodiff_lab/widgets/running/steps.js";
import { describe, fullOf } from "../../autodiff_lab/widgets/running/wording.js";
import { payload } from "./explorer_sample.js";

// The program of the sample: y = x·x + sin x, and its backward pass as the rules ran it; 4 is a seed of ones.
const running = {
  kinds: [["float32", []], ["bool", []]],
  tensors: [[0, [3]], [0], [0], [0], [0, [2]], [0, [1]], [0, [1]], [0], [0], [0], [0], [0], [0], [1]],
  ops: [["multiply", ["*", 0, 1]], ["sin", ["sin", 0]], ["add", ["+", 0, 1]], ["cos", ["cos", 0]], ["greater", [">", 0, 1]], ["unheard_of"]],
  runs: [
    [0, [0, 0], [1]], [1, [0], [2]], [2, [1, 2], [3]],
    [3, [0], [7], {}, 1], [0, [6, 7], [8], {}, 1],
    [0, [6, 0], [9], {}, 0], [2, [8, 9], [10], {}, 0], [0, [6, 0], [11], {}, 0], [2, [10, 11], [12], {}, 0],
    [4, [3, 4], [13]],
  ],
  steps: [[], [], [], [[6], [[6, 6], [6, 6]], 2], [[6], [[8, 8]], 1], [[6], [[9, 10], [11, 12]], 0]],
  sweeps: [[[6], [12, -1]]],
  reads: [[13, "bool", "cell 3, line 2"]],
};

/** @param {any} [given] */
function changesOf(given = running) {
  const scene = decode(payload);
  return { scene, changes: new Changes(scene, given, given.off ? null : new Program(given)) };
}

test("a changed input is followed forward and backward", () => {
  const { scene, changes } = changesOf();
  assert.ok(changes.set(0, [2]));
  assert.equal(scene.tensors.get(1)?.value.short, "4");
  assert.equal(scene.tensors.get(3)?.value.short, "4.909");
  const [, , , , sine, square] = scene.steps;
  assert.equal(sine.flows[0].outgoing.short, "−0.4161");
  assert.equal(square.flows[1].total.short, "3.584");
  assert.equal(scene.sweeps[0].results[0]?.short, "3.584");
  changes.prepare(square);
  assert.deepEqual(square.flows.map((flow) => flow.local?.short), ["2", "2"]);
});

test("the way back restores every recorded value", () => {
  const { scene, changes } = changesOf();
  const before = JSON.stringify([...scene.tensors.values()].concat(/** @type {any} */ (scene.steps)));
  changes.set(0, [-7.5]);
  changes.prepare(scene.steps[5]);
  assert.notEqual(JSON.stringify([...scene.tensors.values()].concat(/** @type {any} */ (scene.steps))), before);
  changes.set(0, [3]);
  changes.prepare(scene.steps[5]);
  assert.equal(JSON.stringify([...scene.tensors.values()].concat(/** @type {any} */ (scene.steps))), before);
  assert.equal(changes.made.size, 0);
});

test("an answer of the program that is not so any more is said", () => {
  const { changes } = changesOf();
  changes.set(0, [2.5]);
  assert.deepEqual(changes.remarks(), []);
  changes.set(0, [0.5]);
  const [remark] = changes.remarks();
  assert.match(remark, /cell 3, line 2: the program asked whether .* is true; it was True, now False: Python might have gone another way/);
});

test("what has no twin is said, and the rest follows", () => {
  const runs = running.runs.map((run, at) => (at === 1 ? [5, [0], [2]] : run));
  const { scene, changes } = changesOf({ ...running, runs });
  changes.set(0, [2]);
  assert.equal(scene.tensors.get(1)?.value.short, "4");
  assert.equal(scene.tensors.get(2)?.value.short, "?");
  assert.equal(scene.tensors.get(3)?.value.short, "?");
  assert.match(changes.remarks().join(), /unheard_of is not computed in the page/);
});

test("a backward pass whose ops were not recorded is not passed off as new", () => {
  const { scene, changes } = changesOf({ ...running, runs: running.runs.slice(0, 3), stale: [8, 9, 10, 11, 12] });
  changes.set(0, [2]);
  assert.equal(scene.tensors.get(3)?.value.short, "4.909");
  assert.equal(scene.sweeps[0].results[0]?.short, "?");
  assert.match(changes.remarks().join(), /the backward pass is not computed in the page: its ops were not recorded/);
});

test("without a program nothing can be changed, and it is said why", () => {
  const { scene, changes } = changesOf({ off: "This recording has 1,000,000 numbers." });
  assert.equal(changes.canChange(scene.tensors.get(0)), false);
  assert.match(changes.off, /1,000,000/);
});

test("numbers are rounded as their dtype holds them", () => {
  assert.equal(roundingOf("float32")(0.1), Math.fround(0.1));
  assert.equal(roundingOf("float16")(0.1), 0.0999755859375);
  assert.equal(roundingOf("bfloat16")(0.1), 0.10009765625);
  assert.equal(roundingOf("float16")(1e6), Infinity);
  assert.equal(roundingOf("int8")(130), -126);
  assert.equal(roundingOf("uint8")(-1), 255);
  assert.throws(() => roundingOf("int64")(2 ** 60), /2\^53/);
  assert.throws(() => roundingOf("complex64"), /complex64/);
});

test("what is typed becomes a number, or not", () => {
  assert.deepEqual([" 2.5 ", "−3", "1e-3", ".5", "1,5", "1,000,000", "inf", "-Infinity"].map(numberFrom), [2.5, -3, 0.001, 0.5, 1.5, 1e6, Infinity, -Infinity]);
  assert.ok(Number.isNaN(numberFrom("nan")));
  assert.deepEqual(["", "abc", "1,234", "0x10", "1e", "--1"].map(numberFrom), [null, null, null, null, null, null]);
});

test("steps are decimal, and leave no noise", () => {
  assert.deepEqual([3, 0, 0.02, -1500, Infinity].map((value) => stepOfNumber(value, false)), [0.01, 0.01, 0.0001, 10, 0.01]);
  assert.equal(stepOfNumber(7, true), 1);
  assert.equal(moved(0.1, 0.01, 20), 0.3);
  assert.ok(Object.is(moved(0.3, 0.1, -3), 0));
});

test("computed values are worded as recorded ones", () => {
  const of = (/** @type {number[]} */ numbers, dtype = "float32") => rounded({ dtype, shape: [numbers.length] }, numbers);
  const words = (/** @type {any} */ x) => describe(x, x, false);
  assert.equal(words(of([1, -2.5])).short, "[1, −2.5]");
  assert.equal(words(of([1, -2.5])).full, "[1.0, -2.5]");
  assert.equal(words(of([1, 0], "bool")).short, "[True, False]");
  assert.equal(words(of([1, NaN])).mark, "nan");
  assert.equal(words(of([0, -0])).mark, "zero");
  const ramp = words(of([-1, -0.5, 0, 0.5, 1, 0, 0, 0]));
  assert.equal(ramp.short, "mean 0, spread 0.56 [8]");
  assert.deepEqual(ramp.cells, [-1, -0.5, 0, 0.5, 1, 0, 0, 0]);
  assert.equal(words(of(Array(9).fill(2))).short, "all 2 [9]");
  assert.equal(words(of([0.123456, -1.5, 0.98765, 12.3, 1e-9])).small, "[0.123, −1.5, 0.988, 12.3, 1e−9]");
  assert.equal(describe(of([...Array(200).keys()]), { dtype: "float32", shape: [200] }, true).bars?.length, 16);
  assert.equal(fullOf(Math.fround(0.1), "float32"), "0.1");
  assert.equal(fullOf(1e-7, "float64"), "1e-07");
});
