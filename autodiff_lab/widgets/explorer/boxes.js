// The boxes of the graph: one SVG group for each leaf, op and folded scope, and what it shows at a state.

import { remembered } from "../basics.js";
import { drawing, setAttribute, setText } from "../dom.js";
import { drawCells, picturedSize } from "./cells.js";
import { shortened } from "./chips.js";
import { firstOf } from "./edges.js";
import { gradientOf, hasValue } from "./fold.js";
import { isInside } from "./scene.js";
import { touches } from "./trace.js";
import { CUT, PENDING, PENDING_MARK, counted, gradientText, isComplex, namesOf, withI } from "./words.js";

/** @import { Scene, Box, Tensor, Value } from "./scene.js" */
/** @import { State } from "./fold.js" */
/**
 * @typedef {{ name: string, full: string, letters: number, small: SVGTextElement | null, group: SVGGElement, text: Element | null, cells: SVGGElement | null, room: import("./cells.js").Room | null,
 *   pictured: Value | null | undefined }} Slot where a value or a gradient is shown: as text, or as cells where it has any;
 *   `small` is the text in a small picture, of so many `letters`
 * @typedef {{ group: SVGGElement, chip: SVGTextElement, value: Slot | null, gradient: Slot | null,
 *   arrived: Element | null, turn: SVGCircleElement | null, shown: string, seen: unknown[] }} BoxPicture `seen` is what the lines were written from
 */

const PAD = 12;
const FIRST_LINE = 22;
const LINE = 17;
const LONGEST = 24;
const CURVE = 22;
const CURVE_END = 8;
const LONGEST_RESULT = 10;
const SLOT_GAP = 10;
/** Pictures up to this height stand below each other. */
const STACKED = 10;

/**
 * Draw a box; `paintBox` fills in what changes.
 * @param {Scene} scene
 * @param {Box} box
 * @returns {BoxPicture}
 */
export function drawBox(scene, box) {
  if (box.kind === "frame") return drawFrame(scene, box);
  const tensor = scene.tensors.get(box.tensors[0]);
  const classes = `box ${box.kind.replace(" ", "-")}${box.outside ? " outside" : ""}`;
  const group = drawing("g", { class: classes, transform: `translate(${box.x} ${box.y})`, "data-at": box.at, "data-key": box.key });
  if (box.kind === "scope" || box.turns.length) group.append(outline(box, "behind", 4));
  group.append(outline(box, "body", 0), head(box, tensor));
  /** @type {BoxPicture} */
  const picture = { group, chip: drawing("text", { class: "chip", x: box.width / 2 }), value: null, gradient: null, arrived: null, turn: null, shown: "", seen: [] };
  group.append(picture.chip, ...box.series.map((series) => curveOf(box, series)));
  if (box.series.length) {
    picture.turn = drawing("circle", { class: "turn", r: 3.5 });
    group.append(picture.turn);
  }
  const room = tensor && !isMany(box) && box.kind !== "failed" ? picturedSize(tensor.value) : null;
  let row = 0;
  const line = (/** @type {string} */ name) => {
    row += 1;
    const slot = makeSlot(name, row, room);
    group.append(slot.group);
    return slot;
  };
  if (box.kind === "failed") picture.value = line("value");
  if (!tensor || box.kind === "failed") return picture;
  if (box.kind !== "constant" || tensor.value.small !== box.label) picture.value = line("value");
  if (!isMany(box) && gradientOf(scene, START, tensor).state !== "none") picture.gradient = line("gradient");
  if (!isMany(box) && meetings(scene).has(tensor.number)) {
    group.append(meetingMark(box));
    picture.arrived = drawing("text", { class: "arrived", x: box.width, y: box.height + 14 });
    group.append(picture.arrived);
  }
  return picture;
}

/** A fold that is open in place: a frame with its name, and a mark that closes it. @param {Scene} scene @param {Box} box @returns {BoxPicture} */
function drawFrame(scene, box) {
  const [kind = ""] = scene.frames[box.key.slice(1)] ?? [];
  const group = drawing("g", { class: `box frame of-${kind || "scope"}`, transform: `translate(${box.x} ${box.y})`, "data-at": box.at, "data-key": box.key });
  const text = drawing("text", { class: "head", x: PAD, y: 20 }, drawing("tspan", { class: "label" }, cut(box.label)));
  if (box.turns.length) text.append(drawing("tspan", { class: "name", dx: 6 }, `${box.turns.indexOf(box.name) + 1} of ${box.turns.length}`));
  if (kind) text.append(drawing("tspan", { class: "name", dx: 6 }, counted(box.members.length, "op")));
  const close = drawing("g", { class: "close", transform: `translate(${box.width - 18} 15)` }, drawing("circle", { r: 9 }), drawing("path", { d: "M-4 0H4" }));
  group.append(outline(box, "body", 0), text, close);
  return { group, chip: drawing("text"), value: null, gradient: null, arrived: null, turn: null, shown: "", seen: [] };
}

