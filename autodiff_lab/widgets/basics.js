// What the scripts of several widgets compute with.  Pure: no DOM.

/** How many elements an array has. @param {number[]} shape */
export const sizeOf = (shape) => shape.reduce((size, length) => size * length, 1);

/** The index of an element by its place in row-major order. @param {number[]} shape @param {number} place */
export function indexOf(shape, place) {
  return shape.map((length, axis) => Math.floor(place / sizeOf(shape.slice(axis + 1))) % length);
}

/** A function of an object that is computed once for each. @template {object} K @template V @param {(key: K) => V} of @returns {(key: K) => V} */
export function remembered(of) {
  /** @type {WeakMap<K, V>} */
  const known = new WeakMap();
  return (key) => {
    if (!known.has(key)) known.set(key, of(key));
    return /** @type {V} */ (known.get(key));
  };
}
