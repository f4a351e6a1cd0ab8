// A recording of the server that the page plays. It keeps a window of the frames in memory, which moves with the place
// that is shown.
// SPDX-License-Identifier: Apache-2.0
import {ask, sentence} from "./link.js";
import {Assembler, bytesOf} from "./past.js";
import {publishedNs} from "./wire.js";

const LOAD_MS = 1500; // length of one answer
const BEFORE_MS = 500; // part of the first answer before the place that was chosen

export class Film {
  // info: as /api/recordings/FILE/info gives it. query(): the parts of a frame that the page wants.
  constructor(info, query, mostBytes) {
    Object.assign(this, {info, query, mostBytes, name: info.name, lengthMs: info.seconds * 1000});
    this.forget();
  }

  // Drops the window: other parts of the frames are wanted.
  forget() {
    this.sets = []; // frames; the field taken is the time since the first frame, ms
    this.bytes = this.from = this.to = 0; // from, to: ends of the window, ms
  }

  get over() {
    return this.to > this.lengthMs;
  }

  async load(from, to) {
    const part = (ms) => Math.max(0, Math.round(ms)), sets = [];
    const answer = await ask(`/api/recordings/${this.name}/stream${this.query()}&from=${part(from)}&to=${part(to)}`, {cache: "no-store"});
    if (!answer.ok)
      throw new Error(await sentence(answer));
    new Assembler((set) => sets.push({...set, taken: (publishedNs(set.frame) - this.info.first_ns) / 1e6})).push(new Uint8Array(await answer.arrayBuffer()));
    return sets;
  }

  // Adds frames after the window; while there is none, looks farther. Returns how many were added.
  async more() {
    let added = [];
    for (let length = LOAD_MS; !added.length && !this.over; length *= 2) {
      const from = this.to;
      added = await this.load(from, from + length);
      this.to = from + length;
    }
    this.add(added, []);
    return added.length;
  }

  // Adds frames before the window. Returns how many were added.
  async before() {
    let added = [];
    for (let length = LOAD_MS; !added.length && this.from > 0; length *= 2) {
      const from = Math.max(0, this.from - length);
      added = await this.load(from, this.from);
      this.from = from;
    }
    this.add([], added);
    return added.length;
  }

  // Puts frames behind and before those of the window, and drops frames at the other end if the window has become large.
  add(after, before) {
    this.sets = [...before, ...this.sets, ...after];
    this.bytes = this.sets.reduce((sum, set) => sum + bytesOf(set), 0);
    while (this.bytes > this.mostBytes && this.sets.length > 2) {
      const dropped = before.length ? this.sets.pop() : this.sets.shift();
      this.bytes -= bytesOf(dropped);
      if (before.length)
        this.to = dropped.taken;
      else
        this.from = this.sets[0].taken;
    }
  }

  // Returns the number, in the window, of the frame that is shown at this time.
  async find(ms) {
    if (!this.sets.length || ms < this.from || ms >= this.to) {
      this.forget();
      this.from = this.to = Math.max(0, Math.floor(ms - BEFORE_MS));
      await this.more();
      if (!this.sets.length)
        await this.before();
    }
    if (this.sets.length && this.sets.at(-1).taken < ms && !this.over)
      await this.more();
    const later = this.sets.findIndex((set) => set.taken > ms + 0.5);
    return later < 0 ? this.sets.length - 1 : Math.max(0, later - 1);
  }
}
