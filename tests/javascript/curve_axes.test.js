// Numbers, ticks and ranges of the function explorer.  The cases of agreement are read from a table that the Python
// side is held to as well (tests/draw/test_curves.py).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { short } from "../../autodiff_lab/widgets/numbers.js";
import { place, placeInText, ticks, tickText } from "../../autodiff_lab/widgets/plotting/numbers.js";
import { follow, heights, magnification, microscope, pan, whole, zoom } from "../../autodiff_lab/widgets/plotting/view.js";

const table = JSON.parse(readFileSync(new URL("../data/curve_axes.json", import.meta.url), "utf8"));
const domain = { lo: -5, hi: 5, narrowest: 1e-3 };

test("numbers look as they do in Python", () => {
  for (const [value, text] of table.short) assert.equal(short(value), text);
  assert.equal(short(NaN), "nan");
  assert.equal(short(-Infinity), "−inf");
});

test("ticks and their labels are those of the static picture", () => {
  for (const { lo, hi, count, step, values, texts } of table.ticks) {
    const found = ticks(lo, hi, count);
    assert.deepEqual(found, { step, values });
    assert.deepEqual(found.values.map(value => tickText(value, found.step)), texts);
  }
});

test("ranges of heights are those of the static picture", () => {
  for (const { values, zero, clip, range } of table.heights) {
    const { lo, hi } = heights(values.map(Number), { zero, clip });
    assert.ok(Math.abs(lo - range[0]) < 1e-9 && Math.abs(hi - range[1]) < 1e-9, `${lo} ${hi} ${range}`);
  }
});

test("a position has the decimals that tell neighbours apart, in text without trailing zeros", () => {
  assert.equal(place(2, 0.0025), "2.000");
  assert.equal(placeInText(2, 0.0025), "2");
  assert.equal(place(-0.00001, 0.01), "0.00");
});

test("nothing sensible in, no ticks out", () => {
  assert.deepEqual(ticks(1, 1, 5).values, []);
  assert.deepEqual(ticks(0, Infinity, 5).values, []);
});

test("zooming keeps what is under the pointer where it is, and stays in the domain", () => {
  const view = zoom(whole(domain), 4, 3, domain);
  assert.equal(view.hi - view.lo, 2.5);
  assert.equal((3 - view.lo) / 2.5, 0.8);
  assert.equal(magnification(view, domain), 4);
  assert.deepEqual(zoom(view, 1 / 100, 0, domain), whole(domain));
  const edge = zoom(whole(domain), 10, 5, domain, true);
  assert.equal(edge.hi, 5);
});

test("zooming stops at the narrowest view", () => {
  const view = zoom(whole(domain), 1e9, 0, domain, true);
  assert.ok(Math.abs(view.hi - view.lo - domain.narrowest) < 1e-15);
});

test("panning carries the anchor along and stops at the edge", () => {
  const view = pan(zoom(whole(domain), 10, 0, domain, true), 0.5, domain);
  assert.ok(Math.abs(view.anchor - 0.5) < 1e-12);
  assert.equal(pan(view, 100, domain).hi, 5);
});

test("the view follows a point that leaves it, and only then", () => {
  const view = zoom(whole(domain), 10, 0, domain, true);
  assert.equal(follow(view, 0.3, domain), view);
  const moved = follow(view, 0.6, domain);
  assert.ok(moved.lo < 0.6 && moved.hi > 0.6);
});

test("the microscope enlarges heights as much as widths, around the centre, inside the whole range", () => {
  const full = { lo: -10, hi: 10 };
  assert.deepEqual(microscope(full, 4, 1), { lo: -1.5, hi: 3.5 });
  assert.deepEqual(microscope(full, 1, 7), full);
  assert.deepEqual(microscope(full, 4, 100), { lo: 5, hi: 10 });
  assert.deepEqual(microscope(full, 2, NaN), { lo: -5, hi: 5 });
});
