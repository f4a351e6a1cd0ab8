// Keeps the newest frames as received, so that the user can go back. The frames cover a minute at most, and their bytes
// have a limit. Also writes these frames to a file, and reads such a file.
// SPDX-License-Identifier: Apache-2.0
import {MESSAGE_KIND} from "./layout.js";
import {Cutter, writeMessage} from "./wire.js";

export const MOST_MS = 60000;
const PARTS = ["left", "disparity", "free"];

export const bytesOf = (set) => set.frame.length + PARTS.reduce((sum, name) => sum + (set[name]?.length ?? 0), 0);

// Puts the messages of a stream together. take(set) gets each frame with its parts. set: number, ageMs, skipped, and
// the payloads frame, free, left and disparity (null if they did not come), scale (an object).
export class Assembler {
  constructor(take, notice = () => { /* a file has no notices */ }) {
    const parts = {};
    this.cutter = new Cutter((m) => {
      const name = Object.keys(MESSAGE_KIND).find((key) => MESSAGE_KIND[key] === m.kind);
      if (name === "notice")
        notice(JSON.parse(new TextDecoder().decode(m.payload)));
      else if (name !== "frame")
        parts[name] = m;
      else {
        const belongs = (part) => parts[part]?.number === m.number ? parts[part].payload : null;
        take({number: m.number, ageMs: m.ageMs, skipped: m.skipped, frame: m.payload, left: belongs("left"),
          disparity: belongs("disparity"), free: belongs("free"), scale: parts.scale && JSON.parse(new TextDecoder().decode(parts.scale.payload))});
      }
    });
  }

  push(bytes) {
    this.cutter.push(bytes);
  }
}

export class Past {
  constructor(mostBytes) {
    this.mostBytes = mostBytes;
    this.clear();
  }

  clear() {
    this.sets = []; // frames; the field taken is the time of the capture by this computer's clock, ms
    this.bytes = 0;
  }

  add(set) {
    if (this.sets.length && set.number <= this.sets.at(-1).number)
      this.clear(); // the daemon has restarted
    this.sets.push(set);
    this.bytes += bytesOf(set);
    while (this.sets.length > 1 && (this.bytes > this.mostBytes || this.sets[0].taken < set.taken - MOST_MS))
      this.bytes -= bytesOf(this.sets.shift());
  }

  // Returns the frames as a file: messages as the stream sends them.
  file() {
    const last = this.sets.at(-1)?.taken ?? 0, messages = [];
    for (const set of this.sets) {
      const add = (kind, payload) => messages.push(writeMessage({kind, number: set.number, ageMs: last - set.taken, payload}));
      for (const name of PARTS)
        if (set[name])
          add(MESSAGE_KIND[name], set[name]);
      if (set.scale)
        add(MESSAGE_KIND.scale, new TextEncoder().encode(JSON.stringify(set.scale)));
      add(MESSAGE_KIND.frame, set.frame);
    }
    return new Blob(messages, {type: "application/x-stixel-stream"});
  }

  // Reads the bytes of a file. Throws if the file has no frames or is too large.
  read(bytes) {
    const sets = [];
    if (bytes.length > 4 * this.mostBytes)
      throw new Error(`the file is larger than ${Math.round(4 * this.mostBytes / 1e6)} MB`);
    new Assembler((set) => sets.push({...set, taken: -set.ageMs})).push(bytes);
    if (!sets.length)
      throw new Error("there is no frame in it; the page reads files that Save has written");
    this.sets = sets;
    this.bytes = bytes.length;
  }
}
