// The program explorer: graph, program and source of a compiled function.  The state is the integer `at`; everything
// that is marked follows from it.  A pointer over a line or a node marks it lightly, and moves nothing.

import { element, pictureFrom, setText } from "../dom.js";
import { attend, bringIntoView, giveBack, keep, listenToTraits, makeHint } from "../host.js";
import { listenToKeys, makeHelp } from "../explorer/keys.js";
import { NOTHING, followed, itemsOf, loopOf, markOf, nextLoop, walked } from "./links.js";

/** @typedef {import("./links.js").ProgramFacts} ProgramFacts */
/** @typedef {import("./links.js").RowFacts} RowFacts */
/** @typedef {{ facts: ProgramFacts, at: number, wants_focus: boolean }} Traits */
/** @typedef {{ row: HTMLElement, items: number[] }} Line */

const ZOOM_STEP = 1.25;
/** Kept free around what is marked, in pixels. */
const ROOM = 48;
/** Smaller text is not read. */
const SMALLEST = 0.8;
let programsShown = 0;

/** The widget in one view of the model. */
class ProgramPanels {
  /** @param {import("@anywidget/types").AnyModel<Traits>} model @param {HTMLElement} el */
  constructor(model, el) {
    this.model = model;
    this.facts = model.get("facts");
    this.stop = new AbortController();
    this.scale = 1;
    this.name = `lab-program-${programsShown += 1}`;
    /** @type {Line[][]} lines of the program, and of the source */
    this.texts = [[], []];
    const { facts } = this;
    this.said = element("strong", {});
    this.more = element("span", {});
    this.live = element("p", { class: "said", "aria-live": "polite" }, this.said, this.more);
    this.stage = element("div", { class: "stage", tabindex: 0, role: "group", "aria-label": "Graph of the program" });
    this.drawing = facts.drawing ? pictureFrom(facts.drawing) : null;
    /** Pixels of the drawing, across and down. */
    this.size = ["width", "height"].map((side) => Number(this.drawing?.getAttribute(side) ?? 1));
    const keys = this.keyTable();
    this.help = makeHelp(keys);
    this.root = element(
      "section",
      {
        class: "autodiff-lab lab-program-view", "aria-label": `Compiled function ${facts.title}`, onpointerleave: () => this.mark([], "near"),
        onpointerover: (/** @type {Event} */ event) => this.mark(this.under(event.target), "near"),
        onclick: (/** @type {Event} */ event) => this.press(this.under(event.target)),
      },
      element("header", {}, element("h2", { title: facts.title }, facts.title), element("p", { class: "summary" }, facts.summary), facts.program.length ? makeHint("↓") : ""),
    );
    if (facts.why) this.root.append(reasonsOf(facts));
    if (facts.program.length) this.addPanels();
    el.append(this.root);
    listenToKeys(this.root, keys, this.stop.signal);
    if (facts.program.length) attend(model, this.root, this.stage, this.stop.signal);
    listenToTraits(model, ["at"], () => this.show(), this.stop.signal);
    this.show();
    requestAnimationFrame(() => this.zoom(0));
  }

  addPanels() {
    const { facts } = this;
    const hint = element("p", { class: "keys" }, "↓ ↑ walk through the ops, → ← along the edges, l through the loops; ? shows all keys. Or press a line or a node.");
    const panels = element("div", { class: "texts" }, this.makeText("The program", facts.program, 0), this.makeText("The Python that runs", facts.source, 1));
    if (this.drawing) this.stage.append(this.drawing);
    else this.stage.append(element("p", { class: "absent" }, facts.absent));
    this.root.append(this.live, this.stage, panels);
    if (facts.cut) this.root.append(element("p", { class: "keys" }, facts.cut));
    this.root.append(hint, this.help);
  }

