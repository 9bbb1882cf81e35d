// Slopes measured with a step: quotients in the dtype that is shown, their errors, cancelled digits.  Pure; the twin of
// draw/steps.py.

import { short } from "../numbers.js";

/** @typedef {"float64" | "float32"} Dtype */
/** @typedef {{ here: number, h: number[], plus: (number | null)[], minus: (number | null)[] }} Values */
/**
 * @typedef {{ name: string, x: number, derivatives: (number | null)[], values: Record<Dtype, Values> }} StepFacts
 * @typedef {{ dtype: Dtype, central: boolean }} Formula
 * @typedef {{ name: string, factor: number, power: number }} Guide
 */

/** Digits that tell every number from its neighbours. */
const HELD = { float64: 17, float32: 9 };
const ROUNDOFF = { float64: 2 ** -53, float32: 2 ** -24 };
const SUPERSCRIPT_MINUS = "−";

/** @param {number | null | undefined} value */
const known = value => (value === null || value === undefined ? NaN : value);

/** The measured slopes, rounded after each operation as the dtype does. @param {StepFacts} facts @param {Formula} formula */
export function slopesOf(facts, { dtype, central }) {
  const { here, h, plus, minus } = facts.values[dtype];
  const kept = dtype === "float32" ? Math.fround : (/** @type {number} */ value) => value;
  return h.map((step, i) => (central
    ? kept(kept(known(plus[i]) - known(minus[i])) / kept(step + step))
    : kept(kept(known(plus[i]) - known(here)) / step)));
}

/** @param {StepFacts} facts @param {Formula} formula */
export const errorsOf = (facts, formula) => slopesOf(facts, formula).map(slope => Math.abs(slope - known(facts.derivatives[0])));

/** How many steps there are in a decade. @param {number[]} h */
export const perDecade = h => Math.max(1, Math.round((h.length - 1) / Math.log10(h[h.length - 1] / h[0])));

/** Errors within a quarter of a decade of each step, without those that are missing. @param {number[]} h @param {number[]} errors */
function neighbourhoods(h, errors) {
  const half = Math.max(1, Math.floor(perDecade(h) / 4));
  return errors.map((_, i) => errors.slice(Math.max(0, i - half), i + half + 1).filter(Number.isFinite));
}

/** The smallest and the largest error around each step. @param {number[]} h @param {number[]} errors @param {number} floor */
export function envelopeOf(h, errors, floor) {
  const windows = neighbourhoods(h, errors).map(window => window.map(error => Math.max(error, floor)));
  return { low: windows.map(each => Math.min(...each)), high: windows.map(each => Math.max(...each)) };
}

/** Index of the step whose neighbourhood has the smallest median error, and that error. @param {number[]} h @param {number[]} errors */
export function bestStep(h, errors) {
  let best = { index: 0, error: Infinity };
  neighbourhoods(h, errors).forEach((window, i) => {
    const sorted = window.sort((a, b) => a - b);
    const middle = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
    if (middle < best.error) best = { index: i, error: middle };
  });
  return best;
}

/** Logarithmic axes in whole decades. @param {number[]} h @param {number[]} errors */
export function axesOf(h, errors) {
  const positive = errors.filter(error => error > 0 && Number.isFinite(error));
  const high = positive.length ? Math.ceil(Math.log10(Math.max(...positive))) : 0;
  const low = Math.max(positive.length ? Math.floor(Math.log10(Math.min(...positive))) : -16, high - 24);
  return {
    x: { lo: h[0], hi: h[h.length - 1], log: true, name: "step h" },
    y: { lo: 10 ** low, hi: 10 ** Math.max(high, low + 1), log: true, name: "error of the slope" },
  };
}

/** The two errors that meet: too coarse, and lost digits. @param {StepFacts} facts @param {Formula} formula @returns {Guide[]} */
export function guidesOf(facts, { dtype, central }) {
  const power = central ? 2 : 1;
  const bent = Math.abs(known(facts.derivatives[power])) / (central ? 6 : 2);
  const lost = (central ? 1 : 2) * ROUNDOFF[dtype] * Math.abs(known(facts.values[dtype].here));
  const both = [{ name: `slope ${power}`, factor: bent, power }, { name: "slope −1", factor: lost, power: -1 }];
  return both.filter(({ factor }) => factor > 0 && Number.isFinite(factor));
}

/**
 * A number with all digits that its dtype holds, zeros at the end too: they may be what is left of a difference.
 * @param {number} value
 * @param {Dtype} dtype
 */
export function digitsOf(value, dtype) {
  if (!Number.isFinite(value)) return "no value";
  return value.toPrecision(HELD[dtype]).replace("-", SUPERSCRIPT_MINUS);
}

/**
 * Where two numbers, written out, stop being equal: the length of what cancels, and how many digits are left of the longer.
 * @param {string} one
 * @param {string} other
 */
export function cancelled(one, other) {
  const exponent = (/** @type {string} */ text) => text.split("e")[1] ?? "";
  const point = (/** @type {string} */ text) => text.split("e")[0].split(".")[0].length;
  let same = 0;
  if (exponent(one) === exponent(other) && point(one) === point(other)) {
    while (same < one.length && same < other.length && one[same] === other[same] && one[same] !== "e") same += 1;
  }
  if (one === other) same = one.length;
  const left = (/** @type {string} */ text) => text.slice(same).split("e")[0].replace(/\D/g, "").length;
  return { same, left: one === other ? 0 : Math.max(left(one), left(other)) };
}

/** The two numbers whose difference is taken. @param {StepFacts} facts @param {Formula} formula @param {number} index */
export function stripOf(facts, { dtype, central }, index) {
  const { here, plus, minus } = facts.values[dtype];
  const rows = [
    { name: "f(x + h)", text: digitsOf(known(plus[index]), dtype) },
    { name: central ? "f(x − h)" : "f(x)", text: digitsOf(known(central ? minus[index] : here), dtype) },
  ];
  return { rows, ...cancelled(rows[0].text, rows[1].text) };
}

/** One sentence about one step. @param {StepFacts} facts @param {Formula} formula @param {number} index */
export function stepSentence(facts, formula, index) {
  const step = facts.values[formula.dtype].h[index];
  const [slope, error] = [slopesOf(facts, formula)[index], errorsOf(facts, formula)[index]];
  if (!Number.isFinite(slope)) return `With h = ${short(step, 3)} the quotient has no value.`;
  const { left } = stripOf(facts, formula, index);
  const kept = left === 0 ? "All digits cancel" : `${left} ${left === 1 ? "digit is" : "digits are"} left, the others cancel`;
  return `With h = ${short(step, 3)} the slope comes out as ${short(slope)}, wrong by ${short(error, 2)}. ${kept}.`;
}
