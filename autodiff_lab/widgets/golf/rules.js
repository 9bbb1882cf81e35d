// The rules of golf on a quadratic: where a stroke ends, how many of one length are needed, and what is said.  Pure.

import { readings, short } from "../numbers.js";

/** @typedef {import("../surface/paper.js").Point} Point */
/** @typedef {import("../surface/paper.js").Hessian} Hessian */
/** @typedef {{ name: string, hessian: Hessian, hole: Point, hidden: boolean, curvatures: [number, number] }} Green */

export const HOLE = 1e-6;
export const MOST = 200;
const TINY = 1e-12; // rounding that nobody needs to read

/** @param {Green} green @param {Point} point @returns {Point} */
export function gradientAt({ hessian: [a, b, c], hole }, [x, y]) {
  const [dx, dy] = [x - hole[0], y - hole[1]];
  return [a * dx + b * dy, b * dx + c * dy];
}

/** f above its lowest value. @param {Green} green @param {Point} point */
export function heightAt(green, point) {
  const [gx, gy] = gradientAt(green, point);
  return ((point[0] - green.hole[0]) * gx + (point[1] - green.hole[1]) * gy) / 2;
}

/** Where the ball lies at first and after each stroke. @param {Green} green @param {Point} tee @param {number[]} strokes */
export function pathOf(green, tee, strokes) {
  const places = [tee];
  for (const h of strokes) {
    const [x, y] = places[places.length - 1];
    const [gx, gy] = gradientAt(green, [x, y]);
    places.push([x - h * gx, y - h * gy]);
  }
  return places;
}

/** @param {Green} green @param {Point} point */
export const isIn = (green, point) => heightAt(green, point) < HOLE;

/**
 * A player who always takes the same length: where the ball lies, and after how many strokes it is in; null for never.
 * @param {Green} green
 * @param {Point} tee
 * @param {number} h
 * @returns {{ places: Point[], count: number | null }}
 */
export function rivalOf(green, tee, h) {
  const all = pathOf(green, tee, Array(MOST).fill(h));
  const count = all.findIndex(place => isIn(green, place));
  return { places: count < 0 ? all : all.slice(0, count + 1), count: count < 0 ? null : count };
}

/** What a stroke multiplies the error by, along each curvature: its formula and its value. @param {Green} green @param {number} h */
export function factorsOf({ curvatures, hidden }, h) {
  return curvatures.map((k, i) => {
    const times = hidden ? `${"ab"[i]}·` : Math.abs(k - 1) < TINY ? "" : short(k);
    return { text: `1 − ${times}h`, value: 1 - k * h };
  });
}

/** A length as it is typed: a number, or a fraction such as 2/11; null where it is none. @param {string} text */
export function parseStep(text) {
  const numbers = text.split("/").map(part => readings(part).at(-1) ?? NaN); // of the two that a comma allows, the smaller
  const value = numbers.length === 2 ? numbers[0] / numbers[1] : numbers[0];
  return numbers.length <= 2 && Number.isFinite(value) ? value : null;
}

/** @param {Point} point */
export const spotText = ([x, y]) => `(${[x, y].map(value => short(Math.abs(value) < TINY ? 0 : value)).join(", ")})`;

/** @param {Green} green @param {number} number @param {number} h @param {Point} point */
export function strokeText(green, number, h, point) {
  const height = heightAt(green, point);
  return `stroke ${number}: ${short(h)} to ${spotText(point)}, f = ${short(height < TINY ? 0 : height)}`;
}

/** @param {number} strokes @param {number} par */
export function scoreText(strokes, par) {
  const apart = par - strokes;
  const against = apart === 0 ? "on par" : `${Math.abs(apart)} ${apart > 0 ? "under" : "over"} par`;
  return `In the hole after ${strokes} ${strokes === 1 ? "stroke" : "strokes"}, ${against}.`;
}

/** @param {Green} green @param {Point} tee @param {number} h */
export function rivalText(green, tee, h) {
  const { places, count } = rivalOf(green, tee, h);
  const last = heightAt(green, places[places.length - 1]);
  const how = count === null ? `is not in after ${MOST}: f = ${short(last, 2)} then` : `needs ${count} ${count === 1 ? "stroke" : "strokes"}`;
  return `A second player who always takes ${short(h)} ${how}.`;
}

/**
 * Axes with the same scale in both directions that hold all points, with some room around them.
 * @param {Point[]} points
 * @param {number} width in pixels
 * @param {number} height
 */
export function fitted(points, width, height) {
  const shown = points.filter(point => point.every(Number.isFinite));
  const ends = [0, 1].map(k => [Math.min(...shown.map(point => point[k])), Math.max(...shown.map(point => point[k]))]);
  const [across, up] = ends.map(([lo, hi]) => 1.25 * (hi - lo) || 1);
  const scale = Math.max(across / width, up / height);
  const [x, y] = ends.map(([lo, hi], k) => {
    const half = (scale * (k ? height : width)) / 2;
    return { lo: (lo + hi) / 2 - half, hi: (lo + hi) / 2 + half };
  });
  return { x: { ...x, name: "x" }, y: { ...y, name: "y" } };
}
