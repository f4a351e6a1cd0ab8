// Several cameras side by side: a tile with picture and state for each instance that runs.
// SPDX-License-Identifier: Apache-2.0
import {dressOf} from "./classes.js";
import {decode} from "./frame.js";
import {Link} from "./link.js";
import {setText} from "./text.js";
import {dated, judge} from "./state.js";
import {CameraView} from "./view.js";

export const MOST = 4; // a browser opens six connections to one address, and the page itself needs two
const HEAD_PX = 30; // height of a tile's head

class Tile {
  constructor(name, pick) {
    this.name = name;
    this.box = document.createElement("button");
    this.box.type = "button";
    this.box.className = "tile";
    this.box.innerHTML = '<span class="state wait"><span class="mark"></span><b></b><span class="word"></span></span><span class="stage"><canvas></canvas></span>';
    this.box.addEventListener("click", () => pick(name));
    this.view = new CameraView(this.box.querySelector("canvas"), () => { /* a tile measures nothing */ }, false);
    this.notice = this.shown = null;
    this.tell();
  }

  async show(set, choice) {
    if (this.busy)
      return; // newer frames follow
    this.busy = true;
    try {
      const done = await decode({...set}, choice.ground);
      this.shown?.picture?.close();
      this.shown = done;
      dressOf(done.parsed, this.name);
      this.box.querySelector("canvas").style.setProperty("--aspect", done.parsed.width / done.parsed.height);
      this.view.show(done.parsed, done.picture, choice.colour, choice.ground === "disparity");
      this.box.dataset.frame = done.number;
    } catch (e) {
      console.error("a frame cannot be shown:", e);
    }
    this.busy = false;
    this.tell();
  }

  tell() {
    const v = judge({name: this.name, notice: this.notice, status: null, shown: this.shown});
    this.box.querySelector(".state").className = `state ${v.kind}`;
    this.box.classList.toggle("old", v.kind !== "good" && v.veil !== "");
    setText(this.box.querySelector("b"), this.name);
    setText(this.box.querySelector(".word"), v.kind === "good" ? v.word : `${v.word} ${v.text}`);
  }

  follow(query, choice) {
    this.link = this.link ?? new Link({frame: (set) => this.show(set, choice()), notice: (n) => {
      this.notice = dated(n, this.notice);
      this.tell();
    }, link: () => this.tell()});
    this.link.choose(this.name, query);
  }

  end() {
    this.link?.end();
    this.shown?.picture?.close();
  }
}

export class Many {
  // box: filled with tiles; pick(name): a tile was pressed; choice(): {ground, colour} of the pictures
  constructor(box, {pick, choice}) {
    Object.assign(this, {box, pick, choice, tiles: new Map()});
    setInterval(() => this.tiles.forEach((tile) => tile.tell()), 500);
  }

  // Shows these instances, at most MOST of them. own: the instance whose frames the caller passes to give(). Returns
  // the number of instances left out.
  show(names, own, query) {
    const shown = names.slice(0, MOST);
    for (const [name, tile] of this.tiles)
      if (!shown.includes(name)) {
        tile.end();
        this.tiles.delete(name);
      }
    for (const name of shown) {
      const tile = this.tiles.get(name) ?? new Tile(name, this.pick);
      this.tiles.set(name, tile);
      if (name !== own)
        tile.follow(query, this.choice);
    }
    const boxes = shown.map((name) => this.tiles.get(name).box), {clientWidth: width, clientHeight: height} = this.box;
    if (boxes.some((box, i) => this.box.children[i] !== box) || this.box.children.length !== boxes.length)
      this.box.replaceChildren(...boxes);
    // the number of columns that makes the pictures largest, if all have the shape of the first one
    const aspect = Number(boxes[0]?.querySelector("canvas").style.getPropertyValue("--aspect")) || 2;
    const wide = (columns) => Math.min(width / columns, (height / Math.ceil(boxes.length / columns) - HEAD_PX) * aspect);
    const columns = [1, 2].reduce((a, b) => wide(b) > wide(a) ? b : a);
    this.box.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    return names.length - shown.length;
  }

  give(name, notice, set) {
    const tile = this.tiles.get(name);
    if (!tile || tile.link)
      return;
    tile.notice = notice;
    if (set)
      tile.show(set, this.choice());
  }

  end() {
    this.tiles.forEach((tile) => tile.end());
    this.tiles.clear();
    this.box.replaceChildren();
  }
}
