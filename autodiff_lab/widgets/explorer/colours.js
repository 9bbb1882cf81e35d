// What the boxes are coloured by: a measure, or which of two passes come to them; a short text above each says it too.

import { drawing } from "../dom.js";
import { levels, measured, writeMeasure } from "./measures.js";

/** @import { Box, Scene } from "./scene.js" */
/** @import { BoxPicture } from "./boxes.js" */
/** @typedef {(box: Box) => { text: string, reach: string }} Reached */

/** The colours of one graph. */
export class Colours {
  /** @param {Scene} scene @param {SVGSVGElement} canvas */
  constructor(scene, canvas) {
    this.scene = scene;
    this.canvas = canvas;
    /** The name of the measure; empty for none. */
    this.measure = "";
    /** @type {Reached | null} while two passes are compared */
    this.reached = null;
    /** @type {Box[]} */
    this.boxes = [];
    /** @type {BoxPicture[]} */
    this.pictures = [];
  }

  /** Colour what was just drawn, or by something else. @param {Partial<Pick<Colours, "boxes" | "pictures" | "measure" | "reached">>} changes */
  show(changes) {
    Object.assign(this, changes);
    const { measure, reached } = this;
    this.canvas.classList.toggle("measured", measure !== "" && !reached);
    this.canvas.classList.toggle("compared", reached !== null);
    this.canvas.dataset.measure = measure;
    const numbers = this.boxes.map((box) => (measure ? measured(this.scene, measure, box) : null));
    levels(numbers).forEach((level, at) => {
      const { group } = this.pictures[at];
      const number = numbers[at];
      const found = reached && this.boxes[at].kind !== "frame" ? reached(this.boxes[at]) : null;
      group.dataset.level = String(level);
      group.dataset.reach = found?.reach ?? "";
      group.querySelector(".measure")?.remove();
      const text = reached ? found?.text : number !== null && writeMeasure(measure, number);
      if (text) group.append(drawing("text", { class: "measure", x: this.boxes[at].width, y: -4 }, text));
    });
  }
}
