// The semantic classes: their names, their colours, and the legend of those in view. Loaded when a frame has classes.
// SPDX-License-Identifier: Apache-2.0
import {LABEL, NAMED} from "./class-colours.js";
import {KIND, LABEL_NONE} from "./layout.js";
import {ask} from "./link.js";
import {CLASS} from "./palette.js";

const STAYS_MS = 3000; // time for which a class that left the picture stays in the legend
const known = new Map(); // names of the classes by instance
const seen = new Map(); // entries of the legend: when they were last in the picture

// Takes the names from the status of an instance.
export function learn(instance, status) {
  if (status?.semantics)
    known.set(instance, (status.semantics.classes ?? []).map(({name}) => name));
}

// Returns the names of the classes of an instance; []: they are not known yet, and the server is asked for them.
function namesOf(instance) {
  if (!known.has(instance)) {
    known.set(instance, []);
    ask(`/api/${encodeURIComponent(instance)}/status`).then((answer) => answer.json()).then((status) => learn(instance, status))
      .catch(() => known.delete(instance));
  }
  return known.get(instance);
}

// Gives a frame the names and colours of its stixels: frame.classes.name(i), "" without a class, and colour(i), which
// is that of the kind then.
export function dress(frame, names) {
  const {label: labels, kind} = frame.stixels, word = (label) => names[label] ?? `class ${label}`;
  const paint = (label) => NAMED[names[label]?.toLowerCase().replaceAll("_", "-")] ?? LABEL[label % LABEL.length];
  frame.classes = {
    word, paint,
    name: (i) => labels[i] === LABEL_NONE ? "" : word(labels[i]),
    colour: (i) => labels[i] === LABEL_NONE ? CLASS[kind[i]] : paint(labels[i]),
  };
}

export function dressOf(frame, instance) {
  dress(frame, namesOf(instance));
}

// Writes the classes of a frame into the legend. on: the picture has their colours.
export function showClasses(frame, on) {
  const list = document.getElementById("looks"), kinds = new Set(on ? [] : [KIND.ground, KIND.sky]), time = performance.now();
  const {stixels: s} = frame;
  for (let i = 0; on && i < s.count; i++)
    if (s.kind[i] < KIND.unknown && s.label[i] !== LABEL_NONE)
      seen.set(s.label[i], time);
    else
      kinds.add(s.kind[i]);
  for (const [word, kind] of Object.entries(KIND).filter(([, k]) => k < KIND.unknown))
    list.querySelector(`.${word}`).hidden = !kinds.has(kind);
  const labels = on ? [...seen].filter(([, at]) => time - at < STAYS_MS).map(([label]) => label).sort((a, b) => a - b) : [];
  const entries = labels.map((label) => [frame.classes.word(label), `rgb(${frame.classes.paint(label)})`]);
  if ((list.dataset.shown ?? "") === String(entries))
    return;
  list.dataset.shown = String(entries);
  list.querySelectorAll(".named").forEach((entry) => entry.remove());
  list.prepend(...entries.map(([word, colour]) => {
    const entry = document.createElement("li");
    entry.className = "named";
    entry.textContent = word;
    entry.style.setProperty("--swatch", colour);
    return entry;
  }));
}
