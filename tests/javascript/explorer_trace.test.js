// Ways through the graph: ancestors, descendants, paths, twins, cuts, and what a search finds.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fold } from "../../autodiff_lab/widgets/explorer/fold.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import {
  beside, edgesAt, isLost, lineage, pathBetween, placeOfCut, touches, twins, usersOf,
} from "../../autodiff_lab/widgets/explorer/trace.js";
import { search, shapeFrom } from "../../autodiff_lab/widgets/explorer/words.js";
import { payload, there } from "./explorer_sample.js";

const scene = decode(payload);
const view = there(scene.views.get(""));
const [X, SQUARE, SINE, SUM] = [0, 1, 2, 3];
const sorted = (/** @type {Iterable<number>} */ numbers) => [...numbers].sort((a, b) => a - b);

test("a node depends on its inputs and theirs, and along the values everything follows", () => {
  assert.deepEqual(sorted(lineage(view, SINE, -1).boxes), [X, SINE]);
  assert.deepEqual(sorted(lineage(view, SINE, -1).edges), [2]);
  assert.deepEqual(sorted(lineage(view, X, 1).boxes), [X, SQUARE, SINE, SUM]);
  assert.deepEqual(sorted(lineage(view, SQUARE, 1).boxes), [SQUARE, SUM]);
});

test("a path leads from one node to the other, in either order, and holds parallel edges", () => {
  const path = there(pathBetween(view, SUM, X));
  assert.equal(path.boxes.size, 3);
  assert.ok(path.boxes.has(SQUARE));
  assert.deepEqual(sorted(path.edges), [0, 1, 3]);
  assert.equal(pathBetween(view, SQUARE, SINE), null);
  assert.equal(pathBetween(view, SINE, SINE), null);
});

test("circles in a graph, as of a loop that hands on a value, end", () => {
  const round = { ...view, edges: [...view.edges, { ...view.edges[0], source: SUM, target: X }] };
  assert.equal(lineage(round, SQUARE, -1).boxes.size, 4);
  assert.ok(pathBetween(round, SUM, SINE));
});

test("edges meet at a node, inputs first; neighbours are named once", () => {
  assert.deepEqual(edgesAt(view, SQUARE), [0, 1, 3]);
  assert.deepEqual(beside(view, X, 1), [SQUARE, SINE]);
  assert.deepEqual(usersOf(scene, 0).map((user) => user.op.name), ["multiply", "multiply", "sin"]);
});

test("the steps that touch a node: an op runs and is visited, a leaf is read and given gradients", () => {
  assert.deepEqual(touches(scene, view.boxes[SINE]), [2, 5]);
  assert.deepEqual(touches(scene, view.boxes[X]), [1, 2, 5, 6]);
});

test("an op and the ops of its derivative are twins, and so are a variable and its gradient", () => {
  const nodes = payload.views[""].nodes;
  const derived = {
    ...payload,
    applications: { ...payload.applications, 3: [1, [0], [6], 0, 0, 4, "", "", "derivative of sin", 1] },
    tensors: { ...payload.tensors, 6: ["", "output", 0, 3, 0, 1, "cos(x)"], 7: ["", "gradient", 0, -1, 0, 0, "∂y/∂x", 4, 0] },
    views: { "": { ...payload.views[""], nodes: [
      ...nodes, ["a3", "backward op", "cos", "", [6], 3, [], 0, 300, 0, 60, 60], ["t7", "gradient", "∂y/∂x", "", [7], -1, [], 0, 300, 90, 60, 60],
    ] } },
  };
  const more = decode(derived);
  const whole = there(more.views.get(""));
  assert.deepEqual(twins(more, whole, whole.boxes[SINE]), [4]);
  assert.deepEqual(twins(more, whole, whole.boxes[4]), [SINE]);
  assert.deepEqual(twins(more, whole, whole.boxes[X]), [5]);
  assert.deepEqual(twins(more, whole, whole.boxes[5]), [X]);
  assert.deepEqual(twins(more, whole, whole.boxes[SQUARE]), []);
});

test("a cut is on the edge that a gradient does not pass, or on the node whose value left; it shows when the pass is over", () => {
  const lost = decode({ ...payload, cuts: [[0, 0, 2, 2], [1, 0, 3, -1], [2, 0, 5, -1]] });
  const [edge, node, nowhere] = lost.cuts;
  assert.deepEqual(placeOfCut(lost, edge), { view: "", edge: 4, box: -1 });
  assert.deepEqual(placeOfCut(lost, node), { view: "", edge: -1, box: SUM });
  assert.equal(placeOfCut(lost, nowhere), null);
  assert.equal(isLost(fold(lost, 4), [edge]), false);
  assert.equal(isLost(fold(lost, 6), [edge]), true);
});

test("a search takes a shape as people write it, and words that only look like one as words", () => {
  for (const word of ["3x4", "3×4", "3 x 4", "(3, 4)", "[3,4]", "3, 4", "[3×4]"]) assert.equal(shapeFrom(word), "[3×4]");
  assert.equal(shapeFrom("(3,)"), "[3]");
  for (const word of ["3", "x4", "max", "3.5", "()", "(a, b)", "3xx4", "line 3, 4", "", "3x", "("]) assert.equal(shapeFrom(word), "");
  const shaped = decode({ ...payload, kinds: [["float32", "[3×4]"]] });
  assert.equal(search(shaped, "(3, 4)").length, 4);
  assert.equal(search(shaped, "4x3").length, 0);
  assert.deepEqual(search(shaped, "sin").map((one) => one.at), [SINE]);
});
