// The explorer's state without a page: stepping, zooming, asking for finer samples, and what it says about itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keyAction } from "../../autodiff_lab/widgets/curve_explorer/controls.js";
import { averageRate, pointSentence, secantSentence, statusSentence, tableRows, valueWord } from "../../autodiff_lab/widgets/curve_explorer/sentences.js";
import { logHeights } from "../../autodiff_lab/widgets/plotting/view.js";
import { State } from "../../autodiff_lab/widgets/curve_explorer/state.js";

/** @param {Partial<import("../../autodiff_lab/widgets/curve_explorer/state.js").Facts>} [changed] */
function cubic(changed = {}) {
  const facts = {
    ...{ name: "f", names: ["f(x)", "f′(x)", "f″(x)"], variable: "x", title: "f", notes: [], marks: [] },
    ...{ lo: -2, hi: 2, narrowest: 1e-6, clip: false, live: false },
    ...changed,
  };
  return new State(facts, bytes(-2, 2, 401).buffer, { x: 1, other: 2, order: 1, secant: false });
}

/** @param {number} lo @param {number} hi @param {number} n */
function bytes(lo, hi, n) {
  const x = Array.from({ length: n }, (_, i) => lo + ((hi - lo) * i) / (n - 1));
  return new Float64Array([...x, ...x.map(v => v ** 3), ...x.map(v => 3 * v * v), ...x.map(v => 6 * v)]);
}

test("keys move the point by one sample, by ten, and to the ends", () => {
  const state = cubic();
  const press = (/** @type {string} */ key, shiftKey = false) => keyAction(state, { key, shiftKey }, "point")?.();
  press("ArrowRight");
  assert.ok(Math.abs(state.point.x - 1.01) < 1e-12);
  press("ArrowLeft", true);
  assert.ok(Math.abs(state.point.x - 0.91) < 1e-12);
  press("End");
  assert.equal(state.point.x, 2);
  press("ArrowRight");
  assert.equal(state.point.x, 2);
  press("Home");
  assert.equal(state.point.x, -2);
  assert.equal(keyAction(state, { key: "q", shiftKey: false }, "point"), null);
});

test("the slope at the point is the sample's, never a difference", () => {
  const state = cubic();
  assert.deepEqual(state.point.values, [1, 3, 6]);
  assert.equal(averageRate(state.point, state.other), 7);
  assert.ok(Number.isNaN(averageRate(state.point, state.point)));
});

test("looking closer without a kernel interpolates and keeps the point's exact values", () => {
  const state = cubic();
  for (let i = 0; i < 6; i += 1) state.zoom(2);
  assert.ok(state.samples.interpolated);
  assert.equal(state.request, null);
  assert.deepEqual(state.point, { x: 1, values: [1, 3, 6], interpolated: false });
  state.stepBy("point", 1);
  assert.ok(state.point.interpolated);
  assert.ok(Math.abs(state.point.values[1] - 3 * state.point.x ** 2) < 1e-8);
  state.reset();
  assert.ok(!state.samples.interpolated);
});

test("with a kernel finer samples are asked for once, and only the newest answer counts", () => {
  const state = cubic({ live: true });
  state.zoom(8);
  const first = state.request;
  assert.ok(first);
  state.zoom(8);
  const second = state.request;
  assert.ok(second && second.id > first.id && second.lo <= state.view.lo && second.hi >= state.view.hi);
  assert.equal(state.receive({ id: first.id }, new DataView(bytes(first.lo, first.hi, first.n).buffer)), false);
  assert.equal(state.receive({ id: second.id }, new DataView(bytes(second.lo, second.hi, second.n).buffer)), true);
  assert.ok(!state.samples.interpolated);
  assert.equal(state.request, null);
  state.pan(0.1);
  assert.equal(state.request, null, "samples reach half a view over each edge");
  state.pan(3);
  assert.ok(state.request);
});

test("a kernel that answers with an error, or not at all, is said and not asked again", () => {
  const state = cubic({ live: true });
  state.zoom(8);
  assert.ok(state.receive({ id: state.request?.id ?? 0, error: "ValueError: no" }, undefined));
  assert.equal(state.problem, "ValueError: no");
  state.zoom(8);
  assert.equal(state.request, null);
  const silent = cubic({ live: true });
  silent.zoom(8);
  silent.giveUp();
  assert.equal(silent.problem, "no kernel answers");
  assert.ok(silent.samples.interpolated);
});

