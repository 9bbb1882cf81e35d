// Sentences: what a step says in the live line and on the card.  Pure: no DOM.

/** @import { Scene, Tensor, Application, Step, Value, Box } from "./scene.js" */
/** @import { State, Gradient } from "./fold.js" */

export const PENDING = "not yet";
/** The same on a node, where there is little room; the tip and the table have the words. */
export const PENDING_MARK = "…";
/** The end of a name that was cut. */
export const CUT = "‥";
export const FIRST_MARK = 0xe000;

/**
 * Put the names of the inputs into a sentence such as "the sine of {0}".
 * @param {string} sentence
 * @param {string[]} names
 */
export function filled(sentence, names) {
  return sentence.replace(/\{(\d+)\}/g, (whole, digits) => names[Number(digits)] ?? whole);
}

/**
 * Put the names of the inputs where the marks of a converted formula stand.
 * @param {string} text
 * @param {string[]} names
 */
export function marked(text, names) {
  return text.replace(/[\ue000-\ue01f]/g, (mark) => names[mark.charCodeAt(0) - FIRST_MARK] ?? "");
}

/** @param {Scene} scene @param {number[]} tensors */
export const namesOf = (scene, tensors) => tensors.map((number) => scene.tensors.get(number)?.name ?? "");

/** Characters of a name that a formula has room for. */
const LONGEST_IN_FORMULA = 28;