  /** @param {string} title @param {RowFacts[]} rows @param {0 | 1} which */
  makeText(title, rows, which) {
    const list = element("div", { class: "rows", tabindex: 0, role: "listbox", "aria-label": title });
    let part = "";
    rows.forEach(([text, items, own], number) => {
      const heading = !items.length && own !== "";
      if (heading) part = own;
      const row = element("div", { class: `row ${own || (items.length ? "" : part && !heading ? "plain" : "")}`, role: "option", "aria-selected": "false", id: `${this.name}-${which}-${number}` });
      if (heading) row.classList.add("heading");
      row.append(...worded(text));
      if (!text.trim()) row.setAttribute("aria-label", "empty line");
      const loop = which === 0 && items.length === 1 && own ? loopOf(this.facts, items[0]) : -1;
      if (loop >= 0) row.append(element("span", { class: "chip" }, this.facts.loops[loop][0]));
      if (items.length) row.dataset.row = String(number);
      this.texts[which].push({ row, items });
      list.append(row);
    });
    return element("section", { class: which ? "source" : "program" }, element("h3", {}, title), list);
  }

  /** @param {number} at */
  go(at) {
    keep(this.model, { at });
    this.show();
  }

  show() {
    const { facts } = this;
    if (!facts.program.length) return;
    const at = this.model.get("at");
    this.mark(itemsOf(facts, at), "now");
    const [what, more = ""] = (facts.sentences[at] ?? "Nothing is selected.\nThe down arrow key goes to the first op.").split("\n");
    setText(this.said, what);
    setText(this.more, more);
    for (const lines of this.texts) {
      const first = lines.find(({ row }) => row.classList.contains("now"));
      const list = /** @type {HTMLElement | undefined} */ (lines[0]?.row.parentElement ?? undefined);
      if (first) list?.setAttribute("aria-activedescendant", first.row.id);
      else list?.removeAttribute("aria-activedescendant");
      for (const { row } of lines) row.setAttribute("aria-selected", String(row.classList.contains("now")));
    }
    this.reveal();
  }

  /** Mark items in all views. @param {number[]} items @param {"now" | "near"} how */
  mark(items, how) {
    const wanted = new Set(items);
    for (const { row, items: own } of this.texts.flat()) {
      const whole = own.length > 1 && wanted.size === 1;
      const on = own.some((item) => wanted.has(item));
      row.classList.toggle(how, on && !whole);
      row.classList.toggle(`${how}-around`, on && whole);
    }
    /** @type {[string, (part: Element) => number[]][]} */
    const parts = [
      [".lab-node", (node) => [Number(node.getAttribute("data-at"))]],
      [".lab-flow", (edge) => ["data-source", "data-target"].map((end) => Number(edge.getAttribute(end)))],
      ["[data-loop]", (loop) => this.facts.loops[Number(loop.getAttribute("data-loop"))][1]],
    ];
    for (const [wanting, of] of parts) {
      for (const part of this.drawing?.querySelectorAll(wanting) ?? []) part.classList.toggle(how, of(part).some((item) => wanted.has(item)));
    }
  }

  /** Scroll inside the panels only, never the page. */
  reveal() {
    for (const lines of this.texts) {
      const first = lines.find(({ row }) => row.classList.contains("now")) ?? lines.find(({ row }) => row.classList.contains("now-around"));
      const list = first?.row.parentElement;
      if (first && list) bringIntoView(list, first.row, 24, 24);
    }
    const nodes = [...this.drawing?.querySelectorAll(".lab-node.now") ?? []].map((node) => node.getBoundingClientRect());
    if (!nodes.length) return;
    const frame = this.stage.getBoundingClientRect();
    const whole = around(nodes);
    const fits = whole.right - whole.left < frame.width - 2 * ROOM && whole.bottom - whole.top < frame.height - 2 * ROOM;
    const box = fits ? whole : nodes[0];
    if (box.left < frame.left + ROOM) this.stage.scrollLeft -= frame.left + ROOM - box.left;
    else if (box.right > frame.right - ROOM) this.stage.scrollLeft += box.right - frame.right + ROOM;
    if (box.top < frame.top + ROOM) this.stage.scrollTop -= frame.top + ROOM - box.top;
    else if (box.bottom > frame.bottom - ROOM) this.stage.scrollTop += box.bottom - frame.bottom + ROOM;
  }

