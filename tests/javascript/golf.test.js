// Golf in the page: the same strokes as in the kernel, who never arrives, what is typed, and the axes of the picture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { factorsOf, fitted, heightAt, isIn, parseStep, pathOf, rivalOf, rivalText, scoreText, strokeText } from "../../autodiff_lab/widgets/golf/rules.js";

/** @type {import("../../autodiff_lab/widgets/golf/rules.js").Green} */
const green = { name: "f", hessian: [1, 0, 10], hole: [0, 0], hidden: false, curvatures: [1, 10] };
/** @type {[number, number]} */
const tee = [10, 1];

test("steps 1 and 0.1 hole in two, in either order, and 1 goes up first", () => {
  for (const strokes of [[1, 0.1], [0.1, 1]]) assert.ok(isIn(green, pathOf(green, tee, strokes)[2]));
  assert.equal(heightAt(green, tee), 55);
  assert.equal(heightAt(green, pathOf(green, tee, [1])[1]), 405);
});

test("a fixed length: 45 strokes at best, never from 0.2 on", () => {
  const counts = [0.05, 0.1, 0.15, 2 / 11, 0.19, 0.2, 0.21].map(h => rivalOf(green, tee, h).count);
  assert.deepEqual(counts, [173, 85, 55, 45, 74, null, null]);
  assert.ok(rivalText(green, tee, 0.2).includes("is not in after 200: f = 5 then"));
  assert.ok(rivalText(green, tee, 0.1).endsWith("needs 85 strokes."));
});

test("another hole and tilted directions are played alike", () => {
  const tilted = { ...green, hessian: /** @type {[number, number, number]} */ ([5, 2, 2]), hole: /** @type {[number, number]} */ ([1, -1]), curvatures: /** @type {[number, number]} */ ([1, 6]) };
  assert.ok(isIn(tilted, pathOf(tilted, tee, [1 / 6, 1])[2]));
});

test("factors are written with the curvature, unless it is for the player to find", () => {
  assert.deepEqual(factorsOf(green, 0.5), [{ text: "1 − h", value: 0.5 }, { text: "1 − 10h", value: -4 }]);
  assert.deepEqual(factorsOf({ ...green, hidden: true }, 0.1).map(({ text }) => text), ["1 − a·h", "1 − b·h"]);
});

test("lengths may be typed as fractions", () => {
  assert.deepEqual(["0.1", " 2/11 ", "0,5", "−1", "1/0", "", "1/2/3", "abc", "1/"].map(parseStep), [0.1, 2 / 11, 0.5, -1, null, null, null, null, null]);
});

test("the twin in words", () => {
  assert.equal(strokeText(green, 2, 0.1, [0, 1e-16]), "stroke 2: 0.1 to (0, 0), f = 0");
  assert.equal(scoreText(2, 3), "In the hole after 2 strokes, 1 under par.");
  assert.equal(scoreText(3, 3), "In the hole after 3 strokes, on par.");
});

test("fitted axes hold every point, with one scale", () => {
  const { x, y } = fitted([[10, 1], [0, 0], [0, -9]], 800, 400);
  assert.ok(Math.abs((x.hi - x.lo) / 800 - (y.hi - y.lo) / 400) < 1e-9);
  assert.ok(x.lo < 0 && x.hi > 10 && y.lo < -9 && y.hi > 1);
  const alone = fitted([[2, 2]], 100, 100);
  assert.ok(alone.x.hi > alone.x.lo);
});
