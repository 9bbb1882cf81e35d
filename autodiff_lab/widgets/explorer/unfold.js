// Folds that are open in place: the picture of a scope set into the picture around it.  Every scope has its layout from
// the start; what surrounds an open one is moved apart, so that whatever was left of, or above, something else stays
// there and no box is covered.  Pure: no DOM.

import { detour, runsThrough } from "./detour.js";
import { clamp, pointsOf } from "./viewport.js";

/** @import { Box, Edge, Scene, View } from "./scene.js" */
/** @typedef {(at: number) => number} Line a place on one axis, before and after the folds are opened */
/** @typedef {{ box: Box, inner: View, left: number, top: number, width: number, height: number, gone: Set<number> }} Opened */
/** @typedef {[number, number]} Point */
/** @typedef {{ edge: Edge, source: Box, target: Box }} Joint an edge with the boxes at its ends */
/** @typedef {Joint & { points: Point[] }} Way */

/** Pixels around the inside of a frame, where edges turn, and of the line of its name. */
const GUTTER = 24;
const BAR = 30;
const LETTER = 8;
/** Pixels from the rim of a frame, and between lines that turn off in one row. */
const EDGE = 6;
const CLEAR = 16;
const LANE = 6;

/** The path of what is shown inside a box: of a scope its own, of a loop that of one iteration; or undefined. @param {Box} box @param {Set<string>} open */
export function shownIn(box, open) {
  if (box.outside) return undefined;
  return box.turns.length ? box.turns.find((turn) => open.has(turn)) : box.key.startsWith("s") && open.has(box.key.slice(1)) ? box.key.slice(1) : undefined;
}

/** The innermost open fold around a node, or the fold itself. @param {View} view @param {number} at @returns {Box | undefined} */
export function frameOf(view, at) {
  const box = view.boxes[at];
  return box && view.boxes.filter((one) => (
    one.kind === "frame" && one.x <= box.x && one.y <= box.y && one.x + one.width >= box.x + box.width && one.y + one.height >= box.y + box.height)).pop();
}

/**
 * The picture of a scope with some of its folds open; the view itself if none is.
 * @param {Scene} scene
 * @param {string} path
 * @param {Set<string>} open paths of scopes and iterations
 * @returns {View}
 */
export function unfolded(scene, path, open) {
  const view = scene.views.get(path) ?? /** @type {View} */ (scene.views.get(""));
  const found = new Map(view.boxes.flatMap((box) => {
    const inside = open.size ? shownIn(box, open) : undefined;
    const inner = inside === undefined ? undefined : unfolded(scene, inside, open);
    return inner && !inner.why && inner.boxes.length ? [[box, openedBox(scene, view, box, inner)]] : [];
  }));
  return found.size ? joined(scene, view, found) : view;
}

/** What is set in place of a box. @param {Scene} scene @param {View} view @param {Box} box @param {View} inner @returns {Opened} */
function openedBox(scene, view, box, inner) {
  const gone = new Set(inner.boxes.flatMap(({ at, outside, application, members }) => (
    (outside || (application < 0 && !members.length)) && isSeen(scene, view, box, inner, at) ? [at] : [])));
  const kept = inner.boxes.filter(({ at }) => !gone.has(at));
  // Lines between the nodes inside keep away from the rim too.
  const lines = inner.edges.filter(({ source, target }) => !gone.has(source) && !gone.has(target)).flatMap(({ path }) => pointsOf(path));
  const left = Math.min(...kept.map(({ x }) => x - GUTTER), ...lines.map(([x]) => x - CLEAR));
  const top = Math.min(...kept.map(({ y }) => y - GUTTER), ...lines.map(([, y]) => y - CLEAR));
  const width = Math.max(...kept.map((one) => one.x + one.width + GUTTER), ...lines.map(([x]) => x + CLEAR)) - left;
  const height = Math.max(...kept.map((one) => one.y + one.height + GUTTER), ...lines.map(([, y]) => y + CLEAR)) - top + BAR - GUTTER / 2;
  return { box, inner, left, top, gone, height, width: Math.max(width, LETTER * (box.label.length + (box.turns.length ? 22 : 6))) };
}

/** Whether the picture around has every edge of a neighbour already. @param {Scene} scene @param {View} view @param {Box} box @param {View} inner @param {number} at */
function isSeen(scene, view, box, inner, at) {
  const met = inner.edges.filter((edge) => edge.kind === "value" && (edge.source === at || edge.target === at));
  const around = view.edges.map((edge) => ({ edge, source: view.boxes[edge.source], target: view.boxes[edge.target] }));
  const into = entriesOf(around, box);
  return met.length > 0 && met.every((edge) => (
    edge.source === at ? entryOf(scene, into, edge.tensor) : around.some((one) => one.source === box && one.edge.tensor === edge.tensor)));
}

