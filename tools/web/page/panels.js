// Fills tables and figures beside the pictures. Only texts change, so that the layout stays still.
// SPDX-License-Identifier: Apache-2.0
import {count, NONE, number, setText} from "./text.js";

function element(name, ...children) {
  const e = document.createElement(name);
  e.append(...children);
  return e;
}

// Adjusts the number of rows and returns them. Existing rows are kept.
export function rows(body, many, make) {
  while (body.children.length < many)
    body.append(make());
  while (body.children.length > many)
    body.lastChild.remove();
  return [...body.children];
}

function stageRow() {
  const head = element("th"), share = element("td", element("div"));
  head.scope = "row";
  share.className = "share";
  return element("tr", head, element("td"), element("td"), element("td"), share);
}

export function showStages(body, note, status) {
  const recent = ["latency_1s_us", "latency_10s_us", "latency_us"].find((key) => status?.[key]?.capture_to_publish?.n > 0);
  const table = Object.entries(status?.[recent] || {}).filter(([name, v]) => v.n > 0 || name === "capture_to_publish");
  const total = status?.[recent]?.capture_to_publish?.p50;
  setText(note, `${{latency_1s_us: "last second", latency_10s_us: "last 10 s"}[recent] || "since start"}, ms`);
  rows(body, table.length, stageRow).forEach((row, i) => {
    const [name, v] = table[i], cells = row.children;
    row.className = name === "capture_to_publish" ? "whole" : "";
    setText(cells[0], name === "capture_to_publish" ? "capture to publish" : name.replaceAll("_", " "));
    [v.p50, v.p99, v.max].forEach((us, k) => setText(cells[k + 1], number(us / 1000, 2)));
    cells[4].firstChild.style.width = `${total > 0 ? Math.min(100, 100 * v.p50 / total) : 0}%`;
  });
}

function span(seconds) {
  const s = Math.floor(seconds), two = (v) => String(v).padStart(2, "0");
  return `${s >= 86400 ? `${Math.floor(s / 86400)} d ` : ""}${two(Math.floor(s / 3600) % 24)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

function powerWords(p) {
  if (!Number.isFinite(p?.watts))
    return p?.reason ?? "no sensor";
  const each = Number.isFinite(p.joules_per_frame) ? `, ${number(p.joules_per_frame, 2)} J a frame` : "";
  return `${number(p.watts, 1)} W${each}; ${[p.source, p.scope].filter(Boolean).join(", ")}${p.stale ? " (stale)" : ""}`;
}

function boardWords(b) {
  const clock = (hz, most) => `${number(hz / 1e9, 2)}${most > 0 ? ` of ${number(most / 1e9, 2)}` : ""} GHz`;
  return [b?.model, b?.power_mode?.name && `mode ${b.power_mode.name}`, b?.cpu_hz > 0 && `processor ${clock(b.cpu_hz, b.cpu_max_hz)}`,
    b?.gpu_hz > 0 && `GPU ${clock(b.gpu_hz, b.gpu_max_hz)}`, b?.governor && `governor ${b.governor}`].filter(Boolean).join(", ") || NONE;
}

// Describes the road, with standard deviations if it was measured.
function roadWords(r) {
  const estimate = (value, sigma) => number(value, 2) + (Number.isFinite(sigma) ? ` \u00b1 ${number(sigma, 2)}` : "");
  return `${r.origin}; camera ${estimate(r.height_m, r.height_sigma_m)} m high, pitch ${estimate(r.pitch_deg, r.pitch_sigma_deg)}\u00b0, ` +
    `roll ${estimate(r.roll_deg, r.roll_sigma_deg)}\u00b0`;
}

function facts(status, seen) {
  const camera = status?.source?.cameras?.[0], road = status?.road, dropped = status?.frames?.dropped;
  return [
    ["Engine", status ? `${status.engine?.backend ?? NONE}: ${status.engine?.device ?? NONE}` : NONE],
    ["Source", status ? `${status.source?.kind ?? NONE}, ${camera?.width ?? NONE} \u00d7 ${camera?.height ?? NONE}, ${camera?.format ?? NONE}` : NONE],
    ["Frames", status ? `${count(status.frames?.published)} published of ${count(status.frames?.captured)} captured` : NONE],
    ["Dropped", dropped ? `${count(dropped.overload)} overload, ${count(dropped.unpaired)} unpaired, ${count(dropped.corrupt)} corrupt`
      + (status.external?.source ? `, ${count(dropped.no_map)} without a map` : "") : NONE],
    ["Road", road?.origin ? roadWords(road) : NONE],
    ["Stixels", status ? `${count(status.stixels?.per_frame)} a frame, ${count(status.stixels?.pixels_per_stixel)} pixels each` : NONE],
    ["Power", status ? powerWords(status.power) : NONE],
    ["Board", status ? boardWords(status.board) : NONE],
    ["Up", status ? `${span(status.uptime_s)}, version ${status.version}, pid ${status.pid}` : NONE],
    ["This page", `${number(seen.fps, 0)} a second shown, ${count(seen.skipped)} skipped since ${seen.since}${seen.age ? `; the newest is ${seen.age} old` : ""}`],
  ];
}

export function showFacts(list, status, seen) {
  const all = facts(status, seen);
  if (list.children.length !== 2 * all.length)
    list.replaceChildren(...all.flatMap(() => [element("dt"), element("dd")]));
  all.forEach(([name, text], i) => {
    setText(list.children[2 * i], name);
    setText(list.children[2 * i + 1], text);
  });
}

export function showCameras(box, body, status) {
  // sources without cameras have no counters
  const cameras = status?.source?.kind === "v4l2" ? status.source.cameras : [];
  box.hidden = !cameras.length;
  rows(body, cameras.length, () => element("tr", ...Array.from({length: 5}, () => element("td")))).forEach((row, i) => {
    const c = cameras[i];
    [`${c.side} ${c.path ?? ""}`, count(c.captured), count(c.errors ?? undefined), count(c.sequence_gaps ?? undefined), count(c.reconnects)]
      .forEach((text, k) => setText(row.children[k], text));
  });
}
