// The drill "ten pairs of shapes": the shape of each sum, and which of its axes are summed on the way back.  Pure.

/** @typedef {{ a: number[], b: number[], to: "a" | "b" }} Pair */
/** @typedef {{ right: boolean, words: string[] }} Verdict */

/** The shape of a sum, null where the shapes do not fit. @param {number[]} a @param {number[]} b @returns {number[] | null} */
export function fitShapes(a, b) {
  const rank = Math.max(a.length, b.length);
  const lengths = [...Array(rank).keys()].map(axis => [a, b].map(shape => lengthAt(shape, axis, rank)));
  const fits = lengths.every(([m, n]) => m === n || m === 1 || n === 1);
  return fits ? lengths.map(([m, n]) => Math.max(m, n)) : null;
}

/** A length as the result counts its axes; 1 where a shape has none. @param {number[]} shape @param {number} axis @param {number} rank */
function lengthAt(shape, axis, rank) {
  return shape[axis - rank + shape.length] ?? 1;
}

/** The axes of a result along which an input was stretched. @param {number[]} shape @param {number[]} result */
export function summedAxes(shape, result) {
  const lacking = result.length - shape.length;
  return [...result.keys()].filter(axis => axis < lacking || shape[axis - lacking] !== result[axis]);
}

/** Numbers as people write them: "3 4", "(3, 4)", "3×4"; null for anything else. @param {string} text @returns {number[] | null} */
export function readNumbers(text) {
  const words = text.replace(/[−–]/g, "-").replace(/[()[\],;×x]/g, " ").split(/\s+/).filter(Boolean);
  return words.every(word => /^-?\d{1,4}$/.test(word)) ? words.map(Number) : null;
}

/** A shape as Python writes it. @param {number[]} shape */
export function shapeWords(shape) {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}

/** @param {Pair} pair */
function explainShape({ a, b }) {
  const rank = Math.max(a.length, b.length);
  const words = [...Array(rank).keys()].reverse().map(axis => {
    const [m, n] = [a, b].map(shape => shape[axis - rank + shape.length]);
    if (m === undefined || n === undefined) return `${m ?? n} and nothing give ${m ?? n}`;
    return m === n || m === 1 || n === 1 ? `${m} and ${n} give ${Math.max(m, n)}` : `${m} and ${n} do not fit, because neither is 1`;
  });
  return `From the right: ${words.join("; ")}.`;
}

/** @param {string} name @param {number[]} shape @param {number[]} result */
function explainAxes(name, shape, result) {
  const axes = summedAxes(shape, result);
  if (!axes.length) return `${name} has the shape of the result: nothing was stretched, and nothing is summed.`;
  const lacking = result.length - shape.length;
  const words = axes.map(axis => `axis ${axis}, ${axis < lacking ? `which ${name} does not have` : `where ${name} has 1 and the result ${result[axis]}`}`);
  return `Summed: ${words.join("; ")}.`;
}

export class ShapeDrill {
  /** @param {Pair[]} pairs */
  constructor(pairs) {
    this.pairs = pairs;
    this.at = 0;
    /** @type {"shape" | "axes"} */
    this.asks = "shape";
    this.right = 0;
    this.asked = 0;
  }

  get isOver() {
    return this.at >= this.pairs.length;
  }

  get pair() {
    return this.pairs[Math.min(this.at, this.pairs.length - 1)];
  }

  get result() {
    return fitShapes(this.pair.a, this.pair.b);
  }

  /** @param {string} text @returns {Verdict | null} null if the text is not an answer, which costs nothing */
  answer(text) {
    if (this.isOver) return null;
    const { pair, result, asks } = this;
    const refused = asks === "shape" && /^\s*(x|no|none|error)\s*$/i.test(text);
    const said = refused ? [] : readNumbers(text);
    if (!said || (asks === "shape" && !refused && !said.length)) return null;
    const shape = pair[pair.to];
    const verdict = asks === "shape" || !result
      ? { right: refused ? !result : same(said, result), words: [result ? `The sum has the shape ${shapeWords(result)}.` : "They do not fit.", explainShape(pair)] }
      : { right: same([...new Set(said.map(axis => (axis < 0 ? axis + result.length : axis)))].sort((m, n) => m - n), summedAxes(shape, result)), words: [explainAxes(pair.to, shape, result)] };
    this.asked += 1;
    if (verdict.right) this.right += 1;
    this.asks = asks === "shape" && result ? "axes" : "shape";
    if (this.asks === "shape") this.at += 1;
    return verdict;
  }
}

/** @param {number[]} one @param {number[] | null} other */
function same(one, other) {
  return other !== null && one.length === other.length && one.every((number, at) => number === other[at]);
}
