// The label beside the pointer, or beside the probe that the arrow keys move.
// SPDX-License-Identifier: Apache-2.0
import {setText} from "./text.js";

const GAP = 14; // px between the pointer and the label

export class Tip {
  // stage: positioned element that contains the label; canvas: origin of the pointer's coordinates
  constructor(stage, canvas) {
    this.stage = stage;
    this.canvas = canvas;
    this.box = document.createElement("p");
    this.box.className = "tip";
    this.box.hidden = true;
    this.box.setAttribute("aria-live", "polite");
    stage.append(this.box);
  }

  // Shows a text at x, y of the canvas, CSS px, on the side that has room. Empty: hides it.
  show(text, x, y) {
    this.box.hidden = !text;
    setText(this.box, text);
    if (!text)
      return;
    const stage = this.stage.getBoundingClientRect(), canvas = this.canvas.getBoundingClientRect();
    const {offsetWidth: width, offsetHeight: height} = this.box;
    const left = canvas.left - stage.left + x, top = canvas.top - stage.top + y, most = this.stage.clientWidth - width - 2;
    this.box.style.left = `${Math.max(2, Math.min(left + GAP, most))}px`;
    this.box.style.top = `${top - height - GAP > 0 ? top - height - GAP : Math.min(top + GAP, this.stage.clientHeight - height - 2)}px`;
  }
}
