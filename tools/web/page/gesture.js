// Gestures on a canvas that zooms and moves: wheel, drag, two fingers, double click, and the place of the pointer.
// SPDX-License-Identifier: Apache-2.0
const STEP = 1.0015; // zoom of one px of the wheel
const STILL_PX = 4; // a pointer that moves less than this makes no drag

export class Gesture {
  // The object `on` has functions zoom(factor, x, y), move(x, y, event), point([x, y] or null) and reset(), in CSS px of
  // the canvas. move gets the distance since its last call. An optional twist(x, y) gets the distance of a drag with two
  // fingers or the right button.
  constructor(canvas, on) {
    Object.assign(this, {canvas, on, down: new Map(), way: 0});
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      on.zoom(STEP ** -(e.deltaMode ? 16 * e.deltaY : e.deltaY), e.offsetX, e.offsetY);
    }, {passive: false});
    canvas.addEventListener("pointerdown", (e) => this.begin(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(name, (e) => this.end(e));
    canvas.addEventListener("pointerleave", (e) => e.pointerType === "mouse" && on.point(null));
    canvas.addEventListener("dblclick", () => on.reset());
    canvas.addEventListener("contextmenu", (e) => on.twist && e.preventDefault());
  }

  begin(e) {
    this.down.set(e.pointerId, [e.offsetX, e.offsetY]);
    this.way = 0;
    try {
      this.canvas.setPointerCapture(e.pointerId);
    } catch { /* the pointer has gone already */ }
    this.on.point([e.offsetX, e.offsetY]);
  }

  // Returns the centre of all pointers that are down, and their distance from it.
  spread() {
    const all = [...this.down.values()], mean = (i) => all.reduce((sum, at) => sum + at[i], 0) / all.length;
    const [x, y] = [mean(0), mean(1)];
    return [x, y, all.reduce((sum, at) => sum + Math.hypot(at[0] - x, at[1] - y), 0) / all.length];
  }

  move(e) {
    const before = this.down.get(e.pointerId), many = this.down.size;
    if (!before)
      return this.on.point([e.offsetX, e.offsetY]);
    const [x0, y0, r0] = this.spread();
    this.down.set(e.pointerId, [e.offsetX, e.offsetY]);
    const [x, y, r] = this.spread();
    this.way += Math.hypot(e.offsetX - before[0], e.offsetY - before[1]);
    if (this.way < STILL_PX)
      return;
    if (many > 1 && r0 > 0 && r > 0)
      this.on.zoom(r / r0, x, y);
    const other = many > 1 || (e.buttons & 2) !== 0 || e.shiftKey;
    (other && this.on.twist ? this.on.twist : this.on.move)(x - x0, y - y0);
    this.on.point(e.pointerType === "mouse" ? null : [e.offsetX, e.offsetY]);
  }

  end(e) {
    this.down.delete(e.pointerId);
    if (e.pointerType !== "mouse" && this.way >= STILL_PX)
      this.on.point(null);
  }
}
