// Engines side by side: the drawing and its states come from Python, this writes one state after the other into it.

import { attend, giveBack, keep, keepKeys, listenToTraits, makeHint } from "../host.js";
import { addButton, drawnFrom, make } from "../plotting/elements.js";

/** @typedef {[slots: string, booked: string, holds: string, order: string, early: boolean, now: boolean]} AccountState */
/** @typedef {{ name: string, idea: string, audit: string[], sentences: string[], states: AccountState[][] }} EnginePass */
/**
 * @typedef {{ markup: string, width: number, height: number, last: number, names: string[], passes: EnginePass[] }} EngineFacts
 * `markup` is escaped by Python, see draw/accounts.py
 */
/** @typedef {{ facts: EngineFacts, step: number, wants_focus: boolean }} Traits */

const STAMP = "paid out early";

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const facts = model.get("facts");
  const root = make(el, "div", "autodiff-lab lab-engines");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Engines side by side");
  const bar = make(root, "div", "bar");
  const go = (/** @type {number} */ step) => keep(model, { step: Math.min(Math.max(step, 0), facts.last) });
  const now = () => Math.min(Math.max(model.get("step"), 0), facts.last);
  /** @type {Record<string, () => void>} */
  const acts = {
    Home: () => go(0), ArrowLeft: () => go(now() - 1), ArrowRight: () => go(now() + 1), End: () => go(facts.last),
    Escape: () => giveBack(root),
  };
  addButton(bar, "First", "First booking (Home)", acts.Home, signal);
  addButton(bar, "Back", "Previous booking (←)", acts.ArrowLeft, signal);
  const next = addButton(bar, "Next", "Next booking (→)", acts.ArrowRight, signal);
  addButton(bar, "Last", "Last booking (End)", acts.End, signal);
  const slider = make(bar, "input");
  Object.assign(slider, { type: "range", min: "0", max: String(facts.last), step: "1" });
  slider.setAttribute("aria-label", "Bookings made");
  slider.addEventListener("input", () => go(Number(slider.value)), { signal });
  const where = make(bar, "span", "where");
  bar.append(makeHint("→"));
  const board = make(root, "div", "board");
  const panels = facts.passes.map(pass => makePanel(board, facts, pass));
  const paint = () => {
    const step = now();
    slider.value = String(step);
    where.textContent = `booking ${step} of ${facts.last}`;
    slider.setAttribute("aria-valuetext", where.textContent);
    for (const panel of panels) panel.paint(step);
  };
  keepKeys(root, signal, event => {
    return event.target instanceof HTMLButtonElement && [" ", "Enter"].includes(event.key) ? null : acts[event.key];
  });
  attend(model, root, next, signal);
  listenToTraits(model, ["step"], paint, signal);
  paint();
  return () => stop.abort();
}

/** @param {HTMLElement} board @param {EngineFacts} facts @param {EnginePass} pass */
function makePanel(board, facts, pass) {
  const panel = make(board, "section", "engine");
  panel.setAttribute("aria-label", pass.name);
  make(panel, "h2", "", pass.name);
  make(panel, "p", "idea", pass.idea);
  const drawn = drawnFrom(facts.markup, "lab-accounts", `0 0 ${facts.width} ${facts.height}`, facts.width);
  panel.append(drawn);
  const said = make(panel, "p", "said");
  said.setAttribute("aria-live", "polite");
  const audit = make(panel, "ul", "audit");
  for (const line of pass.audit) make(audit, "li", line.includes(";") ? "off" : "", line);
  return {
    /** @param {number} step */
    paint(step) {
      const last = pass.states.length - 1;
      const at = Math.min(step, last);
      pass.states[at].forEach((state, place) => dress(drawn.querySelector(`[data-at="${place}"]`), state, step <= last));
      said.textContent = step > last ? "Has finished." : pass.sentences[at];
      audit.classList.toggle("open", step >= last);
    },
  };
}

/** @param {Element | null} group @param {AccountState} state @param {boolean} moving whether the pass is under way */
function dress(group, [slots, booked, holds, order, early, now], moving) {
  if (!group) return;
  const texts = { slots, booked, holds, order, stamp: early ? STAMP : "" };
  for (const [name, text] of Object.entries(texts)) {
    const line = group.querySelector(`.lab-${name}`);
    if (line && line.textContent !== text) line.textContent = text;
  }
  group.classList.toggle("lab-early", early);
  group.classList.toggle("lab-now", now && moving);
}

export default { render };
