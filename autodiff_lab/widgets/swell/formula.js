// Formulas of a repeated step: their parts, how many signs they have, and how far that reaches.  Pure.
// The twin of draw/swell.py, which makes the parts from a recording; here a step can also be read as people type it.

import { short } from "../numbers.js";

/** @typedef {"x" | "number" | "sum" | "product" | "quotient" | "power" | "call"} Kind */
/** @typedef {{ sign: string, kind: Kind, inputs: number[] }} Part */
/** @typedef {{ [part: string]: [number, number] }} Spots */
/** @typedef {{ parts: Part[], roots: number[], entries: number[], derivative: boolean, places: Spots }} Facts */

export const ROUNDS = 60;
const LONGEST = 60; // signs of a formula that is written out
const SIGNS_A_PAGE = 3000;
const PAGE = 1e-4; // metres
/** @type {[string, number][]} */
export const LANDMARKS = [["the door", 2], ["Mount Everest", 8849], ["the moon", 3.844e8], ["the Sun", 1.496e11]];
/** @type {Record<string, number>} */
const BINDS = { "+": 1, "−": 1, "×": 2, "÷": 2, "^": 4 };
const FUNCTIONS = ["sin", "cos", "tan", "exp", "log", "ln", "sqrt", "tanh", "abs"];

/** @param {number[]} values */
const total = values => values.reduce((a, b) => a + b, 0);

/** Signs of a derivative by the signs of its inputs and of their derivatives; nothing is simplified. @type {Record<Kind, (t: number[], d: number[]) => number>} */
const RULES = {
  x: () => 1, // 1
  number: () => 1, // 0
  sum: (_, d) => 1 + total(d), // a′ + b′
  product: (t, d) => 3 + total(t) + total(d), // a′·b + a·b′
  quotient: (t, d) => 6 + t[0] + 2 * t[1] + total(d), // (a′·b − a·b′) / b^2
  power: (t, d) => 5 + t[0] + d[0], // n·a^m·a′
  call: (t, d) => 3 * t.length - 1 + t.length * total(t) + total(d), // f′(a)·a′
};

/** Signs of each part, written out, and of its derivative. @param {Part[]} parts */
export function sizesOf(parts) {
  /** @type {number[]} */
  const formula = [];
  /** @type {number[]} */
  const derivative = [];
  for (const { kind, inputs } of parts) {
    const t = inputs.map(i => formula[i]);
    derivative.push(RULES[kind](t, inputs.map(i => derivative[i])));
    formula.push(1 + total(t));
  }
  return { formula, derivative };
}

/** The parts that a part is made of, itself included, in ascending order. @param {Part[]} parts @param {number} root */
export function partsIn(parts, root) {
  const met = new Set([root]);
  for (const part of met) for (const input of parts[part].inputs) met.add(input);
  return [...met].sort((a, b) => a - b);
}

/** How many nodes are left where the copies of some parts are one node. @param {Part[]} parts @param {number} root @param {Set<number>} merged */
export function nodesLeft(parts, root, merged) {
  const own = /** @type {number[]} */ ([]);
  const all = partsIn(parts, root);
  for (const part of all) own[part] = 1 + total(parts[part].inputs.map(input => (merged.has(input) ? 0 : own[input])));
  return own[root] + total(all.filter(part => merged.has(part) && part !== root).map(part => own[part]));
}

/** How often each part stands in the formula, written out. @param {Part[]} parts @param {number} root */
export function copiesOf(parts, root) {
  /** @type {number[]} */
  const copies = [];
  copies[root] = 1;
  for (const part of partsIn(parts, root).reverse()) {
    for (const input of parts[part].inputs) copies[input] = (copies[input] ?? 0) + copies[part];
  }
  return copies;
}

/** A part as a formula, with no more parentheses than it needs. @param {Part[]} parts @param {number} index @param {number[]} sizes */
export function written(parts, index, sizes) {
  return sizes[index] > LONGEST ? `a formula of ${told(sizes[index])} signs` : writtenOut(parts, index).text;
}

/** @param {Part[]} parts @param {number} index @returns {{ text: string, binds: number }} */
function writtenOut(parts, index) {
  const { sign, kind, inputs } = parts[index];
  if (!inputs.length) return { text: sign, binds: kind === "x" || /^\d/.test(sign) ? 5 : 1 };
  const made = inputs.map(input => writtenOut(parts, input));
  const within = (/** @type {{ text: string }} */ { text }, /** @type {boolean} */ bare) => (bare ? text : `(${text})`);
  if (kind === "sum" && made.length === 1) return { text: `−${within(made[0], made[0].binds > 1)}`, binds: 1 };
  const own = BINDS[sign];
  if (!own || made.length !== 2) return { text: `${sign}(${made.map(({ text }) => text).join(", ")})`, binds: 5 };
  const [left, right] = made.map((each, at) => within(each, each.binds >= own + Number(at === Number(sign !== "^") && sign !== "+")));
  return { text: left + ({ "×": "·", "÷": " / ", "^": "^" }[sign] ?? ` ${sign} `) + right, binds: own };
}

/** A count as people read it. @param {number} count */
export const told = count => (count < 1e6 ? count.toLocaleString("en-US") : short(count, 3));

/** What becomes of so many signs on paper, as the rest of a sentence. @param {number} signs */
export function reachText(signs) {
  const pages = Math.ceil(signs / SIGNS_A_PAGE);
  const height = (signs / SIGNS_A_PAGE) * PAGE;
  if (pages === 1) return "fits on a page";
  if (pages < 100) return `takes ${pages} pages`;
  const reached = LANDMARKS.filter(([, far]) => height >= far).at(-1);
  if (!reached) return `is a pile of ${lengthText(height)}`;
  const times = height / reached[1];
  const asFar = `as ${reached[1] < 1e6 ? "high" : "far"} as ${reached[0]}`;
  return `is a pile of ${lengthText(height)}: ${times >= 1.95 ? `${short(times, 2)} times ` : ""}${asFar}`;
}

