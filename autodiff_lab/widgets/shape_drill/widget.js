// Ten pairs of shapes against the clock, by keys alone.  A miss is explained, and the clock waits while one reads.

import { giveBack, keepKeys } from "../host.js";
import { make } from "../plotting/elements.js";
import { ShapeDrill, shapeWords } from "./drill.js";

/** @typedef {{ rounds: import("./drill.js").Pair[][] }} Traits */

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const view = new DrillView(model.get("rounds"), make(el, "div", "autodiff-lab lab-plotting lab-drill"), stop.signal);
  const clock = setInterval(() => view.tick(), 1000);
  return () => {
    stop.abort();
    clearInterval(clock);
  };
}

class DrillView {
  /** @param {import("./drill.js").Pair[][]} rounds @param {HTMLElement} root @param {AbortSignal} stop */
  constructor(rounds, root, stop) {
    this.rounds = rounds;
    this.round = 0;
    this.drill = new ShapeDrill(rounds[0]);
    this.seconds = 0;
    this.isReading = false;
    const head = make(root, "div", "head", "Ten pairs of shapes ");
    this.where = make(head, "span", "keys");
    this.shapes = make(root, "p", "shapes");
    const label = make(root, "label", "question");
    this.question = make(label, "span");
    this.field = make(label, "input");
    this.field.autocomplete = "off";
    this.field.spellcheck = false;
    this.said = make(root, "div", "sentence");
    this.said.setAttribute("aria-live", "polite");
    this.help = make(root, "p", "keys");
    keepKeys(root, stop, event => {
      if (event.key === "Escape") giveBack(root);
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.enter();
    });
    this.draw();
  }

  enter() {
    if (this.drill.isOver && !this.isReading) {
      this.round = (this.round + 1) % this.rounds.length;
      this.drill = new ShapeDrill(this.rounds[this.round]);
      this.seconds = 0;
      this.say([]);
    } else if (this.isReading) {
      this.isReading = false;
      this.say([]);
    } else {
      const typed = this.field.value;
      const verdict = this.drill.answer(typed);
      this.isReading = verdict !== null && !verdict.right;
      if (!verdict) this.say([this.drill.asks === "shape" ? "Type lengths, like 3 4, or x." : "Type numbers of axes, like 0 1."]);
      else this.say(verdict.right ? ["Right."] : [`Not ${typed.trim() || "none"}.`, ...verdict.words]);
      if (!verdict) return;
    }
    this.draw();
  }

  /** @param {string[]} sentences */
  say(sentences) {
    this.said.replaceChildren();
    for (const sentence of sentences) make(this.said, "p", "", sentence);
  }

  draw() {
    const { drill } = this;
    if (!this.isReading) {
      const { a, b, to } = drill.pair;
      this.shapes.textContent = drill.isOver ? `${drill.right} of ${drill.asked} right in ${this.seconds} s` : `a ${shapeWords(a)} + b ${shapeWords(b)}`;
      this.question.textContent = drill.isOver ? "" : drill.asks === "shape" ? "The sum has the shape " : `The sum is ${shapeWords(drill.result ?? [])}. On the way back to ${to}, sum over its axes `;
      this.field.value = "";
    }
    this.field.readOnly = this.isReading || drill.isOver;
    this.help.textContent = this.isReading ? "Enter goes on; the clock waits." : drill.isOver ? "Enter deals ten others."
      : drill.asks === "shape" ? "Type lengths, like 3 4, or x if the shapes do not fit; then Enter." : "Type numbers of axes, like 0 1, or nothing for none; then Enter.";
    this.tick(0);
  }

  /** Count seconds from the first key on, and show where one is. */
  tick(by = 1) {
    const { drill } = this;
    const runs = !this.isReading && !drill.isOver && (drill.asked > 0 || this.field.value !== "");
    if (runs) this.seconds += by;
    this.where.textContent = `${Math.min(drill.at + 1, drill.pairs.length)} of ${drill.pairs.length} · ${drill.right} right · ${this.seconds} s`;
  }
}

export default { render };