/**
 * The place of a value or a gradient: lines below each other, as are pictures of a single row; others stand side by side.
 * @param {string} name
 * @param {number} row from 1
 * @param {import("./cells.js").Room | null} room of the picture, if there may be one
 * @returns {Slot}
 */
function makeSlot(name, row, room) {
  const group = drawing("g", { class: `slot of-${name}` });
  const beside = room !== null && room.height > STACKED;
  const x = PAD + (beside && row > 1 ? (room?.width ?? 0) + SLOT_GAP : 0);
  const y = FIRST_LINE + LINE * (beside ? 1 : row) + 1;
  const text = drawing("text", { class: name, x, y: beside ? y + (room?.height ?? 0) / 2 - 7 : y });
  const cells = room && drawing("g", { class: `cells ${name}`, transform: `translate(${x} ${y - (beside ? 11 : 8)})` });
  group.append(text);
  if (cells) group.append(cells);
  return { name, full: "", letters: 0, small: null, group, text, cells, room, pictured: undefined };
}

/**
 * Show a value as cells, or else as text; touches only what changed.
 * @param {Slot} slot
 * @param {string} text
 * @param {Value | null} value what is known
 * @param {boolean} [framed] whether a value that is not known yet has an empty frame
 */
function fillSlot(slot, text, value, framed = false) {
  const pictured = value && slot.room && picturedSize(value) ? value : null;
  const cells = slot.cells && (pictured || (framed && !value)) ? slot.cells : null;
  slot.full = cells ? "" : text;
  if (slot.text) setText(slot.text, slot.full);
  if (slot.small && slot.letters) setText(slot.small, shortened(slot.full, slot.letters));
  const next = cells ? pictured : undefined;
  if (!slot.cells || !slot.room || slot.pictured === next) return;
  slot.pictured = next;
  slot.cells.classList.toggle("empty", next === null);
  if (next === undefined) slot.cells.replaceChildren();
  else drawCells(slot.cells, next, slot.room);
}

/** What a loop computes over its turns. @param {Box} box @param {import("./scene.js").Series} series */
function curveOf(box, series) {
  const points = series.heights.flatMap((height, at) => (height === null ? [] : [pointOf(box, series, at).join(" ")]));
  return drawing("polyline", { class: `series of-${series.kind}`, points: points.join(" ") });
}

/** @param {Box} box @param {import("./scene.js").Series} series @param {number} at @returns {[number, number]} */
function pointOf(box, series, at) {
  const across = (box.width - 2 * PAD) / Math.max(series.heights.length - 1, 1);
  return [PAD + at * across, box.height - CURVE_END - CURVE * (series.heights[at] ?? 0) / 100];
}

/**
 * Mark the current turn on the curve of a loop.
 * @param {Scene} scene
 * @param {State} state
 * @param {Box} box
 * @param {BoxPicture} picture
 */
function markTurn(scene, state, box, picture) {
  if (!picture.turn) return;
  const at = turnAt(scene, state, box);
  const series = box.series[state.phase === "backward" ? box.series.length - 1 : 0];
  const shown = at >= 0 && series.heights[at] !== null;
  picture.turn.style.display = shown ? "" : "none";
  if (!shown) return;
  const [x, y] = pointOf(box, series, at);
  setAttribute(picture.turn, "cx", x.toFixed(1));
  setAttribute(picture.turn, "cy", y.toFixed(1));
}

/** The iteration of a loop in which the step is, or -1. @param {Scene} scene @param {State} state @param {Box} box */
function turnAt(scene, state, box) {
  const scope = scene.applications.get(state.now?.application ?? -1)?.scope ?? "";
  return box.turns.findIndex((turn) => isInside(scope, turn));
}

/**
 * What a box shows: its result, but of a loop in which the step is, what the latest iteration has made of it so far.
 * @param {Scene} scene
 * @param {State} state
 * @param {Box} box
 */
