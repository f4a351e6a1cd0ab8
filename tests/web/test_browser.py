# The page in a real browser: headless Chromium, driven by python3-selenium.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import signal
import struct
import sys
import unittest

from support import SLOW, Daemon, Place, Web, until

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = None

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = [name for name,
           there in (("chromium", CHROMIUM), ("chromium-driver", DRIVER), ("python3-selenium", webdriver)) if not there]
# sum of a canvas's pixels, to see that it changes and is not empty
SUM = """const c = document.getElementById(arguments[0]), t = document.createElement('canvas');
t.width = 64; t.height = 64; const k = t.getContext('2d'); k.drawImage(c, 0, 0, 64, 64);
const d = k.getImageData(0, 0, 64, 64).data; let s = 0, h = 0;
for (let i = 0; i < d.length; i++) { s += d[i]; h = (h * 31 + d[i]) >>> 0; } return [s, h];"""


def start_browser(width, height):
    options = Options()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--window-size=%d,%d" % (width, height)):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)
        cls.daemon = Daemon(cls.place, "browser", "source.kind=synthetic", "source.size=320x160", "source.fps=10")
        cls.addClassCleanup(cls.daemon.forget)
        cls.daemon.start()
        cls.web = Web(cls.place, "-i", cls.daemon.name)
        # what Chromium and its driver write goes where the rest goes, and away with it
        os.environ["HOME"] = os.environ["TMPDIR"] = cls.place.top
        cls.browser = start_browser(1280, 1000)
        cls.addClassCleanup(cls.browser.quit)

    def open(self, width=1280, height=1000, **more):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     dict(width=width, height=height, deviceScaleFactor=1, mobile=False, **more))
        self.browser.get("http://127.0.0.1:%d/" % self.web.port)
        self.until_frames()

    def text(self, name):
        return self.browser.find_element(By.ID, name).text

    def data(self, name):
        return int(self.browser.execute_script("return document.body.dataset[arguments[0]] || 0", name))

    def pixels(self, name):
        return tuple(self.browser.execute_script(SUM, name))

    def until_word(self, *words):
        return until(lambda: self.text("state-word") in words, 30,
                     "state %s instead of %s" % (words, self.text("state-word")))

    def until_frames(self):
        self.until_word("Running", "Degraded")
        first = self.data("frame")
        until(lambda: self.data("frame") > first + 2, 30, "frames")

    def pick(self, name, value):
        self.browser.execute_script("document.querySelector(`input[name=${arguments[0]}][value=${arguments[1]}]`)"
                                    ".click()", name, value)

    def errors(self, allowed=()):
        """What the console complained about."""
        return [e["message"] for e in self.browser.get_log("browser")
                if e["level"] in ("SEVERE", "WARNING") and not any(a in e["message"] for a in allowed)]

    def test_frames_arrive_and_charts_move(self):
        self.errors()
        self.browser.get_log("performance")
        self.open()
        view, bird, chart = self.pixels("view"), self.pixels("bird"), self.pixels("c-latency")
        self.assertGreater(view[0], 100000)
        until(lambda: self.pixels("view") != view, what="another picture")
        until(lambda: self.pixels("bird") != bird, what="another plan")
        until(lambda: self.data("samples") >= 3, what="samples")
        until(lambda: self.pixels("c-latency") != chart, what="another chart")
        until(lambda: self.text("now-fps") not in ("", "\u2013"), what="fps")
        self.assertIn("synthetic", self.text("facts"))
        road = r"measured; camera 1\.\d\d ± \d\.\d\d m high, pitch -?\d\.\d\d ± \d\.\d\d°, roll -?\d\.\d\d ± \d\.\d\d°"
        until(lambda: re.search(road, self.text("facts")), what="the road and how sure it is")
        self.assertIn("sgm", self.text("stages"))
        # a card for watts where they are known, and only there
        watts = (self.web.status(self.daemon) or {}).get("power", {}).get("watts")
        card = self.browser.find_element(By.ID, "power")
        until(lambda: card.is_displayed() == (watts is not None), what="the power card for %s W" % watts)
        if watts is not None:
            self.assertRegex(self.text("v-power"), r"^[\d.]+ W, .*$")
        # nothing left this machine
        asked = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        hosts = {m["params"]["request"]["url"].split("/")[2] for m in asked
                 if m["method"] == "Network.requestWillBeSent"
                 and m["params"]["request"]["url"].startswith(("http", "ws"))}
        self.assertEqual(hosts, {"127.0.0.1:%d" % self.web.port})
        self.assertEqual(self.errors(), [])

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
        # the probe, by keyboard
        self.browser.execute_script("document.getElementById('view').focus()")
        self.browser.switch_to.active_element.send_keys("\ue015" * 6)
        until(lambda: any(w in self.text("probe") for w in ("object", "ground", "sky", "no stixel")), what="probe")

    def test_what_is_not_seen_is_not_free(self):
        self.open()
        # columns: ground and sky; ground and an object; the same above a foot that is unknown; an unknown between; none
        kinds = [[0, 2], [0, 1], [3, 0, 1], [0, 3, 1], []]
        disparity = {0: 20, 1: 10, 2: 0, 3: 0}
        tops = {0: 100, 1: 40, 2: 0, 3: 140}
        flat = [k for column in kinds for k in column]
        frame = {"columns": 5, "columnWidth": 4, "fx": 100, "baseline": 1, "road": 1, "offsets": [0, 2, 4, 7, 10, 10],
                 "ground": {"slope": 0.1, "offset": -5, "cross": 0, "axis": 0, "bend": 0, "bendRow": 0},
                 "stixels": {"kind": flat, "disparity": [disparity[k] for k in flat], "top": [tops[k] for k in flat]}}
        free = self.browser.execute_async_script("""const [frame, done] = arguments;
            import("/birdseye.js").then((m) => done([...m.freeDistances(frame, 80)]));""", frame)
        self.assertEqual(free, [20, 10, 0, 20, 0])

    def charts(self, script, *args):
        """What a script makes of the module of the charts, which it gets as m."""
        return self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1], args = arguments;"
            "import('/charts.js').then((m) => done((%s)(m, ...args)));" % script, *args)

    def test_a_spike_does_not_set_the_axis(self):
        self.open()

        def reach(values):
            return self.charts("({reach}, values) => reach(values.map((v) => v ?? NaN))", values)
        self.assertEqual(reach([]), 0)
        self.assertEqual(reach([None, 7, None]), 7)
        self.assertEqual(reach([20] * 30 + [29]), 29)  # does not stand out
        self.assertEqual(reach([1000] + [20] * 9), 30)
        self.assertEqual(reach([1000, 900, 800] + [20] * 27), 30)  # the first seconds after a start
        self.assertEqual(reach([1000] * 4 + [20] * 26), 1000)
        self.assertEqual(reach([1000] * 6 + [20] * 294), 30)
        self.assertEqual(reach([1000] * 7 + [20] * 293), 1000)
        # drawn: the axis ends near the others, the spike is marked and told
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
        self.open(1280, 500)  # wider than the picture: its height decides
        button = self.browser.find_element(By.ID, "full")
        full = "return document.fullscreenElement?.id ?? null"
        shape = ("const r = document.getElementById('view').getBoundingClientRect();"
                 "return [r.left, r.top, innerWidth - r.right, innerHeight - r.bottom, r.width / r.height]")
        before = self.browser.execute_script(shape)
        button.click()
        until(lambda: self.browser.execute_script(full) == "camera", what="full screen")
        until(lambda: button.text == "Leave full screen", what="the way back")
        until(lambda: self.browser.execute_script(shape) != before, what="another place")
        *edges, aspect = self.browser.execute_script(shape)
        self.assertGreaterEqual(min(edges), 0)
        self.assertAlmostEqual(aspect, 2, delta=0.02)
        button.click()
        until(lambda: self.browser.execute_script(full) is None, what="the page again")
        until(lambda: button.text == "Full screen", what="its word")

    def test_the_ground_leans_and_bends(self):
        self.open()
        got = self.browser.execute_async_script("""const done = arguments[arguments.length - 1];
            import("/wire.js").then(({groundDisparity}) => {
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

    def test_death_and_return(self):
        self.open()
        self.daemon.kill(signal.SIGKILL)
        self.until_word("Died")
        self.assertTrue(self.browser.find_element(By.ID, "veil").is_displayed())
        self.assertIn("old", self.browser.find_element(By.TAG_NAME, "body").get_attribute("class"))
        self.assertTrue(self.browser.title.startswith("Died"))
        option = self.browser.find_element(By.CSS_SELECTOR, "#instance option")
        until(lambda: option.text == self.daemon.name + " (off)", 1, "the list says that it is off")
        before = self.data("frame")
        self.daemon.start()
        self.until_word("Running", "Degraded")
        until(lambda: option.text == self.daemon.name, 1, "the list says that it runs")
        until(lambda: 0 < self.data("frame") != before, 30, "frames of the new one")
        self.until_frames()
        self.assertFalse(self.browser.find_element(By.ID, "veil").is_displayed())
        # a status that is not there is answered by 404, which the browser logs by itself
        self.assertEqual(self.errors(allowed=("404", "504", "502")), [])

    def test_sizes(self):
        for width, height in ((360, 740), (768, 1024), (3840, 2160)):
            self.open(width, height)
            wide = self.browser.execute_script("return document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width)
            for name in ("view", "bird", "c-fps", "stages"):
                r = self.browser.execute_script("const r = document.getElementById(arguments[0])"
                                                ".getBoundingClientRect();"
                                                "return [r.left, r.right, r.height]", name)
                self.assertGreaterEqual(r[0], 0)
                self.assertLessEqual(r[1], width)
                self.assertGreater(r[2], 40)

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
    if MISSING:
        print("skipped: not installed: " + ", ".join(MISSING))
        # a build server has them, and may not leave this out unnoticed
        sys.exit(1 if os.environ.get("STIXEL_NEED_BROWSER") else 77)
    unittest.main()