  /** The items under a pointer. @param {EventTarget | null} target @returns {number[]} */
  under(target) {
    if (!(target instanceof Element)) return [];
    const node = target.closest("[data-at]");
    if (node) return [Number(node.getAttribute("data-at"))];
    const loop = target.closest("[data-loop]");
    if (loop) return this.facts.loops[Number(loop.getAttribute("data-loop"))][1];
    const row = target.closest("[data-row]");
    const lines = target.closest(".source") ? this.texts[1] : this.texts[0];
    return row instanceof HTMLElement ? lines[Number(row.dataset.row)].items : [];
  }

  /** @param {number[]} items */
  press(items) {
    if (items.length) this.go(markOf(this.facts, items));
  }

  /** @param {number} scale 0 to show as much of the width as can be read */
  zoom(scale) {
    if (!this.drawing) return;
    const [width, height] = this.size;
    this.scale = Math.min(Math.max(scale || Math.max(SMALLEST, Math.min(1, (this.stage.clientWidth - 2) / width)), 0.1), 3);
    this.drawing.setAttribute("width", String(width * this.scale));
    this.drawing.setAttribute("height", String(height * this.scale));
    this.reveal();
  }

  /** The whole width, however small; pressed again, full size. */
  fit() {
    const whole = Math.min(1, (this.stage.clientWidth - 2) / this.size[0]);
    this.zoom(Math.abs(this.scale - whole) < 0.01 ? 1 : whole);
  }

  /** @returns {import("../explorer/keys.js").Key[]} */
  keyTable() {
    const at = () => this.model.get("at");
    return [
      { keys: ["ArrowDown"], shown: "↓", does: "next op", act: () => this.go(walked(this.facts, at(), 1)) },
      { keys: ["ArrowUp"], shown: "↑", does: "op before", act: () => this.go(walked(this.facts, at(), -1)) },
      { keys: ["ArrowRight"], shown: "→", does: "to a consumer", act: () => this.go(followed(this.facts, at(), 1)) },
      { keys: ["ArrowLeft"], shown: "←", does: "its input", act: () => this.go(followed(this.facts, at(), -1)) },
      { keys: ["Home"], shown: "Home", does: "first op", act: () => this.go(walked(this.facts, NOTHING, 1)) },
      { keys: ["End"], shown: "End", does: "last op", act: () => this.go(walked(this.facts, NOTHING, -1)) },
      { keys: ["l"], shown: "l", does: "next loop, whole", act: () => this.go(nextLoop(this.facts, at())) },
      { keys: ["f"], shown: "f", does: "the whole graph, or full size", act: () => this.fit() },
      { keys: ["+", "="], shown: "+", does: "larger", act: () => this.zoom(this.scale * ZOOM_STEP) },
      { keys: ["-"], shown: "−", does: "smaller", act: () => this.zoom(this.scale / ZOOM_STEP) },
      { keys: ["Escape"], shown: "Esc", does: "mark nothing, back to the cell", act: () => (at() === NOTHING ? giveBack(this.root) : this.go(NOTHING)) },
      { keys: ["?"], shown: "?", does: "these keys", act: () => { this.help.hidden = !this.help.hidden; } },
    ];
  }
}

/** Why calls run eagerly: a sentence, and the lines of the program that make it so. @param {ProgramFacts} facts */
function reasonsOf(facts) {
  const made = element("div", { class: "why" }, element("p", {}, facts.why));
  for (const [words, where, line] of facts.reasons) {
    made.append(element("p", { class: "reason" }, words));
    if (where) made.append(element("p", { class: "place" }, element("span", {}, where), line && element("code", {}, line)));
  }
  return made;
}

/** The box around some boxes. @param {DOMRect[]} boxes */
function around(boxes) {
  return {
    left: Math.min(...boxes.map((box) => box.left)), right: Math.max(...boxes.map((box) => box.right)),
    top: Math.min(...boxes.map((box) => box.top)), bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}

/** A line of text with its comment in a quieter ink. @param {string} text @returns {Node[]} */
function worded(text) {
  const cut = /^(?:\s*#|.*?\s{2}# )/.exec(text);
  const from = cut ? cut[0].lastIndexOf("#") : text.length;
  const parts = [element("code", {}, text.slice(0, from) || (text ? "" : " "))];
  if (from < text.length) parts.push(element("code", { class: "comment" }, text.slice(from)));
  return parts;
}

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const panels = new ProgramPanels(model, el);
  return () => panels.stop.abort();
}

export default { render };
