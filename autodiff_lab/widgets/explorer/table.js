// The trace table: primal values downwards, adjoints upwards, as textbooks print it.  Long traces show a window of rows.

import { element, setAttribute, setText } from "./dom.js";
import { gradientOf, hasValue } from "./fold.js";
import { bytesText } from "./measures.js";
import { PENDING, gradientText, namesOf } from "./words.js";

/** @import { Scene, Tensor, Value } from "./scene.js" */
/** @import { State } from "./fold.js" */
/**
 * @typedef {{ row: HTMLTableRowElement, tensor: Tensor, label: HTMLElement, op: HTMLElement, inputs: HTMLElement,
 *   value: HTMLElement, gradient: HTMLElement, arrived: HTMLElement, bytes: HTMLElement, where: HTMLElement, shown: string,
 *   slope: Value | null, primal: Value | null }} Row
 */

const WINDOW = 80;

/** The table and the window of rows that it shows. */
export class TraceTable {
  /** @param {Scene} scene @param {(application: number) => void} goTo @param {AbortSignal} signal */
  constructor(scene, goTo, signal) {
    this.scene = scene;
    this.start = -1;
    /** @type {Row[]} */
    this.rows = [];
    this.body = element("tbody");
    this.note = element("p", { class: "detail" });
    const columns = ["%", "op", "inputs", "value (primal)", "gradient (adjoint)", "arrived", "bytes", "line"];
    const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)));
    const caption = element("caption", {}, "Trace: values run downwards, gradients run upwards");
    const table = element("table", {}, caption, element("thead", {}, head), this.body);
    this.scroller = element("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Trace table" }, table);
    this.element = element("div", { class: "trace" }, this.scroller, this.note);
    this.element.hidden = true;
    this.body.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest("tr") : null;
      const application = Number(row?.dataset.application ?? -1);
      if (application >= 0) goTo(application);
    }, { signal });
  }

  /** @param {State} state */
  paint(state) {
    if (this.element.hidden) return;
    const now = state.now ? this.scene.applications.get(state.now.application) : undefined;
    const lit = now ? this.scene.rows.indexOf(now.outputs[0] ?? now.inputs[0]) : 0;
    this.slide(Math.max(lit, 0));
    for (const row of this.rows) this.paintRow(row, state);
    const current = this.rows[lit - this.start];
    if (current) this.reveal(current.row);
  }

  /** Move the window so that a row is well inside it. @param {number} lit */
  slide(lit) {
    const { rows } = this.scene;
    const inside = this.start >= 0 && lit >= this.start && lit < this.start + WINDOW;
    if (inside) return;
    this.start = Math.max(0, Math.min(lit - WINDOW / 2, rows.length - WINDOW));
    const shown = rows.slice(this.start, this.start + WINDOW).flatMap((number) => this.scene.tensors.get(number) ?? []);
    while (this.rows.length < shown.length) this.rows.push(this.makeRow(shown[0]));
    this.rows.length = shown.length;
    shown.forEach((tensor, at) => this.fill(this.rows[at], tensor));
    if (this.body.childElementCount !== shown.length) this.body.replaceChildren(...this.rows.map(({ row }) => row));
    const end = this.start + this.rows.length;
    setText(this.note, rows.length > WINDOW ? `Rows ${this.start + 1} to ${end} of ${rows.length}; the rest follow the current step.` : "");
  }

  /** An empty row, to be used for one tensor after the other. @param {Tensor} tensor @returns {Row} */
  makeRow(tensor) {
    const cell = (/** @type {string} */ name) => element("td", { class: name });
    const label = element("th", { scope: "row" });
    const [op, inputs, value, gradient] = ["op", "inputs", "value forward", "gradient backward"].map(cell);
    const [arrived, bytes, where] = ["arrived", "bytes", "place"].map(cell);
    const row = element("tr", {}, label, op, inputs, value, gradient, arrived, bytes, where);
    return { row, tensor, label, op, inputs, value, gradient, arrived, bytes, where, shown: "", slope: null, primal: null };
  }

  /** Give a row to a tensor. @param {Row} row @param {Tensor} tensor */
  fill(row, tensor) {
    const application = this.scene.applications.get(tensor.application);
    const place = application?.place ?? tensor.place;
    row.tensor = tensor;
    row.shown = "";
    setText(row.op, application ? application.op.name : tensor.kind);
    setText(row.label, `%${tensor.number} ${tensor.name}`);
    row.where.replaceChildren(place ? place.where : "");
    if (place?.line) row.where.append(" ", element("code", { title: place.line }, place.line));
    setText(row.bytes, tensor.bytes ? bytesText(tensor.bytes) : "");
    setText(row.inputs, application ? namesOf(this.scene, application.inputs).join(", ") : "");
    setAttribute(row.row, "data-application", String(application?.index ?? -1));
    setAttribute(row.row, "data-tensor", String(tensor.number));
  }

  /** Show a state in a row; most rows do not change in a step, and are not touched. @param {Row} line @param {State} state */
  paintRow(line, state) {
    const { row, tensor, value, gradient, arrived } = line;
    const ready = hasValue(this.scene, state, tensor);
    const slope = gradientOf(this.scene, state, tensor);
    const now = state.now !== null && state.now.application === tensor.application;
    const shown = `${ready} ${slope.state} ${slope.arrived} ${now}`;
    if (shown === line.shown && slope.value === line.slope && tensor.value === line.primal) return;
    line.shown = shown;
    line.primal = tensor.value;
    line.slope = slope.value;
    setText(value, ready ? tensor.value.short : PENDING);
    setText(gradient, slope.value?.short ?? (slope.state === "pending" ? PENDING : gradientText(slope)));
    setText(arrived, slope.expected > 1 ? `${slope.arrived} of ${slope.expected}` : "");
    setAttribute(value, "data-full", ready ? tensor.value.full : "");
    setAttribute(value, "title", ready ? tensor.value.full : "");
    setAttribute(gradient, "data-full", slope.value?.full ?? "");
    setAttribute(gradient, "title", slope.value?.full ?? "");
    setAttribute(value, "data-mark", ready ? tensor.value.mark : "");
    setAttribute(gradient, "data-mark", slope.value?.mark ?? slope.state);
    setAttribute(row, "class", `${now ? "now " : ""}${ready ? "" : "to-come"}`);
    if (now) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  }

  /** Scroll inside the table only, never the page. @param {HTMLElement} row */
  reveal(row) {
    const { scroller } = this;
    const head = 32;
    const above = row.offsetTop - head;
    const below = row.offsetTop + row.offsetHeight - scroller.clientHeight;
    if (scroller.scrollTop > above) scroller.scrollTop = above;
    else if (scroller.scrollTop < below) scroller.scrollTop = below;
  }
}
