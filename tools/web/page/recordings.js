// The recordings in the server's folder: makes, lists, plays and deletes them.
// SPDX-License-Identifier: Apache-2.0
import {Film} from "./film.js";
import {ask, sentence} from "./link.js";
import {setText} from "./text.js";

const LIST_MS = 2000, SURE_MS = 4000, SAID_MS = 12000;
const $ = (id) => document.getElementById(id);

export function clock(seconds) {
  const s = Math.floor(seconds), two = (v) => String(v).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

export function size(bytes) {
  const [unit, word] = bytes < 999500 ? [1e3, "kB"] : bytes < 1e10 ? [1e6, "MB"] : [1e9, "GB"];
  return `${(bytes / unit).toFixed(bytes < 1e6 || bytes >= 1e7 ? 0 : 1)} ${word}`;
}

function make(name, text, act) {
  const e = Object.assign(document.createElement(name), {textContent: text});
  if (name === "button")
    e.type = "button";
  if (act)
    e.addEventListener("click", act);
  return e;
}

export class Recordings {
  // instance(): name of the viewed instance; query(): what the page wants of a frame; play(film): plays a recording;
  // left(name): the recording was deleted
  constructor({instance, query, play, left}) {
    Object.assign(this, {instance, query, play, left, open: false, tune: false, running: null, busy: false, key: ""});
    $("record").addEventListener("click", () => this.turn());
    $("recordings-turn").addEventListener("click", () => this.turn());
    setInterval(() => this.open && !document.hidden && this.list(), LIST_MS);
  }

  // Takes the list of instances. tune: recordings may be made and deleted here.
  take(list, tune) {
    const before = this.running, now = list.find((i) => i.name === this.instance());
    this.tune = tune;
    this.running = now?.recording ?? null;
    this.alive = now?.publisher === "alive" || now?.publisher === "stalled";
    if (before && !this.running && before.of === now?.name && !this.busy)
      this.list(before.name);
    if (this.running)
      this.running.of = now.name;
    this.tell();
  }

  tell() {
    const {running} = this, words = running ? `Stop ${clock(running.seconds)}` : "Record";
    $("to-recordings").hidden = $("recordings-tab").hidden = false;
    for (const button of [$("record"), $("recordings-turn")]) {
      button.hidden = !running && !this.tune;
      button.disabled = this.busy || !this.tune || (!running && !this.alive);
      button.setAttribute("aria-pressed", String(Boolean(running)));
      button.title = running ? `${running.name}, ${size(running.bytes)}` : "records this instance to a file on the server";
      setText(button.lastElementChild, words);
    }
    setText($("recordings-now"), running ? `${this.instance()} is being recorded: ${size(running.bytes)}. It goes on when this page is closed.` : "");
    setText($("recordings-how"), this.tune ? "" : "To look at only: stixel-web was started without --tune.");
  }

  say(text, bad) {
    clearTimeout(this.timer);
    for (const at of [$("recordings-said"), $("record-said")]) {
      setText(at, text);
      at.classList.toggle("bad", bad);
    }
    this.timer = setTimeout(() => setText($("record-said"), ""), SAID_MS);
  }

  // Sends an order. Returns whether it was taken.
  async order(path, body) {
    try {
      const answer = await ask(path, {method: "POST", body, headers: {"X-Stixel-Tune": "1", "Content-Type": "text/plain"}, signal: AbortSignal.timeout(30000)});
      const said = (await answer.text()).trim();
      this.say(answer.ok && body === "start" ? "" : said, !answer.ok);
      return answer.ok;
    } catch {
      this.say("stixel-web cannot be reached", true);
      return false;
    }
  }

  // Starts or stops a recording.
  async turn() {
    const stop = Boolean(this.running), name = this.instance();
    this.busy = true;
    this.tell();
    const done = await this.order(`/api/${encodeURIComponent(name)}/record`, stop ? "stop" : "start");
    this.busy = false;
    if (done && name === this.instance())
      this.running = stop ? null : {of: name, name: "", bytes: 0, seconds: 0};
    this.tell();
    this.list();
  }

  // Asks for the list. ended: name of a recording that ended by itself, so that the page says why.
  async list(ended) {
    try {
      const answer = await ask("/api/recordings", {cache: "no-store", signal: AbortSignal.timeout(10000)});
      if (!answer.ok)
        return this.say(await sentence(answer), true);
      this.show(await answer.json(), ended);
    } catch {
      this.say("stixel-web cannot be reached", true);
    }
  }

  show({recordings, ended: all, used_bytes: used, most_bytes: most, disk_bytes: disk}, ended) {
    const end = all.find((e) => e.name === ended), key = JSON.stringify([recordings, this.tune]);
    if (end)
      this.say(end.said, end.failed || end.said.startsWith("ended"));
    setText($("recordings-room"), `${size(used)} of ${size(most)} are used${disk < most - used ? `; the disk has room for ${size(disk)}` : ""}.`);
    $("recordings-none").hidden = recordings.length > 0;
    if (key === this.key || $("recordings-list").querySelector(".sure"))
      return;
    this.key = key;
    $("recordings-list").replaceChildren(...recordings.map((r) => this.row(r)));
  }

  row(r) {
    const row = make("li", ""), name = make("b", r.name), load = make("a", "Download"), buttons = make("span", "");
    const when = new Date(1000 * r.modified).toLocaleString("en-GB", {dateStyle: "medium", timeStyle: "short"});
    const length = r.recording ? "being recorded" : r.seconds === undefined ? "length not known" : `${r.seconds < 60 ? `${r.seconds.toFixed(1)} s` : `${clock(r.seconds)} min`}, ${r.frames} frames`;
    Object.assign(load, {href: `/api/recordings/${r.name}`, download: r.name, title: "saves the file on this computer"});
    buttons.className = "buttons";
    load.className = "button";
    if (!r.recording) {
      buttons.append(make("button", "Play", () => this.start(r.name)), load);
      if (this.tune)
        buttons.append(make("button", "Delete", (e) => this.remove(r.name, e.target)));
    }
    row.dataset.name = r.name;
    row.append(name, make("span", `${when} \u00b7 ${length} \u00b7 ${size(r.bytes)}`), buttons);
    return row;
  }

  // Marks the recording that is played; "": none.
  mark(name) {
    for (const row of $("recordings-list").children)
      row.classList.toggle("now", row.dataset.name === name);
  }

  async start(name) {
    this.say(`${name} is being read`, false);
    try {
      const answer = await ask(`/api/recordings/${name}/info`, {cache: "no-store"});
      if (!answer.ok)
        return this.say(await sentence(answer), true);
      this.say("", false);
      this.play(new Film(await answer.json(), this.query));
    } catch {
      this.say("stixel-web cannot be reached", true);
    }
  }

  // Deletes a recording at the second press.
  async remove(name, button) {
    if (!button.classList.contains("sure")) {
      button.classList.add("sure");
      button.textContent = "Really delete";
      setTimeout(() => {
        button.classList.remove("sure");
        button.textContent = "Delete";
      }, SURE_MS);
      return;
    }
    button.classList.remove("sure");
    if (await this.order(`/api/recordings/${name}`, "delete"))
      this.left(name);
    this.list();
  }
}
