// The lock: a step of a pass is shown once the numbers that it computes have been typed.  In forward mode a step makes
// one tangent, in a backward pass it delivers to each input.

import { element, setText } from "../dom.js";
import { keep, onKeys } from "../host.js";
import { readings } from "../numbers.js";
import { factor, numeral } from "./card.js";
import { formula } from "./dom.js";
import { Part } from "./part.js";
import { bracketed, namesOf } from "./words.js";

/** @import { Scene, Step, Flow } from "./scene.js" */
/** @import { State } from "./fold.js" */
/** @typedef {{ flow: Flow, name: string, value: number, shown: string }} Blank */

/**
 * The numbers that a step computes; none of arrays, and none if one is not finite.
 * @param {Scene} scene
 * @param {number} step
 * @returns {Blank[]}
 */
export function blanksOf(scene, step) {
  const visit = scene.steps[step - 1];
  if (!visit || visit.sweep < 0) return [];
  const last = new Map(visit.flows.map((flow) => [visit.tangent ? flow.input : flow.position, flow]));
  const blanks = [...last.values()].map((flow) => {
    const value = visit.tangent ? flow.total : flow.outgoing;
    const number = value.shape ? NaN : Number.parseFloat(value.full.replace(/−/g, "-"));
    return { flow, name: scene.tensors.get(flow.input)?.name ?? "", value: number, shown: value.short };
  });
  return blanks.every(({ value }) => Number.isFinite(value)) ? blanks : [];
}

/**
 * Whether what was typed is a number, up to 0.5 %; up to 1 % if it is the number rounded to two digits or more, as 0.33 is.
 * @param {string} text @param {number} value
 */
export function agrees(text, value) {
  return readings(text).some((number) => isNear(number, text.trim(), value));
}

/** @param {number} number @param {string} text as it was typed @param {number} value */
function isNear(number, text, value) {
  const [size, off] = [Math.abs(value), Math.abs(number - value)];
  if (off <= Math.max(0.005 * size, 1e-6)) return true;
  const [, before, after = ""] = /^[-+−]?(\d*)(?:[.,](\d*))?$/.exec(text) ?? [];
  const digits = `${before ?? ""}${after}`.replace(/^0+/, "").length;
  return digits > 1 && off <= 0.01 * size && off <= 0.5000001 * 10 ** -after.length;
}

/** Asks for the next step in place of the card, if the model says so. */
export class Asker extends Part {
  asks = false;

  /** The last step that may be shown. */
  limit() {
    const { last } = this.scene;
    if (!this.view.model.get("ask")) return last;
    let step = Number(this.view.model.get("solved")) || 0;
    while (step < last && !blanksOf(this.scene, step + 1).length) step += 1;
    return step;
  }

  /** Show the question, if one is asked, and return its sentence. @param {State} state */
  paint(state) {
    if (!this.asks || state.step !== this.limit() || state.step === this.scene.last) return "";
    this.view.transport.stop();
    const step = state.step + 1;
    const now = this.scene.steps[step - 1];
    const application = this.scene.applications.get(now.application);
    const blanks = blanksOf(this.scene, step);
    const words = (/** @type {string} */ name) => (now.tangent ? `the tangent of ${name}` : `what goes to ${name}`);
    const fields = blanks.map(({ name }) => element("input", {
      type: "text", inputmode: "decimal", size: 8, autocomplete: "off", "aria-label": words(name),
    }));
    const said = element("p", { class: "sentence", role: "status" });
    const check = element("button", { type: "submit" }, "Check");
    const tell = element("button", { type: "button", onclick: () => this.tell() }, "Show ", element("kbd", {}, "F3"));
    const form = element("form", { class: "asks" }, ...this.rows(now, blanks, fields), said, element("p", {}, check, tell));
    const judge = () => {
      const wrong = blanks.findIndex(({ value }, at) => !agrees(fields[at].value, value));
      if (wrong < 0) return this.open(step);
      fields[wrong].select();
      fields[wrong].focus();
      const what = words(blanks[wrong].name);
      return setText(said, readings(fields[wrong].value).length ? `Not yet: that is not ${what}.` : `Not yet: for ${what} type a number, like 2.5 or −0.25.`);
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); judge(); });
    onKeys(form, { F3: () => this.tell() });
    const heading = element("h3", {}, element("span", { class: "op" }, application?.op.name ?? ""), element("span", { class: "symbol" }, application?.op.symbol ?? ""));
    this.view.card.replaceChildren(element("p", { class: "counter", "data-phase": "backward" }, `Step ${step} of ${this.scene.last} · your turn`), heading, form);
    fields[0].focus({ preventScroll: true });
    return `Step ${step}, ${application?.op.name ?? ""}: type ${blanks.map(({ name }) => words(name)).join(" and ")}.`;
  }

  /** What is multiplied, without the results. @param {Step} now @param {Blank[]} blanks @param {HTMLInputElement[]} fields */
  rows(now, blanks, fields) {
    const application = this.scene.applications.get(now.application);
    const names = namesOf(this.scene, application?.inputs ?? []);
    return now.flows.map((flow, at) => {
      const incoming = (now.tangent ? now.incoming[flow.position] : now.incoming.find((value) => value !== null)) ?? null;
      const local = application?.op.locals[flow.position] ?? "";
      const rule = element("span", { class: "number local" }, local ? formula(local, bracketed(names)) : "local");
      const blank = blanks.findIndex((one) => one.flow === flow);
      const more = now.tangent && blank < 0;
      return element(
        "div", { class: "product" },
        factor(now.tangent && at ? "+" : "", numeral(incoming, "backward", "incoming"), now.tangent ? `tangent of ${names[flow.position]}` : "incoming"),
        factor("×", rule, "local"),
        ...(more ? [] : [factor("=", fields[blank], now.tangent ? "tangent of " : "to ", element("strong", {}, blanks[blank].name))]),
      );
    });
  }

  /** Show the numbers that are asked, which shows the step. */
  tell() {
    const limit = this.limit();
    if (this.view.model.get("ask") && limit < this.scene.last) this.open(limit + 1);
  }

  /** @param {number} step */
  open(step) {
    this.asks = false;
    keep(this.view.model, { solved: step, step });
    this.view.back();
  }
}
