// Shows the image quality of the cameras from the daemon's monitor: each figure with its last two minutes, marked if it
// is beyond the daemon's limit. Below are the camera model, on which all distances depend, and questions about it. Tells
// the worst of them in a sentence.
// SPDX-License-Identifier: Apache-2.0
import {rows} from "./panels.js";
import {number, setText} from "./text.js";

const SAMPLES = 120; // one per second
const JUDGED = 5; // number of samples whose median is compared with the limit, as in the daemon

const percent = (v) => Number.isFinite(v) ? `${number(100 * v, v > 0 && v < 0.0995 ? 1 : 0)} %` : number(v);
const signed = (v) => Number.isFinite(v) ? `${v > 0 ? "+" : v < 0 ? "\u2212" : ""}${number(Math.abs(v), 1)}` : number(v);
const largest = (...values) => values.filter(Number.isFinite).reduce((a, b) => Math.abs(b) > Math.abs(a ?? 0) || a === undefined ? b : a, undefined) ?? NaN;
const corrected = (c) => c?.shift_px || c?.rotation_deg ? `, corrected ${signed(c.shift_px)} px ${signed(c.rotation_deg)}\u00b0` : "";
const both = (pair, write) => `${write(pair?.left)} | ${write(pair?.right)}`;

// lines: values drawn; judged: value compared with the limit if it is not the lines' value; limit: NaN if none; below:
// true if values below the limit are wrong; write: formats the limit; top: smallest end of the axis; act: advice if the
// limit is exceeded.
const TILES = [
  {name: "Measured", title: "share of the pixels whose disparity was measured; the limit follows from what is usual here",
    text: (p) => percent(p.density), more: (p) => `${percent(p.at_infinity)} of it at infinity`,
    lines: [(p) => p.density], limit: (l) => l.density, below: true, write: percent, top: 1, act: "clean the lenses, or give more light"},
  {name: "Blind columns", title: "share of the stixel columns without any measurement",
    text: (p) => percent(p.blind_columns), more: () => "of the stixels", lines: [(p) => p.blind_columns], top: 0.25},
  {name: "Row error", title: "rows by which the right image is lower than the left one, the largest of the image's thirds (left, middle, right)",
    text: ({row_error_px: e}) => `${signed(largest(e?.left, e?.middle, e?.right, e?.all))} px`,
    more: ({row_error_px: e, row_spread_px: s, row_correction: c}) =>
      `L ${signed(e?.left)} M ${signed(e?.middle)} R ${signed(e?.right)} \u00b1 ${number(s?.all, 1)}${corrected(c)}`,
    lines: [({row_error_px: e}) => Math.abs(largest(e?.left, e?.middle, e?.right, e?.all))],
    judged: ["left", "middle", "right", "all"].map((part) => ({row_error_px: e}) => e?.[part]), limit: (l) => l.row_error_px, write: (v) => `${number(v, 1)} px`, top: 1.5, act: "calibrate again"},
  {name: "Dark", title: "share of dark pixels in the left and the right image", text: (p) => both(p.dark, percent), more: () => "left | right",
    lines: [(p) => p.dark?.left, (p) => p.dark?.right], limit: (l) => l.dark, write: percent, top: 1, act: "more light, or source.exposure_ms"},
  {name: "Saturated", title: "share of saturated pixels in the left and the right image", text: (p) => both(p.saturated, percent), more: () => "left | right",
    lines: [(p) => p.saturated?.left, (p) => p.saturated?.right], top: 0.25},
  {name: "Sharpness", title: "mean absolute Laplacian of the left and the right image, grey levels: less than it was is out of focus or dirty",
    text: (p) => both(p.sharpness, (v) => number(v, v < 10 ? 1 : 0)), more: () => "left | right",
    lines: [(p) => p.sharpness?.left, (p) => p.sharpness?.right], top: 10},
];

function median(values) {
  const known = values.filter(Number.isFinite).sort((a, b) => a - b);
  return known.length ? known[(known.length - 1) >> 1] : NaN;
}

// Returns "none" if there is no value or no limit, else "good" or "bad".
export function verdict(samples, limit, below) {
  const v = Math.abs(median(samples.slice(-JUDGED)));
  if (!Number.isFinite(v) || !Number.isFinite(limit))
    return "none";
  return (below ? v < limit : v > limit) ? "bad" : "good";
}

