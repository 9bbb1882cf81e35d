// The tree of a formula, some of whose equal parts are one node: its nodes, and where they are drawn.  Pure.

/** @typedef {import("./formula.js").Part} Part */
/** @typedef {{ key: string, part: number, inputs: number[] }} TreeNode */
/** @typedef {{ x: number, y: number }} Spot */

export const MOST = 60; // nodes that are drawn
const ROW = 22;
const COLUMN = 160; // at most
const EDGE = 28;

/**
 * The nodes of a formula, inputs before what they go into; the last one is the result.
 * @param {Part[]} parts
 * @param {number} root
 * @param {Set<number>} merged parts whose copies are one node
 * @returns {TreeNode[]}
 */
export function nodesOf(parts, root, merged) {
  /** @type {TreeNode[]} */
  const nodes = [];
  /** @type {Map<number, number>} */
  const met = new Map();
  /** @param {number} part @param {string} path @returns {number} */
  const visit = (part, path) => {
    const known = met.get(part);
    if (known !== undefined) return known;
    const one = merged.has(part);
    const key = one ? `one${part}` : path;
    const inputs = parts[part].inputs.map((input, at) => visit(input, `${key}.${at}`));
    const index = nodes.push({ key, part, inputs }) - 1;
    if (one) met.set(part, index);
    return index;
  };
  visit(root, "all");
  return nodes;
}

/**
 * Places in columns: what goes into a node is left of it, and the result is at the right.
 * @param {TreeNode[]} nodes
 * @param {number} width
 * @returns {{ spots: Spot[], height: number }}
 */
export function columnsOf(nodes, width) {
  /** @type {number[]} */
  const column = [];
  nodes.forEach(({ inputs }, i) => { column[i] = inputs.length ? 1 + Math.max(...inputs.map(input => column[input])) : 0; });
  const nearest = nodes.map(() => Infinity);
  nodes.forEach(({ inputs }, i) => inputs.forEach(input => { nearest[input] = Math.min(nearest[input], column[i] - 1); }));
  nodes.forEach(({ inputs }, i) => { if (!inputs.length && Number.isFinite(nearest[i])) column[i] = nearest[i]; });
  /** @type {number[]} */
  const row = [];
  let next = 0;
  nodes.forEach(({ inputs }, i) => {
    row[i] = inputs.length ? inputs.reduce((sum, input) => sum + row[input], 0) / inputs.length : next++;
  });
  apart(column, row);
  const deepest = Math.max(...column, 1);
  const by = Math.min(COLUMN, (width - 2 * EDGE) / deepest);
  const step = next > 12 ? ROW : 2 * ROW;
  const lowest = Math.max(...row);
  return { spots: nodes.map((_, i) => ({ x: EDGE + column[i] * by, y: EDGE + row[i] * step })), height: 2 * EDGE + lowest * step };
}

/** Move the nodes of a column down until none lies on another. @param {number[]} column @param {number[]} row */
function apart(column, row) {
  for (const each of new Set(column)) {
    const inside = column.map((_, i) => i).filter(i => column[i] === each).sort((a, b) => row[a] - row[b]);
    for (let k = 1; k < inside.length; k += 1) row[inside[k]] = Math.max(row[inside[k]], row[inside[k - 1]] + 1);
  }
}

/**
 * The places that the picture of the recording has, made to fit; null where it does not show all nodes.
 * @param {TreeNode[]} nodes
 * @param {import("./formula.js").Spots} given
 * @param {number} width
 * @returns {{ spots: Spot[], height: number } | null}
 */
export function recordedOf(nodes, given, width) {
  const found = nodes.map(({ part }) => given[part]);
  if (new Set(nodes.map(({ part }) => part)).size < nodes.length || !found.every(spot => spot !== undefined)) return null;
  const [xs, ys] = [found.map(([x]) => x), found.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const scale = Math.min(1, (width - 2 * EDGE) / Math.max(Math.max(...xs) - left, 1));
  return {
    spots: found.map(([x, y]) => ({ x: EDGE + (x - left) * scale, y: EDGE + (y - top) * Math.max(scale, 0.75) })),
    height: 2 * EDGE + (Math.max(...ys) - top) * Math.max(scale, 0.75),
  };
}

/**
 * The node to go to by an arrow key: into what it is made of, to what it goes into, or up and down its column.
 * @param {TreeNode[]} nodes
 * @param {Spot[]} spots
 * @param {number} now
 * @param {string} key
 */
export function neighbour(nodes, spots, now, key) {
  if (key === "ArrowLeft") return nodes[now].inputs[0] ?? now;
  if (key === "ArrowRight") {
    const goal = nodes.findIndex(({ inputs }) => inputs.includes(now));
    return goal < 0 ? now : goal;
  }
  const down = key === "ArrowDown" ? 1 : -1;
  const beside = spots.map((_, i) => i).filter(i => Math.abs(spots[i].x - spots[now].x) < 1 && down * (spots[i].y - spots[now].y) > 0);
  return beside.sort((a, b) => down * (spots[a].y - spots[b].y))[0] ?? now;
}
