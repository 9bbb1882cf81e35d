// The swell in the page: signs of formulas and derivatives, equal parts as one node, typed steps, and piles of paper.

import assert from "node:assert/strict";
import { test } from "node:test";

import { copiesOf, landmarksText, lengthText, nodesLeft, partsIn, reachText, readStep, sizesOf, written } from "../../autodiff_lab/widgets/swell/formula.js";
import { columnsOf, neighbour, nodesOf, recordedOf } from "../../autodiff_lab/widgets/swell/tree.js";

/** @param {string} text */
function read(text) {
  const { facts, problem } = readStep(text);
  if (!facts) throw new Error(problem);
  return { ...facts, sizes: sizesOf(facts.parts) };
}

const logistic = read("4x(1 − x)");

test("signs of the formula and of its derivative, nothing simplified", () => {
  const { roots, sizes } = logistic;
  assert.deepEqual([1, 2, 3, 4, 5, 10].map(n => sizes.formula[roots[n]]), [7, 19, 43, 91, 187, 6139]);
  assert.deepEqual([1, 2, 3, 4, 5, 10].map(n => sizes.derivative[roots[n]]), [19, 73, 217, 577, 1441, 92161]);
  assert.equal(sizes.derivative[roots[50]].toPrecision(3), "5.07e+17");
  assert.deepEqual([1, 4, 50].map(n => logistic.entries[n]), [3, 12, 150]);
});

test("merging every part leaves 15 of 91, twelve of them ops", () => {
  const { parts, roots } = logistic;
  const all = partsIn(parts, roots[4]);
  assert.equal(nodesLeft(parts, roots[4], new Set()), 91);
  assert.equal(nodesLeft(parts, roots[4], new Set(all)), 15);
  assert.equal(all.filter(part => parts[part].inputs.length).length, 12);
});

test("the copies of one part become one node, and what is counted is what is drawn", () => {
  const { parts, roots } = logistic;
  const root = roots[3];
  assert.equal(copiesOf(parts, root)[roots[1]], 4);
  assert.equal(copiesOf(parts, root)[0], 8);
  for (const chosen of [[], [roots[1]], [roots[2]], [roots[1], roots[2]], [0], [root], partsIn(parts, root)]) {
    const merged = new Set(chosen);
    assert.equal(nodesOf(parts, root, merged).length, nodesLeft(parts, root, merged), String(chosen));
  }
  assert.equal(nodesLeft(parts, root, new Set([roots[1]])), 43 - 3 * 7);
});

test("steps are read as people write them, and written back", () => {
  const texts = ["4x(1-x)", "4*x*(1 - x)", "4·x·(1 − x)", "x**2 - 1", "-x^2", "(x + 2/x)/2", "sin(x) + x", "x - (1 - x)", "x/(x/3)", "2^x", "-(x - 1)", "2exp(-x)"];
  assert.deepEqual(texts.map(text => { const { parts, roots, sizes } = read(text); return written(parts, roots[1], sizes.formula); }), [
    "4·x·(1 − x)", "4·x·(1 − x)", "4·x·(1 − x)", "x^2 − 1", "−x^2", "(x + 2 / x) / 2", "sin(x) + x", "x − (1 − x)", "x / (x / 3)", "2^x", "−(x − 1)", "2·exp(−x)",
  ]);
});

test("what cannot be read is refused in words", () => {
  for (const text of ["", "4x(1-x", "4y", "x +", "sin x", "x)", "3 + 4", "x @ 2", "x".repeat(201), "alert(1)", "1..2x"]) {
    const { facts, problem } = readStep(text);
    assert.equal(facts, null, text);
    assert.match(problem, /\.$/, text);
  }
});

test("the tape has an entry for every op with x in it, written twice or not", () => {
  assert.deepEqual(["x*x + x*x", "2*3*x", "x"].map(text => readStep(text).facts?.entries[1]), [3, 1, 0]);
});

test("piles of paper", () => {
  assert.deepEqual([577, 92161, 6e7, 5.07e17, 5e18].map(reachText), [
    "fits on a page", "takes 31 pages", "is a pile of 2 m: as high as the door",
    "is a pile of 17 million km: 44 times as far as the moon", "is a pile of 170 million km: as far as the Sun",
  ]);
  assert.deepEqual([0.31, 25, 384400000, 1.69e10, 3e20].map(lengthText), ["31 cm", "25 m", "380,000 km", "17 million km", "3e17 km"]);
  assert.equal(landmarksText([1, 2, 3]), "It does not reach the door in 3 rounds.");
  const counts = logistic.roots.slice(1).map(root => logistic.sizes.derivative[root]);
  assert.equal(landmarksText(counts), "It reaches the door at n = 19, Mount Everest at n = 30, the moon at n = 45, the Sun at n = 54.");
});

test("columns: what goes into a node is left of it, and no node lies on another", () => {
  const { parts, roots } = logistic;
  for (const merged of [new Set(/** @type {number[]} */ ([])), new Set([roots[1]]), new Set(partsIn(parts, roots[3]))]) {
    const nodes = nodesOf(parts, roots[3], merged);
    const { spots, height } = columnsOf(nodes, 900);
    nodes.forEach(({ inputs }, i) => inputs.forEach(input => assert.ok(spots[input].x < spots[i].x)));
    assert.equal(new Set(spots.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`)).size, nodes.length);
    assert.ok(spots.every(({ x, y }) => x > 0 && x < 900 && y > 0 && y < height));
  }
});

test("the places of the recording are taken when no part is drawn twice", () => {
  const { parts, roots } = logistic;
  const places = Object.fromEntries(partsIn(parts, roots[1]).map(part => [part, /** @type {[number, number]} */ ([100 * part, 30])]));
  assert.equal(recordedOf(nodesOf(parts, roots[1], new Set()), places, 900), null);
  const one = nodesOf(parts, roots[1], new Set(partsIn(parts, roots[1])));
  assert.equal(recordedOf(one, {}, 900), null);
  assert.equal(recordedOf(one, places, 900)?.spots.length, 6);
});

test("arrows walk into a part, out of it, and along its column", () => {
  const { parts, roots } = logistic;
  const nodes = nodesOf(parts, roots[1], new Set());
  const { spots } = columnsOf(nodes, 900);
  const last = nodes.length - 1;
  const left = neighbour(nodes, spots, last, "ArrowLeft");
  assert.equal(parts[nodes[left].part].sign, "×");
  assert.equal(neighbour(nodes, spots, left, "ArrowRight"), last);
  assert.equal(parts[nodes[neighbour(nodes, spots, left, "ArrowDown")].part].sign, "−");
  assert.equal(neighbour(nodes, spots, last, "ArrowUp"), last);
});
