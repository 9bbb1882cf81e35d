// The swell: a formula as a tree, equal parts merged by a click, and counts of formula, derivative and tape by rounds.

import { drawing } from "../dom.js";
import { valueAt } from "../plotting/axes.js";
import { add, addButton, make } from "../plotting/elements.js";
import { listenToPointer } from "../plotting/gestures.js";
import { acrossOf, downOf, drawArea, drawLayers } from "../plotting/layers.js";
import { Stage, staged } from "../plotting/stage.js";
import { copiesOf, LANDMARKS, landmarksText, nodesLeft, partsIn, reachText, readStep, ROUNDS, signsTo, sizesOf, told, written } from "./formula.js";
import { columnsOf, MOST, neighbour, nodesOf, recordedOf } from "./tree.js";

/** @typedef {import("./formula.js").Facts} Facts */
/** @typedef {import("./tree.js").Spot} Spot */
/** @typedef {{ facts: Facts, n: number, merged: number[], typed: boolean, wants_focus: boolean }} Traits */

const TRAITS = /** @type {const} */ (["n", "merged", "facts"]);
const PLOT = { left: 64, top: 24, right: 96, bottom: 44, height: 300 };
const LEAVES = 400; // milliseconds in which copies move into one; the style sheet has the same

/** @extends {Stage<Traits>} */
class SwellView extends Stage {
  /**
   * @param {import("@anywidget/types").AnyModel<Traits>} model
   * @param {HTMLElement} root
   * @param {AbortSignal} stop
   */
  constructor(model, root, stop) {
    super(model, root, stop);
    this.now = ""; // key of the node that is chosen; the sentence is about the whole where none is
    /** @type {Map<string, SVGElement>} */
    this.shapes = new Map();
    /** @type {import("./tree.js").TreeNode[]} */
    this.nodes = [];
    /** @type {Spot[]} */
    this.spots = [];
    /** @type {number[]} */
    this.copies = [];
    this.left = 0;
    this.facts = model.get("facts");
    this.sizes = sizesOf(this.facts.parts);
    this.text = "";
    this.read();
    this.title = make(root, "div", "head");
    this.field = model.get("typed") ? this.addField(root, stop) : null;
    const row = make(root, "div", "controls");
    const label = make(row, "label", "", "rounds n");
    this.slider = make(label, "input");
    Object.assign(this.slider, { type: "range", min: "1", max: String(this.rounds), step: "1" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)), { signal: stop });
    this.count = make(row, "span", "count");
    this.button = addButton(row, "merge equal parts", "Make all copies of every part one node (M)", () => this.mergeAll(), stop);
    this.back = addButton(row, "write it out", "Write every part out again (W)", () => this.writeOut(), stop);
    this.table = make(make(root, "table", "counts"), "tbody");
    this.tree = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "plot tree", tabindex: 0, role: "application" }));
    this.edges = add(this.tree, "g");
    this.nodesGroup = add(this.tree, "g");
    this.said = this.addSentence();
    this.addKeys("Arrows walk through the tree, Enter or a click makes all copies of a part one node, M merges every part, W writes out, − + change n.", "←");
    this.plot = /** @type {SVGSVGElement} */ (add(root, "svg", { class: "plot", role: "img" }));
    this.far = make(root, "p", "sentence");
    this.tree.addEventListener("click", event => this.press(event), { signal: stop });
    listenToPointer(this.plot, { take: () => x => this.go(Math.round(valueAt(this.across, (x - PLOT.left) / this.width))) }, stop);
    this.width = 0;
    this.begin(TRAITS, this.tree);
  }

  /** Where a step is typed; what cannot be read is said and changes nothing. @param {HTMLElement} root @param {AbortSignal} stop */
  addField(root, stop) {
    const label = make(make(root, "div", "controls"), "label", "", "your own step: x ←");
    const field = make(label, "input", "step");
    Object.assign(field, { type: "text", spellcheck: false, autocomplete: "off", value: this.text });
    this.problem = make(root, "p", "sentence problem");
    this.problem.setAttribute("role", "alert");
    field.addEventListener("input", () => {
      const { facts, problem } = readStep(field.value);
      if (this.problem) this.problem.textContent = problem;
      if (!facts) return;
      this.model.set("merged", []);
      this.model.set("facts", facts);
      this.model.save_changes();
      this.changed();
    }, { signal: stop });
    return field;
  }

  changed() {
    this.read();
    this.draw();
  }

  read() {
    this.facts = this.model.get("facts");
    this.sizes = sizesOf(this.facts.parts);
    this.text = written(this.facts.parts, this.facts.roots[1], this.sizes.formula);
  }

  get rounds() {
    return Math.min(this.facts.roots.length - 1, ROUNDS);
  }

  get whole() {
    return this.facts.roots[this.model.get("n")];
  }

  get merged() {
    return new Set(this.model.get("merged"));
  }

  get across() {
    return { lo: 1, hi: Math.max(this.rounds, 2), name: "rounds n" };
  }

  /** @param {number} n */
  go(n) {
    this.now = "";
    this.set("n", Math.min(Math.max(n, 1), this.rounds));
  }

  mergeAll() {
    this.now = "";
    this.set("merged", this.facts.parts.map((_, part) => part));
  }

  writeOut() {
    this.now = "";
    this.set("merged", []);
  }

  /** Make the copies of a part one node, or write them out again. @param {number} part */
  toggle(part) {
    const merged = this.merged;
    if (!merged.delete(part)) merged.add(part);
    const was = this.nodes.find(({ key }) => key === this.now)?.part;
    this.model.set("merged", [...merged].sort((a, b) => a - b));
    this.model.save_changes();
    this.draw();
    const kept = this.nodes.find(each => each.part === was);
    if (kept) this.choose(kept.key);
  }

  /** @param {string} key */
  choose(key) {
    this.now = key;
    this.mark();
  }

  /** @param {MouseEvent} event */
  press(event) {
    const shape = /** @type {Element} */ (event.target).closest(".node");
    const node = this.nodes.find(({ key }) => this.shapes.get(key) === shape);
    if (!node) return;
    this.now = node.key;
    this.toggle(node.part);
  }

  /** @param {KeyboardEvent} event */
  action(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("input[type=text]")) return null;
    if (target.closest("button, input") && (event.key.startsWith("Arrow") || [" ", "Enter", "Home", "End"].includes(event.key))) return null;
    const { nodes } = this;
    const at = nodes.findIndex(({ key }) => key === this.now);
    const n = this.model.get("n");
    /** @type {Record<string, () => void>} */
    const acts = {
      m: () => this.mergeAll(), w: () => this.writeOut(),
      "+": () => this.go(n + 1), "=": () => this.go(n + 1), "-": () => this.go(n - 1),
      Enter: () => { if (at >= 0) this.toggle(nodes[at].part); },
    };
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      acts[key] = () => { if (nodes.length) this.choose(nodes[at < 0 ? nodes.length - 1 : neighbour(nodes, this.spots, at, key)].key); };
    }
    return acts[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
  }

  draw() {
    const { facts, model, merged, whole: root } = this;
    const n = model.get("n");
    this.title.textContent = `x ← ${this.text}, ${n} ${n === 1 ? "time" : "times"}`;
    this.slider.value = String(n);
    this.slider.setAttribute("aria-valuetext", `n = ${n}`);
    this.count.textContent = `n = ${n}`;
    this.left = nodesLeft(facts.parts, root, merged);
    this.copies = copiesOf(facts.parts, root);
    this.nodes = this.left <= MOST ? nodesOf(facts.parts, root, merged) : [];
    this.button.disabled = this.left === partsIn(facts.parts, root).length;
    this.back.disabled = !merged.size;
    this.drawTree();
    this.drawPlot(n);
    this.tell(n);
    this.mark();
  }

  drawTree() {
    const { tree, nodes, facts } = this;
    const width = Math.max(Math.floor(tree.getBoundingClientRect().width), 300);
    const placed = recordedOf(nodes, facts.places, width) ?? columnsOf(nodes, width);
    const height = nodes.length ? placed.height : 60;
    this.spots = placed.spots;
    tree.setAttribute("viewBox", `0 0 ${width} ${height}`);
    tree.setAttribute("height", String(height));
    this.edges.replaceChildren();
    nodes.forEach(({ inputs }, i) => inputs.forEach((input, at) => this.drawEdge(placed.spots[input], placed.spots[i], at, inputs)));
    if (!nodes.length) add(this.edges, "text", { class: "many", x: 12, y: 34 }, `${told(this.left)} nodes are too many to draw.${this.button.disabled ? "" : " Merge equal parts."}`);
    const kept = new Set(nodes.map(({ key }) => key));
    const spotOf = new Map(nodes.map(({ part }, i) => [String(part), placed.spots[i]]));
    const before = new Map([...this.shapes].map(([, shape]) => [shape.getAttribute("data-part"), shape.style.transform]));
    for (const [key, shape] of this.shapes) {
      if (kept.has(key)) continue;
      this.shapes.delete(key);
      this.takeAway(shape, spotOf.get(shape.getAttribute("data-part") ?? ""));
    }
    nodes.forEach(({ key, part }, i) => {
      const shape = this.shapes.get(key) ?? this.addShape(key, part, before.get(String(part)));
      const { x, y } = placed.spots[i];
      shape.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    });
  }

  /** @param {Spot} from @param {Spot} to @param {number} at which input @param {number[]} inputs */
  drawEdge(from, to, at, inputs) {
    const twice = inputs.length > 1 && inputs[0] === inputs[1] ? (at ? 7 : -7) : 0;
    const [x1, y1, x2, y2] = [from.x, from.y + twice, to.x, to.y + twice];
    const bend = Math.max(Math.abs(x2 - x1) / 2, 24);
    add(this.edges, "path", { class: "edge", d: `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}` });
  }

  /** @param {string} key @param {number} part @param {string} [start] where a copy of it was */
  addShape(key, part, start) {
    const { sign, inputs } = this.facts.parts[part];
    const shape = add(this.nodesGroup, "g", { class: `node ${inputs.length ? "op" : "leaf"}`, "data-part": part });
    const wide = Math.max(20, 9 * sign.length + 8);
    add(shape, "rect", { class: "halo", x: -wide / 2 - 3, y: -13, width: wide + 6, height: 26, rx: 13 });
    add(shape, "rect", { class: "box", x: -wide / 2, y: -10, width: wide, height: 20, rx: 10 });
    add(shape, "text", { class: "across", y: 4 }, sign);
    if (start) {
      shape.style.transform = start;
      shape.getBoundingClientRect(); // so that it moves from there
    }
    this.shapes.set(key, shape);
    return shape;
  }

  /** Let a copy move into the one that is left, and go. @param {SVGElement} shape @param {Spot} [goal] */
  takeAway(shape, goal) {
    if (!goal || matchMedia("(prefers-reduced-motion: reduce)").matches) return shape.remove();
    shape.classList.add("leaving");
    shape.style.transform = `translate(${goal.x.toFixed(1)}px, ${goal.y.toFixed(1)}px)`;
    return setTimeout(() => shape.remove(), LEAVES);
  }

  /** Show which node is chosen, and its copies. */
  mark() {
    const now = this.nodes.find(({ key }) => key === this.now);
    for (const { key, part } of this.nodes) {
      const shape = this.shapes.get(key);
      shape?.classList.toggle("now", key === this.now);
      shape?.classList.toggle("copy", part === now?.part && key !== this.now);
      shape?.classList.toggle("one", this.merged.has(part) && this.copies[part] > 1);
    }
    this.said.textContent = now ? this.partText(now.part) : this.shownText();
    this.tree.setAttribute("aria-label", `${this.title.textContent}. ${this.said.textContent}`);
  }

  /** @param {number} part */
  partText(part) {
    const { facts, sizes, merged } = this;
    const copies = this.copies[part];
    const name = written(facts.parts, part, sizes.formula);
    if (copies === 1) return `${name} stands here once.`;
    const shown = this.nodes.filter(node => node.part === part).length;
    if (merged.has(part)) return `${name} is needed ${told(copies)} times, and is one node now. Enter writes it out again.`;
    return `${name} stands ${told(copies)} times in the formula, ${shown} times in the picture. Enter makes them one node.`;
  }

  /** What the picture shows as a whole. */
  shownText() {
    const { facts, whole: root, left } = this;
    const all = partsIn(facts.parts, root);
    if (left > all.length) return `${told(left)} ${left === 1 ? "node" : "nodes"}; ${told(all.length)} of them differ.`;
    const ops = all.filter(part => facts.parts[part].inputs.length).length;
    const entries = facts.entries[this.model.get("n")];
    if (ops === entries) return `${all.length} parts, no two alike. ${ops} of them are ops: the ${entries} entries of the tape.`;
    return `${all.length} parts, no two alike, ${ops} of them ops. The tape has ${entries} entries: the program computes ${entries > ops ? "something twice, or for nothing" : "some of them without x"}.`;
  }

  /** @param {number} n */
  tell(n) {
    const { facts, sizes, whole: root, left } = this;
    const rows = [["formula, written out", sizes.formula[root], "signs"]];
    if (facts.derivative) rows.push(["its derivative, nothing simplified", sizes.derivative[root], "signs"]);
    rows.push(["in the picture", left, "nodes"], ["tape", facts.entries[n], "entries"]);
    this.table.replaceChildren();
    for (const [name, count, unit] of rows) {
      const row = make(this.table, "tr");
      make(row, "th", "", String(name)).scope = "row";
      make(row, "td", "number", told(Number(count)));
      make(row, "td", "", String(unit));
    }
    const counts = facts.roots.map(part => (facts.derivative ? sizes.derivative : sizes.formula)[part]);
    const which = facts.derivative ? "derivative" : "formula";
    this.far.textContent = `On paper, ${3000..toLocaleString("en-US")} signs to a page, the ${which} ${reachText(counts[n])}. ${landmarksText(counts.slice(1))}`;
  }

  /** @param {number} n */
  drawPlot(n) {
    const { facts, sizes, plot } = this;
    const whole = Math.max(Math.floor(plot.getBoundingClientRect().width), 300);
    this.width = whole - PLOT.left - PLOT.right;
    const x = Array.from({ length: this.rounds }, (_, i) => i + 1);
    /** @type {{ name: string, role: string, y: number[] }[]} */
    const curves = [{ name: "formula", role: "ink", y: x.map(k => sizes.formula[facts.roots[k]]) }];
    if (facts.derivative) curves.push({ name: "derivative", role: "backward", y: x.map(k => sizes.derivative[facts.roots[k]]) });
    curves.push({ name: "tape", role: "forward", y: x.map(k => Math.max(facts.entries[k], 1)) });
    const top = Math.max(...curves.flatMap(({ y }) => y));
    const area = { ...PLOT, width: this.width, height: PLOT.height - PLOT.top - PLOT.bottom, x: this.across, y: { lo: 1, hi: 10 * Math.max(top, 10), log: true, name: "signs, entries" } };
    plot.setAttribute("viewBox", `0 0 ${whole} ${PLOT.height}`);
    plot.setAttribute("height", String(PLOT.height));
    const still = drawing("g");
    const { group, inside } = drawArea(still, area);
    for (const [name, far] of LANDMARKS) {
      if (signsTo(far) > area.y.hi) continue;
      const y = downOf(area, signsTo(far));
      drawLayers(inside, area, [{ kind: "line", role: "muted", dashed: true, x: [1, area.x.hi], y: [signsTo(far), signsTo(far)] }]);
      add(group, "text", { class: "label layer role-muted", x: acrossOf(area, 1 + 0.14 * area.x.hi), y: y - 5 }, name);
    }
    const at = acrossOf(area, n);
    add(inside, "line", { class: "now-line", x1: at, x2: at, y1: 0, y2: area.height });
    let free = -Infinity;
    const ends = curves.map(({ name, role, y }) => ({ name, role, y: downOf(area, y[y.length - 1]) })).sort((a, b) => a.y - b.y);
    for (const { role, y } of curves) {
      drawLayers(inside, area, [{ kind: "line", role, x, y }, { kind: "points", role, size: 5, x: [n], y: [y[n - 1]] }]);
    }
    for (const { name, role, y } of ends) {
      free = Math.max(y + 4, free + 18);
      add(group, "text", { class: `label layer role-${role}`, x: this.width + 8, y: free }, name);
    }
    plot.replaceChildren(still);
    plot.setAttribute("aria-label", `Counts by rounds. n = ${n}: ${curves.map(({ name, y }) => `${name} ${told(y[n - 1])}`).join(", ")}`);
  }
}

export default staged(SwellView, "lab-swell");
