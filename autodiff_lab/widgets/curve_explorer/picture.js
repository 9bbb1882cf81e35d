// The picture: SVG elements made once and moved afterwards, panels of f and its derivatives over one x axis.

import { drawing } from "../dom.js";
import { share } from "../plotting/axes.js";
import { add } from "../plotting/elements.js";
import { placeInText } from "../plotting/numbers.js";
import { placeLabel } from "../plotting/labels.js";
import { drawArea } from "../plotting/layers.js";
import { frame } from "./layout.js";
import { breaksRow, curve, through } from "./paths.js";
import { averageRate, pointSentence, valueWord } from "./sentences.js";

/** @typedef {import("./layout.js").Panel} Panel */
/** @typedef {import("./samples.js").Reading} Reading */
/** @typedef {import("./samples.js").Mark} Mark */
/** @typedef {import("../plotting/view.js").Range} Range */

/**
 * Everything that the picture needs to know.
 * @typedef {{
 *   words: import("./sentences.js").Words, samples: import("./samples.js").Samples, marks: Mark[],
 *   view: { lo: number, hi: number }, ranges: Range[], order: number, point: Reading, other: Reading, secant: boolean,
 *   grain: number, domain: { lo: number, hi: number }, markHere: Mark | undefined, log: boolean, trace: Reading[] | null, walk: import("./state.js").Walk,
 * }} Scene
 *
 * @typedef {Panel & { toX: (x: number) => number, toY: (y: number) => number, range: Range, namesInside: boolean }} Plot
 */

/**
 * Draw what changes with the view: axes, curves, labels, marks.  Returns the plots, for `drawPoint`.
 * @param {SVGElement} svg
 * @param {Scene} scene
 * @param {number} width
 */
export function drawView(svg, scene, width) {
  const { height, panels, namesInside } = frame(width, scene.order, Math.max(...scene.words.names.map(name => name.length)));
  const plots = panels.map(panel => plotIn(panel, scene, namesInside));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", String(height));
  const still = drawing("g");
  for (const plot of plots) drawPlot(still, plot, scene, plot === plots[plots.length - 1]);
  svg.querySelector(".still")?.remove();
  still.setAttribute("class", "still");
  svg.prepend(still);
  return plots;
}

/** A panel with its scales; on a logarithmic axis the size of a height is shown. @param {Panel} panel @param {Scene} scene @param {boolean} namesInside @returns {Plot} */
function plotIn(panel, { view, ranges, log }, namesInside) {
  const range = ranges[panel.row];
  const toX = (/** @type {number} */ x) => share(view, x) * panel.width;
  const toY = (/** @type {number} */ y) => (1 - share({ ...range, log }, log ? Math.abs(y) : y)) * panel.height;
  return { ...panel, namesInside, range, toX, toY };
}

/**
 * @param {Element} parent
 * @param {Plot} plot
 * @param {Scene} scene
 * @param {boolean} last only the lowest panel writes the numbers of the x axis
 */
function drawPlot(parent, plot, scene, last) {
  const area = { ...plot, x: { ...scene.view, name: scene.words.variable }, y: { ...plot.range, log: scene.log } };
  const { group, inside } = drawArea(parent, area, { across: 110, up: 45, below: last });
  group.classList.add("plot", `row${plot.row}`);
  const d = curve(scene.samples, plot.row, scene.marks, plot.toX, plot.toY);
  if (!(scene.trace && plot.row > 0)) add(inside, "path", { class: `curve order${plot.row}`, d });
  for (const mark of scene.marks) drawMark(inside, plot, mark, scene);
  const end = curveEnd(plot, scene);
  /** @type {Record<string, string | number>} */
  const where = plot.namesInside
    ? { x: plot.width - 4, y: end.y < plot.height / 2 ? plot.height - 10 : 16, "text-anchor": "end" }
    : { x: end.x + 14, y: end.y + 4 };
  add(group, "text", { class: `name order${plot.row}`, ...where }, scene.log ? `|${scene.words.names[plot.row]}|` : scene.words.names[plot.row]);
}

