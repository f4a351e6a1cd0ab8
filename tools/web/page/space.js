// Shows the stixels in three dimensions with WebGL: objects and ground with the camera's picture on them.
// The grid below them has lines in metres. The user can turn and move the view.
// SPDX-License-Identifier: Apache-2.0
import {groundDisparity, hasMetres, point, toVehicle} from "./geometry.js";
import {Gesture} from "./gesture.js";
import {KIND, ROAD_NONE} from "./layout.js";
import {gridStep, reachOf} from "./map.js";
import {ALONE, CLASS, FILLED, OVER} from "./palette.js";
import {distanceColour} from "./view.js";

const VERTEX_BYTES = 16; // three floats, then red, green, blue and weight over the picture
const FIELD = 0.9; // vertical field of view, rad
const FLAT = 0.02, STEEP = 1.5; // limits of the view's elevation, rad

const VERTEX = `attribute vec3 at; attribute vec4 paint; uniform mat4 turn; varying vec3 seen; varying vec4 colour;
void main() { seen = at; colour = paint; gl_Position = turn * vec4(at, 1.0); }`;
// lens projects a point of the camera's coordinates into its picture
const FRAGMENT = `precision highp float; uniform sampler2D picture; uniform vec4 lens; uniform float pictured;
varying vec3 seen; varying vec4 colour;
void main() {
  vec3 photo = texture2D(picture, lens.xy * seen.xy / seen.z + lens.zw).rgb;
  gl_FragColor = vec4(mix(photo, colour.rgb, max(colour.a, 1.0 - pictured)), 1.0);
}`;

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const along = (a, b, by) => a.map((v, i) => v + by * b[i]);

// Multiplies two matrices of 4 by 4, stored by columns.
function times(a, b) {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++)
    for (let row = 0; row < 4; row++)
      for (let k = 0; k < 4; k++)
        out[4 * column + row] += a[4 * k + row] * b[4 * column + k];
  return out;
}

// Returns the matrix of a function that turns and moves points.
function matrixOf(turn) {
  const origin = turn([0, 0, 0]), axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((e) => along(turn(e), origin, -1));
  return new Float32Array([...axes[0], 0, ...axes[1], 0, ...axes[2], 0, ...origin, 1]);
}

// A growing list of vertices.
class Vertices {
  constructor() {
    this.bytes = new ArrayBuffer(1 << 16);
    this.clear();
  }

  clear() {
    this.count = 0;
    this.floats = new Float32Array(this.bytes);
    this.octets = new Uint8Array(this.bytes);
  }

  add([x, y, z], colour, weight) {
    if ((this.count + 1) * VERTEX_BYTES > this.bytes.byteLength) {
      const before = this.octets;
      this.bytes = new ArrayBuffer(2 * this.bytes.byteLength);
      this.floats = new Float32Array(this.bytes);
      this.octets = new Uint8Array(this.bytes);
      this.octets.set(before);
    }
    const at = this.count++ * VERTEX_BYTES;
    this.floats.set([x, y, z], at / 4);
    this.octets.set([colour[0], colour[1], colour[2], 255 * weight], at + 12);
  }

  quad(a, b, c, d, near, far, weight) {
    for (const [at, colour] of [[a, near], [b, near], [c, far], [a, near], [c, far], [d, far]])
      this.add(at, colour, weight);
  }
}

