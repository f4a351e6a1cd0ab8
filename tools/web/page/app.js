// The page: passes frames and states that the link receives to the views, the state line, the past and the dock.
// SPDX-License-Identifier: Apache-2.0
import {decode} from "./frame.js";
import {paintScale, showScale} from "./legend.js";
import {Link} from "./link.js";
import {StixelMap} from "./map.js";
import {count, number, setText} from "./text.js";
import {Panes} from "./panes.js";
import {Player} from "./player.js";
import {ago, dated, judge, OLD_MS} from "./state.js";
import {Tip} from "./tip.js";
import {CameraView} from "./view.js";
import {isBlind} from "./wire.js";

const $ = (id) => document.getElementById(id);
const keep = (key, value) => { try { localStorage.setItem(`stixel.${key}`, value); } catch { /* storage not allowed */ } };
const kept = (key) => { try { return localStorage.getItem(`stixel.${key}`); } catch { return null; } };

const LATER_MS = 1500; // what the first picture does not need is loaded after it, or after this time
const tips = {view: new Tip($("stage"), $("view")), map: new Tip($("map").parentElement, $("map"))};
const view = new CameraView($("view"), (...what) => tips.view.show(...what));
const map = new StixelMap($("map"), (...what) => tips.map.show(...what));
const now = {link: "", linkText: "", notice: null, status: null, instances: null, values: {}};
let space = null, many = null, settings = null, recordings = null, details = null, classes = null, tune = false; // loaded when first needed
let newest = null, busy = false, shown = null, shownTimes = [], seen = fresh();