/** Names as they stand in a formula: cut where they are long, and a sum or product held together by parentheses. @param {string[]} names */
export const bracketed = (names) => names.map((whole) => {
  const name = whole.length > LONGEST_IN_FORMULA ? `${whole.slice(0, LONGEST_IN_FORMULA - 1).trimEnd()}${CUT}` : whole;
  return /^[^"']* [-+*/@<>=]+ /.test(name) ? `(${name})` : name;
});

/** What there is to say where there is nothing to see. @param {Scene} scene */
export function nothingRan({ error }) {
  return error ? `No op was recorded before the program ended with ${error.replace(/[.!?]?$/, ".")}` : "No op was recorded: none ran in the block.";
}

/** @param {Scene} scene @param {State} state */
export function counter(scene, state) {
  if (state.phase === "start") return `Start · ${counted(scene.last, "step")}`;
  return `Step ${state.step} of ${scene.last} · ${kindOf(scene, state.now)}`;
}

/**
 * The live line: one sentence for each step, enough to follow with the eyes shut.
 * @param {Scene} scene
 * @param {State} state
 */
export function liveLine(scene, state) {
  const { now } = state;
  if (!scene.last) return nothingRan(scene);
  if (now === null) return `Start of ${scene.last} steps; nothing has run yet.`;
  const application = scene.applications.get(now.application);
  if (!application) return counter(scene, state);
  const kind = now.tangent ? "tangents" : kindOf(scene, now);
  const head = `Step ${state.step} of ${scene.last}, ${kind}: ${application.op.name}`;
  return now.sweep < 0 ? `${head}; ${forwardWords(scene, application)}.` : `${head}; ${backwardWords(scene, now)}.`;
}

/** The pass of a step; an op that a rule runs, and an outer tape records, is told from the ops of the program. @param {Scene} scene @param {Step | null} now */
function kindOf(scene, now) {
  if (now && now.within >= 0) return `run by ${scene.labels[now.within]}`;
  return scene.labels[now ? now.sweep : -1] ?? "forward";
}

/** @param {Scene} scene @param {Application} application */
function forwardWords(scene, application) {
  if (application.error) return `failed: ${application.error}`;
  const inputs = application.inputs.map((number) => valueWords(scene.tensors.get(number))).join(", ");
  const outputs = application.outputs.map((number) => valueWords(scene.tensors.get(number))).join(", ");
  return `${inputs ? `from ${inputs} ` : ""}makes ${outputs}`;
}

/** @param {Tensor | undefined} tensor */
const valueWords = (tensor) => (tensor ? `${tensor.name} = ${tensor.value.short}` : "");

/** @param {Scene} scene @param {Step} now */
function backwardWords(scene, now) {
  const incoming = now.incoming.map((value) => value?.short ?? (now.tangent ? "0" : "nothing")).join(", ");
  const what = now.tangent ? "tangents" : "incoming";
  const shares = now.flows.map((flow) => {
    const name = scene.tensors.get(flow.input)?.name ?? "";
    const local = flow.local ? `local ${flow.local.short}; ` : "";
    return `${local}delivers ${flow.outgoing.short} to ${name}; ${arrivals(name, flow.arrived, flow.expected)}`;
  });
  return [`${what} ${incoming}`, ...shares].join("; ");
}

/** @param {string} name @param {number} arrived @param {number} expected */
export function arrivals(name, arrived, expected) {
  if (expected === 1) return `the only contribution to ${name}`;
  return `${name} has ${arrived} of ${expected} contributions`;
}

/**
 * The sum so far, with a place kept for what is to come.
 * @param {Value[]} shares
 * @param {number} expected
 */
export function sumText(shares, expected) {
  const terms = shares.map((share) => share.short);
  const shown = terms.length > 5 ? [...terms.slice(0, 2), "⋯", ...terms.slice(-2)] : terms;
  return shares.length < expected ? `${summed(shown)} + ( … )` : summed(shown);
}

/** Terms as a sum. @param {string[]} terms */
export function summed(terms) {
  return terms.reduce((sum, term) => (term.startsWith("−") ? `${sum} − ${term.slice(1)}` : `${sum} + ${term}`));
}

/**
 * A gradient in one short line: the number, or the mark for why there is none.
 * @param {Gradient} gradient
 */
export function gradientText(gradient) {
  if (gradient.value) return gradient.value.small;
  if (gradient.state === "pending") return PENDING_MARK;
  return gradient.state === "no path" ? "no path" : "";
}

/** @param {number} count @param {string} word */
export const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/**
 * Where a search word is found: boxes of a shape such as 3x4 or (3, 4), or else whose label, name, op or scope holds the
 * word, or else whose source line does.
 * @param {Scene} scene
 * @param {string} word
 * @returns {{ view: string, at: number }[]}
 */
export function search(scene, word) {
  const wanted = word.trim().toLowerCase();
  if (!wanted) return [];
  const found = (/** @type {(scene: Scene, box: Box) => string[]} */ texts) => [...scene.views.values()].flatMap((view) => (
    view.boxes
      .filter((box) => !box.outside && texts(scene, box).some((text) => text.toLowerCase().includes(wanted)))
      .map((box) => ({ view: view.path, at: box.at }))));
  const shape = shapeFrom(wanted);
  const shaped = shape ? found((_, box) => box.tensors.flatMap((number) => (scene.tensors.get(number)?.value.shape === shape ? [wanted] : []))) : [];
  if (shaped.length) return shaped;
  const named = found(namesOfBox);
  if (named.length) return named;
  const places = (/** @type {Box} */ box) => scene.applications.get(box.application)?.place;
  return found((_, box) => [places(box)?.line ?? "", places(box)?.where ?? ""]);
}

/** A shape as values have it, from 3x4, 3×4, 3, 4 or (3, 4); empty if it is none. @param {string} word */
export function shapeFrom(word) {
  const inner = word.replace(/^[([](.*)[)\]]$/, "$1").replace(/,\s*$/, "");
  const several = inner !== word || /\d\s*[x×*,]\s*\d/.test(word);
  return several && /^\d+(\s*[x×*,]\s*\d+)*$/.test(inner) ? `[${(inner.match(/\d+/g) ?? []).join("×")}]` : "";
}

/** @param {Scene} scene @param {Box} box */
function namesOfBox(scene, box) {
  const op = scene.applications.get(box.application)?.op.name ?? "";
  const scope = box.kind === "scope" ? box.key.slice(1) : "";
  return [box.label, box.name, op, scope, ...namesOf(scene, box.tensors), ...box.tensors.map((number) => `%${number}`)];
}

/** Whether a sweep passes on conjugates of the gradients of a value. @param {Value} value */
export const isComplex = (value) => value.dtype.startsWith("complex");

/** The conjugate of a complex number that is written as "1 + 2i". @param {string} text */
export const conjugate = (text) => text.replace(/ ([+−]) (\S+i)$/, (_, sign, part) => ` ${sign === "+" ? "−" : "+"} ${part}`);

/** Python's "(1+2j)", also inside an array, as it is written everywhere else: "1 + 2i". @param {string} text */
export const withI = (text) => text.replace(/\(|\)/g, "").replaceAll("j", "i").replace(/(?<=[\d.nf])[+-](?=[\d.ni])/g, " $& ").replaceAll("-", "−");
