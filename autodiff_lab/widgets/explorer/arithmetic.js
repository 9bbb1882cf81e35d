// What a step computes, as sums over cells: which elements of its terms make one element of its result.  Pure: no DOM.

import { indexOf, sizeOf } from "../basics.js";
import { short } from "../numbers.js";
import { dimsOf, elementsIn } from "./cells.js";
import { summed } from "./words.js";

/** @import { Scene, Application, Step, Flow, Value } from "./scene.js" */
/** @typedef {{ dims: number[], rows: number, columns: number, numbers: number[] }} Table */
/** @typedef {{ sign: string, words: string, role: string, kind: "forward" | "backward" | "local", value: Value | null, table: Table | null, copies?: number[] }} Term */
/**
 * @typedef {{ terms: Term[], how: "matmul" | "elementwise" | "", lens: string, summed: number[] }} Arithmetic
 *   `lens` says what happened to the shape, `summed` are the axes of the first term over which was summed; where a
 *   term was stretched, its `copies` are, for each element of the result, the place of the one that is repeated there
 */

/** More rows or columns are summed up in words. */
const LONGEST_SIDE = 16;
const TERMS = 6;
const SIGNS = new Map([["add", "+"], ["subtract", "−"], ["multiply", "×"], ["divide", "÷"]]);

/** The elements of a value as a table: a vector is a row, more axes stand below each other. @param {Value | null} value @returns {Table | null} */
export function tableOf(value) {
  const numbers = value && elementsIn(value);
  if (!value || !numbers) return null;
  const dims = dimsOf(value);
  const columns = dims[dims.length - 1] ?? 1;
  const rows = columns ? numbers.length / columns : 0;
  return rows && rows <= LONGEST_SIDE && columns <= LONGEST_SIDE ? { dims, rows, columns, numbers } : null;
}

/** @param {Table} table @returns {Table} */
export function transposed({ dims, rows, columns, numbers }) {
  const turned = numbers.map((_, at) => numbers[(at % rows) * columns + Math.floor(at / rows)]);
  return { dims: [...dims].reverse(), rows: columns, columns: rows, numbers: turned };
}

/**
 * What a shape went through, as on an edge: "[3×4] → sum axis 1 → [3×1]"; empty if nothing was summed.
 * @param {Value | null} incoming
 * @param {Flow} flow
 */
export function lensOf(incoming, flow) {
  if (!flow.summed.length) return "";
  const axes = flow.summed.length === 1 ? `axis ${flow.summed[0]}` : `axes ${flow.summed.join(", ")}`;
  return `${incoming?.shape || "[]"} → sum ${axes} → ${flow.outgoing.shape || "one number"}`;
}

/**
 * @param {Scene} scene
 * @param {Application} application
 * @returns {Arithmetic | null} null where there is nothing to see
 */
export function forwardArithmetic(scene, application) {
  const made = scene.tensors.get(application.outputs[0]);
  if (!made || application.outputs.length !== 1 || application.inputs.length > 2) return null;
  const inputs = application.inputs.flatMap((number) => scene.tensors.get(number) ?? []);
  const product = isProduct(application, inputs.map((input) => input.value));
  const sign = product ? "·" : SIGNS.get(application.op.name) ?? ",";
  /** @type {Term[]} */
  const terms = inputs.map((input, at) => term(at ? sign : "", input.name, "input", "forward", input.value));
  const same = SIGNS.has(application.op.name);
  const result = term(product || same ? "=" : "→", made.named ? made.name : "result", "result", "forward", made.value);
  if (same) for (const input of terms) input.copies = copiesOf(input.table, result.table);
  terms.push(result);
  return worth({ terms, how: product ? "matmul" : same ? "elementwise" : "", lens: repeats(inputs.map((input) => input.value), made.value, same), summed: [] });
}

/** @param {Table | null} table @param {Table | null} result @returns {number[] | undefined} none where nothing is stretched, or a single number is */
function copiesOf(table, result) {
  if (!table || !result || table.numbers.length < 2 || table.numbers.length === result.numbers.length) return undefined;
  return result.numbers.map((_, place) => placeIn(table.dims, result.dims, place, []));
}

/** @param {Value[]} inputs @param {Value} made @param {boolean} same */
function repeats(inputs, made, same) {
  const grown = same ? inputs.filter((input) => input.shape && input.shape !== made.shape) : [];
  return grown.map((input) => `${input.shape} → repeat → ${made.shape}`).join("; ");
}

/**
 * @param {Scene} scene
 * @param {Application} application
 * @param {Step} now
 * @param {Flow} flow
 * @returns {Arithmetic | null}
 */
export function backwardArithmetic(scene, application, now, flow) {
  const incoming = now.incoming.find((value) => value !== null) ?? null;
  const name = scene.tensors.get(flow.input)?.name ?? "";
  const given = term("", "incoming", "incoming", "backward", incoming);
  const result = term("=", `to ${name}`, "result", "backward", flow.outgoing);
  const lens = lensOf(incoming, flow);
  if (flow.local) {
    const local = term("×", "local", "local", "local", flow.local);
    return worth({ terms: [given, local, result], how: "elementwise", lens, summed: flow.summed });
  }
  const inputs = application.inputs.map((number) => scene.tensors.get(number)?.value);
  const other = inputs[1 - flow.position];
  if (other && isProduct(application, inputs)) {
    const factor = scene.tensors.get(application.inputs[1 - flow.position]);
    const turned = term("", `${factor?.name ?? ""}ᵀ`, "local", "local", other);
    turned.table = turned.table && transposed(turned.table);
    const terms = flow.position === 0 ? [given, { ...turned, sign: "·" }] : [turned, { ...given, sign: "·" }];
    return worth({ terms: [...terms, result], how: "matmul", lens, summed: [] });
  }
  return worth({ terms: [given, { ...result, sign: "→" }], how: "", lens, summed: flow.summed });
}

