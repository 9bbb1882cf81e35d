// Contours of a sampled surface by marching squares; the twin of draw/plots/contours.py.

/** @typedef {[number, number]} Spot */

/** @type {Record<number, [number, number][]>} */
const JOINED = {
  1: [[3, 0]], 2: [[0, 1]], 3: [[3, 1]], 4: [[1, 2]], 6: [[0, 2]], 7: [[3, 2]],
  8: [[2, 3]], 9: [[2, 0]], 11: [[2, 1]], 12: [[1, 3]], 13: [[1, 0]], 14: [[0, 3]],
};

/** Pieces of the two cases in which the corners alternate, by whether the mean is above. @param {number} index @param {boolean} above @returns {[number, number][]} */
function alternating(index, above) {
  if (index === 5) return above ? [[3, 2], [1, 0]] : [[3, 0], [1, 2]];
  return above ? [[0, 3], [2, 1]] : [[0, 1], [2, 3]];
}

/**
 * The lines on which a surface has one height: `heights[row * x.length + column]`, a row for each y.
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {ArrayLike<number>} heights
 * @param {number} level
 * @returns {Spot[][]}
 */
export function contourLines(x, y, heights, level) {
  const n = x.length;
  /** @type {[number, number][]} */
  const pieces = [];
  for (let row = 0; row + 1 < y.length; row += 1) {
    for (let column = 0; column + 1 < n; column += 1) {
      const corner = row * n + column;
      const corners = [heights[corner], heights[corner + 1], heights[corner + n + 1], heights[corner + n]];
      if (!corners.every(Number.isFinite)) continue;
      const index = corners.reduce((sum, height, k) => sum + (height > level ? 2 ** k : 0), 0);
      if (index === 0 || index === 15) continue;
      const mean = corners.reduce((sum, height) => sum + height, 0) / 4;
      for (const [one, other] of JOINED[index] ?? alternating(index, mean > level)) {
        pieces.push([edgeKey(corner, n, one), edgeKey(corner, n, other)]);
      }
    }
  }
  return chained(pieces).map(chain => chain.map(edge => crossing(x, y, heights, level, edge)));
}

/** An edge, the same from both of its cells: twice its first corner, odd where it goes up. @param {number} corner @param {number} n @param {number} side */
const edgeKey = (corner, n, side) => 2 * (corner + [0, 1, n, 0][side]) + (side % 2);

/** @param {ArrayLike<number>} x @param {ArrayLike<number>} y @param {ArrayLike<number>} heights @param {number} level @param {number} edge @returns {Spot} */
function crossing(x, y, heights, level, edge) {
  const n = x.length;
  const [corner, up] = [Math.floor(edge / 2), edge % 2];
  const [row, column] = [Math.floor(corner / n), corner % n];
  const first = heights[corner];
  const part = (level - first) / (heights[corner + (up ? n : 1)] - first);
  if (up) return [x[column], y[row] + part * (y[row + 1] - y[row])];
  return [x[column] + part * (x[column + 1] - x[column]), y[row]];
}

/** Join pieces that share an edge. @param {[number, number][]} pieces @returns {number[][]} */
function chained(pieces) {
  /** @type {Map<number, number[]>} */
  const at = new Map();
  pieces.forEach((piece, number) => piece.forEach(edge => at.set(edge, [...(at.get(edge) ?? []), number])));
  const alone = (/** @type {number} */ edge) => at.get(edge)?.length === 1;
  const used = pieces.map(() => false);
  /** @type {number[][]} */
  const chains = [];
  const starts = pieces.map((_, number) => number);
  for (const number of [...starts.filter(k => pieces[k].some(alone)), ...starts]) {
    if (used[number]) continue;
    used[number] = true;
    const [one, other] = pieces[number];
    const chain = alone(other) ? [other, one] : [one, other];
    for (;;) {
      const following = (at.get(chain[chain.length - 1]) ?? []).find(k => !used[k]);
      if (following === undefined) break;
      used[following] = true;
      const [first, second] = pieces[following];
      chain.push(first === chain[chain.length - 1] ? second : first);
    }
    chains.push(chain);
  }
  return chains;
}

/**
 * Levels that show a surface: evenly many samples between two neighbours.
 * @param {ArrayLike<number>} heights
 * @param {number} count
 */
export function levelsOf(heights, count = 12) {
  const known = Array.from(heights).filter(Number.isFinite).sort((a, b) => a - b);
  const found = Array.from({ length: count }, (_, k) => {
    const place = ((k + 1) / (count + 1)) * (known.length - 1);
    const low = Math.floor(place);
    return known[low] + (place - low) * ((known[low + 1] ?? known[low]) - known[low]);
  });
  return [...new Set(found)].filter(level => level > known[0] && level < known[known.length - 1]);
}
