// Row of one setting: its slider and field, its marks, and the daemon's answer to the last change.
// SPDX-License-Identifier: Apache-2.0
import {setText} from "./text.js";

const FRESH_MS = 2500;
const SETTLE_MS = 300; // a slider's value is sent after the slider has not moved for this time
const TICKS = 1000; // number of positions of a slider

export function make(name, className, ...children) {
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

// Returns the keys to show. Old names of keys are left out. A model constant is shown only if it was set live or
// differs from its default.
export function shownKeys(keys) {
  return Object.fromEntries(Object.entries(keys).filter(([key, row]) =>
    !row.now && (!key.startsWith("model.") || row.live || row.value !== row.default)));
}

// Returns the exponent by which a slider of numbers from least to most has the usual value in its middle, so that small
// values have room, too.
export function bend(least, most, usual) {
  const share = (usual - least) / (most - least);
  return share > 0.001 && share < 0.5 ? Math.log(share) / Math.log(0.5) : share <= 0.001 ? 4 : 1;
}

// Returns the number at a place of the slider, 0 to 1, with two digits.
export function numberAt(place, {least, most, power, whole}) {
  const value = least + (most - least) * place ** power;
  return whole ? Math.round(value) : Math.min(most, Math.max(least, +value.toPrecision(2)));
}

// Row of one key. words: {name, most}: the name shown instead of the key's, and the end of the slider.
export class Row {
  constructor(key, option, change, words = {}) {
    Object.assign(this, {key, option, change, words, row: null, draft: null, sent: null, why: null, typing: false});
    this.name = words.name ?? key.slice(key.indexOf(".") + 1);
    this.field = this.makeField();
    this.field.id = `set-${key}`;
    const label = make("label", "", this.name);
    label.htmlFor = this.field.id;
    label.title = key;
    this.chip = make("span", "chip");
    this.first = this.makeButton();
    this.conf = this.makeButton();
    this.said = make("p", "said");
    this.said.setAttribute("aria-live", "polite");
    const {unit, allowed, help, kind} = option, saysMore = ["int", "real", "size"].includes(kind);
    this.box = make("div", "key", make("p", "top", label, this.chip),
      make("p", "field", ...this.makeSlider(), this.field, ...(unit ? [make("span", "unit", unit)] : []), this.first, this.conf),
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

  // Returns the slider of a number with two limits, in a list; else an empty list.
  makeSlider() {
    const {kind, min, max} = this.option;
    if (!["int", "real"].includes(kind) || !Number.isFinite(min) || !Number.isFinite(max))
      return [];
    const slider = this.slider = make("input", "");
    Object.assign(slider, {type: "range", min: 0, max: TICKS, step: 1});
    slider.setAttribute("aria-label", this.name);
    slider.addEventListener("input", () => {
      const value = numberAt(Number(slider.value) / TICKS, this.scale);
      slider.setAttribute("aria-valuetext", `${value} ${this.option.unit ?? ""}`);
      this.field.value = value;
      this.typing = true;
      clearTimeout(this.settle);
      this.settle = setTimeout(() => this.order(this.text()), SETTLE_MS);
    });
    return [slider];
  }

  // Moves the slider to the present value. The slider ends at the largest allowed value, or at words.most if that is
  // given. A larger present value moves this end.
  putSlider(value) {
    const {min, max, kind} = this.option, usual = Number(this.row.default) || Number(value), least = min;
    const most = Math.max(this.words.most ?? max, value);
    this.scale = {least, most, power: bend(least, most, usual), whole: kind === "int"};
    this.slider.value = TICKS * Math.max(0, (value - least) / (most - least)) ** (1 / this.scale.power);
    this.slider.setAttribute("aria-valuetext", `${value} ${this.option.unit ?? ""}`);
    this.slider.disabled = this.field.disabled;
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
    clearTimeout(this.settle);
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
    if (this.slider)
      this.putSlider(Number(this.row.value));
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
    if (this.slider && this.draft === null && !this.typing)
      this.putSlider(Number(row.value));
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
