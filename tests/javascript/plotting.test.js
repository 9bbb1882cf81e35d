// Axes and labels of plots.  The cases are read from a table that the Python side is held to as well
// (tests/draw/test_plots.py).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { axisTicks, share, valueAt } from "../../autodiff_lab/widgets/plotting/axes.js";
import { placeLabel } from "../../autodiff_lab/widgets/plotting/labels.js";
import { layerPath } from "../../autodiff_lab/widgets/plotting/layers.js";

const table = JSON.parse(readFileSync(new URL("../data/plot_axes.json", import.meta.url), "utf8"));
const log = { lo: 1e-8, hi: 1, log: true };

test("ticks and shares are those of the static picture", () => {
  for (const { axis, count, ticks } of table.ticks) {
    assert.deepEqual(axisTicks(axis, count).map(({ value, text }) => [value, text]), ticks);
  }
  for (const row of table.shares) assert.ok(Math.abs(share(row.axis, row.value) - row.share) < 1e-9);
});

test("labels are where the static picture has them", () => {
  for (const { point, text, lines, place } of table.labels) {
    const { x, y, anchor } = placeLabel(point, text, { lines, boxes: [], width: 200, height: 100 });
    assert.deepEqual([x, y, anchor], place);
  }
});

test("a value and its share are inverse, whatever the axis", () => {
  for (const part of [0, 0.25, 1]) assert.ok(Math.abs(share(log, valueAt(log, part)) - part) < 1e-12);
  assert.equal(valueAt({ lo: -1, hi: 3 }, 0.5), 1);
});

test("a line is broken where a value is missing, and an error of 0 lies below a logarithmic axis", () => {
  const area = { x: { lo: 0, hi: 4 }, y: { lo: 1, hi: 100, log: true }, left: 0, top: 0, width: 100, height: 50 };
  const layer = { kind: /** @type {const} */ ("line"), role: "ink", x: [0, 1, 2, 3], y: [1, NaN, 10, 0] };
  assert.equal(layerPath(area, layer), "M0.0,50.0M50.0,25.0L75.0,5000.0");
});
