// The card: one step in words and numbers.  It is short, so it is made again at every step.

import { element } from "../dom.js";
import { backwardArithmetic, forwardArithmetic } from "./arithmetic.js";
import { formula } from "./dom.js";
import { elementsPart } from "./elements.js";
import { gradientOf, hasValue } from "./fold.js";
import { makeGrids } from "./grids.js";
import { hasCells } from "./jump.js";
import { usersOf } from "./trace.js";
import { PENDING, arrivals, bracketed, conjugate, counter, filled, isComplex, namesOf, nothingRan, sumText } from "./words.js";

/** @import { Scene, Step, Value, Application, Flow, Tensor } from "./scene.js" */
/** @import { State } from "./fold.js" */

/** The sizes of a formula, as the style sheet has it and at least. */
const RULE = 18;
const RULE_LEAST = 12;
/** Characters from which the numbers of a product stand below each other. */
const LONG = 9;
const LEGEND = "The stronger the colour of a cell, the larger its number, ignoring the sign; a minus marks negative numbers. Spread is the standard deviation.";
/** How many uses of a tensor are listed. */
const MOST_USERS = 8;

/**
 * Fill the card with a state.
 * @param {HTMLElement} card
 * @param {Scene} scene
 * @param {State} state
 */
export function paintCard(card, scene, state) {
  const application = state.now ? scene.applications.get(state.now.application) : undefined;
  const heading = element("p", { class: "counter", "data-phase": state.now && state.now.within >= 0 ? "backward" : state.phase }, counter(scene, state));
  if (!state.now || !application) {
    const told = scene.last ? "Nothing has run yet. The right arrow key takes the first step." : nothingRan(scene);
    return card.replaceChildren(heading, element("p", { class: "sentence" }, told));
  }
  const body = state.now.sweep < 0 ? forwardBody(scene, application) : backwardBody(scene, state, state.now, application);
  card.replaceChildren(heading, ...title(scene, application), ...body);
  return fitFormulas(card);
}

/** MathML has no line breaks: a formula that is wider than the card is set smaller, and if need be scrolls. @param {HTMLElement} card */
function fitFormulas(card) {
  for (const rule of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll(".rule"))) {
    const { clientWidth, scrollWidth } = rule;
    if (scrollWidth > clientWidth && clientWidth) rule.style.fontSize = `${Math.max(RULE_LEAST, Math.floor((RULE * clientWidth) / scrollWidth))}px`;
  }
}

/**
 * Fill the card with one tensor: what it is, its value and gradient at this state, where it comes from and goes to.
 * @param {HTMLElement} card
 * @param {Scene} scene
 * @param {State} state
 * @param {Tensor} tensor
 * @param {import("./elements.js").Compute} compute
 */
export function paintTensor(card, scene, state, tensor, compute) {
  const { value } = tensor;
  const made = scene.applications.get(tensor.application);
  const gradient = gradientOf(scene, state, tensor);
  const list = element("dl", { class: "values" });
  const line = (/** @type {string} */ name, /** @type {(Node | string)[]} */ ...shown) => list.append(element("dt", {}, name), element("dd", {}, ...shown));
  line("shape", value.shape || "a single number");
  line("dtype", value.dtype);
  line("value", hasValue(scene, state, tensor) ? numeral(value, "forward", "value") : PENDING);
  if (gradient.state !== "none") line("adjoint", gradient.value ? numeral(gradient.value, "backward", "gradient") : gradient.state === "pending" ? PENDING : "no path");
  if (gradient.value && isComplex(value)) line("gradient", value.shape ? "the conjugate of the adjoint" : conjugate(gradient.value.short));
  if (gradient.expected > 1) line("", arrivals(tensor.name, gradient.arrived, gradient.expected));
  for (const cut of scene.cuts) if (cut.tensor === tensor.number && state.finished.has(cut.sweep)) line("cut", element("span", { class: "failure" }, scene.remarks[cut.remark] ?? ""));
  line("produced", ...(made ? [opLink(made)] : [`${tensor.kind}${aboutPlace(tensor)}`]));
  const users = usersOf(scene, tensor.number);
  line("used", ...(users.length ? users.slice(0, MOST_USERS).map(opLink) : ["by no op"]), users.length > MOST_USERS ? `and ${users.length - MOST_USERS} more` : "");
  card.replaceChildren(element("p", { class: "counter" }, "Tensor"), element("h3", {}, tensor.name), list, ...(hasValue(scene, state, tensor) ? elementsPart(tensor, compute) : []));
}

