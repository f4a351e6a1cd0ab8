# The page in headless Chromium: what it shows of frames, of the past and of recordings.
# SPDX-License-Identifier: Apache-2.0
import json
import math
import os
import re
import signal
import struct
import time
import unittest

from browser import By, Page, main
from support import IDLE, LEGEND, Daemon, Keys, Web, until

CHOOSE = """const s = document.getElementById('instance');
s.value = arguments[0];
s.dispatchEvent(new Event('change'));"""
# decoding of a picture takes a second
SLOW_DECODING = """const decode = window.createImageBitmap;
window.createImageBitmap = async (...args) => {
  document.body.dataset.slow = Number(document.body.dataset.slow || 0) + 1;
  await new Promise((done) => setTimeout(done, 1000));
  return decode(...args);
};"""


class Browser(Page):
    def test_frames_arrive_and_charts_move(self):
        self.errors()
        self.browser.get_log("performance")
        self.open()
        self.dock("details")
        view, plan, chart = self.pixels("view"), self.pixels("map"), self.pixels("c-latency")
        self.assertGreater(view[0], 100000)
        until(lambda: self.pixels("view") != view, what="another picture")
        until(lambda: self.pixels("map") != plan, what="another plan")
        until(lambda: self.data("samples") >= 3, what="samples")
        until(lambda: self.pixels("c-latency") != chart, what="another chart")
        until(lambda: re.fullmatch(r"[\d.]+ fps", self.text("now-fps"))
              and re.fullmatch(r"[\d.]+ ms", self.text("now-latency")), what="fps and latency")
        self.assertIn("synthetic", self.text("facts"))
        road = r"measured; camera 1\.\d\d ± \d\.\d\d m high, pitch -?\d\.\d\d ± \d\.\d\d°, roll -?\d\.\d\d ± \d\.\d\d°"
        until(lambda: re.search(road, self.text("facts")), what="the road and how sure it is")
        self.assertIn("sgm", self.text("stages"))
        # a card for watts if they are known, and only then
        watts = (self.web.status(self.daemon) or {}).get("power", {}).get("watts")
        card = self.browser.find_element(By.ID, "power")
        until(lambda: card.is_displayed() == (watts is not None), what="the power card for %s W" % watts)
        if watts is not None:
            self.assertRegex(self.text("v-power"), r"^[\d.]+ W, .*$")
        # no request left this machine
        asked = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        hosts = {m["params"]["request"]["url"].split("/")[2] for m in asked
                 if m["method"] == "Network.requestWillBeSent"
                 and m["params"]["request"]["url"].startswith(("http", "ws"))}
        self.assertEqual(hosts, {"127.0.0.1:%d" % self.web.port})
        self.assertEqual(self.errors(), [])

    def test_the_first_picture(self):
        """By the browser's clock, a picture appears within 0.5 s of the start of loading."""
        took = []
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            new MutationObserver(() => window.firstPicture ??= document.body?.dataset.frame && performance.now())
              .observe(document, {subtree: true, childList: true, attributes: true});"""})
        for _ in range(5):
            self.browser.execute_cdp_cmd("Network.clearBrowserCache", {})
            self.open()
            took.append(self.browser.execute_script("return window.firstPicture"))
        print("first picture after", ", ".join("%.0f" % ms for ms in took), "ms")
        if IDLE:
            self.assertLess(sorted(took)[2], 500)

    def test_views(self):
        self.open()
        self.pick("colour", "off")
        self.pick("ground", "none")
        until(lambda: self.images() == {"left": "idle", "right": "off", "disparity": "idle"},
              what="no image is asked for")
        self.until_frames()
        empty = self.pixels("view")
        self.pick("ground", "disparity")
        until(lambda: (self.images() or {}).get("disparity") == "published", what="disparity")
        until(lambda: self.pixels("view")[0] > 1.3 * empty[0], what="disparity is drawn")
        self.pick("ground", "none")
        for colour in ("distance", "class"):
            self.pick("colour", colour)
            until(lambda: self.pixels("view")[0] > 1.3 * empty[0], what="stixels are drawn")
        self.pick("ground", "left")
        self.pick("colour", "distance")
        # move the probe with the keyboard
        self.browser.execute_script("document.getElementById('view').focus()")
        self.browser.switch_to.active_element.send_keys("\ue015" * 6)
        place = (r"(object|ground) · x [\d.]+ m, y \u2212?[\d.]+ m( · height \u2212?[\d.]+ to [\d.]+ m)? · "
                 r"((low|medium|high) confidence|filled: hardly measured)")
        until(lambda: re.fullmatch(place + "|sky|not seen, so not free", self.tip()), what="the probe")

    def test_colours_of_distances(self):
        self.open()
        ticks = lambda: self.text("ticks").split("\n")
        until(lambda: re.fullmatch(r"[\d.]+ m", ticks()[-1]), what="ends of the scene")
        self.browser.execute_script("const e = document.getElementById('ends'); e.value = arguments[0];"
                                    "e.dispatchEvent(new Event('change'));", "0.7 - 9 m")
        until(lambda: ticks()[0] == "0.7" and ticks()[-1] == "9 m", what="given ends")
        self.browser.execute_script("const e = document.getElementById('ends'); e.value = '';"
                                    "e.dispatchEvent(new Event('change'));")
        until(lambda: ticks()[0] != "0.7", what="ends of the scene again")
        swatches = self.browser.find_elements(By.CSS_SELECTOR, "#pane-picture .swatches li")
        looks = [e.text for e in swatches if e.is_displayed()]
        self.assertEqual(looks, ["ground", "sky", "filled", "not seen, so not free"])

    def test_looks_of_a_frame(self):
        """Draws a frame of five columns, 20 px wide: object at 5 m, at 10 m, ground, sky, unseen."""
        self.open()
        script = """const [colour, done] = arguments;
            Promise.all(["view", "layout", "classes"].map((name) => import(`/${name}.js`))).then(
                async ([{CameraView}, {KIND}, {dress}]) => {
              const canvas = Object.assign(document.createElement("canvas"), {width: 100, height: 60});
              const kinds = ["object", "object", "ground", "sky"];
              const view = new CameraView(canvas, () => 0), whole = (v) => kinds.map(() => v);
              const frame = {width: 100, height: 60, columns: 5, columnWidth: 20, fx: 100, baseline: 1, road: 0,
                blind: false,
                scale: {near_px: 20, far_px: 5, unit: "m", ticks: []}, offsets: [0, 1, 2, 3, 4, 4], stixels: {count: 4,
                  column: [0, 1, 2, 3], top: whole(0), bottom: whole(59), disparity: [20, 10, 0, 0], slope: whole(0),
                  kind: kinds.map((k) => KIND[k]), confidence: whole(255), label: [1, 255, 0, 255]}};
              const pixels = (f) => {
                view.show(f, null, colour);
                const c = Object.assign(document.createElement("canvas"), {width: 100, height: 60}).getContext("2d");
                view.draw(c, 100, 60, 1);
                return [10, 19, 20, 30, 50, 70, 90].map((x) =>
                  [20, 21, 22, 23, 24, 25, 26, 27].map((y) => [...c.getImageData(x, y, 1, 1).data]));
              };
              const filled = {...frame, stixels: {...frame.stixels, filled: [1, 0, 0, 0]}};
              const classes = {...frame};
              dress(classes, ["Road", "traffic_sign"]);
              done([pixels(frame), pixels({...frame, blind: true}), pixels(filled), pixels(classes)]);
            });"""
        # by class: traffic sign, object without a class, road, sky without a class
        sign, _, _, thing, road, sky = (column[0][:3] for column in
                                        self.browser.execute_async_script(script, "class")[3][:6])
        self.assertTrue(sign[0] > 180 and sign[1] > 180 and sign[2] < 40, sign)
        self.assertTrue(thing[0] > thing[1] + 60 > thing[2] + 100, thing)
        self.assertTrue(abs(road[0] - road[2]) < 10 and road[0] > road[1] + 20, road)
        self.assertTrue(sky[2] > sky[0] + 30, sky)
        seen, blind, filled, _ = self.browser.execute_async_script(script, "distance")
        near, edge, beside, far, ground, sky, unseen = (column[0] for column in seen)
        self.assertTrue(near[0] > 200 and near[1] > 200 and near[2] < 80, near)
        self.assertTrue(far[0] > far[1] + 60, far)
        self.assertTrue(edge[0] < near[0] - 60, (edge, near))  # depth steps: the nearer side has a line
        self.assertEqual(beside, far)
        self.assertTrue(ground[1] > ground[0] + 60 and sky[2] > sky[0] + 30, (ground, sky))
        # a filled object is pale, with lines of its colour
        self.assertGreater(max(p[0] for p in filled[0]), 150)
        self.assertLess(min(p[0] for p in filled[0]), near[0] - 60)
        self.assertEqual(filled[3], seen[3])
        # unseen is hatched: grey, lines and gaps
        for column in (seen[6], *blind):
            self.assertTrue(all(max(p[:3]) - min(p[:3]) < 20 for p in column), column)
        self.assertGreater(len({tuple(p) for p in seen[6]}), 1)
        self.assertLess(max(unseen[:3]), 150)

    def plan(self, frame, places):
        """Draws the map of a frame. Returns its colour at places of the ground (across to the right, ahead, m): red,
        green, blue, alpha of the strongest pixel near each place."""
        script = """const [frame, places, done] = arguments;
            import("/map.js").then(({StixelMap}) => {
              const canvas = document.createElement("canvas");
              canvas.style.width = canvas.style.height = "444px";
              document.body.append(canvas);
              const bird = new StixelMap(canvas, () => 0);
              frame.free.from = frame.free.from.map((m) => m ?? NaN);
              frame.free.to = frame.free.to.map((m) => m ?? Infinity);
              frame.free.absent = new Set(frame.free.absent);
              bird.range = 20;
              bird.show(frame, "distance");
              const copy = new OffscreenCanvas(canvas.width, canvas.height);
              const read = copy.getContext("2d", {willReadFrequently: true});
              read.drawImage(canvas, 0, 0);
              done(places.map((at) => {
                const [x, y] = bird.place(...at), d = read.getImageData(x - 6, y - 3, 12, 6).data;
                const best = [...d.keys()].filter((i) => i % 4 === 3).reduce((a, b) => d[b] > d[a] ? b : a, 3);
                return [...d.slice(best - 3, best + 1)];
              }));
              canvas.remove();
            });"""
        return self.browser.execute_async_script(script, frame, places)

    def seen_by_five_columns(self):
        """Returns a frame of five columns of 40 px each. The middle one looks straight ahead. By column: free to the
        horizon; an object at 10 m; an unseen foot and an object at 9 m; a drop at 8 m, before a lower floor at 12 m
        that is no obstacle; ground up to 12 m."""
        end = {"unseen": 0, "ground": 1, "object": 2, "drop": 3}
        words = ["ground", "object", "unseen", "drop", "unseen"]
        return {"columns": 5, "columnWidth": 40, "cx": 100, "fx": 200, "baseline": 0.5, "disparities": 64,
                "blind": False, "offsets": [0, 0, 1, 2, 3, 3],
                "stixels": {"kind": [1] * 3, "disparity": [10, 100 / 9, 100 / 12], "column": [1, 2, 3],
                            "confidence": [255] * 3},
                "free": {"from": [4, 4, None, 4, 4], "to": [None, 10, 0, 8, 12], "end": [end[w] for w in words],
                         "stixel": [2**32 - 1, 0, 1, 2, 2**32 - 1], "absent": [2]}}

    def test_what_is_not_seen_is_not_free(self):
        self.open()
        frame = self.seen_by_five_columns()
        ahead = [2, 7, 9.6, 11, 16]
        rows = [self.plan(frame, [((u - 2) * 0.2 * z, z) for z in ahead]) for u in range(5)]

        def free(colour):
            return colour[3] > 30 and colour[1] > colour[0] + 50 and colour[1] > colour[2] + 20
        self.assertEqual([[free(c) for c in row] for row in rows], [
            [False, True, True, True, True],
            [False, True, True, False, False],
            [False] * 5,
            [False, True, False, False, False],
            [False, True, True, True, False]])
        # the blind zone and the area behind unseen places are hatched, except an area that an object hides
        hatched = [[c[3] > 60 and max(c[:3]) - min(c[:3]) < 40 for c in row] for row in rows]
        self.assertEqual([row[0] for row in hatched], [True] * 5)
        self.assertEqual([row[4] for row in hatched], [False, False, True, True, True])
        # objects are drawn, also behind unseen places, and so is the edge of a drop; the floor below the drop is not an
        # object
        wall, behind, edge, floor = self.plan(frame, [(-2, 10.1), (0.5, 9.1), (1.6, 8.1), (2.4, 12.1)])
        self.assertTrue(all(c[3] == 255 and max(c[:3]) - min(c[:3]) > 100 for c in (wall, behind)), (wall, behind))
        self.assertTrue(edge[3] == 255 and max(edge[:3]) - min(edge[:3]) < 60, edge)
        self.assertLess(floor[3], 200)

    def test_a_blind_frame(self):
        self.open()
        frame = dict(self.seen_by_five_columns(), blind=True)
        frame["free"].update({"from": [None] * 5, "to": [0] * 5, "end": [0] * 5})
        places = [(x, z) for x in (-3, 0, 3) for z in range(1, 20)]
        self.assertEqual([p for p, c in zip(places, self.plan(frame, places)) if c[1] > max(c[0], c[2]) + 20], [])
        # the flag by which the page recognises a blind frame
        flags = self.browser.execute_async_script("""const done = arguments[0];
            Promise.all([import("/wire.js"), import("/layout.js")]).then(([{readFrame}, layout]) => {
              const {FRAME, FRAME_MAGIC, FRAME_BLIND} = layout;
              const bytes = new Uint8Array(800), view = new DataView(bytes.buffer);
              view.setUint32(FRAME.magic, FRAME_MAGIC, true);
              view.setUint32(FRAME.header_bytes, 776, true);
              const before = readFrame(bytes).blind;
              view.setUint32(FRAME.flags, FRAME_BLIND, true);
              done([before, readFrame(bytes).blind]);
            });""")
        self.assertEqual(flags, [False, True])

    def test_objects(self):
        """Reads objects from a frame, and draws those that move or whose motion is not known: a box, its identity, and
        an arrow. What stands stays plain."""
        self.open()
        got = self.browser.execute_async_script("""const done = arguments[0];
            Promise.all(["wire", "layout", "geometry", "view", "map"].map((n) => import(`/${n}.js`))).then(
                ([{readFrame}, layout, {movers, stixelWords}, {CameraView}, {StixelMap}]) => {
              const {FRAME, FRAME_MAGIC, MOTION, OBJECT, STIXEL, KIND} = layout;
              const each = 88; // a newer publisher has larger records
              const bytes = new Uint8Array(872 + 8 + 24 + 3 * each + 8), view = new DataView(bytes.buffer);
              const u32 = (at, v) => view.setUint32(at, v, true), u16 = (at, v) => view.setUint16(at, v, true);
              const header = {magic: FRAME_MAGIC, header_bytes: 872, frame_bytes: bytes.length, image_width: 200,
                image_height: 100, columns: 1, column_width: 8, stixel_count: 1, stixels_offset: 880,
                objects_offset: 904, object_of_offset: 904 + 3 * each};
              for (const name of Object.keys(header))
                u32(FRAME[name], header[name]);
              for (const [name, v] of [["fx", 100], ["fy", 100], ["cx", 100], ["cy", 50], ["baseline_m", 1]])
                view.setFloat64(FRAME[name], v, true);
              u32(876, 1); // offsets: 0, 1
              u16(880 + STIXEL.row_bottom, 40);
              u16(880 + STIXEL.disparity_q7, 128 * 10);
              view.setUint8(880 + STIXEL.kind, KIND.object);
              u16(FRAME.object_count, 3);
              u16(FRAME.object_bytes, each);
              [MOTION.moves, MOTION.stands, 0].forEach((state, k) => {
                const at = 904 + k * each, reals = {x: [-3 + 3 * k, 0.5, 10], width: [2, 1], vx: [2, -8]};
                u32(at + OBJECT.id, 5 + k);
                view.setUint8(at + OBJECT.state, state);
                for (const [name, values] of Object.entries(reals))
                  values.forEach((v, i) => view.setFloat32(at + OBJECT[name] + 4 * i, v, true));
                [20 + 60 * k, 59 + 60 * k, 30, 69].forEach((v, i) => u16(at + OBJECT.left + 2 * i, v));
              });
              bytes[header.object_of_offset] = 1;
              const scale = {near_px: 20, far_px: 5, unit: "m", far: 20 / 1.15, ticks: []};
              const frame = {...readFrame(bytes), scale};
              const canvas = document.createElement("canvas"), picture = new CameraView(canvas, () => 0);
              const pixels = (f) => {
                picture.show(f, null, "distance");
                const c = Object.assign(document.createElement("canvas"), {width: 200, height: 100}).getContext("2d");
                picture.draw(c, 200, 100, 1);
                const strong = (x, y) => Math.max(...c.getImageData(x, y, 1, 1).data.slice(0, 3)) > 200;
                const rows = [...Array(38).keys()].map((i) => 32 + i);
                return [...[20, 80, 140].map((x) => rows.filter((y) => strong(x, y)).length), strong(60, 66)];
              };
              const plan = Object.assign(document.createElement("canvas"), {style: "width: 400px; height: 446px"});
              document.body.append(plan);
              const map = new StixelMap(plan, () => 0), c = plan.getContext("2d");
              map.show(frame, "distance");
              // coloured pixels about the foot of each object
              const colours = [-3, 0, 3].map((x) => {
                const [at, row] = map.place(x, 10), d = devicePixelRatio;
                const {data} = c.getImageData((at - 24) * d, (row - 10) * d, 48 * d, 20 * d);
                let n = 0;
                for (let i = 0; i < data.length; i += 4)
                  n += Math.max(...data.slice(i, i + 3)) - Math.min(...data.slice(i, i + 3)) > 60 && data[i + 3] > 200;
                return n > 20;
              });
              plan.remove();
              const before = (header) => { // the objects of a frame whose header ends before, or between, their fields
                const old = bytes.slice();
                new DataView(old.buffer).setUint32(FRAME.header_bytes, header, true);
                return readFrame(old).objects;
              };
              done([movers(frame), pixels(frame), pixels({...frame, blind: true}), colours, stixelWords(frame, 0),
                [before(856), before(864)], readFrame(bytes.slice(0, bytes.length)).objects.length]);
            }).catch((e) => done(`${e.stack}`));""")
        self.assertIsInstance(got, list, got)
        things, sides, blind, colours, words, old, count = got
        self.assertEqual([(t["id"], t["moves"], t["then"]) for t in things], [(5, True, [-2, 6]), (7, False, [3, 10])])
        self.assertEqual((things[0]["box"], things[0]["seen"]), ([20, 59, 30, 69], True))
        self.assertGreater(sides[0], 30)  # a line
        self.assertEqual(sides[1], 0)
        self.assertTrue(10 < sides[2] < 30, sides)  # dashes
        self.assertEqual((sides[3], blind), (True, [0, 0, 0, False]))  # the arrow
        self.assertEqual(colours, [True, False, True])
        self.assertIn(" · object 5 · ", words)
        self.assertEqual((old, count), ([None, None], 3))

    def test_the_legend_of_what_moves(self):
        """The legend has the arrow also if a frame has objects, but no records of motion, which did not fit."""
        self.open()
        legend = self.browser.find_element(By.ID, "legend-moves")
        until(lambda: self.data("frame"), what="a frame")
        self.assertFalse(legend.is_displayed())
        self.browser.execute_async_script("""const done = arguments[0], read = DataView.prototype.getUint32;
            import("/layout.js").then(({FRAME}) => {
              DataView.prototype.getUint32 = function (at, little) { // an empty table of objects behind the header
                return at === FRAME.objects_offset ? 872 : read.call(this, at, little);
              };
              done();
            });""")
        until(legend.is_displayed, what="the legend")

    def charts(self, script, *args):
        """Runs a script with the module of the charts as m. Returns its result."""
        return self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1], args = arguments;"
            "import('/charts.js').then((m) => done((%s)(m, ...args)));" % script, *args)

    def test_a_spike_does_not_set_the_axis(self):
        self.open()
        self.dock("details")

        def reach(values):
            return self.charts("({reach}, values) => reach(values.map((v) => v ?? NaN))", values)
        self.assertEqual(reach([]), 0)
        self.assertEqual(reach([None, 7, None]), 7)
        self.assertEqual(reach([20] * 30 + [29]), 29)  # 29 is not high enough to count as a spike
        self.assertEqual(reach([1000] + [20] * 9), 30)
        self.assertEqual(reach([1000, 900, 800] + [20] * 27), 30)  # the first seconds after a start
        self.assertEqual(reach([1000] * 4 + [20] * 26), 1000)
        self.assertEqual(reach([1000] * 6 + [20] * 294), 30)
        self.assertEqual(reach([1000] * 7 + [20] * 293), 1000)
        # in the chart the axis ends near the other values, and the spike is marked and described
        drawn = """({Chart, History}, values) => {
          const history = new History(), canvas = document.getElementById("c-fps").cloneNode();
          document.getElementById("charts").append(canvas);
          values.forEach((v, i) => history.add(Date.now() - 1000 * (values.length - i), {v}));
          const chart = new Chart(canvas, history, [{key: "v", colour: "--one"}], 10, "nothing");
          chart.paint();
          chart.say("told");
          const d = canvas.getContext("2d").getImageData(0, 0, canvas.width, 12).data, top = chart.top();
          canvas.remove();
          const ink = d.filter((_, i) => i % 4 === 3).reduce((n, a) => n + (a > 0), 0);
          return [top, canvas.getAttribute("aria-label"), ink];
        }"""
        top, label, ink = self.charts(drawn, [1000] + [20] * 20)
        self.assertEqual((top, label), (30, "told; up to 1000 above the axis"))
        plain = self.charts(drawn, [30] + [20] * 20)
        self.assertEqual(plain[:2], [30, "told"])
        self.assertGreater(ink, plain[2] + 20)

    def test_the_window_grows(self):
        self.open()
        spans = self.charts("""({History}, ages) => ages.map((age) => {
            const history = new History(), now = Date.now();
            for (let s = age; s >= 0; s--)
              history.add(now - 1000 * s, {});
            return [history.span(now), history.rows.length];
          })""", [0, 10, 45, 250, 400])
        self.assertEqual([round(s) for s, _ in spans], [30, 30, 45, 250, 300])
        self.assertLessEqual(spans[-1][1], 304)

    def test_the_figures_of_the_pictures(self):
        self.open()
        self.dock("details")
        row = self.browser.find_element(By.ID, "health")
        until(row.is_displayed, what="the row")
        until(lambda: re.search(r"Measured\s+\d+ %", row.text), what="density")
        self.assertRegex(row.text, r"Row error\s+[+\u2212]?\d\.\d px\s+L \S+ M \S+ R \S+ ± ")
        until(lambda: row.find_elements(By.CSS_SELECTOR, ".good"), what="what is held against a limit")
        # a value beyond the daemon's limit for seconds is marked, with the limit; a single sample is not
        show = """const [samples, done] = arguments;
            import("/health.js").then(({Health}) => {
              const box = document.createElement("section"), health = new Health(box);
              box.className = "card health";
              document.querySelector("main").append(box);
              samples.forEach((pictures) => health.show(pictures));
              const tiles = [...box.querySelectorAll(".tiles > div")];
              const words = tiles.map((t) => [t.className, t.innerText.replaceAll(/\\s+/g, " ")]);
              done([box.hidden, ...words, health.worst()]);
              box.remove();
            });"""

        def shown(*samples):
            return self.browser.execute_async_script(show, samples if len(samples) > 1 else 5 * samples)
        pictures = {"density": 0.2, "at_infinity": 0.1, "blind_columns": 0,
                    "row_error_px": {"left": -1.5, "middle": 0.1}, "row_spread_px": {"all": 0.2},
                    "dark": {"left": 0.1, "right": 0.99}, "saturated": {"left": 0, "right": 0},
                    "sharpness": {"left": 9, "right": 12}, "limits": {"density": 0.42, "row_error_px": 1, "dark": 0.98}}
        hidden, *tiles, worst = shown(pictures)
        self.assertFalse(hidden)
        self.assertEqual(worst, "Measured: 20 % (limit 42 %). What to do: clean the lenses, or give more light")
        self.assertEqual([t[0] for t in tiles], ["bad", "none", "bad", "bad", "none", "none"])
        self.assertEqual(tiles[0][1].strip(), "Measured 20 % 10 % of it at infinity (limit 42 %)")
        self.assertEqual(tiles[2][1].strip(), "Row error \u22121.5 px L \u22121.5 M +0.1 R \u2013 ± 0.2 (limit 1.0 px)")
        sound = dict(pictures, row_error_px={"left": 0}, density=0.8)
        self.assertEqual([t[0] for t in shown(sound, pictures, sound)[1:4]], ["good", "none", "good"])
        # each third is judged separately: none of these is wrong for long
        parts = ("left", "middle", "right")
        thirds = [dict(sound, row_error_px={p: -1.5 if p == wrong else 0 for p in parts}) for wrong in parts]
        self.assertEqual(shown(*thirds)[3][0], "good")
        # a daemon that reports no limits, and one that reports nothing
        *tiles, worst = shown(dict(pictures, limits=None))[1:]
        self.assertEqual(({t[0] for t in tiles}, worst), ({"none"}, ""))
        self.assertTrue(shown({"density": None})[0])

    def test_what_distances_rest_on(self):
        """The page shows one line with fx, baseline and distances, and one for each question, even before there are
        pictures."""
        self.open()
        self.dock("details")
        row = self.browser.find_element(By.ID, "health")
        line = r"(?m)^fx [\d.]+ px, baseline [\d.]+ m, .*distances from [\d.]+ m"
        until(lambda: re.search(line, row.text), what="fx")
        show = """const [pictures, camera, done] = arguments;
            import("/health.js").then(({Health}) => {
              const box = document.createElement("section"), health = new Health(box);
              box.className = "card health";
              document.querySelector("main").append(box);
              health.show(pictures, camera);
              const many = (what) => box.querySelectorAll(what).length;
              done([box.hidden, box.innerText.split(/\\n+/), many(".question"), many("b")]);
              box.remove();
            });"""
        text = "camera: fx 707 px, baseline 53.27 m, distances from 297 m (127 px) to 37700 m (1 px); by c.yaml"
        asked = ["baseline 53.27 m: is it in metres?", "<b>fx</b> 9 px"]
        self.assertEqual(self.browser.execute_async_script(show, {"density": None}, {"text": text, "questions": asked}),
                         [False, [*asked, text[len("camera: "):]], 2, 6])
        self.assertEqual(self.browser.execute_async_script(show, {"density": None}, {"text": None, "questions": []})[0],
                         True)

    def test_snapshot(self):
        self.open()
        folder = os.path.join(self.place.top, "saved")
        os.mkdir(folder)
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
        self.browser.find_element(By.ID, "save").click()
        until(lambda: any(n.endswith(".png") for n in os.listdir(folder)), what="a picture")
        name, = os.listdir(folder)
        self.assertRegex(name, r"^%s-\d+\.png$" % self.daemon.name)
        path = os.path.join(folder, name)
        until(lambda: os.path.getsize(path) > 5000, what="all of the picture")
        with open(path, "rb") as f:
            head = f.read(24)
        self.assertEqual((head[:8], struct.unpack(">2I", head[16:])), (b"\x89PNG\r\n\x1a\n", (320, 160)))
        self.assertEqual(self.errors(), [])

    def test_full_screen(self):
        self.open()
        button = self.browser.find_element(By.ID, "full")
        full = "return document.fullscreenElement !== null"
        button.click()
        until(lambda: self.browser.execute_script(full), what="full screen")
        until(lambda: button.text == "Leave full screen", what="the way back")
        button.click()
        until(lambda: not self.browser.execute_script(full), what="the page again")
        until(lambda: button.text == "Full screen", what="its word")

    def test_the_ground_leans_and_bends(self):
        self.open()
        got = self.browser.execute_async_script("""const done = arguments[arguments.length - 1];
            import("/geometry.js").then(({groundDisparity}) => {
              const frame = {ground: {slope: 0.5, offset: -50, cross: 0.01, axis: 300, bend: 0.25, bendRow: 120}};
              done([[300, 200], [400, 200], [300, 120], [200, 100]].map(([x, y]) => groundDisparity(frame, x, y)));
            });""")
        for value, want in zip(got, (50, 51, 10, 4), strict=True):
            self.assertAlmostEqual(value, want)

    def images(self):
        return (self.web.status(self.daemon) or {}).get("images")

    def test_hidden_costs_nothing(self):
        self.open()
        until(lambda: (self.images() or {}).get("left") == "published", what="the image is asked for")
        self.browser.switch_to.new_window("window")
        first, second = self.browser.window_handles
        try:
            self.browser.switch_to.window(first)
            self.browser.execute_script("Object.defineProperty(document, 'hidden', {get: () => window.away, "
                                        "configurable: true}); window.away = true; "
                                        "document.dispatchEvent(new Event('visibilitychange'));")
            until(lambda: self.images() == {"left": "idle", "right": "off", "disparity": "idle"}, what="nobody looks")
            self.browser.execute_script("window.away = false; document.dispatchEvent(new Event('visibilitychange'));")
            self.until_frames()
        finally:
            self.browser.switch_to.window(second)
            self.browser.close()
            self.browser.switch_to.window(first)

    def green(self):
        """Counts the green pixels of the page. Green means good, and seen to be free."""
        return self.count_green_of(self.browser.get_screenshot_as_base64())

    def count_green_of(self, picture):
        first = self.browser.current_window_handle
        self.browser.switch_to.new_window("tab")  # the page itself allows no images from other sources
        try:
            return self.count_green(picture)
        finally:
            self.browser.close()
            self.browser.switch_to.window(first)

    def count_green(self, picture):
        return self.browser.execute_async_script("""const done = arguments[1], image = new Image();