test("a kernel that was only busy is believed when it answers late, and asked again", () => {
  const state = cubic({ live: true });
  state.zoom(8);
  const asked = state.request;
  assert.ok(asked);
  state.giveUp();
  state.zoom(8);
  assert.equal(state.request, null);
  assert.ok(state.receive({ id: asked.id }, new DataView(bytes(asked.lo, asked.hi, asked.n).buffer)));
  assert.equal(state.problem, "");
  assert.ok(state.request, "the view has moved on, so the answer is too coarse");
});

test("under the microscope a smooth curve fills the panel as its tangent does", () => {
  const state = cubic();
  state.zoom(1000);
  const [upper] = state.ranges;
  const { lo, hi } = state.view;
  const bend = Math.abs(hi ** 3 - (1 + 3 * (hi - 1))) / (upper.hi - upper.lo);
  assert.ok(bend < 1e-3, `the curve leaves its tangent by ${bend} of the height`);
  assert.ok(lo < 1 && hi > 1 && upper.lo < 1 && upper.hi > 1);
});

test("sentences say value, slope and direction, and name what is missing", () => {
  const words = { name: "f", names: ["f(x)", "f′(x)"], variable: "x" };
  const at = (/** @type {number[]} */ values, interpolated = false) => ({ x: 1.5, values, interpolated });
  assert.equal(pointSentence(words, at([2, -3]), 0.01, undefined), "At x = 1.5, f(x) is 2 and falling with slope −3.");
  assert.match(pointSentence(words, at([2, 0], true), 0.01, undefined), /about 2 and level with slope about 0/);
  assert.equal(pointSentence(words, at([NaN, NaN]), 0.01, undefined), "At x = 1.5, f is undefined.");
  assert.match(pointSentence(words, at([2, NaN]), 0.01, undefined), /has no slope/);
  assert.match(pointSentence(words, at([Infinity, -Infinity]), 0.01, undefined), /is inf: the curve has no point there\.$/);
  /** @type {import("../../autodiff_lab/widgets/curve_explorer/samples.js").Mark} */
  const kink = { x: 1.5, kind: "kink", limits: [[2, 2], [-1, 1]] };
  assert.match(pointSentence(words, at([2, 0]), 0.01, kink), /slope −1 from the left, 1 from the right; the tape says 0/);
  assert.match(secantSentence(words, at([2, 0]), at([2, 0]), 0.01), /0\/0/);
});

test("the status line says who computed what is shown", () => {
  const facts = { count: 401, magnified: 1, interpolated: false, waiting: false, problem: "", derived: true };
  assert.equal(statusSentence(facts), "401 samples in view, each derivative computed by the tape");
  assert.match(statusSentence({ ...facts, magnified: 32, interpolated: true }), /^enlarged 32×, interpolated .* no kernel/);
  assert.equal(statusSentence({ ...facts, derived: false }), "401 samples in view", "where every derivative is None, none was computed");
  assert.match(statusSentence({ ...facts, waiting: true }), /computing/);
  assert.match(statusSentence({ ...facts, problem: "no kernel answers" }), /no kernel answers/);
});

test("the table shows evenly chosen samples of the view", () => {
  const state = cubic();
  const rows = tableRows(state.samples, state.view, 21);
  assert.equal(rows.length, 21);
  assert.deepEqual(rows[0].slice(1), ["−8", "12", "−12"]);
});

test("zooming out of the whole curve asks the kernel for a wider one, and whole asks for the first one", () => {
  const state = cubic({ live: true });
  state.zoom(0.5);
  assert.deepEqual(state.wanted, { lo: -4, hi: 4 });
  state.zoom(0.5);
  assert.deepEqual(state.wanted, { lo: -8, hi: 8 });
  state.wanted = null;
  state.rebase({ ...state.facts, lo: -4, hi: 4 }, new DataView(bytes(-4, 4, 401).buffer));
  assert.deepEqual([state.view.lo, state.view.hi, state.point.x], [-4, 4, 1]);
  state.reset();
  assert.deepEqual(state.wanted, { lo: -2, hi: 2 });
  const alone = cubic();
  alone.zoom(0.5);
  assert.equal(alone.wanted, null);
});

