// The top line: title, where the program is between forward and backward, search, full screen, and a menu; and the path of scopes.

import { belongsToHost, makeHint } from "../host.js";
import { element, iconButton, setAttribute, setText } from "./dom.js";
import { turnOf } from "./scene.js";
import { placeOfCut } from "./trace.js";
import { search } from "./words.js";

/** @import { Scene } from "./scene.js" */
/** @import { State } from "./fold.js" */
/** @typedef {{ label: string, key: string, act: () => void }} MenuEntry */
/**
 * @typedef {{ go: (step: number) => void, open: (path: string) => void, source: () => void, full: () => void,
 *   show: (view: string, at: number) => void, mark: (found: { view: string, at: number }[]) => void, signal: AbortSignal }} HeaderActs
 */

const MOST_DOTS = 4;

/**
 * @param {Scene} scene
 * @param {HeaderActs} acts
 * @param {MenuEntry[]} entries
 */
export function makeHeader(scene, acts, entries) {
  const phases = makePhases(scene, acts);
  const finder = makeFinder(scene, acts);
  const sourceButton = iconButton("source", "Source", "s", acts.source, acts.signal);
  sourceButton.setAttribute("aria-pressed", "false");
  const tools = element(
    "div", { class: "tools" }, finder.element, iconButton("search", "Search", "/", finder.toggle, acts.signal),
    sourceButton, iconButton("full", "Full screen", "F", acts.full, acts.signal), makeMenu(entries, acts.signal),
  );
  const made = element("header", {}, element("h2", { title: scene.title }, scene.title || "Recording"), makeHint("→"), phases.element, tools);
  return { element: made, paint: phases.paint, finder };
}

/** @param {Scene} scene @param {HeaderActs} acts */
function makePhases(scene, acts) {
  if (scene.phases.length > MOST_DOTS) return makePhaseList(scene, acts);
  const dots = scene.phases.map((phase) => {
    const made = element("button", { type: "button", class: `phase ${phase.sweep < 0 ? "forward" : "backward"}` }, phase.label);
    made.addEventListener("click", () => acts.go(phase.sweep < 0 ? phase.last : phase.first), { signal: acts.signal });
    return made;
  });
  const made = element("div", { class: "phases", role: "group", "aria-label": "Phases" }, ...dots);
  const paint = (/** @type {State} */ state) => {
    scene.phases.forEach((phase, at) => {
      const now = state.step >= phase.first && state.step <= phase.last;
      setAttribute(dots[at], "aria-pressed", String(now));
    });
  };
  return { element: made, paint };
}

/** Many passes, as in a training loop: a list. @param {Scene} scene @param {HeaderActs} acts */
function makePhaseList(scene, acts) {
  const list = element("select", { class: "phases", "aria-label": "Phases" });
  scene.phases.forEach((phase, at) => list.append(element("option", { value: at }, phaseName(scene, phase, at))));
  list.addEventListener("change", () => acts.go(scene.phases[Number(list.value)].first), { signal: acts.signal });
  const paint = (/** @type {State} */ state) => {
    const at = scene.phases.findIndex((phase) => state.step >= phase.first && state.step <= phase.last);
    list.value = String(Math.max(at, 0));
  };
  return { element: list, paint };
}

/** In a loop, name the iteration as well. @param {Scene} scene @param {import("./scene.js").Phase} phase @param {number} at */
function phaseName(scene, phase, at) {
  const last = scene.applications.get(scene.steps[phase.last - 1].application)?.scope ?? "";
  const turn = turnOf(scene, last);
  return turn ? `${turn.path.split("/").pop()} · ${phase.sweep < 0 ? "forward" : "backward"}` : `${at + 1}. ${phase.label}`;
}

/** @param {Scene} scene @param {HeaderActs} acts */
function makeFinder(scene, acts) {
  const field = element("input", { type: "search", placeholder: "name, op, shape, line", "aria-label": "Search names, ops, shapes and lines", spellcheck: "false" });
  const count = element("span", { class: "count", role: "status" });
  const made = element("span", { class: "finder" }, field, count);
  made.hidden = true;
  /** @type {{ view: string, at: number }[]} */
  let found = [];
  let at = -1;
  const show = (/** @type {number} */ next) => {
    if (!found.length) return;
    at = (next + found.length) % found.length;
    setText(count, `${at + 1} of ${found.length}`);
    acts.show(found[at].view, found[at].at);
  };
  const look = () => {
    found = search(scene, field.value);
    acts.mark(found);
    at = -1;
    setText(count, field.value.trim() ? (found.length ? `${found.length} found` : "not found") : "");
  };
  const close = () => {
    made.hidden = true;
    field.value = "";
    look();
  };
  const toggle = () => {
    if (!made.hidden) return close();
    made.hidden = false;
    return field.focus();
  };
  field.addEventListener("input", () => { look(); if (found.length) show(0); }, { signal: acts.signal });
  field.addEventListener("keydown", (event) => {
    if (belongsToHost(event)) return;
    event.stopPropagation();
    const by = { Enter: 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      show(at + by);
    }
    if (event.key === "Escape") made.dispatchEvent(new CustomEvent("closed", { bubbles: true }));
  }, { signal: acts.signal });
  return { element: made, toggle, close, repeat: () => acts.mark(found) };
}

