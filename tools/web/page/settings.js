// The panel of settings: shows the settings of a running instance with the daemon's own table of options, and changes
// them. It asks the daemon while the panel is open and the page is visible.
// SPDX-License-Identifier: Apache-2.0
import {ask, sentence} from "./link.js";
import {setText} from "./text.js";
import {Presets} from "./presets.js";
import {make, refusals, Row, shownKeys} from "./row.js";

const ASK_MS = 1000;
// the settings that most users need, with words of their own, and the ends of their sliders where less than all that is
// allowed makes sense
const MAIN = {
  "camera.height_m": {name: "Height of the camera", most: 3},
  "vehicle.step_m": {name: "Lowest obstacle", most: 0.5},
  "stixels.width": {name: "Width of a stixel"},
  "stereo.p2_edge": {name: "Edges of plain walls", most: 100},
  "filters.speckle_size": {name: "Largest island removed", most: 2000},
};

export class Settings {
  // instance(): name of the viewed instance, or null; keep, kept: write and read the browser's storage.
  constructor(box, {instance, keep, kept}) {
    Object.assign(this, {box, instance, keep, tune: false, wanted: new Map(), running: false, asking: null});
    this.part = (name) => document.getElementById(`settings-${name}`);
    this.opened = new Set((kept("settings.opened") ?? "").split(",").filter(Boolean));
    this.open = false; // the panel is seen
    this.presets = new Presets((changes) => this.orderKeys(changes));
    this.clear();
    this.part("every").addEventListener("click", () => {
      this.part("every").setAttribute("aria-pressed", String(this.part("every").getAttribute("aria-pressed") !== "true"));
      this.filter();
    });
    this.part("find").addEventListener("input", () => this.filter());
    this.part("all").addEventListener("change", () => this.filter());
    this.part("back").addEventListener("click", () => this.back());
    setInterval(() => this.ask(), ASK_MS);
  }

  // Clears the panel for another instance.
  clear() {
    this.text = this.answer = null;
    this.rows = new Map();
    this.sections = new Map();
    this.wanted.clear();
    this.part("sections").replaceChildren();
    this.part("main").replaceChildren();
    for (const name of ["keep", "back"])
      this.part(name).hidden = true;
    this.presets.clear();
    setText(this.part("how"), "");
  }

  // Asks the daemon, one question at a time. Returns the question under way, null if there is nothing to ask.
  ask() {
    const name = this.instance();
    if (!this.asking && name && this.open && !document.hidden)
      this.asking = this.look(name).finally(() => {
        this.asking = null;
      });
    return this.asking;
  }

  async look(name) {
    let text = "", why = "";
    try {
      const answer = await ask(`/api/${encodeURIComponent(name)}/settings`, {cache: "no-cache", signal: AbortSignal.timeout(5000)});
      if (answer.ok)
        text = await answer.text();
      else
        why = await sentence(answer);
    } catch {
      why = "stixel-web cannot be reached";
    }
    if (name === this.instance())
      this.take(text, why);
  }

  take(text, why) {
    if (!text) {
      this.text = null;
      setText(this.part("how"), `Not known: ${why}`);
      this.box.classList.add("off");
      for (const {field} of this.rows.values())
        field.disabled = true;
      return;
    }
    this.box.classList.remove("off");
    if (text === this.text && this.tune === this.toldTune)
      return;
    this.answer = JSON.parse(text);
    const keys = shownKeys(this.answer.keys);
    if (Object.keys(keys).join() !== [...this.rows.keys()].join())
      this.build(keys);
    for (const [key, row] of this.rows)
      row.show(keys[key], this.answer.configured?.[key], this.tune);
    this.presets.show(this.answer.keys, this.answer.configured ?? {}, this.tune);
    this.text = text;
    this.toldTune = this.tune;
    this.tell(keys);
    this.filter();
  }

  // Builds the rows. Existing rows keep the text that a user is typing.
  build(keys) {
    const before = this.rows;
    this.rows = new Map();
    this.sections.clear();
    for (const key of Object.keys(keys)) {
      const name = key.split(".")[0], row = before.get(key) ?? this.makeRow(key);
      this.rows.set(key, row);
      if (MAIN[key])
        continue;
      if (!this.sections.has(name))
        this.sections.set(name, this.makeSection(name));
      this.sections.get(name).rows.push(row);
      this.sections.get(name).grid.append(row.box);
    }
    this.part("main").replaceChildren(...Object.keys(MAIN).filter((key) => this.rows.has(key)).map((key) => this.rows.get(key).box));
    this.part("sections").replaceChildren(...[...this.sections.values()].map((s) => s.box));
  }

