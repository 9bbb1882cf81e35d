// The drill of shapes: what fits, what is summed, and what is explained.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ShapeDrill, fitShapes, readNumbers, shapeWords, summedAxes } from "../../autodiff_lab/widgets/shape_drill/drill.js";

test("shapes fit from the right", () => {
  assert.deepEqual(fitShapes([3, 1], [4]), [3, 4]);
  assert.deepEqual(fitShapes([], [2, 3]), [2, 3]);
  assert.equal(fitShapes([2, 3], [2]), null);
  assert.deepEqual(summedAxes([3, 1], [3, 4]), [1]);
  assert.deepEqual(summedAxes([4], [3, 4]), [0]);
  assert.deepEqual(summedAxes([], [2, 3]), [0, 1]);
  assert.deepEqual(summedAxes([2, 3], [2, 3]), []);
});

test("numbers are read as people write them", () => {
  for (const text of ["3 4", "(3, 4)", "[3,4]", "3×4", " 3x4 "]) assert.deepEqual(readNumbers(text), [3, 4], text);
  assert.deepEqual(readNumbers("−1"), [-1]);
  assert.deepEqual(readNumbers(""), []);
  for (const text of ["three", "3.5", "<b>", "1e3", "99999"]) assert.equal(readNumbers(text), null, text);
  assert.equal(shapeWords([3]), "(3,)");
});

test("a drill asks for the shape, then for the axes, and explains a miss", () => {
  const drill = new ShapeDrill([{ a: [3, 1], b: [4], to: "a" }, { a: [2, 3], b: [2], to: "b" }, { a: [2, 2], b: [2, 2], to: "b" }]);
  assert.equal(drill.answer("what?"), null);
  assert.equal(drill.answer(""), null, "no shape is not a shape");
  assert.equal(drill.asked, 0);
  assert.deepEqual(drill.answer("3 1"), { right: false, words: ["The sum has the shape (3, 4).", "From the right: 1 and 4 give 4; 3 and nothing give 3."] });
  assert.equal(drill.asks, "axes");
  assert.equal(drill.answer("-1")?.right, true, "axes may be counted from the end");
  assert.equal(drill.at, 1);
  assert.deepEqual(drill.answer("2 3"), { right: false, words: ["They do not fit.", "From the right: 3 and 2 do not fit, because neither is 1; 2 and nothing give 2."] });
  assert.equal(drill.at, 2, "what does not fit has no way back");
  assert.equal(drill.answer("x")?.right, false);
  assert.equal(drill.asks, "axes");
  assert.equal(drill.answer("")?.right, true, "none");
  assert.equal(drill.isOver, true);
  assert.equal(drill.answer("1"), null);
  assert.deepEqual([drill.right, drill.asked], [2, 5]);
});

test("axes that are missed are explained one by one", () => {
  const drill = new ShapeDrill([{ a: [2, 1, 4], b: [3, 1], to: "b" }]);
  assert.equal(drill.answer("2 3 4")?.right, true);
  assert.deepEqual(drill.answer("0"), { right: false, words: ["Summed: axis 0, which b does not have; axis 2, where b has 1 and the result 4."] });
});
