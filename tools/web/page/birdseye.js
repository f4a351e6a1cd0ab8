// Free space and obstacles from above, in metres: the camera is below, looking up.
// SPDX-License-Identifier: Apache-2.0
import {KIND, ROAD_NONE} from "./layout.js";
import {CLASS} from "./palette.js";
import {distanceColour, scaleOf} from "./view.js";
import {groundDisparity} from "./wire.js";

const STEP_M = {20: 5, 40: 10, 80: 20};

// How far each column is known to be free, m, as stixel_free_space_m() of <stixel.h>: up to its lowest object, or to
// what is unknown (0 where that is its foot), else as far as its ground was seen.
export function freeDistances(frame, range) {
  const {columns, offsets, stixels: s} = frame, fb = frame.fx * frame.baseline;
  const free = new Float32Array(columns);
  for (let u = 0; u < columns; u++) {
    let reach = 0;
    for (let i = offsets[u]; i < offsets[u + 1]; i++) {
      const object = s.kind[i] === KIND.object && s.disparity[i] > 0;
      if (s.kind[i] === KIND.sky)
        continue;
      if (object)
        reach = fb / s.disparity[i];
      if (object || s.kind[i] !== KIND.ground)
        break;
      const road = groundDisparity(frame, u * frame.columnWidth + (frame.columnWidth - 1) / 2, s.top[i]); // its far end
      reach = frame.road === ROAD_NONE ? 0 : road > 0 ? fb / road : Infinity;
    }
    free[u] = Math.min(range, reach);
  }
  return free;
}

export class Birdseye {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.range = 40;
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.paint());
  }

  show(frame, colour) {
    this.frame = frame;
    this.colour = colour;
    this.paint();
  }

  paint() {
    const ratio = window.devicePixelRatio || 1, canvas = this.canvas, c = this.context;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height)
      return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const metre = (height - 44) / this.range, egoX = width / 2, egoY = height - 26;
    this.place = (x, z) => [egoX + x * metre, egoY - z * metre];
    c.clearRect(0, 0, width, height);
    this.grid(width, height, metre, egoX, egoY, ink);
    if (this.frame && this.frame.fx * this.frame.baseline > 0) {
      this.free(ink);
      this.objects(metre);
    } else if (this.frame) {
      c.fillStyle = ink("--soft");
      c.textAlign = "center";
      c.fillText("Without a camera model there are no metres.", egoX, height / 2);
    }
    this.ego(egoX, egoY, ink);
  }

  grid(width, height, metre, egoX, egoY, ink) {
    const c = this.context, step = STEP_M[this.range];
    c.font = `${Math.max(11, Math.min(16, height / 34))}px system-ui, sans-serif`;
    c.textBaseline = "bottom";
    c.lineWidth = 1;
    c.strokeStyle = ink("--grid");
    c.fillStyle = ink("--soft");
    c.beginPath();
    for (let z = 0; z <= this.range + 1e-6; z += step) {
      c.moveTo(0, Math.round(egoY - z * metre) + 0.5);
      c.lineTo(width, Math.round(egoY - z * metre) + 0.5);
    }
    for (let x = -step * Math.floor(width / 2 / metre / step); x * metre < width / 2; x += step) {
      c.moveTo(Math.round(egoX + x * metre) + 0.5, 0);
      c.lineTo(Math.round(egoX + x * metre) + 0.5, egoY);
    }
    c.stroke();
    c.textAlign = "left";
    for (let z = step; z <= this.range + 1e-6; z += step)
      c.fillText(`${z} m`, 4, egoY - z * metre - 2);
    c.textAlign = "center";
    c.textBaseline = "top";
    for (let x = step; x * metre < width / 2 - 20; x += step)
      for (const side of [-x, x])
        c.fillText(`${side}`.replace("-", "\u2212"), egoX + side * metre, egoY + 5);
  }

  // Left and right ray of a column: metres aside for each metre ahead.
  rays(u) {
    const {columnWidth, cx, fx} = this.frame;
    return [(u * columnWidth - cx) / fx, ((u + 1) * columnWidth - cx) / fx];
  }

  free(ink) {
    const c = this.context, distances = freeDistances(this.frame, this.range);
    c.beginPath();
    c.moveTo(...this.place(0, 0));
    distances.forEach((z, u) => {
      const [left, right] = this.rays(u);
      c.lineTo(...this.place(left * z, z));
      c.lineTo(...this.place(right * z, z));
    });
    c.closePath();
    c.fillStyle = ink("--three");
    c.globalAlpha = 0.24;
    c.fill();
    c.globalAlpha = 0.7;
    c.strokeStyle = ink("--three");
    c.lineWidth = 1;
    c.stroke();
    c.globalAlpha = 1;
  }

  // The nearest of each column stands out; what is behind it is there, but weaker.
  objects(metre) {
    const {columns, offsets, stixels: s} = this.frame;
    for (let u = 0; u < columns; u++) {
      let nearest = -1;
      for (let i = offsets[u]; i < offsets[u + 1]; i++)
        if (s.kind[i] === KIND.object && s.disparity[i] > (nearest < 0 ? 0 : s.disparity[nearest]))
          nearest = i;
      for (let i = offsets[u]; i < offsets[u + 1]; i++)
        if (s.kind[i] === KIND.object && s.disparity[i] && i !== nearest)
          this.object(i, 2, 0.45);
      if (nearest >= 0)
        this.object(nearest, Math.max(4, 0.25 * metre), 0.5 + 0.5 * s.confidence[nearest] / 255);
    }
    this.context.globalAlpha = 1;
  }

  object(i, depth, alpha) {
    const c = this.context, {stixels: s} = this.frame, scale = scaleOf(this.frame), z = scale.fb / s.disparity[i];
    if (z > this.range)
      return;
    const [left, right] = this.rays(s.column[i]), [x, y] = this.place(left * z, z), width = this.place(right * z, z)[0] - x;
    c.fillStyle = `rgb(${this.colour === "class" ? CLASS[KIND.object] : distanceColour(scale, s.disparity[i])})`;
    c.globalAlpha = alpha;
    c.fillRect(x - 0.5, y - depth, Math.max(2.5, width + 1), depth);
  }

  ego(x, y, ink) {
    const c = this.context;
    c.fillStyle = ink("--text");
    c.beginPath();
    c.moveTo(x, y - 9);
    c.lineTo(x + 7, y + 6);
    c.lineTo(x, y + 2);
    c.lineTo(x - 7, y + 6);
    c.closePath();
    c.fill();
  }
}
