// What belongs together: which items a mark stands for, and where keys lead.  Pure, so that node can test it.

/** @typedef {[text: string, items: number[], part: string]} RowFacts */
/**
 * @typedef {{
 *   title: string, summary: string, why: string, reasons: string[][], cut: string, drawing: string, absent: string, sentences: string[],
 *   ops: number[], ins: number[][], loops: [title: string, items: number[]][], program: RowFacts[], source: RowFacts[],
 * }} ProgramFacts
 */

export const NOTHING = -1;

/**
 * The items that a mark stands for: one, or all of a loop.
 * @param {ProgramFacts} facts
 * @param {number} at
 * @returns {number[]}
 */
export function itemsOf(facts, at) {
  if (at < 0) return [];
  const loop = facts.loops[at - facts.ins.length];
  return loop ? loop[1] : [at];
}

/**
 * The mark that some items mean: an item, or the loop that they are; nothing if there are none.
 * @param {ProgramFacts} facts
 * @param {number[]} items
 */
export function markOf(facts, items) {
  if (items.length < 2) return items[0] ?? NOTHING;
  const loop = facts.loops.findIndex(([, members]) => members.length === items.length && members.includes(items[0]));
  return loop < 0 ? items[0] : facts.ins.length + loop;
}

/** The loop of an item, -1 for none. @param {ProgramFacts} facts @param {number} item */
export const loopOf = (facts, item) => facts.loops.findIndex(([, members]) => members.includes(item));

/**
 * The next op, or the one before; from nothing the first or the last.
 * @param {ProgramFacts} facts
 * @param {number} at
 * @param {1 | -1} way
 */
export function walked(facts, at, way) {
  const from = itemsOf(facts, at);
  if (!facts.ops.length) return NOTHING;
  if (!from.length) return way > 0 ? facts.ops[0] : facts.ops[facts.ops.length - 1];
  const edge = way > 0 ? from[from.length - 1] : from[0];
  const next = way > 0 ? facts.ops.find((op) => op > edge) : facts.ops.filter((op) => op < edge).pop();
  return next ?? (way > 0 ? facts.ops[facts.ops.length - 1] : facts.ops[0]);
}

/**
 * What uses an item, or what it is made of; where there is nothing, where one is.
 * @param {ProgramFacts} facts
 * @param {number} at
 * @param {1 | -1} way
 */
export function followed(facts, at, way) {
  const from = itemsOf(facts, at);
  const outside = (/** @type {number} */ item) => !from.includes(item);
  if (way < 0) return from.flatMap((item) => facts.ins[item]).find(outside) ?? at;
  const next = facts.ins.findIndex((ins, item) => outside(item) && ins.some((one) => from.includes(one)));
  return next < 0 ? at : next;
}

/** The next loop as a mark; where there is none, where one is. @param {ProgramFacts} facts @param {number} at */
export function nextLoop(facts, at) {
  const count = facts.loops.length;
  if (!count) return at;
  const here = at - facts.ins.length;
  return facts.ins.length + (here >= 0 ? (here + 1) % count : 0);
}