/**
 * Open circles: one on f at a kink, one at each one-sided limit where the line breaks.
 * @param {Element} inside
 * @param {Plot} plot
 * @param {Mark} mark
 * @param {Scene} scene
 */
function drawMark(inside, plot, mark, scene) {
  if (mark.x < scene.view.lo || mark.x > scene.view.hi) return;
  const x = plot.toX(mark.x);
  const [left, right] = mark.limits[plot.row] ?? [null, null];
  const heights = breaksRow(mark, plot.row) ? [left, right] : [left ?? right];
  for (const value of new Set(heights)) {
    if (value !== null) add(inside, "circle", { class: `mark order${plot.row}`, cx: x, cy: plot.toY(value), r: 4 });
  }
  const index = scene.samples.x.indexOf(mark.x);
  const there = index < 0 ? NaN : scene.samples.rows[plot.row][index];
  if (!breaksRow(mark, plot.row) || !Number.isFinite(there)) return;
  add(inside, "circle", { class: `there order${plot.row}`, cx: x, cy: plot.toY(there), r: 3 });
}

/**
 * Where the name of a curve stands: at its last point in view, inside the panel.
 * @param {Plot} plot
 * @param {Scene} scene
 */
function curveEnd(plot, scene) {
  const { x, rows } = scene.samples;
  let index = x.length - 1;
  while (index > 0 && (x[index] > scene.view.hi || !Number.isFinite(rows[plot.row][index]))) index -= 1;
  // A panel without a curve has its name where others have it.
  if (!Number.isFinite(rows[plot.row][index])) return { x: plot.width, y: plot.height / 2 };
  const y = plot.toY(rows[plot.row][index]);
  return { x: Math.max(plot.toX(x[index]), 40), y: Math.min(Math.max(y, 8), plot.height - 8) };
}

/**
 * Draw what moves: tangent, secant, heights, the line that ties them.
 * @param {SVGElement} layer a group that this function owns
 * @param {Scene} scene
 * @param {Plot[]} plots
 * @param {Map<string, SVGElement>} handles the focusable handles, which are moved and never remade
 */
export function drawPoint(layer, scene, plots, handles) {
  layer.replaceChildren();
  const [upper, lower] = plots;
  const slope = scene.point.values[1];
  const inside = plots.map(plot =>
    add(layer, "svg", { x: plot.left, y: plot.top, width: plot.width, height: plot.height, overflow: "hidden" }),
  );
  drawTie(layer, scene, plots);
  if (slope !== undefined) drawLine(inside[0], upper, scene, "tangent", slope);
  for (const [k, plot] of plots.entries()) if (scene.trace && k > 0) drawTrace(inside[k], plot, scene.trace);
  if (lower) drawHeight(inside[1], lower, scene.point);
  if (scene.secant) drawSecant(inside, plots, scene);
  drawWalk(inside[0], upper, scene);
  // Dots and numbers may reach over the edge of a panel, lines may not.
  const over = plots.map(plot => add(layer, "g", { transform: `translate(${plot.left} ${plot.top})` }));
  plots.slice(1).forEach((plot, i) => drawValue(over[i + 1], plot, scene));
  drawSlopeLabel(over[0], upper, scene);
  moveHandle(handles.get("point"), upper, scene, scene.point, true);
  moveHandle(handles.get("other"), upper, scene, scene.other, scene.secant);
}

/** A straight line through a point; where heights are logarithmic it is bent. @param {Element} parent @param {Plot} plot @param {Scene} scene @param {string} name @param {number} slope */
function drawLine(parent, plot, scene, name, slope) {
  const { lo, hi } = scene.view;
  const { x, values: [y] } = scene.point;
  if (scene.log) {
    const spots = Array.from({ length: 101 }, (_, i) => {
      const height = y + slope * (lo + (i / 100) * (hi - lo) - x);
      return height * y > 0 ? `${((i / 100) * plot.width).toFixed(1)},${plot.toY(height).toFixed(1)}` : "";
    });
    const runs = spots.join(" ").split(/ {2,}/).map(run => run.trim()).filter(Boolean);
    add(parent, "path", { class: name, fill: "none", d: runs.map(run => `M${run.replaceAll(" ", "L")}`).join("") });
    return;
  }
  const margin = (plot.range.hi - plot.range.lo) * 0.02;
  const ends = through(x, y, slope, { left: lo, right: hi, bottom: plot.range.lo - margin, top: plot.range.hi + margin });
  if (!ends) return;
  const [[x1, y1], [x2, y2]] = ends.map(([px, py]) => [plot.toX(px), plot.toY(py)]);
  add(parent, "line", { class: name, x1, y1, x2, y2 });
}

