// The bar below the views: pauses, steps, scrubs and plays the frames of the last minute, saves them, and opens a file.
// SPDX-License-Identifier: Apache-2.0
import {setText} from "./panels.js";
import {MOST_MS, Past} from "./past.js";

const SMALL = 48e6, LARGE = 160e6; // bytes of frames kept in the memory of a phone and of other computers
const WRONG_MS = 10000; // time for which a refusal is shown

export class Player {
  // show(set): shows a frame of the past; live(): shows the newest frame again; name(): returns the instance's name
  constructor({show, live, name}) {
    Object.assign(this, {show, live, name, at: 0, file: null, timer: 0, wrong: ""});
    this.past = new Past(matchMedia("(max-width: 62rem)").matches ? SMALL : LARGE);
    this.paused = false;
    this.part = Object.fromEntries(["pause", "back", "on", "slider", "when", "live", "keep", "open", "file"].map((id) => [id, document.getElementById(`play-${id}`)]));
    this.part.pause.addEventListener("click", () => this.paused ? this.play() : this.pause());
    this.part.back.addEventListener("click", () => this.step(-1));
    this.part.on.addEventListener("click", () => this.step(1));
    this.part.live.addEventListener("click", () => this.follow());
    this.part.slider.addEventListener("input", () => this.go(Number(this.part.slider.value)));
    this.part.keep.addEventListener("click", () => this.save());
    this.part.open.addEventListener("click", () => this.part.file.click());
    this.part.file.addEventListener("change", () => this.openFile(this.part.file.files[0]));
    document.addEventListener("keydown", (e) => this.key(e));
    this.tell();
  }

  key(e) {
    const busy = e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, select, textarea, button, summary, canvas");
    const act = {" ": () => this.part.pause.click(), ",": () => this.step(-1), ".": () => this.step(1)}[e.key];
    if (act && (!busy || e.key !== " " && !e.target.closest("input:not([type=range]), select"))) {
      e.preventDefault();
      act();
    }
  }

  // Starts again for another instance.
  clear() {
    this.past.clear();
    this.follow();
  }

  // Keeps a new frame. While the user looks at the past, no frame is added, so that no frame of the past is dropped.
  add(set) {
    if (this.paused)
      return;
    this.past.add({...set, taken: Date.now() - set.ageMs});
    this.tell();
  }

  pause() {
    this.stop();
    this.go(this.past.sets.length - 1);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  // Goes to a frame of the past.
  go(at) {
    const many = this.past.sets.length;
    if (!many)
      return;
    this.paused = true;
    this.at = Math.max(0, Math.min(many - 1, at));
    this.show(this.past.sets[this.at]);
    this.tell();
  }

  step(by) {
    this.stop();
    this.go((this.paused ? this.at : this.past.sets.length - 1) + by);
  }

  // Plays from here to the end, at the speed at which the frames were taken.
  play() {
    if (this.timer)
      return this.stop(), this.tell();
    if (this.at >= this.past.sets.length - 1)
      this.at = -1;
    this.next();
  }

  next() {
    this.go(this.at + 1);
    const {sets} = this.past, wait = this.at + 1 < sets.length ? sets[this.at + 1].taken - sets[this.at].taken : -1;
    this.timer = wait < 0 ? 0 : setTimeout(() => this.next(), Math.min(2000, wait));
    this.tell();
  }

  // Shows the newest frames again.
  follow() {
    this.stop();
    if (this.file !== null)
      this.past.clear();
    this.file = null;
    this.paused = false;
    this.live();
    this.tell();
  }

  tell() {
    const {past: {sets, bytes, mostBytes}, part} = this, many = sets.length, set = sets[this.paused ? this.at : many - 1];
    document.body.classList.toggle("paused", this.paused);
    part.slider.max = Math.max(0, many - 1);
    part.slider.value = this.paused ? this.at : many - 1;
    part.slider.disabled = part.back.disabled = part.on.disabled = part.pause.disabled = part.keep.disabled = !many;
    part.live.setAttribute("aria-pressed", String(!this.paused));
    part.pause.classList.toggle("halts", this.timer > 0 || !this.paused);
    part.pause.setAttribute("aria-label", this.timer || !this.paused ? "Pause" : "Play");
    part.pause.title = part.pause.getAttribute("aria-label") + " (space)";
    const span = many ? (sets.at(-1).taken - sets[0].taken) / 1000 : 0;
    const when = this.wrong ? this.wrong : this.paused && set ? `\u2212${((sets.at(-1).taken - set.taken) / 1000).toFixed(2)} s \u00b7 ${set.number}` : `${span.toFixed(0)} s kept`;
    setText(part.when, when);
    part.slider.setAttribute("aria-valuetext", when);
    part.when.title = `${many} frames, ${(bytes / 1e6).toFixed(0)} of ${(mostBytes / 1e6).toFixed(0)} MB of this browser's memory; ${MOST_MS / 1000} s at most`;
  }

  // Returns the words of the state line about the shown frame of the past; "": the newest frame is shown.
  words() {
    const set = this.past.sets[this.at];
    if (!this.paused || !set)
      return "";
    return this.file !== null ? `File ${this.file}` : `Paused at ${new Date(set.taken).toLocaleTimeString("en-GB")}`;
  }

  save() {
    const {sets} = this.past, a = document.createElement("a");
    a.href = URL.createObjectURL(this.past.file());
    a.download = `${this.name()}-${sets[0].number}-${sets.at(-1).number}.stixels`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  }

  async openFile(file) {
    if (!file)
      return;
    this.part.file.value = "";
    try {
      this.past.read(new Uint8Array(await file.arrayBuffer()));
      this.file = file.name;
      this.stop();
      this.go(0);
    } catch (e) {
      this.wrong = `${file.name}: ${e.message}`;
      setTimeout(() => this.wrong = "", WRONG_MS);
      this.tell();
    }
  }
}
