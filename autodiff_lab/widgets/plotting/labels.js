// Places for labels: beside what they name, away from lines and from each other.  The twin of draw/plots/labels.py.

/** @typedef {[number, number]} Spot */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */
/** @typedef {{ x: number, y: number, anchor: "start" | "middle" | "end", box: Box }} Placed */

const LETTER_WIDTH = 0.6; // of the size
/** @type {[number, number, "start" | "middle" | "end"][]} */
const AROUND = [
  [12, 5, "start"], [12, -12, "start"], [12, 22, "start"], [0, -14, "middle"], [0, 26, "middle"],
  [-12, -12, "end"], [-12, 22, "end"], [-12, 5, "end"], [24, -28, "start"], [24, 38, "start"], [-24, -28, "end"], [-24, 38, "end"],
];

/** @param {number} x @param {number} y @param {string} text @param {"start" | "middle" | "end"} anchor @param {number} size @returns {Box} */
function textBox(x, y, text, anchor, size) {
  const width = LETTER_WIDTH * size * text.length;
  const left = x - { start: 0, middle: width / 2, end: width }[anchor];
  return { left, top: y - size, right: left + width, bottom: y + 0.3 * size };
}

/** How much of a line runs through a box: points taken every few pixels. @param {Box} box @param {Spot[]} line */
export function crossings(box, line) {
  let count = 0;
  for (let i = 1; i < line.length; i += 1) {
    const [[x1, y1], [x2, y2]] = [line[i - 1], line[i]];
    const parts = Math.min(Math.max(1, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 4)), 1000);
    for (let part = 0; part <= parts; part += 1) {
      const [x, y] = [x1 + ((x2 - x1) * part) / parts, y1 + ((y2 - y1) * part) / parts];
      if (x > box.left - 2 && x < box.right + 2 && y > box.top && y < box.bottom) count += 1;
    }
  }
  return count;
}

/** @param {Box} a @param {Box} b */
const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * The first of the places around a point that crosses least.
 * @param {Spot} point
 * @param {string} text
 * @param {{ lines: Spot[][], boxes: Box[], width: number, height: number, size?: number }} around
 * @returns {Placed}
 */
export function placeLabel([px, py], text, { lines, boxes, width, height, size = 14 }) {
  /** @type {Placed | null} */
  let best = null;
  let least = Infinity;
  AROUND.forEach(([dx, dy, anchor], rank) => {
    const box = textBox(px + dx, py + dy, text, anchor, size);
    const outside = Math.max(0, -box.left) + Math.max(0, box.right - width) + Math.max(0, -box.top) + Math.max(0, box.bottom - height);
    const crossed = lines.reduce((sum, line) => sum + crossings(box, line), 0);
    const covered = boxes.filter(other => overlaps(box, other)).length;
    const cost = 10 * outside + 4 * crossed + 60 * covered + rank;
    if (cost < least) [best, least] = [{ x: px + dx, y: py + dy, anchor, box }, cost];
  });
  return /** @type {Placed} */ (/** @type {unknown} */ (best));
}
