// Shows the camera's picture with stixels over it, as stixelctl snapshot draws them, and a probe that measures.
// SPDX-License-Identifier: Apache-2.0
import {ALONE, CLASS, DISTANCE, EDGE, EDGES_FROM_ROWS, FILLED, HATCH, HATCH_PX, OVER, SIDES_FROM_PX, STEP_PARTS, STEP_PX, UNSEEN} from "./palette.js";
import {drawArrow, drawBox, movers, stixelAt, stixelWords} from "./geometry.js";
import {KIND, ROAD_NONE} from "./layout.js";

const WORDS = Object.keys(KIND);
const DARK = [18, 20, 26];

// Returns the colour of a disparity on the frame's scale, px.
export function distanceColour({near_px: near, far_px: far}, disparity) {
  const place = disparity > far ? Math.log(disparity / far) / Math.log(near / far) : 0;
  return DISTANCE[Math.round(255 * Math.min(1, place))];
}

// Returns whether depth steps from a disparity to that of a farther neighbour.
function steps(nearer, farther) {
  return nearer - farther > STEP_PX && STEP_PARTS * (nearer - farther) > nearer;
}

export class CameraView {
  // measures: the pointer and the arrow keys move the probe
  constructor(canvas, tell, measures = true) {
    this.canvas = canvas;
    this.tell = tell; // (text, x, y): shows a text about the probe; x, y: its place on the canvas, CSS px
    this.context = canvas.getContext("2d", {alpha: false});
    this.layer = document.createElement("canvas"); // the stixels, one pixel for each row of each column
    this.mask = document.createElement("canvas"); // opaque where nothing was seen
    this.pale = document.createElement("canvas"); // colours of the lines of filled stixels, drawn over the layer
    this.hatch = document.createElement("canvas");
    this.lines = [];
    this.probe = null; // {x, y} in image px
    this.frame = null;
    const at = (e) => this.aim(e.offsetX / canvas.clientWidth, e.offsetY / canvas.clientHeight);
    if (measures) {
      canvas.addEventListener("pointermove", at);
      canvas.addEventListener("pointerdown", at);
      canvas.addEventListener("pointerleave", (e) => e.pointerType === "mouse" && this.aim(-1, -1));
      canvas.addEventListener("keydown", (e) => this.key(e));
    }
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

  // outline: only edges are drawn, because the picture has the colours of distances itself.
  show(frame, picture, colour, outline = false) {
    this.frame = frame;
    this.outline = outline && picture !== null;
    this.picture = picture;
    this.colour = frame.blind ? "off" : colour; // a blind frame's stixels were not seen
    this.fill();
    this.paint();
  }

  // Clears the view for another instance.
  clear() {
    this.frame = this.picture = this.probe = null;
    this.tell("", 0, 0);
    this.context.fillStyle = `rgb(${DARK})`;
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // Draws the stixels into the layer, and what is unseen into the mask.
  fill() {
    const {columns, height, stixels: s} = this.frame, scale = this.frame.scale;
    if (this.colour === "off" && !this.frame.blind || !columns || !scale)
      return;
    for (const canvas of [this.layer, this.mask, this.pale])
      if (canvas.width !== columns || canvas.height !== height)
        Object.assign(canvas, {width: columns, height});
    const [image, mask, pale] = [0, 1, 2].map(() => new ImageData(columns, height));
    const [pixels, unseen, lines] = [image, mask, pale].map(({data}) => new Uint32Array(data.buffer));
    const weight = this.picture ? OVER : ALONE, rgba = (c, a) => ((a * 255) << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;
    const disparity = new Float32Array(columns * height).fill(NaN); // NaN: unseen, or too low for edges; sky: 0
    unseen.fill(0xff000000);
    this.filled = false;
    for (let i = 0; i < s.count && !this.frame.blind; i++) {
      const kind = s.kind[i], column = s.column[i], top = s.top[i], bottom = Math.min(s.bottom[i], height - 1);
      if (kind > KIND.sky || column >= columns || (kind === KIND.object && !s.disparity[i]))
        continue;
      const byDistance = kind === KIND.object && this.colour === "distance", full = weight[WORDS[kind]];
      const filled = s.filled?.[i], alpha = filled ? full * FILLED : full, rest = filled ? 1 - (1 - full) / (1 - alpha) : 0;
      this.filled = this.filled || filled;
      const flat = s.slope[i] === 0 || !byDistance;
      const paint = byDistance ? distanceColour(scale, s.disparity[i]) : (this.colour === "class" && this.frame.classes?.colour(i)) || CLASS[kind];
      let value = rgba(paint, alpha);
      for (let y = top, at = top * columns + column; y <= bottom; y++, at += columns) {
        const d = s.disparity[i] + s.slope[i] * (s.bottom[i] - y);
        if (!flat)
          value = rgba(distanceColour(scale, d), alpha);
        pixels[at] = value;
        if (filled)
          lines[at] = (value & 0xffffff | rest * 255 << 24) >>> 0;
        unseen[at] = 0;
        disparity[at] = bottom - top < EDGES_FROM_ROWS - 1 ? NaN : kind === KIND.sky ? 0 : s.disparity[i] ? Math.max(0, d) : NaN;
      }
    }
    this.edges(disparity);
    this.layer.getContext("2d").putImageData(image, 0, 0);
    this.mask.getContext("2d").putImageData(mask, 0, 0);
    this.pale.getContext("2d").putImageData(pale, 0, 0);
  }

  // Finds the borders at which depth steps: [column, row, rows, side], side: -1 left, 1 right, 0 above, 2 below.
  edges(disparity) {
    const {columns, height, stixels: s} = this.frame, sides = [[-1, -1], [1, 1]];
    this.lines = [];
    for (let i = 0; i < s.count && !this.frame.blind; i++) {
      const u = s.column[i], top = s.top[i], bottom = Math.min(s.bottom[i], height - 1), at = (y) => disparity[y * columns + u];
      if (s.kind[i] > KIND.object || u >= columns)
        continue;
      if (top > 0 && steps(at(top), at(top - 1)))
        this.lines.push([u, top, 1, 0]);
      if (bottom < height - 1 && steps(at(bottom), at(bottom + 1)))
        this.lines.push([u, bottom, 1, 2]);
      for (const [by, side] of sides) {
        if (u + by < 0 || u + by >= columns)
          continue;
        for (let y = top, from = top; y <= bottom + 1; y++) {
          if (y <= bottom && steps(at(y), disparity[y * columns + u + by]))
            continue;
          if (y > from)
            this.lines.push([u, from, y - from, side]);
          from = y + 1;
        }
      }
    }
  }

  drawLines(c, zoomX, zoomY, ratio) {
    const width = this.frame.columnWidth * zoomX, sides = width >= SIDES_FROM_PX * ratio;
    c.fillStyle = this.outline ? `rgba(255,255,255,${EDGE})` : `rgba(${DARK},${EDGE})`;
    for (const [u, row, rows, side] of this.lines) {
      if (side === 0 || side === 2)
        c.fillRect(u * width, side ? (row + 1) * zoomY - ratio : row * zoomY, width, ratio);
      else if (sides)
        c.fillRect(side < 0 ? u * width : (u + 1) * width - ratio, row * zoomY, ratio, rows * zoomY);
    }
  }

  // Makes unseen places darker and hatches them.
  drawUnseen(c, width, height, ratio) {
    const h = this.startHatch(width, height);
    h.fillStyle = `rgba(${DARK},${UNSEEN})`;
    h.fillRect(0, 0, width, height);
    h.strokeStyle = `rgba(255,255,255,${HATCH})`;
    this.strokes(h, width, height, ratio, 1);
    this.endHatch(c, "destination-in", this.mask, width, height);
  }

  // Draws the lines of filled stixels in their colour. They lean opposite to the lines of unseen places.
  drawFilled(c, width, height, ratio) {
    const h = this.startHatch(width, height);
    h.strokeStyle = "#fff";
    this.strokes(h, width, height, ratio, -1);
    this.endHatch(c, "source-in", this.pale, width, height);
  }

  startHatch(width, height) {
    Object.assign(this.hatch, {width, height});
    return this.hatch.getContext("2d");
  }

  // Draws the lines of a hatch that leans to the right (1) or to the left (-1).
  strokes(h, width, height, ratio, lean) {
    h.lineWidth = ratio;
    h.beginPath();
    for (let x = lean < 0 ? -height : 0; x < width + height; x += HATCH_PX * ratio) {
      h.moveTo(x, 0);
      h.lineTo(x - lean * height, height);
    }
    h.stroke();
  }

  // Combines the hatch with a canvas of the stixels' cells, and draws the result.
  endHatch(c, how, cells, width, height) {
    const {columns, columnWidth, width: whole} = this.frame, h = this.hatch.getContext("2d");
    h.globalCompositeOperation = how;
    h.imageSmoothingEnabled = false;
    h.drawImage(cells, 0, 0, columns * columnWidth * width / whole, height);
    c.drawImage(this.hatch, 0, 0);
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
    if ((this.colour !== "off" || frame.blind) && frame.columns && frame.scale) {
      c.imageSmoothingEnabled = false;
      if (!this.outline) {
        c.drawImage(this.layer, 0, 0, frame.columns * frame.columnWidth * zoomX, height);
        if (this.filled)
          this.drawFilled(c, width, height, ratio);
        this.drawUnseen(c, width, height, ratio);
      }
      if (this.outline || this.colour === "distance") // over class colours, lines would look like random dashes
        this.drawLines(c, zoomX, zoomY, ratio);
    }
    this.drawMovers(c, zoomX, zoomY, ratio);
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

  // Draws an arrow at the foot of each thing that moves, to its place in half a second, and boxes around objects.
  drawMovers(c, zoomX, zoomY, ratio) {
    const {fx, fy, cx, cy} = this.frame, place = (x, y, z) => [(cx + fx * x / z) * zoomX, (cy + fy * y / z) * zoomY];
    const things = this.colour === "off" ? [] : movers(this.frame);
    for (const thing of things.filter((t) => t.id)) {
      const [left, right, top, bottom] = thing.box;
      drawBox(c, [left * zoomX, top * zoomY, (right + 1 - left) * zoomX, (bottom + 1 - top) * zoomY], thing, ratio);
    }
    for (const {x, y, z, then: [right, ahead]} of things)
      if (ahead > 0.1 * z) // else it passes the camera before
        drawArrow(c, place(x, y, z), place(right, y, ahead), ratio);
  }

  measure(zoomX, zoomY, ratio) {
    const {probe, frame} = this, c = this.context;
    if (!probe)
      return this.tell("", 0, 0);
    const {columnWidth, stixels: s} = frame, found = stixelAt(frame, probe.x, probe.y);
    if (found >= 0) {
      c.strokeStyle = "#fff";
      c.lineWidth = 2 * ratio;
      c.strokeRect(s.column[found] * columnWidth * zoomX, s.top[found] * zoomY, columnWidth * zoomX,
        (s.bottom[found] - s.top[found] + 1) * zoomY);
    }
    this.tell(stixelWords(frame, found, probe.x, probe.y), probe.x * zoomX / ratio, probe.y * zoomY / ratio);
  }
}
