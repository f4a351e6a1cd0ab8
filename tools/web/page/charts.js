// Draws lines over the last 30 s to 5 min, one sample per second.
// SPDX-License-Identifier: Apache-2.0
const LEAST_S = 30, MOST_S = 300;
const CLIPPED = 0.02, ROOM = 1.5; // share of samples that may exceed the axis; ratio of the axis to the largest other sample
const STEPS_S = [5, 10, 15, 30, 60, 120];

// Values over time. An unknown value leaves a gap.
export class History {
  constructor() {
    this.rows = [];
  }

  add(time, values) {
    this.rows.push({time, values});
    while (this.rows[0].time < time - MOST_S * 1000 - 2000)
      this.rows.shift();
  }

  // Returns the number of seconds shown: as many as have samples, within the limits.
  span(now) {
    return this.rows.length ? Math.min(MOST_S, Math.max(LEAST_S, (now - this.rows[0].time) / 1000)) : LEAST_S;
  }

  some(key) {
    return this.rows.some(({values}) => Number.isFinite(values[key]));
  }
}

// Returns the end of the axis for these values. A short spike, as at the start, does not set it. If no samples stand
// out, it is the largest value.
export function reach(values) {
  const all = values.filter(Number.isFinite).sort((a, b) => a - b), n = all.length;
  if (!n)
    return 0;
  // samples that may stand out: three in a short window, because the first second also counts in the following ones
  const out = Math.max(Math.ceil(CLIPPED * n), Math.min(3, Math.floor(n / 6)));
  return Math.min(all[n - 1], ROOM * all[n - 1 - Math.min(out, n - 1)]);
}

function nice(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((f) => f * power).find((v) => v >= most - 1e-9);
}

export class Chart {
  // series: [{key, colour (CSS variable), dash}]; least: smallest end of the axis; nothing: text if there is no value
  constructor(canvas, history, series, least, nothing) {
    Object.assign(this, {canvas, history, series, least, nothing});
    this.context = canvas.getContext("2d");
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.paint());
  }

  top() {
    const values = (key) => this.history.rows.map((row) => row.values[key]);
    return nice(Math.max(this.least, ...this.series.map(({key}) => reach(values(key)))));
  }

  paint() {
    const ratio = window.devicePixelRatio || 1, {canvas, context: c} = this;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height)
      return;
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const size = Math.max(11, Math.min(15, height / 9)), left = size * 3.1, right = width - 6, above = size * 0.8, below = height - size * 1.5;
    const top = this.top(), now = Date.now(), span = this.history.span(now);
    const x = (time) => right - (now - time) / 1000 / span * (right - left), y = (v) => below - v / top * (below - above);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = `${size}px system-ui, sans-serif`;
    c.lineWidth = 1;
    c.textBaseline = "middle";
    c.textAlign = "right";
    for (const part of [0, 0.5, 1]) {
      c.fillStyle = ink("--grid");
      c.fillRect(left, Math.round(y(top * part)), right - left, 1);
      c.fillStyle = ink("--soft");
      c.fillText(`${+(top * part).toPrecision(3)}`, left - 6, y(top * part));
    }
    c.textBaseline = "bottom";
    const room = 5.5 * size; // width of a label, px
    const step = STEPS_S.find((v) => v / span * (right - left) > room) ?? MOST_S;
    for (let back = 0; back === 0 || back < span - 0.4 * room / (right - left) * span; back += step) {
      c.textAlign = back ? "center" : "right";
      c.fillText(back ? `\u2212${back % 60 ? `${back} s` : `${back / 60} min`}` : "now", x(now - back * 1000), height);
    }
    if (!this.series.some(({key}) => this.history.some(key))) {
      c.textAlign = "center";
      c.fillText(this.nothing, (left + right) / 2, (above + below) / 2 + size);
    }
    c.save();
    c.beginPath();
    c.rect(left, 0, right - left, height);
    c.clip();
    for (const s of this.series)
      this.line(s, x, (v) => y(Math.min(v, top)), ink(s.colour));
    c.restore();
    this.marks(x, above, size, top, left, right, ink);
  }

  line({key, dash}, x, y, colour) {
    const c = this.context;
    let last = null;
    c.beginPath();
    for (const {time, values} of this.history.rows) {
      const v = values[key];
      if (!Number.isFinite(v)) {
        last = null;
        continue;
      }
      if (last !== null && time - last < 3500)
        c.lineTo(x(time), y(v));
      else {
        c.moveTo(x(time) - 1, y(v));
        c.lineTo(x(time), y(v));
      }
      last = time;
    }
    c.strokeStyle = colour;
    c.lineWidth = 1.8;
    c.lineJoin = "round";
    c.setLineDash(dash ? [4, 3] : []);
    c.stroke();
    c.setLineDash([]);
  }

  // Marks samples above the axis with an arrow each, and writes the value of the largest.
  marks(x, above, size, top, left, right, ink) {
    const c = this.context, half = size * 0.28;
    let largest = null;
    for (const {key, colour} of this.series)
      for (const {time, values} of this.history.rows) {
        if (!(values[key] > top) || x(time) < left)
          continue;
        c.fillStyle = ink(colour);
        c.beginPath();
        c.moveTo(x(time) - half, above);
        c.lineTo(x(time) + half, above);
        c.lineTo(x(time), above - 2 * half);
        c.fill();
        if (!largest || values[key] > largest.value)
          largest = {value: values[key], time};
      }
    this.clipped = largest?.value ?? null;
    if (!largest)
      return;
    const text = `${+largest.value.toPrecision(3)}`, wide = c.measureText(text).width, at = x(largest.time);
    const gap = 2 * half + x(1000) - x(0); // the next second's mark may be beside this one
    const behind = at + gap + wide > right; // write the text on the other side
    c.fillStyle = ink("--soft");
    c.textAlign = behind ? "right" : "left";
    c.textBaseline = "middle";
    c.fillText(text, behind ? at - gap : at + gap, above);
  }

  // Sets the description of the chart for screen readers.
  say(text) {
    this.canvas.setAttribute("aria-label", this.clipped ? `${text}; up to ${+this.clipped.toPrecision(3)} above the axis` : text);
  }
}
