// What is known after a number of steps, worked out from the scene alone and never kept: going back is as good as
// going forward, and no click is lost.  Pure: no DOM.

import { remembered } from "../basics.js";

/** @import { Scene, Step, Value, Tensor, Flow } from "./scene.js" */

/** @typedef {{ total: Value, arrived: number, expected: number, shares: Value[], seeded: boolean }} Adjoint */
/**
 * @typedef {{ step: number, phase: "start" | "forward" | "backward", now: Step | null, sweep: number,
 *   adjoints: Map<number, Adjoint>, passed: Map<string, Value>, finished: Set<number>, only: number }} State `only` one sweep's gradients, or -1
 */
/** @typedef {{ state: "known" | "pending" | "no path" | "none", value: Value | null, arrived: number, expected: number }} Gradient */

/**
 * The state after `step` steps.  A gradient is that of the latest sweep begun that comes to its tensor, or of one sweep.
 * @param {Scene} scene
 * @param {number} step 0 for nothing, `scene.last` for everything
 * @param {number} [only] the sweep whose gradients are wanted
 * @returns {State}
 */
export function fold(scene, step, only = -1) {
  const now = step > 0 ? scene.steps[step - 1] : null;
  /** @type {Map<number, Adjoint>} */
  const adjoints = new Map();
  /** @type {Map<string, Value>} */
  const passed = new Map();
  let sweep = -1;
  for (let at = 0; at < step; at += 1) {
    const visit = scene.steps[at];
    if (visit.sweep < 0 || (only >= 0 && visit.sweep !== only)) continue;
    if (visit.sweep !== sweep) {
      sweep = visit.sweep;
      if (scene.sweeps[sweep].first === at + 1) begin(scene, sweep, adjoints, passed);
    }
    for (const flow of visit.flows) deliver(flow, visit.application, adjoints, passed);
  }
  const over = scene.sweeps.flatMap((one, at) => (one.finished && one.last <= step && (only < 0 || at === only) ? [at] : []));
  const phase = now === null ? "start" : now.sweep < 0 ? "forward" : "backward";
  return { step, phase, now, sweep, adjoints, passed, finished: new Set(over), only };
}

/**
 * A sweep starts: the adjoints of what it will reach are forgotten, and its targets get their seeds.
 * @param {Scene} scene
 * @param {number} sweep
 * @param {Map<number, Adjoint>} adjoints
 * @param {Map<string, Value>} passed
 */
function begin(scene, sweep, adjoints, passed) {
  const { targets, seeds, carried, tangent } = scene.sweeps[sweep];
  if (tangent) adjoints.clear();
  for (const tensor of reach(scene, sweep)) adjoints.delete(tensor);
  passed.clear();
  for (const { tensor, value } of carried) {
    adjoints.set(tensor, { total: value, arrived: 0, expected: 0, shares: [value], seeded: true });
  }
  targets.forEach((target, at) => {
    const seed = seeds[at];
    if (seed) adjoints.set(target, { total: seed, arrived: 1, expected: 1, shares: [seed], seeded: true });
  });
}

/**
 * @param {Flow} flow
 * @param {number} application
 * @param {Map<number, Adjoint>} adjoints
 * @param {Map<string, Value>} passed
 */
function deliver(flow, application, adjoints, passed) {
  const before = adjoints.get(flow.input);
  adjoints.set(flow.input, {
    total: flow.total, arrived: flow.arrived, expected: flow.expected,
    shares: before ? [...before.shares, flow.outgoing] : [flow.outgoing], seeded: before?.seeded ?? false,
  });
  passed.set(`${application}:${flow.position}`, flow.outgoing);
}

/** The tangent of what does not move. @type {Value} */
const STILL = { short: "0", full: "0", small: "0", dtype: "", shape: "", mark: "zero" };

/** For every sweep, and at last for all of them together. */
const reaches = remembered((/** @type {Scene} */ scene) => {
  const found = scene.sweeps.map((one) => new Set(one.targets));
  for (const step of scene.steps) {
    if (step.sweep >= 0) for (const flow of step.flows) found[step.sweep].add(flow.input);
  }
  return [...found, new Set(found.flatMap((one) => [...one]))];
});

/** The tensors that a sweep comes to; those of any sweep for `scene.sweeps.length`. @param {Scene} scene @param {number} sweep */
export const reach = (scene, sweep) => reaches(scene)[sweep];

/**
 * What is known of the gradient of a tensor: a value (perhaps not all contributions yet), "pending" (not computed
 * yet), "no path" (a finished sweep did not come here), or "none" (nobody asked, nothing is expected).
 * @param {Scene} scene
 * @param {State} state
 * @param {Tensor} tensor
 * @returns {Gradient}
 */
export function gradientOf(scene, state, tensor) {
  const adjoint = state.adjoints.get(tensor.number);
  if (adjoint) return { state: "known", value: adjoint.total, arrived: adjoint.arrived, expected: adjoint.expected };
  const tangent = scene.sweeps[state.sweep]?.tangent;
  if (tangent && !reach(scene, state.sweep).has(tensor.number)) return { state: "known", value: STILL, arrived: 0, expected: 0 };
  const without = { value: null, arrived: 0, expected: 0 };
  if (reach(scene, state.only < 0 ? scene.sweeps.length : state.only).has(tensor.number)) return { state: "pending", ...without };
  if (!scene.sweeps.length || !tensor.tracked) return { state: "none", ...without };
  const born = scene.applications.get(tensor.application)?.born ?? 0;
  const passedBy = [...state.finished].some((at) => scene.sweeps[at].first > born);
  return { state: passedBy ? "no path" : "pending", ...without };
}

/**
 * Whether a tensor has its value: leaves always do, but for gradients that are yet to come.
 * @param {Scene} scene
 * @param {State} state
 * @param {Tensor} tensor
 */
export function hasValue(scene, state, tensor) {
  const made = scene.applications.get(tensor.application);
  return made ? made.born <= state.step : tensor.there <= state.step;
}

/**
 * The step at which an application is visited: in the sweep that is shown if there is one, else when it ran.
 * @param {Scene} scene
 * @param {State} state
 * @param {number} application
 * @returns {number}
 */
export function stepOf(scene, state, application) {
  const sweep = state.now?.sweep ?? -1;
  const visit = scene.homes.get(application)?.find((step) => step.sweep === sweep);
  return visit ? scene.steps.indexOf(visit) + 1 : scene.applications.get(application)?.born ?? 0;
}