class Tile {
  constructor(what) {
    this.what = what;
    this.box = document.createElement("div");
    this.box.title = what.title;
    this.box.innerHTML = '<p class="top"><span class="mark" aria-hidden="true"></span><span class="name"></span><b></b></p><p class="more"></p><canvas aria-hidden="true"></canvas>';
    [this.value, this.more, this.canvas] = ["b", ".more", "canvas"].map((s) => this.box.querySelector(s));
    setText(this.box.querySelector(".name"), what.name);
    this.rows = what.lines.map(() => []);
    this.judged = what.judged?.map(() => []) ?? this.rows;
  }

  show(pictures) {
    const {what} = this, limit = what.limit?.(pictures.limits ?? {}) ?? NaN;
    const add = (rows, figures) => rows.forEach((row, i) => {
      row.push(figures[i](pictures) ?? NaN);
      row.splice(0, row.length - SAMPLES);
    });
    add(this.rows, what.lines);
    if (what.judged)
      add(this.judged, what.judged);
    const verdicts = this.judged.map((row) => verdict(row, limit, what.below));
    this.box.className = ["bad", "good"].find((v) => verdicts.includes(v)) ?? "none";
    setText(this.value, what.text(pictures));
    setText(this.more, what.more(pictures) + (this.box.className === "bad" ? ` (limit ${what.write(limit)})` : ""));
    this.paint(limit);
  }

  paint(limit) {
    const {canvas} = this, ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    const c = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const top = Math.max(this.what.top, ...this.rows.flat().filter(Number.isFinite)), y = (v) => 1 + (height - 2) * (1 - v / top);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = ink("--grid");
    c.fillRect(0, height - 1, width, 1);
    if (Number.isFinite(limit)) {
      c.fillStyle = ink("--bad");
      for (let x = 0; x < width; x += 7)
        c.fillRect(x, Math.round(y(limit)), 3, 1);
    }
    this.rows.forEach((row, i) => {
      c.beginPath();
      row.forEach((v, k) => Number.isFinite(v) && c[k && Number.isFinite(row[k - 1]) ? "lineTo" : "moveTo"](width - (row.length - 1 - k) * width / (SAMPLES - 1), y(v)));
      c.strokeStyle = ink(i ? "--two" : "--one");
      c.lineWidth = 1.5;
      c.stroke();
    });
  }
}

export class Health {
  constructor(box) {
    this.box = box;
    this.clear();
  }

  // Starts again for another instance.
  clear() {
    this.tiles = TILES.map((what) => new Tile(what));
    [this.row, this.camera] = ["tiles", "camera"].map((name) => {
      const part = document.createElement("div");
      part.className = name;
      return part;
    });
    this.row.append(...this.tiles.map((t) => t.box));
    this.box.replaceChildren(this.row, this.camera);
    this.box.hidden = true;
  }

  // Returns the worst of the present pictures and what to do, or a question about the camera model; "": nothing.
  worst() {
    const bad = this.tiles.find((t) => t.box.className === "bad"), question = this.camera.querySelector(".question");
    if (bad && !this.box.hidden)
      return `${bad.what.name}: ${bad.value.textContent} ${bad.more.textContent.match(/\(limit .*\)/)?.[0] ?? ""}. What to do: ${bad.what.act}`;
    return question ? `Question: ${question.textContent}` : "";
  }

  // Removes the verdicts, because old samples say nothing about the present.
  forget() {
    for (const t of this.tiles)
      t.box.className = "none";
  }

  // Shows pictures, camera and motion of a status. Call for each status. Hides the parts that the daemon does not report.
  show(pictures, camera, motion) {
    const known = Number.isFinite(pictures?.density), range = motion?.range?.text;
    const questions = [...range && motion.range.wrong ? [`Distances: ${range}`] : [], ...camera?.questions ?? []];
    const lines = [...questions, ...camera?.text ? [camera.text.replace(/^camera: /, "")] : [],
      ...range && !motion.range.wrong ? [`Distances: ${range}`] : []];
    this.box.hidden = !known && !lines.length;
    this.row.hidden = !known;
    if (known)
      this.tiles.forEach((t) => t.show(pictures));
    rows(this.camera, lines.length, () => document.createElement("p")).forEach((line, i) => {
      line.className = i < questions.length ? "question" : "";
      setText(line, lines[i]);
    });
  }
}
