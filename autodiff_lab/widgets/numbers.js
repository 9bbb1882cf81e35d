// Numbers as people read them, with a true minus sign: the page's twin of recording/numbers.py.

export const PLAIN_BELOW = 1e6;
const PLAIN_FROM = 1e-4;

/** @param {string} text */
export const trimmed = text => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

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
 * The numbers that a text may stand for: none, one, or two where a comma may group digits or begin decimals.  Nobody
 * writes a decimal 0 at the end, so that 1,500 is grouped; `read_number` of autodiff_lab/lessons does the same.
 * @param {string} text @returns {number[]}
 */
export function readings(text) {
  const plain = text.trim().replace("−", "-");
  const found = [];
  if (/^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(plain)) found.push(Number(plain.replaceAll(",", "")));
  if (/^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(plain) && !(found.length && plain.endsWith("0"))) found.push(Number(plain.replace(",", ".")));
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) found.push(Number(plain));
  return found;
}

/** The fewest digits that tell a number of single precision from its neighbours. @param {number} value */
export function singleText(value) {
  for (let digits = 1; digits < 10; digits += 1) {
    const near = Number(value.toPrecision(digits));
    if (Math.fround(near) === Math.fround(value)) return String(near);
  }
  return String(value);
}
