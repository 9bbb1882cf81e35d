// What the explorer says, and where the reader looks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fillChip, overhang, shortened } from "../../autodiff_lab/widgets/explorer/chips.js";
import { fold } from "../../autodiff_lab/widgets/explorer/fold.js";
import { decode } from "../../autodiff_lab/widgets/explorer/scene.js";
import {
  along, arrowHead, centred, pointsOf, revealed, roomFor, zoomed,
} from "../../autodiff_lab/widgets/explorer/viewport.js";
import {
  arrivals, conjugate, counter, filled, gradientText, liveLine, marked, search, sumText, withI,
} from "../../autodiff_lab/widgets/explorer/words.js";
import { payload, there, valueOf } from "./explorer_sample.js";

const scene = decode(payload);
const says = (/** @type {number} */ step) => liveLine(scene, fold(scene, step));

test("the live line tells a forward step with its numbers", () => {
  assert.equal(says(2), "Step 2 of 6, forward: sin; from x = 3 makes sin(x) = 0.1411.");
});

test("the live line tells a backward step: incoming, local, delivered, arrived", () => {
  assert.equal(
    says(5),
    "Step 5 of 6, backward: sin; incoming 1; local −0.99; delivers −0.99 to x; x has 1 of 3 contributions.",
  );
});

test("the live line of a step with two shares tells both", () => {
  assert.match(says(6), /x has 2 of 3 contributions; local 3; delivers 3 to x; x has 3 of 3 contributions\.$/);
});

test("the counter says where one is", () => {
  assert.equal(counter(scene, fold(scene, 0)), "Start · 6 steps");
  assert.equal(counter(scene, fold(scene, 4)), "Step 4 of 6 · backward");
});

test("a sum keeps a place for what is to come and writes minus signs once", () => {
  assert.equal(sumText([valueOf("3"), valueOf("−0.99")], 3), "3 − 0.99 + ( … )");
  assert.equal(sumText([valueOf("3"), valueOf("3")], 2), "3 + 3");
  assert.equal(sumText(["1", "2", "3", "4", "5", "6"].map(valueOf), 6), "1 + 2 + ⋯ + 5 + 6");
});

test("contributions are counted in words", () => {
  assert.equal(arrivals("x", 1, 1), "the only contribution to x");
  assert.equal(arrivals("x", 2, 3), "x has 2 of 3 contributions");
});

test("names fill sentences and formulas as text, whatever they hold", () => {
  assert.equal(filled("{0} times {1}, {7}", ["<b>", "{0}"]), "<b> times {0}, {7}");
  assert.equal(marked("cos \ue000 · \ue001", ["$&", "y"]), "cos $& · y");
});

test("not yet, zero, nan and no path are four marks", () => {
  const [zero, nan] = ["0", "nan"].map(valueOf);
  const marks = [
    gradientText({ state: "pending", value: null, arrived: 0, expected: 0 }),
    gradientText({ state: "known", value: zero, arrived: 1, expected: 1 }),
    gradientText({ state: "known", value: nan, arrived: 1, expected: 1 }),
    gradientText({ state: "no path", value: null, arrived: 0, expected: 0 }),
  ];
  assert.deepEqual(marks, ["…", "0", "nan", "no path"]);
});

test("search finds names, ops and numbers, and only then source lines", () => {
  const { boxes } = there(scene.views.get(""));
  const found = (/** @type {string} */ word) => search(scene, word).map(({ at }) => boxes[at].key);
  assert.deepEqual(found("SIN"), ["a1"]);
  assert.deepEqual(found("lab."), ["a0", "a1", "a2"]);
  assert.deepEqual(found("multiply"), ["a0"]);
  assert.deepEqual(found("%2"), ["a1"]);
  assert.deepEqual(found("nowhere"), []);
  assert.deepEqual(found(" "), []);
});

const PANEL = { width: 800, height: 400 };

test("a panel is as high as its picture needs, within bounds", () => {
  assert.equal(roomFor({ width: 400, height: 200 }, 800, 1000), 420, "never lower than the card needs");
  assert.equal(roomFor({ width: 760, height: 500 }, 800, 1000), 540, "the picture and its margins");
  assert.equal(roomFor({ width: 1520, height: 1000 }, 800, 1000), 540, "at the scale that the width allows");
  assert.equal(roomFor({ width: 760, height: 2000 }, 800, 1000), 700, "most of the window");
  assert.equal(roomFor({ width: 760, height: 2000 }, 800, 500), 350, "sentence and buttons have room beside it");
  assert.equal(roomFor({ width: 760, height: 2000 }, 800, 300), 210);
});

