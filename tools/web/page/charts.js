// Lines over the last five minutes, one sample a second.
// SPDX-License-Identifier: Apache-2.0
const SPAN_S = 300;

// Values in time; what is not known is a gap.
export class History {
  constructor() {
    this.rows = [];
  }

  add(time, values) {
    this.rows.push({time, values});
    while (this.rows[0].time < time - SPAN_S * 1000 - 2000)
      this.rows.shift();
  }
}

function nice(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 2.5, 5, 10].map((f) => f * power).find((v) => v >= most - 1e-9);
}

export class Chart {
  // series: [{key, colour (CSS variable), dash}]; least: the axis ends there at least; nothing: said without any value
  constructor(canvas, history, series, least, nothing) {
    Object.assign(this, {canvas, history, series, least, nothing});
    this.context = canvas.getContext("2d");
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.paint());
  }

  top() {
    let most = this.least;
    for (const {values} of this.history.rows)
      for (const {key} of this.series)
        if (values[key] > most)
          most = values[key];
    return nice(most);
  }

  paint() {
    const ratio = window.devicePixelRatio || 1, {canvas, context: c} = this;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height)
      return;
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const size = Math.max(11, Math.min(15, height / 9)), left = size * 3.1, right = width - 6, above = size * 0.8, below = height - size * 1.5;
    const top = this.top(), now = Date.now();
    const x = (time) => right - (now - time) / 1000 / SPAN_S * (right - left), y = (v) => below - v / top * (below - above);
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
    const step = (right - left) / 5 > 5.5 * size ? 1 : 2; // labels need room
    for (let minutes = 4; minutes >= 0; minutes -= step) {
      c.textAlign = minutes ? "center" : "right";
      c.fillText(minutes ? `\u2212${minutes} min` : "now", x(now - minutes * 60000), height);
    }
    if (!this.history.rows.some(({values}) => this.series.some(({key}) => Number.isFinite(values[key])))) {
      c.textAlign = "center";
      c.fillText(this.nothing, (left + right) / 2, (above + below) / 2 + size);
    }
    c.save();
    c.beginPath();
    c.rect(left, 0, right - left, height);
    c.clip();
    for (const s of this.series)
      this.line(s, x, y, ink(s.colour));
    c.restore();
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

  // What it shows, in words, for those who cannot see it.
  say(text) {
    this.canvas.setAttribute("aria-label", text);
  }
}