/** An op that a click goes to. @param {Application} application */
function opLink({ index, op, place }) {
  return element("button", { type: "button", class: "goes", "data-application": index, title: place?.line }, place ? `${op.name} at ${place.where}` : op.name);
}

/** @param {Scene} scene @param {Application} application */
function title(scene, application) {
  const { op, place } = application;
  const symbol = op.symbol && op.symbol !== op.name ? op.symbol : "";
  const where = place?.where.startsWith("cell ") && hasCells()
    ? element("button", { type: "button", class: "place goes", title: "Go to this line (l)" }, place.where)
    : element("span", { class: "place" }, place?.where ?? "");
  /** @type {Element[]} */
  const parts = [element("h3", {}, element("span", { class: "op" }, ...breakable(op.name)), symbol && element("span", { class: "symbol" }, symbol), where)];
  if (application.of) parts.push(element("p", { class: "detail" }, capitalised(application.of)));
  if (place?.line) parts.push(element("code", { class: "line", title: place.line }, place.line));
  if (op.sentence) parts.push(element("p", { class: "sentence" }, sentence(filled(op.sentence, namesOf(scene, application.inputs)))));
  return parts;
}

/** A long name breaks after its underscores, and nowhere else. @param {string} name */
const breakable = (name) => name.split(/(?<=_)/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]));

/** @param {string} text */
const capitalised = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {string} text */
const sentence = (text) => capitalised(/[.!?]$/.test(text) ? text : `${text}.`);

/** @param {Scene} scene @param {Application} application */
function forwardBody(scene, application) {
  const names = bracketed(namesOf(scene, application.inputs));
  const made = application.outputs.length === 1 ? scene.tensors.get(application.outputs[0]) : undefined;
  const parts = [];
  if (application.op.formula && !application.error) {
    const lead = made?.named ? [element("span", { class: "name" }, made.name), " = "] : [];
    parts.push(element("p", { class: "rule" }, ...lead, formula(application.op.formula, names)));
  }
  if (application.params) parts.push(element("p", { class: "detail" }, application.params));
  const list = element("dl", { class: "values" });
  const inputs = [...new Set(application.inputs)].filter((number) => !isLiteral(scene.tensors.get(number)));
  for (const number of inputs) list.append(...named(scene, number, "input"));
  for (const number of application.outputs) list.append(...named(scene, number, "output"));
  parts.push(list);
  const arithmetic = application.error ? null : forwardArithmetic(scene, application);
  if (arithmetic) parts.push(makeGrids(arithmetic), element("p", { class: "detail legend" }, LEGEND));
  if (application.error) parts.push(element("p", { class: "failure" }, element("strong", {}, "failed "), application.error));
  return parts;
}

/** A number of the program text is its own name, and needs no line that says so. @param {Tensor | undefined} tensor */
function isLiteral(tensor) {
  return tensor !== undefined && !tensor.named && Number(tensor.name) === Number(tensor.value.full);
}

/** @param {Scene} scene @param {number} number @param {string} role */
function named(scene, number, role) {
  const tensor = scene.tensors.get(number);
  if (!tensor) return [];
  // What nobody named is called by how it was computed, and on its own card "result".
  const name = tensor.named || role === "input" ? tensor.name : "result";
  const value = element("dd", { class: role }, numeral(tensor.value, "forward", "value"));
  return [element("dt", { class: role, title: `${tensor.name}${aboutPlace(tensor)}` }, name), value];
}

/** @param {Tensor} tensor */
const aboutPlace = (tensor) => (tensor.place ? ` (${tensor.place.where}: ${tensor.place.line})` : "");

/**
 * A number with its full digits on hover, and in the copied text.
 * @param {Value | null} value
 * @param {"forward" | "backward" | "local"} kind
 * @param {string} role what it is, for tests and style
 */
export function numeral(value, kind, role) {
  if (!value) return element("span", { class: `number ${kind}`, "data-role": role }, "none");
  return element("span", { class: `number ${kind} ${value.mark}`, "data-role": role, "data-full": value.full, title: value.full }, value.short);
}

