// Divides the space below the head among the panes, so that the picture and the map are as large as possible.
// SPDX-License-Identifier: Apache-2.0
const STEPS = Array.from({length: 29}, (_, i) => 0.22 + 0.02 * i);
const LEAST_PX = 110; // smaller panes show nothing

// Returns the worth of a pane of this size: the logarithm of the area that it uses, so that no pane becomes tiny. rest:
// height of its bars, px.
function worth({name, aspect, rest}, width, height) {
  const high = height - rest;
  if (width < LEAST_PX || high < LEAST_PX)
    return name === "picture" ? -1e2 : -1e3;
  if (name === "picture")
    return Math.log(Math.min(width, high * aspect) * Math.min(high, width / aspect));
  return (name === "map" ? 0.75 : 0.5) * Math.log(Math.min(width, 1.2 * high) * Math.min(high, 1.5 * width));
}

// Returns {worth, places}: the best division of a rectangle among the panes, in this order or with the last panes
// exchanged. places: [{name, x, y, width, height}].
export function divide(panes, x, y, width, height, gap) {
  if (panes.length === 1)
    return {worth: worth(panes[0], width, height), places: [{name: panes[0].name, x, y, width, height}]};
  let best = {worth: -Infinity};
  for (let first = 1; first < panes.length; first++)
    for (const share of STEPS)
      for (const across of [true, false]) {
        const size = Math.round(((across ? width : height) - gap) * share);
        const a = across ? divide(panes.slice(0, first), x, y, size, height, gap) : divide(panes.slice(0, first), x, y, width, size, gap);
        const b = across ? divide(panes.slice(first), x + size + gap, y, width - size - gap, height, gap)
          : divide(panes.slice(first), x, y + size + gap, width, height - size - gap, gap);
        if (a.worth + b.worth > best.worth)
          best = {worth: a.worth + b.worth, places: [...a.places, ...b.places]};
      }
  return best;
}
