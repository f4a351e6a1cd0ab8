// Draws free space and obstacles from above, in metres. The camera is at the lower edge and looks up. The user can zoom
// and move the map.
// SPDX-License-Identifier: Apache-2.0
import {drawArrow, drawBox, hasMetres, movers, placeWords, stixelWords} from "./geometry.js";
import {Gesture} from "./gesture.js";
import {END, KIND} from "./layout.js";
import {CLASS} from "./palette.js";
import {distanceColour} from "./view.js";

const NONE = 2 ** 32 - 1; // no stixel
const LEAST_M = 1, MOST_M = 200; // metres ahead that the map can show
const USUAL_M = 40;
const RULER = 26; // height of the lower ruler, px; the left ruler also has room for its numbers
const REACH_PX = 9; // largest distance between the pointer and the object that it measures

// Returns the distance between two lines of the grid, so that it is 1, 2 or 5 times a power of ten.
export function gridStep(metre, px) {
  const least = px / metre, power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((f) => f * power).find((v) => v >= least * 0.999);
}

// Returns the metres ahead that suit a scale of distances.
export function reachOf(scale) {
  return scale?.unit === "m" ? Math.min(MOST_M, Math.max(2, 1.15 * scale.far)) : USUAL_M;
}

export class StixelMap {
  // tell(text, x, y): shows a text about the place of the pointer; x, y: this place, CSS px
  constructor(canvas, tell) {
    this.canvas = canvas;
    this.tell = tell;
    this.context = canvas.getContext("2d");
    this.frame = null;
    this.pointer = null;
    this.fit();
    new Gesture(canvas, {
      zoom: (by, x, y) => this.zoom(by, x, y),
      move: (x, y) => this.move(x, y),
      point: (at) => this.point(at),
      reset: () => this.fit(),
    });
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.paint());
  }

  // Shows the whole scene again, from the camera on.
  fit() {
    this.range = null; // metres ahead on the map; null: as the scale of distances
    this.shift = [0, 0]; // shift of the map: m to the right, m ahead
    this.paint();
  }

  // Zooms by a factor about a place, by default about the camera.
  zoom(by, x = this.place(0, 0)[0], y = this.place(0, 0)[1]) {
    const [right, ahead] = this.metres(x, y);
    this.range = Math.min(MOST_M, Math.max(LEAST_M, this.ahead() / by));
    this.place = this.placing();
    const [now, then] = this.metres(x, y);
    this.moveBy(right - now, ahead - then);
  }

  move(x, y) {
    this.range = this.ahead();
    this.moveBy(-x / this.metre, y / this.metre);
  }

  moveBy(right, ahead) {
    const most = this.ahead();
    this.shift = [Math.min(most, Math.max(-most, this.shift[0] + right)), Math.min(MOST_M, Math.max(0, this.shift[1] + ahead))];
    this.paint();
  }

  key(e) {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[e.key], by = this.ahead() / 10;
    if (step) {
      this.range = this.ahead();
      this.moveBy(step[0] * by, step[1] * by);
    } else if (e.key === "+" || e.key === "=" || e.key === "-")
      this.zoom(e.key === "-" ? 1 / 1.25 : 1.25);
    else if (e.key === "0")
      this.fit();
    else
      return;
    e.preventDefault();
  }

  point(at) {
    this.pointer = at;
    this.paint();
  }

  ahead() {
    return this.range ?? reachOf(this.frame?.scale);
  }

  show(frame, colour) {
    this.frame = frame;
    this.colour = colour;
    this.paint();
  }

  // Returns a function that converts (m to the right, m ahead) to px of the canvas.
  placing() {
    const {clientWidth: width, clientHeight: height} = this.canvas, left = this.gutter ?? RULER;
    this.metre = Math.max(1, height - RULER - 20) / this.ahead();
    const {metre, shift: [right, ahead]} = this, x0 = left + (width - left) / 2, y0 = height - RULER - 12;
    return (x, z) => [x0 + (x - right) * metre, y0 - (z - ahead) * metre];
  }

  // Converts a place on the canvas to [m to the right, m ahead].
  metres(x, y) {
    const [x0, y0] = this.place(0, 0);
    return [(x - x0) / this.metre, (y0 - y) / this.metre];
  }

  paint() {
    const ratio = window.devicePixelRatio || 1, canvas = this.canvas, c = this.context;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    this.place = this.placing();
    if (!width || !height)
      return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    c.font = `${Math.max(11, Math.min(15, height / 34))}px system-ui, sans-serif`;
    const step = gridStep(this.metre, 56), number = (v) => `${+Math.abs(v).toFixed(3)}`;
    this.gutter = Math.ceil(c.measureText("0.05 m").width) + 8; // always the same, so that a zoom moves nothing
    this.place = this.placing();
    c.clearRect(0, 0, width, height);
    this.grid(width, height, step, ink);
    this.drawFrame(ink, width, height);
    this.ego(ink);
    this.rulers(width, height, step, number, ink);
    this.measure(ink);
  }

  drawFrame(ink, width, height) {
    const frame = this.frame, c = this.context, metres = hasMetres(frame);
    if (metres) {
      this.unseen(ink);
      this.free(ink);
      this.drops(ink);
      this.objects();
      for (const thing of movers(frame)) {
        const {id, x, z, width: wide, then} = thing, [left, y] = this.place(x - wide / 2, z);
        if (id)
          drawBox(c, [left, y - 5, wide * this.metre, 8], thing, 1, true);
        drawArrow(c, this.place(x, z), this.place(...then), 1);
      }
    }
    if (!frame || metres && !frame.blind)
      return;
    c.fillStyle = ink("--text");
    c.textAlign = "center";
    c.fillText(metres ? "The pictures show nothing: nothing is free." : "Without a camera model there are no metres.", width / 2, height / 2);
  }

  grid(width, height, step, ink) {
    const c = this.context, [left, top] = this.metres(0, 0), [right, bottom] = this.metres(width, height);
    c.lineWidth = 1;
    c.strokeStyle = ink("--grid");
    c.beginPath();
    for (let z = Math.max(0, Math.ceil(bottom / step)) * step; z <= top; z += step) {
      const y = Math.round(this.place(0, z)[1]) + 0.5;
      c.moveTo(0, y);
      c.lineTo(width, y);
    }
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
      const at = Math.round(this.place(x, 0)[0]) + 0.5;
      c.moveTo(at, 0);
      c.lineTo(at, height);
    }
    c.stroke();
  }

  // Draws the two rulers over the map: metres ahead on the left, metres aside below.
  rulers(width, height, step, number, ink) {
    const c = this.context, {gutter} = this, [left, top] = this.metres(gutter, 0), [right, bottom] = this.metres(width, height - RULER);
    c.fillStyle = ink("--card");
    c.fillRect(0, 0, gutter, height);
    c.fillRect(0, height - RULER, width, RULER);
    c.fillStyle = ink("--soft");
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (let z = Math.max(0, Math.ceil(bottom / step)) * step; z <= top; z += step) {
      const y = this.place(0, z)[1];
      c.fillRect(gutter - 3, Math.round(y), 3, 1);
      if (y > 14)
        c.fillText(z > bottom + step * 0.2 ? `${number(z)} m` : number(z), gutter - 5, y);
    }
    c.fillText("x", gutter - 5, 6);
    c.textAlign = "center";
    const end = width - c.measureText("right").width - 12, begin = gutter + c.measureText("y left").width + 8;
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
      const at = this.place(x, 0)[0], text = Math.abs(x) < step / 2 ? "0" : `${number(x)} m`, half = c.measureText(text).width / 2;
      c.fillRect(Math.round(at), height - RULER, 1, 3);
      if (at - half > begin && at + half < end)
        c.fillText(text, at, height - RULER / 2 + 2);
    }
    c.textAlign = "left";
    c.fillText("y left", gutter, height - RULER / 2 + 2);
    c.textAlign = "right";
    c.fillText("right", width - 4, height - RULER / 2 + 2);
  }

  // Returns the number of the object stixel nearest to a place of the canvas; -1: none is near.
  objectAt(x, y) {
    const {stixels: s, fx, baseline} = this.frame;
    let best = -1, least = REACH_PX ** 2;
    for (let i = 0; i < s.count; i++) {
      if (s.kind[i] !== KIND.object || !s.disparity[i] || this.frame.free?.absent.has(i))
        continue;
      const z = fx * baseline / s.disparity[i], [left, right] = this.rays(s.column[i]);
      const [x0, at] = this.place(left * z, z), x1 = this.place(right * z, z)[0];
      const away = Math.max(x0 - x, 0, x - x1) ** 2 + (at - y) ** 2;
      if (away < least)
        [best, least] = [i, away];
    }
    return best;
  }

  // Describes a place on the map by the free space of its column.
  groundWords(right, ahead) {
    const {fx, cx, columnWidth, columns, free} = this.frame, u = Math.floor((right / ahead * fx + cx) / columnWidth);
    if (!free || ahead <= 0 || u < 0 || u >= columns)
      return "outside the picture";
    if (free.from[u] <= ahead && ahead < free.to[u])
      return "free";
    return free.end[u] === END.object && ahead >= free.to[u] ? "behind an object" : "not seen, so not free";
  }

  measure(ink) {
    const {frame, pointer} = this, c = this.context;
    if (!pointer || !hasMetres(frame))
      return this.tell("", 0, 0);
    const [x, y] = pointer, [right, ahead] = this.metres(x, y), found = frame.blind ? -1 : this.objectAt(x, y);
    if (found < 0)
      return this.tell(ahead < 0 ? "" : `${this.groundWords(right, ahead)} \u00b7 ${placeWords(ahead, -right)}`, x, y);
    const z = frame.fx * frame.baseline / frame.stixels.disparity[found], [left, end] = this.rays(frame.stixels.column[found]);
    const [at, row] = this.place(left * z, z), width = this.place(end * z, z)[0] - at;
    c.strokeStyle = ink("--text");
    c.lineWidth = 2;
    c.strokeRect(at - 3, row - 8, width + 6, 11);
    this.tell(stixelWords(frame, found), x, y);
  }

  // Returns the left and right ray of a column: metres to the side per metre ahead.
  rays(u) {
    const {columnWidth, cx, fx} = this.frame;
    return [(u * columnWidth - cx) / fx, ((u + 1) * columnWidth - cx) / fx];
  }

  // Returns the metres ahead at the upper edge, up to which shapes are drawn.
  far() {
    return this.metres(0, 0)[1];
  }

  // Adds a shape for each run of neighbouring columns that have something between near(u) and far(u), m.
  shapes(near, far) {
    const c = this.context, columns = this.frame.free ? this.frame.columns : 0;
    const line = (u, z) => this.rays(u).map((aside) => this.place(aside * z, z));
    c.beginPath();
    for (let first = 0, last; first < columns; first = last + 1) {
      const is = (u) => u < columns && near(u) < Math.min(this.far(), far(u)); // false if near or far is NaN
      for (last = first; is(last); last++);
      if (last === first)
        continue;
      for (let u = first; u < last; u++)
        line(u, Math.min(this.far(), far(u))).forEach(([x, y], i) => u === first && !i ? c.moveTo(x, y) : c.lineTo(x, y));
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
    this.shapes((u) => free.end[u] === END.unseen || free.end[u] === END.drop ? free.to[u] : NaN, () => this.far());
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
    const c = this.context, {free} = this.frame, depth = 5 / this.metre;
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

  // Draws the objects. In each column, the object that ends the free space stands out. If no object ends it, the nearest
  // object stands out. Other objects are paler.
  objects() {
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
        this.object(nearest, Math.min(8, Math.max(4, 0.25 * this.metre)), 0.5 + 0.5 * s.confidence[nearest] / 255);
    }
    this.context.globalAlpha = 1;
  }

  object(i, depth, alpha) {
    const c = this.context, {stixels: s, scale, fx, baseline} = this.frame, z = fx * baseline / s.disparity[i];
    if (z > this.far())
      return;
    const [left, right] = this.rays(s.column[i]), [x, y] = this.place(left * z, z), width = this.place(right * z, z)[0] - x;
    c.fillStyle = `rgb(${this.colour !== "class" && scale ? distanceColour(scale, s.disparity[i]) : this.frame.classes?.colour(i) ?? CLASS[KIND.object]})`;
    c.globalAlpha = alpha;
    c.fillRect(x - 0.5, y - depth, Math.max(2.5, width + 1), depth);
  }

  ego(ink) {
    const c = this.context, [x, y] = this.place(0, 0);
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
