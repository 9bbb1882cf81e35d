// The sound of a step, off until asked for: a short tone whose pitch follows the norm of the value that an op makes, or,
// backward, of the gradient of that value.

import { Part } from "./part.js";
import { clamp } from "./viewport.js";

/** @import { State } from "./fold.js" */

/** Tones of one view; browsers allow them once a key was pressed. */
export class Sound extends Part {
  /** @type {AudioContext | null} */
  context = null;

  toggle() {
    void this.context?.close();
    this.context = this.context ? null : new AudioContext();
    this.view.say(this.context ? "Sound on: the larger the norm of the value or gradient, the higher the tone." : "Sound off.");
  }

  /** An octave for a factor of four, 440 Hz for a norm of 1. @param {State} state */
  play({ now }) {
    const backward = (now?.sweep ?? -1) >= 0;
    const made = this.scene.applications.get(now?.application ?? -1)?.outputs[0] ?? -1;
    const norm = this.scene.measures[backward ? "gradient norm" : "value norm"]?.[made];
    if (!this.context || !norm) return;
    const tone = new OscillatorNode(this.context, { type: backward ? "triangle" : "sine", frequency: clamp(440 * Math.sqrt(norm), 110, 1760) });
    const fade = new GainNode(this.context, { gain: 0.2 });
    fade.gain.setTargetAtTime(0, this.context.currentTime + 0.05, 0.05);
    tone.connect(fade).connect(this.context.destination);
    tone.start();
    tone.stop(this.context.currentTime + 0.3);
  }
}