test("a chip says as much of a name as can be read", () => {
  const box = /** @type {import("../../autodiff_lab/widgets/explorer/scene.js").Box} */ (/** @type {unknown} */ (
    { width: 120, height: 60, label: "softmax", name: "weights", turns: [], series: [] }));
  const written = (/** @type {number} */ scale) => {
    const chip = /** @type {SVGTextElement} */ (/** @type {unknown} */ ({ textContent: "", style: { fontSize: "" }, setAttribute() {} }));
    fillChip(box, chip, scale);
    return [chip.textContent, chip.style.fontSize];
  };
  assert.deepEqual(written(1), ["softmax → weights", "11.0px"]);
  assert.deepEqual(written(0.5), ["softmax", "22.0px"]);
  assert.deepEqual(written(0.25), ["so‥", "44.0px"]);
  assert.deepEqual(written(0.1), ["", "110.0px"]);
});

test("a box is drawn wider for a short name, and only as a chip", () => {
  const box = (/** @type {string} */ label) => /** @type {import("../../autodiff_lab/widgets/explorer/scene.js").Box} */ (/** @type {unknown} */ ({ width: 48, label }));
  assert.equal(overhang(box("mean"), 0.5), 7, "38 pixels for 24");
  assert.equal(overhang(box("mean"), 1), 0);
  assert.equal(overhang(box("@"), 0.5), 0);
  assert.equal(overhang(box("softmax"), 0.5), 0, "it is cut");
});

test("nothing moves for a box that is seen already", () => {
  const look = { x: 0, y: 0, scale: 1 };
  assert.equal(revealed(look, { x: 100, y: 100, width: 60, height: 60 }, PANEL), look);
  const moved = revealed(look, { x: 1000, y: 100, width: 60, height: 60 }, PANEL);
  assert.equal(1000 + 30 + moved.x, 400);
  assert.equal(moved.y, 0);
});

test("zooming keeps the point under the pointer", () => {
  const look = { x: -50, y: 20, scale: 1 };
  const closer = zoomed(look, 2, 300, 200);
  const under = (/** @type {typeof look} */ { x, y, scale }) => [(300 - x) / scale, (200 - y) / scale];
  assert.deepEqual(under(closer), under(look));
  assert.equal(zoomed(look, 1000, 0, 0).scale, 4);
});

test("centring leaves no empty side when there is more to see", () => {
  const look = centred({ x: 0, y: 0, scale: 1 }, { x: 0, y: 0, width: 60, height: 60 }, { width: 5000, height: 5000 }, PANEL);
  assert.deepEqual([look.x, look.y], [20, 20]);
});

test("curves are read back, arrow heads point along them", () => {
  const points = pointsOf("M60 20C70 20 90 -20 100.5 20");
  assert.deepEqual(points, [[60, 20], [70, 20], [90, -20], [100.5, 20]]);
  assert.equal(arrowHead([0, 0], [10, 0]), "M10 0L3.0 3.5L3.0 -3.5Z");
  assert.deepEqual(along(pointsOf("M0 0C10 0 20 0 30 0"), 0.5), [15, 0]);
});

test("a complex number is conjugated as it is written", () => {
  assert.equal(conjugate("2 − 4i"), "2 + 4i");
  assert.equal(conjugate("−0.6 + 1e−5i"), "−0.6 − 1e−5i");
  assert.equal(conjugate(conjugate("−1 − infi")), "−1 − infi");
});

test("a complex number has one form, whoever wrote it", () => {
  assert.equal(withI("(1+2j)"), "1 + 2i");
  assert.equal(withI("(-1.5e-05-2e+20j)"), "−1.5e−05 − 2e+20i");
  assert.equal(withI("[(1+0j), (-0-nanj)]"), "[1 + 0i, −0 − nani]");
});

test("where there is little room digits go first, and a number is never cut", () => {
  assert.equal(shortened("0.04824", 7), "0.04824");
  assert.equal(shortened("0.04824", 6), "0.0482");
  assert.equal(shortened("0.04824", 4), "");
  assert.equal(shortened("1.234e−12", 7), "1.2e−12");
  assert.equal(shortened("from −11.53 to 8.317", 17), "from −12 to 8.3");
  assert.equal(shortened("[0.1234, 0.5678, 0.9]", 10), "[0.12,‥");
  assert.equal(shortened("mean 0.25, spread 0.1234", 15), "mean 0.25, spr‥");
  assert.equal(shortened("no path", 5), "no p‥");
});
