// The bar below the views: pauses, steps, scrubs and plays the frames of the last minute,
// saves them, and opens a file or a recording of the server.
// SPDX-License-Identifier: Apache-2.0
import {setText} from "./text.js";
import {MOST_MS, Past} from "./past.js";

const SMALL = 48e6, LARGE = 160e6; // bytes of frames kept in the memory of a phone and of other computers
const AHEAD_MS = 1000; // a recording is loaded this long before it is shown
const WRONG_MS = 10000; // time for which a refusal is shown

export class Player {
  // show(set): shows a frame of the past; live(): shows the newest frame again; name(): returns the instance's name
  constructor({show, live, name}) {
    Object.assign(this, {show, live, name, at: 0, file: null, timer: 0, wrong: "", wanted: null, loading: false, turn: 0});
    this.own = this.past = new Past(matchMedia("(max-width: 62rem)").matches ? SMALL : LARGE);
    this.film = null; // recording of the server that is played; then it is also this.past
    this.paused = false;
    this.part = Object.fromEntries(["pause", "back", "on", "slider", "when", "live", "keep", "open", "file"].map((id) => [id, document.getElementById(`play-${id}`)]));
    this.part.pause.addEventListener("click", () => this.paused ? this.play() : this.pause());
    this.part.back.addEventListener("click", () => this.step(-1));
    this.part.on.addEventListener("click", () => this.step(1));
    this.part.live.addEventListener("click", () => this.follow());
    this.part.slider.addEventListener("input", () => this.seek(Number(this.part.slider.value)));
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
    this.own.clear();
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
    this.turn++;
  }

  // Goes to a frame of the past.
  go(at) {
    const many = this.past.sets.length;
    if (!many)
      return;
    this.paused = true;
    this.at = Math.max(0, Math.min(many - 1, at));
    this.set = this.past.sets[this.at];
    this.show(this.set);
    this.tell();
  }

  // Goes to a value of the slider: the number of a frame, or a time in a recording. The newest value counts.
  seek(value) {
    this.stop();
    if (!this.film)
      return this.go(value);
    this.wanted = value;
    return this.work(async (film) => {
      while (this.wanted !== null && this.film === film) {
        const ms = this.wanted, at = await film.find(ms);
        this.wanted = this.wanted === ms ? null : this.wanted;
        if (this.film === film)
          this.go(at);
      }
    });
  }

  async step(by) {
    this.stop();
    const at = (this.paused ? this.at : this.past.sets.length - 1) + by;
    if (this.film && (at < 0 || at >= this.past.sets.length))
      await this.work((film) => by < 0 ? film.before() : film.more());
    this.go(this.film ? this.place() + by : at);
  }

  // Returns the number of the frame that is shown, in the window of a recording.
  place() {
    return this.film.sets.indexOf(this.set);
  }

  // Does one thing at a time with the recording. Shows what went wrong.
  async work(act) {
    const {film} = this;
    if (!film || this.loading)
      return;
    this.loading = true;
    try {
      await act(film);
    } catch (e) {
      this.stop();
      this.wanted = null;
      this.refuse(`${film.name}: ${e instanceof TypeError ? "stixel-web cannot be reached" : e.message}`);
    }
    this.loading = false;
    if (this.wanted !== null && this.film === film)
      this.seek(this.wanted); // was chosen meanwhile
  }

  // Plays a recording of the server.
  start(film) {
    this.stop();
    film.mostBytes = this.own.mostBytes;
    this.film = this.past = film;
    this.file = film.name;
    this.wanted = null;
    this.loading = false;
    this.paused = true;
    this.at = 0;
    return this.seek(0).then(() => this.film === film && this.play());
  }

  // Loads the shown place again: other parts of the frames are wanted.
  again() {
    if (!this.film)
      return this.go(this.at);
    const ms = this.set?.taken ?? 0;
    this.film.forget();
    this.seek(ms);
  }

