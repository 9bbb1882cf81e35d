// Edges around an open fold: they keep their ends, leave the frame alone, and lie beside each other.

import assert from "node:assert/strict";
import { test } from "node:test";

import { detour, runsThrough } from "../../autodiff_lab/widgets/explorer/detour.js";

/** @typedef {[number, number]} Point */
const frame = /** @type {import("../../autodiff_lab/widgets/explorer/scene.js").Box} */ (/** @type {unknown} */ ({ x: 100, y: 100, width: 400, height: 200 }));
const straight = (/** @type {Point} */ from, /** @type {Point} */ to) => /** @type {Point[]} */ (
  [0, 1 / 3, 2 / 3, 1].map((share) => [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]));

test("only a line through a frame runs through it", () => {
  assert.ok(runsThrough(straight([0, 200], [600, 200]), frame));
  assert.ok(!runsThrough(straight([0, 50], [600, 50]), frame));
  assert.ok(!runsThrough(straight([0, 200], [99, 200]), frame), "it ends at the rim");
});

test("a line goes around with the same ends, wherever these are and whichever way the picture runs", () => {
  const ends = /** @type {[Point, Point][]} */ ([
    [[0, 200], [600, 200]], [[0, 200], [300, 400]], [[0, 280], [600, 150]], [[0, 150], [300, 40]], [[50, 350], [600, 110]],
  ]);
  for (const [from, to] of ends) {
    for (const down of [false, true]) {
      const turn = (/** @type {Point} */ [x, y]) => /** @type {Point} */ (down ? [y, x] : [x, y]);
      const turned = down ? /** @type {typeof frame} */ ({ ...frame, width: frame.height, height: frame.width }) : frame;
      const [start, end] = [turn(from), turn(to)];
      const points = detour(straight(start, end), turned, 0, down);
      assert.deepEqual([points[0], points[points.length - 1]], [start, end]);
      assert.equal(points.length % 3, 1, "pieces of a Bezier curve");
      assert.ok(!runsThrough(points, turned), `${from} to ${to}${down ? ", down" : ""}`);
    }
  }
});

test("several lines lie beside each other", () => {
  const heights = [0, 1, 2].map((lane) => Math.max(...detour(straight([0, 250], [600, 250]), frame, lane, false).map(([, y]) => y)));
  assert.deepEqual(heights, [314, 320, 326]);
});
