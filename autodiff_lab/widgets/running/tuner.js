// The tuner: where inputs of a recording are changed.  A box of a single number is dragged sideways; below the graph a
// number or the cells of a tensor can be typed, and a line says what is not as it was recorded.

import { indexOf } from "../basics.js";
import { drawing, element, setText } from "../dom.js";
import { Part } from "../explorer/part.js";
import { followPointer, onKeys } from "../host.js";
import { short } from "../numbers.js";
import { isFloat } from "./arrays.js";
import { moved, numberFrom, stepOfNumber } from "./steps.js";
import { fullOf } from "./wording.js";

/** @import { ExplorerView } from "../explorer/widget.js" */
/** @import { Changes } from "./changes.js" */

/** Pixels of a drag for one step. */
const PACE = 2;
/** Steps of one press of a key. */
const NUDGE = 10;
/** Pixels from which a press is a drag. */
const LOOSE = 3;
const MOST_CELLS = 256;
const GRIP = "M-3 -4L-8 0L-3 4ZM3 -4L8 0L3 4Z";

/** The panel and the handles on the graph. */
export class Tuner extends Part {
  /** @param {ExplorerView} view @param {Changes} changes */
  constructor(view, changes) {
    super(view);
    this.changes = changes;
    /** @type {number} the tensor whose numbers can be typed, -1 for none */
    this.shown = -1;
    /** @type {HTMLInputElement[]} */
    this.cells = [];
    this.name = element("span", { class: "name" });
    this.fields = element("span", {
      class: "fields", onfocusout: () => this.paint(),
      oninput: (/** @type {any} */ { target }) => this.type(target),
      onfocusin: (/** @type {any} */ { target }) => { this.spell(target); target.select(); },
    });
    const by = (/** @type {1 | -1} */ way) => (/** @type {KeyboardEvent} */ event) => this.step(event, event.shiftKey ? way * NUDGE : way);
    const leave = (/** @type {any} */ { target }) => { target.blur(); view.back(); };
    onKeys(this.fields, { ArrowUp: by(1), ArrowDown: by(-1), Enter: leave, Escape: leave });
    this.hint = element("span", { class: "hint", role: "status" });
    /** How the shown input can be changed, or why it cannot. */
    this.way = "";
    this.reset = element("button", { type: "button", class: "reset", title: "Back to what was recorded (r)", onclick: () => this.undo() }, "Back to the recorded values ", element("kbd", {}, "r"));
    this.notes = element("ul", { class: "remarks", "aria-label": "What the page cannot know" });
    const { program } = changes;
    this.usable = Boolean(program && changes.scene.last && [...changes.scene.tensors.values()].some((tensor) => changes.canChange(tensor)));
    this.element = element("section", { class: "tuner", "aria-label": "Change an input" }, element("div", { class: "line" }, this.name, this.fields, this.hint, this.reset), this.notes);
    this.frame = 0;
    const { signal } = view.stop;
    this.graph.element.addEventListener("pointerdown", (event) => this.grab(event), { signal, capture: true });
    signal.addEventListener("abort", () => cancelAnimationFrame(this.frame));
    this.paint();
  }

  /** The tensor of a box, if it is an input that can be changed. @param {number} at */
  inputOf(at) {
    const box = this.graph.view?.boxes[at];
    const number = box && box.application < 0 && !box.members.length && !box.turns.length && box.tensors.length === 1 ? box.tensors[0] : -1;
    return this.changes.canChange(this.scene.tensors.get(number)) ? number : -1;
  }

  /** Put handles on the boxes of a view that was just opened. */
  dress() {
    this.graph.boxes.forEach(({ group }, at) => {
      const number = this.inputOf(at);
      if (number < 0 || this.changes.recordedOf(number)?.data.length !== 1) return;
      group.classList.add("tunable");
      const box = this.graph.view?.boxes[at];
      group.append(drawing("path", { class: "grip", d: GRIP, transform: `translate(${(box?.width ?? 0) / 2} ${box?.height ?? 0})` }));
    });
    this.show(this.graph.selected);
  }

