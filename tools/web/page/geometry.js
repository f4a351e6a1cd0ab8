// Positions of pixels and stixels in space, and their description in words.
// SPDX-License-Identifier: Apache-2.0
import {KIND, ROAD_NONE} from "./layout.js";

const WORDS = Object.keys(KIND);
// ends of "low" and "medium" confidence, of 255: about a quarter of the objects of streets has either
const LOW = 24, MEDIUM = 48;

// Returns the ground disparity of pixel x, y, px, as stixel_ground_disparity().
export function groundDisparity({ground: g}, x, y) {
  return g.slope * y + g.offset + g.cross * (x - g.axis) + (y < g.bendRow ? g.bend * (g.bendRow - y) : 0);
}

// Returns whether the frame has a camera model, so that disparities are metres.
export function hasMetres(frame) {
  return frame !== null && frame.fx * frame.baseline > 0;
}

// Returns the point of a pixel with a disparity in the camera's coordinates: right, down, along the optical axis, m.
export function point({fx, fy, cx, cy, baseline}, x, y, disparity) {
  const z = fx * baseline / disparity;
  return [(x - cx) / fx * z, (y - cy) / fy * z, z];
}

// Returns a function from the camera's coordinates to the vehicle's: x ahead, y to the left, z above the road, m. The
// turn is roll about the optical axis, then pitch.
export function toVehicle({ground: g, road}) {
  if (road === ROAD_NONE)
    return ([x, y, z]) => [z, -x, -y];
  const pitch = Math.atan(Math.tan(g.pitch) * Math.cos(g.roll));
  const sin = Math.sin(pitch), cos = Math.cos(pitch), rollSin = Math.sin(g.roll), rollCos = Math.cos(g.roll);
  return ([x, y, z]) => [-sin * rollSin * x - sin * rollCos * y + cos * z, -rollCos * x + rollSin * y,
    -cos * rollSin * x - cos * rollCos * y - sin * z + g.height];
}

// Returns the number of the stixel at a pixel of the image; -1: none.
export function stixelAt(frame, x, y) {
  const column = Math.floor(x / frame.columnWidth), s = frame.stixels;
  let found = -1;
  for (let i = frame.offsets[column] ?? 0; i < (frame.offsets[column + 1] ?? 0); i++)
    if (s.top[i] <= y && y < s.bottom[i] + 1)
      found = i;
  return found;
}

// Returns the lower and the upper end of an object above the road, m.
export function heights(frame, i) {
  const s = frame.stixels, turn = toVehicle(frame), x = (s.column[i] + 0.5) * frame.columnWidth;
  const upper = s.disparity[i] + s.slope[i] * (s.bottom[i] - s.top[i]);
  return [[s.bottom[i] + 0.5, s.disparity[i]], [s.top[i] - 0.5, upper]].map(([y, d]) => turn(point(frame, x, y, d))[2]);
}

const metres = (v, digits = 1) => `${v.toFixed(digits)} m`.replace("-", "\u2212").replace(/^\u2212(0\.0* m)$/, "$1");

// Describes a place on the map: x ahead along the optical axis, y to the left, m.
export function placeWords(x, y) {
  const digits = x < 3 ? 2 : 1;
  return `x ${metres(x, digits)}, y ${metres(y, digits)}`;
}

function heightWords([low, high]) {
  return `height ${metres(low, 2).replace(" m", "")} to ${metres(high, 2)}`;
}

export function confidenceWord(value) {
  return value < LOW ? "low" : value < MEDIUM ? "medium" : "high";
}

// Describes a stixel, by default at its own place: kind, place, height above the road, confidence.
export function stixelWords(frame, i, x = (frame.stixels.column[i] + 0.5) * frame.columnWidth, y = frame.stixels.bottom[i]) {
  const s = frame.stixels, kind = i < 0 ? KIND.unknown : s.kind[i];
  if (kind >= KIND.unknown || frame.blind)
    return "not seen, so not free";
  const words = [WORDS[kind], frame.classes?.name(i)].filter(Boolean);
  const d = kind === KIND.ground ? groundDisparity(frame, x, y) : kind === KIND.object ? s.disparity[i] + s.slope[i] * (s.bottom[i] - y) : 0;
  if (d > 0.05 && !hasMetres(frame))
    words.push(`disparity ${d.toFixed(1)} px`);
  else if (d > 0.05) {
    const [right, , z] = point(frame, x, y, d);
    words.push(placeWords(z, -right));
    if (kind === KIND.object && frame.road !== ROAD_NONE)
      words.push(heightWords(heights(frame, i)));
  }
  if (s.filled?.[i])
    words.push("filled: hardly measured");
  else if (kind !== KIND.sky)
    words.push(`${confidenceWord(s.confidence[i])} confidence`);
  return words.join(" \u00b7 ");
}
