// Folds that are open in place: room is made for them, nothing is covered, and edges go on to the nodes inside.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Folds } from "../../autodiff_lab/widgets/explorer/folds.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { frameOf, unfolded, widened } from "../../autodiff_lab/widgets/explorer/unfold.js";
import { pointsOf } from "../../autodiff_lab/widgets/explorer/viewport.js";
import { payload, there } from "./explorer_sample.js";

/** @import { Box } from "../../autodiff_lab/widgets/explorer/scene.js" */

// x → [square] → [double] → +, and x → +; a node each in the two scopes, and one above the first that must not be covered.
const leaf = ["t0", "variable", "x", "", [0], -1, [], 0, 0, 100, 60, 40];
const node = (/** @type {number} */ index, /** @type {number} */ x, /** @type {number} */ y, outside = 0) => (
  [`a${index}`, "op", "op", "", [index + 1], index, [], outside, x, y, 60, 40]);
const fold = (/** @type {string} */ path, /** @type {number} */ index, /** @type {number} */ x, outside = 0) => (
  [`s${path}`, "scope", path, "", [index + 1], -1, [index], outside, x, 100, 60, 40]);
const edge = (/** @type {number} */ source, /** @type {number} */ target, /** @type {number} */ tensor, /** @type {number[]} */ [x, y, to, down]) => (
  [source, target, tensor, 0, `M${x} ${y}C${x + 20} ${y} ${to - 20} ${down} ${to} ${down}`]);
const { 0: product, 1: sine, 2: sum } = /** @type {Record<string, any[]>} */ (payload.applications);
const scene = decode({
  ...payload,
  scopes: ["", "square", "double"],
  applications: { 0: [...product.slice(0, 4), 1, ...product.slice(5)], 1: [1, [1], [2], 0, 2, 2, "", ""], 2: [sum[0], [2, 0], [3], 0, 0, 3, "", ""], 3: [...sine] },
  loops: [],
  views: {
    "": {
      nodes: [leaf, fold("square", 0, 100), ["t4", "constant", "4", "", [4], -1, [], 0, 100, 30, 60, 40], fold("double", 1, 200), node(2, 300, 100)],
      edges: [edge(0, 1, 0, [60, 110, 100, 110]), edge(1, 3, 1, [160, 120, 200, 120]), edge(3, 4, 2, [260, 120, 300, 110]), edge(0, 4, 0, [60, 130, 300, 130])],
      size: [360, 160],
    },
    square: { nodes: [leaf, node(0, 100, 90), node(2, 330, 90, 1), fold("double", 1, 230, 1)], edges: [edge(0, 1, 0, [60, 110, 100, 110]), edge(1, 3, 1, [160, 110, 230, 120])], size: [400, 200] },
    double: { nodes: [fold("square", 0, 0, 1), node(1, 100, 100), node(2, 200, 100, 1)], edges: [edge(0, 1, 1, [60, 120, 100, 120]), edge(1, 2, 2, [160, 120, 200, 120])], size: [260, 200] },
  },
});

