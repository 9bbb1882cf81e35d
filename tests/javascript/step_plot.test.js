// Measured slopes in the page: the same quotients as Python's, the digits that cancel, and the score of the game.

import assert from "node:assert/strict";
import { test } from "node:test";

import { StepGame, TRIES } from "../../autodiff_lab/widgets/step_plot/game.js";
import { bestStep, cancelled, digitsOf, envelopeOf, errorsOf, guidesOf, slopesOf, stepSentence, stripOf } from "../../autodiff_lab/widgets/step_plot/steps.js";

const h = Array.from({ length: 17 }, (_, k) => Number(`1e${k - 16}`));
const cube = (/** @type {number} */ x) => x * x * x;
const single = h.map(Math.fround);
const cubed = (/** @type {number} */ x) => Math.fround(Math.fround(x * x) * x);
const facts = {
  name: "f", x: 1, derivatives: [3, 6, 6],
  values: {
    float64: { here: 1, h, plus: h.map(step => cube(1 + step)), minus: h.map(step => cube(1 - step)) },
    float32: {
      here: 1, h: single, plus: single.map(step => cubed(Math.fround(1 + step))),
      minus: single.map(step => cubed(Math.fround(1 - step))),
    },
  },
};
const at = (/** @type {number} */ power) => h.indexOf(Number(`1e${power}`));
const oneSided = { dtype: /** @type {const} */ ("float64"), central: false };

test("quotients are those of the lesson's table", () => {
  const [one, both] = [errorsOf(facts, oneSided), errorsOf(facts, { ...oneSided, central: true })];
  assert.equal(one[at(-2)].toExponential(2), "3.01e-2");
  assert.equal(one[at(-8)].toExponential(2), "3.97e-9");
  assert.equal(both[at(-6)].toExponential(2), "2.48e-11");
  assert.equal(slopesOf(facts, oneSided)[at(-16)], 0);
});

test("in float32 every operation is rounded to float32", () => {
  const slopes = slopesOf(facts, { dtype: "float32", central: true });
  assert.deepEqual(slopes, slopes.map(Math.fround));
  assert.ok(Math.abs(slopes[at(-2)] - 3.0001) < 1e-4);
});

test("equal digits are struck out as far as both numbers are written alike", () => {
  assert.deepEqual(cancelled("0.8414709848078965", "0.841470984807902"), { same: 14, left: 4 });
  assert.deepEqual(cancelled("1.5", "1.5"), { same: 3, left: 0 });
  assert.deepEqual(cancelled("1.5e-7", "1.5e-8"), { same: 0, left: 2 });
  assert.deepEqual(cancelled("10.5", "1.5"), { same: 0, left: 3 });
  assert.deepEqual(cancelled("−0.5", "0.5"), { same: 0, left: 2 });
});

test("a number is written with all digits that its dtype holds", () => {
  assert.equal(digitsOf(Math.fround(0.1), "float32"), "0.100000001");
  assert.equal(digitsOf(Math.fround(-1 / 3), "float32"), "−0.333333343");
  assert.equal(digitsOf(1, "float64"), "1.0000000000000000");
  assert.equal(digitsOf(1.5, "float32"), "1.50000000");
  assert.equal(digitsOf(NaN, "float64"), "no value");
});

test("digits are left though a number is written shortly", () => {
  const cube = (/** @type {number} */ x) => x ** 3;
  const values = { here: cube(1), h, plus: h.map(step => cube(1 + step)), minus: h.map(step => cube(1 - step)) };
  const facts3 = { ...facts, values: { ...facts.values, float64: values } };
  const { rows, left } = stripOf(facts3, oneSided, at(-2));
  assert.equal(rows[1].text, "1.0000000000000000");
  assert.equal(left, 15);
});

test("the sentence says what happened, also where nothing is left or there is no value", () => {
  assert.match(stepSentence(facts, oneSided, at(-16)), /All digits cancel/);
  assert.match(stepSentence(facts, oneSided, at(-2)), /comes out as 3.03, wrong by 0.03/);
  const gap = { ...facts, values: { ...facts.values, float64: { ...facts.values.float64, plus: h.map(() => null) } } };
  assert.match(stepSentence(gap, oneSided, 3), /no value/);
  assert.equal(stripOf(gap, oneSided, 3).rows[0].text, "no value");
});

test("the best step is that of a neighbourhood, gaps are left out, and a line has no truncation", () => {
  assert.deepEqual(bestStep([1e-3, 1e-2, 0.1], [NaN, 2, 4]), { index: 0, error: 2 });
  assert.deepEqual(envelopeOf([1e-3, 1e-2, 0.1], [0, 2, NaN], 1e-9).low, [1e-9, 1e-9, 2]);
  assert.deepEqual(guidesOf({ ...facts, derivatives: [3, 0, null] }, oneSided).map(guide => guide.name), ["slope −1"]);
});

test("a game counts five different tries and compares the best of them", () => {
  const game = new StepGame(h, h.map((_, k) => 10 ** Math.abs(k - 8)));
  assert.ok(Number.isNaN(game.score));
  assert.ok(game.try(0) && !game.try(0));
  for (const index of [1, 2, 3, 10]) game.try(index);
  assert.equal(game.tried.length, TRIES);
  assert.ok(game.isOver && !game.try(8));
  assert.equal(game.leader, 10);
  assert.equal(game.score, 10);
});
