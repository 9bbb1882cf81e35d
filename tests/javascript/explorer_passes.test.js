// Several backward passes: which there are, which of them comes to a node, and the gradients of each.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fold, gradientOf } from "../../autodiff_lab/widgets/explorer/fold.js";
import { passName, passesOf, reachOf } from "../../autodiff_lab/widgets/explorer/passes.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { payload, there } from "./explorer_sample.js";

// A second pass over the same program, from sin x.
const [THREE, , , , ONE, COSINE] = [0, 1, 2, 3, 4, 5];
const two = {
  ...payload,
  steps: [...payload.steps, [1, 1, [ONE], [[0, 0, COSINE, COSINE, COSINE, 1, 1]]]],
  sweeps: [...payload.sweeps, [[2], [ONE], [0], [COSINE], 1, 0]],
};
const scene = decode(two);
const tensor = (/** @type {number} */ number) => there(scene.tensors.get(number));

test("passes can be chosen where gradients of one would replace those of another", () => {
  assert.deepEqual(passesOf(scene), [0, 1]);
  assert.deepEqual(passesOf(decode(payload)), []);
  const apart = { ...two, tensors: { ...payload.tensors, 6: ["z", "variable", THREE, -1, 0, 1] }, steps: payload.steps, sweeps: [...payload.sweeps, [[6], [ONE], [], [], 1, 0]] };
  assert.deepEqual(passesOf(decode(apart)), []);
});

test("a pass is called by what it finds", () => {
  assert.equal(passName(scene, 0), "1: ∂y/∂(x, w)");
  assert.equal(passName(scene, 1), "2: ∂(sin(x))/∂x");
});

test("a node is coloured by the passes that come to it", () => {
  const { boxes } = there(scene.views.get(""));
  assert.deepEqual(boxes.map((box) => reachOf(scene, [0, 1], box)), ["1+2", "1", "1+2", "1"]);
});

test("gradients of a chosen pass do not give way to those of a later one", () => {
  const latest = fold(scene, scene.last);
  const first = fold(scene, scene.last, 0);
  assert.equal(gradientOf(scene, latest, tensor(0)).value?.short, "−0.99");
  assert.equal(gradientOf(scene, first, tensor(0)).value?.short, "5.01");
  const second = fold(scene, scene.last, 1);
  assert.equal(gradientOf(scene, second, tensor(3)).state, "no path");
  assert.deepEqual([...second.finished], [1]);
  assert.equal(gradientOf(scene, fold(scene, 6, 1), tensor(2)).state, "pending");
});
