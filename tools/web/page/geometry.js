// Positions of pixels, stixels and things that move in space, and their description in words.
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

const AHEAD_S = 0.5; // arrows lead to the position after this time
const ALIKE_M = 2.5, ALIKE_M_S = 1.5; // neighbours that are as far away, and move alike, are one thing
const COLUMNS_APART = 2; // columns between neighbours, at most

const found = new WeakMap(); // the things of frames that were looked for

// Returns the things of a frame that move: its objects, else groups of stixels. They are computed once.
export function movers(frame) {
  if (!found.has(frame))
    found.set(frame, frame.objects ? objectsOf(frame) : findMovers(frame));
  return found.get(frame);
}

// Returns the objects of a frame, but those that are known to stand. Those that are known to move have a place in half a
// second.
function objectsOf(frame) {
  return hasMetres(frame) && !frame.blind ? frame.objects.filter((o) => !o.stands)
    .map((o) => ({...o, then: o.moves ? [o.x + o.vx * AHEAD_S, o.z + o.vz * AHEAD_S] : [o.x, o.z]})) : [];
}

// Returns the things that move, as groups of neighbouring stixels that move alike: {x, y, z} of the foot, m, {vx, vz},
// m/s, and then: the position in half a second.
function findMovers(frame) {
  const {stixels: s, motion: m} = frame, groups = [];
  for (let i = 0; m && hasMetres(frame) && !frame.blind && i < s.count; i++) {
    if (!m.moves[i] || s.kind[i] !== KIND.object || !s.disparity[i])
      continue;
    const [x, y, z] = point(frame, (s.column[i] + 0.5) * frame.columnWidth, s.bottom[i] + 0.5, s.disparity[i]);
    const group = groups.find((g) => s.column[i] - g.last <= COLUMNS_APART && Math.abs(z - g.z) < ALIKE_M &&
      Math.hypot(m.vx[i] - g.vx, m.vz[i] - g.vz) < ALIKE_M_S);
    if (!group) {
      groups.push({count: 1, last: s.column[i], x, y, z, vx: m.vx[i], vz: m.vz[i]});
      continue;
    }
    const part = 1 / ++group.count, add = {x, z, vx: m.vx[i], vz: m.vz[i]};
    for (const name of Object.keys(add))
      group[name] += part * (add[name] - group[name]);
    group.y = Math.max(group.y, y); // the lowest foot
    group.last = s.column[i];
  }
  return groups.filter((g) => g.count > 1).map((g) => ({...g, then: [g.x + g.vx * AHEAD_S, g.z + g.vz * AHEAD_S]}));
}

// Draws an arrow between two places of a canvas. ratio: px of the canvas for each CSS px.
export function drawArrow(c, [x0, y0], [x1, y1], ratio) {
  const length = Math.hypot(x1 - x0, y1 - y0), head = Math.min(10 * ratio, length), turn = Math.atan2(y1 - y0, x1 - x0);
  if (!(length > ratio))
    return;
  for (const [colour, width] of [["rgba(0,0,0,0.75)", 5], ["#fff", 2.5]]) {
    c.strokeStyle = colour;
    c.lineWidth = width * ratio;
    c.lineCap = "round";
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    for (const side of [-1, 1]) {
      c.moveTo(x1, y1);
      c.lineTo(x1 - head * Math.cos(turn + side * 0.5), y1 - head * Math.sin(turn + side * 0.5));
    }
    c.stroke();
  }
}

// Draws the box of an object with its identity above it, or beside it, in a colour of its own; also its speed if that is
// no wider. Dashes: it is not seen now, or it is not known how it moves.
export function drawBox(c, [left, top, width, height], {id, moves, seen, vx, vz}, ratio, beside = false) {
  const high = 14 * ratio, gap = 3 * ratio, paint = `hsl(${id * 137 % 360},90%,72%)`;
  c.save();
  c.setLineDash(moves && seen ? [] : [4 * ratio, 3 * ratio]);
  for (const [colour, size] of [["rgba(0,0,0,0.75)", 4], [paint, 2]]) {
    c.strokeStyle = colour;
    c.lineWidth = size * ratio;
    c.strokeRect(left, top, width, height);
  }
  Object.assign(c, {font: `600 ${11 * ratio}px system-ui, sans-serif`, textAlign: "left", textBaseline: "middle"});
  const long = `${id} \u00b7 ${Math.hypot(vx, vz).toFixed(1)} m/s`, wide = (t) => c.measureText(t).width + 2 * gap;
  const text = moves && !beside && wide(long) <= width ? long : `${id}`;
  const [x, y] = beside ? [left + width + gap, top + height / 2 - high / 2] : [left, Math.max(0, top - high)];
  c.fillStyle = paint;
  c.fillRect(x, y, wide(text), high);
  c.fillStyle = "#000";
  c.fillText(text, x + gap, y + high / 2);
  c.restore();
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
  if (frame.motion?.moves[i])
    words.push(`moves at ${Math.hypot(frame.motion.vx[i], frame.motion.vz[i]).toFixed(1)} m/s`);
  if (frame.objectOf?.[i])
    words.push(`object ${frame.objects[frame.objectOf[i] - 1].id}`);
  if (s.filled?.[i])
    words.push("filled: hardly measured");
  else if (kind !== KIND.sky)
    words.push(`${confidenceWord(s.confidence[i])} confidence`);
  return words.join(" \u00b7 ");
}
