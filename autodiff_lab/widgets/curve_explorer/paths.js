// Geometry of the pictures: lines through samples with gaps and marks, tangents cut to a panel, and hits on handles.

/** @typedef {import("./samples.js").Samples} Samples */
/** @typedef {import("./samples.js").Mark} Mark */
/** @typedef {[number, number]} Point */
/** @typedef {(value: number) => number} Scale */

const FAR = 20000; // pixels; renderers lose precision beyond

/**
 * Runs of points that are joined by a line: broken where a value is not finite and at every mark, where each side
 * ends on its one-sided limit.
 * @param {Samples} samples
 * @param {number} row
 * @param {Mark[]} marks
 * @returns {Point[][]}
 */
export function runs(samples, row, marks) {
  const values = samples.rows[row];
  /** @type {Point[][]} */
  const all = [];
  /** @type {Point[]} */
  let run = [];
  const close = () => {
    if (run.length) all.push(run);
    run = [];
  };
  let next = marks.findIndex(mark => mark.x >= samples.x[0]);
  if (next < 0) next = marks.length;
  samples.x.forEach((x, i) => {
    let onBreak = false;
    for (; next < marks.length && marks[next].x <= x; next += 1) {
      const [left, right] = marks[next].limits[row] ?? [null, null];
      if (left !== null) run.push([marks[next].x, left]);
      if (!breaksRow(marks[next], row)) continue;
      close();
      if (right !== null) run.push([marks[next].x, right]);
      onBreak = marks[next].x === x;
    }
    if (onBreak) return; // the value on the mark itself belongs to neither side
    if (Number.isFinite(values[i])) run.push([x, values[i]]);
    else close();
  });
  close();
  return all;
}

/**
 * Whether a mark breaks the line of this row: a kink leaves f in one piece.
 * @param {Mark} mark
 * @param {number} row
 */
export const breaksRow = (mark, row) => row > 0 || mark.kind !== "kink";

/**
 * At most four points of a run for every pixel column: the first, the lowest, the highest and the last.
 * @param {Point[]} points in pixels, sorted by x
 * @returns {Point[]}
 */
export function decimate(points) {
  /** @type {Point[]} */
  const kept = [];
  for (let start = 0; start < points.length; ) {
    const column = Math.floor(points[start][0]);
    let [end, low, high] = [start, start, start];
    while (end + 1 < points.length && Math.floor(points[end + 1][0]) === column) {
      end += 1;
      if (points[end][1] < points[low][1]) low = end;
      if (points[end][1] > points[high][1]) high = end;
    }
    const chosen = [...new Set([start, low, high, end])].sort((a, b) => a - b);
    kept.push(...chosen.map(index => points[index]));
    start = end + 1;
  }
  return kept;
}

/**
 * The `d` of one curve. A run of a single point is drawn as a dot (a line of no length, with round caps).
 * @param {Samples} samples
 * @param {number} row
 * @param {Mark[]} marks
 * @param {Scale} toX
 * @param {Scale} toY
 */
export function curve(samples, row, marks, toX, toY) {
  const far = (/** @type {number} */ value) => Math.min(Math.max(value, -FAR), FAR);
  return runs(samples, row, marks)
    .map(run => decimate(run.map(([x, y]) => [toX(x), far(toY(y))])))
    .map(run => (run.length > 1 ? run : [...run, ...run]))
    .map(run => `M${run.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L")}`)
    .join("");
}

/**
 * The part of the line through (x, y) with this slope that lies inside a box of the plane, or null.
 * @param {number} x
 * @param {number} y
 * @param {number} slope
 * @param {{ left: number, right: number, bottom: number, top: number }} box
 * @returns {[Point, Point] | null}
 */
export function through(x, y, slope, box) {
  if (!Number.isFinite(x) || !Number.isFinite(y) || Number.isNaN(slope)) return null;
  if (!Number.isFinite(slope)) return [[x, box.bottom], [x, box.top]];
  let [from, to] = [box.left, box.right];
  if (slope !== 0) {
    const edges = [x + (box.bottom - y) / slope, x + (box.top - y) / slope].sort((a, b) => a - b);
    [from, to] = [Math.max(from, edges[0]), Math.min(to, edges[1])];
  } else if (y < box.bottom || y > box.top) return null;
  return from < to ? [[from, y + slope * (from - x)], [to, y + slope * (to - x)]] : null;
}

/**
 * Name of the handle that a press at (x, y) means: the nearest one; the x direction counts alone when none is close.
 * @param {{ name: string, x: number, y: number }[]} handles in pixels
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @returns {string}
 */
export function hit(handles, x, y, reach) {
  const near = handles
    .map(handle => ({ name: handle.name, distance: Math.hypot(handle.x - x, handle.y - y) }))
    .filter(handle => handle.distance <= reach)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.name ?? handles[0].name;
}
