// The legend below the picture: the scale of distances and the colours of the classes.
// SPDX-License-Identifier: Apache-2.0
import {KIND} from "./layout.js";
import {CLASS, DISTANCE} from "./palette.js";

let shown = "";

// Writes the marks of a frame's scale that have room.
export function showScale(scale) {
  const key = JSON.stringify(scale ?? null);
  if (!scale || key === shown)
    return;
  shown = key;
  const width = (words) => 0.04 * words.length, end = 0.98 - width(`${scale.ticks.at(-1)?.text} ${scale.unit}`);
  let from = -1; // end of the previous number, as a share of the width
  document.getElementById("ticks").replaceChildren(...scale.ticks.flatMap(({place, text}, i, {length}) => {
    const last = i === length - 1, words = last ? `${text} ${scale.unit}` : text, at = 1 - place, wide = width(words);
    if (i && !last && (at - wide / 2 < from + 0.02 || at + wide / 2 > end))
      return [];
    from = at + wide / 2;
    const mark = document.createElement("span");
    mark.textContent = words;
    mark.className = last ? "last" : i ? "" : "first";
    mark.style.left = `${at * 100}%`;
    return [mark];
  }));
}

export function paintScale() {
  const c = document.getElementById("scale").getContext("2d");
  DISTANCE.forEach((colour, i) => {
    c.fillStyle = `rgb(${colour})`;
    c.fillRect(255 - i, 0, 1, 1); // near distances are on the left
  });
  Object.entries(KIND).forEach(([name, kind]) => kind < KIND.unknown &&
    document.querySelector(`.swatches .${name}`)?.style.setProperty("--swatch", `rgb(${CLASS[kind]})`));
}
