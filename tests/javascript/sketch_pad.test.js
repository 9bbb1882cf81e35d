// The sketch pad in the page: it judges as the kernel does, by one table, and a pen draws what it passes over.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { COLUMNS, handlesOf, inWords, judge, position, said, stroked, through, xOf, zerosOf } from "../../autodiff_lab/widgets/sketch_pad/scoring.js";

/** @typedef {import("../../autodiff_lab/widgets/sketch_pad/scoring.js").Facts} Facts */

const table = JSON.parse(readFileSync(new URL("../data/sketches.json", import.meta.url), "utf8"));

/** @type {Record<string, { ends: [number, number], rows: ((t: number) => number)[], reach: number[] }>} */
const functions = {
  cubic: { ends: [-2.2, 2.2], rows: [t => t ** 3 - 3 * t, t => 3 * t * t - 3, t => 6 * t, () => 6], reach: [0, 15, 20] },
  sin: { ends: [-3.5, 3.5], rows: [Math.sin, Math.cos, t => -Math.sin(t)], reach: [0, 1.5] },
  bell: { ends: [-3, 3], rows: [t => Math.exp(-t * t / 2), t => -t * Math.exp(-t * t / 2), t => (t * t - 1) * Math.exp(-t * t / 2)], reach: [0, 0.8] },
  line: { ends: [-1, 1], rows: [t => 2 * t, () => 2, () => 0], reach: [0, 3] },
};

/** @param {string} name @returns {Facts} */
function factsOf(name) {
  const { ends: [lo, hi], rows, reach } = functions[name];
  const facts = { lo, hi, variable: "x", title: "", names: ["f(x)", "f′(x)", "f″(x)", "f‴(x)"], rows: /** @type {(number | null)[][]} */ ([]), reach };
  facts.rows = rows.map(row => Array.from({ length: COLUMNS }, (_, k) => Number(row(xOf(facts, k)).toPrecision(4))));
  return facts;
}

test("sketches are judged as the kernel judges them", () => {
  const rows = table.filter((/** @type {any} */ row) => row.function in functions);
  assert.ok(rows.length > 25);
  for (const row of rows) {
    const facts = factsOf(row.function);
    const top = facts.reach[row.row];
    const sketch = through(row.handles).map(height => Math.min(Math.max(height, -top), top));
    const { code, score, signs, passed } = judge(facts, sketch, row.row);
    assert.deepEqual({ code, score, signs, passed }, { code: row.code, score: row.score, signs: row.signs, passed: row.passed }, `${row.function} ${row.what}`);
    assert.equal(inWords(facts, sketch), row.words);
  }
});

test("a pen draws what it passes over, whichever way it goes", () => {
  const empty = /** @type {(number | null)[]} */ (Array(COLUMNS).fill(null));
  const right = stroked(empty, [10, 0], [14, 4]);
  assert.deepEqual(right.slice(9, 16), [null, 0, 1, 2, 3, 4, null]);
  assert.deepEqual(stroked(empty, [14, 4], [10, 0]), right);
  assert.equal(stroked(right, [12, 7], [12, 7])[12], 7);
  assert.equal(stroked(right, [12, 7], [12, 7])[11], 1);
});

test("handles take over what the pen drew", () => {
  const sketch = through([0, 1, 4, 9, 4, 1, 0, -1, -4]);
  assert.deepEqual(handlesOf(sketch), [0, 1, 4, 9, 4, 1, 0, -1, -4]);
  assert.deepEqual(handlesOf(Array(COLUMNS).fill(null)), Array(9).fill(0));
});

test("the score is told with the idea", () => {
  const facts = factsOf("cubic");
  const ideas = { COPIED_F: "the derivative looks like the function" };
  const tell = (/** @type {number[]} */ handles) => said(judge(facts, through(handles), 1), "f′(x)", ideas);
  assert.equal(tell([9, 4, 1, -1, -2, -1, 1, 4, 9]), "100 of 100: this is f′(x).");
  assert.match(tell(handlesOf(facts.rows[0])), /^\d+ of 100: this is what one gets if the derivative looks like the function\.$/);
  assert.match(tell([3, -9, 12, -14, 2, 11, -3, 9, -12]), /neither f′\(x\) nor one of the usual mistakes/);
});

test("places are told with the digits that matter", () => {
  const facts = factsOf("cubic");
  assert.deepEqual(zerosOf(facts, facts.rows[1]).map(place => position(facts, place)), ["−1", "1"]);
  assert.equal(position(facts, -0.001), "0");
  assert.equal(inWords(facts, facts.rows[3]), "above 0 everywhere");
});
