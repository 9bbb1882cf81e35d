// What belongs together in the program explorer, and where its keys lead.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING, followed, itemsOf, loopOf, markOf, nextLoop, walked } from "../../autodiff_lab/widgets/program/links.js";

// x, c; a = x + c, b = a · a (both in one loop), d = a @ b.
/** @type {import("../../autodiff_lab/widgets/program/links.js").ProgramFacts} */
const facts = {
  title: "", summary: "", why: "", reasons: [], cut: "", drawing: "", absent: "", sentences: [], program: [], source: [],
  ops: [2, 3, 4], ins: [[], [], [0, 1], [2], [2, 3]], loops: [["loop_1", [2, 3]]],
};
const LOOP = 5;

test("a mark is an item, a loop, or nothing", () => {
  assert.deepEqual(itemsOf(facts, 3), [3]);
  assert.deepEqual(itemsOf(facts, LOOP), [2, 3]);
  assert.deepEqual(itemsOf(facts, NOTHING), []);
});

test("the items of a line mean an item, or the loop that they are", () => {
  assert.equal(markOf(facts, [3]), 3);
  assert.equal(markOf(facts, [2, 3]), LOOP);
  assert.equal(markOf(facts, [2, 3, 4]), 2); // several results that are not a loop: the first
  assert.equal(markOf(facts, []), NOTHING);
});

test("the loop of an item", () => {
  assert.equal(loopOf(facts, 3), 0);
  assert.equal(loopOf(facts, 4), -1);
});

test("down and up walk through the ops, stop at the ends, and leave a loop at its ends", () => {
  assert.equal(walked(facts, NOTHING, 1), 2);
  assert.equal(walked(facts, NOTHING, -1), 4);
  assert.equal(walked(facts, 2, 1), 3);
  assert.equal(walked(facts, 4, 1), 4);
  assert.equal(walked(facts, 2, -1), 2);
  assert.equal(walked(facts, LOOP, 1), 4);
  assert.equal(walked({ ...facts, ops: [] }, 0, 1), NOTHING);
});

test("right and left follow the edges", () => {
  assert.equal(followed(facts, 0, 1), 2);
  assert.equal(followed(facts, 4, 1), 4);
  assert.equal(followed(facts, 4, -1), 2);
  assert.equal(followed(facts, 0, -1), 0);
  assert.equal(followed(facts, LOOP, 1), 4);
  assert.equal(followed(facts, LOOP, -1), 0);
});

test("l goes round the loops, and stays where there is none", () => {
  assert.equal(nextLoop(facts, 0), LOOP);
  assert.equal(nextLoop(facts, LOOP), LOOP);
  const two = { ...facts, loops: [...facts.loops, /** @type {[string, number[]]} */ (["loop_2", [4]])] };
  assert.equal(nextLoop(two, LOOP), LOOP + 1);
  assert.equal(nextLoop(two, LOOP + 1), LOOP);
  assert.equal(nextLoop({ ...facts, loops: [] }, 3), 3);
});