function fresh() {
  return {fps: 0, skipped: 0, ageMs: NaN, since: new Date().toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"})};
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
  $("ends").value = kept("ends") ?? "";
  const aspect = Number(kept("aspect"));
  if (aspect > 0.1 && aspect < 20)
    panes.shape(aspect);
}

function changed() {
  for (const name of ["ground", "colour"])
    keep(name, choice(name));
  keep("rate", $("rate").value);
  keep("ends", $("ends").value);
  $("legend-distance").hidden = choice("colour") === "class" && choice("ground") !== "disparity";
  $("legend-object").hidden = !$("legend-distance").hidden;
  if (player.paused)
    player.again();
  else if (shown)
    display(shown);
  if (link.instance)
    link.choose(link.instance, query());
  showMany();
}

function choose(name) {
  const other = name !== link.instance;
  if (other) {
    newest = shown = now.last = now.notice = now.status = null;
    now.values = {};
    seen = fresh();
    delete document.body.dataset.frame;
    details?.clear();
    view.clear();
    map.show(null, "");
    space?.show(null, null, "");
    player.clear();
  }
  keep("instance", name);
  window.history.replaceState(null, "", `?i=${encodeURIComponent(name)}`);
  link.choose(name, query());
  if (other) {
    settings?.clear();
    settings?.ask();
  }
  tell();
}

// ---- instances ----

const runs = (publisher) => publisher === "alive" || publisher === "stalled";

// Marks instances that do not run. For the viewed instance its own stream is newer than the list.
function nameOptions() {
  for (const option of $("instance").options) {
    if (option.disabled)
      continue;
    const listed = now.instances?.find((v) => v.name === option.value)?.publisher;
    const publisher = option.value === link.instance ? now.notice?.publisher ?? listed : listed;
    setText(option, runs(publisher) ? option.value : `${option.value} (off)`);
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

function offer(list, may, left, keeps) {
  now.instances = list;
  tune = may;
  showRecordings(list, keeps);
  if (settings)
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
  $("many-pick").hidden = list.length < 2;
  showMany();
  tell();
}

// ---- views ----

// Shows or ends the view of several cameras.
async function showMany() {
  const open = panes.open("many"), names = (now.instances ?? []).filter((i) => runs(i.publisher) || many?.tiles.has(i.name)).map((i) => i.name);
  $("many").hidden = !open;
  document.body.classList.toggle("many", open);
  panes.place();
  if (!open && many?.tiles.size)
    player.follow();
  if (!open)
    return many?.end();
  if (!many) {
    const {Many} = await import("./many.js");
    many = many ?? new Many($("many"), {choice: () => ({ground: choice("ground"), colour: choice("colour")}), pick: (name) => {
      document.querySelector("input[name=view][value=many]").click();
      $("instance").value = name;
      choose(name);
    }});
  }
  const own = link.instance, order = [...names.filter((n) => n === own), ...names.filter((n) => n !== own)];
  now.left = many.show(order, own, query().replace(/&?fps=\d+|$/, "&fps=10"));
}

// Opens the panel of settings. open false: informs the panel that it is hidden.
async function showSettings(open) {
  if (open && !settings) {
    const {Settings} = await import("./settings.js");
    settings = settings ?? new Settings($("dock-settings"), {instance: () => link.instance, keep, kept});
    settings.tune = tune;
  }
  if (!settings)
    return;
  settings.open = panes.page === "settings";
  settings.ask();
}

// Returns whether the first picture is there, or none comes: what it does not need is loaded after it.
function isLater() {
  return shown !== null || performance.now() > LATER_MS;
}

async function loadDetails() {
  if (details || !isLater())
    return;
  const {Details} = await import("./details.js");
  details = details ?? new Details();
}

// Loads what shows classes, with the first frame that has them.
async function loadClasses() {
  classes = await import("./classes.js");
}

// Shows the recordings if the server keeps some. list: of the instances.
async function showRecordings(list, keeps) {
  if (!recordings && !(keeps && isLater()))
    return;
  if (!recordings) {
    const {Recordings} = await import("./recordings.js");
    recordings = recordings ?? new Recordings({instance: () => link.instance, query, play: (film) => player.start(film),
      left: (name) => player.film?.name === name && player.follow()});
    if (kept("dock") === "recordings")
      panes.start("recordings");
  }
  recordings.take(list, tune);
}

function openRecordings(open) {
  if (!recordings)
    return;
  recordings.open = open;
  if (open)
    recordings.list();
}

// Makes the view in three dimensions when it is opened first.
async function showSpace() {
  if (!panes.open("space") || space)
    return;
  const {Space} = await import("./space.js");
  space = space ?? new Space($("space"), $("space-labels"));
  setText($("space-note"), space.works ? "What is not seen is empty here, and not free." : "This browser offers no WebGL.");
  $("space-in").onclick = () => space.zoom(1.25);
  $("space-out").onclick = () => space.zoom(0.8);
  $("space-reset").onclick = () => space.reset();
  if (shown)
    display(shown);
}

function display(set) {
  const {parsed: f} = set, ground = choice("ground"), colour = choice("colour"), picture = ground === "none" ? null : set.picture;
  if (panes.aspect !== f.width / f.height) {
    panes.shape(f.width / f.height);
    keep("aspect", panes.aspect);
  }
  if (!classes && f.stixels.labelled)
    loadClasses();
  classes?.dressOf(f, link.instance);
  classes?.showClasses(f, colour === "class" && ground !== "disparity" && !f.blind);
  if (panes.open("picture"))
    view.show(f, picture, colour, ground === "disparity");
  if (panes.open("map"))
    map.show(f, colour);
  if (panes.open("space"))
    space?.show(f, picture, ground === "disparity" ? "off" : colour);
  showScale(set.scale);
  $("legend-moves").hidden = !f.motion && !f.objects;
}

function present(set) {
  if (shown?.picture && shown.picture !== set.picture)
    shown.picture.close();
  shown = set;
  display(set);
  if (!set.past) {
    seen.ageMs = set.ageMs + performance.now() - set.received;
    shownTimes.push(performance.now());
    seen.skipped = Math.max(seen.skipped, set.skipped);
  }
  document.body.dataset.frame = set.number;
  loadDetails();
}

// Decodes one picture at a time. Of the pictures that come meanwhile, only the newest waits. If the user chooses another
// instance meanwhile, the picture is not shown: it would stand under the other name.
async function turn() {
  if (busy || !newest)
    return;
  busy = true;
  const set = newest, from = link.instance;
  newest = null;
  try {
    await decode(set, choice("ground"));
    await new Promise(requestAnimationFrame);
    if (link.instance === from)
      present(set);
    else
      set.picture?.close();
  } catch (e) {
    console.error("a frame cannot be shown:", e);
  }
  busy = false;
  tell();
  turn();
}

// Saves the present picture to a file.
async function save() {
  const name = `${link.instance}-${shown?.number}.png`, ground = choice("ground");
  view.show(shown.parsed, ground === "none" ? null : shown.picture, choice("colour"), ground === "disparity");
  const blob = await view.save();
  if (!blob)
    return;
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// Opens or closes the choices of the display, which small screens hide.
function choices(open) {
  $("choices").classList.toggle("open", open);
  $("display").setAttribute("aria-expanded", String(open));
}

function fullScreen() {
  (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => { /* the browser refuses */ });
}

// ---- state ----

function verdict() {
  if (now.link === "lost")
    return {kind: "bad", word: "No connection", text: now.linkText, veil: "No connection"};
  if (!link.instance)
    return now.instances ? {kind: "warn", word: "Nothing runs", text: "This page goes on when a stixeld starts on this machine: stixeld --instance front", veil: "No stixeld runs"}
      : {kind: "wait", word: "Connecting", text: "", veil: ""};
  return judge({name: link.instance, notice: now.notice, status: now.status, shown: now.last});
}

// Returns the remark about an instance that runs: its worst problem, or else its engine and source.
function remark(kind) {
  const s = now.status, ground = choice("ground"), camera = s?.source?.cameras?.[0], worst = details?.health.worst();
  if (kind !== "good")
    return ["", ""];
  if (worst)
    return ["warn", worst];
  if (now.values.drops >= 1)
    return ["warn", `pairs dropped a second: ${number(now.values.drops, 0)}`];
  if (shown && !shown.past && !shown.picture && ground !== "none" && s?.images?.[ground] === "off")
    return ["warn", "the daemon publishes no such image: output.planes"];
  if (now.left && panes.open("many"))
    return ["good", `${now.left} more cameras run: four fit`];
  return ["good", s ? `${s.engine?.backend ?? ""}, ${s.source?.kind ?? ""} ${camera?.width ?? "?"} \u00d7 ${camera?.height ?? "?"}` : ""];
}

function tell() {
  const v = verdict(), old = v.kind !== "good" && v.veil !== "", [kind, more] = remark(v.kind), past = player.words();
  $("state").className = `state ${kind || v.kind}`;
  setText($("state-word"), v.word);
  setText($("state-text"), [past, [v.text, more].filter(Boolean).join(" \u00b7 ").replace(/^(?=.)/, past && "now: ")].filter(Boolean).join(" \u00b7 "));
  setText($("spoken"), v.kind === "good" ? v.word : `${v.word}. ${v.text.replace(/, [\d.]+ (s|min) ago/, "")}`);
  document.body.classList.toggle("old", old);
  if (old)
    details?.health.forget();
  const veil = past && shown?.past ? "" : v.veil;
  $("veil").hidden = !veil;
  setText($("veil"), veil);
  $("save").disabled = !shown;
  recordings?.mark(player.film?.name ?? "");
  document.title = `${v.kind === "good" ? "" : `${v.word}: `}${link.instance ?? ""} stixeld`.trim();
  setText($("now-fps"), old || !Number.isFinite(now.values.fps) ? "" : `${number(now.values.fps, 1)} fps`);
  setText($("now-latency"), old || !Number.isFinite(now.values.p50) ? "" : `${number(now.values.p50, now.values.p50 < 10 ? 1 : 0)} ms`);
}

function tick(status, text) {
  loadDetails();
  const from = performance.now() - 1000, since = now.last ? performance.now() - now.last.received : Infinity;
  now.status = status;
  classes?.learn(link.instance, status);
  shownTimes = shownTimes.filter((t) => t > from);
  seen.fps = shownTimes.length;
  if (!details)
    return tell();
  now.values = details.show(status, {...seen, age: since < OLD_MS ? `${count(seen.ageMs)} ms` : now.last ? ago(since) : "", text});
  tell();
}

// ---- start ----

const player = new Player({
  show(set) {
    newest = {...set, past: true};
    turn();
  },
  live() {
    newest = now.last && {...now.last};
    turn();
  },
  name: () => link.instance ?? "stixeld",
});
const panes = new Panes({keep, kept,
  changed() {
    showSpace();
    showMany();
    if (shown)
      display(shown);
  },
  opened(page) {
    showSettings(page === "settings");
    openRecordings(page === "recordings");
  }});

const link = new Link({
  frame(set) {
    player.add(set);
    many?.give(link.instance, now.notice, set);
    now.last = {...set, parsed: {blind: isBlind(set.frame)}};
    if (player.paused || panes.open("many"))
      return tell();
    newest = set;
    turn();
  },
  notice(n) {
    now.notice = dated(n, now.notice);
    nameOptions();
    link.someone = !["absent", "ended", "died"].includes(n.publisher);
    many?.give(link.instance, now.notice, null);
    tell();
  },
  link(word, text) {
    if (word === now.link && text === now.linkText)
      return;
    now.link = word;
    now.linkText = text;
    tell();
  },
  status: tick,
  instances: offer,
});

restore();
paintScale();
panes.start(kept("dock"));
changed();
const asked = new URLSearchParams(location.search).get("i");
if (asked)
  choose(asked); // no need to wait for the list
showSpace();
for (const id of ["rate", "ends"])
  $(id).addEventListener("change", changed);
for (const input of document.querySelectorAll("input[name=ground], input[name=colour]"))
  input.addEventListener("change", changed);
$("save").addEventListener("click", save);
$("full").hidden = !document.fullscreenEnabled;
$("full").addEventListener("click", fullScreen);
document.addEventListener("fullscreenchange", () =>
  setText($("full"), document.fullscreenElement ? "Leave full screen" : "Full screen"));
$("display").addEventListener("click", () => choices(!$("choices").classList.contains("open")));
document.addEventListener("pointerdown", (e) => !e.target.closest("#choices, #display") && choices(false));
$("map-in").addEventListener("click", () => map.zoom(1.25));
$("map-out").addEventListener("click", () => map.zoom(0.8));
$("map-fit").addEventListener("click", () => map.fit());
$("instance").addEventListener("change", () => choose($("instance").value));
setInterval(tell, 250);
