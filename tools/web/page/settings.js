// The panel of settings: shows the settings of a running instance with the daemon's own table of options, and changes
// them. It asks the daemon while the panel is open and the page is visible.
// SPDX-License-Identifier: Apache-2.0
import {ask, sentence} from "./link.js";
import {setText} from "./panels.js";

const ASK_MS = 1000, FRESH_MS = 2500;

function make(name, className, ...children) {
  const e = document.createElement(name);
  e.className = className;
  e.append(...children);
  return e;
}

// Returns true for equal values: "0.2" and "0.20" are the same number, but the text "07" is not "7".
export function same(a, b, kind) {
  const numbers = ["int", "real"].includes(kind) && a?.trim() && b?.trim();
  return a === b || (numbers ? Number(a) === Number(b) : false);
}

// Returns the change for one press of an arrow key: one unit of the second digit.
export function stepOf(value) {
  const size = Math.abs(Number(value));
  return size > 0 ? +(10 ** (Math.floor(Math.log10(size)) - 1)).toPrecision(1) : 0.1;
}

// Returns the daemon's sentences of a refusal by their key. Sentences without a key are under "".
export function refusals(text) {
  const found = {};
  for (const line of text.split("\n").filter(Boolean)) {
    const [, key, what] = line.match(/^set ([\w.]+)\s*=.*?: \[\w+\] \w+: (.*)$/) ?? [null, "", line];
    found[key] = found[key] ? `${found[key]}; ${what}` : what;
  }
  return found;
}

// Returns the keys to show. Old names of keys are left out. A model constant is shown only if it was set live or is
// not the default.
export function shownKeys(keys) {
  return Object.fromEntries(Object.entries(keys).filter(([key, row]) =>
    !row.now && (!key.startsWith("model.") || row.live || row.value !== row.default)));
}

// Row of one key: its field, its marks, and the daemon's answer to the last change.
class Row {
  constructor(key, option, change) {
    Object.assign(this, {key, option, change, row: null, draft: null, sent: null, why: null, typing: false});
    this.name = key.slice(key.indexOf(".") + 1);
    this.field = this.makeField();
    this.field.id = `set-${key}`;
    const label = make("label", "", this.name);
    label.htmlFor = this.field.id;
    this.chip = make("span", "chip");
    this.first = this.makeButton();
    this.conf = this.makeButton();
    this.said = make("p", "said");
    this.said.setAttribute("aria-live", "polite");
    const {unit, allowed, help, kind} = option, saysMore = ["int", "real", "size"].includes(kind);
    this.box = make("div", "key", make("p", "top", label, this.chip),
      make("p", "field", this.field, ...(unit ? [make("span", "unit", unit)] : []), this.first, this.conf),
      this.said, make("p", "help", help && saysMore ? `${help} (${allowed})` : help ?? ""));
    this.field.addEventListener("input", () => {
      this.typing = true;
    });
    // a typed and undone text is no change
    this.field.addEventListener("blur", () => this.typing && this.put(this.draft ?? this.row.value));
    this.field.addEventListener("change", () => this.order(this.text()));
    this.field.addEventListener("keydown", (e) => e.key === "Escape" && this.takeBack());
  }

  makeField() {
    const {kind, words, min, max} = this.option;
    if (kind === "choice") {
      const select = make("select", "");
      select.append(...words.map((w) => new Option(w, w)));
      return select;
    }
    const input = make("input", "");
    input.type = kind === "bool" ? "checkbox" : kind === "int" || kind === "real" ? "number" : "text";
    if (kind === "int")
      Object.assign(input, {min, max, step: 1});
    return input;
  }

  makeButton() {
    const button = make("button", "");
    button.type = "button";
    button.addEventListener("click", () => this.order(button.value));
    return button;
  }

  text() {
    return this.option.kind === "bool" ? (this.field.checked ? "yes" : "no") : this.field.value;
  }

  same(a, b) {
    return same(a, b, this.option.kind);
  }

  put(text) {
    this.typing = false;
    if (this.option.kind === "bool")
      this.field.checked = text === "yes";
    else if (this.field.value !== text)
      this.field.value = text;
  }

  order(text) {
    this.want(text);
    this.change(this, text);
  }

  // draft: wanted value that is not in effect; why: sentence of its refusal; sent: value on its way to the daemon.
  want(text) {
    this.draft = text;
    this.why = null;
    this.put(text);
    this.say("", "");
  }

  takeBack() {
    this.draft = this.why = null;
    this.put(this.row.value);
    this.say("", "");
  }

  say(kind, text) {
    this.said.className = `said ${kind}`;
    setText(this.said, text);
  }

  refused(text) {
    this.why = text;
    this.say("bad", `${text}. It is still ${this.row.value || "empty"}.`);
  }

  takenOver(text) {
    this.draft = this.why = null;
    this.say("good", text);
  }

  // Handles a new value: another client set it, or an abandoned order took effect after all.
  valueChanged() {
    if (this.why !== null && this.same(this.draft, this.row.value))
      this.takeBack();
    else if (this.why !== null)
      this.refused(this.why);
    if (this.sent === null)
      this.flash();
  }