/** The heights that the point has been to. @param {Element} parent @param {Plot} plot @param {Reading[]} trace */
function drawTrace(parent, plot, trace) {
  for (const { x, values } of trace) {
    if (!Number.isFinite(values[plot.row])) continue;
    add(parent, "circle", { class: `traced dot order${plot.row}`, cx: plot.toX(x), cy: plot.toY(values[plot.row]), r: 2.5 });
  }
}

/** The steps taken: along each tangent to 0 and up to the curve, or straight to the next point. @param {Element} parent @param {Plot} plot @param {Scene} scene */
function drawWalk(parent, plot, { walk, point, log }) {
  const spots = [...walk.from, point].map(({ x, values }) => [plot.toX(x), plot.toY(values[0])]);
  const zero = plot.toY(0);
  const legs = spots.slice(1).map(([x, y]) => (walk.kind === "newton" && !log ? `L${x},${zero}L${x},${y}` : `L${x},${y}`));
  if (legs.length) add(parent, "path", { class: "walked", d: `M${spots[0]}${legs.join("")}` });
  for (const [cx, cy] of spots.slice(0, -1)) add(parent, "circle", { class: "walked", cx, cy, r: 3 });
}

/** @param {Element} layer @param {Scene} scene @param {Plot[]} plots */
function drawTie(layer, scene, plots) {
  if (scene.point.x < scene.view.lo || scene.point.x > scene.view.hi) return;
  const [upper, last] = [plots[0], plots[plots.length - 1]];
  const x = upper.left + upper.toX(scene.point.x);
  const start = Number.isFinite(scene.point.values[0]) ? upper.toY(scene.point.values[0]) : 0;
  const y1 = upper.top + Math.min(Math.max(start, 0), upper.height);
  add(layer, "line", { class: "tie", x1: x, x2: x, y1, y2: last.top + last.height });
}

/** @param {Element} parent @param {Plot} plot @param {Reading} point */
function drawHeight(parent, plot, point) {
  if (!Number.isFinite(point.values[1])) return;
  const x = plot.toX(point.x);
  add(parent, "line", { class: "height", x1: x, x2: x, y1: Math.min(plot.toY(0), plot.height), y2: plot.toY(point.values[1]) });
}

/** @param {Element[]} inside @param {Plot[]} plots @param {Scene} scene */
function drawSecant(inside, plots, scene) {
  const rate = averageRate(scene.point, scene.other);
  if (!Number.isFinite(rate)) return;
  drawLine(inside[0], plots[0], scene, "secant", rate);
  if (!plots[1]) return;
  const y = plots[1].toY(rate);
  const [x1, x2] = [plots[1].toX(scene.point.x), plots[1].toX(scene.other.x)];
  add(inside[1], "line", { class: "secant", x1, x2, y1: y, y2: y });
}

/**
 * Whether a point of the plane is inside a panel.
 * @param {Plot} plot
 * @param {Scene} scene
 * @param {number} x
 * @param {number} y
 */
function shows(plot, scene, x, y) {
  const height = scene.log ? Math.abs(y) : y;
  return x >= scene.view.lo && x <= scene.view.hi && height >= plot.range.lo && height <= plot.range.hi;
}

/** @param {Element} parent @param {Plot} plot @param {Scene} scene */
function drawValue(parent, plot, scene) {
  const value = scene.point.values[plot.row];
  if (!shows(plot, scene, scene.point.x, value)) return;
  const [x, y] = [plot.toX(scene.point.x), plot.toY(value)];
  add(parent, "circle", { class: "halo", cx: x, cy: y, r: 7 });
  add(parent, "circle", { class: `dot order${plot.row}`, cx: x, cy: y, r: 4 });
  drawLabel(parent, plot, scene, [x, y], "number", valueWord(scene.words, plot.row, scene.point));
}

