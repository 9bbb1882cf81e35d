// Breakpoints in the page: what is typed, and the steps that meet it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { breakpoint } from "../../autodiff_lab/widgets/explorer/breakpoints.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import { payload } from "./explorer_sample.js";

const numbers = payload.values.map(([short, , ...rest]) => [short, "", ...rest]);
const scene = decode({ ...payload, values: numbers });

/** @param {string} text */
function stops(text) {
  const { wanted, error } = breakpoint(scene, text);
  return wanted ? scene.steps.flatMap((step, at) => (wanted(step) ? [at + 1] : [])) : error;
}

test("an op, the name of a result, and a line by number or text", () => {
  assert.deepEqual(stops('op="sin"'), [2, 5]);
  assert.deepEqual(stops("op='sin'"), stops("op=sin"));
  assert.deepEqual(stops('name="y"'), [3, 4]);
  assert.deepEqual(stops("line=1"), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(stops("line=2"), []);
  assert.deepEqual(stops('line="lab.sin(x)"'), [1, 2, 3, 4, 5, 6]);
});

test("several parts hold together", () => {
  assert.deepEqual(stops('op="sin", condition=adjoint > 0'), [5]);
  assert.deepEqual(stops('name="y", op="sin"'), []);
});

test("conditions on the adjoint and on the value", () => {
  assert.deepEqual(stops("condition=value > 9"), [3, 4]);
  assert.deepEqual(stops("condition=abs(adjoint) == 1"), [4, 5, 6]);
  assert.deepEqual(stops("condition=is_nan(adjoint)"), []);
});

test("a nan is found, also where only its mark is known", () => {
  const bad = numbers.map((row, at) => (at === 2 ? ["nan", "nan", "", 0, 2] : at === 1 ? ["0.2", "mean 0.2", "", 0, 3] : row));
  const broken = decode({ ...payload, values: bad });
  const at = (/** @type {string} */ text) => broken.steps.flatMap((step, place) => (breakpoint(broken, text).wanted?.(step) ? [place + 1] : []));
  assert.deepEqual(at("condition=is_nan(value)"), [2, 5]);
  assert.deepEqual(at("condition=is_inf(value)"), [1, 6]);
  assert.deepEqual(at("condition=value > 0.1"), at('op="add"').concat(at("condition=is_inf(value)")).sort(), "infinity is, the mean of a summary is not asked");
});

test("what cannot be meant is answered with what can", () => {
  for (const text of ["", "log", 'op="logg"', "line=twelve", "condition=lambda stop: True", "condition=adjoint > much", "op=", "colour=3"]) {
    const said = stops(text);
    assert.equal(typeof said, "string", text);
    assert.match(String(said), /Try op="log"/);
  }
  assert.match(String(stops('op="logg"')), /add, multiply, sin/);
});
