// Judges a sketch of a derivative as the kernel does: the nearest candidate after the best scale names the idea.
// The twin of draw/sketches.py; tests hold both to the same table.

import { trimmed } from "../numbers.js";

/**
 * @typedef {(number | null)[]} Heights
 * @typedef {{ lo: number, hi: number, variable: string, title: string, names: string[], rows: Heights[], reach: number[] }} Facts
 * @typedef {{ code: string, score: number, scale: number, signs: number, passed: boolean }} Judged
 */

export const COLUMNS = 121;
export const HANDLES = 9;
export const ENOUGH = 0.95;
const [BAND, NEEDED, SHIFTED, LEAST_SHIFT, FARTHEST, NOTHING, FAINT] = [0.1, 85, 1.15, 0.12, 0.5, 0.03, 0.01];
const [SMALLEST, LARGEST] = [0.35, 3];

const sum = (/** @type {number[]} */ values) => values.reduce((total, value) => total + value, 0);
const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => sum(a.map((value, i) => value * b[i]));
const isThere = (/** @type {number | null} */ value) => value !== null && Number.isFinite(value);

/** @param {Facts} facts @param {number} column */
export const xOf = (facts, column) => facts.lo + (column / (COLUMNS - 1)) * (facts.hi - facts.lo);

/** The derivative as far as the panel shows it. @param {Facts} facts @param {number} row @returns {Heights} */
export function shown(facts, row) {
  const top = facts.reach[row];
  return facts.rows[row].map(value => (value === null ? null : Math.min(Math.max(value, -top), top)));
}

/** The range of heights, that of a constant being its height. @param {Heights} values */
export function extent(values) {
  const known = /** @type {number[]} */ (values.filter(isThere));
  const most = Math.max(0, ...known.map(Math.abs));
  const range = known.length ? Math.max(...known) - Math.min(...known) : 0;
  return range > 1e-9 * most && most ? range : most || 1;
}

/** Half the height of the band. @param {Heights} truth */
export const halfBand = truth => BAND * extent(truth);

/** @param {Facts} facts @param {number} row @returns {[string, Heights, boolean][]} code, heights, whether they may be shifted */
function candidates(facts, row) {
  const [f, d] = [facts.rows[row - 1], shown(facts, row)];
  const of = (/** @type {(value: number) => number} */ act) => d.map(value => (value === null ? null : act(value)));
  const step = (facts.hi - facts.lo) / (COLUMNS - 1);
  let total = 0;
  const area = f.map(value => (total += (value ?? 0) * step));
  /** @type {[string, Heights, boolean][]} */
  const found = [
    ["", d, false], ["COPIED_F", f, false], ["COPIED_F", f, true], ["FLIPPED_SLOPE", of(value => -value), false],
    ["ABSOLUTE", of(Math.abs), false], ["SHIFTED_UP", d, true],
  ];
  if (facts.rows[row + 1]) found.push(["SECOND_FOR_FIRST", facts.rows[row + 1], false]);
  return [...found, ["AREA", area, false], ["SIGNS_ONLY", of(Math.sign), false]];
}

/** @param {number[]} sketch @param {number[]} given @param {boolean} shift @param {number} floor */
function fit(sketch, given, shift, floor) {
  const [middle, base] = shift ? [sum(sketch) / sketch.length, sum(given) / given.length] : [0, 0];
  const [drawn, wanted] = [sketch.map(value => value - middle), given.map(value => value - base)];
  const power = dot(wanted, wanted);
  const scale = power > 1e-18 ? Math.min(Math.max(dot(drawn, wanted) / power, SMALLEST), LARGEST) : 1;
  const size = Math.max(Math.sqrt(dot(drawn, drawn)), floor, 1e-12);
  const apart = drawn.map((value, i) => value - scale * wanted[i]);
  return { far: (Math.sqrt(dot(apart, apart)) / size) * (shift ? SHIFTED : 1), scale, offset: middle - scale * base };
}

/** @param {Facts} facts @param {Heights} sketch @param {number} row @returns {Judged} */
export function judge(facts, sketch, row) {
  const truth = shown(facts, row);
  const floor = truth.some(value => value) ? 0 : 0.1 * facts.reach[row] * Math.sqrt(COLUMNS); // a hand is not that steady
  const faint = Math.max(...sketch.map(height => Math.abs(height ?? 0))) < FAINT * facts.reach[row];
  let [nearest, code, scale, right] = [Infinity, "OTHER", 1, 1];
  for (const [name, given, shift] of candidates(facts, row)) {
    const known = sketch.map((_, i) => i).filter(i => isThere(sketch[i]) && isThere(given[i]));
    if (!known.length || (name && faint)) continue; // a line along 0 is not a small copy of anything
    const pick = (/** @type {Heights} */ heights) => known.map(i => /** @type {number} */ (heights[i]));
    const found = fit(pick(sketch), pick(given), shift, floor);
    if (!name) right = found.scale;
    if (name === "SHIFTED_UP" && Math.abs(found.offset) < LEAST_SHIFT * found.scale * extent(truth)) continue;
    if (found.far < nearest - 1e-9) [nearest, code, scale] = [found.far, name, found.scale];
  }
  if (nearest > FARTHEST) code = "OTHER";
  if (code) scale = right;
  const [mine, its] = [signsOf(sketch), signsOf(truth)];
  const half = halfBand(truth);
  const there = truth.map((_, i) => i).filter(i => truth[i] !== null);
  const percent = (/** @type {(i: number) => boolean} */ holds) => (there.length ? Math.floor((100 * there.filter(holds).length) / there.length + 0.5) : 0);
  const score = percent(i => isThere(sketch[i]) && Math.abs(Number(sketch[i]) / scale - Number(truth[i])) <= half);
  return { code, score, scale, signs: percent(i => mine[i] === its[i]), passed: !code && score >= NEEDED };
}

