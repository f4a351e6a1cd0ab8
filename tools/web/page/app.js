// The page: takes the messages of the link, decides on the state to show, and shows it.
// SPDX-License-Identifier: Apache-2.0
import {Birdseye} from "./birdseye.js";
import {Chart, History} from "./charts.js";
import {Health} from "./health.js";
import {KIND} from "./layout.js";
import {Link} from "./link.js";
import {CLASS, DISTANCE} from "./palette.js";
import {count, number, setText, showCameras, showFacts, showStages} from "./panels.js";
import {Settings} from "./settings.js";
import {CameraView} from "./view.js";
import {readFrame, readFree} from "./wire.js";

const OLD_MS = 1500; // age of a picture that is no longer shown as live, ms
const $ = (id) => document.getElementById(id);
const keep = (key, value) => { try { localStorage.setItem(`stixel.${key}`, value); } catch { /* storage not allowed */ } };
const kept = (key) => { try { return localStorage.getItem(`stixel.${key}`); } catch { return null; } };

const view = new CameraView($("view"), (text) => setText($("probe"), text || "Point at a stixel to measure it."));
const bird = new Birdseye($("bird"));
const health = new Health($("health"));
const history = new History();
const charts = {
  fps: new Chart($("c-fps"), history, [{key: "fps", colour: "--one"}], 10, "nothing yet"),
  latency: new Chart($("c-latency"), history, [{key: "p99", colour: "--two", dash: true}, {key: "p50", colour: "--one"}], 10, "nothing yet"),
  power: new Chart($("c-power"), history, [{key: "watts", colour: "--three"}], 10, "nothing yet"),
  drops: new Chart($("c-drops"), history, [{key: "drops", colour: "--two"}], 1, "nothing yet"),
};
const now = {link: "", linkText: "", notice: null, status: null, statusText: "", instances: null};
let known = null; // last status received
let newest = null, busy = false, shown = null, shownTimes = [], seen = fresh();

