// What the plots of lessons share: they are drawn again when a trait or the width changes, have keys, and take the focus.

import { attend, keep, listenToTraits, makeHint, watchSize } from "../host.js";
import { addLive, make } from "./elements.js";
import { listenToPlotKeys } from "./gestures.js";

/** @template {object} T @typedef {import("@anywidget/types").AnyModel<T>} Model */

/**
 * One view of a model; a plot says how it is drawn, and what keys do.
 * @template {object} T the traits of the model
 */
export class Stage {
  /** @param {Model<T>} model @param {HTMLElement} root @param {AbortSignal} stop */
  constructor(model, root, stop) {
    this.model = model;
    this.root = root;
    this.stop = stop;
  }

  /** Listen, and draw for the first time. @param {readonly string[]} traits @param {HTMLElement | SVGElement} [focus] what takes the focus */
  begin(traits, focus) {
    const { root, stop } = this;
    const model = /** @type {Model<any>} */ (this.model);
    listenToPlotKeys(root, event => this.action(event), stop);
    listenToTraits(model, traits, () => this.changed(), stop);
    watchSize(root, () => this.draw(), stop);
    if (focus) attend(model, root, focus, stop);
    this.changed();
  }

  /** A line that is read aloud when it changes. */
  addSentence() {
    return addLive(this.root);
  }

  /** What keys do, and when they work. @param {string} words @param {string} first */
  addKeys(words, first) {
    make(this.root, "p", "keys", `${words} `).append(makeHint(first));
  }

  /** @param {string} name @param {unknown} value */
  set(name, value) {
    keep(this.model, { [name]: value });
    this.draw();
  }

  changed() {
    this.draw();
  }

  draw() {}

  /** @param {KeyboardEvent} _event @returns {(() => void) | null} */
  action(_event) {
    return null;
  }
}

/**
 * The module of a widget that shows one view.
 * @param {new (model: any, root: HTMLElement, stop: AbortSignal) => unknown} View
 * @param {string} name the classes of its element
 * @param {string} [family] and those of its kind
 */
export const staged = (View, name, family = "lab-plotting") => ({
  /** @param {{ model: Model<any>, el: HTMLElement }} context */
  render({ model, el }) {
    const stop = new AbortController();
    new View(model, make(el, "div", `autodiff-lab ${family} ${name}`), stop.signal);
    return () => stop.abort();
  },
});
