// The contract between a widget and the page around it: whose keys are whose, when a widget takes the focus and how it
// gives it back, and what stays in sight while the page scrolls.  docs/explorer.md writes it down.

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
 * @param {(event: KeyboardEvent) => void} act gets the keys that stay
 */
export function keepKeys(root, signal, act) {
  root.setAttribute(SUPPRESS, "");
  root.addEventListener("keydown", (given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    const hosts = belongsToHost(event);
    root.toggleAttribute(SUPPRESS, !hosts);
    if (hosts || event.defaultPrevented) return;
    event.stopPropagation();
    act(event);
  }, { signal });
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
    model.set("wants_focus", false);
    model.save_changes();
  };
  whenShown(root, signal, take);
  const changed = () => { if (model.get("wants_focus")) whenShown(root, signal, take); };
  model.on("change:wants_focus", changed);
  signal.addEventListener("abort", () => model.off("change:wants_focus", changed));
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
export function makeHint(keys) {
  const made = document.createElement("span");
  made.className = "lab-hint";
  made.textContent = `click or press Tab, then ${keys}`;
  return made;
}

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
  const watcher = new ResizeObserver(() => {
    if (!root.getBoundingClientRect().width) return;
    watcher.disconnect();
    act();
  });
  watcher.observe(root);
  signal.addEventListener("abort", () => watcher.disconnect());
}