  // Plays from here to the end, at the speed at which the frames were taken.
  play() {
    if (this.timer)
      return this.stop(), this.tell();
    if (this.at >= this.past.sets.length - 1) {
      if (this.film?.over)
        return this.seek(0)?.then(() => this.next());
      this.at = this.film ? this.at : -1;
    }
    this.next();
  }

  async next() {
    const {film} = this, turn = ++this.turn;
    this.timer = this.timer || 1; // it plays, while it waits for frames, too
    if (film && !film.over && film.to - (this.set?.taken ?? 0) < AHEAD_MS) {
      const more = this.work(() => film.more());
      if (this.place() + 1 >= film.sets.length)
        await more;
      if (turn !== this.turn)
        return;
    }
    this.go((film ? this.place() : this.at) + 1);
    const {sets} = this.past, wait = this.at + 1 < sets.length ? sets[this.at + 1].taken - sets[this.at].taken : film && !film.over ? 50 : -1;
    this.timer = wait < 0 ? 0 : setTimeout(() => this.next(), Math.min(2000, wait));
    this.tell();
  }

  // Shows the newest frames again.
  follow() {
    this.stop();
    if (this.file !== null && !this.film)
      this.own.clear();
    this.film = this.file = null;
    this.past = this.own;
    this.paused = false;
    this.live();
    this.tell();
  }

  tell() {
    const {past: {sets, bytes, mostBytes}, part} = this, many = sets.length, set = this.film ? this.set : sets[this.paused ? this.at : many - 1];
    document.body.classList.toggle("paused", this.paused);
    part.slider.max = this.film ? Math.ceil(this.film.lengthMs) : Math.max(0, many - 1);
    part.slider.value = this.film ? set?.taken ?? 0 : this.paused ? this.at : many - 1;
    part.slider.disabled = part.back.disabled = part.on.disabled = part.pause.disabled = part.keep.disabled = !many;
    part.keep.disabled ||= this.film !== null; // the file is on the server
    part.live.setAttribute("aria-pressed", String(!this.paused));
    part.pause.classList.toggle("halts", this.timer > 0 || !this.paused);
    part.pause.setAttribute("aria-label", this.timer || !this.paused ? "Pause" : "Play");
    part.pause.title = part.pause.getAttribute("aria-label") + " (space)";
    const span = many ? (sets.at(-1).taken - sets[0].taken) / 1000 : 0;
    const when = this.wrong ? this.wrong : this.film && set ? `${(set.taken / 1000).toFixed(1)} of ${(this.film.lengthMs / 1000).toFixed(1)} s \u00b7 ${set.number}` : this.paused && set ? `\u2212${((sets.at(-1).taken - set.taken) / 1000).toFixed(2)} s \u00b7 ${set.number}` : `${span.toFixed(0)} s kept`;
    setText(part.when, when);
    part.slider.setAttribute("aria-valuetext", when);
    part.when.title = `${many} frames, ${(bytes / 1e6).toFixed(0)} of ${(mostBytes / 1e6).toFixed(0)} MB of this browser's memory; ${MOST_MS / 1000} s at most`;
  }

  // Returns the words of the state line about the shown frame of the past; "": the newest frame is shown.
  words() {
    const set = this.film ? this.set : this.past.sets[this.at];
    if (!this.paused || !set)
      return "";
    return this.file !== null ? `${this.film ? "Recording" : "File"} ${this.file}` : `Paused at ${new Date(set.taken).toLocaleTimeString("en-GB")}`;
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
      if (this.film)
        this.follow();
      this.past.read(new Uint8Array(await file.arrayBuffer()));
      this.file = file.name;
      this.stop();
      this.go(0);
    } catch (e) {
      this.refuse(`${file.name}: ${e.message}`);
    }
  }

  refuse(text) {
    this.wrong = text;
    setTimeout(() => this.wrong = "", WRONG_MS);
    this.tell();
  }
}
