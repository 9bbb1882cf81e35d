// Breakpoints: run to the next step that meets what is typed, in the words of lab.breakpoint_when: op="log", name="loss",
// line=12 or line="sin(x)", condition=is_nan(adjoint).  The reading of them is pure; the field is below.

import { element, setText } from "../dom.js";
import { onKeys } from "../host.js";
import { elementsIn } from "./cells.js";
import { Part } from "./part.js";

/** @import { Scene, Step } from "./scene.js" */
/** @import { ExplorerView } from "./widget.js" */
/** @typedef {(step: Step) => boolean} Wanted */

const EXAMPLES = 'op="log", name="loss", line=12, line="sin(x)", condition=is_nan(adjoint) or condition=abs(adjoint) > 10';
const MOST_OPS = 20;
/** @type {Record<string, (number: number, than: number) => boolean>} */
const COMPARED = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "==": (a, b) => a === b, "!=": (a, b) => a !== b,
};
/** @type {Record<string, (number: number) => boolean>} */
const ASKED = { is_nan: Number.isNaN, is_inf: (number) => Math.abs(number) === Infinity, is_finite: Number.isFinite };

/**
 * What a breakpoint asks of a step; several parts hold together.
 * @param {Scene} scene @param {string} text
 * @returns {{ wanted: Wanted, error: "" } | { wanted: null, error: string }}
 */
export function breakpoint(scene, text) {
  /** @type {Wanted[]} */
  const parts = [];
  for (const part of text.match(/(?:"[^"]*"|'[^']*'|\([^()]*\)|[^,])+/g) ?? []) {
    const [, key = "", said = ""] = part.trim().match(/^(op|name|line|condition)\s*=(?!=)\s*(.+)$/s) ?? [];
    const quoted = said.match(/^(["'])(.*)\1$/s)?.[2];
    const word = quoted ?? said.match(/^\w+$/)?.[0];
    const meant = key === "condition" ? condition(scene, quoted ?? said) : key && word !== undefined && matched(scene, key, word, quoted !== undefined);
    const made = meant || `"${part.trim()}" is not a breakpoint.`;
    if (typeof made === "string") return { wanted: null, error: `${made} Try ${EXAMPLES}.` };
    parts.push(made);
  }
  if (!parts.length) return { wanted: null, error: `Try ${EXAMPLES}.` };
  return { wanted: (step) => parts.every((one) => one(step)), error: "" };
}

/** @param {Scene} scene @param {string} key @param {string} said @param {boolean} quoted @returns {Wanted | string} */
function matched(scene, key, said, quoted) {
  const of = (/** @type {Step} */ step) => scene.applications.get(step.application);
  if (key === "op") {
    const ops = new Set(scene.steps.map((step) => of(step)?.op.name ?? ""));
    if (!ops.has(said)) return `No step runs "${said}"; there are ${[...ops].sort().slice(0, MOST_OPS).join(", ")}.`;
    return (step) => of(step)?.op.name === said;
  }
  if (key === "name") return (step) => Boolean(of(step)?.outputs.some((one) => scene.tensors.get(one)?.named && scene.tensors.get(one)?.name === said));
  if (quoted) return (step) => Boolean(of(step)?.place?.line.includes(said));
  if (!/^\d+$/.test(said)) return "A line is a number, or a part of its text in quotation marks.";
  return (step) => Boolean(of(step)?.place?.where.endsWith(`line ${Number(said)}`));
}

/** A question about the numbers of a step; it holds where it does for any of them. @param {Scene} scene @param {string} said @returns {Wanted | string} */
function condition(scene, said) {
  const [, ask, of] = said.trim().match(/^(is_nan|is_inf|is_finite)\(\s*(adjoint|value)\s*\)$/) ?? [];
  if (ask) return (step) => numbersOf(scene, step, of).some(ASKED[ask]);
  const [, size, inner, plain, sign, than] = said.trim().match(/^(?:(abs)\(\s*(adjoint|value)\s*\)|(adjoint|value))\s*(<=|>=|==|!=|<|>)\s*(\S+)$/) ?? [];
  if (!sign || Number.isNaN(Number(than))) return `"${said.trim()}" cannot be asked in the page.`;
  return (step) => numbersOf(scene, step, inner ?? plain).some((one) => COMPARED[sign](size ? Math.abs(one) : one, Number(than)));
}

/** The adjoints that come to a step, or the values of its results, as far as the page knows them. @param {Scene} scene @param {Step} step @param {string} of */
function numbersOf(scene, step, of) {
  const outputs = scene.applications.get(step.application)?.outputs ?? [];
  const values = of === "adjoint" ? step.incoming : outputs.map((one) => scene.tensors.get(one)?.value ?? null);
  // Of a value that is not written out, the mark still says whether it is finite.
  const marked = { nan: [NaN], inf: [Infinity], zero: [], "": [] };
  return values.flatMap((value) => (value ? [...(elementsIn(value) ?? []), ...marked[value.mark]] : []));
}

/** The field, hidden at first, and the keys that run to the next breakpoint or back to the previous one. */
export class Breakpoints extends Part {
  /** @param {ExplorerView} view */
  constructor(view) {
    super(view);
    this.field = element("input", { type: "search", spellcheck: "false", placeholder: 'op="log", line=12, condition=is_nan(adjoint)', "aria-label": "Stop where" });
    this.answer = element("span", { class: "detail", role: "status" });
    const run = element("button", { type: "button", onclick: () => this.run(1) }, "Run ", element("kbd", {}, "."));
    this.element = element("div", { class: "breakpoints", hidden: true }, element("span", {}, "Stop where"), this.field, run, this.answer);
    onKeys(this.field, { Enter: () => this.run(1), Escape: () => { this.element.hidden = true; view.back(); } });
  }

  open() {
    this.element.hidden = false;
    this.field.focus();
  }

  /** @param {1 | -1} by */
  run(by) {
    if (!this.field.value.trim()) return this.open();
    const { wanted, error } = breakpoint(this.scene, this.field.value);
    if (!wanted) return this.reply(error);
    const steps = this.scene.steps.flatMap((step, at) => (wanted(step) ? [at + 1] : []));
    const here = this.view.step();
    const next = by > 0 ? steps.find((step) => step > here) : steps.filter((step) => step < here).pop();
    const which = next === undefined ? "" : ` (${steps.indexOf(next) + 1} of ${steps.length})`;
    this.reply(next === undefined ? `No ${by > 0 ? "later" : "earlier"} step meets this, ${steps.length} in all do.` : `Stopped at step ${next}${which}.`);
    return next === undefined ? undefined : this.view.go(next);
  }

  /** @param {string} text */
  reply(text) {
    this.element.hidden = false;
    setText(this.answer, text);
    this.view.say(text);
  }
}
