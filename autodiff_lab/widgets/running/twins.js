// The table of twins: for each op a function in JavaScript that computes what its kernel computes in Python, from the
// recorded parameters.  The families beside this file fill it; a page takes along only those that it needs.

/** @import { Arr, Spec } from "./arrays.js" */
/** @typedef {(ins: Arr[], params: any, outs: Spec[]) => Arr | Arr[]} Twin */

/** @type {Map<string, Twin>} */
export const TWINS = new Map();

/** @type {Record<string, (...numbers: any[]) => any>} functions that an expression of one element may call */
export const FUNCTIONS = {};

/** @param {string} names one or several, between spaces @param {Twin} compute */
export function twin(names, compute) {
  for (const name of names.split(" ")) TWINS.set(name, compute);
}

/** @param {string} name @param {(...numbers: any[]) => any} compute */
export function fn(name, compute) {
  FUNCTIONS[name] = compute;
}
