// The top line: title, where the program is between forward and backward, search, full screen, and a menu.

import { element, setAttribute, setText } from "../dom.js";
import { makeHint, onKeys } from "../host.js";
import { icon, iconButton } from "./dom.js";
import { turnOf } from "./scene.js";
import { placeOfCut } from "./trace.js";
import { search } from "./words.js";

/** @import { Scene } from "./scene.js" */
/** @import { State } from "./fold.js" */
/** @import { Key } from "./keys.js" */
/** @import { ExplorerView } from "./widget.js" */

const MOST_DOTS = 4;

/** Pixels of the phases if they stand in one row. */
const ONE_ROW = 40;

/** @param {ExplorerView} view @param {Element[]} notes at the end of the menu */
export function makeHeader(view, notes) {
  const { scene } = view;
  const phases = makePhases(view);
  const finder = makeFinder(view);
  const tools = element(
    "div", { class: "tools" }, finder.element, iconButton("search", "Search", "/", finder.toggle),
    iconButton("source", "Source", "s", () => view.source.toggle(), "false"), iconButton("full", "Full screen", "F", () => view.fillScreen()), makeMenu(view.keys, notes),
  );
  const title = element("h2", { title: scene.title }, scene.title || "Recording");
  const made = element("header", {}, title, makeHint("→"), phases.element, tools);
  /** The phases get a row of their own where they would cut the title or be piled up. */
  const fit = () => {
    made.classList.remove("crowded");
    made.classList.toggle("crowded", title.scrollWidth > title.clientWidth || phases.element.offsetHeight > ONE_ROW);
  };
  return { element: made, paint: phases.paint, finder, fit };
}

/** Where the program is between forward and backward: dots, or a list of many passes, as in a training loop. @param {ExplorerView} view */
function makePhases(view) {
  const { scene } = view;
  const { phases } = scene;
  const at = (/** @type {State} */ { step }) => phases.findIndex(({ first, last }) => step >= first && step <= last);
  if (phases.length > MOST_DOTS) {
    const names = phases.map((phase, k) => element("option", { value: k }, phaseName(scene, phase, k)));
    const go = (/** @type {any} */ { target }) => view.go(phases[Number(target.value)].first);
    const list = element("select", { class: "phases", "aria-label": "Phases", onchange: go }, ...names);
    return { element: list, paint: (/** @type {State} */ state) => { list.value = String(Math.max(at(state), 0)); } };
  }
  const dots = phases.map(({ sweep, first, last, label }) => element(
    "button", { type: "button", class: `phase ${sweep < 0 ? "forward" : "backward"}`, onclick: () => view.go(sweep < 0 ? last : first) }, label));
  const paint = (/** @type {State} */ state) => dots.forEach((dot, k) => setAttribute(dot, "aria-pressed", String(k === at(state))));
  return { element: element("div", { class: "phases", role: "group", "aria-label": "Phases" }, ...dots), paint };
}

/** In a loop, name the iteration as well. @param {Scene} scene @param {import("./scene.js").Phase} phase @param {number} at */
function phaseName(scene, phase, at) {
  const last = scene.applications.get(scene.steps[phase.last - 1].application)?.scope ?? "";
  const turn = turnOf(scene, last);
  return turn ? `${turn.path.split("/").pop()} · ${phase.sweep < 0 ? "forward" : "backward"}` : `${at + 1}. ${phase.label}`;
}

/** @param {ExplorerView} view */
function makeFinder(view) {
  const field = element("input", { type: "search", placeholder: "name, op, shape, line", "aria-label": "Search names, ops, shapes and lines", spellcheck: "false" });
  const count = element("span", { class: "count", role: "status" });
  const made = element("span", { class: "finder", hidden: true }, field, count);
  /** @type {{ view: string, at: number }[]} */
  let found = [];
  let at = -1;
  const show = (/** @type {number} */ next) => {
    if (!found.length) return;
    at = (next + found.length) % found.length;
    setText(count, `${at + 1} of ${found.length}`);
    view.find(found[at]);
  };
  const look = () => {
    found = search(view.scene, field.value);
    view.mark(found);
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
  field.addEventListener("input", () => { look(); if (found.length) show(0); });
  const by = (/** @type {1 | -1} */ count) => () => show(at + count);
  onKeys(field, { Enter: by(1), ArrowDown: by(1), ArrowUp: by(-1), Escape: () => view.closeSearch() });
  return { element: made, toggle, close, repeat: () => view.mark(found) };
}

/** @param {Key[]} keys @param {Element[]} notes */
function makeMenu(keys, notes) {
  const opener = element("summary", { class: "tool", "aria-label": "More", title: "More" }, icon("more"));
  const list = element("div", { class: "list" });
  const menu = element("details", { class: "menu" }, opener, list);
  list.append(...keys.flatMap(({ menu: label, shown, act }) => (
    label ? [element("button", { type: "button", onclick: () => { menu.open = false; act(); } }, label, element("kbd", {}, shown))] : [])), ...notes);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    opener.focus();
  });
  return menu;
}

/**
 * Automatic remarks: missing gradients and values that are not finite; where a gradient is lost in sight, a link to it.
 * @param {Scene} scene
 * @param {(cut: import("./scene.js").Cut) => void} show
 */
export function makeRemarks(scene, show) {
  if (!scene.remarks.length) return [];
  const lines = scene.remarks.map((remark, at) => {
    const cut = scene.cuts.find((one) => one.remark === at && placeOfCut(scene, one));
    return element("li", {}, cut ? element("button", { type: "button", class: "goes", title: "Show where", onclick: () => show(cut) }, remark) : remark);
  });
  return [element("ul", { class: "remarks", "aria-label": "Remarks" }, ...lines)];
}
