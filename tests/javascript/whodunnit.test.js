// Whodunnit: points, suspects that are left, and the question that was worth asking.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bestQuestion, scoreOf, stillPossible } from "../../autodiff_lab/widgets/whodunnit/game.js";

const suspect = (/** @type {string} */ code) => ({ code, idea: "" });
const facts = {
  title: "", program: "", culprit: 1, first: 0, right: [21, 7, 1],
  questions: ["x", "y", "a"].map(name => ({ name, at: "" })),
  suspects: ["OVERWRITE", "CLOSED", "EARLY"].map(suspect),
  answers: [[6, 2, 1], [6, 7, 1], [27, 7, 1]],
};

test("a question costs a point and a wrong accusation three, and nobody falls below zero", () => {
  assert.equal(scoreOf(facts, [0], []), 10);
  assert.equal(scoreOf(facts, [0, 1, 2], [0, 1]), 5);
  assert.equal(scoreOf(facts, [0], [0, 0, 0, 2]), 0);
});

test("suspects that give the same numbers stay possible", () => {
  assert.deepEqual(stillPossible(facts, [0]), [0, 1]);
  assert.deepEqual(stillPossible(facts, [0, 1]), [1]);
  assert.deepEqual(stillPossible(facts, [2]), [0, 1, 2]);
});

test("the best question leaves the fewest suspects at worst", () => {
  assert.deepEqual(bestQuestion(facts, [0, 1]), { question: 1, left: 1 });
  assert.deepEqual(bestQuestion(facts, [0, 1, 2]), { question: 0, left: 2 });
});