/** A number beside its point, away from lines. @param {Element} parent @param {Plot} plot @param {Scene} scene @param {[number, number]} spot @param {string} name @param {string} text */
function drawLabel(parent, plot, scene, spot, name, text) {
  const label = placeLabel(spot, text, { lines: linesNear(plot, scene, spot[0]), boxes: [], width: plot.width, height: plot.height });
  add(parent, "text", { class: name, x: label.x, y: label.y, "text-anchor": label.anchor }, text);
}

/** Lines that a label near x keeps away from: the curve, the tangent, the tie and the axis. @param {Plot} plot @param {Scene} scene @param {number} x in pixels @returns {[number, number][][]} */
function linesNear(plot, scene, x) {
  const reach = 180;
  /** @type {[number, number][]} */
  const line = [];
  scene.samples.x.forEach((at, i) => {
    const px = plot.toX(at);
    const py = plot.toY(scene.samples.rows[plot.row][i]);
    if (Math.abs(px - x) < reach && Number.isFinite(py)) line.push([px, Math.min(Math.max(py, -500), plot.height + 500)]);
  });
  const { point } = scene;
  const zero = plot.toY(0);
  /** @type {[number, number][][]} */
  const lines = [line, [[x, 0], [x, plot.height]], [[x - reach, zero], [x + reach, zero]]];
  if (plot.row === 0 && !scene.log && Number.isFinite(point.values[1])) {
    const rise = (plot.toY(point.values[0] + point.values[1]) - plot.toY(point.values[0])) / (plot.toX(point.x + 1) - plot.toX(point.x));
    const y = plot.toY(point.values[0]);
    const far = Math.min(reach, 400 / Math.max(Math.abs(rise), 1e-9));
    lines.push([[x - far, y - rise * far], [x + far, y + rise * far]]);
    const [ox, oy] = [plot.toX(scene.other.x), plot.toY(scene.other.values[0])];
    if (scene.secant && Number.isFinite(oy)) lines.push([[2 * x - ox, 2 * y - oy], [ox, oy]]);
  }
  return lines;
}

/** @param {Element} parent @param {Plot} plot @param {Scene} scene */
function drawSlopeLabel(parent, plot, scene) {
  const [value, slope] = scene.point.values;
  if (!shows(plot, scene, scene.point.x, value) || !Number.isFinite(slope)) return;
  drawLabel(parent, plot, scene, [plot.toX(scene.point.x), plot.toY(value)], "number slope", `slope ${valueWord(scene.words, 1, scene.point)}`);
}

/**
 * @param {SVGElement | undefined} handle
 * @param {Plot} plot
 * @param {Scene} scene
 * @param {Reading} at
 * @param {boolean} shown
 */
function moveHandle(handle, plot, scene, at, shown) {
  if (!handle) return;
  const inView = at.x >= scene.view.lo && at.x <= scene.view.hi;
  handle.style.display = shown && inView ? "" : "none";
  if (!shown || !inView) return;
  // Where f has no value the handle rests on the lower edge, so that it can be found and moved on.
  const y = Number.isFinite(at.values[0]) ? plot.toY(at.values[0]) : plot.height;
  const clamped = Math.min(Math.max(y, 0), plot.height);
  handle.setAttribute("transform", `translate(${plot.left + plot.toX(at.x)} ${plot.top + clamped})`);
  handle.classList.toggle("undefined", !Number.isFinite(at.values[0]));
  const text = at === scene.point ? pointSentence(scene.words, at, scene.grain, scene.markHere) : placeInText(at.x, scene.grain);
  const told = { "aria-valuemin": scene.domain.lo, "aria-valuemax": scene.domain.hi, "aria-valuenow": at.x, "aria-valuetext": text };
  for (const [name, value] of Object.entries(told)) handle.setAttribute(name, String(value));
}
