// The program explorer: graph, program and source of a compiled function.  The state is the integer `at`; everything
// that is marked follows from it.  A pointer over a line or a node marks it lightly, and moves nothing.

import { attend, giveBack, makeHint } from "../host.js";
import { element, setText } from "../explorer/dom.js";
import { listenToKeys, makeHelp } from "../explorer/keys.js";
import { NOTHING, followed, itemsOf, loopOf, markOf, nextLoop, walked } from "./links.js";

/** @typedef {import("./links.js").ProgramFacts} ProgramFacts */
/** @typedef {import("./links.js").RowFacts} RowFacts */
/** @typedef {{ facts: ProgramFacts, at: number, wants_focus: boolean }} Traits */
/** @typedef {{ row: HTMLElement, items: number[] }} Line */

const SVG_TYPE = "image/svg+xml";
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
    this.drawing = this.drawn();
    const keys = this.keyTable();
    this.help = makeHelp(keys);
    this.root = element(
      "section",
      { class: "autodiff-lab lab-program-view", "aria-label": `Compiled function ${facts.title}` },
      element("header", {}, element("h2", { title: facts.title }, facts.title), element("p", { class: "summary" }, facts.summary), facts.program.length ? makeHint("↓") : ""),
    );
    if (facts.why) this.root.append(reasonsOf(facts));
    if (facts.program.length) this.addPanels();
    el.append(this.root);
    listenToKeys(this.root, keys, this.stop.signal);
    this.listen();
    if (facts.program.length) attend(model, this.root, this.stage, this.stop.signal);
    model.on("change:at", this.show);
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

  /** The drawing, escaped by Python; the sentences say what it shows. */
  drawn() {
    if (!this.facts.drawing) return null;
    const parsed = new DOMParser().parseFromString(this.facts.drawing, SVG_TYPE).documentElement;
    const made = /** @type {SVGElement} */ (/** @type {unknown} */ (document.importNode(parsed, true)));
    made.setAttribute("aria-hidden", "true");
    return made;
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
    this.model.set("at", at);
    this.model.save_changes();
    this.show();
  }

  show = () => {
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
  };

  /** Mark items in all views. @param {number[]} items @param {"now" | "near"} how */
  mark(items, how) {
    const wanted = new Set(items);
    for (const lines of this.texts) {
      for (const { row, items: own } of lines) {
        const whole = own.length > 1 && wanted.size === 1;
        const on = own.some((item) => wanted.has(item));
        row.classList.toggle(how, on && !whole);
        row.classList.toggle(`${how}-around`, on && whole);
      }
    }
    for (const node of this.drawing?.querySelectorAll(".lab-node") ?? []) {
      node.classList.toggle(how, wanted.has(Number(node.getAttribute("data-at"))));
    }
    for (const edge of this.drawing?.querySelectorAll(".lab-flow") ?? []) {
      const touches = wanted.has(Number(edge.getAttribute("data-source"))) || wanted.has(Number(edge.getAttribute("data-target")));
      edge.classList.toggle(how, touches);
    }
    for (const part of this.drawing?.querySelectorAll("[data-loop]") ?? []) {
      const members = this.facts.loops[Number(part.getAttribute("data-loop"))][1];
      part.classList.toggle(how, members.some((item) => wanted.has(item)));
    }
  }

  /** Scroll inside the panels only, never the page. */
  reveal() {
    for (const lines of this.texts) {
      const first = lines.find(({ row }) => row.classList.contains("now")) ?? lines.find(({ row }) => row.classList.contains("now-around"));
      const list = first?.row.parentElement;
      if (!first || !list) continue;
      const [top, bottom] = [first.row.offsetTop - 24, first.row.offsetTop + 44 - list.clientHeight];
      if (list.scrollTop > top) list.scrollTop = top;
      else if (list.scrollTop < bottom) list.scrollTop = bottom;
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

  listen() {
    const options = { signal: this.stop.signal };
    this.root.addEventListener("click", (event) => {
      const items = this.under(event.target);
      if (items.length) this.go(markOf(this.facts, items));
    }, options);
    this.root.addEventListener("pointerover", (event) => this.mark(this.under(event.target), "near"), options);
    this.root.addEventListener("pointerleave", () => this.mark([], "near"), options);
  }

  /** @param {number} scale 0 to show as much of the width as can be read */
  zoom(scale) {
    if (!this.drawing) return;
    const [width, height] = ["width", "height"].map((side) => Number(this.drawing?.getAttribute(`data-${side}`) ?? this.drawing?.getAttribute(side)));
    this.drawing.setAttribute("data-width", String(width));
    this.drawing.setAttribute("data-height", String(height));
    this.scale = Math.min(Math.max(scale || Math.max(SMALLEST, Math.min(1, (this.stage.clientWidth - 2) / width)), 0.1), 3);
    this.drawing.setAttribute("width", String(width * this.scale));
    this.drawing.setAttribute("height", String(height * this.scale));
    this.reveal();
  }

  /** The whole width, however small; pressed again, full size. */
  fit() {
    const width = Number(this.drawing?.getAttribute("data-width") ?? 1);
    const whole = Math.min(1, (this.stage.clientWidth - 2) / width);
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
  return () => {
    panels.stop.abort();
    model.off("change:at", panels.show);
  };
}

export default { render };
