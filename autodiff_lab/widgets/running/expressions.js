// Elementwise twins: the expression of an op, a tree, made into a function of one element of each input.  Every result
// on the way is rounded to the dtype, as an array would be; no text is ever evaluated.

import { remembered, sizeOf } from "../basics.js";
import { NotHere, broadcast, commonShape, positions, rounded, roundingOf, taken, viewOf } from "./arrays.js";
import { FUNCTIONS, fn } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */
/** @typedef {number | string | any[]} Tree an input by its position, a name, or [operator, ...operands] */
/** @typedef {(inputs: Float64Array) => number} Element */

/** @type {Record<string, number>} */
const NAMES = { zero: 0, one: 1, infinity: Infinity };

/** Results that are exact, and need no rounding. */
const EXACT = new Set("neg abs < <= > >= == != & | not choose larger smaller floor ceil nearest trunc sign".split(" "));

fn("neg", (x) => -x);
fn("+", (x, y) => x + y);
fn("-", (x, y) => x - y);
fn("*", (x, y) => x * y);
fn("/", (x, y) => x / y);
fn("<", (x, y) => x < y);
fn("<=", (x, y) => x <= y);
fn(">", (x, y) => x > y);
fn(">=", (x, y) => x >= y);
fn("==", (x, y) => x === y);
fn("!=", (x, y) => x !== y);
fn("&", (x, y) => x && y);
fn("|", (x, y) => x || y);
fn("not", (x) => !x);
fn("choose", (condition, x, y) => (condition ? x : y));
fn("larger", (x, y) => Math.max(x, y));
fn("smaller", (x, y) => Math.min(x, y));
fn("nearest", (x) => {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (!(rest > 0)) return x;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor || 0 * x : Math.ceil(x);
});
for (const name of /** @type {const} */ (["exp", "expm1", "log", "log1p", "sqrt", "abs", "tanh", "sin", "cos", "tan", "floor", "ceil", "trunc",
  "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "atan2"])) fn(name, Math[name]);
fn("sigmoid", (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))));
fn("softplus", (x) => (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x))));
fn("power", (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y)); // C's pow, with 1 where JavaScript says nan
fn("floor_quotient", (x, y) => { // as NumPy computes it, from the remainder
  if (y === 0) return x / y;
  const rest = x % y;
  const quotient = (x - rest) / y - (rest !== 0 && (rest < 0) !== (y < 0) ? 1 : 0);
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
});
fn("floor_mod", (x, y) => { // with the sign of y, as in Python
  const rest = x % y;
  if (rest === 0) return Math.sign(y) < 0 ? -0 : 0;
  return (rest < 0) === (y < 0) ? rest : rest + y;
});
fn("remainder", (x, y) => x % y);
for (const [name, of] of /** @type {[string, (x: bigint, y: bigint) => bigint][]} */ ([["bit_and", (x, y) => x & y], ["bit_or", (x, y) => x | y],
  ["bit_xor", (x, y) => x ^ y]])) fn(name, (x, y) => Number(of(BigInt(x), BigInt(y))));

/**
 * Make a function of one element from a tree.
 * @param {Tree} tree
 * @param {(value: number) => number} round
 * @returns {Element}
 */
function elementOf(tree, round) {
  if (typeof tree === "number") return (inputs) => inputs[tree];
  const [head, ...operands] = tree;
  if (typeof tree === "string" || head === "number") {
    const value = round(typeof tree === "string" ? NAMES[tree] : Number(operands[0]));
    return () => value;
  }
  const of = FUNCTIONS[head];
  if (!of) throw new NotHere(`${head} is not computed in the page`);
  const [a, b, c] = operands.map((operand) => elementOf(operand, round));
  if (c) return (inputs) => of(a(inputs), b(inputs), c(inputs));
  if (EXACT.has(head)) return b ? (inputs) => of(a(inputs), b(inputs)) : (inputs) => of(a(inputs));
  return b ? (inputs) => round(of(a(inputs), b(inputs))) : (inputs) => round(of(a(inputs)));
}

/** Functions made of trees, by dtype. @type {(tree: any[]) => Map<string, Element>} */
const madeOf = remembered(() => new Map());

/**
 * Compute an elementwise op.
 * @param {any[]} tree
 * @param {Arr[]} ins
 * @param {Spec} out
 * @returns {Arr}
 */
export function evaluate(tree, ins, out) {
  const dtype = out.dtype === "bool" ? "float64" : out.dtype;
  const made = madeOf(tree);
  const element = made.get(dtype) ?? elementOf(tree, roundingOf(dtype));
  made.set(dtype, element);
  const shape = commonShape([...ins.map((x) => x.shape), out.shape]);
  const values = new Float64Array(ins.length);
  const spread = ins.map((x) => (String(x.shape) === String(shape) ? x.data : taken(x.data, positions(broadcast(viewOf(x.shape), shape)))));
  const numbers = new Float64Array(sizeOf(shape));
  for (let at = 0; at < numbers.length; at += 1) {
    for (let k = 0; k < ins.length; k += 1) values[k] = spread[k][at];
    numbers[at] = element(values);
  }
  return rounded(out, numbers);
}
