// What part of the plane is looked at. Pure: zooming and panning give a new view, heights give the range of a panel.

/**
 * The part of the x axis in view. `anchor` is the x whose value stays in the middle of the upper panel, as under a
 * microscope, which enlarges both directions alike: only so does a curve become straight.
 * @typedef {{ lo: number, hi: number, anchor: number }} View
 *
 * @typedef {{ lo: number, hi: number, narrowest: number }} Domain
 * @typedef {{ lo: number, hi: number }} Range
 */

/** @param {Domain} domain @returns {View} */
export const whole = domain => ({ lo: domain.lo, hi: domain.hi, anchor: (domain.lo + domain.hi) / 2 });

/** @param {View} view @param {Domain} domain */
export const magnification = (view, domain) => (domain.hi - domain.lo) / (view.hi - view.lo);

/**
 * @param {number} lo
 * @param {number} width
 * @param {number} anchor
 * @param {Domain} domain
 * @returns {View}
 */
function fitted(lo, width, anchor, domain) {
  const full = domain.hi - domain.lo;
  if (width >= full) return whole(domain);
  const left = Math.min(Math.max(lo, domain.lo), domain.hi - width);
  const right = left + width;
  return { lo: left, hi: right, anchor: Math.min(Math.max(anchor, left), right) };
}

/**
 * Enlarge by `factor` (below 1: shrink) so that `at` keeps its place on the screen, or comes to the middle.
 * @param {View} view
 * @param {number} factor
 * @param {number} at
 * @param {Domain} domain
 * @param {boolean} [centred]
 * @returns {View}
 */
export function zoom(view, factor, at, domain, centred = false) {
  const old = view.hi - view.lo;
  const width = Math.max(old / factor, domain.narrowest);
  const share = centred ? 0.5 : (at - view.lo) / old;
  return fitted(at - share * width, width, at, domain);
}

/**
 * Move by a share of the width in view.
 * @param {View} view
 * @param {number} share
 * @param {Domain} domain
 * @returns {View}
 */
export function pan(view, share, domain) {
  const width = view.hi - view.lo;
  return fitted(view.lo + share * width, width, view.anchor + share * width, domain);
}

/**
 * The same view, moved as little as needed so that `x` is well inside it.
 * @param {View} view
 * @param {number} x
 * @param {Domain} domain
 * @returns {View}
 */
export function follow(view, x, domain) {
  if (x >= view.lo && x <= view.hi) return view;
  const width = view.hi - view.lo;
  return fitted(x < view.lo ? x - 0.2 * width : x - 0.8 * width, width, x, domain);
}

/**
 * The range of heights that shows these values. With `clip`, a pole does not flatten everything else: a few extreme
 * values may leave the panel.
 * @param {ArrayLike<number>} values
 * @param {{ zero?: boolean, clip?: boolean }} [options]
 * @returns {Range}
 */
export function heights(values, { zero = false, clip = false } = {}) {
  const finite = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!finite.length) return { lo: -1, hi: 1 };
  const last = finite.length - 1;
  let [lo, hi] = [finite[0], finite[last]];
  if (clip) {
    const [low, high] = [finite[Math.round(0.1 * last)], finite[Math.round(0.9 * last)]];
    if (high > low && hi - lo > 3 * (high - low)) {
      lo = Math.max(lo, low - 0.25 * (high - low));
      hi = Math.min(hi, high + 0.25 * (high - low));
    }
  }
  if (zero) [lo, hi] = [Math.min(lo, 0), Math.max(hi, 0)];
  // Rounding noise on a constant is not worth showing.
  const flat = hi - lo <= 1e-12 * Math.max(Math.abs(lo), Math.abs(hi));
  const margin = flat ? Math.max(1, 0.5 * Math.abs(hi)) : 0.08 * (hi - lo);
  return { lo: lo - margin, hi: hi + margin };
}

/**
 * The range of heights on a logarithmic axis: of the sizes that have a logarithm, a decade at least.
 * @param {ArrayLike<number>} values
 * @returns {Range}
 */
export function logHeights(values) {
  const sizes = Array.from(values, Math.abs).filter(size => size > 0 && Number.isFinite(size)).sort((a, b) => a - b);
  if (!sizes.length) return { lo: 0.1, hi: 10 };
  const hi = sizes[sizes.length - 1];
  return { lo: Math.max(sizes[0], hi * 1e-16) / 1.5, hi: Math.max(hi, 10 * sizes[0]) * 1.5 };
}

/**
 * The heights that a microscope of this magnification shows around `centre`, inside the range of the whole curve.
 * @param {Range} full
 * @param {number} magnified
 * @param {number} centre
 * @returns {Range}
 */
export function microscope(full, magnified, centre) {
  const height = (full.hi - full.lo) / magnified;
  const middle = Number.isFinite(centre) ? centre : (full.lo + full.hi) / 2;
  const lo = Math.min(Math.max(middle - height / 2, full.lo), full.hi - height);
  return { lo, hi: lo + height };
}
