// The views that are open, their places on the screen, and the dock beside them.
// SPDX-License-Identifier: Apache-2.0
import {divide} from "./fit.js";

const RULERS = 46; // height of the map's ruler, px
const GAP = 7; // px between two panes
const DOCK_REM = 25.6, DOCK_FROM_PX = 900; // the dock is beside the views from this width on, else a sheet below
const SHEET = 0.55; // height of the sheet, as a share of the space for the views
const $ = (id) => document.getElementById(id);

export class Panes {
  // changed(): the choice of views or the dock has changed; opened(page): a page of the dock is seen, or none (null)
  constructor({keep, kept, changed, opened}) {
    Object.assign(this, {keep, changed, opened, aspect: 2, page: null});
    const views = (kept("views") ?? (this.suits3d() ? "picture,space,map" : "picture,map")).split(",");
    for (const input of this.inputs()) {
      input.checked = views.includes(input.value);
      input.addEventListener("change", () => this.choose(input));
    }
    for (const [id, page] of [["state", "details"], ["to-settings", "settings"], ["to-help", "help"], ["to-recordings", "recordings"]])
      $(id).addEventListener("click", () => this.dock(this.page === page ? null : page));
    for (const input of document.querySelectorAll("input[name=dock]"))
      input.addEventListener("change", () => this.dock(input.value));
    $("dock-close").addEventListener("click", () => this.dock(null, true));
    $("dock").addEventListener("keydown", (e) => e.key === "Escape" && !e.target.closest("input") && this.dock(null, true));
    new ResizeObserver(() => this.place()).observe($("main"));
  }

  // Opens the page of the dock that was open last.
  start(page) {
    const pages = ["settings", "details", "help", ...($("recordings-tab").hidden ? [] : ["recordings"])];
    this.dock(pages.includes(page) ? page : null);
  }

  // Returns whether three views fit at first, and a graphics card draws one of them.
  suits3d() {
    const {clientWidth: width, clientHeight: height} = $("main");
    const gl = width >= 1100 && height >= 560 && document.createElement("canvas").getContext("webgl", {failIfMajorPerformanceCaveat: true});
    const more = gl && gl.getExtension("WEBGL_debug_renderer_info");
    return Boolean(gl) && !/swiftshader|llvmpipe|software/i.test(gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  }

  inputs() {
    return document.querySelectorAll("input[name=view]");
  }

  // Returns whether a view is open. "many" replaces all others.
  open(name) {
    const is = (n) => document.querySelector(`input[name=view][value=${n}]`).checked;
    return name === "many" ? is("many") && !$("many-pick").hidden : !this.open("many") && is(name);
  }

  choose(input) {
    const on = [...this.inputs()].filter((i) => i.checked).map((i) => i.value);
    if (!on.some((name) => name !== "many"))
      input.checked = true; // at least one view stays open
    this.keep("views", [...this.inputs()].filter((i) => i.checked).map((i) => i.value).join(","));
    this.place();
    this.changed();
  }

  // Opens a page of the dock, or closes it. back: gives the focus to its button.
  dock(page, back = false) {
    const buttons = {details: $("state"), settings: $("to-settings"), help: $("to-help"), recordings: $("to-recordings")}, before = this.page;
    this.page = page;
    this.keep("dock", page ?? "");
    $("dock").hidden = page === null;
    for (const [name, button] of Object.entries(buttons)) {
      button.setAttribute("aria-expanded", String(name === page));
      $(`dock-${name}`).hidden = name !== page;
    }
    if (page)
      document.querySelector(`input[name=dock][value=${page}]`).checked = true;
    if (back && before)
      buttons[before].focus();
    this.place();
    this.opened(page);
  }

  // Sets the shape of the picture, width / height.
  shape(aspect) {
    if (Math.abs(aspect - this.aspect) < 1e-3)
      return;
    this.aspect = aspect;
    document.documentElement.style.setProperty("--aspect", aspect);
    this.place();
  }

  place() {
    let {clientWidth: width, clientHeight: height} = $("main");
    const put = (element, x, y, w, h) => Object.assign(element.style, {left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px`});
    let names = ["picture", "map", "space"].filter((name) => this.open(name));
    if (!width || !height)
      return;
    if (this.page && width >= DOCK_FROM_PX) {
      const dock = Math.round(DOCK_REM * parseFloat(getComputedStyle(document.documentElement).fontSize));
      width -= dock + GAP;
      put($("dock"), width + GAP, 0, dock, height);
    } else if (this.page) {
      const high = Math.round(height * SHEET), beside = width > 1.3 * height; // true on a phone in landscape
      put($("dock"), beside ? Math.round(width / 2) : 0, beside ? 0 : height - high, beside ? Math.round(width / 2) : width, beside ? height : high);
      width = beside ? Math.round(width / 2) - GAP : width;
      height = beside ? height : height - high - GAP;
      names = names.slice(0, 1); // there is room for one view only
    }
    for (const name of ["picture", "map", "space"])
      $(`pane-${name}`).hidden = !names.includes(name);
    put($("many"), 0, 0, width, height);
    if (!names.length)
      return;
    const panes = names.map((name) => ({name, aspect: this.aspect, rest: ($(`pane-${name}`).querySelector(".foot")?.offsetHeight ?? 0) + (name === "map" ? RULERS : 0)}));
    for (const {name, x, y, width: w, height: h} of this.best(panes, width, height))
      put($(`pane-${name}`), x, y, w, h);
  }

  best(panes, width, height) {
    const orders = panes.length === 3 ? [panes, [panes[0], panes[2], panes[1]]] : [panes];
    const found = orders.map((order) => divide(order, 0, 0, width, height, GAP));
    return found.reduce((a, b) => b.worth > a.worth ? b : a).places;
  }
}
