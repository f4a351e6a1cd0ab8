// Draws free space and obstacles from above, in metres. The camera is at the bottom, looking up.
// SPDX-License-Identifier: Apache-2.0
import {END, KIND} from "./layout.js";
import {CLASS} from "./palette.js";
import {distanceColour} from "./view.js";

const STEP_M = {5: 1, 10: 2, 20: 5, 40: 10, 80: 20};
const NONE = 2 ** 32 - 1; // no stixel

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
    const frame = this.frame, metres = frame && frame.fx * frame.baseline > 0;
    if (metres) {
      this.unseen(ink);
      this.free(ink);
      this.drops(ink);
      this.objects(metre);
    }
    if (frame && (!metres || frame.blind)) {
      c.fillStyle = ink("--text");
      c.textAlign = "center";
      c.fillText(metres ? "The pictures show nothing: nothing is free." : "Without a camera model there are no metres.", egoX, height / 2);
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

  // Returns the left and right ray of a column: metres to the side per metre ahead.
  rays(u) {
    const {columnWidth, cx, fx} = this.frame;
    return [(u * columnWidth - cx) / fx, ((u + 1) * columnWidth - cx) / fx];
  }

  // Adds a shape for each run of neighbouring columns that have something between near(u) and far(u), m.
  shapes(near, far) {
    const c = this.context, columns = this.frame.free ? this.frame.columns : 0;
    const line = (u, z) => this.rays(u).map((aside) => this.place(aside * z, z));
    c.beginPath();
    for (let first = 0, last; first < columns; first = last + 1) {
      const is = (u) => u < columns && near(u) < Math.min(this.range, far(u)); // false if near or far is NaN
      for (last = first; is(last); last++);
      if (last === first)
        continue;
      for (let u = first; u < last; u++)
        line(u, Math.min(this.range, far(u))).forEach(([x, y], i) => u === first && !i ? c.moveTo(x, y) : c.lineTo(x, y));
      for (let u = last - 1; u >= first; u--)
        line(u, near(u)).reverse().forEach((at) => c.lineTo(...at));
      c.closePath();
    }
  }

  free(ink) {
    const c = this.context, {free} = this.frame;
    this.shapes((u) => free.from[u], (u) => free.to[u]);
    c.fillStyle = c.strokeStyle = ink("--three");
    c.globalAlpha = 0.24;
    c.fill();
    c.globalAlpha = 0.7;
    c.lineWidth = 1;
    c.stroke();
    c.globalAlpha = 1;
  }

  // Hatches unseen areas: before the first ground seen, and from the end of the seen area on. The area behind objects
  // stays blank.
  unseen(ink) {
    const c = this.context, {free} = this.frame;
    c.fillStyle = this.hatch(ink("--soft"));
    this.shapes(() => 0, (u) => free.from[u] < free.to[u] ? free.from[u] : free.to[u]);
    c.fill();
    this.shapes((u) => free.end[u] === END.unseen || free.end[u] === END.drop ? free.to[u] : NaN, () => this.range);
    c.fill();
  }

  hatch(colour) {
    const tile = document.createElement("canvas"), c = tile.getContext("2d");
    tile.width = tile.height = 8;
    c.strokeStyle = colour;
    c.globalAlpha = 0.4;
    c.beginPath();
    for (const at of [-8, 0, 8]) {
      c.moveTo(at - 1, 9);
      c.lineTo(at + 9, -1);
    }
    c.stroke();
    return this.context.createPattern(tile, "repeat");
  }

  // Draws the edge of the ground before a drop.
  drops(ink) {
    const c = this.context, {free} = this.frame, depth = 5 * this.range / this.canvas.clientHeight;
    this.shapes((u) => free.end[u] === END.drop ? free.to[u] : NaN, (u) => free.to[u] + depth);
    c.fillStyle = ink("--text");
    c.fill();
    c.fillStyle = c.createPattern(this.stripes(ink("--page")), "repeat");
    c.fill();
  }

  stripes(colour) {
    const tile = document.createElement("canvas"), c = tile.getContext("2d");
    tile.width = 8;
    tile.height = 1;
    c.fillStyle = colour;
    c.fillRect(0, 0, 4, 1);
    return tile;
  }

  // Draws the objects. The one that ends a column stands out, or the nearest one behind the unseen area. The others
  // are weaker.
  objects(metre) {
    const {columns, offsets, stixels: s, free} = this.frame;
    const stands = (i) => s.kind[i] === KIND.object && s.disparity[i] > 0 && !free?.absent.has(i);
    for (let u = 0; u < columns; u++) {
      let nearest = free?.end[u] === END.object ? free.stixel[u] : NONE;
      for (let i = offsets[u]; free?.end[u] !== END.object && i < offsets[u + 1]; i++)
        if (stands(i) && (nearest === NONE || s.disparity[i] > s.disparity[nearest]))
          nearest = i;
      for (let i = offsets[u]; i < offsets[u + 1]; i++)
        if (stands(i) && nearest !== i)
          this.object(i, 2, 0.45);
      if (nearest !== NONE && s.disparity[nearest])
        this.object(nearest, Math.min(8, Math.max(4, 0.25 * metre)), 0.5 + 0.5 * s.confidence[nearest] / 255);
    }
    this.context.globalAlpha = 1;
  }

  object(i, depth, alpha) {
    const c = this.context, {stixels: s, scale, fx, baseline} = this.frame, z = fx * baseline / s.disparity[i];
    if (z > this.range)
      return;
    const [left, right] = this.rays(s.column[i]), [x, y] = this.place(left * z, z), width = this.place(right * z, z)[0] - x;
    c.fillStyle = `rgb(${this.colour === "class" || !scale ? CLASS[KIND.object] : distanceColour(scale, s.disparity[i])})`;
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
