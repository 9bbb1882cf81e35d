// The contract between a widget and the page around it: whose keys are whose, when a widget takes the focus and how it
// gives it back, and what stays in sight while the page scrolls.  docs/explorer.md writes it down.

import { element } from "./dom.js";

/** @typedef {{ get: (name: any) => any, set: (name: any, value: any) => void, save_changes: () => void,
 *   on: (event: any, act: () => void) => void, off: (event: any, act: () => void) => void }} FocusModel */

const MODIFIERS = ["Control", "Meta", "Alt", "AltGraph", "Shift"];
/** JupyterLab leaves alone what happens below an element with this attribute. */
const SUPPRESS = "data-lm-suppress-shortcuts";

/**
 * Whether a key belongs to the host: everything with Ctrl, Alt or the command key, and Shift+Enter, which runs a cell.
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean }} event
 */
export function belongsToHost({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return ctrlKey || metaKey || altKey || (shiftKey && key === "Enter") || MODIFIERS.includes(key);
}

/**
 * Keep the keys pressed in a widget from the host, but for those that belong to it.
 * @param {Element} root
 * @param {AbortSignal} signal
 * @param {(event: KeyboardEvent) => (() => void) | null | undefined | void} action what a key that stays does
 */
export function keepKeys(root, signal, action) {
  root.setAttribute(SUPPRESS, "");
  root.addEventListener("keydown", (given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    const hosts = belongsToHost(event);
    root.toggleAttribute(SUPPRESS, !hosts);
    if (hosts || event.defaultPrevented) return;
    event.stopPropagation();
    const act = action(event);
    if (act) event.preventDefault();
    act?.();
  }, { signal });
}

/**
 * Keys of a field or a list inside a widget.  Other keys go on to what is around.
 * @param {Element} root
 * @param {Record<string, (event: KeyboardEvent) => void>} acts
 */
export function onKeys(root, acts) {
  root.addEventListener("keydown", (given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    const act = belongsToHost(event) ? undefined : acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act(event);
  });
}

/**
 * Take the focus when the widget is shown, if that is what the user waits for: the model's `wants_focus` says so, or the
 * focus is on the cell that has just shown it.  A cell below that has the focus keeps it, because Shift+Enter goes on.
 * @param {FocusModel} model
 * @param {Element} root
 * @param {HTMLElement | SVGElement} target
 * @param {AbortSignal} signal
 */
export function attend(model, root, target, signal) {
  const take = () => {
    const active = root.ownerDocument.activeElement;
    const waited = Boolean(model.get("wants_focus"));
    const inside = active instanceof HTMLElement && active.tabIndex >= 0 && active.contains(root);
    if (!root.ownerDocument.hasFocus() || !(waited || inside)) return;
    target.focus({ preventScroll: true });
    if (!waited) return;
    root.scrollIntoView({ block: "nearest", inline: "nearest" });
    keep(model, { wants_focus: false });
  };
  whenShown(root, signal, take);
  listenTo(model, { "change:wants_focus": () => model.get("wants_focus") && whenShown(root, signal, take) }, signal);
}

/** Act when events of a model happen. @param {any} model @param {Record<string, (...told: any[]) => void>} acts by event @param {AbortSignal} signal */
export function listenTo(model, acts, signal) {
  for (const [event, act] of Object.entries(acts)) {
    model.on(event, act);
    signal.addEventListener("abort", () => model.off(event, act));
  }
}

/** Act when traits of a model change. @param {any} model @param {readonly string[]} traits @param {() => void} act @param {AbortSignal} signal */
export function listenToTraits(model, traits, act, signal) {
  listenTo(model, Object.fromEntries(traits.map((name) => [`change:${name}`, () => act()])), signal);
}

/** Set traits of a model, and let Python know. @param {any} model @param {Record<string, any>} traits */
export function keep(model, traits) {
  for (const [name, value] of Object.entries(traits)) model.set(name, value);
  model.save_changes();
}

/**
 * Follow the pointer until it is released.
 * @param {EventTarget} page @param {AbortSignal} signal @param {(event: PointerEvent) => void} move
 * @param {(cancelled: boolean) => void} [drop]
 */
export function followPointer(page, signal, move, drop) {
  const letGo = new AbortController();
  const options = { signal: AbortSignal.any([signal, letGo.signal]) };
  page.addEventListener("pointermove", (event) => move(/** @type {PointerEvent} */ (event)), options);
  for (const end of ["pointerup", "pointercancel"]) {
    page.addEventListener(end, () => {
      letGo.abort();
      drop?.(end === "pointercancel");
    }, options);
  }
}

/** Act when an element gets a size or another one. @param {Element} root @param {() => void} act @param {AbortSignal} signal */
export function watchSize(root, act, signal) {
  const watcher = new ResizeObserver(act);
  watcher.observe(root);
  signal.addEventListener("abort", () => watcher.disconnect());
}

/**
 * Give the focus back to the cell around a widget, or to the page.
 * @param {Element} root
 */
export function giveBack(root) {
  for (let around = root.parentElement; around; around = around.parentElement) {
    if (around.tabIndex >= 0) return around.focus({ preventScroll: true });
  }
  const active = root.ownerDocument.activeElement;
  if (active instanceof HTMLElement || active instanceof SVGElement) active.blur();
  return undefined;
}

/**
 * What to do before keys work; seen while the focus is elsewhere, and always taking the same room.
 * @param {string} keys those to press first
 */
export const makeHint = (keys) => element("span", { class: "lab-hint" }, `click or press Tab, then ${keys}`);

/**
 * Keep a strip in sight while its widget is scrolled through.  `position: sticky` does so in a plain page, but not in
 * a notebook, whose outputs are scrollers themselves.
 * @param {HTMLElement} strip
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
export function stick(strip, root, signal) {
  whenShown(root, signal, () => {
    for (let around = root.parentElement; around; around = around.parentElement) {
      const scroller = around;
      if (!/auto|scroll/.test(getComputedStyle(scroller).overflowY)) continue;
      scroller.addEventListener("scroll", () => {
        const above = scroller.getBoundingClientRect().top - root.getBoundingClientRect().top - strip.offsetTop;
        const room = root.offsetHeight - strip.offsetTop - strip.offsetHeight;
        const by = Math.round(Math.min(Math.max(above, 0), Math.max(room, 0)));
        strip.style.transform = by ? `translateY(${by}px)` : "";
      }, { signal, passive: true });
    }
  });
}

/** @param {Element} root @param {AbortSignal} signal @param {() => void} act called once, when `root` has a size */
function whenShown(root, signal, act) {
  const done = new AbortController();
  watchSize(root, () => {
    if (!root.getBoundingClientRect().width) return;
    done.abort();
    act();
  }, AbortSignal.any([signal, done.signal]));
}

/** Scroll a list so that a row is seen whole, and never the page. @param {HTMLElement} list @param {HTMLElement} row @param {number} above kept free @param {number} [below] */
export function bringIntoView(list, row, above, below = 0) {
  const [top, bottom] = [row.offsetTop - above, row.offsetTop + row.offsetHeight + below - list.clientHeight];
  if (list.scrollTop > top) list.scrollTop = top;
  else if (list.scrollTop < bottom) list.scrollTop = bottom;
}