function shownTensor(scene, state, box) {
  const each = box.series[0]?.tensors ?? [];
  const at = each.length ? turnAt(scene, state, box) : -1;
  const made = [each[at], each[at - 1]].map((number) => scene.tensors.get(number));
  return made.find((tensor) => tensor && hasValue(scene, state, tensor)) ?? scene.tensors.get(box.tensors[0]);
}

/** A folded scope with several results shows none of them. @param {Box} box */
const isMany = (box) => box.tensors.length > 1 && box.members.length > 0;

/** @type {State} */
const START = {
  step: 0, phase: "start", now: null, sweep: -1, adjoints: new Map(), passed: new Map(), finished: new Set(), only: -1,
};

/** The radius of the corners of a box. @param {Box} box */
export function cornerOf(box) {
  return ["variable", "constant", "gradient"].includes(box.kind) ? Math.min(18, box.height / 2) : 6;
}

/** @param {Box} box @param {string} name @param {number} shift */
function outline(box, name, shift) {
  return drawing("rect", { class: name, x: shift, y: -shift, width: box.width, height: box.height, rx: cornerOf(box) });
}

/** @param {Box} box @param {Tensor | undefined} tensor */
function head(box, tensor) {
  const text = drawing("text", { class: "head", x: PAD, y: FIRST_LINE });
  const span = (/** @type {string} */ name, /** @type {string} */ words, gap = 6) => (
    text.append(drawing("tspan", { class: name, dx: text.childNodes.length ? gap : undefined }, cut(words))));
  span("label", box.label);
  const times = box.turns.length || box.times;
  if (times > 1) span("times", `×${times}`);
  else if (box.kind === "scope") span("name", counted(box.members.length, "op"));
  else if (box.name) span("name", box.label.endsWith("→") ? cut(box.name) : `→ ${cut(box.name)}`);
  if (box.members.length && box.tensors.length === 1 && tensor?.named && picturedSize(tensor.value)) span("name", `→ ${cut(tensor.name, LONGEST_RESULT)}`);
  if (tensor?.value.shape && box.tensors.length === 1) span("shape", tensor.value.shape);
  return text;
}

