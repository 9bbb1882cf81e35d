// Widgets inside a form.  Where the host knows the models of all widgets, it makes the view; elsewhere the form has
// brought the script, the style and the state of each, and a stand-in for its model speaks through the form's own.

/** @typedef {{ model?: string, script?: string, style?: string, state?: Record<string, any> }} Child */
/** @typedef {import("@anywidget/types").AnyModel<any>} Model */
/** @typedef {{ el: HTMLElement, trigger: (event: string) => void, remove: () => void }} View */
/** @typedef {{ get_model: (id: string) => Promise<unknown>, create_view: (model: unknown) => Promise<View> }} Manager */

/**
 * Show a widget in its slot.
 * @param {Model} model of the form
 * @param {HTMLElement} slot
 * @param {number} place among the parts of the form
 * @param {Child} child
 * @param {AbortSignal} stop
 */
export async function embed(model, slot, place, child, stop) {
  try {
    if (child.model) await embedView(model, slot, child.model, stop);
    else await embedScript(model, slot, place, child, stop);
  } catch (error) {
    slot.textContent = `This part cannot be shown here: ${error}`;
  }
}

/** @param {Model} model @param {HTMLElement} slot @param {string} id @param {AbortSignal} stop */
async function embedView(model, slot, id, stop) {
  const manager = /** @type {Manager} */ (/** @type {unknown} */ (model.widget_manager));
  const view = await manager.create_view(await manager.get_model(id));
  if (stop.aborted) return view.remove();
  slot.append(view.el);
  view.trigger("displayed");
  return stop.addEventListener("abort", () => view.remove());
}

/** @param {Model} model @param {HTMLElement} slot @param {number} place @param {Child} child @param {AbortSignal} stop */
async function embedScript(model, slot, place, child, stop) {
  slot.append(Object.assign(document.createElement("style"), { textContent: child.style }));
  const url = URL.createObjectURL(new Blob([child.script ?? ""], { type: "text/javascript" }));
  const widget = (await import(url)).default;
  URL.revokeObjectURL(url);
  if (stop.aborted) return;
  const el = slot.appendChild(document.createElement("div"));
  const end = await widget.render({ model: spokenFor(model, place, child.state ?? {}, stop), el });
  if (typeof end === "function") stop.addEventListener("abort", end);
}

/**
 * The model of a widget that a form carries.
 * @param {Model} model of the form
 * @param {number} place
 * @param {Record<string, any>} state
 * @param {AbortSignal} stop
 */
export function spokenFor(model, place, state, stop) {
  /** @type {Map<string, Set<(...given: any[]) => void>>} */
  const listeners = new Map();
  /** @type {Record<string, any>} */
  let changed = {};
  const fire = (/** @type {string} */ event, /** @type {any[]} */ ...given) => [...(listeners.get(event) ?? [])].forEach(act => act(...given));
  const put = (/** @type {string} */ name, /** @type {any} */ value) => {
    const same = state[name] === value || JSON.stringify(state[name]) === JSON.stringify(value);
    state[name] = value;
    if (!same || value instanceof DataView) fire(`change:${name}`);
    return !same;
  };
  const hear = (/** @type {any} */ said, /** @type {DataView[]} */ buffers) => {
    if (said?.place !== place) return;
    for (const [name, value] of Object.entries(said.changes ?? {})) put(name, value);
    if ("content" in said) fire("msg:custom", said.content, buffers ?? []);
  };
  model.on("msg:custom", hear);
  stop.addEventListener("abort", () => model.off("msg:custom", hear));
  return {
    get: (/** @type {string} */ name) => state[name],
    set(/** @type {string} */ name, /** @type {any} */ value) {
      if (put(name, value)) changed[name] = value;
    },
    save_changes() {
      if (Object.keys(changed).length) model.send({ place, changes: changed });
      changed = {};
    },
    on: (/** @type {string} */ event, /** @type {(...given: any[]) => void} */ act) => void listeners.set(event, (listeners.get(event) ?? new Set()).add(act)),
    off: (/** @type {string} */ event, /** @type {(...given: any[]) => void} */ act) => void listeners.get(event)?.delete(act),
    send: (/** @type {unknown} */ content, /** @type {unknown} */ _, /** @type {any} */ buffers) => model.send({ place, content }, undefined, buffers),
  };
}