  // row: entry of /settings; configured: value in the configuration if the key was set live.
  show(row, configured, tune) {
    const before = this.row?.value;
    this.row = row;
    if (this.option.kind === "real")
      this.field.step = stepOf(Number(row.value) ? row.value : row.default);
    // keep a text that the user is typing, or that the daemon refused
    if (this.draft === null && !this.typing)
      this.put(row.value);
    if (before !== undefined && before !== row.value)
      this.valueChanged();
    this.field.disabled = !tune || row.restart;
    this.mark(row, configured, tune && !row.restart);
  }

  flash() {
    this.box.classList.add("fresh");
    setTimeout(() => this.box.classList.remove("fresh"), FRESH_MS);
  }

  mark(row, configured, may) {
    const {value, from, live} = row, differs = row.default !== null && !this.same(value, row.default);
    this.changed = differs || live;
    this.box.classList.toggle("live", live);
    this.box.classList.toggle("changed", differs && !live);
    const place = from.startsWith("-s ") ? "by -s" : from.replace(/^.*\//, "");
    setText(this.chip, [live ? "set live" : from === "default" ? "" : place, row.restart && "needs a restart"].filter(Boolean).join(", "));
    this.chip.title = from;
    this.offer(this.first, "default", may && differs ? row.default : undefined);
    this.offer(this.conf, "configured", may && live && !this.same(configured, value) && !(differs && this.same(configured, row.default)) ? configured : undefined);
  }

  offer(button, word, value) {
    button.hidden = value === undefined;
    button.value = value ?? "";
    setText(button, `${word} ${value === "" ? "empty" : value}`);
    button.title = `sets ${this.key} back to it`;
  }
}

export class Settings {
  // instance(): name of the viewed instance, or null; keep, kept: write and read the browser's storage.
  constructor(box, {instance, keep, kept}) {
    Object.assign(this, {box, instance, keep, tune: false, wanted: new Map(), running: false, asking: null});
    this.part = (name) => document.getElementById(`settings-${name}`);
    this.opened = new Set((kept("settings.opened") ?? "").split(",").filter(Boolean));
    this.clear();
    box.open = kept("settings") === "open";
    box.addEventListener("toggle", () => {
      keep("settings", box.open ? "open" : "shut");
      this.ask();
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
    for (const name of ["keep", "back"])
      this.part(name).hidden = true;
    setText(this.part("note"), "");
    setText(this.part("how"), "");
  }

  // Asks the daemon, one question at a time. Returns the question under way, null if there is nothing to ask.
  ask() {
    const name = this.instance();
    if (!this.asking && name && this.box.open && !document.hidden)
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
    const {options = {}} = this.answer, keys = shownKeys(this.answer.keys);
    if (Object.keys(keys).join() !== [...this.rows.keys()].join())
      this.build(keys, options);
    for (const [key, row] of this.rows)
      row.show(keys[key], this.answer.configured?.[key], this.tune);
    this.text = text;
    this.toldTune = this.tune;
    this.tell(keys);
    this.filter();
  }

  // Builds the rows. Existing rows keep the text that a user is typing.
  build(keys, options) {
    const before = this.rows;
    this.rows = new Map();
    this.sections.clear();
    for (const key of Object.keys(keys)) {
      const name = key.split(".")[0], row = before.get(key) ?? new Row(key, options[key] ?? {}, (r, text) => this.order([[r, text]]));
      this.rows.set(key, row);
      if (!this.sections.has(name))
        this.sections.set(name, this.makeSection(name));
      this.sections.get(name).rows.push(row);
      this.sections.get(name).grid.append(row.box);
    }
    this.part("sections").replaceChildren(...[...this.sections.values()].map((s) => s.box));
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
    setText(this.part("note"), live ? `${live} set live` : "");
    setText(this.part("how"), this.tune ? "Changes are taken over between two frames: press Enter, or leave the field."
      : `Read only: stixel-web was started without --tune. On this machine: stixelctl -i ${name} set KEY=VALUE`);
    setText(this.part("command"), `sudo stixelctl -i ${name} save`);
    this.part("keep").hidden = !live;
    this.part("back").hidden = !live || !this.tune;
  }

  filter() {
    const words = this.part("find").value.toLowerCase().split(/\s+/).filter(Boolean), all = this.part("all").checked;
    for (const [name, {box, note, rows}] of this.sections) {
      for (const row of rows)
        row.box.hidden = (row.row.restart && !all) || !words.every((w) => `${row.key} ${row.option.help ?? ""}`.toLowerCase().includes(w));
      const seen = rows.filter((row) => !row.box.hidden), changed = seen.filter((row) => row.changed).length;
      box.hidden = !seen.length;
      box.open = words.length ? true : this.opened.has(name);
      setText(note, `${seen.length} key${seen.length === 1 ? "" : "s"}${changed ? `, ${changed} not the default` : ""}`);
    }
  }

  back() {
    const changes = Object.entries(this.answer.configured ?? {}).map(([key, value]) => [this.rows.get(key), value]).filter(([row]) => row);
    for (const [row, value] of changes)
      row.want(value);
    this.order(changes);
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