/** The edges into a fold. @template {Joint} J @param {J[]} ways @param {Box} box */
function entriesOf(ways, box) {
  return ways.filter(({ edge, source, target }) => target === box && source !== box && edge.kind === "value");
}

/** The edge into a fold that carries a tensor, or another of the same node. @template {Joint} J @param {Scene} scene @param {J[]} into @param {number} tensor */
function entryOf(scene, into, tensor) {
  const made = scene.tensors.get(tensor)?.application ?? -1;
  return into.find(({ edge }) => edge.tensor === tensor) ?? into.find(({ source }) => (
    source.tensors.includes(tensor) || (made >= 0 && (source.application === made || source.members.includes(made)))));
}

/** @param {Scene} scene @param {View} view @param {Map<Box, Opened>} found @returns {View} */
function joined(scene, view, found) {
  const across = widened([...found.values()].map(({ box, width }) => [box.x, box.width, width]));
  const down = widened([...found.values()].map(({ box, height }) => [box.y, box.height, height]));
  /** @type {Box[]} */
  const boxes = [];
  /** @type {Map<Box, number>} places of the boxes of this view, and of those inside */
  const places = new Map();
  const add = (/** @type {Box} */ old, /** @type {Partial<Box>} */ changes) => {
    places.set(old, boxes.length);
    boxes.push({ ...old, ...changes, at: boxes.length });
  };
  for (const box of view.boxes) {
    const opened = found.get(box);
    const middle = { x: across(box.x + box.width / 2) - box.width / 2, y: down(box.y + box.height / 2) - box.height / 2 };
    if (!opened) {
      add(box, middle);
      continue;
    }
    const [x, y] = [across(box.x), down(box.y)];
    const [width, height] = [across(box.x + box.width) - x, down(box.y + box.height) - y];
    add(box, { kind: "frame", x, y, width, height, series: [], name: box.turns.length ? opened.inner.path : "" });
    opened.left -= x + (width - opened.width) / 2;
    opened.top -= y + (height - opened.height) / 2 + BAR - GUTTER / 2;
    for (const one of opened.inner.boxes) if (!opened.gone.has(one.at)) add(one, { x: one.x - opened.left, y: one.y - opened.top });
  }
  const at = (/** @type {Box} */ box) => places.get(box) ?? -1;
  /** @type {Way[]} */
  let ways = view.edges.map((edge) => {
    const [source, target] = [view.boxes[edge.source], view.boxes[edge.target]];
    return { edge, source, target, points: movedCurve(edge.path, source, target, boxes, at, across, down, found) };
  });
  ways = besides(ways, [...found.keys()], (box) => boxes[at(box)], Boolean(view.down));
  for (const opened of found.values()) ways = crossed(scene, ways, opened, boxes[at(opened.box)]);
  const edges = ways.map(({ edge, source, target, points }) => ({ ...edge, source: at(source), target: at(target), path: written(points) }));
  const reached = ways.flatMap(({ points }) => points);
  const most = (/** @type {0 | 1} */ axis, /** @type {number} */ size) => Math.max(size, ...reached.map((point) => point[axis]));
  return { ...view, boxes, edges, width: most(0, across(view.width)), height: most(1, down(view.height)) };
}

/** Edges that have no end in a frame go around it. @param {Way[]} ways @param {Box[]} opened @param {(box: Box) => Box} now @param {boolean} down */
function besides(ways, opened, now, down) {
  /** @type {Map<Box, number>} */
  const lanes = new Map();
  return ways.map((way) => {
    if (opened.includes(way.source) || opened.includes(way.target)) return way;
    const hit = opened.find((box) => runsThrough(way.points, now(box)));
    if (!hit) return way;
    const lane = lanes.get(hit) ?? 0;
    lanes.set(hit, lane + 1);
    return { ...way, points: detour(way.points, now(hit), lane % 4, down) };
  });
}

/**
 * A map that makes room on one axis: nothing comes closer together.
 * @param {number[][]} wishes start, length, and length that is needed
 * @returns {Line}
 */
export function widened(wishes) {
  /** @type {Line[]} */
  const lines = [];
  const all = (/** @type {number} */ at) => lines.reduce((place, line) => line(place), at);
  for (const [start, length, needed] of wishes) {
    const from = all(start);
    const to = all(start + length);
    const extra = needed - (to - from);
    if (extra > 0) lines.push((at) => (at <= from ? at : at >= to ? at + extra : from + ((at - from) * (to - from + extra)) / (to - from)));
  }
  return all;
}

/**
 * The curve of an edge after its boxes have moved: its ends stay on them.
 * @param {string} path @param {Box} source @param {Box} target @param {Box[]} boxes @param {(box: Box) => number} at
 * @param {Line} across @param {Line} down @param {Map<Box, Opened>} found
 */
