// The tip of the graph: what is under the pointer, or selected, with all its digits.  While one steps it is silent, so that
// it covers nothing: a pointer that rests where it was clicked points at nothing any more.

import { element, setText } from "../dom.js";
import { tensorWords, tipOf } from "./boxes.js";
import { usersOf } from "./trace.js";
import { counted } from "./words.js";

/** @import { GraphPanel } from "./graph.js" */

const MOST_USED = 8;

/** Follows the pointer of one graph. */
export class Tip {
  /** @param {GraphPanel} graph */
  constructor(graph) {
    this.graph = graph;
    this.element = element("div", { class: "inspector" });
    this.hushed = false;
    /** Where the pointer is, and where it was when the tip fell silent. */
    this.pointer = this.rest = "";
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { canvas } = this.graph;
    canvas.addEventListener("pointerover", (event) => this.hover(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.follow(event), { signal });
    canvas.addEventListener("pointerleave", () => this.leave(), { signal });
  }

  hush() {
    this.hushed = true;
    this.rest = this.pointer;
    setText(this.element, "");
  }

  /** Speak again, of what is selected. */
  speak() {
    this.hushed = false;
    if (this.graph.selected >= 0) this.box(this.graph.selected);
  }

  /** @param {PointerEvent} event */
  follow(event) {
    this.pointer = `${event.clientX} ${event.clientY}`;
    if (this.hushed && this.pointer !== this.rest) this.hover(event);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const { graph } = this;
    this.pointer = `${event.clientX} ${event.clientY}`;
    if (this.hushed && this.pointer === this.rest) return; // the picture moved, and not the pointer
    this.hushed = false;
    const target = /** @type {Element} */ (event.target);
    const edge = target.closest(".edge");
    const at = boxAt(target);
    if (edge) {
      const tensor = Number(edge.getAttribute("data-tensor"));
      graph.light([tensor]);
      this.tensor(tensor);
    } else if (at >= 0) {
      graph.light(graph.view?.boxes[at].tensors ?? [], graph.view?.boxes[at]);
      this.box(at);
    } else this.leave();
  }

  /** Nothing is under the pointer: speak of what is selected. */
  leave() {
    const { graph } = this;
    const taken = graph.edges[graph.taken]?.edge.tensor;
    const box = graph.view?.boxes[graph.selected];
    graph.light(taken === undefined ? box?.tensors ?? [] : [taken], box);
    if (this.hushed) return;
    if (taken !== undefined) this.tensor(taken);
    else if (graph.selected >= 0) this.box(graph.selected);
    else setText(this.element, "");
  }

  /** @param {number} at */
  box(at) {
    const { scene, state, view } = this.graph;
    const box = view?.boxes[at];
    if (box && state) setText(this.element, tipOf(scene, state, box));
  }

  /** @param {number} number */
  tensor(number) {
    const { scene, state } = this.graph;
    const tensor = scene.tensors.get(number);
    if (!tensor || !state) return;
    const users = usersOf(scene, number).map((user) => user.op.name);
    const more = users.length > MOST_USED ? ` and ${users.length - MOST_USED} more` : "";
    const used = `used ${counted(users.length, "time")}: ${users.slice(0, MOST_USED).join(", ")}${more}`;
    setText(this.element, `${tensorWords(scene, state, tensor)}\n${used}`);
  }
}

/** @param {Element} target @returns {number} place of the box that was hit, or -1 */
export function boxAt(target) {
  const group = target.closest(".box");
  return group ? Number(group.getAttribute("data-at")) : -1;
}
