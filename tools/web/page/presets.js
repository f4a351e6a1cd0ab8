// The presets of stixeld as buttons. A button sets the keys that can change live, and names the keys that need a
// restart.
// SPDX-License-Identifier: Apache-2.0
import {ask} from "./link.js";
import {setText} from "./text.js";
import {same} from "./row.js";

const equal = (a, b) => same(a, b, Number.isFinite(Number(a)) ? "real" : "text");
const $ = (id) => document.getElementById(id);

export class Presets {
  // order(values): sets keys to values
  constructor(order) {
    Object.assign(this, {order, list: null, keys: {}, asked: false});
  }

  // Starts again for another instance.
  clear() {
    setText($("presets-said"), "");
  }

  // Shows which preset is in effect. keys, configured: of the daemon's /settings.
  show(keys, configured, tune) {
    Object.assign(this, {keys, configured, tune});
    if (!this.asked)
      this.load();
    this.mark();
  }

  async load() {
    this.asked = true;
    try {
      const answer = await ask("/api/presets", {signal: AbortSignal.timeout(5000)});
      this.list = answer.ok ? (await answer.json()).filter((preset) => preset.keys) : [];
    } catch {
      this.asked = false; // asks again with the next settings
      return;
    }
    $("presets").hidden = !this.list.length;
    $("presets-names").replaceChildren(...this.list.map((preset) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = preset.help;
      button.textContent = preset.name;
      button.addEventListener("click", () => this.choose(preset));
      return button;
    }));
    this.mark();
  }

  // Returns true if the configured value of a key is neither its default nor that in a preset. Such a value has
  // priority over presets, as with --preset.
  own(key) {
    const {value, live, default: usual} = this.keys[key], configured = live ? this.configured[key] ?? usual : value;
    return usual === null || ![usual, ...this.list.map((preset) => preset.keys[key])].some((v) => v !== undefined && equal(v, configured));
  }

  // Returns the values of a preset: its own, and the default of each key that only other presets set.
  values(preset) {
    const all = Object.assign({}, ...this.list.map((other) => other.keys)), values = {};
    for (const key of Object.keys(all))
      if (this.keys[key] && !this.own(key))
        values[key] = preset.keys[key] ?? this.keys[key].default;
    return values;
  }

  differs([key, value]) {
    return !equal(value, this.keys[key].value);
  }

  mark() {
    [...$("presets-names").children].forEach((button, i) => {
      button.setAttribute("aria-pressed", String(!Object.entries(this.values(this.list[i])).some((v) => this.differs(v))));
      button.disabled = !this.tune;
    });
  }

  choose(preset) {
    const changes = Object.entries(this.values(preset)).filter((v) => this.differs(v));
    const restart = changes.filter(([key]) => this.keys[key].restart), live = changes.filter(([key]) => !this.keys[key].restart);
    const kept = Object.keys(preset.keys).filter((key) => this.keys[key] && this.own(key)).map((key) => [key, this.keys[key].value]);
    const words = (list) => list.map(([key, value]) => `${key} = ${value}`).join(", ");
    this.order(Object.fromEntries(live));
    setText($("presets-said"), [`${preset.name}: ${preset.help}.`, live.length ? `Set: ${words(live)}.` : "Nothing to set.",
      restart.length ? `Needs a restart (--preset ${preset.name}): ${words(restart)}.` : "",
      kept.length ? `Stays, as it is configured: ${words(kept)}.` : live.some(([key]) => key === "camera.height_m") ? "Set the height of your own camera." : ""].filter(Boolean).join(" "));
  }
}
