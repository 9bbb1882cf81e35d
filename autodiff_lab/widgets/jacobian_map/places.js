// Where a key leads, and where the frames then stand: no element is touched here, so that all of it can be tested.

/**
 * @typedef {{
 *   size: [number, number], cell: number, title: string,
 *   panels: { markup: string, width: number, height: number }[],
 *   rows: number[][], columns: number[][], fixed: number[][], sentences: string[],
 * }} MapFacts
 * @typedef {{ row: number, column: number }} Entry
 */

/** @type {Record<string, (entry: Entry, size: [number, number]) => Entry>} */
const MOVES = {
  ArrowRight: ({ row, column }) => ({ row, column: column + 1 }),
  ArrowLeft: ({ row, column }) => ({ row, column: column - 1 }),
  ArrowDown: ({ row, column }) => ({ row: row + 1, column }),
  ArrowUp: ({ row, column }) => ({ row: row - 1, column }),
  Home: ({ row }) => ({ row, column: 0 }),
  End: ({ row }, size) => ({ row, column: size[1] - 1 }),
};

/**
 * The entry that a key leads to, inside the table; null for a key that means nothing here.
 * @param {Entry} entry
 * @param {string} key
 * @param {[number, number]} size
 * @returns {Entry | null}
 */
export function moved(entry, key, size) {
  const move = Object.hasOwn(MOVES, key) ? MOVES[key] : null;
  return move ? inside(move(entry, size), size) : null;
}

/** @param {Entry} entry @param {[number, number]} size @returns {Entry} */
export function inside(entry, size) {
  const held = (/** @type {number} */ index, /** @type {number} */ count) => Math.max(0, Math.min(index, count - 1));
  return { row: held(entry.row, size[0]), column: held(entry.column, size[1]) };
}

/**
 * The cell of the product that belongs to an entry of the table, by its part; null where there is none.
 * @param {MapFacts} facts
 * @param {Entry} entry
 * @param {string} role "row": the cotangent, "column": the result, "entry": the factor that stays fixed
 * @returns {[number, number] | null}
 */
export function partner(facts, entry, role) {
  const at = role === "row" ? facts.rows[entry.row] : role === "column" ? facts.columns[entry.column]
    : facts.fixed[entry.row * facts.size[1] + entry.column];
  return at.length === 2 ? [at[0], at[1]] : null;
}

/**
 * The entry of the table that a press on a cell of the drawing means, from where one is now.
 * @param {MapFacts} facts
 * @param {Entry} entry
 * @param {string} role
 * @param {number} row
 * @param {number} column
 * @returns {Entry}
 */
export function pressed(facts, entry, role, row, column) {
  const same = (/** @type {number[]} */ index) => index[0] === row && index[1] === column;
  if (role === "row") return { row: facts.rows.findIndex(same), column: entry.column };
  if (role === "column") return { row: entry.row, column: facts.columns.findIndex(same) };
  if (role === "entry") {
    const found = facts.fixed.findIndex(same);
    return { row: Math.floor(found / facts.size[1]), column: found % facts.size[1] };
  }
  return { row, column };
}
