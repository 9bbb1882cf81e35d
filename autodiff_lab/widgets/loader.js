// What a widget in a notebook carries in place of its script: it takes the script and the style from the one model that
// holds them for all widgets of its kind, so that the file of a notebook has them once.

/** @typedef {{ script: string, style: string }} Texts */
/** @typedef {import("@anywidget/types").AnyModel<any>} Model */
/** @typedef {{ get: (name: keyof Texts) => string, lab_module?: Promise<any> }} Library */

/** Load the module of a library, once, and put its style into the page. @param {string} name @param {Library} library */
async function load(name, library) {
  const id = `autodiff-lab-${name}`;
  const style = document.getElementById(id) ?? document.head.appendChild(Object.assign(document.createElement("style"), { id }));
  const text = library.get("style");
  if (style.textContent !== text) style.textContent = text;
  const url = URL.createObjectURL(new Blob([library.get("script")], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {{ model: Model, el: HTMLElement }} context */
async function render(context) {
  const { model, el } = context;
  const manager = /** @type {{ get_model: (id: string) => Promise<unknown> }} */ (/** @type {unknown} */ (model.widget_manager));
  const library = /** @type {Library} */ (await manager.get_model(model.get("library")));
  library.lab_module ??= load(model.get("_anywidget_id"), library);
  const widget = (await library.lab_module).default;
  el.classList.toggle("lab-pictured", Boolean(model.get("pictured")));
  return widget.render(context);
}

export default { render };