export class Space {
  // canvas: of WebGL; labels: a canvas of the same size above it
  constructor(canvas, labels) {
    Object.assign(this, {canvas, labels, frame: null, picture: null, faces: new Vertices(), lines: new Vertices()});
    this.gl = canvas.getContext("webgl", {antialias: true, alpha: false});
    this.works = this.gl !== null && this.prepare();
    this.reset();
    new Gesture(labels, {
      zoom: (by) => this.change(() => this.away = Math.min(6, Math.max(0.05, this.away / by))),
      move: (x, y) => this.change(() => this.orbit(x, y)),
      twist: (x, y) => this.change(() => this.pan(x, y)),
      point: () => { /* this view measures nothing */ },
      reset: () => this.reset(),
    });
    labels.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      this.show(this.frame, null, this.colour); // the next frame has a picture
    });
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.paint());
  }

  // Looks from behind and above the camera.
  reset() {
    Object.assign(this, {yaw: 0, elevation: 0.3, away: 0.42, target: [0.25, 0, 0], reach: null});
    this.paint();
  }

  // Changes the view. From then on, the view keeps its size in metres.
  change(how) {
    this.reach = this.reach ?? reachOf(this.frame?.scale);
    how();
    this.paint();
  }

  orbit(x, y) {
    this.yaw += x * 0.008;
    this.elevation = Math.min(STEEP, Math.max(FLAT, this.elevation + y * 0.008));
  }

  pan(x, y) {
    const by = this.away * 2 * Math.tan(FIELD / 2) / this.canvas.clientHeight, cos = Math.cos(this.yaw), sin = Math.sin(this.yaw);
    this.target = along(along(this.target, [-sin, cos, 0], x * by), [cos, sin, 0], y * by);
  }

  key(e) {
    const turn = {ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, 12], ArrowDown: [0, -12]}[e.key];
    if (turn)
      this.change(() => e.shiftKey ? this.pan(-turn[0], turn[1]) : this.orbit(...turn));
    else if (e.key === "+" || e.key === "=" || e.key === "-")
      this.zoom(e.key === "-" ? 1 / 1.25 : 1.25);
    else if (e.key === "0")
      this.reset();
    else
      return;
    e.preventDefault();
  }

  zoom(by) {
    this.change(() => this.away = Math.min(6, Math.max(0.05, this.away / by)));
  }

  // Compiles the program. Returns false if the browser cannot.
  prepare() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      return false;
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    const places = ["at", "paint"].map((name) => gl.getAttribLocation(program, name));
    gl.vertexAttribPointer(places[0], 3, gl.FLOAT, false, VERTEX_BYTES, 0);
    gl.vertexAttribPointer(places[1], 4, gl.UNSIGNED_BYTE, true, VERTEX_BYTES, 12);
    places.forEach((p) => gl.enableVertexAttribArray(p));
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const [name, value] of [[gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE], [gl.TEXTURE_MIN_FILTER, gl.LINEAR]])
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    this.uniform = Object.fromEntries(["turn", "lens", "pictured"].map((name) => [name, gl.getUniformLocation(program, name)]));
    return true;
  }

  // picture: the camera's image, or null. Colours are the same as in the view of the picture.
  show(frame, picture, colour) {
    this.frame = frame;
    this.colour = colour;
    this.picture = picture;
    if (this.works && picture)
      this.gl.texImage2D(this.gl.TEXTURE_2D, 0, this.gl.RGB, this.gl.RGB, this.gl.UNSIGNED_BYTE, picture);
    this.faces.clear();
    if (hasMetres(frame) && !frame.blind && frame.scale)
      this.build();
    this.paint();
  }

  build() {
    const {stixels: s, fx, baseline, columnWidth} = this.frame, least = fx * baseline / (2 * reachOf(this.frame.scale));
    const weight = this.colour === "off" ? {ground: 0, object: 0, sky: 0} : this.picture ? OVER : ALONE;
    for (let i = 0; i < s.count; i++) {
      const left = s.column[i] * columnWidth - 0.5, right = left + columnWidth;
      if (s.kind[i] === KIND.ground)
        this.ground(left, right, s.top[i] - 0.5, s.bottom[i] + 0.5, least, [
          (this.colour === "class" && this.frame.classes?.colour(i)) || CLASS[KIND.ground], weight.ground]);
      else if (s.kind[i] === KIND.object && s.disparity[i] > least)
        this.object(i, left, right, weight.object);
    }
  }

  object(i, left, right, weight) {
    const f = this.frame, s = f.stixels, top = s.top[i] - 0.5, bottom = s.bottom[i] + 0.5;
    const upper = Math.max(0.25 * s.disparity[i], s.disparity[i] + s.slope[i] * (bottom - top));
    const pale = s.filled[i] ? weight * FILLED : weight;
    const [near, far] = [s.disparity[i], upper].map((d) => this.colour === "class" ? f.classes?.colour(i) ?? CLASS[KIND.object] : distanceColour(f.scale, d));
    this.faces.quad(point(f, left, bottom, s.disparity[i]), point(f, right, bottom, s.disparity[i]),
      point(f, right, top, upper), point(f, left, top, upper), near, far, pale);
  }

  // Adds a piece of ground, in two parts if the road has a bend between its ends. least: smallest disparity drawn, px. paint: its
  // colour and weight.
  ground(left, right, top, bottom, least, [colour, weight]) {
    const f = this.frame, d = (x, y) => Math.max(groundDisparity(f, x, y), least / 2), bend = f.ground.bendRow;
    const rows = bend > top && bend < bottom && f.ground.bend ? [top, bend, bottom] : [top, bottom];
    for (let k = 1; k < rows.length; k++) {
      let [from, to] = [rows[k - 1], rows[k]];
      const far = groundDisparity(f, left, from), near = groundDisparity(f, left, to);
      if (near <= least)
        continue;
      if (far < least) // cut off the farther part
        from = to - (to - from) * (near - least) / (near - far);
      this.faces.quad(point(f, left, to, d(left, to)), point(f, right, to, d(right, to)), point(f, right, from, d(right, from)),
        point(f, left, from, d(left, from)), colour, colour, weight);
    }
  }

  // Returns the matrix from the vehicle's coordinates to the screen.
  view(width, height) {
    const reach = this.reach ?? reachOf(this.frame?.scale), {yaw, elevation} = this, away = this.away * reach;
    const ahead = [Math.cos(elevation) * Math.cos(yaw), Math.cos(elevation) * Math.sin(yaw), -Math.sin(elevation)];
    const right = [Math.sin(yaw), -Math.cos(yaw), 0], up = cross(right, ahead);
    const eye = along(this.target.map((v) => v * reach), ahead, -away);
    const look = new Float32Array([right[0], up[0], -ahead[0], 0, right[1], up[1], -ahead[1], 0, right[2], up[2], -ahead[2], 0,
      -dot(right, eye), -dot(up, eye), dot(ahead, eye), 1]);
    const f = 1 / Math.tan(FIELD / 2), near = away / 50, far = 6 * reach + 4 * away;
    return times(new Float32Array([f * height / width, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]), look);
  }

  paint() {
    const {gl, canvas} = this, ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (!this.works || !width || !height)
      return;
    for (const each of [canvas, this.labels])
      if (each.width !== width || each.height !== height)
        Object.assign(each, {width, height});
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const page = this.rgb(ink("--stage")), matrix = this.view(width, height), f = this.frame;
    gl.viewport(0, 0, width, height);
    gl.clearColor(...page.map((v) => v / 255), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.labels.getContext("2d").clearRect(0, 0, width, height);
    if (!hasMetres(f))
      return this.write(f ? "Without a camera model there are no metres." : "", ratio, ink);
    gl.uniform4f(this.uniform.lens, f.fx / f.width, f.fy / f.height, (f.cx + 0.5) / f.width, (f.cy + 0.5) / f.height);
    this.draw(this.faces, gl.TRIANGLES, times(matrix, matrixOf(toVehicle(f))), this.picture !== null);
    this.grid(this.rgb(ink("--grid-3d")));
    this.draw(this.lines, gl.LINES, matrix, false);
    this.writeMetres(matrix, ratio, ink);
    if (f.blind)
      this.write("The pictures show nothing: nothing is free.", ratio, ink);
  }

  rgb(colour) {
    return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  }

  draw(vertices, mode, matrix, pictured) {
    const gl = this.gl;
    gl.bufferData(gl.ARRAY_BUFFER, vertices.octets.subarray(0, vertices.count * VERTEX_BYTES), gl.DYNAMIC_DRAW);
    gl.uniformMatrix4fv(this.uniform.turn, false, matrix);
    gl.uniform1f(this.uniform.pictured, pictured ? 1 : 0);
    gl.drawArrays(mode, 0, vertices.count);
  }

  // Adds the grid of the road, and the camera with its view.
  grid(colour) {
    const reach = this.reach ?? reachOf(this.frame.scale), step = this.step = gridStep(1, reach / 6), f = this.frame;
    const add = (a, b) => [a, b].forEach((at) => this.lines.add(at, colour, 1));
    this.lines.clear();
    this.wide = Math.ceil(reach / 2 / step) * step;
    if (f.road !== ROAD_NONE)
      for (let k = 0; k * step <= reach + 1e-6; k++) {
        add([k * step, -this.wide, 0], [k * step, this.wide, 0]);
        for (const y of [k * step, -k * step])
          if (Math.abs(y) <= this.wide)
            add([0, y, 0], [Math.floor(reach / step) * step, y, 0]);
      }
    const turn = toVehicle(f), size = reach * 0.015, d = f.fx * f.baseline / size;
    const corners = [[0, 0], [f.width, 0], [f.width, f.height], [0, f.height]].map(([x, y]) => turn(point(f, x, y, d)));
    corners.forEach((at, i) => {
      add(turn([0, 0, 0]), at);
      add(at, corners[(i + 1) % 4]);
    });
  }

  writeMetres(matrix, ratio, ink) {
    const c = this.labels.getContext("2d"), reach = this.reach ?? reachOf(this.frame.scale), {width, height} = this.labels;
    c.font = `${12 * ratio}px system-ui, sans-serif`;
    c.fillStyle = ink("--soft");
    c.textAlign = "left";
    for (let x = this.step; x <= reach + 1e-6 && this.frame.road !== ROAD_NONE; x += this.step) {
      const at = [x, -this.wide, 0, 1], to = [0, 1, 3].map((row) => at.reduce((sum, v, i) => sum + matrix[4 * i + row] * v, 0));
      if (to[2] > 0)
        c.fillText(`${+x.toFixed(2)} m`, (to[0] / to[2] + 1) / 2 * width + 4 * ratio, (1 - to[1] / to[2]) / 2 * height);
    }
  }

  write(text, ratio, ink) {
    const c = this.labels.getContext("2d");
    c.font = `${14 * ratio}px system-ui, sans-serif`;
    c.fillStyle = ink("--text");
    c.textAlign = "center";
    c.fillText(text, this.labels.width / 2, this.labels.height / 2);
  }
}