function movedCurve(path, source, target, boxes, at, across, down, found) {
  const points = pointsOf(path);
  const moved = points.map(([x, y]) => /** @type {Point} */ ([across(x), down(y)]));
  const end = (/** @type {Box} */ box, /** @type {number[]} */ nearest) => {
    if (found.has(box)) return;
    const [first] = nearest;
    const [x, y] = [boxes[at(box)].x - box.x + points[first][0] - moved[first][0], boxes[at(box)].y - box.y + points[first][1] - moved[first][1]];
    for (const one of nearest) moved[one] = [moved[one][0] + x, moved[one][1] + y];
  };
  if (points.length > 1) {
    end(source, [0, 1]);
    end(target, [points.length - 1, points.length - 2]);
  }
  return moved;
}

/**
 * The edges around a frame and inside it: those that cross its rim go on to the node inside.
 * @param {Scene} scene @param {Way[]} ways @param {Opened} opened @param {Box} frame
 * @returns {Way[]}
 */
function crossed(scene, ways, { box, inner, left, top, gone }, frame) {
  const within = (/** @type {Point} */ [x, y]) => /** @type {Point} */ ([
    clamp(x - left, frame.x + EDGE, frame.x + frame.width - EDGE), clamp(y - top, frame.y + BAR, frame.y + frame.height - EDGE)]);
  const inside = inner.edges.map((edge) => (
    { edge, source: inner.boxes[edge.source], target: inner.boxes[edge.target], points: pointsOf(edge.path).map(within) }));
  const entering = inside.filter(({ source, edge }) => gone.has(source.at) && edge.kind === "value");
  const leaving = inside.filter(({ target, edge }) => gone.has(target.at) && edge.kind === "value");
  const into = entriesOf(ways, box);
  const lanes = new Map(into.map((way, lane) => [way, lane]));
  const entered = entering.flatMap((way) => {
    const outer = entryOf(scene, into, way.edge.tensor);
    return outer ? [{ ...way, source: outer.source, outer, points: spliced(outer.points, way.points, frame, lanes.get(outer) ?? 0) }] : [];
  });
  const used = new Set(entered.map(({ outer }) => outer));
  const around = ways.flatMap((way) => {
    if (used.has(way)) return [];
    const from = way.source === box && way.edge.kind === "value" ? leaving.filter(({ edge }) => edge.tensor === way.edge.tensor) : [];
    const exit = from.find(({ target }) => target.key === way.target.key) ?? from[0];
    return exit ? [{ ...way, source: exit.source, points: spliced([...way.points].reverse(), [...exit.points].reverse(), frame, 0).reverse() }] : [way];
  });
  return [...around, ...entered, ...inside.filter(({ source, target }) => !gone.has(source.at) && !gone.has(target.at))];
}

/**
 * A curve that ends at a frame, and one that begins inside near its rim, as one: from the rim it goes level, or upright.
 * @param {Point[]} outer @param {Point[]} inner @param {Box} frame @param {number} lane where several turn off in one row
 */
function spliced(outer, inner, frame, lane) {
  const [x, y] = outer[outer.length - 1];
  const level = Math.min(Math.abs(x - frame.x), Math.abs(x - frame.x - frame.width)) <= Math.min(Math.abs(y - frame.y), Math.abs(y - frame.y - frame.height));
  const [first, second] = inner;
  const turns = level !== Math.abs(second[0] - first[0]) > Math.abs(second[1] - first[1]);
  // Where a row of boxes is passed, the line runs below it, and not along their rims.
  const aside = turns ? LANE * (1 + (lane % 4)) * Math.sign(level ? second[1] - first[1] : second[0] - first[0]) : 0;
  /** @type {Point} */
  const to = level ? [first[0], first[1] + aside] : [first[0] + aside, first[1]];
  /** @type {Point} */
  const rim = level ? [x, to[1]] : [to[0], y];
  const before = outer[outer.length - 2];
  const turn = /** @type {Point} */ (level ? [before[0], rim[1]] : [rim[0], before[1]]);
  const third = (/** @type {number} */ share) => /** @type {Point} */ ([rim[0] + (to[0] - rim[0]) * share, rim[1] + (to[1] - rim[1]) * share]);
  return [...outer.slice(0, -2), turn, rim, third(1 / 3), third(2 / 3), to, ...inner.slice(1)];
}

/** A curve as path data. @param {Point[]} points */
function written(points) {
  const [first, ...rest] = points.map(([x, y]) => `${Math.round(x)} ${Math.round(y)}`);
  return rest.length ? `M${first}C${rest.join(" ")}` : `M${first}`;
}
