// What stands in for the kernel in an exported page: a model that keeps its state here, with the methods that widgets use.

import { unpacked } from "./unpack.js";

/**
 * The state of the widget, which the page holds as JSON or, if that is long, as base64 of its gzip.
 * @param {Element} holder
 * @returns {Promise<Record<string, any>>}
 */
export async function readState(holder) {
  return JSON.parse(holder.getAttribute("type") === "application/json" ? (holder.textContent ?? "") : await unpacked(holder));
}

/**
 * @param {Record<string, any>} state
 * @returns {any}
 */
export function standInModel(state) {
  /** @type {Map<string, Set<() => void>>} */
  const listeners = new Map();
  return {
    get: (/** @type {string} */ name) => state[name],
    set(/** @type {string} */ name, /** @type {any} */ value) {
      if (state[name] === value) return;
      state[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
    on(/** @type {string} */ event, /** @type {() => void} */ listener) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
    },
    off(/** @type {string} */ event, /** @type {() => void} */ listener) {
      listeners.get(event)?.delete(listener);
    },
    save_changes() {},
    send() {},
  };
}