/** −1, 0 or 1 for each column; a height that is hardly one keeps the sign before it. @param {Heights} heights */
export function signsOf(heights) {
  const least = NOTHING * Math.max(0, ...heights.map(height => Math.abs(height ?? 0)));
  const plain = heights.map(height => (height !== null && Math.abs(height) > least ? Math.sign(height) : 0));
  let last = plain.find(sign => sign) ?? 0;
  return plain.map(sign => (last = sign || last));
}

/** Where the heights change their sign. @param {Facts} facts @param {Heights} heights */
export function zerosOf(facts, heights) {
  const signs = signsOf(heights);
  /** @type {number[]} */
  const found = [];
  for (let k = 0; k < signs.length - 1; k += 1) {
    if (signs[k] === signs[k + 1]) continue;
    let first = k;
    while (first > 0 && !(Number(heights[first]) * signs[k] > 0)) first -= 1;
    const [a, b] = [heights[first], heights[first + 1]];
    const part = a !== null && b !== null && a !== b ? a / (a - b) : 0.5;
    found.push(xOf(facts, first + part));
  }
  return found;
}

/** Where a curve is above 0 and where below, in words. @param {Facts} facts @param {Heights} heights */
export function inWords(facts, heights) {
  const signs = signsOf(heights);
  const runs = signs.filter((sign, i) => !i || sign !== signs[i - 1]);
  const name = (/** @type {number} */ sign) => ({ 1: "above", [-1]: "below", 0: "on" })[sign];
  const ends = zerosOf(facts, heights).map(place => ` until ${position(facts, place)}`);
  if (!ends.length) return `${name(runs[0])} 0 everywhere`;
  return runs.map((sign, k) => `${name(sign)}${k ? "" : " 0"}${ends[k] ?? ""}`).join(", ");
}

/** A place with as many decimals as tell neighbours apart. @param {Facts} facts @param {number} place */
export function position(facts, place) {
  const step = (facts.hi - facts.lo) / (COLUMNS - 1);
  const text = trimmed(place.toFixed(Math.max(0, Math.ceil(-Math.log10(step)))));
  return Number(text) === 0 ? "0" : text.replace("-", "−");
}

/** The score as a sentence. @param {Judged} judged @param {string} name @param {Record<string, string>} ideas */
export function said({ code, score, passed }, name, ideas) {
  if (passed) return `${score} of 100: this is ${name}.`;
  if (!code) return `${score} of 100: nearest to ${name}, and still too far from it in places.`;
  const told = ideas[code] ? `this is what one gets if ${ideas[code]}` : `neither ${name} nor one of the usual mistakes`;
  return `${score} of 100: ${told}.`;
}

/** A smooth curve through heights that are evenly far apart. @param {number[]} given @returns {number[]} */
export function through(given) {
  const last = given.length - 1;
  const slope = (/** @type {number} */ i) => (i === 0 ? given[1] - given[0] : i === last ? given[last] - given[last - 1] : (given[i + 1] - given[i - 1]) / 2);
  return Array.from({ length: COLUMNS }, (_, column) => {
    const along = (column / (COLUMNS - 1)) * last;
    const left = Math.min(Math.floor(along), last - 1);
    const t = along - left;
    const [a, b, p, q] = [given[left], given[left + 1], slope(left), slope(left + 1)];
    return a + t * (p + t * (3 * (b - a) - 2 * p - q + t * (2 * (a - b) + p + q)));
  });
}

/** The heights at the handles; where nothing is drawn 0. @param {Heights} sketch */
export const handlesOf = sketch => Array.from({ length: HANDLES }, (_, i) => sketch[(i * (COLUMNS - 1)) / (HANDLES - 1)] ?? 0);

/**
 * A stroke of the pen from one column to another, drawn into a sketch.
 * @param {Heights} sketch
 * @param {[number, number]} from column and height
 * @param {[number, number]} to
 * @returns {Heights}
 */
export function stroked(sketch, from, to) {
  const [[a, y], [b, z]] = from[0] <= to[0] ? [from, to] : [to, from];
  return sketch.map((height, column) => {
    if (column < Math.round(a) || column > Math.round(b)) return height;
    return b - a < 1e-9 ? to[1] : y + Math.min(Math.max((column - a) / (b - a), 0), 1) * (z - y);
  });
}