/** @param {Scene} scene @param {State} state @param {Step} now @param {Application} application */
function backwardBody(scene, state, now, application) {
  if (!now.flows.length) return [element("p", { class: "sentence" }, "Nothing passes back through this op.")];
  const parts = now.flows.map((flow) => flowPart(scene, state, now, application, flow));
  const last = [...now.flows].reverse().find((flow) => isComplex(flow.total));
  if (last && !now.tangent) parts.push(element("p", { class: "detail conjugates" }, conjugates(last, scene.tensors.get(last.input)?.name ?? "")));
  if (parts.some((part) => part.querySelector(".grids"))) parts.push(element("p", { class: "detail legend" }, LEGEND));
  return parts;
}

/** Why a number on the card is not the gradient that the tape returns. @param {Flow} flow @param {string} name */
function conjugates({ total, arrived, expected }, name) {
  const what = arrived < expected ? "once all have arrived" : total.shape ? "" : conjugate(total.short);
  return `For complex numbers a sweep passes on conjugates: the gradient of ${name} is the conjugate of its adjoint${what && `, ${what}`}.`;
}

/** @param {Scene} scene @param {State} state @param {Step} now @param {Application} application @param {Flow} flow */
function flowPart(scene, state, now, application, flow) {
  const names = namesOf(scene, application.inputs);
  const given = now.tangent ? undefined : names[flow.position];
  const name = given ?? scene.tensors.get(flow.input)?.name ?? "";
  const local = application.op.locals[flow.position] ?? "";
  const part = element("section", { class: "flow", "data-position": flow.position });
  part.append(product(now, flow, name, local, names));
  const arithmetic = backwardArithmetic(scene, application, now, flow);
  if (arithmetic) part.append(makeGrids(arithmetic));
  part.append(gathering(scene, state, flow, name));
  return part;
}

/**
 * What came in, the factor of each element or else the rule, what goes out.
 * @param {Step} now @param {Flow} flow @param {string} name @param {string} local @param {string[]} names
 */
function product(now, flow, name, local, names) {
  const all = now.tangent ? [now.incoming[flow.position]] : now.incoming;
  const incoming = flow.local ? [all.find((value) => value !== null) ?? null] : all;
  const long = !flow.local || [...incoming, flow.local, flow.outgoing].some((value) => (value?.short.length ?? 0) > LONG);
  const rule = local ? formula(local, bracketed(names)) : "";
  return element(
    "div", { class: long ? "product long" : "product" },
    ...incoming.map((value) => factor("", numeral(value, "backward", "incoming"), now.tangent ? `tangent of ${names[flow.position]}` : "incoming")),
    flow.local ? factor("×", numeral(flow.local, "local", "local"), rule || "local")
      : factor("→", element("span", { class: "number local", "data-role": "rule" }, rule || "its rule"), "local"),
    factor("=", numeral(flow.outgoing, "backward", "outgoing"), "to ", element("strong", {}, name)),
  );
}

/** A number or a field, with its sign before it and its name below. @param {string} sign @param {Node} above @param {(Node | string)[]} below */
export function factor(sign, above, ...below) {
  return element("span", { class: "factor" }, element("span", { class: "sign" }, sign), above, element("small", {}, ...below));
}

/** @param {Scene} scene @param {State} state @param {Flow} flow @param {string} name */
function gathering(scene, state, flow, name) {
  const part = element("p", { class: "gathering" }, flow.expected === 1 ? capitalised(arrivals(name, 1, 1)) : arrivals(name, flow.arrived, flow.expected));
  if (flow.expected === 1) return part;
  const shares = sharesUntil(state, flow);
  const total = numeral(flow.total, "backward", "total");
  const words = shares.every((share) => share.shape === "") ? `${sumText(shares, flow.expected)} = ` : "total so far ";
  part.append(element("span", { class: "sum" }, words, total));
  return part;
}

/** The contributions up to this one: a later one of the same step is not told yet. @param {State} state @param {Flow} flow */
function sharesUntil(state, flow) {
  const shares = state.adjoints.get(flow.input)?.shares ?? [];
  return shares.slice(0, shares.length - (state.adjoints.get(flow.input)?.arrived ?? 0) + flow.arrived);
}