  /** Show the numbers of the selected box. @param {number} at */
  show(at) {
    const number = this.inputOf(at);
    const isLeaf = ["variable", "constant", "converted"].includes(this.graph.view?.boxes[at]?.kind ?? "");
    const some = this.usable && this.graph.boxes.some((_, at) => this.inputOf(at) >= 0);
    this.way = number < 0 ? (isLeaf ? this.changes.off : some ? "Drag an input sideways, or select one and type its numbers." : "") : this.way;
    if (number !== this.shown) this.build(number);
    this.paint();
  }

  /** @param {number} number */
  build(number) {
    this.shown = number;
    const found = this.changes.current(number);
    const tensor = this.scene.tensors.get(number);
    this.cells = [];
    this.fields.replaceChildren();
    setText(this.name, tensor?.name ?? "");
    if (!found || !tensor) return;
    const columns = found.shape.length ? found.shape[found.shape.length - 1] : 1;
    const count = Math.min(found.data.length, MOST_CELLS);
    this.fields.style.setProperty("--columns", String(Math.min(columns, 16)));
    this.fields.classList.toggle("grid", found.data.length > 1);
    this.cells = Array.from({ length: count }, (_, at) => {
      const label = found.shape.length ? `${tensor.name}[${indexOf(found.shape, at).join(", ")}]` : tensor.name;
      return element("input", { class: "cell", type: "text", inputmode: "decimal", "aria-label": label, title: label, "data-at": at, spellcheck: "false", autocomplete: "off" });
    });
    this.fields.append(...this.cells);
    this.way = (found.data.length > count ? `the first ${count} of ${found.data.length} elements` : found.data.length > 1 ? "" : "drag the box, or press Shift+→ Shift+←");
  }

  /** Show the numbers, what was changed, and what follows from that. */
  paint() {
    const { changes } = this;
    const found = changes.current(this.shown);
    const active = this.element.ownerDocument.activeElement;
    const recorded = changes.recordedOf(this.shown);
    this.cells.forEach((cell, at) => {
      cell.classList.toggle("changed", Boolean(found && recorded && !Object.is(found.data[at], recorded.data[at])));
      if (!found || cell === active) return;
      cell.value = isFloat(found.dtype) ? short(found.data[at]) : String(found.data[at]);
      cell.removeAttribute("aria-invalid");
    });
    const made = [...changes.made.keys()];
    const names = made.map((number) => `${changes.scene.tensors.get(number)?.name}${said(changes, number)}`);
    const notes = made.length ? changes.remarks() : [];
    setText(this.hint, made.length ? `≠ not recorded: ${names.join(", ")} changed in this page` : this.way);
    if (this.notes.childElementCount !== notes.length || notes.some((note, at) => this.notes.children[at].textContent !== note)) {
      this.notes.replaceChildren(...notes.map((note) => element("li", {}, note)));
    }
    this.reset.hidden = !made.length;
    this.notes.hidden = !notes.length;
    this.element.hidden = !this.usable && !this.way;
    this.graph.boxes.forEach(({ group }, at) => group.classList.toggle("changed", changes.made.has(this.graph.view?.boxes[at].tensors[0] ?? -1) && this.inputOf(at) >= 0));
    this.graph.canvas.classList.toggle("unrecorded", made.length > 0);
  }

  /** @param {number} number @param {number} at @param {number} value @param {boolean} [quiet] */
  put(number, at, value, quiet = false) {
    const found = this.changes.current(number);
    if (!found || Object.is(found.data[at], value)) return true;
    const numbers = Float64Array.from(found.data);
    numbers[at] = value;
    const fits = this.changes.set(number, numbers);
    if (fits) this.view.paint(quiet);
    return fits;
  }

