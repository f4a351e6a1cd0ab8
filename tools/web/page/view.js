// Shows the camera's picture with stixels over it, as stixelctl snapshot draws them, and a probe that measures.
// SPDX-License-Identifier: Apache-2.0
import {CLASS, DISTANCE, FAR_M, NEAR_M, FAR_PART, NEAR_PART} from "./palette.js";
import {KIND, ROAD_NONE} from "./layout.js";
import {groundDisparity} from "./wire.js";

const WORDS = Object.keys(KIND);
// weights of the colour, 0..1: over a picture, and without a picture below
const OVER = {ground: 0.24, object: 0.59, sky: 0.36}, ALONE = {ground: 0.42, object: 0.92, sky: 0.42};
const DARK = [18, 20, 26];

// Returns the ends of the scale, px of disparity.
export function scaleOf(frame) {
  const fb = frame.fx * frame.baseline;
  return fb > 0 ? {near: fb / NEAR_M, far: fb / FAR_M, fb} : {near: frame.disparities * NEAR_PART, far: frame.disparities * FAR_PART, fb: 0};
}

export function distanceColour(scale, disparity) {
  const place = disparity > scale.far ? Math.log(disparity / scale.far) / Math.log(scale.near / scale.far) : 0;
  return DISTANCE[Math.round(255 * Math.min(1, place))];
}

// Returns the marks of the legend at places 0..1, near to far.
export function ticks(scale) {
  const marks = scale.fb ? [5, 10, 20, 40].map((m) => [scale.fb / m, `${m} m`])
    : [1, 0.5, 0.25, 0.1, 0.05].map((p) => [scale.near * p, `${Math.round(scale.near * p)} px`]);
  return marks.map(([d, text]) => ({place: 1 - Math.log(d / scale.far) / Math.log(scale.near / scale.far), text}));
}