  makeRow(key) {
    const row = new Row(key, this.answer.options?.[key] ?? {}, (r, text) => this.order([[r, text]]), MAIN[key]);
    row.show(this.answer.keys[key], this.answer.configured?.[key], this.tune);
    return row;
  }

  makeSection(name) {
    const note = make("span", "note"), grid = make("div", "keys");
    const box = make("details", "section", make("summary", "", make("h3", "", name), make("span", "help", this.answer.sections?.[name] ?? ""), note), grid);
    box.open = this.opened.has(name);
    box.addEventListener("toggle", () => {
      if (this.part("find").value)
        return; // the search opened it, not the user
      this.opened[box.open ? "add" : "delete"](name);
      this.keep("settings.opened", [...this.opened].join(","));
    });
    return {box, note, grid, rows: []};
  }

  tell(keys) {
    const live = Object.values(keys).filter((row) => row.live).length, name = this.instance();
    setText(this.part("how"), this.tune ? `Changes are taken over between two frames.${live ? ` ${live} set live.` : ""}`
      : `Read only: stixel-web was started without --tune. On this machine: stixelctl -i ${name} set KEY=VALUE`);
    setText(this.part("command"), `sudo stixelctl -i ${name} save`);
    this.part("keep").hidden = !live;
    this.part("back").hidden = !live || !this.tune;
  }

  filter() {
    const words = this.part("find").value.toLowerCase().split(/\s+/).filter(Boolean), all = this.part("all").checked;
    const fits = (row) => words.every((w) => `${row.key} ${row.name} ${row.option.help ?? ""}`.toLowerCase().includes(w));
    this.part("sections").hidden = !words.length && this.part("every").getAttribute("aria-pressed") !== "true";
    for (const key of Object.keys(MAIN))
      if (this.rows.has(key))
        this.rows.get(key).box.hidden = !fits(this.rows.get(key));
    for (const [name, {box, note, rows}] of this.sections) {
      for (const row of rows)
        row.box.hidden = (row.row.restart && !all) || !fits(row);
      const seen = rows.filter((row) => !row.box.hidden), changed = seen.filter((row) => row.changed).length;
      box.hidden = !seen.length;
      box.open = words.length ? true : this.opened.has(name);
      setText(note, `${seen.length} key${seen.length === 1 ? "" : "s"}${changed ? `, ${changed} not the default` : ""}`);
    }
  }

  // Changes keys to values, also constants of the models that are not shown.
  orderKeys(values) {
    const changes = Object.entries(values).map(([key, value]) => [this.rows.get(key) ?? this.makeRow(key), value]);
    for (const [row, value] of changes)
      row.want(value);
    this.order(changes);
  }

  back() {
    this.orderKeys(this.answer.configured ?? {});
  }

  // Sends one order at a time; changes wanted meanwhile go with the next order. A value already in effect is not sent.
  // While an order for a key is under way, the value that will be in effect is unknown.
  async order(changes) {
    for (const [row, text] of changes)
      if (row.sent === null && row.same(text, row.row.value)) {
        this.wanted.delete(row);
        row.takeBack();
      } else
        this.wanted.set(row, text);
    if (this.running)
      return;
    this.running = true;
    try {
      while (this.wanted.size) {
        const now = [...this.wanted];
        this.wanted.clear();
        await this.send(now);
      }
    } finally {
      this.running = false;
    }
  }

  async send(changes) {
    const name = this.instance(), lines = changes.map(([row, text]) => `${row.key}=${text}\n`);
    let ok = false, said = "";
    for (const [row, text] of changes) {
      row.sent = text;
      row.box.classList.add("waiting");
    }
    try {
      const answer = await ask(`/api/${encodeURIComponent(name)}/settings`,
        {method: "POST", body: lines.join(""), headers: {"X-Stixel-Tune": "1", "Content-Type": "text/plain"}, signal: AbortSignal.timeout(15000)});
      ok = answer.ok;
      said = (await answer.text()).trim();
    } catch {
      said = "stixel-web cannot be reached";
    }
    if (name === this.instance())
      this.told(changes, ok, said);
    try {
      await this.asking; // the answer under way may be older than the order
      await this.ask();
    } finally {
      for (const [row] of changes) {
        row.sent = null;
        row.box.classList.remove("waiting");
      }
    }
  }

  told(changes, ok, said) {
    const frame = said.match(/from frame (\d+) on/)?.[1], why = ok ? {} : refusals(said);
    for (const [row] of changes) {
      if (this.wanted.has(row))
        continue; // a newer value is sent next
      if (!ok)
        row.refused(why[row.key] ?? why[""] ?? "refused together with another key");
      else
        row.takenOver(frame ? `from frame ${frame} on` : "taken over");
    }
  }
}
