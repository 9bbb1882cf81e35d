// Ways through the graph of a view: what a node depends on, what depends on it, a path between two nodes, which steps
// touch a node, which nodes are its twins, and where a gradient is lost.  Pure: no DOM.

/** @import { Scene, View, Box, Cut } from "./scene.js" */
/** @import { State } from "./fold.js" */
/** @typedef {{ boxes: Set<number>, edges: Set<number> }} Trace places in the view */

/**
 * A node with everything it depends on, or with everything that depends on it.
 * @param {View} view @param {number} from @param {1 | -1} way 1 along the values, -1 against them
 * @returns {Trace}
 */
export function lineage(view, from, way) {
  const boxes = new Set([from]);
  for (const at of boxes) for (const next of beside(view, at, way)) boxes.add(next);
  return { boxes, edges: edgesWhere(view, ({ source, target }) => boxes.has(source) && boxes.has(target)) };
}

/**
 * A shortest path between two nodes, whichever of them comes first; null if there is none.
 * @param {View} view @param {number} one @param {number} other
 * @returns {Trace | null}
 */
export function pathBetween(view, one, other) {
  const ways = [[one, other], [other, one]].map(([from, to]) => forwardPath(view, from, to));
  const path = ways[0] ?? ways[1];
  return path && {
    boxes: new Set(path),
    edges: edgesWhere(view, ({ source, target }) => path.includes(source) && path.indexOf(target) === path.indexOf(source) + 1),
  };
}

/** @param {View} view @param {number} from @param {number} to @returns {number[] | null} */
function forwardPath(view, from, to) {
  /** @type {Map<number, number>} */
  const came = new Map([[from, from]]);
  for (const at of came.keys()) for (const next of beside(view, at, 1)) if (!came.has(next)) came.set(next, at);
  if (from === to || !came.has(to)) return null;
  const path = [to];
  while (path[0] !== from) path.unshift(came.get(path[0]) ?? from);
  return path;
}

/** The nodes one edge further. @param {View} view @param {number} at @param {1 | -1} way */
export function beside(view, at, way) {
  const found = view.edges.flatMap(({ source, target }) => (way > 0 ? (source === at ? [target] : []) : target === at ? [source] : []));
  return [...new Set(found)];
}

/** @param {View} view @param {(edge: import("./scene.js").Edge) => boolean} wanted */
const edgesWhere = (view, wanted) => new Set(view.edges.flatMap((edge, at) => (wanted(edge) ? [at] : [])));

/** The edges that meet at a node: its inputs, then what is made of it. @param {View} view @param {number} at */
export function edgesAt(view, at) {
  return [...edgesWhere(view, (edge) => edge.target === at), ...edgesWhere(view, (edge) => edge.source === at)];
}

/**
 * The steps, counted from 1, at which a node computes, is read, or is given a gradient.
 * @param {Scene} scene @param {Box} box
 */
export function touches(scene, box) {
  const made = new Set([box.application, ...box.members]);
  const leaf = box.application < 0 && !box.members.length;
  return scene.steps.flatMap((step, at) => {
    const inputs = step.sweep < 0 ? scene.applications.get(step.application)?.inputs ?? [] : step.flows.map((flow) => flow.input);
    return made.has(step.application) || (leaf && inputs.includes(box.tensors[0])) ? [at + 1] : [];
  });
}

/**
 * The twins of a node: the ops of its derivative where these are nodes too, the op that it is a derivative of, a
 * variable and its gradient.
 * @param {Scene} scene @param {View} view @param {Box} box
 */
export function twins(scene, view, box) {
  const root = (/** @type {Box} */ one) => scene.applications.get(one.application)?.root ?? -1;
  const of = (/** @type {Box} */ one) => (one.kind === "gradient" ? scene.tensors.get(one.tensors[0])?.of ?? -1 : -1);
  return view.boxes.filter((one) => one !== box && (
    (box.application >= 0 && root(one) === box.application) || (one.application >= 0 && one.application === root(box))
    || box.tensors.includes(of(one)) || one.tensors.includes(of(box)))).map((one) => one.at);
}

/** Whether an edge is the one where a gradient is lost. @param {Cut} cut @param {Box} target @param {number} tensor */
export function isCutAt(cut, target, tensor) {
  return cut.tensor === tensor && cut.application >= 0 && [target.application, ...target.members].includes(cut.application);
}

/** Whether a sweep has ended that lost a gradient here. @param {State} state @param {Cut[]} cuts */
export const isLost = (state, cuts) => cuts.some((cut) => state.finished.has(cut.sweep));

/**
 * Where a cut is seen: the edge, or the node whose value left; the innermost view that shows it.
 * @param {Scene} scene @param {Cut} cut
 */
export function placeOfCut(scene, cut) {
  const found = [...scene.views.values()].flatMap((view) => {
    const edge = view.edges.findIndex((one) => isCutAt(cut, view.boxes[one.target], one.tensor));
    const box = view.boxes.find((one) => one.tensors.includes(cut.tensor) && !one.outside);
    return edge >= 0 ? [{ view: view.path, edge, box: -1 }] : box ? [{ view: view.path, edge: -1, box: box.at }] : [];
  });
  const deep = (/** @type {{ view: string, edge: number }} */ one) => one.view.length + (one.edge >= 0 ? 1e6 : 0);
  return found.sort((a, b) => deep(b) - deep(a))[0] ?? null;
}

/** The ops that use a tensor, once for each use. @param {Scene} scene @param {number} tensor */
export function usersOf(scene, tensor) {
  return [...scene.applications.values()].flatMap((one) => one.inputs.flatMap((input) => (input === tensor ? [one] : [])));
}
