// Samples and geometry of the function explorer: looking up, filling in, lines with gaps, tangents, hits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { frame } from "../../autodiff_lab/widgets/curve_explorer/layout.js";
import { curve, decimate, hit, runs, through } from "../../autodiff_lab/widgets/curve_explorer/paths.js";
import { after, decode, finerGrid, interpolate, nearest, within } from "../../autodiff_lab/widgets/curve_explorer/samples.js";

/** @typedef {import("../../autodiff_lab/widgets/curve_explorer/samples.js").Mark} Mark */

/** @param {number} lo @param {number} hi @param {number} n @param {((x: number) => number)[]} functions */
function sampled(lo, hi, n, functions) {
  const x = Float64Array.from({ length: n }, (_, i) => lo + ((hi - lo) * i) / (n - 1));
  return { x, rows: functions.map(f => x.map(f)), interpolated: false };
}
/** @type {Mark} */
const kink = { x: 0, kind: "kink", limits: [[0, 0], [-1, 1]] };
const hinge = sampled(-2, 2, 5, [Math.abs, Math.sign]);

test("bytes become rows again", () => {
  const numbers = new Float64Array([1, 2, 3, 10, 20, 30, NaN, 5, 6]);
  const { x, rows } = decode(numbers.buffer, 2);
  assert.deepEqual([...x], [1, 2, 3]);
  assert.deepEqual([...rows[0]], [10, 20, 30]);
  assert.ok(Number.isNaN(rows[1][0]));
});

test("the nearest sample is found, at the ends and in between", () => {
  const x = new Float64Array([0, 1, 2, 10]);
  assert.deepEqual([-9, 0.4, 0.6, 5.9, 6.1, 99].map(value => nearest(x, value)), [0, 0, 1, 2, 3, 3]);
  assert.deepEqual([-1, 1, 1.5, 11].map(value => after(x, value)), [0, 1, 2, 4]);
});

test("the part in view reaches one sample over each edge", () => {
  assert.deepEqual([...within(hinge, -0.5, 0.5).x], [-1, 0, 1]);
});

test("a finer grid contains the coarse one, so that points stay where they are", () => {
  const base = sampled(-5, 5, 401, [Math.sin]);
  assert.equal(finerGrid(base, { lo: -5, hi: 5 }), null);
  const grid = finerGrid(base, { lo: 0.9, hi: 1.1 });
  assert.ok(grid);
  assert.ok(grid.lo <= 0.9 && grid.hi >= 1.1);
  const position = (1 - grid.lo) / grid.step;
  assert.ok(Math.abs(position - Math.round(position)) < 1e-6);
  const halvings = Math.log2(0.025 / grid.step);
  assert.ok(Math.abs(halvings - Math.round(halvings)) < 1e-9);
});

test("without a kernel, values between samples come from values and slopes: good to the fourth order", () => {
  const base = sampled(-5, 5, 401, [Math.sin, Math.cos, x => -Math.sin(x)]);
  const fine = interpolate(base, { lo: 1, hi: 1.1, n: 41 }, []);
  assert.ok(fine.interpolated);
  fine.x.forEach((x, i) => {
    assert.ok(Math.abs(fine.rows[0][i] - Math.sin(x)) < 1e-9);
    assert.ok(Math.abs(fine.rows[1][i] - Math.cos(x)) < 1e-9);
  });
});

test("nothing is interpolated across a kink, whether it sits on a sample or between two", () => {
  const on = interpolate(hinge, { lo: -1, hi: 1, n: 9 }, [kink]);
  on.x.forEach((x, i) => assert.ok(Math.abs(on.rows[0][i] - Math.abs(x)) < 1e-12));
  const shifted = sampled(-2, 2, 4, [x => Math.abs(x - 0.1), x => Math.sign(x - 0.1)]);
  const between = interpolate(shifted, { lo: -0.5, hi: 0.5, n: 11 }, [{ ...kink, x: 0.1 }]);
  between.x.forEach((x, i) => assert.ok(Math.abs(between.rows[0][i] - Math.abs(x - 0.1)) < 1e-12));
});