export class CameraView {
  constructor(canvas, tell) {
    this.canvas = canvas;
    this.tell = tell; // (text): result of the probe
    this.context = canvas.getContext("2d", {alpha: false});
    this.layer = document.createElement("canvas"); // the stixels, one pixel for each row of each column
    this.probe = null; // {x, y} in image px
    this.frame = null;
    const at = (e) => this.aim(e.offsetX / canvas.clientWidth, e.offsetY / canvas.clientHeight);
    canvas.addEventListener("pointermove", at);
    canvas.addEventListener("pointerdown", at);
    canvas.addEventListener("pointerleave", (e) => e.pointerType === "mouse" && this.aim(-1, -1));
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.paint()).observe(canvas);
  }

  aim(u, v) {
    this.probe = this.frame && u >= 0 && u < 1 && v >= 0 && v < 1 ? {x: u * this.frame.width, y: v * this.frame.height} : null;
    this.paint();
  }

  key(e) {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key];
    if (!this.frame || (!step && e.key !== "Escape"))
      return;
    e.preventDefault();
    const {width, height, columnWidth} = this.frame, from = this.probe || {x: width / 2, y: height / 2};
    const by = e.shiftKey ? 5 : 1;
    if (step)
      this.aim(Math.min(0.999, Math.max(0, (from.x + step[0] * columnWidth * by) / width)),
        Math.min(0.999, Math.max(0, (from.y + step[1] * 4 * by) / height)));
    else
      this.aim(-1, -1);
  }

  show(frame, picture, colour) {
    this.frame = frame;
    this.picture = picture;
    this.colour = frame.blind ? "off" : colour; // a blind frame's stixels were not seen
    this.fill();
    this.paint();
  }

  // Clears the view for another instance.
  clear() {
    this.frame = this.picture = this.probe = null;
    this.context.fillStyle = `rgb(${DARK})`;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // Draws the stixels into the layer.
  fill() {
    const {columns, height, stixels: s} = this.frame;
    if (this.colour === "off" || !columns)
      return;
    if (this.layer.width !== columns || this.layer.height !== height) {
      this.layer.width = columns;
      this.layer.height = height;
      this.image = null;
    }
    const context = this.layer.getContext("2d");
    this.image = this.image || context.createImageData(columns, height);
    const pixels = new Uint32Array(this.image.data.buffer), scale = scaleOf(this.frame);
    const weight = this.picture ? OVER : ALONE, rgba = (c, a) => ((a * 255) << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;
    pixels.fill(0);
    for (let i = 0; i < s.count; i++) {
      const kind = s.kind[i], column = s.column[i], top = s.top[i], bottom = Math.min(s.bottom[i], height - 1);
      if (kind > KIND.sky || column >= columns || (kind === KIND.object && !s.disparity[i]))
        continue;
      const object = kind === KIND.object;
      const colour = object && this.colour === "distance" ? distanceColour(scale, s.disparity[i]) : CLASS[kind];
      const value = rgba(colour, weight[WORDS[kind]] * (this.colour === "class" && !object ? 1.35 : 1));
      for (let y = top, at = top * columns + column; y <= bottom; y++, at += columns)
        pixels[at] = value;
      if (object) { // edges: bright above, dark below
        if (bottom - top >= 3)
          pixels[top * columns + column] = rgba(colour.map((v) => v + (255 - v) * 0.45), weight.object);
        pixels[bottom * columns + column] = rgba(DARK, 0.75);
      }
    }
    context.putImageData(this.image, 0, 0);
  }

  // Draws dark lines between neighbouring stixels to separate them.
  sides(c, zoomX, zoomY) {
    const {columnWidth, stixels: s} = this.frame;
    if (columnWidth * zoomX < 3)
      return;
    c.fillStyle = "rgba(18,20,26,0.35)";
    for (let i = 0; i < s.count; i++)
      if (s.kind[i] === KIND.object)
        c.fillRect((s.column[i] + 1) * columnWidth * zoomX - 1, s.top[i] * zoomY, 1, (s.bottom[i] - s.top[i] + 1) * zoomY);
  }

  paint() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), canvas = this.canvas, c = this.context, frame = this.frame;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (!frame || !width)
      return;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    this.draw(c, width, height, ratio);
    this.measure(width / frame.width, height / frame.height, ratio);
  }

  // Returns the view as a PNG in the camera's size, without the probe; null before the first frame.
  async save() {
    if (!this.frame)
      return null;
    const {width, height} = this.frame, canvas = Object.assign(document.createElement("canvas"), {width, height});
    this.draw(canvas.getContext("2d", {alpha: false}), width, height, 1);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  draw(c, width, height, ratio) {
    const {frame} = this, zoomX = width / frame.width, zoomY = height / frame.height;
    c.fillStyle = `rgb(${DARK})`;
    c.fillRect(0, 0, width, height);
    c.imageSmoothingEnabled = true;
    if (this.picture)
      c.drawImage(this.picture, 0, 0, width, height);
    if (this.colour !== "off" && frame.columns) {
      c.imageSmoothingEnabled = false;
      c.drawImage(this.layer, 0, 0, frame.columns * frame.columnWidth * zoomX, height);
      this.sides(c, zoomX, zoomY);
    }
    if (frame.road !== ROAD_NONE) {
      const {axis, cross, slope} = frame.ground, lean = slope > 0 ? -cross / slope : 0; // rows per column
      c.fillStyle = "rgba(255,255,255,0.6)";
      for (let x = 0; x < width; x += 12 * ratio) {
        const row = frame.horizon + lean * ((x + 2.5 * ratio) / zoomX - axis);
        if (row >= 0 && row < frame.height)
          c.fillRect(x, Math.round(row * zoomY), 5 * ratio, ratio);
      }
    }
  }

  measure(zoomX, zoomY, ratio) {
    const {probe, frame} = this, c = this.context;
    if (!probe)
      return this.tell("");
    const column = Math.floor(probe.x / frame.columnWidth), s = frame.stixels;
    let found = -1;
    for (let i = frame.offsets[column] ?? 0; i < (frame.offsets[column + 1] ?? 0); i++)
      if (s.top[i] <= probe.y && probe.y < s.bottom[i] + 1)
        found = i;
    if (found >= 0) {
      c.strokeStyle = "#fff";
      c.lineWidth = 2 * ratio;
      c.strokeRect(column * frame.columnWidth * zoomX, s.top[found] * zoomY, frame.columnWidth * zoomX,
        (s.bottom[found] - s.top[found] + 1) * zoomY);
    }
    const d = found >= 0 ? s.disparity[found] : 0, fb = frame.fx * frame.baseline;
    // the distance of a ground stixel is that of the road in the probe's own row
    const here = found >= 0 && s.kind[found] === KIND.ground ? groundDisparity(frame, probe.x, probe.y) : d;
    const words = [found < 0 || s.kind[found] >= KIND.unknown ? "not seen" : WORDS[s.kind[found]]];
    if (here > 0.05)
      words.push(fb > 0 ? `${(fb / here).toFixed(1)} m` : `${here.toFixed(1)} px`);
    if (found >= 0)
      words.push(`confidence ${Math.round(s.confidence[found] / 2.55)} %`);
    this.tell(words.join(" · "));
  }
}
