// Decodes the stream's messages and frames.
// SPDX-License-Identifier: Apache-2.0
import {FLAG_FILLED, FRAME, FRAME_BLIND, FRAME_MAGIC, FREE, LABEL_NONE, MESSAGE, MESSAGE_MAGIC, MOTION, OBJECT, STIXEL, DISPARITY_UNKNOWN} from "./layout.js";

const MOST = 64 << 20; // bytes; a longer message means that the stream is damaged

function whole(view, at) {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

// Cuts a stream of bytes into messages. push(bytes) calls take({kind, skipped, number, ageMs, payload}) for each
// message.
export class Cutter {
  constructor(take) {
    this.take = take;
    this.bytes = new Uint8Array(1 << 18);
    this.used = 0;
  }

  push(chunk) {
    if (this.used + chunk.length > this.bytes.length) {
      const more = new Uint8Array(Math.max(2 * this.bytes.length, this.used + chunk.length));
      more.set(this.bytes.subarray(0, this.used));
      this.bytes = more;
    }
    this.bytes.set(chunk, this.used);
    this.used += chunk.length;
    let at = 0;
    for (let length = this.message(at); length; length = this.message(at))
      at += length;
    this.bytes.copyWithin(0, at, this.used);
    this.used -= at;
  }

  // Takes the message at this offset. Returns its length, or 0 if it is incomplete.
  message(at) {
    if (this.used - at < MESSAGE.header_bytes)
      return 0;
    const view = new DataView(this.bytes.buffer, at);
    const payload = view.getUint32(MESSAGE.bytes, true);
    if (view.getUint32(MESSAGE.magic, true) !== MESSAGE_MAGIC || payload > MOST)
      throw new Error("the stream is damaged");
    const length = MESSAGE.header_bytes + payload;
    if (this.used - at < length)
      return 0;
    this.take({
      kind: view.getUint32(MESSAGE.kind, true), skipped: view.getUint32(MESSAGE.skipped, true),
      number: whole(view, MESSAGE.number), ageMs: view.getUint32(MESSAGE.age_us, true) / 1000,
      payload: this.bytes.slice(at + MESSAGE.header_bytes, at + length),
    });
    return length;
  }
}

// Returns one message as the stream has it.
export function writeMessage({kind, number, ageMs, payload}) {
  const bytes = new Uint8Array(MESSAGE.header_bytes + payload.length), view = new DataView(bytes.buffer);
  view.setUint32(MESSAGE.magic, MESSAGE_MAGIC, true);
  view.setUint32(MESSAGE.kind, kind, true);
  view.setUint32(MESSAGE.bytes, payload.length, true);
  view.setUint32(MESSAGE.number, number % 2 ** 32, true);
  view.setUint32(MESSAGE.number + 4, Math.floor(number / 2 ** 32), true);
  view.setUint32(MESSAGE.age_us, Math.max(0, Math.round(ageMs * 1000)), true);
  bytes.set(payload, MESSAGE.header_bytes);
  return bytes;
}

function readStixels(view, at, count) {
  const s = {
    count, labelled: false, column: new Uint16Array(count), top: new Uint16Array(count), bottom: new Uint16Array(count),
    disparity: new Float32Array(count), slope: new Float32Array(count), kind: new Uint8Array(count), confidence: new Uint8Array(count),
    label: new Uint8Array(count), // semantic class; LABEL_NONE: none
    filled: new Uint8Array(count), // 1: hardly measured (STIXEL_FLAG_FILLED)
  };
  for (let i = 0; i < count; i++, at += STIXEL.bytes) {
    const d = view.getUint16(at + STIXEL.disparity_q7, true);
    s.column[i] = view.getUint16(at + STIXEL.column, true);
    s.top[i] = view.getUint16(at + STIXEL.row_top, true);
    s.bottom[i] = view.getUint16(at + STIXEL.row_bottom, true);
    s.disparity[i] = d === DISPARITY_UNKNOWN ? 0 : d / 128; // px at the bottom row; 0: unknown
    s.slope[i] = view.getInt16(at + STIXEL.slope_q14, true) / 16384; // px per row upwards
    s.kind[i] = view.getUint8(at + STIXEL.kind);
    s.confidence[i] = view.getUint8(at + STIXEL.confidence);
    s.label[i] = view.getUint8(at + STIXEL.label);
    s.labelled ||= s.label[i] !== LABEL_NONE;
    s.filled[i] = view.getUint8(at + STIXEL.flags) & FLAG_FILLED ? 1 : 0;
  }
  return s;
}

// Reads the motion of each stixel: velocity to the right and ahead, m/s, and whether it moves. Returns null if the frame
// has none.
function readMotion(view, at, count) {
  if (!at || at + count * MOTION.bytes > view.byteLength)
    return null;
  const m = {moves: new Uint8Array(count), vx: new Float32Array(count), vz: new Float32Array(count)};
  for (let i = 0; i < count; i++, at += MOTION.bytes) {
    const measured = view.getUint8(at + MOTION.sigma_x) && view.getUint8(at + MOTION.sigma_z);
    m.moves[i] = measured && view.getUint8(at + MOTION.state) === MOTION.moves ? 1 : 0;
    m.vx[i] = view.getInt16(at + MOTION.vx, true) / 100;
    m.vz[i] = view.getInt16(at + MOTION.vz, true) / 100;
  }
  return m;
}

// Reads the objects: identity, whether each moves or stands (else that is unknown), foot and size, m, velocity, m/s, and
// extent in the picture, px. Returns null if the publisher does not follow objects.
function readObjects(view, header) {
  const at = header >= FRAME.motion_reserved + 4 ? view.getUint32(FRAME.objects_offset, true) : 0;
  const count = at && view.getUint16(FRAME.object_count, true), bytes = at && view.getUint16(FRAME.object_bytes, true);
  if (!at || at + count * bytes > view.byteLength)
    return null;
  return Array.from({length: count}, (_, i) => {
    const from = at + i * bytes, real = (o) => view.getFloat32(from + o, true), state = view.getUint8(from + OBJECT.state);
    const [x, y, z] = [0, 4, 8].map((o) => real(OBJECT.x + o));
    return {
      id: view.getUint32(from + OBJECT.id, true), moves: state === MOTION.moves, stands: state === MOTION.stands, x, y, z,
      width: real(OBJECT.width), vx: real(OBJECT.vx), vz: real(OBJECT.vx + 4), seen: !real(OBJECT.unseen_s),
      box: [0, 2, 4, 6].map((o) => view.getUint16(from + OBJECT.left + o, true)), // left, right, top, bottom, inclusive
    };
  });
}

// Reads for each stixel the number of its object, from 1 on; 0: none.
function readObjectOf(view, objects, count) {
  const at = objects?.length ? view.getUint32(FRAME.object_of_offset, true) : 0;
  return at && at + count <= view.byteLength ? new Uint8Array(view.buffer, view.byteOffset + at, count) : [];
}

// Reads the ground. Publishers before 1.3 have a shorter header without the road's roll.
function readGround(real, header) {
  const whole = header >= FRAME.roll_rad + 8, later = (at) => whole ? real(at) : 0;
  return {
    slope: real(FRAME.road_slope), offset: real(FRAME.road_offset), cross: later(FRAME.road_cross),
    axis: later(FRAME.road_axis), bend: later(FRAME.road_bend), bendRow: later(FRAME.road_bend_row),
    height: real(FRAME.height_m), pitch: real(FRAME.pitch_rad), roll: later(FRAME.roll_rad),
  };
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export function isBlind(bytes) {
  return (viewOf(bytes).getUint32(FRAME.flags, true) & FRAME_BLIND) !== 0;
}

// Returns when the frame was published, by the clock of its daemon.
export function publishedNs(bytes) {
  return whole(viewOf(bytes), FRAME.published_ns);
}

// Reads a frame as described in include/stixel.h.
export function readFrame(bytes) {
  const view = viewOf(bytes);
  const u32 = (at) => view.getUint32(at, true), real = (at) => view.getFloat64(at, true);
  if (bytes.length < 280 || u32(FRAME.magic) !== FRAME_MAGIC || u32(FRAME.frame_bytes) > bytes.length)
    throw new Error("a frame is damaged");
  const count = u32(FRAME.stixel_count), columns = u32(FRAME.columns), header = u32(FRAME.header_bytes);
  const offsets = new Uint32Array(columns + 1), objects = readObjects(view, header);
  for (let i = 0; i <= columns; i++)
    offsets[i] = u32(header + 4 * i);
  return {
    number: whole(view, FRAME.number), blind: isBlind(bytes), width: u32(FRAME.image_width), height: u32(FRAME.image_height),
    columns, columnWidth: u32(FRAME.column_width), disparities: u32(FRAME.disparities),
    fx: real(FRAME.fx), fy: real(FRAME.fy), cx: real(FRAME.cx), cy: real(FRAME.cy), baseline: real(FRAME.baseline_m),
    road: view.getUint8(FRAME.road_origin), ground: readGround(real, header),
    horizon: real(FRAME.horizon_row), offsets, stixels: readStixels(view, u32(FRAME.stixels_offset), count),
    motion: header >= FRAME.motion_offset + 8 ? readMotion(view, u32(FRAME.motion_offset), count) : null,
    objects, objectOf: readObjectOf(view, objects, count),
  };
}

// Reads the free space of each column, which the server computed with stixel_free_space(): free between from and to, m.
// end: what ends the free space (END); stixel: number of this stixel. absent: numbers of object stixels that are no
// obstacle.
export function readFree(bytes) {
  const view = viewOf(bytes), u32 = (at) => view.getUint32(at, true);
  const columns = u32(FREE.columns), last = FREE.header_bytes + columns * FREE.bytes;
  const free = {
    from: new Float32Array(columns), to: new Float32Array(columns), end: new Uint8Array(columns), stixel: new Uint32Array(columns),
    absent: new Set(Array.from({length: u32(FREE.absent)}, (_, i) => u32(last + 4 * i))),
  };
  for (let u = 0, at = FREE.header_bytes; u < columns; u++, at += FREE.bytes) {
    free.from[u] = view.getFloat32(at + FREE.from_m, true); // NaN: no ground was seen
    free.to[u] = view.getFloat32(at + FREE.to_m, true);
    free.end[u] = u32(at + FREE.end);
    free.stixel[u] = u32(at + FREE.stixel);
  }
  return free;
}
