// The keys, in one table that the help shows too.  They work wherever the focus is inside the explorer, fields excepted.

import { element } from "./dom.js";

/** @typedef {{ keys: string[], shown: string, does: string, act: () => void }} Key */

/**
 * Listen to keys, and keep them from the notebook around us.
 * @param {HTMLElement} root
 * @param {Key[]} table
 * @param {AbortSignal} signal
 */
export function listenToKeys(root, table, signal) {
  const acts = new Map(table.flatMap((entry) => entry.keys.map((key) => [key, entry.act])));
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = /** @type {Element} */ (event.target);
    event.stopPropagation();
    if (target.matches("input[type=search], select")) return;
    if (target.matches("button, summary, input, a") && [" ", "Enter"].includes(event.key)) return;
    if (target.matches(".scroller") && ["ArrowUp", "ArrowDown"].includes(event.key)) return;
    const act = acts.get(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  }, { signal });
}

/** @param {Key[]} table */
export function makeHelp(table) {
  const list = element("dl");
  for (const { shown, does } of table) list.append(element("dt", {}, element("kbd", {}, shown)), element("dd", {}, does));
  const made = element("section", { class: "help", "aria-label": "Keys" }, element("h3", {}, "Keys"), list);
  made.hidden = true;
  return made;
}
