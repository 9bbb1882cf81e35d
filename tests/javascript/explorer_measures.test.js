// The numbers that colour nodes, and the bytes that a step holds.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bytesText, levels, measured, writeMeasure } from "../../autodiff_lab/widgets/explorer/measures.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { payload, there } from "./explorer_sample.js";

const scene = decode({ ...payload, measures: { bytes: { 0: 4, 1: 4, 2: 4, 3: 4, 4: 4, 5: 4 }, entropy: { 1: 3, 2: -1 } } });
const boxes = there(scene.views.get("")).boxes;

test("a box has the number of its tensor, a folded one the bytes of all and else the largest number", () => {
  assert.equal(measured(scene, "entropy", boxes[1]), 3);
  assert.equal(measured(scene, "entropy", boxes[0]), null);
  assert.equal(measured(scene, "no such", boxes[1]), null);
  const folded = { ...boxes[1], tensors: [3], application: -1, members: [0, 1, 2] };
  assert.equal(measured(scene, "bytes", folded), 12);
  assert.equal(measured(scene, "entropy", folded), 3);
  const timed = decode({ ...payload, measures: { "forward time": { 1: 2e-6, 2: 3e-6, 3: 5e-3 } } });
  assert.equal(measured(timed, "forward time", folded), 5e-3 + 2e-6 + 3e-6);
});

test("positive numbers are shaded by their logarithm, others as they are", () => {
  assert.deepEqual(levels([1, 10, 100, null]), [1, 3, 5, 0]);
  assert.deepEqual(levels([0, 1, 100]), [1, 1, 5]);
  assert.deepEqual(levels([-1, 0, 1]), [1, 3, 5]);
  assert.deepEqual(levels([7, 7]), [3, 3]);
  assert.deepEqual(levels([]), []);
  assert.deepEqual(levels([null]), [0]);
});

test("bytes have a unit", () => {
  assert.deepEqual([0, 999, 1000, 2048, 5e6, 3e9, 4e12].map(bytesText), ["0 B", "999 B", "1 kB", "2.05 kB", "5 MB", "3 GB", "4000 GB"]);
  assert.equal(writeMeasure("bytes", 12), "12 B");
  assert.equal(writeMeasure("value norm", -0.123456), "−0.123");
});

test("times have a unit", () => {
  assert.deepEqual([2.5e-6, 3.14159e-3, 2, 0].map((seconds) => writeMeasure("backward time", seconds)), ["2.5 µs", "3.14 ms", "2 s", "0 µs"]);
});
