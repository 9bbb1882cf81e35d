// A training while it runs: the losses, with a point for each step that was observed, and the health of the chosen one.

import { element } from "../dom.js";
import { add, addButton, addLive } from "../plotting/elements.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { Stage, staged } from "../plotting/stage.js";
import { drawHealth } from "./health.js";

/** @import { AxisFacts } from "../plotting/axes.js" */
/** @typedef {import("./health.js").Sample} Sample */
/** @typedef {{ title: string, status: string, done?: number | null, ended?: boolean, steps: number[],
 *   losses: (number | string)[], samples: Sample[], heights: AxisFacts, norms: AxisFacts }} Facts */
/** @typedef {{ facts: Facts, chosen: number, wants_focus: boolean }} Traits */

const HEIGHT = 220;
const ROOM = { left: 64, top: 24, right: 16, bottom: 44 };

/** The index of the sample to show; -1 is the latest. @param {number} chosen @param {number} count */
export const shownOf = (chosen, count) => (chosen < 0 || chosen >= count ? count - 1 : chosen);

/** The choice after a key, or null. @param {string} key @param {number} chosen @param {number} count */
export function movedBy(key, chosen, count) {
  const at = shownOf(chosen, count);
  if (!count) return null;
  if (key === "ArrowLeft") return Math.max(0, at - 1);
  if (key === "ArrowRight") return at + 1 >= count ? -1 : at + 1;
  if (key === "Home") return 0;
  return key === "End" ? -1 : null;
}

/** @extends {Stage<Traits>} */
class TrainingView extends Stage {
  /** @param {import("@anywidget/types").AnyModel<Traits>} model @param {HTMLElement} root @param {AbortSignal} stop */
  constructor(model, root, stop) {
    super(model, root, stop);
    this.title = element("span", { class: "name" });
    this.status = element("span", { class: "status" });
    this.bar = element("progress", { "aria-label": "progress of the training" });
    this.board = element("div", { class: "board", tabindex: 0 });
    const line = element("div", { class: "controls" });
    this.health = element("div", { class: "health-of-step" });
    root.setAttribute("role", "group");
    root.append(element("div", { class: "head" }, this.title, this.status), this.bar, this.board, line, this.health);
    this.addKeys("← → choose an observed step, End follows the latest, Enter opens it.", "→");
    this.said = addLive(line, "span");
    this.open = addButton(line, "Open this step", "Step through this step in the explorer, below", () => {
      if (this.sample) model.send({ kind: "open", step: this.sample.step });
    }, stop);
    this.board.addEventListener("pointerdown", event => this.press(event), { signal: stop });
    this.begin(["facts", "chosen"], this.board);
  }

  get facts() {
    return this.model.get("facts");
  }

  /** The observed step that is shown. */
  get sample() {
    const { samples } = this.facts;
    return samples[shownOf(this.model.get("chosen"), samples.length)];
  }

  draw() {
    const { facts, sample, root, bar, open } = this;
    this.title.textContent = facts.title;
    root.classList.toggle("single", Boolean(facts.ended) && facts.losses.length < 2);
    this.status.textContent = facts.status;
    root.setAttribute("aria-label", `${facts.title}: ${facts.status}`);
    bar.hidden = typeof facts.done !== "number" || Boolean(facts.ended);
    bar.value = facts.done ?? 0;
    drawLosses(this.board, facts, sample);
    open.disabled = !sample?.recorded;
    open.title = sample && !sample.recorded ? "Only the latest observed steps, and the first that went wrong, are kept" : "";
    this.said.textContent = sample ? `Step ${sample.step.toLocaleString("en")}, loss ${typeof sample.loss === "number" ? Number(sample.loss.toPrecision(4)) : sample.loss}.` : "No step was observed yet.";
    if (sample) drawHealth(this.health, sample, facts.norms);
    else this.health.replaceChildren();
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    if (event.key === "Enter" && !this.open.disabled && !(event.target instanceof HTMLButtonElement)) return () => this.open.click();
    const next = movedBy(event.key, this.model.get("chosen"), this.facts.samples.length);
    return next === null ? null : () => this.set("chosen", next);
  }

  /** The observed step nearest to the pointer. @param {PointerEvent} event */
  press({ clientX }) {
    const { board, facts: { samples, steps } } = this;
    const width = board.clientWidth - ROOM.left - ROOM.right;
    const step = 1 + (clientX - board.getBoundingClientRect().left - ROOM.left) / width * (Math.max(2, steps.at(-1) ?? 2) - 1);
    const distances = samples.map(sample => Math.abs(sample.step - step));
    if (samples.length) this.set("chosen", distances.indexOf(Math.min(...distances)));
  }
}

/** @param {HTMLElement} board @param {Facts} facts @param {Sample | undefined} chosen */
function drawLosses(board, facts, chosen) {
  const width = Math.max(240, board.clientWidth);
  board.replaceChildren();
  const svg = add(board, "svg", { class: "plot", width, height: HEIGHT, role: "img", "aria-label": `losses of ${facts.status}` });
  const last = Math.max(2, facts.steps.at(-1) ?? 2);
  const area = {
    x: { lo: 1, hi: last, name: "step", whole: true }, y: facts.heights, left: ROOM.left, top: ROOM.top,
    width: width - ROOM.left - ROOM.right, height: HEIGHT - ROOM.top - ROOM.bottom,
  };
  const { inside, group } = drawArea(svg, area);
  const known = facts.losses.map(loss => (typeof loss === "number" ? loss : NaN));
  const seen = facts.samples.filter(sample => typeof sample.loss === "number");
  drawLayers(inside, area, [
    { kind: "line", role: "forward", x: facts.steps, y: known },
    { kind: "points", role: "forward", x: seen.map(sample => sample.step), y: seen.map(sample => Number(sample.loss)), size: 3 },
  ]);
  facts.losses.forEach((loss, i) => {
    if (typeof loss === "number") return;
    add(group, "text", { class: "lost", x: acrossOf(area, facts.steps[i]), y: 12 }, loss);
  });
  if (!chosen) return;
  const x = acrossOf(area, chosen.step);
  add(group, "line", { class: "chosen", x1: x, x2: x, y1: 0, y2: area.height });
  if (typeof chosen.loss === "number") add(group, "circle", { class: "chosen", cx: x, cy: downOf(area, chosen.loss), r: 6 });
}

export default staged(TrainingView, "lab-training");
