// A training while it runs: the losses, with a point for each step that was observed, and the health of the chosen one.

import { attend, giveBack, keepKeys, makeHint } from "../host.js";
import { add, addButton, make } from "../plotting/elements.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { drawHealth } from "./health.js";

/** @typedef {import("./health.js").Sample} Sample */
/** @typedef {{ title: string, status: string, done?: number | null, ended?: boolean, steps: number[],
 *   losses: (number | string)[], samples: Sample[] }} Facts */
/** @typedef {{ facts: Facts, chosen: number, wants_focus: boolean }} Traits */

const HEIGHT = 220;
const ROOM = { left: 64, top: 24, right: 16, bottom: 44 };

/** The heights in view: of all finite losses, logarithmic where they span more than a factor of 20. @param {Facts} facts */
export function heightsOf(facts) {
  const finite = facts.losses.filter(loss => typeof loss === "number");
  const [lo, hi] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  if (lo > 0 && hi > 20 * lo) return { lo: lo / 1.2, hi: hi * 1.2, log: true, name: "loss" };
  const margin = 0.08 * (hi - lo) || Math.abs(hi) || 1;
  return { lo: lo - margin, hi: hi + margin, name: "loss" };
}

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

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const root = make(el, "div", "autodiff-lab lab-plotting lab-training");
  root.setAttribute("role", "group");
  const head = make(root, "div", "head");
  const title = make(head, "span", "name");
  const status = make(head, "span", "status");
  const bar = make(root, "progress");
  const board = make(root, "div", "board");
  board.tabIndex = 0;
  const line = make(root, "div", "controls");
  const said = make(line, "span", "sentence");
  said.setAttribute("aria-live", "polite");
  const open = addButton(line, "Open this step", "Step through this step in the explorer, below", () => {
    const sample = shown();
    if (sample) model.send({ kind: "open", step: sample.step });
  }, signal);
  const health = make(root, "div", "health-of-step");
  const keys = make(root, "p", "keys", "← → choose an observed step, End follows the latest, Enter opens it. ");
  keys.append(makeHint("→"));

  const facts = () => model.get("facts");
  const shown = () => facts().samples[shownOf(model.get("chosen"), facts().samples.length)];
  /** @param {number} index */
  const choose = index => {
    model.set("chosen", index);
    model.save_changes();
  };
  const paint = () => {
    const now = facts();
    title.textContent = now.title;
    root.classList.toggle("single", Boolean(now.ended) && now.losses.length < 2);
    status.textContent = now.status;
    root.setAttribute("aria-label", `${now.title}: ${now.status}`);
    bar.hidden = typeof now.done !== "number" || Boolean(now.ended);
    bar.value = now.done ?? 0;
    bar.setAttribute("aria-label", "progress of the training");
    drawLosses(board, now, shown());
    const sample = shown();
    open.disabled = !sample?.recorded;
    open.title = sample && !sample.recorded ? "Only the latest observed steps, and the first that went wrong, are kept" : "";
    said.textContent = sample ? `Step ${sample.step.toLocaleString("en")}, loss ${typeof sample.loss === "number" ? Number(sample.loss.toPrecision(4)) : sample.loss}.` : "No step was observed yet.";
    if (sample) drawHealth(health, sample, now.samples);
    else health.replaceChildren();
  };
  keepKeys(root, signal, event => {
    if (event.key === "Escape") giveBack(root);
    if (event.key === "Enter" && !open.disabled && !(event.target instanceof HTMLButtonElement)) open.click();
    const next = movedBy(event.key, model.get("chosen"), facts().samples.length);
    if (next === null) return;
    event.preventDefault();
    choose(next);
  });
  board.addEventListener("pointerdown", event => {
    const { samples, steps } = facts();
    const width = board.clientWidth - ROOM.left - ROOM.right;
    const step = 1 + (event.clientX - board.getBoundingClientRect().left - ROOM.left) / width * (Math.max(2, steps.at(-1) ?? 2) - 1);
    const distances = samples.map(sample => Math.abs(sample.step - step));
    if (samples.length) choose(distances.indexOf(Math.min(...distances)));
  }, { signal });
  const watcher = new ResizeObserver(paint);
  watcher.observe(board);
  model.on("change:facts", paint);
  model.on("change:chosen", paint);
  attend(model, root, board, signal);
  paint();
  return () => {
    stop.abort();
    watcher.disconnect();
    model.off("change:facts", paint);
    model.off("change:chosen", paint);
  };
}

/** @param {HTMLElement} board @param {Facts} facts @param {Sample | undefined} chosen */
function drawLosses(board, facts, chosen) {
  const width = Math.max(240, board.clientWidth);
  board.replaceChildren();
  const svg = add(board, "svg", { class: "plot", width, height: HEIGHT, role: "img", "aria-label": `losses of ${facts.status}` });
  const last = Math.max(2, facts.steps.at(-1) ?? 2);
  const area = {
    x: { lo: 1, hi: last, name: "step", whole: true }, y: heightsOf(facts), left: ROOM.left, top: ROOM.top,
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

export default { render };
