// What pictures of a function of two numbers share: numbered steps, curvatures and their ellipse.

import { add } from "../plotting/elements.js";
import { acrossOf, downOf, drawLayers } from "../plotting/layers.js";

/** @typedef {import("../plotting/layers.js").Area} Area */
/** @typedef {import("../plotting/layers.js").Layer} Layer */
/** @typedef {[number, number]} Point */
/** The second derivatives xx, xy, yy. @typedef {[number, number, number]} Hessian */

export const MARGIN = { left: 64, top: 32, right: 24, bottom: 48 };
const SIDES = 64; // lines of an ellipse
const APART = 22; // pixels between two numbers at least

/**
 * Curvatures, the smaller first, and the direction of the first.
 * @param {Hessian} hessian
 * @returns {{ values: [number, number], along: Point }}
 */
export function bendsOf([a, b, c]) {
  const [middle, half] = [(a + c) / 2, Math.hypot((a - c) / 2, b)];
  const angle = Math.atan2(2 * b, a - c) / 2 + Math.PI / 2; // of the smaller curvature: across that of the larger
  return { values: [middle - half, middle + half], along: [Math.cos(angle), Math.sin(angle)] };
}

/**
 * The ellipse around a point on which the second-order part has one value, `reach` long in its flattest direction.
 * @param {Point} at
 * @param {Hessian} hessian
 * @param {number} reach
 * @returns {Layer | null} dashed where f does not bend upwards in both directions; null where it does not bend at all
 */
export function ellipseAt(at, hessian, reach) {
  const { values, along: [ux, uy] } = bendsOf(hessian);
  const sizes = values.map(Math.abs);
  const largest = Math.max(...sizes);
  if (!(largest > 0) || !Number.isFinite(largest)) return null;
  const radii = sizes.map(size => 1 / Math.sqrt(Math.max(size, largest * 1e-6)));
  const scale = reach / Math.max(...radii);
  const turns = Array.from({ length: SIDES }, (_, k) => (2 * Math.PI * k) / SIDES);
  const spots = turns.map(turn => [scale * radii[0] * Math.cos(turn), scale * radii[1] * Math.sin(turn)]);
  return {
    kind: "line", role: "now", closed: true, dashed: Math.min(...values) <= 0,
    x: spots.map(([p, q]) => at[0] + p * ux - q * uy), y: spots.map(([p, q]) => at[1] + p * uy + q * ux),
  };
}

/**
 * A path as far as it has gone: its line, its points, and for the first few their numbers.
 * @param {Element} inside
 * @param {Area} area
 * @param {Point[]} points
 * @param {string} role
 * @param {{ numbered?: number, faint?: boolean, dashed?: boolean }} [how]
 */
export function drawSteps(inside, area, points, role, { numbered = 0, faint = false, dashed = false } = {}) {
  const [x, y] = [0, 1].map(k => points.map(point => point[k]));
  drawLayers(inside, area, [
    { kind: "line", role, x, y, faint, dashed },
    { kind: "points", role, x: x.slice(1), y: y.slice(1), size: faint ? 1.5 : 3, hollow: dashed },
  ]);
  let [lastX, lastY] = [Infinity, Infinity];
  points.slice(1, numbered + 1).forEach(([px, py], k) => {
    const [left, top] = [acrossOf(area, px) + 8, downOf(area, py) - 8];
    if (Math.hypot(left - lastX, top - lastY) < APART) return;
    [lastX, lastY] = [left, top];
    add(inside, "text", { class: "label layer role-muted", x: left, y: top }, String(k + 1));
  });
}

/** The point that is shown, with the halo of "now". @param {Element} inside @param {Area} area @param {Point} at @param {string} role */
export function drawNow(inside, area, [px, py], role) {
  const [cx, cy] = [acrossOf(area, px), downOf(area, py)];
  add(inside, "circle", { class: "halo", cx, cy, r: 9 });
  add(inside, "circle", { class: `layer role-${role}`, cx, cy, r: 4 });
}
