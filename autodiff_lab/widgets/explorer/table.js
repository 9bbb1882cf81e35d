// The trace table: primal values downwards, adjoints upwards, as textbooks print it.  Long traces show a window of rows.

import { element, setAttribute, setText } from "../dom.js";
import { bringIntoView } from "../host.js";
import { gradientOf, hasValue } from "./fold.js";
import { bytesText } from "./measures.js";
import { Part } from "./part.js";
import { PENDING, gradientText, namesOf } from "./words.js";

/** @import { State } from "./fold.js" */
/** @import { Tensor, Value } from "./scene.js" */
/** @import { ExplorerView } from "./widget.js" */

const HEADINGS = { label: "%", op: "op", inputs: "inputs", "value forward": "value (primal)", "gradient backward": "gradient (adjoint)", arrived: "arrived", bytes: "bytes", place: "line" };
const WINDOW = 80;
/** Pixels of the head, which stays in sight. */
const HEAD = 32;

/** The table, hidden at first, and the window of rows that it shows. */
export class TraceTable extends Part {
  /** @param {ExplorerView} view */
  constructor(view) {
    super(view);
    const { applications, tensors } = this.scene;
    /** Each leaf stands before its first use, each result where it was made. */
    this.order = [...new Set([...applications.values()].flatMap(({ inputs, outputs }) => [...inputs, ...outputs]))].flatMap((number) => tensors.get(number) ?? []);
    this.start = -1;
    /** @type {{ tensor: Tensor, row: HTMLElement, cells: HTMLElement[], shown: unknown[] }[]} */
    this.rows = [];
    this.body = element("tbody", { onclick: (/** @type {Event} */ event) => this.choose(event) });
    this.note = element("p", { class: "detail" });
    const head = element("tr", {}, ...Object.values(HEADINGS).map((name) => element("th", { scope: "col" }, name)));
    const caption = element("caption", {}, "Trace: values run downwards, gradients run upwards");
    const table = element("table", {}, caption, element("thead", {}, head), this.body);
    this.scroller = element("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Trace table" }, table);
    this.element = element("div", { class: "trace", hidden: true }, this.scroller, this.note);
  }

  toggle() {
    this.element.hidden = !this.element.hidden;
    if (this.view.state) this.paint(this.view.state);
  }

  /** To the step of a row. @param {Event} event */
  choose(event) {
    const row = event.target instanceof Element ? event.target.closest("tr") : null;
    const application = Number(row?.dataset.application ?? -1);
    if (application >= 0) this.view.goTo(application);
  }

  /** @param {State} state */
  paint(state) {
    if (this.element.hidden) return;
    const now = this.scene.applications.get(state.now?.application ?? -1);
    const lit = Math.max(this.order.findIndex(({ number }) => number === (now?.outputs[0] ?? now?.inputs[0])), 0);
    if (this.start < 0 || lit < this.start || lit >= this.start + WINDOW) this.slide(lit);
    for (const row of this.rows) this.paintRow(row, this.view.passes.shown(state));
    bringIntoView(this.scroller, this.rows[lit - this.start].row, HEAD);
  }

  /** Make the rows of a window that has one well inside it. @param {number} lit */
  slide(lit) {
    this.start = Math.max(0, Math.min(lit - WINDOW / 2, this.order.length - WINDOW));
    const shown = this.order.slice(this.start, this.start + WINDOW);
    this.rows = shown.map((tensor) => this.makeRow(tensor));
    this.body.replaceChildren(...this.rows.map(({ row }) => row));
    setText(this.note, this.order.length > WINDOW ? `Rows ${this.start + 1} to ${this.start + shown.length} of ${this.order.length}; the rest follow the current step.` : "");
  }

  /** @param {Tensor} tensor */
  makeRow(tensor) {
    const application = this.scene.applications.get(tensor.application);
    const place = application?.place ?? tensor.place;
    const bytes = this.scene.measures.bytes?.[tensor.number];
    /** @type {Record<string, string>} */
    const texts = {
      label: `%${tensor.number} ${tensor.name}`, op: application?.op.name ?? tensor.kind, bytes: bytes ? bytesText(bytes) : "",
      inputs: application ? namesOf(this.scene, application.inputs).join(", ") : "", place: place?.where ?? "",
    };
    const cells = Object.keys(HEADINGS).map((name) => element(name === "label" ? "th" : "td", name === "label" ? { scope: "row" } : { class: name }, texts[name] ?? ""));
    if (place?.line) cells[7].append(" ", element("code", { title: place.line }, place.line));
    return { tensor, row: element("tr", { "data-application": tensor.application, "data-tensor": tensor.number }, ...cells), cells, shown: [] };
  }

  /** Show a state in a row; most rows do not change in a step, and are not touched. @param {TraceTable["rows"][number]} line @param {State} state */
  paintRow(line, state) {
    const { row, tensor, cells } = line;
    const ready = hasValue(this.scene, state, tensor);
    const slope = gradientOf(this.scene, state, tensor);
    const now = state.now?.application === tensor.application;
    const shown = [ready, tensor.value, slope.state, slope.value, slope.arrived, now];
    if (shown.every((one, at) => one === line.shown[at]) && line.shown.length) return;
    line.shown = shown;
    write(cells[3], ready ? tensor.value : null, PENDING);
    write(cells[4], slope.value, slope.state === "pending" ? PENDING : gradientText(slope), slope.state);
    setText(cells[5], slope.expected > 1 ? `${slope.arrived} of ${slope.expected}` : "");
    setAttribute(row, "class", `${now ? "now " : ""}${ready ? "" : "to-come"}`);
    row.ariaCurrent = now ? "step" : null;
  }
}

/** @param {HTMLElement} cell @param {Value | null} known @param {string} otherwise @param {string} [state] */
function write(cell, known, otherwise, state = "") {
  setText(cell, known?.short ?? otherwise);
  for (const name of ["data-full", "title"]) setAttribute(cell, name, known?.full ?? "");
  setAttribute(cell, "data-mark", known?.mark ?? state);
}