/** @param {MenuEntry[]} entries @param {AbortSignal} signal */
function makeMenu(entries, signal) {
  const list = element("div", { class: "list" });
  const opener = element("summary", { class: "tool", "aria-label": "More", title: "More" });
  opener.append(iconButton("more", "More", "", () => {}, signal).firstChild ?? "");
  const menu = element("details", { class: "menu" }, opener, list);
  for (const { label, key, act } of entries) {
    const made = element("button", { type: "button" }, label, element("kbd", {}, key));
    made.addEventListener("click", () => { menu.open = false; act(); }, { signal });
    list.append(made);
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    opener.focus();
  }, { signal });
  return menu;
}

/**
 * The path of scopes from the whole program to what is shown, and the way to the current step if it is elsewhere.
 * @param {Scene} scene
 * @param {(path: string) => void} open
 * @param {(by: 1 | -1) => void} turnBy to the next turn of a loop, or the one before
 * @param {AbortSignal} signal
 */
export function makePath(scene, open, turnBy, signal) {
  const crumbs = element("span");
  const elsewhere = element("button", { type: "button", class: "elsewhere" });
  const before = element("button", { type: "button", "aria-label": "Previous iteration", title: "Previous iteration ([)" }, "‹");
  const after = element("button", { type: "button", "aria-label": "Next iteration", title: "Next iteration (])" }, "›");
  const which = element("span", { class: "which" });
  const turns = element("span", { class: "turns", role: "group", "aria-label": "Iterations of the loop" }, before, which, after);
  const made = element("nav", { class: "path", "aria-label": "Scope" }, crumbs, turns, elsewhere);
  before.addEventListener("click", () => turnBy(-1), { signal });
  after.addEventListener("click", () => turnBy(1), { signal });
  made.hidden = scene.views.size < 2;
  made.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button?.dataset.path !== undefined) open(button.dataset.path ?? "");
  }, { signal });
  return {
    element: made,
    /** @param {string} path */
    open(path) {
      const turn = turnOf(scene, path);
      turns.hidden = !turn;
      before.disabled = turn?.at === 0;
      after.disabled = turn?.at === (turn?.turns.length ?? 0) - 1;
      setText(which, turn ? `${turn.at + 1} of ${turn.turns.length}` : "");
      const parts = path ? path.split("/") : [];
      const paths = ["", ...parts.map((_, at) => parts.slice(0, at + 1).join("/"))];
      crumbs.replaceChildren(...paths.map((crumb, at) => element(
        "button",
        { type: "button", class: "crumb", "data-path": crumb, "aria-current": crumb === path ? "page" : undefined },
        at ? parts[at - 1] : "whole program",
      )));
    },
    /** @param {State} state @param {boolean} visible whether the current step is in what is shown */
    paint(state, visible) {
      const scope = state.now ? scene.applications.get(state.now.application)?.scope ?? "" : "";
      elsewhere.hidden = visible || !state.now;
      elsewhere.dataset.path = scene.views.has(scope) ? scope : "";
      setText(elsewhere, `now: ${scope || "whole program"}`);
    },
  };
}

/**
 * Automatic remarks: missing gradients and values that are not finite; where a gradient is lost in sight, a link to it.
 * @param {Scene} scene
 * @param {(cut: import("./scene.js").Cut) => void} show
 * @param {AbortSignal} signal
 */
export function makeRemarks(scene, show, signal) {
  if (!scene.remarks.length) return [];
  const lines = scene.remarks.map((remark, at) => {
    const cut = scene.cuts.find((one) => one.remark === at && placeOfCut(scene, one));
    if (!cut) return element("li", {}, remark);
    const link = element("button", { type: "button", class: "goes", title: "Show where" }, remark);
    link.addEventListener("click", () => show(cut), { signal });
    return element("li", {}, link);
  });
  return [element("ul", { class: "remarks", "aria-label": "Remarks" }, ...lines)];
}
