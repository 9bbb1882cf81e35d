// Values that the page computed, in the words in which draw/values.py writes those that were recorded.  Pure: no DOM.

import { sizeOf } from "../basics.js";
import { histogramOf } from "../explorer/arithmetic.js";
import { gridOf, shapeText } from "../explorer/cells.js";
import { CUT } from "../explorer/words.js";
import { short, singleText } from "../numbers.js";
import { isFloat, largest, smallest, total } from "./arrays.js";

/** @import { Arr, Spec } from "./arrays.js" */
/** @import { Value, Mark } from "../explorer/scene.js" */

const SHOWN = 6;
/** Elements up to which the values that ops made are kept in full, and described by mean and spread. */
const IN_FULL = 64;
const NARROW = 32;
const LONGEST_FULL = 600;

/** @param {number} value @param {string} dtype @param {number} [digits] */
function shortOf(value, dtype, digits = 4) {
  if (dtype === "bool") return value ? "True" : "False";
  return isFloat(dtype) ? short(value, digits) : String(value).replace("-", "−");
}

/** Every digit that tells a number from its neighbours, as Python writes it. @param {number} value @param {string} dtype */
export function fullOf(value, dtype) {
  if (dtype === "bool") return value ? "True" : "False";
  if (!isFloat(dtype)) return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  let text = dtype === "float64" ? String(value) : singleText(value);
  if (Object.is(value, -0)) text = "-0";
  return text.includes("e") ? text.replace(/e([+-])(\d)$/, "e$10$2") : text.includes(".") ? text : `${text}.0`;
}

/** Elements in brackets. @param {number[]} shape @param {(at: number) => string} text @param {number} [from] @returns {string} */
function elementsText(shape, text, from = 0) {
  if (!shape.length) return text(from);
  const [length, ...rest] = shape;
  const width = sizeOf(rest);
  return `[${Array.from({ length }, (_, k) => elementsText(rest, text, from + k * width)).join(", ")}]`;
}

/** Many numbers in one short line, empty for few. @param {Arr} x @param {boolean} leaf */
function bulk({ dtype, data }, leaf) {
  if (data.length <= SHOWN || !isFloat(dtype) || !data.every(Number.isFinite)) return "";
  const high = largest(data);
  const low = smallest(data);
  if (low === high) return `all ${short(low)}`;
  if (data.length > IN_FULL && !leaf) return `from ${short(low, 3)} to ${short(high, 3)}`;
  return meanAndSpread(data);
}

/** @param {ArrayLike<number> & Iterable<number>} given */
function meanAndSpread(given) {
  const data = Array.from(given);
  if (data.every((value) => value === data[0])) return `all ${short(data[0])}`;
  const mean = total(data) / data.length;
  const spread = Math.hypot(...data.map((value) => value - mean)) / Math.sqrt(data.length);
  return `mean ${short(Math.abs(mean) < 1e-6 * spread ? 0 : mean, 2)}, spread ${short(spread, 2)}`;
}

/** @param {Arr} x */
function brief({ dtype, shape, data }) {
  if (data.length <= SHOWN) return elementsText(shape, (at) => shortOf(data[at], dtype));
  const finite = data.filter(Number.isFinite);
  const nan = data.filter(Number.isNaN).length;
  const counts = [[nan, "nan"], [data.length - finite.length - nan, "inf"]].flatMap(([count, word]) => (count ? [`${count} ${word}`] : []));
  const first = finite.length ? `mean ${short(total(finite) / finite.length)}` : "nothing finite";
  return `${[first, ...counts].join(", ")} ${shapeText(shape)}`;
}

/** A few elements with fewer digits say more than some of them. @param {string} text @param {string} shape @param {Arr} x */
function narrowed(text, shape, { dtype, shape: axes, data }) {
  const plain = shape && text.endsWith(` ${shape}`) ? text.slice(0, -shape.length - 1) : text;
  if (plain.length <= NARROW) return plain;
  if (plain.startsWith("[")) {
    for (const digits of [3, 2]) {
      const shorter = elementsText(axes, (at) => shortOf(data[at], dtype, digits));
      if (shorter.length <= NARROW) return shorter;
    }
    if (dtype !== "bool" && Array.from(data).every(Number.isFinite)) return meanAndSpread(data);
  }
  return `${plain.slice(0, NARROW - 1)}${CUT}`;
}

/** @param {Arr} x @returns {Mark} */
function markOf({ dtype, data }) {
  if (isFloat(dtype) && !data.every(Number.isFinite)) return data.some(Number.isNaN) ? "nan" : "inf";
  return data.length && dtype !== "bool" && data.every((value) => value === 0) ? "zero" : "";
}

/**
 * A value as the explorer shows it.
 * @param {Arr | null} x null where the page cannot compute it
 * @param {Spec} spec
 * @param {boolean} leaf
 * @returns {Value}
 */
export function describe(x, spec, leaf) {
  const shape = shapeText(spec.shape);
  if (!x) return { short: "?", full: "not computed in this page", small: "?", dtype: spec.dtype, shape, mark: "" };
  const summary = bulk(x, leaf);
  const told = summary ? `${summary} ${shape}` : brief(x);
  const kept = x.data.length <= IN_FULL || leaf;
  const full = kept ? elementsText(x.shape, (at) => fullOf(x.data[at], x.dtype)) : summaryOf(x);
  return {
    short: told, small: narrowed(told, shape, x), dtype: spec.dtype, shape, mark: markOf(x),
    full: full.length <= LONGEST_FULL ? full : `${full.slice(0, LONGEST_FULL - 1)}${CUT}`,
    cells: kept && x.data.length > SHOWN ? Array.from(x.data, Number) : undefined,
    bars: kept && x.data.length > SHOWN && !/^(bool|complex)/.test(x.dtype) && !gridOf(spec.shape) ? histogramOf(Array.from(x.data, Number)) : undefined,
  };
}

/** @param {Arr} x */
function summaryOf({ dtype, data }) {
  const finite = data.filter(Number.isFinite);
  const ends = finite.length ? [`min ${smallest(finite)}`, `mean ${total(finite) / finite.length}`, `max ${largest(finite)}`] : [];
  return `${ends.join(", ")}; the first elements: ${Array.from(data.slice(0, SHOWN), (value) => fullOf(value, dtype)).join(", ")}`;
}
