// Where things are on the screen: panels of the picture and their axes.  Pure.

/**
 * A panel is one plot; `row` says which derivative it shows.
 * @typedef {{ row: number, left: number, top: number, width: number, height: number }} Panel
 * @typedef {{ width: number, height: number, panels: Panel[], namesInside: boolean }} Frame
 */

const HEIGHTS = [260, 170, 140];
const GAP = 28;
const TOP = 12;
const BOTTOM = 40;

const LETTER = 8; // pixels, of the names of curves

/**
 * Panels for a picture of this width, in pixels, showing f and `order` derivatives.  The names of the curves stand right
 * of the panels, or, where they are too long for a narrow picture, inside.
 * @param {number} width
 * @param {number} order
 * @param {number} letters in the longest name
 * @returns {Frame}
 */
export function frame(width, order, letters) {
  const left = width < 520 ? 48 : 60;
  const room = 22 + LETTER * letters;
  const namesInside = room > Math.max(0.22 * width, 60);
  const right = namesInside ? 20 : Math.max(room, width < 520 ? 0 : 84);
  /** @type {Panel[]} */
  const panels = [];
  let top = TOP;
  for (let row = 0; row <= order; row += 1) {
    const height = HEIGHTS[Math.min(row, HEIGHTS.length - 1)];
    panels.push({ row, left, top, width: Math.max(width - left - right, 80), height });
    top += height + GAP;
  }
  return { width, height: top - GAP + BOTTOM, panels, namesInside };
}