/** @param {string} sign @param {string} words @param {string} role @param {Term["kind"]} kind @param {Value | null} value @returns {Term} */
const term = (sign, words, role, kind, value) => ({ sign, words, role, kind, value, table: tableOf(value) });

/**
 * The heights, from 0 to 100, of sixteen bars from the smallest finite number to the largest.
 * @param {number[]} numbers
 */
export function histogramOf(numbers) {
  const finite = numbers.filter(Number.isFinite);
  const counts = Array(16).fill(0);
  const low = finite.reduce((least, number) => Math.min(least, number), Infinity);
  const high = finite.reduce((most, number) => Math.max(most, number), -Infinity);
  const width = (high - low) / 16;
  for (const number of finite) counts[width > 0 && width < Infinity ? Math.min(15, Math.floor((number - low) / width)) : 8] += 1;
  const most = Math.max(...counts, 1);
  return counts.map((count) => Math.round((100 * count) / most));
}

/** A product of two matrices, as they are. @param {Application} application @param {(Value | undefined)[]} inputs */
function isProduct(application, inputs) {
  return application.op.name === "matmul" && !application.params && inputs.every((value) => value && dimsOf(value).length === 2);
}

/** Single numbers say it themselves; at least one table must be there. @param {Arithmetic} arithmetic */
function worth(arithmetic) {
  return arithmetic.terms.some(({ table }) => table && table.numbers.length > 1) ? arithmetic : null;
}

/**
 * The elements that make an element of the result: for each term its places, in the order in which they are multiplied.
 * @param {Arithmetic} arithmetic
 * @param {number} at place in the result
 * @returns {number[][] | null} null where that is not known
 */
export function partsOf({ terms, how, summed }, at) {
  const [left, right] = terms;
  const result = terms[terms.length - 1].table;
  if (!result || !how || !left.table || !right.table) return null;
  if (how === "matmul") {
    const inner = left.table.columns;
    const row = Math.floor(at / result.columns);
    const steps = [...Array(inner).keys()];
    return [steps.map((k) => row * inner + k), steps.map((k) => k * /** @type {Table} */ (right.table).columns + (at % result.columns))];
  }
  const { dims } = left.table.numbers.length >= right.table.numbers.length ? left.table : right.table;
  const wide = dims.length >= result.dims.length && summed.length ? dims : result.dims;
  const places = [...Array(sizeOf(wide)).keys()]
    .filter((place) => placeIn(result.dims, wide, place, summed) === at);
  return [left.table, right.table].map((table) => places.map((place) => placeIn(table.dims, wide, place, [])));
}

/**
 * Where an element of a broadcast array comes from, or where it is summed to.
 * @param {number[]} dims of the smaller array
 * @param {number[]} wide of the broadcast one
 * @param {number} place in the broadcast one
 * @param {number[]} summed axes of the broadcast one that the smaller may lack
 */
function placeIn(dims, wide, place, summed) {
  const index = indexOf(wide, place);
  const lacking = wide.length - dims.length;
  const kept = index.slice(lacking);
  return dims.reduce((at, length, axis) => at * length + (length === 1 || summed.includes(axis + lacking) ? 0 : kept[axis]), 0);
}

/** Where an element is, as one writes it: "[1, 3]". @param {{ dims: number[] }} table @param {number} at */
export function indexWords({ dims }, at) {
  const index = indexOf(dims, at);
  return index.length ? `[${index.join(", ")}]` : "";
}

/**
 * The sum that makes an element: "to x[1, 3] = 0.2 × 0.5 − 0.1 × 3 = −0.2".
 * @param {Arithmetic} arithmetic
 * @param {number} at
 */
export function sumWords(arithmetic, at) {
  const { terms, how } = arithmetic;
  const result = terms[terms.length - 1];
  if (!result.table) return "";
  const value = short(result.table.numbers[at]);
  const head = `${result.words}${indexWords(result.table, at)} = `;
  const parts = partsOf(arithmetic, at);
  const [left, right] = terms;
  if (!parts || !left.table || !right.table) return `${head}${value}`;
  const sign = how === "matmul" ? "×" : right.sign;
  const pairs = parts[0].map((place, k) => {
    const [a, b] = [/** @type {Table} */ (left.table).numbers[place], /** @type {Table} */ (right.table).numbers[parts[1][k]]];
    return `${short(a)} ${sign} ${b < 0 ? `(${short(b)})` : short(b)}`;
  });
  const some = pairs.length > TERMS ? [...pairs.slice(0, TERMS - 2), "⋯", pairs[pairs.length - 1]] : pairs;
  return `${head}${summed(some)} = ${value}${pairs.length > TERMS ? ` (${pairs.length} terms)` : ""}`;
}
