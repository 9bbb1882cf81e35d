// Ops that Python wrote as steps of simpler ones, see draw/lowering: they run in doubles, and what they make is rounded once.

import { NotHere } from "./arrays.js";
import { evaluate } from "./expressions.js";
import { TWINS } from "./twins.js";

/** @import { Arr, Spec } from "./arrays.js" */
/** @typedef {[what: string | any[], inputs: number[], shapes: number[][], params: any]} Step a twin or a tree */
/** @typedef {{ steps: Step[], made: number[] }} Lowered */

/** What a twin, or the tree of an elementwise op, makes. @param {string | any[]} what @param {Arr[]} ins @param {any} params @param {Spec[]} outs @returns {Arr[]} */
export function compute(what, ins, params, outs) {
  if (Array.isArray(what)) return [evaluate(what, ins, outs[0])];
  const twin = TWINS.get(what);
  if (!twin) throw new NotHere("it has no twin in JavaScript");
  return [twin(ins, params, outs)].flat();
}

/** Run the steps; the results are not rounded. @param {Lowered} lowered @param {Arr[]} ins @returns {Arr[]} */
export function runSteps({ steps, made }, ins) {
  const values = [...ins];
  for (const [what, inputs, shapes, params] of steps) {
    values.push(...compute(what, inputs.map((at) => values[at]), params, shapes.map((shape) => ({ dtype: "float64", shape }))));
  }
  return made.map((at) => values[at]);
}