  /** @param {HTMLInputElement} cell */
  type(cell) {
    const value = numberFrom(cell.value);
    const fits = value !== null && this.put(this.shown, Number(cell.dataset.at), value);
    cell.toggleAttribute("aria-invalid", !fits);
    if (!fits) this.view.say(`${cell.value || "Nothing"} is not a number of this dtype; the value stays as it was.`);
  }

  /** In a field arrows up and down move the number. @param {Event} event @param {number} count */
  step({ target }, count) {
    const cell = /** @type {HTMLInputElement} */ (target);
    this.move(this.shown, Number(cell.dataset.at), count);
    this.spell(cell);
  }

  /** A field that is typed into has every digit. @param {HTMLInputElement} cell */
  spell(cell) {
    const found = this.changes.current(this.shown);
    if (found) cell.value = fullOf(found.data[Number(cell.dataset.at)], found.dtype).replace(/\.0$/, "");
  }

  /** Where a number starts to move, by which steps, and whether it is an integer; null for none. @param {number} number @param {number} at */
  motion(number, at) {
    const [found, recorded] = [this.changes.current(number), this.changes.recordedOf(number)];
    if (!found || !recorded) return null;
    const whole = !isFloat(found.dtype);
    return { start: Number.isFinite(found.data[at]) ? found.data[at] : 0, step: stepOfNumber(recorded.data[at], whole), whole };
  }

  /** @param {number} number @param {number} at @param {number} count of steps */
  move(number, at, count) {
    const motion = this.motion(number, at);
    if (motion) this.put(number, at, moved(motion.start, motion.step, count));
  }

  /** By a key: the selected number moves. @param {1 | -1} way */
  nudge(way) {
    const number = this.inputOf(this.graph.selected);
    const found = this.changes.current(number);
    if (!found) return this.view.say(this.changes.off || "Select an input first; ↓ goes through the nodes.");
    const focused = this.cells.findIndex((cell) => cell === this.element.ownerDocument.activeElement);
    return this.move(number, Math.max(focused, 0), way * (isFloat(found.dtype) ? NUDGE : 1));
  }

  /** Go to the field of the selected input, if there is one. */
  edit() {
    this.cells[0]?.focus();
  }

  undo() {
    if (!this.changes.made.size) return;
    this.changes.reset();
    this.view.paint();
    this.view.say("These are the recorded values again.");
  }

  /** Press a box of one number and move sideways: the number follows; without moving, it is a click. @param {PointerEvent} event */
  grab(event) {
    const target = event.target instanceof Element ? event.target.closest(".box.tunable") : null;
    if (!target || event.button !== 0) return;
    event.stopPropagation();
    const at = Number(target.getAttribute("data-at"));
    const number = this.inputOf(at);
    const motion = this.motion(number, 0);
    if (!motion) return;
    const { start, step, whole } = motion;
    let dragged = false;
    let wanted = start;
    const follow = () => {
      this.frame = 0;
      this.put(number, 0, wanted, true);
    };
    const drag = (/** @type {PointerEvent} */ now) => {
      const across = now.clientX - event.clientX;
      if (!dragged && Math.abs(across) <= LOOSE) return;
      if (!dragged) this.graph.canvas.classList.add("tuning");
      dragged = true;
      wanted = moved(start, step, Math.trunc(across / (whole ? 8 * PACE : PACE)));
      this.frame ||= requestAnimationFrame(follow);
    };
    const drop = () => {
      this.graph.canvas.classList.remove("tuning");
      cancelAnimationFrame(this.frame);
      if (dragged) follow();
      if (dragged) this.view.paint();
      this.view.choose(at);
    };
    followPointer(this.graph.element.ownerDocument, this.view.stop.signal, drag, drop);
  }
}

/** What was recorded of an input, short. @param {Changes} changes @param {number} number */
function said(changes, number) {
  const recorded = changes.recordedOf(number);
  if (!recorded || recorded.data.length > 1) return "";
  return ` (was ${fullOf(recorded.data[0], recorded.dtype).replace(/\.0$/, "")})`;
}