const parted = (/** @type {Box} */ a, /** @type {Box} */ b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
const holds = (/** @type {Box} */ a, /** @type {Box} */ b) => a.x <= b.x && a.y <= b.y && a.x + a.width >= b.x + b.width && a.y + a.height >= b.y + b.height;

test("without an open fold the view is the one that was laid out", () => {
  assert.equal(unfolded(scene, "", new Set()), scene.views.get(""));
  assert.equal(unfolded(scene, "", new Set(["nothing"])), scene.views.get(""));
});

test("making room brings nothing closer together", () => {
  const line = widened([[100, 60, 200], [120, 20, 10], [300, 50, 90]]);
  assert.equal(line(100), 100);
  assert.equal(line(160), 300);
  assert.equal(line(350) - line(300), 90);
  for (let at = 0; at < 400; at += 7) assert.ok(line(at + 7) - line(at) >= 7 - 1e-9);
});

test("two folds open side by side, each around its own nodes, and no box covers another", () => {
  const view = unfolded(scene, "", new Set(["square", "double"]));
  const frames = view.boxes.filter(({ kind }) => kind === "frame");
  assert.deepEqual(frames.map(({ key }) => key), ["ssquare", "sdouble"]);
  const inner = there(view.boxes.find(({ key }) => key === "a0"));
  assert.ok(holds(frames[0], inner));
  assert.equal(frameOf(view, inner.at)?.key, "ssquare");
  for (const one of view.boxes) for (const other of view.boxes) assert.ok(one === other || parted(one, other) || holds(one, other) || holds(other, one), `${one.key} ${other.key}`);
  assert.ok(view.boxes.every((box, at) => box.at === at && box.x >= 0 && box.y >= 0 && box.x + box.width <= view.width && box.y + box.height <= view.height));
});

test("an edge goes on to the node inside, from fold to fold too; its ends are on the boxes", () => {
  const view = unfolded(scene, "", new Set(["square", "double"]));
  const ends = view.edges.map(({ source, target, tensor }) => [view.boxes[source].key, view.boxes[target].key, tensor].join(" "));
  assert.deepEqual(ends.sort(), ["a0 a1 1", "a1 a2 2", "t0 a0 0", "t0 a2 0"]);
  for (const { source, target, path } of view.edges) {
    const points = pointsOf(path);
    const [from, to] = [view.boxes[source], view.boxes[target]];
    assert.ok(Math.abs(points[0][0] - from.x - from.width) < 1.5, path);
    assert.ok(Math.abs(points[points.length - 1][0] - to.x) < 1.5, path);
    assert.equal(points.length % 3, 1);
  }
});

test("a line between nodes inside keeps away from the rim", () => {
  const around = { ...there(scene.views.get("square")), boxes: there(scene.views.get("square")).boxes.map((box) => ({ ...box, outside: false })) };
  around.edges = [...around.edges, { ...around.edges[0], source: 1, target: 1, path: "M160 110C190 110 190 180 130 180" }];
  const view = unfolded({ ...scene, views: new Map([...scene.views, ["square", around]]) }, "", new Set(["square"]));
  const frame = there(view.boxes.find(({ kind }) => kind === "frame"));
  const loop = view.edges.filter(({ source, target }) => source === target).flatMap(({ path }) => pointsOf(path));
  assert.ok(loop.length && loop.every(([x, y]) => x <= frame.x + frame.width - 12 && y <= frame.y + frame.height - 12));
});

test("a neighbour that the picture shows already is not drawn again inside", () => {
  const keys = unfolded(scene, "", new Set(["square"])).boxes.map(({ key }) => key);
  assert.deepEqual(keys.filter((key) => key === "t0" || key === "sdouble"), ["t0", "sdouble"]);
});

/** @param {string[]} unfolded */
function folds(unfolded) {
  const state = { unfolded };
  const model = /** @type {any} */ ({ get: () => state.unfolded, set: (/** @type {string} */ _, /** @type {string[]} */ paths) => { state.unfolded = paths; }, save_changes: () => {} });
  const turns = ["step 1", "step 2", "step 2/net"];
  const looped = { ...scene, loops: [["step 1", "step 2"]], views: new Map([...turns, "step 1/net", "other"].map((path) => [path, /** @type {any} */ ({ why: "" })])) };
  return { state, made: new Folds(/** @type {any} */ ({ scene: looped, model })) };
}

test("an open loop goes along to the iteration of the step, with what is open in it", () => {
  const { state, made } = folds(["step 1", "step 1/net", "other"]);
  made.follow("step 2/net");
  assert.deepEqual(state.unfolded, ["step 2", "step 2/net", "other"]);
  made.follow("elsewhere");
  assert.deepEqual(state.unfolded, ["step 2", "step 2/net", "other"]);
});

test("what is sought is shown in place, in its own iteration", () => {
  const { state, made } = folds(["step 1"]);
  made.reveal("step 2/net");
  assert.deepEqual(state.unfolded, ["step 2", "step 2/net"]);
});

test("lines with ops share the places of their ops, others have their text", () => {
  const { source, applications } = decode({ ...payload, source: [["cell 3", [[1, 0, "for x in xs:"], [2, 4, 0]]]] });
  assert.deepEqual(source[0].lines.map(({ number, text }) => `${number} ${text}`), ["1 for x in xs:", "2     y = x * x + lab.sin(x)"]);
  assert.equal(source[0].lines[1].place, there(applications.get(0)).place);
  assert.equal(source[0].lines[0].place, null);
});
