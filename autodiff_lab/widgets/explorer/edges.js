// The edges of the graph: a solid line forwards, a dashed one backwards beside it, and their numbers at the current step.

import { drawing, setAttribute, setText } from "../dom.js";
import { lensOf } from "./arithmetic.js";
import { hasValue } from "./fold.js";
import { isCutAt, isLost } from "./trace.js";
import { along, arrowHead, freePlace, pointsOf } from "./viewport.js";

/** @import { Scene, View, Edge, Box, Cut } from "./scene.js" */
/** @import { State } from "./fold.js" */
/**
 * @typedef {{ edge: Edge, group: SVGGElement, points: [number, number][], back: SVGGElement | null, uses: string[],
 *   target: Box, boxes: Box[], members: Set<number>, born: number, labels: SVGGElement, label: SVGTextElement | null, shown: string, cuts: Cut[] }} EdgePicture
 *   `members` are the applications at its end, `born` is the step at which the first of them runs
 */

const BESIDE = 5;

/**
 * Draw an edge; `paintEdge` shows what has passed along it.
 * @param {Scene} scene
 * @param {View} view
 * @param {Edge} edge
 * @param {number} at
 * @param {SVGGElement} labels the layer for numbers, above all lines
 * @returns {EdgePicture}
 */
export function drawEdge(scene, view, edge, at, labels) {
  const points = pointsOf(edge.path);
  const target = view.boxes[edge.target];
  const cuts = edge.kind === "value" ? scene.cuts.filter((cut) => isCutAt(cut, target, edge.tensor)) : [];
  const group = drawing(
    "g", { class: `edge ${edge.kind}`, "data-edge": at, "data-tensor": edge.tensor, "data-position": edge.position },
    drawing("path", { class: "hit", d: edge.path }), drawing("path", { class: "line", d: edge.path }),
    points.length > 1 ? drawing("path", { class: "tip", d: arrowHead(points[points.length - 2], points[points.length - 1]) }) : "",
    cuts.length ? slash(along(points, 0.5)) : "",
  );
  const members = new Set(target.application >= 0 ? [target.application] : target.members);
  return { edge, group, points, back: null, uses: usesOf(scene, view, target, edge), target, boxes: view.boxes, members, born: firstOf(scene, members), labels, label: null, shown: "", cuts };
}

/** Where a gradient is lost: a slash across the edge, and the word. @param {[number, number]} place */
function slash([x, y]) {
  return drawing(
    "g", { class: "cut", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, drawing("path", { d: "M-5 10L5 -10" }), drawing("text", { y: -14 }, "cut"));
}

/**
 * The inputs that an edge stands for: one of an op, or all inside a folded scope that take its tensor; one edge leads from
 * a node to a loop, however many of its values the iterations take.
 * @param {Scene} scene
 * @param {View} view
 * @param {Box} target
 * @param {Edge} edge
 */
function usesOf(scene, view, target, edge) {
  if (edge.kind !== "value") return [];
  if (target.application >= 0 && !target.turns.length) return [`${target.application}:${edge.position}`];
  const source = view.boxes[edge.source];
  const made = target.turns.length ? [source.application, ...source.members].flatMap((member) => scene.applications.get(member)?.outputs ?? []) : [];
  const given = new Set([edge.tensor, ...made]);
  return target.members.flatMap((member) => (scene.applications.get(member)?.inputs ?? [])
    .flatMap((input, position) => (given.has(input) ? [`${member}:${position}`] : [])));
}

/**
 * Show a state on an edge; touches only what changed.
 * @param {Scene} scene
 * @param {State} state
 * @param {EdgePicture} picture
 */
export function paintEdge(scene, state, picture) {
  const { uses } = picture;
  if (picture.cuts.length) setAttribute(picture.group, "data-cut", isLost(state, picture.cuts) ? "yes" : "no");
  if (picture.edge.kind !== "value") {
    // What a loop hands on, an assignment, or the gradient that a later step uses.
    const tensor = scene.tensors.get(picture.edge.tensor);
    const there = tensor && hasValue(scene, state, tensor) && (picture.edge.kind === "adjoint" || !picture.members.size || picture.born <= state.step);
    setAttribute(picture.group, "data-time", there ? "done" : "to-come");
    return;
  }
  const passed = uses.filter((use) => state.passed.has(use));
  const now = state.now?.application ?? -1;
  const current = picture.members.has(now) && (state.phase === "forward" || passed.some((use) => use.startsWith(`${now}:`)));
  const share = current && state.phase === "backward" && passed.length === 1 ? state.passed.get(passed[0]) : undefined;
  const flow = share && state.now?.flows.find(({ position }) => `${now}:${position}` === passed[0]);
  // The number, or what happened to the shape of a tensor.
  const value = flow ? lensOf(state.now?.incoming.find((one) => one !== null) ?? null, flow) || share.small : share?.small ?? "";
  const time = current ? "now" : picture.born <= state.step ? "done" : "to-come";
  const shown = `${time}|${passed.length > 0}|${state.phase}|${value}`;
  if (shown === picture.shown) return;
  picture.shown = shown;
  setAttribute(picture.group, "data-time", time);
  setAttribute(picture.group, "data-phase", state.phase);
  if (passed.length && !picture.back) drawBack(picture, Boolean(state.now?.tangent));
  if (picture.back) setAttribute(picture.back, "data-passed", passed.length ? "yes" : "no");
  if (value && !picture.label) picture.labels.append(picture.label = drawing("text", { class: "share" }));
  if (!picture.label) return;
  const place = value ? freePlace(picture.points, value.length, picture.boxes.filter(({ kind }) => kind !== "frame"), picture.edge.position) : null;
  setText(picture.label, place ? value : "");
  if (place) {
    setAttribute(picture.label, "x", place[0].toFixed(1));
    setAttribute(picture.label, "y", place[1].toFixed(1));
  }
  setAttribute(picture.label, "class", `share ${share?.mark ?? ""}`);
}

/** The step at which the first of some applications runs. @param {Scene} scene @param {Iterable<number>} members */
export function firstOf(scene, members) {
  return Math.min(...[...members].map((member) => scene.applications.get(member)?.born ?? Infinity));
}

/** A tangent goes with the edge. @param {EdgePicture} picture @param {boolean} tangent */
function drawBack(picture, tangent) {
  const [first, second] = picture.points;
  const last = picture.points[picture.points.length - 1] ?? first;
  const steep = first && Math.abs(last[1] - first[1]) > 2 * Math.abs(last[0] - first[0]);
  const back = drawing("g", { class: "back", transform: steep ? `translate(${BESIDE} 0)` : `translate(0 ${BESIDE})` });
  back.append(drawing("path", { class: "line", d: picture.edge.path }));
  const [from, to] = tangent ? picture.points.slice(-2) : [second, first];
  if (second) back.append(drawing("path", { class: "tip", d: arrowHead(from, to) }));
  picture.back = back;
  picture.group.append(back);
}
