// The details: charts of the last minutes, where the time goes, figures of the pictures, facts.
// SPDX-License-Identifier: Apache-2.0
import {Chart, History} from "./charts.js";
import {Health} from "./health.js";
import {showCameras, showFacts, showStages} from "./panels.js";
import {number} from "./text.js";

const $ = (id) => document.getElementById(id);

function values(id, parts) {
  $(id).replaceChildren(...parts.flatMap(([mark, text, value]) => {
    const line = document.createElement("i"), bold = document.createElement("b");
    line.className = mark;
    bold.textContent = value;
    return [...(mark ? [line] : []), text, bold];
  }));
}

export class Details {
  constructor() {
    this.health = new Health($("health"));
    this.history = new History();
    const chart = (id, series, least) => new Chart($(id), this.history, series, least, "nothing yet");
    this.charts = {
      fps: chart("c-fps", [{key: "fps", colour: "--one"}], 10),
      latency: chart("c-latency", [{key: "p99", colour: "--two", dash: true}, {key: "p50", colour: "--one"}], 10),
      power: chart("c-power", [{key: "watts", colour: "--three"}], 10),
      drops: chart("c-drops", [{key: "drops", colour: "--two"}], 1),
    };
    this.clear();
  }

  // Starts again for another instance.
  clear() {
    this.known = null; // last status received
    this.before = null; // previous total of dropped pairs
    this.history.rows.length = 0;
    this.health.clear();
  }

  // Handles a status; null: there is none, and the last one stays. seen: what this page shows. Returns the present
  // values.
  show(status, seen) {
    const now = this.sample(status);
    this.showCharts(now, status);
    this.known = status ?? this.known;
    showStages($("stages"), $("stages-note"), this.known);
    if (status)
      this.health.show(status.pictures, status.camera, status.motion);
    showFacts($("facts"), this.known, seen);
    showCameras($("cameras-box"), $("cameras"), this.known);
    return now;
  }

  sample(s) {
    const drops = s && Object.values(s.frames.dropped).reduce((sum, v) => sum + v, 0), {before} = this;
    const latency = s?.latency_1s_us?.capture_to_publish ?? s?.latency_10s_us?.capture_to_publish;
    const same = before && s && before.epoch === s.epoch, time = Date.now();
    const now = {
      fps: s?.fps?.last_1s ?? NaN, p50: latency?.n > 0 ? latency.p50 / 1000 : NaN, p99: latency?.n > 0 ? latency.p99 / 1000 : NaN,
      watts: s?.power?.watts ?? NaN, drops: same ? Math.max(0, (drops - before.drops) * 1000 / Math.max(500, time - before.time)) : NaN,
    };
    this.before = s ? {epoch: s.epoch, drops, time} : null;
    this.history.add(time, now);
    return now;
  }

  showCharts(v, s) {
    const {charts} = this;
    values("v-fps", [["", "", number(v.fps, 1)]]);
    values("v-latency", [["s1", "p50 ", number(v.p50, 1)], ["s2 dash", "p99 ", number(v.p99, 1)]]);
    values("v-power", [["", "", Number.isFinite(v.watts) ? `${number(v.watts, 1)} W, ${number(s?.power?.fps_per_watt ?? NaN, 2)} fps/W` : number(v.watts, 1)]]);
    values("v-drops", [["", "", number(v.drops, 1)]]);
    charts.fps.say(`Frames a second: ${number(v.fps, 1)}`);
    charts.latency.say(`Latency from capture to publication: median ${number(v.p50, 1)} ms, 99 % ${number(v.p99, 1)} ms`);
    charts.power.say(Number.isFinite(v.watts) ? `Power: ${number(v.watts, 1)} W` : "Power: not known");
    charts.drops.say(`Pairs dropped a second: ${number(v.drops, 1)}`);
    document.body.dataset.samples = this.history.rows.length;
    $("power").hidden = !this.history.some("watts"); // the machine has no power sensor
    for (const chart of Object.values(charts))
      chart.paint();
  }
}