image.onload = () => { const c = document.createElement('canvas'); c.width = image.width; c.height = image.height;
const k = c.getContext('2d'); let n = 0;
k.drawImage(image, 0, 0); const d = k.getImageData(0, 0, c.width, c.height).data;
for (let i = 0; i < d.length; i += 4) n += d[i + 1] > d[i] + 12 && d[i + 1] > d[i + 2] + 6; done(n); };
image.src = 'data:image/png;base64,' + arguments[0];""", picture)

    def test_death_and_return(self):
        self.open()
        self.dock("details")
        until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#health .good"), 30, "marks that are good")
        self.assertGreater(self.green(), 1000)
        self.daemon.kill(signal.SIGKILL)
        self.until_word("Died")
        self.assertRegex(self.text("state-text"), r"^since \d\d:\d\d:\d\d, \d+\.\d s ago; it was killed")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#health .good"), [])
        self.assertEqual(self.green(), 0)
        self.assertTrue(self.browser.find_element(By.ID, "veil").is_displayed())
        self.assertIn("old", self.browser.find_element(By.TAG_NAME, "body").get_attribute("class"))
        self.assertTrue(self.browser.title.startswith("Died"))
        option = self.browser.find_element(By.CSS_SELECTOR, "#instance option")
        until(lambda: option.text == self.daemon.name + " (off)", 30, "the list says that it is off")
        before = self.data("frame")
        self.daemon.start()
        self.until_word("Running", "Degraded")
        until(lambda: option.text == self.daemon.name, 30, "the list says that it runs")
        until(lambda: 0 < self.data("frame") != before, 30, "frames of the new one")
        self.until_frames()
        self.assertFalse(self.browser.find_element(By.ID, "veil").is_displayed())
        # a missing status is answered by 404, which the browser itself logs
        self.assertEqual(self.errors(allowed=("404", "504", "502")), [])

    def test_fits_every_screen(self):
        """Picture and map lie on the screen without scrolling, and the map shows the nearest metre. So does the picture
        beside the settings."""
        self.open()
        inside = """const [ids] = arguments, root = document.documentElement;
            return {scrolls: [root.scrollWidth - innerWidth, root.scrollHeight - innerHeight],
              boxes: ids.map((id) => document.getElementById(id).getBoundingClientRect()).map((r) =>
                [r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight, r.width, r.height])};"""
        for width, height in ((360, 640), (390, 844), (844, 390), (640, 480), (1366, 768), (1920, 1080), (2560, 1440)):
            with self.subTest(width=width, height=height):
                self.resize(width, height)
                for dock in ("", "settings", ""):
                    if dock:
                        self.dock(dock)
                    seen = self.browser.execute_script(inside, ["view", "dock"] if dock else ["view", "map", "player"])
                    self.assertEqual(seen["scrolls"], [0, 0])
                    self.assertTrue(all(whole and w > 100 and h > 25 for whole, w, h in seen["boxes"]), (dock, seen))
                    if dock:
                        self.dock(dock)

    def resize(self, width, height):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     dict(width=width, height=height, deviceScaleFactor=1, mobile=False))
        until(lambda: self.browser.execute_script("return innerWidth") == width, what="the size")
        self.browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def test_the_map_zooms_and_moves(self):
        """A map of 20 m shows the camera. Wheel, drag and keys zoom and move the map."""
        self.open()
        got = self.browser.execute_async_script("""const done = arguments[0];
            import("/map.js").then(({StixelMap, gridStep}) => {
              const canvas = document.createElement("canvas");
              canvas.style.width = canvas.style.height = "446px";
              document.body.append(canvas);
              const map = new StixelMap(canvas, () => 0), at = (x, y) => map.metres(x, y).map((v) => +v.toFixed(1));
              const scale = {unit: "m", far: 20 / 1.15};
              map.show({fx: 0, baseline: 0, scale}, "distance");
              const span = map.ahead(), [x, y] = map.place(2, 5), camera = map.place(0, 0);
              const rest = [camera, span, at(x, y)];
              const where = {clientX: canvas.offsetLeft + x, clientY: canvas.offsetTop + y};
              canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -200, ...where}));
              const zoomed = [map.ahead(), at(x, y)];
              map.fit();
              map.move(10, 20);
              const moved = at(x + 10, y + 20);
              map.fit();
              map.zoom(1e6);
              const least = map.ahead();
              map.fit();
              done([rest, zoomed, moved, least, map.ahead(), [13, 60, 0.07].map((px) => gridStep(px, 56))]);
              canvas.remove();
            });""")
        (camera, span, place), (zoomed, same), moved, least, fitted, steps = got
        self.assertTrue(0 < camera[0] < 446 and 380 < camera[1] < 446, camera)
        self.assertEqual((span, place, same, moved, least, fitted), (20, [2, 5], [2, 5], [2, 5], 1, 20))
        self.assertAlmostEqual(zoomed, 20 / 1.0015 ** 200)
        self.assertEqual(steps, [5, 1, 1000])

    def test_places_and_heights(self):
        """For a camera 1.5 m above the road that looks down by 0.1 rad, points of the road have the height 0."""
        self.browser.get("http://127.0.0.1:%d/" % self.web.port)
        got = self.browser.execute_async_script("""const done = arguments[0];
            const files = ["geometry", "layout", "classes"];
            Promise.all(files.map((name) => import(`/${name}.js`))).then(([g, {KIND}, {dress}]) => {
              const frame = {fx: 500, fy: 500, cx: 320, cy: 240, baseline: 0.1, columnWidth: 4, blind: false, road: 1,
                ground: {pitch: 0.1, roll: 0, height: 1.5, slope: 0, offset: 0, cross: 0, axis: 0, bend: 0, bendRow: 0},
                stixels: {column: [100], top: [200], bottom: [280], disparity: [10], slope: [0],
                  kind: [KIND.object], confidence: [30], label: [255]}};
              const turn = g.toVehicle(frame), low = {...frame, stixels: {...frame.stixels, confidence: [23]}};
              const car = {...frame, stixels: {...frame.stixels, label: [1]}}, other = {...car};
              dress(car, ["road", "car"]);
              dress(other, []);
              done([turn([0, 1.5 / Math.cos(0.1), 0]), turn([0, 0, 1.5 / Math.sin(0.1)]), g.heights(frame, 0),
                g.stixelWords(frame, 0), g.stixelWords(low, 0), g.stixelWords({...frame, blind: true}, 0),
                g.stixelWords(frame, -1), g.stixelWords(car, 0), g.stixelWords(other, 0)]);
            });""")
        for point in got[:2]:
            self.assertAlmostEqual(point[2], 0)
        below, above = ((-np / 500 * math.cos(0.1) - math.sin(0.1)) * 5 + 1.5 for np in (40.5, -40.5))
        self.assertAlmostEqual(got[2][0], below)
        self.assertAlmostEqual(got[2][1], above)
        self.assertEqual(got[3], "object · x 5.0 m, y \u22120.8 m · height %.2f to %.2f m · medium confidence"
                         % (below, above))
        self.assertIn("low confidence", got[4])
        self.assertEqual(got[5:7], ["not seen, so not free"] * 2)
        self.assertTrue(got[7].startswith("object · car · x 5.0 m"), got[7])
        self.assertTrue(got[8].startswith("object · class 1 · x 5.0 m"), got[8])

    def test_the_past(self):
        """Pauses, steps and scrubs; saves the past, and opens the file."""
        self.open()
        until(lambda: int(self.browser.find_element(By.ID, "play-slider").get_attribute("max")) > 4, what="some frames")
        self.browser.find_element(By.ID, "play-pause").click()
        until(lambda: self.text("state-text").startswith("Paused at "), what="the pause")
        slider = self.browser.find_element(By.ID, "play-slider")
        most = int(slider.get_attribute("max"))
        until(lambda: self.data("frame") == self.number(), what="the frame of the pause")
        paused = self.data("frame")
        self.browser.find_element(By.ID, "play-back").click()
        until(lambda: self.data("frame") < paused, what="the frame before")
        older = self.pixels("map")
        slider.send_keys("\ue011")  # the key Home
        until(lambda: self.number() == self.data("frame") < paused - 2, what="the first frame")
        until(lambda: self.pixels("map") != older, what="its map")
        first = self.data("frame")
        self.assertEqual(int(slider.get_attribute("max")), most)  # no frame is added, and no frame is lost
        folder = os.path.join(self.place.top, "past")
        os.mkdir(folder)
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
        self.browser.find_element(By.ID, "play-keep").click()
        until(lambda: [n for n in os.listdir(folder) if n.endswith(".stixels")], what="a file")
        name, = (n for n in os.listdir(folder) if n.endswith(".stixels"))
        self.assertRegex(name, r"^%s-%d-%d\.stixels$" % (self.daemon.name, first, paused))
        live = self.browser.find_element(By.ID, "play-live")
        live.click()
        until(lambda: self.data("frame") > paused, what="live frames")
        file = self.browser.find_element(By.ID, "play-file")
        file.send_keys(os.path.join(folder, name))
        until(lambda: self.text("state-text").startswith("File " + name), what="the file")
        until(lambda: self.data("frame") == first, what="its first frame")
        self.assertEqual(int(slider.get_attribute("max")), most)
        with open(os.path.join(folder, "other.stixels"), "wb") as f:
            f.write(b"STXW" + bytes(60))
        file.send_keys(f.name)
        until(lambda: "other.stixels: the stream is damaged" in self.text("play-when"), what="a refusal")
        live.click()
        self.until_frames()
        self.assertEqual(self.errors(), [])

    def number(self):
        """Returns the frame that the bar of the past names."""
        return int((re.search(r" · (\d+)$", self.text("play-when")) or [0, 0])[1])

    def test_the_past_is_bounded(self):
        self.browser.get("http://127.0.0.1:%d/" % self.web.port)
        got = self.browser.execute_async_script("""const done = arguments[0];
            import("/past.js").then(({Past}) => {
              const past = new Past(1e6);
              const add = (number, taken) => past.add({number, taken, frame: new Uint8Array(1e5)});
              const kept = () => [past.sets.length, past.bytes, past.sets[0].number];
              for (let i = 1; i <= 50; i++)
                add(i, 100 * i);
              const bytes = kept();
              add(51, 5000 + 59950);
              const time = kept();
              add(1, 70000); // a daemon that was started anew
              done([bytes, time, kept()]);
            });""")
        self.assertEqual(got, [[10, 10**6, 41], [2, 2 * 10**5, 50], [1, 10**5, 1]])

    def test_recordings(self):
        """Makes a recording, plays it, scrubs and steps in it, and deletes it."""
        button = lambda row, word: self.browser.execute_script(
            "return [...arguments[0].querySelectorAll('button')].find((b) => b.textContent === arguments[1])",
            row, word)
        self.open()
        record = self.browser.find_element(By.ID, "record")
        until(record.is_displayed, what="the button")
        record.click()
        until(lambda: re.fullmatch(r"Stop 0:0[3-9]", record.text), 30, "three seconds")
        self.browser.find_element(By.ID, "to-recordings").click()
        until(lambda: "being recorded" in self.text("recordings-list"), what="the file that is written")
        self.assertIn("It goes on when this page is closed", self.text("recordings-now"))
        record.click()
        until(lambda: re.search(r"\d+ frames in [\d.]+ s, [\d.]+ MB", self.text("recordings-said")), 30, "the end")
        length = r"[\d.]+ s, \d+ frames"
        until(lambda: record.text == "Record" and re.search(length, self.text("recordings-list")), what="its length")
        name, = os.listdir(self.folder)
        row, = self.browser.find_elements(By.CSS_SELECTOR, "#recordings-list li")
        self.assertTrue(row.find_element(By.TAG_NAME, "a").get_attribute("href").endswith("/api/recordings/" + name))
        button(row, "Play").click()
        until(lambda: self.text("state-text").startswith("Recording " + name), what="the recording")
        until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#recordings-list .now"), what="its mark")
        when = lambda: float(re.match(r"([\d.]+) of [\d.]+ s", self.text("play-when"))[1])
        until(lambda: when() > 1, 30, "a second of it")
        self.browser.find_element(By.ID, "play-pause").click()
        slider = self.browser.find_element(By.ID, "play-slider")
        slider.send_keys("\ue011")  # the key Home
        until(lambda: when() == 0 and self.number() == self.data("frame"), what="its first frame")
        first, picture = self.data("frame"), self.pixels("view")
        self.browser.find_element(By.ID, "play-on").click()
        until(lambda: self.data("frame") == first + 1, what="the next frame")
        until(lambda: self.pixels("view") != picture, what="its picture")
        slider.send_keys("\ue010")  # the key End
        until(lambda: self.data("frame") > first + 10, what="the last frame")
        last = self.data("frame")
        for step in (1, 2, 3):
            self.browser.find_element(By.ID, "play-back").click()
            until(lambda: self.data("frame") == last - step, what="a frame before")
        self.browser.find_element(By.ID, "play-live").click()
        until(lambda: self.data("frame") > last and not self.text("state-text").startswith("Recording"),
              what="live frames")
        delete = button(row, "Delete")
        delete.click()
        self.assertEqual(delete.text, "Really delete")
        self.assertEqual(os.listdir(self.folder), [name])
        delete.click()
        until(lambda: not os.listdir(self.folder), what="the deletion")
        until(lambda: "no recording yet" in self.text("recordings-none"), what="an empty list")
        self.assertEqual(self.errors(("willReadFrequently",)), [])

    def test_three_dimensions(self):
        self.open()
        self.view("space")
        pane = self.browser.find_element(By.ID, "pane-space")
        until(lambda: "not seen" in self.text("space-note"), what="WebGL")  # Chromium has a software renderer

        def drawn():
            picture = pane.screenshot_as_base64
            return picture, self.count_green_of(picture)
        before, _ = until(lambda: (lambda p: p[1] > 500 and p)(drawn()), what="ground in three dimensions")
        self.browser.execute_script("document.getElementById('play-pause').click()")
        self.browser.execute_script("document.getElementById('space-labels').focus()")
        still = pane.screenshot_as_base64
        self.browser.switch_to.active_element.send_keys("\ue012" * 3)
        until(lambda: pane.screenshot_as_base64 != still, what="another side")
        self.browser.execute_script("document.getElementById('space-reset').click()")
        self.view("space")
        self.assertFalse(pane.is_displayed())
        self.browser.execute_script("document.getElementById('play-live').click()")
        self.assertEqual(self.errors(allowed=("GL Driver Message",)), [])  # screenshots are slow with WebGL

    def test_several_cameras(self):
        other = Daemon(self.place, "other", "source.kind=synthetic", "source.size=128x64", "source.fps=5").start()
        web = Web(self.place, "-i", self.daemon.name, "-i", other.name)
        self.browser.get("http://127.0.0.1:%d/?i=%s" % (web.port, self.daemon.name))
        until(lambda: self.browser.find_element(By.ID, "many-pick").is_displayed(), what="the choice")
        self.view("many")
        tiles = lambda: self.browser.find_elements(By.CSS_SELECTOR, ".tile")
        numbers = lambda: [int(t.get_attribute("data-frame") or 0) for t in tiles()]
        first = until(lambda: len(numbers()) == 2 and all(numbers()) and numbers(), 30, "two cameras")
        until(lambda: all(a > b for a, b in zip(numbers(), first)), 30, "more of both")
        other.kill()
        until(lambda: "Died" in tiles()[1].text and "old" in tiles()[1].get_attribute("class"), what="its state")
        other.forget()
        other.start()
        until(lambda: "Died" not in tiles()[1].text, 30, "its return")
        tiles()[1].click()
        chosen = "return document.getElementById('instance').value"
        until(lambda: self.browser.execute_script(chosen) == other.name, what="the choice")
        self.until_frames()
        self.assertEqual(tiles(), [])
        # Pictures that are decoded or wait while the user chooses another instance are not shown under that name.
        other.kill(signal.SIGTERM)
        self.browser.execute_script(SLOW_DECODING)
        self.browser.execute_script(CHOOSE, self.daemon.name)
        until(lambda: self.data("slow") > 1 and self.data("frame"), 30, "slow pictures")
        self.browser.execute_script(CHOOSE, other.name)
        end = time.monotonic() + 3.5
        while time.monotonic() < end:
            self.assertEqual(self.data("frame"), 0)
            time.sleep(0.05)
        self.browser.get("about:blank")
        web.end()
        self.errors()

    @unittest.skipUnless(os.environ.get("SX_WEB_ACCESS"), "this build has neither passwords nor TLS")
    def test_with_password_and_certificate(self):
        keys = Keys(self.place.top)
        args = "--password-file", keys.users(anna="geheim"), *keys.pair("browser")
        web = Web(self.place, "-i", self.daemon.name, "--tune", *args, login="anna:geheim",
                  certificate=keys.path("browser.pem"))
        where = "127.0.0.1:%d/" % web.port
        self.browser.get("https://" + where)
        until(lambda: any("status of 401" in e for e in self.errors()), what="the refusal")
        self.browser.get("https://anna:geheim@" + where)
        self.until_frames()
        self.settings()
        self.enter("stixels.width", "8")
        until(lambda: self.value("stixels.width") == "8", what="the change")
        self.back()
        until(lambda: self.value("stixels.width") == "4", what="the configuration")
        # an MJPEG stream, decoded by the browser, which replaces the pictures
        moves = """const [url, done] = arguments, image = new Image(), seen = new Set();
            const c = Object.assign(document.createElement("canvas"), {width: 64, height: 32});
            const k = c.getContext("2d", {willReadFrequently: true});
            image.src = url;
            document.body.append(image);
            const timer = setInterval(() => {
              if (!image.naturalWidth)
                return;
              k.drawImage(image, 0, 0, 64, 32);
              seen.add(k.getImageData(0, 0, 64, 32).data.reduce((h, v) => (h * 31 + v) >>> 0));
              if (seen.size < 4)
                return;
              clearInterval(timer);
              image.remove();
              done([image.naturalWidth, image.naturalHeight]);
            }, 50);"""
        self.assertEqual(self.browser.execute_async_script(moves, "/api/%s/stream.mjpg" % self.daemon.name),
                         [320, 160 + LEGEND])
        self.assertEqual(self.errors(allowed=("422",)), [])  # error of a field that is empty while it is edited
        self.browser.get("about:blank")
        web.end()

    def test_the_dashboard_goes_and_comes(self):
        other = Web(self.place, "-i", self.daemon.name)
        self.browser.get("http://127.0.0.1:%d/" % other.port)
        self.until_frames()
        other.end()
        self.until_word("No connection")
        Web(self.place, "-i", self.daemon.name, "--listen", "127.0.0.1:%d" % other.port)
        self.until_frames()
        self.browser.get_log("browser")


if __name__ == "__main__":
    main()