test("a line is broken at gaps; at a kink f goes on and f' ends on its limits", () => {
  const gap = { ...hinge, rows: [new Float64Array([1, NaN, 3, 4, 5])] };
  assert.deepEqual(runs(gap, 0, []).map(run => run.length), [1, 3]);
  assert.equal(runs(hinge, 0, [kink]).length, 1);
  assert.deepEqual(runs(hinge, 1, [kink]), [[[-2, -1], [-1, -1], [0, -1]], [[0, 1], [1, 1], [2, 1]]]);
});

test("a pole breaks the line and adds no ends", () => {
  /** @type {Mark} */
  const pole = { x: 0.5, kind: "pole", limits: [[null, null], [null, null]] };
  assert.deepEqual(runs(hinge, 0, [pole]).map(run => run.length), [3, 2]);
});

test("many points in one pixel keep the first, the extremes and the last", () => {
  const points = /** @type {[number, number][]} */ ([[0.1, 5], [0.2, 9], [0.3, 1], [0.4, 6], [1.5, 2]]);
  assert.deepEqual(decimate(points), [[0.1, 5], [0.2, 9], [0.3, 1], [0.4, 6], [1.5, 2]]);
  const dense = Array.from({ length: 1000 }, (_, i) => /** @type {[number, number]} */ ([i / 1000, Math.sin(i)]));
  assert.ok(decimate(dense).length <= 4);
});

test("a curve becomes path data, and a lone point a dot", () => {
  const toX = (/** @type {number} */ x) => (x + 2) * 100;
  const toY = (/** @type {number} */ y) => (2 - y) * 50;
  assert.equal(curve(hinge, 0, [], toX, toY), "M0.00,0.00L100.00,50.00L200.00,100.00L300.00,50.00L400.00,0.00");
  const lone = { ...hinge, rows: [new Float64Array([NaN, 1, NaN, NaN, NaN])] };
  assert.equal(curve(lone, 0, [], toX, toY), "M100.00,50.00L100.00,50.00");
});

test("a tangent is cut to the box; vertical, level and missing ones do no harm", () => {
  const box = { left: -1, right: 1, bottom: -1, top: 1 };
  assert.deepEqual(through(0, 0, 2, box), [[-0.5, -1], [0.5, 1]]);
  assert.deepEqual(through(0, 0.5, 0, box), [[-1, 0.5], [1, 0.5]]);
  assert.deepEqual(through(0.25, 0, Infinity, box), [[0.25, -1], [0.25, 1]]);
  assert.equal(through(0, 5, 0, box), null);
  assert.equal(through(0, NaN, 1, box), null);
  assert.equal(through(0, 0, NaN, box), null);
});

test("a press takes the nearest handle in reach, else the point itself", () => {
  const handles = [{ name: "point", x: 100, y: 100 }, { name: "other", x: 110, y: 100 }];
  assert.equal(hit(handles, 108, 101, 24), "other");
  assert.equal(hit(handles, 300, 10, 24), "point");
});

test("panels lie one under the other inside the picture, for every width", () => {
  for (const [width, letters] of [[320, 4], [320, 20], [640, 4], [640, 20], [1040, 20]]) {
    const { height, panels, namesInside } = frame(width, 2, letters);
    const room = width - panels[0].left - panels[0].width;
    assert.ok(namesInside || room >= 7 * letters, "a name fits beside its curve");
    assert.ok(panels[0].width > width / 2);
    assert.equal(panels.length, 3);
    for (const [i, panel] of panels.entries()) {
      assert.ok(panel.left + panel.width < width);
      assert.ok(panel.top + panel.height <= (panels[i + 1]?.top ?? height));
    }
  }
});