/** Some fonts are wider than boxes are made for: how often a loop runs stays inside. @param {Box} box @param {SVGGElement} group in the page */
export function fitHead(box, group) {
  if (!box.turns.length && box.times < 2) return;
  const text = group.querySelector("text.head");
  const room = box.width - 2 * PAD;
  if (!(text instanceof SVGTextElement) || text.getComputedTextLength() <= room) return;
  text.setAttribute("textLength", String(room));
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

/** @param {string} text @param {number} [most] */
function cut(text, most = LONGEST + 2) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}${CUT}`;
}

/** Where contributions of several uses are added up. @param {Box} box */
function meetingMark(box) {
  return drawing(
    "g", { class: "meeting", transform: `translate(${box.width} ${box.height / 2})` }, drawing("circle", { r: 6 }), drawing("path", { d: "M-3 0H3M0 -3V3" }));
}

/** The tensors to which several uses contribute. */
const meetings = remembered((/** @type {Scene} */ scene) => (
  new Set(scene.steps.flatMap((step) => step.flows.filter((flow) => flow.expected > 1).map((flow) => flow.input)))));

/**
 * Show a state in a box; touches only what changed.
 * @param {Scene} scene
 * @param {State} state
 * @param {Box} box
 * @param {BoxPicture} picture
 */
export function paintBox(scene, state, box, picture) {
  if (box.kind === "frame") return undefined;
  markTurn(scene, state, box, picture);
  const tensor = shownTensor(scene, state, box);
  const write = (/** @type {boolean} */ ran, /** @type {string} */ value, /** @type {Value | null} */ known = null) => {
    if (picture.value) fillSlot(picture.value, value, known, true);
    return ran ? "done" : "to-come";
  };
  if (box.kind === "failed" || !tensor) {
    const ran = firstOf(scene, [box.application, ...box.members]) <= state.step;
    return mark(picture, write(ran, box.kind === "failed" && ran ? "failed" : PENDING_MARK));
  }
  const ready = hasValue(scene, state, tensor);
  if (isMany(box)) return mark(picture, write(ready, ready ? counted(box.tensors.length, "result") : PENDING_MARK));
  const gradient = gradientOf(scene, state, tensor);
  const seen = [ready, tensor.value, gradient.state, gradient.value, gradient.arrived];
  if (seen.every((one, at) => one === picture.seen[at])) return undefined;
  picture.seen = seen;
  const left = scene.left.has(tensor.number) || scene.cuts.some((lost) => lost.tensor === tensor.number && lost.application < 0);
  const isCut = gradient.state === "no path" && left;
  const kind = gradient.value ? gradient.value.mark || "known" : gradient.state.replace(" ", "-");
  const partial = gradient.value !== null && gradient.arrived < gradient.expected;
  // A folded scope says the name of what it shows.
  const lead = box.members.length && tensor.named && !picturedSize(tensor.value) ? `${cut(tensor.name, LONGEST_RESULT)} ` : "";
  const result = lead + (ready ? tensor.value.small : PENDING_MARK);
  const time = write(ready, ready || box.turns.length ? result : PENDING_MARK, ready ? tensor.value : null);
  picture.group.classList.toggle("with-gradient", gradient.value !== null);
  if (picture.gradient) fillSlot(picture.gradient, isCut ? "/ cut" : gradientText(gradient), gradient.value);
  return mark(
    picture, time, `${kind}${isCut ? " cut" : ""}${partial ? " partial" : ""} value-${ready ? tensor.value.mark || "known" : "pending"}`,
    partial ? `${gradient.arrived} of ${gradient.expected}` : "",
  );
}

/** Colour a box by its state. @param {BoxPicture} picture @param {string} time @param {string} [kind] of its gradient @param {string} [arrived] */
function mark(picture, time, kind = "", arrived = "") {
  const shown = [time, kind, arrived].join("\n");
  if (shown === picture.shown) return;
  picture.shown = shown;
  setAttribute(picture.group, "data-time", time);
  setAttribute(picture.group, "data-gradient", kind);
  if (picture.arrived) setText(picture.arrived, arrived);
}

/**
 * What a box says when one asks: its op, line and whole values.
 * @param {Scene} scene
 * @param {State} state
 * @param {Box} box
 */
export function tipOf(scene, state, box) {
  const application = scene.applications.get(box.application);
  const told = [];
  if (application) {
    const params = application.params ? `, ${application.params}` : "";
    told.push(`${application.op.name}(${namesOf(scene, application.inputs).join(", ")}${params})`);
    if (application.of) told.push(application.of);
    if (application.error) told.push(`failed: ${application.error}`);
  }
  const path = box.key.slice(1);
  if (box.key.startsWith("s")) told.push(`${scene.frames[path]?.[1] ?? `scope ${path}`}: ${counted(box.members.length, "op")}; Enter ${shut(box)} it`);
  if (box.turns.length) told.push(`${box.label}: ${counted(box.turns.length, "iteration")}, ${counted(box.members.length, "op")}; Enter ${shut(box)} it`);
  for (const number of box.tensors) {
    const tensor = scene.tensors.get(number);
    if (tensor) told.push(tensorWords(scene, state, tensor));
  }
  const visits = application ? touches(scene, box) : [];
  const forwards = visits.filter((at) => scene.steps[at - 1].sweep < 0);
  if (forwards.length && visits.length > forwards.length) {
    told.push(`forward at step ${forwards.join(", ")}, backward at step ${visits.filter((at) => !forwards.includes(at)).join(", ")}`);
  }
  const place = application?.place ?? scene.tensors.get(box.tensors[0])?.place;
  if (place) told.push(`${place.where}: ${place.line}`);
  return told.join("\n");
}

/** What Enter does with a fold. @param {Box} box */
const shut = (box) => (box.kind === "frame" ? "closes" : "opens");

/** @param {Scene} scene @param {State} state @param {Tensor} tensor */
export function tensorWords(scene, state, tensor) {
  const { dtype, shape } = tensor.value;
  const gradient = gradientOf(scene, state, tensor);
  const known = hasValue(scene, state, tensor) ? inFull(tensor.value) : PENDING;
  const slope = gradient.value ? `; ${isComplex(tensor.value) ? "adjoint" : "gradient"} ${inFull(gradient.value)}` : "";
  const exit = scene.left.get(tensor.number);
  const left = exit ? `; left the tape through ${exit.how}` : "";
  return `${tensor.name}: ${dtype}${shape ? ` ${shape}` : ""} = ${known}${slope}${left}`;
}

/** Every digit, unless they fill the panel. @param {Value} value */
const inFull = (value) => (value.full.length > 100 ? value.short : isComplex(value) ? withI(value.full) : value.full);
