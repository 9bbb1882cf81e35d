// A form: text, fields and a button, and widgets below them.  Text is set as text; only `markup` is parsed, and that
// is written by the package.

import { giveBack, keepKeys, listenTo } from "../host.js";
import { make } from "../plotting/elements.js";
import { embed } from "./children.js";

/** @typedef {import("./children.js").Child & { kind: string, text: string, options?: string[], hint?: string, label?: string }} Part */
/** @typedef {{ parts: Part[], values: string[], button: string, tip: string, note: string, disabled: boolean,
 *   submitted: { values?: string[], press?: number } }} Traits */
/** @typedef {{ read: () => string, write: (value: string) => void, disable: (is: boolean) => void }} Field */

const PATIENCE = 5000;
const NO_ANSWER = "No answer yet. If nothing is running, this page has no kernel: run the notebook, then try again.";
let forms = 0;

/** @type {import("@anywidget/types").Render<Traits>} */
function render({ model, el }) {
  const stop = new AbortController();
  const view = new FormView(model, make(el, "div", "autodiff-lab lab-form"), stop.signal);
  return () => {
    view.clear();
    stop.abort();
  };
}

class FormView {
  /** @param {import("@anywidget/types").AnyModel<Traits>} model @param {HTMLElement} root @param {AbortSignal} stop */
  constructor(model, root, stop) {
    this.model = model;
    this.id = `lab-form-${forms += 1}`;
    this.column = make(root, "div", "column");
    this.note = make(root, "div", "note");
    this.note.setAttribute("role", "status");
    this.inner = new AbortController();
    /** @type {Field[]} */
    this.fields = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined;
    keepKeys(root, stop, event => {
      if (event.key === "Escape") giveBack(root);
      if (event.key !== "Enter" || event.isComposing || !(event.target instanceof HTMLInputElement)) return;
      event.preventDefault();
      this.submit();
    });
    const events = { "change:parts": () => this.draw(), "change:values": () => this.write(), "change:note": () => this.say(model.get("note")),
                     "change:disabled": () => this.close(), "change:button": () => this.close() };
    listenTo(model, events, stop);
    this.draw();
    this.say(model.get("note"));
  }

  clear() {
    clearTimeout(this.waiting);
    this.inner.abort();
  }

  draw() {
    this.clear();
    this.inner = new AbortController();
    this.column.replaceChildren();
    this.fields = [];
    /** @type {HTMLElement | null} */
    let row = null;
    const parts = this.model.get("parts");
    const named = parts.some(part => part.kind === "question") ? `${this.id}-question` : "";
    parts.forEach((part, place) => {
      if (part.kind === "question") make(this.column, "div", "question", part.text).id = named;
      else if (part.kind === "markup") make(this.column, "div", "markup").innerHTML = part.text;
      else if (part.kind === "widget") embed(this.model, make(this.column, "div", "child"), place, part, this.inner.signal);
      else {
        row ??= make(this.column, "div", "row");
        if (part.kind === "text") make(row, "span", "words", part.text);
        else if (part.kind === "field") this.addField(row, part, named);
        else this.addChoices(row, part, named);
      }
    });
    this.button = this.model.get("button") ? make(row ?? this.column, "button") : null;
    if (this.button) this.button.type = "button";
    this.button?.addEventListener("click", () => this.submit(), { signal: this.inner.signal });
    this.write();
    this.close();
  }

  /** @param {HTMLElement} row @param {Part} part @param {string} named */
  addField(row, part, named) {
    const label = make(row, "label", "", part.text);
    const field = make(label, "input");
    Object.assign(field, { type: "text", placeholder: part.hint ?? "", autocomplete: "off", spellcheck: false });
    if (part.label) field.setAttribute("aria-label", part.label);
    else if (!part.text && named) field.setAttribute("aria-labelledby", named);
    else if (named) field.setAttribute("aria-describedby", named);
    this.fields.push({ read: () => field.value, write: value => { field.value = value; }, disable: is => { field.disabled = is; } });
  }

  /** @param {HTMLElement} row @param {Part} part @param {string} named */
  addChoices(row, part, named) {
    row.classList.add("choices");
    const group = make(row, "div", "group");
    group.setAttribute("role", "radiogroup");
    if (named) group.setAttribute("aria-labelledby", named);
    const boxes = (part.options ?? []).map(option => {
      const label = make(group, "label");
      const box = make(label, "input");
      Object.assign(box, { type: "radio", name: `${this.id}-${this.fields.length}`, value: option });
      make(label, "span", "", option);
      return box;
    });
    this.fields.push({
      read: () => boxes.find(box => box.checked)?.value ?? "",
      write: value => boxes.forEach(box => { box.checked = box.value === value; }),
      disable: is => boxes.forEach(box => { box.disabled = is; }),
    });
  }

  submit() {
    if (this.model.get("disabled") || !this.model.get("button")) return;
    const values = this.fields.map(field => field.read());
    this.model.set("values", values);
    this.model.set("submitted", { values, press: (this.model.get("submitted").press ?? 0) + 1 });
    this.model.save_changes();
    clearTimeout(this.waiting);
    this.say("");
    this.waiting = setTimeout(() => this.say(NO_ANSWER), PATIENCE);
  }

  /** Show the values of the model, leaving alone a field that holds its value already. */
  write() {
    this.model.get("values").forEach((value, at) => { if (this.fields[at]?.read() !== value) this.fields[at]?.write(value); });
  }

  close() {
    clearTimeout(this.waiting);
    const closed = this.model.get("disabled");
    for (const field of this.fields) field.disable(closed);
    if (!this.button) return;
    this.button.textContent = this.model.get("button");
    this.button.title = this.model.get("tip");
    this.button.disabled = closed;
  }

  /** @param {string} sentence */
  say(sentence) {
    clearTimeout(this.waiting);
    this.note.textContent = sentence;
  }
}

export default { render };