function fresh() {
  return {fps: 0, skipped: 0, since: new Date().toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"})};
}

// ---- choices ----

function choice(name) {
  return document.querySelector(`input[name=${name}]:checked`).value;
}

function query() {
  const ground = choice("ground"), rate = $("rate").value, ends = [...$("ends").value.matchAll(/\d+(\.\d+)?/g)];
  const given = ends.length === 2 ? [`near=${ends[0][0]}`, `far=${ends[1][0]}`] : [];
  return `?${["free=yes", "scale=yes", ...given, ...(ground === "none" ? [] : [`images=${ground}`]), ...(rate ? [`fps=${rate}`] : [])].join("&")}`;
}

function restore() {
  for (const name of ["ground", "colour"]) {
    const input = document.querySelector(`input[name=${name}][value="${CSS.escape(kept(name) ?? "")}"]`);
    if (input)
      input.checked = true;
  }
  $("rate").value = kept("rate") ?? (matchMedia("(max-width: 40rem)").matches ? "15" : "30");
  $("range").value = kept("range") ?? "40";
  $("ends").value = kept("ends") ?? "";
  bird.range = Number($("range").value);
  const aspect = kept("aspect");
  if (/^\d+ \/ \d+$/.test(aspect ?? ""))
    shape(aspect);
}

function changed() {
  for (const name of ["ground", "colour"])
    keep(name, choice(name));
  keep("rate", $("rate").value);
  keep("range", $("range").value);
  keep("ends", $("ends").value);
  bird.range = Number($("range").value);
  $("legend-distance").hidden = choice("colour") === "class" && choice("ground") !== "disparity";
  $("legend-object").hidden = !($("ends-pick").hidden = $("legend-distance").hidden);
  if (shown)
    display(shown);
  if (link.instance)
    link.choose(link.instance, query());
}

function choose(name) {
  if (name !== link.instance) {
    newest = shown = now.notice = now.status = known = null;
    history.rows.length = 0;
    seen = fresh();
    view.clear();
    health.clear();
    bird.show(null, "");
  }
  keep("instance", name);
  window.history.replaceState(null, "", `?i=${encodeURIComponent(name)}`);
  const other = name !== link.instance;
  link.choose(name, query());
  if (other) {
    settings.clear();
    settings.ask();
  }
  judge();
}

// ---- instances ----

// Marks instances that do not run. For the viewed instance its own stream is newer than the list.
function nameOptions() {
  for (const option of $("instance").options) {
    if (option.disabled)
      continue;
    const listed = now.instances?.find((v) => v.name === option.value)?.publisher;
    const publisher = option.value === link.instance ? now.notice?.publisher ?? listed : listed;
    setText(option, publisher === "alive" || publisher === "stalled" ? option.value : `${option.value} (off)`);
  }
}

// Returns a text on the instances that stixel-web does not show, and why.
function leftOut(left) {
  const said = [];
  if (left?.foreign)
    said.push(`${left.foreign} of other users`);
  if (left?.beyond)
    said.push(`${left.beyond} more`);
  return said.length ? `left out: ${said.join(", ")}` : "";
}

function offer(list, tune, left) {
  now.instances = list;
  settings.tune = tune;
  const wanted = link.instance ?? new URLSearchParams(location.search).get("i") ?? kept("instance");
  const alive = list.find((i) => i.publisher === "alive");
  const name = link.instance ?? (list.some((i) => i.name === wanted) || new URLSearchParams(location.search).has("i") ? wanted
    : (alive ?? list[0])?.name);
  const names = list.map((i) => i.name);
  if (name && !names.includes(name))
    names.push(name);
  const select = $("instance");
  const out = leftOut(left), options = names.map((n) => new Option(n, n));
  if (out) {
    options.push(new Option(out, out));
    options[options.length - 1].disabled = true;
  }
  if (options.map((o) => o.value).join("/") !== [...select.options].map((o) => o.value).join("/"))
    select.replaceChildren(...options);
  nameOptions();
  if (name) {
    select.value = name;
    if (!link.instance)
      choose(name);
  }
  judge();
}

// ---- pictures ----

async function decode(set) {
  const ground = choice("ground");
  const bytes = ground === "left" ? set.left : ground === "disparity" ? set.disparity : null;
  set.parsed = readFrame(set.frame);
  set.parsed.free = set.free && readFree(set.free);
  set.parsed.scale = set.scale;
  set.picture = bytes ? await createImageBitmap(new Blob([bytes], {type: ground === "left" ? "image/jpeg" : "image/png"})) : null;
  return set;
}

// Sets the picture's shape, "640 / 240". The number --aspect gives the width on the full screen.
function shape(aspect) {
  const [width, height] = aspect.split(" / ");
  $("stage").style.aspectRatio = aspect;
  $("stage").style.setProperty("--aspect", width / height);
}

function display(set) {
  const {parsed: f} = set, aspect = `${f.width} / ${f.height}`;
  if ($("stage").style.aspectRatio !== aspect) {
    shape(aspect);
    keep("aspect", aspect);
  }
  view.show(f, choice("ground") === "none" ? null : set.picture, choice("colour"), choice("ground") === "disparity");
  bird.show(f, choice("colour"));
  legend(set.scale);
}

// Decodes one picture at a time. Of the pictures that come meanwhile, only the newest waits.
async function turn() {
  if (busy || !newest)
    return;
  busy = true;
  const set = newest;
  newest = null;
  try {
    await decode(set);
    await new Promise(requestAnimationFrame);
    if (shown?.picture && shown.picture !== set.picture)
      shown.picture.close();
    shown = set;
    set.delay = performance.now() - set.received;
    display(set);
    shownTimes.push(performance.now());
    seen.skipped = Math.max(seen.skipped, set.skipped);
    document.body.dataset.frame = set.number;
  } catch (e) {
    console.error("a frame cannot be shown:", e);
  }
  busy = false;
  judge();
  turn();
}

// Saves the present view to a file.
async function save() {
  const name = `${link.instance}-${shown?.number}.png`, blob = await view.save();
  if (!blob)
    return;
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

function fullScreen() {
  (document.fullscreenElement ? document.exitFullscreen() : $("camera").requestFullscreen()).catch(() => { /* not allowed */ });
}

let legendOf = "";
function legend(scale) {
  const key = JSON.stringify(scale ?? null);
  if (!scale || key === legendOf)
    return;
  legendOf = key;
  let from = -1; // end of the last number, of the width
  $("ticks").replaceChildren(...scale.ticks.flatMap(({place, text}, i, {length}) => {
    const last = i === length - 1, words = last ? `${text} ${scale.unit}` : text, at = 1 - place, wide = 0.03 * words.length;
    if (i && !last && (at - wide / 2 < from + 0.02 || at + wide / 2 > 0.85))
      return [];
    from = at + wide / 2;
    const mark = document.createElement("span");
    mark.textContent = words;
    mark.className = last ? "last" : i ? "" : "first";
    mark.style.left = `${at * 100}%`;
    return [mark];
  }));
}

function paintScale() {
  const c = $("scale").getContext("2d");
  DISTANCE.forEach((colour, i) => {
    c.fillStyle = `rgb(${colour})`;
    c.fillRect(255 - i, 0, 1, 1); // near is on the left
  });
  Object.entries(KIND).forEach(([name, kind]) => kind < KIND.unknown &&
    document.querySelector(`.swatches .${name}`)?.style.setProperty("--swatch", `rgb(${CLASS[kind]})`));
}

// ---- state ----

function ago(ms) {
  return ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : ms < 120000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60000)} min`;
}

// Returns the present state: {kind, word, text, veil}. The first fault found is shown.
function verdict() {
  const {notice: n, status: s} = now, name = link.instance;
  const since = shown ? performance.now() - shown.received : Infinity;
  if (now.link === "lost")
    return {kind: "bad", word: "No connection", text: now.linkText, veil: "No connection"};
  if (!name)
    return now.instances ? {kind: "warn", word: "Nothing runs", text: "No stixeld runs on this machine. This page goes on when one starts: stixeld --instance front", veil: "No stixeld runs"}
      : {kind: "wait", word: "Connecting", text: "", veil: ""};
  if (!n || n.publisher === "unknown")
    return {kind: "wait", word: "Connecting", text: `to '${name}'`, veil: ""};
  if (n.error)
    return {kind: "bad", word: "Not readable", text: `'${name}': ${n.error}`, veil: "Not readable"};
  const gone = {absent: ["Not running", `no stixeld runs as '${name}'; this page goes on when it starts`],
    ended: ["Ended", `stixeld '${name}' ended in order; this page goes on when it starts again`],
    died: ["Died", `stixeld '${name}' was killed or crashed; this page goes on when it starts again`],
    replaced: ["Restarting", `stixeld '${name}' was replaced by a new one`]}[n.publisher];
  if (gone)
    return {kind: "bad", word: gone[0], text: gone[1], veil: gone[0]};
  if (n.publisher === "stalled")
    return {kind: "bad", word: "Hangs", text: `stixeld '${name}' gives no sign of life for ${ago(n.heartbeat_ms)}`, veil: "stixeld hangs"};
  const reason = s?.reason ?? "";
  if (n.state === "no_camera")
    return {kind: "bad", word: "No camera", text: reason || "it is looked for", veil: "No camera"};
  if (n.state === "starting" || n.state === "stopping")
    return {kind: "warn", word: n.state === "starting" ? "Starting" : "Stopping", text: reason, veil: shown && since < OLD_MS ? "" : "Not yet"};
  if (since > OLD_MS)
    return {kind: "warn", word: shown ? "No new frames" : "Waiting", text: shown ? `the newest came ${ago(since)} ago. ${reason}` : `for the first frame. ${reason}`, veil: shown ? `Nothing new for ${ago(since)}` : ""};
  if (shown.parsed.blind)
    return {kind: "bad", word: "Blind", text: `Nothing is free: ${reason || "the pictures show nothing of what is there"}`, veil: ""};
  if (n.state === "degraded")
    return {kind: "warn", word: "Degraded", text: reason, veil: ""};
  const camera = s?.source?.cameras?.[0];
  return {kind: "good", word: "Running", veil: "",
    text: s ? `${s.engine?.backend ?? ""} (${s.engine?.device ?? ""}), ${s.source?.kind ?? ""} ${camera?.width ?? "?"} \u00d7 ${camera?.height ?? "?"}` : now.statusText};
}

function noImage() {
  const ground = choice("ground"), word = now.status?.images?.[ground];
  return shown && !shown.picture && ground !== "none" && word === "off" ? "the daemon publishes no such image: output.planes" : "";
}

function judge() {
  const v = verdict(), old = v.kind !== "good" && v.veil !== "";
  $("state").className = `state ${v.kind}`;
  setText($("state-word"), v.word);
  setText($("state-text"), [v.text, noImage()].filter(Boolean).join("; "));
  document.body.classList.toggle("old", old);
  if (old)
    health.forget();
  $("veil").hidden = !v.veil;
  $("save").disabled = !shown;
  setText($("veil"), v.veil);
  document.title = `${v.kind === "good" ? "" : `${v.word}: `}${link.instance ?? ""} stixeld`.trim();
  const since = shown ? performance.now() - shown.received : Infinity;
  setText($("now-frame"), shown ? count(shown.number) : "\u2013");
  setText($("now-age"), since < OLD_MS ? `${Math.round(shown.ageMs + shown.delay)} ms` : shown ? ago(since) : "\u2013");
  setText($("now-fps"), number(now.status?.fps?.last_1s ?? NaN, 1));
}

// ---- charts ----

let before = null; // previous totals of dropped pairs
function sample(s) {
  const drops = s && Object.values(s.frames.dropped).reduce((sum, v) => sum + v, 0);
  const latency = s?.latency_1s_us?.capture_to_publish ?? s?.latency_10s_us?.capture_to_publish;
  const same = before && s && before.epoch === s.epoch, time = Date.now();
  const values = {
    fps: s?.fps?.last_1s ?? NaN, p50: latency?.n > 0 ? latency.p50 / 1000 : NaN, p99: latency?.n > 0 ? latency.p99 / 1000 : NaN,
    watts: s?.power?.watts ?? NaN, drops: same ? Math.max(0, (drops - before.drops) * 1000 / Math.max(500, time - before.time)) : NaN,
  };
  before = s ? {epoch: s.epoch, drops, time} : null;
  history.add(time, values);
  return values;
}

function values(id, parts) {
  $(id).replaceChildren(...parts.flatMap(([mark, text, value]) => {
    const line = document.createElement("i"), bold = document.createElement("b");
    line.className = mark;
    bold.textContent = value;
    return [...(mark ? [line] : []), text, bold];
  }));
}

function showCharts(v, s) {
  values("v-fps", [["", "", number(v.fps, 1)]]);
  values("v-latency", [["s1", "p50 ", number(v.p50, 1)], ["s2 dash", "p99 ", number(v.p99, 1)]]);
  values("v-power", [["", "", Number.isFinite(v.watts) ? `${number(v.watts, 1)} W, ${number(s?.power?.fps_per_watt ?? NaN, 2)} fps/W` : number(v.watts, 1)]]);
  values("v-drops", [["", "", number(v.drops, 1)]]);
  charts.fps.say(`Frames a second: ${number(v.fps, 1)}`);
  charts.latency.say(`Latency from capture to publication: median ${number(v.p50, 1)} ms, 99 % ${number(v.p99, 1)} ms`);
  charts.power.say(Number.isFinite(v.watts) ? `Power: ${number(v.watts, 1)} W` : "Power: not known");
  charts.drops.say(`Pairs dropped a second: ${number(v.drops, 1)}`);
  document.body.dataset.samples = history.rows.length;
  // hide the chart if the machine has no power sensor
  $("power").hidden = !history.some("watts");
  $("charts").classList.toggle("three", $("power").hidden);
  for (const chart of Object.values(charts))
    chart.paint();
}

function tick(status, text) {
  const from = performance.now() - 1000;
  now.status = status;
  now.statusText = text;
  shownTimes = shownTimes.filter((t) => t > from);
  seen.fps = shownTimes.length;
  showCharts(sample(status), status);
  known = status ?? known; // if there is no status, the last one stays, greyed
  showStages($("stages"), $("stages-note"), known);
  if (status)
    health.show(status.pictures, status.camera);
  showFacts($("facts"), known, seen);
  showCameras($("cameras-box"), $("cameras"), known);
  judge();
}

// ---- start ----

const link = new Link({
  frame(set) {
    newest = set;
    turn();
  },
  notice(n) {
    now.notice = n;
    nameOptions();
    link.someone = !["absent", "ended", "died"].includes(n.publisher);
    judge();
  },
  link(word, text) {
    if (word === now.link && text === now.linkText)
      return;
    now.link = word;
    now.linkText = text;
    judge();
  },
  status: tick,
  instances: offer,
});

const settings = new Settings($("settings"), {instance: () => link.instance, keep, kept});
restore();
paintScale();
changed();
for (const id of ["rate", "range", "ends"])
  $(id).addEventListener("change", changed);
for (const input of document.querySelectorAll("input[type=radio]"))
  input.addEventListener("change", changed);
$("save").addEventListener("click", save);
$("full").hidden = !document.fullscreenEnabled;
$("full").addEventListener("click", fullScreen);
document.addEventListener("fullscreenchange", () =>
  setText($("full"), document.fullscreenElement ? "Leave full screen" : "Full screen"));
$("instance").addEventListener("change", () => choose($("instance").value));
setInterval(judge, 250);
