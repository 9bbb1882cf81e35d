// A plot of layers: lines, points, bands and arrows over two axes.  The twin of draw/plots/svg.py, for live plots.

import { axisTicks, share } from "./axes.js";
import { add } from "./elements.js";

/** @typedef {import("./axes.js").AxisFacts} AxisFacts */
/**
 * One layer; `role` is a colour of the house, the rest as in draw/plots/model.py.
 * @typedef {{ kind: "line" | "points" | "band" | "arrows", role: string, x: number[], y: number[], top?: number[],
 *   dashed?: boolean, faint?: boolean, size?: number, hollow?: boolean, closed?: boolean }} Layer
 *
 * @typedef {{ x: AxisFacts, y: AxisFacts, left: number, top: number, width: number, height: number }} Area
 */

const BEYOND = 5000; // pixels outside of which nothing is drawn

/** @param {Area} area @param {number} value in pixels of the area */
export const acrossOf = (area, value) => bounded(share(area.x, value) * area.width);
/** @param {Area} area @param {number} value */
export const downOf = (area, value) => bounded((1 - share(area.y, value)) * area.height);
/** @param {number} pixel */
const bounded = pixel => Math.min(Math.max(pixel, -BEYOND), BEYOND);

/**
 * The group of a plot, its axes drawn; what is put into `inside` is cut off at its edges.
 * @param {Element} parent @param {Area} area
 * @param {{ across?: number, up?: number, below?: boolean }} [how] pixels between ticks, and whether the x axis is drawn below
 */
export function drawArea(parent, area, { across = 70, up = 48, below = true } = {}) {
  const { left, top, width, height } = area;
  const group = add(parent, "g", { class: "area", transform: `translate(${left} ${top})` });
  for (const { value, text } of axisTicks(area.x, Math.max(3, width / across))) {
    const x = acrossOf(area, value);
    add(group, "line", { class: "grid", x1: x, x2: x, y1: 0, y2: height });
    if (below) add(group, "text", { class: "tick across", x, y: height + 18 }, text);
  }
  for (const { value, text } of axisTicks(area.y, Math.max(3, height / up))) {
    const y = downOf(area, value);
    add(group, "line", { class: value ? "grid" : "grid zero", x1: 0, x2: width, y1: y, y2: y });
    add(group, "text", { class: "tick up", x: -8, y: y + 4 }, text);
  }
  add(group, "path", { class: "axis", d: `M0,0V${height}${below ? `H${width}` : ""}` });
  if (below) add(group, "text", { class: "axis-name across", x: width / 2, y: height + 38 }, area.x.name ?? "");
  add(group, "text", { class: "axis-name", x: -left + 4, y: -8 }, area.y.name ?? "");
  const inside = add(group, "svg", { width, height, overflow: "hidden" });
  return { group, inside };
}

/** @param {Element} inside @param {Area} area @param {Layer[]} layers */
export function drawLayers(inside, area, layers) {
  for (const layer of layers) {
    const css = `layer ${layer.kind} role-${layer.role}${layer.dashed ? " dashed" : ""}${layer.faint ? " faint" : ""}`;
    if (layer.kind === "points") {
      layer.x.forEach((x, i) => {
        const place = { cx: acrossOf(area, x).toFixed(1), cy: downOf(area, layer.y[i]).toFixed(1), r: layer.size ?? 2 };
        add(inside, "circle", { class: `${css}${layer.hollow ? " hollow" : ""}`, ...place });
      });
    } else add(inside, "path", { class: css, d: layerPath(area, layer) });
  }
}

/**
 * The `d` of a layer: a line is broken where a value is not finite, a band goes there and back, arrows are pairs of points.
 * @param {Area} area
 * @param {Layer} layer
 */
export function layerPath(area, layer) {
  const at = (/** @type {number} */ x, /** @type {number} */ y) => `${acrossOf(area, x).toFixed(1)},${downOf(area, y).toFixed(1)}`;
  const { x, y, top = [] } = layer;
  if (layer.kind === "band") {
    const there = x.map((value, i) => at(value, y[i]));
    const back = x.map((value, i) => at(value, top[i])).reverse();
    return there.length ? `M${[...there, ...back].join("L")}Z` : "";
  }
  if (layer.kind === "arrows") {
    return x.map((_, i) => (i % 2 ? "" : arrow(at(x[i], y[i]), at(x[i + 1], y[i + 1])))).join("");
  }
  const known = x.map((value, i) => Number.isFinite(value) && Number.isFinite(y[i]));
  const path = x.map((value, i) => (known[i] ? `${known[i - 1] ? "L" : "M"}${at(value, y[i])}` : "")).join("");
  return layer.closed && path ? `${path}Z` : path;
}

/** A line with a head, as long as the line allows. @param {string} from @param {string} to */
function arrow(from, to) {
  const [x1, y1, x2, y2] = [...from.split(","), ...to.split(",")].map(Number);
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1) return "";
  const size = Math.min(6, 0.5 * length) / length;
  const [dx, dy] = [(x2 - x1) * size, (y2 - y1) * size];
  const side = (/** @type {number} */ by) => `M${to}L${(x2 - dx - by * dy).toFixed(1)},${(y2 - dy + by * dx).toFixed(1)}`;
  return `M${from}L${to}${side(0.6)}${side(-0.6)}`;
}
