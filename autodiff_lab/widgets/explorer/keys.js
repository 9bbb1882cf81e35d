// The keys, in one table that the help shows too.  They work wherever the focus is inside the explorer, fields excepted.

import { element } from "../dom.js";
import { keepKeys } from "../host.js";

/** @typedef {{ keys: string[], shown: string, does: string, act: () => void, menu?: string }} Key `menu` is its entry there */

/**
 * Listen to keys; those of the notebook around us go on to it.
 * @param {HTMLElement} root
 * @param {Key[]} table
 * @param {AbortSignal} signal
 */
export function listenToKeys(root, table, signal) {
  const acts = new Map(table.flatMap((entry) => entry.keys.map((key) => [key, entry.act])));
  keepKeys(root, signal, (event) => {
    const target = /** @type {Element} */ (event.target);
    // Who is asked for a number may still ask for the keys: no number has a question mark.
    if (target.matches("input[type=search], input.cell, .asks input, select") && !(event.key === "?" && target.matches(".asks input"))) return null;
    if (target.matches("button, summary, input, a") && [" ", "Enter"].includes(event.key)) return null;
    if (target.matches(".card") && ["ArrowUp", "ArrowDown"].includes(event.key)) return null;
    return acts.get(`${event.shiftKey ? "Shift+" : ""}${event.key}`) ?? acts.get(event.key);
  });
}

/** @param {Key[]} table */
export function makeHelp(table) {
  const list = table.flatMap(({ shown, does }) => [element("dt", {}, element("kbd", {}, shown)), element("dd", {}, does)]);
  return element("section", { class: "help", "aria-label": "Keys", hidden: true }, element("h3", {}, "Keys"), element("dl", {}, ...list));
}
