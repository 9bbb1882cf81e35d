// Cells: a tensor as a small picture, one cell for each element, or a histogram where there are many.  The same as
// draw/cells.py, and tests/data/cells.json holds both to one table.  Pure but for `drawCells` and `drawFrame`.

import { remembered, sizeOf } from "../basics.js";
import { drawing } from "../dom.js";

/** @import { Value } from "./scene.js" */
/** @typedef {{ rows: number, columns: number }} Grid */
/** @typedef {{ width: number, height: number }} Room */

const ROWS = 8;
const COLUMNS = 16;
const FEW = 6;
const LEVELS = 5;
const LARGEST = 8;

/** The lengths of the axes. @param {Value} value @returns {number[]} */
export const dimsOf = (value) => (value.shape.match(/\d+/g) ?? []).map(Number);

/** They as a value has them. @param {number[]} dims */
export const shapeText = (dims) => (dims.length ? `[${dims.join("×")}]` : "");

/**
 * The rows and columns of a picture of cells; null for few elements, which are written out, and for many.
 * @param {number[]} dims
 * @returns {Grid | null}
 */
export function gridOf(dims) {
  const size = sizeOf(dims);
  if (size <= FEW || size > ROWS * COLUMNS) return null;
  const last = dims[dims.length - 1];
  const columns = last === size ? Math.min(size, COLUMNS) : last;
  const rows = Math.ceil(size / columns);
  return rows <= ROWS && columns <= COLUMNS ? { rows, columns } : null;
}

/** The side of a cell on a node, in pixels. @param {Grid} grid */
export function cellSize({ rows, columns }) {
  if (rows === 1) return Math.floor(Math.min(10, 96 / columns));
  return Math.floor(Math.min(LARGEST, 32 / rows, 80 / columns));
}

/** The elements of a value in row-major order, read from its full text when they are first asked for; null if they were not kept or are not real numbers. */
export const elementsIn = remembered((/** @type {Value} */ value) => {
  if (!/^(u?int|b?float)/.test(value.dtype)) return null;
  const written = value.cells ?? (value.full.match(/[-−]?(?:inf|nan|\d+\.?\d*(?:e[-+]?\d+)?)/g) ?? []);
  if (written.length !== sizeOf(dimsOf(value)) || value.full.includes("the first elements")) return null;
  return written.map(numberOf);
});

/** @param {number | string} written */
function numberOf(written) {
  if (typeof written === "number") return written;
  return Number(written.replace("−", "-").replace("inf", "Infinity").replace("nan", "NaN"));
}

/** The room that the picture of a value takes on a node, which every box asks for at every step; null if it is better written out. */
export const picturedSize = remembered((/** @type {Value} */ value) => {
  const grid = gridOf(dimsOf(value));
  if (!grid) return value.bars ? { width: 48, height: 32 } : null;
  if (!elementsIn(value)) return null;
  const side = cellSize(grid);
  return { width: grid.columns * side, height: grid.rows * side };
});

/** How dark a cell is: 0 for zero, else by its size; -1 for nan and infinity. @param {number} number @param {number} largest */
export function levelOf(number, largest) {
  if (!Number.isFinite(number)) return -1;
  return number && largest ? Math.ceil((LEVELS * Math.abs(number)) / largest) : 0;
}

/**
 * The outline of a cell; that of a negative number has a minus cut out, that of nan is a cross.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} number
 */
function cellPath(x, y, size, number) {
  if (!Number.isFinite(number)) return `M${x} ${y}l${size} ${size}M${x + size} ${y}l${-size} ${size}`;
  const square = `M${x} ${y}h${size}v${size}h${-size}z`;
  if (number >= 0) return square;
  const high = Math.max(1, Math.floor(size / 6));
  return `${square}M${x + 1} ${y + (size - high) / 2}v${high}h${size - 2}v${-high}z`;
}

/**
 * One path for all cells of each level, with the first cell at the origin.
 * @param {number[]} numbers
 * @param {number} columns
 * @param {number} size
 * @returns {Map<number, string>}
 */
export function pathsOf(numbers, columns, size) {
  const largest = numbers.reduce((most, number) => (Number.isFinite(number) ? Math.max(most, Math.abs(number)) : most), 0);
  /** @type {Map<number, string>} */
  const drawn = new Map();
  numbers.forEach((number, at) => {
    const level = levelOf(number, largest);
    if (!level) return;
    const cell = cellPath((at % columns) * size, Math.floor(at / columns) * size, size, number);
    drawn.set(level, (drawn.get(level) ?? "") + cell);
  });
  return drawn;
}

/** The outline of a histogram. @param {number[]} heights from 0 to 100 @param {Room} room */
export function barsPath(heights, { width, height }) {
  const across = width / heights.length;
  return heights.map((share, at) => {
    const up = Math.round((height * share) / 10) / 10;
    return up ? `M${at * across} ${height}v${-up}h${across - 1}v${up}z` : "";
  }).join("");
}

/**
 * Fill a group with the picture of a value, or with an empty frame where there is none yet.
 * @param {SVGGElement} group
 * @param {Value | null} value
 * @param {Room} room
 */
export function drawCells(group, value, room) {
  group.replaceChildren(drawing("rect", { class: "frame", x: -0.5, y: -0.5, width: room.width + 1, height: room.height + 1 }));
  const numbers = value && elementsIn(value);
  const grid = value && gridOf(dimsOf(value));
  if (grid && numbers) {
    for (const [level, path] of pathsOf(numbers, grid.columns, cellSize(grid))) group.append(drawing("path", { class: `level-${level < 0 ? "bad" : level}`, d: path }));
  } else if (value?.bars) group.append(drawing("path", { class: "level-4", d: barsPath(value.bars, room) }));
}