test("heights hold the point, whatever the poles around it", () => {
  const state = cubic();
  state.full = state.full.map(() => ({ lo: -1, hi: 1 }));
  state.place("point", 2);
  state.ranges.forEach(({ lo, hi }, row) => assert.ok(lo <= state.point.values[row] && state.point.values[row] < hi));
});

test("a logarithmic axis shows sizes, a decade at least", () => {
  const state = cubic();
  keyAction(state, { key: "l", shiftKey: false }, "point")?.();
  const [{ lo, hi }] = state.ranges;
  assert.ok(lo > 0 && hi >= 8 && hi < 20);
  assert.deepEqual(logHeights([0, NaN]), { lo: 0.1, hi: 10 });
  assert.ok(logHeights([2, -2]).hi >= 20);
});

test("a trace keeps where the point has been, once", () => {
  const state = cubic();
  const press = (/** @type {string} */ key) => keyAction(state, { key, shiftKey: false }, "point")?.();
  press("t");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft"]) press(key);
  assert.deepEqual(state.trace.map(({ x }) => x.toFixed(2)), ["1.00", "1.01", "1.02"]);
  press("t");
  assert.deepEqual(state.trace, []);
});

test("D shows one derivative more, and after the last f alone", () => {
  const state = cubic();
  const orders = [0, 1, 2].map(() => {
    keyAction(state, { key: "d", shiftKey: false }, "point")?.();
    return state.order;
  });
  assert.deepEqual(orders, [2, 0, 1]);
});

test("None is said apart from nan", () => {
  /** @type {[number, number][][]} */
  const nones = [[[-1, 0]], [[-1, 3]]];
  const words = { name: "f", names: ["f(x)", "f′(x)"], variable: "x", nones };
  const at = (/** @type {number} */ x, /** @type {number} */ value) => ({ x, values: [value, NaN], interpolated: false });
  assert.match(pointSentence(words, at(-0.5, NaN), 0.1, undefined), /f returned None/);
  assert.match(pointSentence(words, at(5, NaN), 0.1, undefined), /is undefined/);
  assert.match(pointSentence(words, at(2, 1), 0.1, undefined), /its gradient is None/);
  assert.equal(valueWord(words, 0, at(-0.5, NaN)), "None");
  assert.equal(valueWord(words, 0, at(5, NaN)), "nan");
});

test("steps of Newton's method reach a zero, and each is where the tangent meets 0", () => {
  const state = cubic();
  state.place("point", 1.6);
  for (let count = 1; count <= 40; count += 1) {
    const { x, values: [value, slope] } = state.point;
    keyAction(state, { key: "n", shiftKey: false }, "point")?.();
    assert.ok(Math.abs(state.point.x - (x - value / slope)) < 1e-12);
    assert.match(state.walk.told, new RegExp(`^Newton's method, step ${count}: to x = `));
  }
  assert.ok(Math.abs(state.point.x) < 1e-6);
  assert.equal(state.walk.from.length, 40);
  state.stepBy("point", 1);
  assert.deepEqual([state.walk.from.length, state.walk.told], [0, ""]);
});

test("steps of gradient descent go downhill by rate times slope; another method starts at the point", () => {
  const state = cubic();
  state.rate = 0.05;
  state.stepOn("descent");
  assert.ok(Math.abs(state.point.x - 0.85) < 1e-12);
  assert.match(state.walk.told, /0.05 times the slope downhill/);
  state.stepOn("newton");
  assert.equal(state.walk.from.length, 1);
});

test("a step without a slope, or out of the picture, is said and not taken", () => {
  const state = cubic();
  state.place("point", 0);
  state.stepOn("newton"); // 0/0
  assert.equal(state.walk.told, "Newton's method has no step here: the tangent never meets 0.");
  state.place("point", 2);
  state.rate = 10;
  state.stepOn("descent");
  assert.equal(state.walk.told, "Gradient descent would go to x = −118, which is not in the picture.");
  assert.equal(state.point.x, 2);
});
