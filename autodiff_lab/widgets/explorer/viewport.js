// Where the reader looks: pan and zoom as plain numbers.  Pure: no DOM.

/** @typedef {{ x: number, y: number, scale: number }} Look the picture is moved by x, y pixels after scaling */
/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ x: number, y: number, width: number, height: number }} Area */

const LEAST_SCALE = 0.04;
const MOST_SCALE = 4;
/** Pixels, and share of the window, that a panel has at least and at most; in a low window there is room for less. */
const LOWEST = 420;
const LOWEST_OF_ALL = 180;
const AROUND = 320;
const SHARE = 0.7;
const LARGEST_AT_FIRST = 1.5;
const MARGIN = 20;

/**
 * The whole picture, as large as the panel allows, in the middle.
 * @param {Size} picture
 * @param {Size} panel
 * @param {number} [most]
 * @returns {Look}
 */
export function fitted(picture, panel, most = LARGEST_AT_FIRST) {
  const across = (panel.width - 2 * MARGIN) / Math.max(picture.width, 1);
  const down = (panel.height - 2 * MARGIN) / Math.max(picture.height, 1);
  const scale = clamp(Math.min(across, down), LEAST_SCALE, most);
  return { x: (panel.width - picture.width * scale) / 2, y: (panel.height - picture.height * scale) / 2, scale };
}

/**
 * The height of a panel that shows a picture as large as its width allows, within bounds.
 * @param {Size} picture
 * @param {number} width of the panel
 * @param {number} window height
 */
export function roomFor(picture, width, window) {
  const scale = Math.min((width - 2 * MARGIN) / Math.max(picture.width, 1), 1);
  const lowest = clamp(window - AROUND, LOWEST_OF_ALL, LOWEST);
  return Math.round(clamp(picture.height * scale + 2 * MARGIN, lowest, Math.max(lowest, SHARE * window)));
}

/**
 * The box in the middle, but no more empty space at the sides than the margin.
 * @param {Look} look
 * @param {Area} box
 * @param {Size} picture
 * @param {Size} panel
 * @returns {Look}
 */
export function centred(look, box, picture, panel) {
  const { scale } = look;
  return {
    x: held(panel.width / 2 - (box.x + box.width / 2) * scale, picture.width * scale, panel.width),
    y: held(panel.height / 2 - (box.y + box.height / 2) * scale, picture.height * scale, panel.height),
    scale,
  };
}

/**
 * The least movement after which a box is seen whole.
 * @param {Look} look
 * @param {Area} box
 * @param {Size} panel
 * @returns {Look} the same object if nothing has to move
 */
export function revealed(look, box, panel) {
  const x = look.x + pull(box.x * look.scale + look.x, box.width * look.scale, panel.width);
  const y = look.y + pull(box.y * look.scale + look.y, box.height * look.scale, panel.height);
  return x === look.x && y === look.y ? look : { x, y, scale: look.scale };
}

/** @param {number} start @param {number} length @param {number} room */
function pull(start, length, room) {
  if (start >= MARGIN && start + length <= room - MARGIN) return 0;
  return room / 2 - (start + length / 2);
}

/** @param {number} shift @param {number} length @param {number} room */
function held(shift, length, room) {
  if (length <= room - 2 * MARGIN) return (room - length) / 2;
  return clamp(shift, room - length - MARGIN, MARGIN);
}

/**
 * Larger or smaller about a point of the panel, which stays where it is.
 * @param {Look} look
 * @param {number} factor
 * @param {number} x
 * @param {number} y
 * @returns {Look}
 */
export function zoomed(look, factor, x, y) {
  const scale = clamp(look.scale * factor, LEAST_SCALE, MOST_SCALE);
  const ratio = scale / look.scale;
  return { x: x - (x - look.x) * ratio, y: y - (y - look.y) * ratio, scale };
}

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/**
 * The points of a curve as it is written in a scene.
 * @param {string} path
 * @returns {[number, number][]}
 */
export function pointsOf(path) {
  const numbers = (path.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  /** @type {[number, number][]} */
  const points = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) points.push([numbers[at], numbers[at + 1]]);
  return points;
}

/**
 * An arrow head at `tip`, coming from `from`, as path data.
 * @param {[number, number]} from
 * @param {[number, number]} tip
 */
export function arrowHead(from, tip) {
  const length = Math.hypot(tip[0] - from[0], tip[1] - from[1]) || 1;
  const across = (tip[0] - from[0]) / length;
  const down = (tip[1] - from[1]) / length;
  const back = [tip[0] - 7 * across, tip[1] - 7 * down];
  const corner = (/** @type {number} */ side) => (
    `${(back[0] - side * 3.5 * down).toFixed(1)} ${(back[1] + side * 3.5 * across).toFixed(1)}`);
  return `M${tip[0]} ${tip[1]}L${corner(1)}L${corner(-1)}Z`;
}

/**
 * A point of a curve of Bezier pieces; `share` runs from 0 to 1 over the pieces.
 * @param {[number, number][]} points
 * @param {number} share
 * @returns {[number, number]}
 */
export function along(points, share) {
  const pieces = Math.floor((points.length - 1) / 3);
  if (pieces < 1) return points[0] ?? [0, 0];
  const piece = Math.min(Math.floor(share * pieces), pieces - 1);
  const t = share * pieces - piece;
  const [a, b, c, d] = points.slice(3 * piece, 3 * piece + 4);
  const mix = (/** @type {0 | 1} */ axis) => (
    (1 - t) ** 3 * a[axis] + 3 * (1 - t) ** 2 * t * b[axis] + 3 * (1 - t) * t ** 2 * c[axis] + t ** 3 * d[axis]);
  return [mix(0), mix(1)];
}

const DIGIT = 7.4;
const PLACES = [0.38, 0.5, 0.62, 0.26, 0.74, 0.14, 0.86];

/**
 * A place beside a curve where a number covers no box; edges between the same boxes begin at different ends.  None is
 * better than a number across a box: the card has it too.
 * @param {[number, number][]} points
 * @param {number} letters
 * @param {Area[]} boxes
 * @param {number} turn
 * @returns {[number, number] | null} the middle of the base line
 */
export function freePlace(points, letters, boxes, turn) {
  const half = (letters * DIGIT) / 2;
  for (const share of PLACES) {
    const [x, y] = along(points, turn % 2 ? 1 - share : share);
    for (const shift of turn % 2 ? [19, -6] : [-6, 19]) {
      const free = boxes.every((box) => (
        x + half < box.x || x - half > box.x + box.width || y + shift + 3 < box.y || y + shift - 11 > box.y + box.height));
      if (free) return [x, y + shift];
    }
  }
  return null;
}