/** A length in the unit that suits it, with two digits. @param {number} metres */
export function lengthText(metres) {
  if (metres < 1) return `${short(metres * 100, 2)} cm`;
  if (metres < 1000) return `${short(Number(metres.toPrecision(2)), 2)} m`;
  const km = Number((metres / 1000).toPrecision(2));
  if (km < 1e6) return `${km >= 10 ? km.toLocaleString("en-US") : short(km, 2)} km`;
  return km < 1e9 ? `${short(km / 1e6, 2)} million km` : `${short(km, 2)} km`;
}

/** The signs that make a pile as high as a landmark. @param {number} far in metres */
export const signsTo = far => (far / PAGE) * SIGNS_A_PAGE;

/** From which n on the pile reaches each landmark, as a sentence. @param {number[]} counts by n, from 1 */
export function landmarksText(counts) {
  const found = LANDMARKS.map(([name, far]) => ({ name, at: counts.findIndex(count => count >= signsTo(far)) + 1 }));
  const there = found.filter(({ at }) => at);
  if (!there.length) return `It does not reach the door in ${counts.length} rounds.`;
  return `It reaches ${there.map(({ name, at }) => `${name} at n = ${at}`).join(", ")}.`;
}

/** Reads a step as it is typed: numbers, x, + − * / ^, parentheses and a few functions; `4x(1 − x)` too. */
class Reader {
  /** @param {string} text */
  constructor(text) {
    const plain = text.replaceAll("**", "^").replaceAll("−", "-").replace(/[×·]/g, "*").replaceAll("÷", "/");
    this.tokens = plain.match(/\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+|[a-z]+|\S/gi) ?? [];
    /** @type {Part[]} */
    this.parts = [{ sign: "x", kind: "x", inputs: [] }];
    /** @type {Map<string, number>} */
    this.known = new Map([["x|x|", 0]]);
    this.moves = new Set([0]);
    this.x = 0;
    this.at = 0;
    this.entries = 0;
  }

  /** @param {string} sign @param {Kind} kind @param {number[]} inputs */
  make(sign, kind, inputs) {
    const key = `${sign}|${kind}|${inputs}`;
    let index = this.known.get(key);
    if (index === undefined) {
      index = this.parts.push({ sign, kind, inputs }) - 1;
      this.known.set(key, index);
    }
    if (inputs.some(input => this.moves.has(input))) {
      this.moves.add(index);
      this.entries += 1;
    }
    return index;
  }

  /** One round. @param {number} x */
  round(x) {
    [this.x, this.at] = [x, 0];
    const found = this.sum();
    if (this.at < this.tokens.length) throw new Error(`"${this.tokens[this.at]}" was not expected here.`);
    return found;
  }

  /** @param {string[]} signs */
  take(...signs) {
    return signs.includes(this.tokens[this.at]) ? this.tokens[this.at++] : "";
  }

  sum() {
    let left = this.product();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-")) {
      left = this.make(sign === "-" ? "−" : sign, "sum", [left, this.product()]);
    }
    return left;
  }

  product() {
    let left = this.signed();
    for (;;) {
      const sign = this.take("*", "/");
      if (sign === "/") left = this.make("÷", "quotient", [left, this.signed()]);
      else if (sign || /^[a-z(]/i.test(this.tokens[this.at] ?? "")) left = this.make("×", "product", [left, sign ? this.signed() : this.power()]);
      else return left;
    }
  }

  /** @returns {number} */
  signed() {
    if (this.take("+")) return this.signed();
    return this.take("-") ? this.make("−", "sum", [this.signed()]) : this.power();
  }

  /** @returns {number} */
  power() {
    const base = this.atom();
    if (!this.take("^")) return base;
    const exponent = this.signed();
    return this.make("^", this.parts[exponent].kind === "number" ? "power" : "call", [base, exponent]);
  }

  /** @returns {number} */
  atom() {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Error("Something is missing at the end.");
    if (token === "(") return this.closed();
    if (/^[\d.]/.test(token) && Number.isFinite(Number(token))) return this.make(short(Number(token)), "number", []);
    if (token.toLowerCase() === "x") return this.x;
    const name = FUNCTIONS.find(each => each === token.toLowerCase());
    if (!name) throw new Error(`"${token}" is not known. Write the step in x, with + − * / ^ and ${FUNCTIONS.join(", ")}.`);
    if (!this.take("(")) throw new Error(`Write ${name}(x), with parentheses.`);
    return this.make(name, "call", [this.closed()]);
  }

  closed() {
    const found = this.sum();
    if (!this.take(")")) throw new Error("A parenthesis is not closed.");
    return found;
  }
}

/**
 * A typed step, repeated.
 * @param {string} text
 * @returns {{ facts: Facts, problem: "" } | { facts: null, problem: string }}
 */
export function readStep(text) {
  try {
    if (text.length > 200) throw new Error("A step has at most 200 characters.");
    const reader = new Reader(text);
    const [roots, entries] = [[0], [0]];
    for (let n = 1; n <= ROUNDS; n += 1) {
      roots.push(reader.round(roots[n - 1]));
      entries.push(reader.entries);
    }
    if (!reader.moves.has(roots[1])) throw new Error("This does not depend on x.");
    return { facts: { parts: reader.parts, roots, entries, derivative: true, places: {} }, problem: "" };
  } catch (error) {
    return { facts: null, problem: error instanceof Error ? error.message : String(error) };
  }
}
