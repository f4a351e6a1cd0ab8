// The connection to stixel-web: list of instances, stream and status of one instance. It reconnects after a loss, and
// is silent while the page is hidden.
// SPDX-License-Identifier: Apache-2.0
import {Assembler} from "./past.js";

const SILENCE_MS = 4000; // stixel-web sends a notice twice per second
const BACKOFF_MS = [500, 1000, 2000, 4000, 8000];
const STATUS_MS = 1000, LIST_MS = 1000;

// Fetches a path from stixel-web. fetch() refuses an address that contains a user and a password, but the browser adds
// the login of the page.
export function ask(path, how) {
  return fetch(location.origin + path, how);
}

export async function sentence(answer) {
  const text = (await answer.text()).trim();
  return text && text.length < 300 ? text : `stixel-web answered ${answer.status}`;
}

// on: {frame(set), notice(n), link(word, text), status(object or null, text), instances(list, tune, left, recordings)}. left:
// number of instances left out. tune: settings may be changed here. recordings: the server has a folder of recordings. set: as of Assembler, and when it was received. A
// link without status and instances only has the stream.
export class Link {
  constructor(on) {
    this.on = on;
    this.instance = null;
    this.query = "";
    this.tries = 0;
    this.abort = null;
    this.timer = 0;
    this.someone = true; // there may be a daemon to ask
    this.over = new AbortController();
    const {signal} = this.over;
    document.addEventListener("visibilitychange", () => document.hidden ? this.stop() : this.start(), {signal});
    window.addEventListener("online", () => this.reopen(), {signal});
    this.timers = [setInterval(() => this.watch(), 500)];
    if (on.status)
      this.timers.push(setInterval(() => this.status(), STATUS_MS));
    if (on.instances)
      this.timers.push(setInterval(() => this.list(), LIST_MS));
    this.list();
  }

  // Ends the connection for good.
  end() {
    this.instance = null;
    this.over.abort();
    this.timers.forEach(clearInterval);
    this.stop();
  }

  choose(instance, query) {
    if (instance === this.instance && query === this.query)
      return;
    this.someone = this.someone || instance !== this.instance;
    this.asked = this.asked && instance === this.instance; // the status is asked for after the first picture
    this.instance = instance;
    this.query = query;
    this.reopen();
  }

  reopen() {
    this.stop();
    this.tries = 0;
    this.start();
  }

  stop() {
    clearTimeout(this.timer);
    if (this.abort)
      this.abort.abort();
    this.abort = null;
  }

  start() {
    if (!this.instance || document.hidden || this.abort)
      return;
    this.list();
    this.stream(this.abort = new AbortController());
  }

  watch() {
    if (this.abort && this.heard && performance.now() - this.heard > SILENCE_MS)
      this.lost(this.abort, "stixel-web is silent");
  }

  // The stream ended: connects again, each time after a longer pause.
  lost(abort, text) {
    if (abort !== this.abort)
      return; // this page ended it
    this.stop();
    const wait = BACKOFF_MS[Math.min(this.tries, BACKOFF_MS.length - 1)] * (0.8 + 0.4 * Math.random());
    this.tries++;
    this.on.link("lost", `${text}; trying again ${wait < 1500 ? "at once" : `in ${Math.round(wait / 1000)} s`}`);
    this.timer = setTimeout(() => this.start(), wait);
  }

  async stream(abort) {
    const messages = new Assembler((set) => this.works(abort, () => {
      this.on.frame({...set, received: performance.now()});
      if (!this.asked)
        this.status();
    }),
      (notice) => this.works(abort, () => this.on.notice(notice)));
    this.heard = performance.now();
    try {
      const answer = await ask(`/api/${encodeURIComponent(this.instance)}/stream${this.query}`,
        {signal: abort.signal, cache: "no-store"});
      if (!answer.ok)
        return this.lost(abort, await sentence(answer));
      const reader = answer.body.getReader();
      for (;;) {
        const {done, value} = await reader.read();
        if (done)
          return this.lost(abort, "stixel-web ended the stream");
        this.heard = performance.now();
        messages.push(value);
      }
    } catch (e) {
      this.lost(abort, e instanceof TypeError ? "stixel-web cannot be reached" : e.message);
    }
  }

  // Handles whatever comes: the connection works.
  works(abort, act) {
    if (abort !== this.abort)
      return;
    this.tries = 0;
    this.on.link("open", "");
    act();
  }

  async status() {
    if (!this.on.status || !this.instance || document.hidden || this.asking)
      return;
    if (!this.someone)
      return this.on.status(null, "");
    const instance = this.instance;
    this.asking = this.asked = true;
    try {
      const answer = await ask(`/api/${encodeURIComponent(instance)}/status`, {cache: "no-store", signal: AbortSignal.timeout(5000)});
      const value = answer.ok ? await answer.json() : null;
      if (instance === this.instance)
        this.on.status(value, value ? "" : await sentence(answer));
    } catch {
      if (instance === this.instance)
        this.on.status(null, "stixel-web cannot be reached");
    } finally {
      this.asking = false;
    }
  }

  answered({instances, tune, left_out, recordings}) {
    this.on.instances(instances, tune === true, left_out, recordings === true);
  }

  async list() {
    if (!this.on.instances || document.hidden)
      return;
    try {
      const answer = await ask("/api/instances", {cache: "no-store", signal: AbortSignal.timeout(5000)});
      if (answer.ok)
        this.answered(await answer.json());
    } catch {
      if (!this.instance)
        this.on.link("lost", "stixel-web cannot be reached");
    }
  }
}
