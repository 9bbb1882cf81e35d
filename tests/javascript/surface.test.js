// Pictures of two numbers in the page: curvatures and their ellipse, axes of one scale, and the words at a point.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bendsOf, ellipseAt } from "../../autodiff_lab/widgets/surface/paper.js";
import { knownAt, stepText } from "../../autodiff_lab/widgets/surface/sentences.js";

const near = (/** @type {number} */ one, /** @type {number} */ other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);

test("curvatures are the eigenvalues, the smaller first, with its direction", () => {
  assert.deepEqual(bendsOf([1, 0, 10]).values, [1, 10]);
  const { values, along: [ux, uy] } = bendsOf([5, 2, 2]);
  near(values[0], 1);
  near(values[1], 6);
  near(5 * ux + 2 * uy, values[0] * ux);
  near(2 * ux + 2 * uy, values[0] * uy);
});

test("on the ellipse the second-order part has one value, and it reaches as far as it may", () => {
  for (const [a, b, c] of /** @type {import("../../autodiff_lab/widgets/surface/paper.js").Hessian[]} */ ([[1, 0, 10], [5, 2, 2], [3, -1, 1]])) {
    const layer = ellipseAt([2, 3], [a, b, c], 4);
    assert.ok(layer && !layer.dashed);
    const [dx, dy] = [layer.x.map(x => x - 2), layer.y.map(y => y - 3)];
    const values = dx.map((p, i) => a * p * p + 2 * b * p * dy[i] + c * dy[i] * dy[i]);
    values.forEach(value => near(value / values[0], 1));
    near(Math.max(...dx.map((p, i) => Math.hypot(p, dy[i]))), 4);
  }
  assert.equal(ellipseAt([0, 0], [1, 0, -1], 1)?.dashed, true);
  assert.equal(ellipseAt([0, 0], [0, 0, 0], 1), null);
  assert.equal(ellipseAt([0, 0], [NaN, 0, 1], 1), null);
});

test("words say what is known, and what is missing", () => {
  assert.equal(knownAt([10, 1, 55, 10, 10, 1, 0, 10]), "at (10, 1): f = 55, gradient (10, 10), curvatures 1 and 10");
  assert.equal(knownAt([0, 1, null, null, null, null, null, null]), "at (0, 1): f = nan, no gradient");
  const path = { name: "SGD", role: "forward", rows: [[1, 0, 1, 2, 0, 2, 0, 2], [0, 0, 0, 0, 0, 2, 0, 2]] };
  assert.equal(stepText(path, 1), "SGD, step 1 of 1, at (0, 0): f = 0, gradient (0, 0), curvatures 2 and 2.");
  assert.ok(stepText(path, 5).startsWith("SGD, step 1 of 1 (its last one)"));
});
