// Numbers as people read them, with a true minus sign: the page's twin of recording/numbers.py, and labels of ticks.

const PLAIN_BELOW = 1e6;
const PLAIN_FROM = 1e-4;

/** @param {string} text */
const trimmed = text => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/**
 * One number in a few characters: four significant digits, never rounded away to 0.
 * @param {number} value
 * @param {number} [digits]
 */
export function short(value, digits = 4) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "−inf";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < PLAIN_FROM || size >= PLAIN_BELOW) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${trimmed(mantissa)}e${Number(exponent)}`.replaceAll("-", "−");
  }
  const places = Math.max(digits - 1 - Math.floor(Math.log10(size)), 0);
  return trimmed(value.toFixed(places)).replace("-", "−");
}

/**
 * A position on an axis, with as many decimals as tell neighbours `step` apart from each other.
 * @param {number} value
 * @param {number} step
 */
export function place(value, step) {
  if (!(step > 0) || !Number.isFinite(value)) return short(value);
  if (Math.abs(value) >= PLAIN_BELOW || step < 1e-10) return short(value, 12);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const text = value.toFixed(Math.min(decimals, 12));
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/**
 * The same for running text: without the zeros that keep columns steady.
 * @param {number} value
 * @param {number} step
 */
export const placeInText = (value, step) => trimmed(place(value, step));

/**
 * Round tick positions in [lo, hi], about `count` of them at most, and the step between them.
 * @param {number} lo
 * @param {number} hi
 * @param {number} count
 * @returns {{ step: number, values: number[] }}
 */
export function ticks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return { step: 1, values: [] };
  const exponent = Math.floor(Math.log10(raw));
  const power = Number(`1e${exponent}`); // exact, where 10 ** exponent need not be
  const multiple = [1, 2, 5, 10].find(candidate => candidate * power >= raw * 0.75) ?? 10;
  const step = multiple * power;
  const values = [];
  for (let k = Math.ceil(lo / step - 1e-9); k <= Math.floor(hi / step + 1e-9); k += 1) {
    values.push(Number((k * step).toPrecision(15)) + 0);
  }
  return { step, values };
}

/**
 * The label of one tick: decimals for ordinary numbers, an exponent for very large and very small ones.
 * @param {number} value
 * @param {number} step
 */
export function tickText(value, step) {
  const size = Math.max(Math.abs(value), step);
  if (value === 0) return "0";
  return size >= 1e5 || size < 1e-4 ? short(value) : place(value, step);
}
