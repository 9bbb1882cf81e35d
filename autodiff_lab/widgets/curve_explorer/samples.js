// The samples of f and its derivatives: decoding, looking up, and filling in between them where no kernel can.

/**
 * `rows[k]` holds the k-th derivative at every x; all of them were computed by the tape unless `interpolated`.
 * @typedef {{ x: Float64Array, rows: Float64Array[], interpolated: boolean }} Samples
 *
 * A place where f or f' breaks; `limits[k]` are the values of the k-th derivative just left and right of it.
 * @typedef {{ x: number, kind: "kink" | "jump" | "pole", limits: [number | null, number | null][] }} Mark
 *
 * @typedef {{ x: number, values: number[], interpolated: boolean }} Reading
 */

/**
 * Samples from the bytes that Python sent: float64, little endian, x first and then row after row.
 * @param {DataView | ArrayBuffer} bytes
 * @param {number} rows how many rows there are, x not counted
 * @returns {Samples}
 */
export function decode(bytes, rows) {
  const view = bytes instanceof ArrayBuffer ? new DataView(bytes) : bytes;
  const count = view.byteLength / 8 / (rows + 1);
  const read = (/** @type {number} */ row) =>
    Float64Array.from({ length: count }, (_, i) => view.getFloat64(8 * (row * count + i), true));
  return { x: read(0), rows: Array.from({ length: rows }, (_, row) => read(row + 1)), interpolated: false };
}

/**
 * Index of the sample nearest to `value`; `x` is sorted.
 * @param {Float64Array} x
 * @param {number} value
 */
export function nearest(x, value) {
  const right = after(x, value);
  if (right <= 0) return 0;
  if (right >= x.length) return x.length - 1;
  return value - x[right - 1] <= x[right] - value ? right - 1 : right;
}

/**
 * Index of the first sample at or right of `value`.
 * @param {Float64Array} x
 * @param {number} value
 */
export function after(x, value) {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * What is known at one sample.
 * @param {Samples} samples
 * @param {number} index
 * @returns {Reading}
 */
export function reading({ x, rows, interpolated }, index) {
  return { x: x[index], values: rows.map(row => row[index]), interpolated };
}

/**
 * The part of the samples in [lo, hi], with one more on each side so that a curve reaches the edge.
 * @param {Samples} samples
 * @param {number} lo
 * @param {number} hi
 * @returns {Samples}
 */
export function within({ x, rows, interpolated }, lo, hi) {
  const [first, last] = [Math.max(after(x, lo) - 1, 0), Math.min(after(x, hi) + 1, x.length)];
  return { x: x.slice(first, last), rows: rows.map(row => row.slice(first, last)), interpolated };
}

/**
 * The finer grid for a view, or null where the samples are fine enough already. Its points contain those of the base
 * grid (steps are halved), so that a point does not move when one zooms in.
 * @param {Samples} base
 * @param {{ lo: number, hi: number }} view
 * @returns {{ lo: number, hi: number, n: number, step: number } | null}
 */
export function finerGrid(base, view) {
  const [start, end] = [base.x[0], base.x[base.x.length - 1]];
  // The widest step is the grid's: requested points may lie between its samples.
  const baseStep = base.x.reduce((widest, x, i) => (i ? Math.max(widest, x - base.x[i - 1]) : 0), 0);
  const width = view.hi - view.lo;
  const level = Math.ceil(Math.log2((end - start) / width) - 1);
  if (level <= 0) return null;
  const step = baseStep / 2 ** level;
  const first = Math.max(Math.floor((view.lo - width / 2 - start) / step), 0);
  const last = Math.min(Math.ceil((view.hi + width / 2 - start) / step), Math.round((end - start) / step));
  return { lo: start + first * step, hi: start + last * step, n: last - first + 1, step };
}

/**
 * Samples on a finer grid without a kernel: cubic Hermite between neighbours (their slopes are known exactly), and a
 * straight continuation up to a mark, never across it.
 * @param {Samples} base
 * @param {{ lo: number, hi: number, n: number }} grid
 * @param {Mark[]} marks
 * @returns {Samples}
 */
export function interpolate(base, grid, marks) {
  const x = Float64Array.from({ length: grid.n }, (_, i) => grid.lo + ((grid.hi - grid.lo) * i) / (grid.n - 1));
  const rows = base.rows.map((_, row) => x.map(value => between(base, row, value, marks)));
  return { x, rows, interpolated: true };
}

/**
 * @param {Samples} base
 * @param {number} row
 * @param {number} value
 * @param {Mark[]} marks
 */
function between(base, row, value, marks) {
  const right = Math.min(Math.max(after(base.x, value), 1), base.x.length - 1);
  const left = right - 1;
  if (value === base.x[right]) return base.rows[row][right];
  if (value === base.x[left]) return base.rows[row][left];
  const [a, b] = [base.x[left], base.x[right]];
  const mark = marks.find(candidate => candidate.x > a && candidate.x < b);
  if (mark && value >= mark.x) return end(base, marks, row, right, 0) + (value - b) * end(base, marks, row + 1, right, 0);
  if (mark) return end(base, marks, row, left, 1) + (value - a) * end(base, marks, row + 1, left, 1);
  const [p, q] = [end(base, marks, row, left, 1), end(base, marks, row, right, 0)];
  const [dp, dq] = [end(base, marks, row + 1, left, 1), end(base, marks, row + 1, right, 0)];
  const h = b - a;
  const t = (value - a) / h;
  if (row + 1 >= base.rows.length) return p + t * (q - p);
  return (
    (1 + 2 * t) * (1 - t) ** 2 * p + t * (1 - t) ** 2 * h * dp + t * t * (3 - 2 * t) * q + t * t * (t - 1) * h * dq
  );
}

/**
 * The value at one end of an interval; where a mark sits on that very sample, the limit from inside the interval.
 * @param {Samples} base
 * @param {Mark[]} marks
 * @param {number} row
 * @param {number} index
 * @param {0 | 1} side 0: the interval lies left of the sample, 1: right of it
 */
function end(base, marks, row, index, side) {
  if (row >= base.rows.length) return 0; // no slope is known for the last row: continue level
  const mark = marks.find(candidate => candidate.x === base.x[index]);
  return mark?.limits[row]?.[side] ?? base.rows[row][index];
}
