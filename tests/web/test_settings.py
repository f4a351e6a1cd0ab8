# The page's panel of settings: it shows the daemon's settings, changes them, and says why the daemon refuses a change.
# SPDX-License-Identifier: Apache-2.0
import re

from browser import By, Page, main
from support import Web, until


class Settings(Page):
    def test_settings(self):
        self.errors()
        self.open()
        self.settings()
        self.assertTrue(self.browser.execute_script("return !document.querySelector('#settings-keep').offsetParent"))
        field, box = self.key("stixels.width")
        self.assertIn("width of a stixel column (1..32 px)", box.text)
        self.enter("stixels.width", "8")
        until(lambda: "set live" in box.text and re.search(r"from frame \d+ on", box.text), what="the change")
        self.assertIn("stixelctl -i %s save" % self.daemon.name, self.text("settings-keep"))
        self.assertIn("1 set live", self.text("settings-how"))
        # a refused value is reported at its key, with the value that holds
        self.enter("stixels.width", "99")
        until(lambda: "found '99', allowed 1..32 px. It is still 8." in box.text, what="the daemon's sentence")
        self.enter("stereo.p1", "200")
        _, other = self.key("stereo.p1")
        until(lambda: "p1 must be at least 1 and at most p2. It is still 0." in other.text, what="another sentence")
        self.assertEqual(self.value("stixels.width"), "8")
        # a change by another client is visible within two seconds
        _, median = self.key("filters.median")
        self.assertFalse(self.key("filters.median")[0].is_selected())
        self.other(b"filters.median=yes")
        until(lambda: self.key("filters.median")[0].is_selected() and "set live" in median.text, 10,
              "the other's value")
        # reset one key, then all
        box.find_element(By.XPATH, ".//button[text()='default 4']").click()
        until(lambda: field.get_attribute("value") == "4" and self.value("stixels.width") == "4", what="the default")
        self.back()
        until(lambda: self.value("filters.median") == "no", what="the configuration")
        # a constant of [model] is shown only after it was set, and only once
        count = "return document.querySelectorAll('[id^=\"set-\"][id$=\".p_order\"]').length"
        self.assertEqual(self.browser.execute_script(count), 0)
        self.other(b"stixels.p_order=0.3")
        until(lambda: self.browser.execute_script(count) == 1, 30, "the constant")
        self.assertTrue(self.key("model.p_order"))
        self.back()
        until(lambda: self.value("model.p_order") == "0.2", what="the configuration")
        # a setting that needs a restart is shown only on request, and cannot be changed
        field, paths = self.key("stereo.paths")
        self.assertFalse(paths.is_displayed())
        self.browser.find_element(By.ID, "settings-all").click()
        until(paths.is_displayed, what="all keys")
        self.assertIn("needs a restart", paths.text)
        self.assertFalse(field.is_enabled())
        self.browser.find_element(By.ID, "settings-find").send_keys("island")
        until(lambda: not paths.is_displayed(), what="the search")
        self.assertTrue(self.key("filters.speckle_size")[1].is_displayed())
        # the browser itself logs a refused change
        self.assertEqual(self.errors(allowed=("422",)), [])

    def test_the_presets(self):
        self.open()
        self.dock("settings")
        path = "//div[@id='presets-names']/button[text()='%s']"
        button = lambda name: self.browser.find_element(By.XPATH, path % name)
        pressed = lambda name: button(name).get_attribute("aria-pressed") == "true"
        until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#presets-names button"), what="the presets")
        until(lambda: pressed("car") and not pressed("robot"), what="that of the defaults")
        button("robot").click()
        until(lambda: self.value("camera.height_m") == "0.25" and self.value("stereo.p2_edge") == "20",
              what="its values")
        until(lambda: pressed("robot") and not pressed("car"), what="its mark")
        self.assertIn("Set: camera.height_m = 0.25, stereo.p2_edge = 20, model.slanted_slope_px = 0.0015. Set the "
                      "height of your own camera", self.text("presets-said"))
        # keys that the configuration sets stay
        kept = self.browser.execute_async_script("""const done = arguments[0];
            import("/presets.js").then(({Presets}) => {
              const presets = new Presets();
              const key = (value, more) => ({value, default: "1", live: false, restart: false, ...more});
              presets.list = [{name: "a", keys: {x: "2", y: "3", z: "4"}}, {name: "b", keys: {x: "9"}}];
              presets.keys = {x: key("5"), y: key("1.0"), z: key("7", {live: true})};
              presets.configured = {z: "1"};
              done(presets.list.map((p) => presets.values(p)));
            });""")
        self.assertEqual(kept, [{"y": "3", "z": "4"}, {"y": "1", "z": "1"}])
        button("fast").click()
        until(lambda: self.value("stixels.width") == "8" and self.value("camera.height_m") == "1.65",
              what="other values")
        self.assertRegex(self.text("presets-said"), r"Set: .*stixels\.width = 8")
        self.assertIn("Needs a restart (--preset fast): stereo.paths = 2", self.text("presets-said"))
        button("indoor").click()  # this preset also sets a constant of [model], which the page does not show
        until(lambda: self.value("model.slanted_roughness") == "0.02" and pressed("indoor"), what="a constant")
        button("car").click()
        until(lambda: self.value("stixels.width") == "4" and self.value("model.slanted_roughness") == "0.035"
              and pressed("car"), what="the defaults")
        self.assertEqual(self.errors(), [])

    def test_settings_that_are_reverted_at_once(self):
        self.open()
        self.settings()
        median, _ = self.key("filters.median")
        width, _ = self.key("stixels.width")

        def until_answered():
            until(lambda: not self.waiting(), what="the answer")
        for clicks in (3, 2):
            ticked = clicks % 2 == 1
            self.browser.execute_script("for (let i = arguments[1]; i > 0; i--) arguments[0].click();", median, clicks)
            until_answered()
            self.assertEqual((self.value("filters.median") == "yes", median.is_selected()), (ticked, ticked))
            if ticked:
                self.back()
                until_answered()
        # a queued change is not sent after all
        self.browser.execute_script("""const [width, median] = arguments;
            width.value = 8;
            width.dispatchEvent(new Event("change"));
            median.click();
            median.click();""", width, median)
        until_answered()
        self.assertEqual((self.value("stixels.width"), self.value("filters.median")), ("8", "no"))
        self.back()
        until(lambda: self.value("stixels.width") == "4", what="the configuration")
        self.assertEqual(self.errors(), [])

    def test_what_was_refused_and_then_changes(self):
        self.open()
        self.settings()
        field, box = self.key("stixels.width")
        self.enter("stixels.width", "8")
        until(lambda: "from frame" in box.text, what="the change")
        self.enter("stixels.width", "99")
        until(lambda: "It is still 8." in box.text, what="the refusal")
        self.other(b"stixels.width=16")
        until(lambda: "allowed 1..32 px. It is still 16." in box.text, what="what holds now")
        self.assertEqual(field.get_attribute("value"), "99")
        self.back()
        until(lambda: (self.value("stixels.width"), field.get_attribute("value")) == ("4", "4"),
              what=lambda: "the configuration, not %r and %s" % (box.text, self.value("stixels.width")))
        until(lambda: "still" not in box.text and not self.waiting(), what="the end of the refusal")
        self.errors()
        # text being typed stays until it is taken back
        field.send_keys("1")
        self.other(b"stixels.width=9")
        until(lambda: "default 4" in box.text, what="the other's value")
        self.assertEqual(field.get_attribute("value"), "41")
        field.send_keys("\ue00c")
        self.assertEqual(field.get_attribute("value"), "9")
        self.back()
        until(lambda: self.value("stixels.width") == "4", what="the configuration")
        self.assertEqual(self.errors(), [])

    def test_the_same_number(self):
        self.browser.get("http://127.0.0.1:%d/" % self.web.port)
        got = self.browser.execute_async_script("""const [pairs, done] = arguments;
            import("/row.js").then(({same}) => done(pairs.map((p) => same(...p))));""",
            [("0.2", "0.20", "real"), ("07", "7", "int"), ("07", "7", "text"), ("7", "7", "text"), ("", "0", "int"),
             ("1", "2", "int")])
        self.assertEqual(got, [True, True, False, True, False, False])

    def test_settings_that_may_be_read_only(self):
        other = Web(self.place, "-i", self.daemon.name)
        self.browser.get("http://127.0.0.1:%d/" % other.port)
        self.until_frames()
        self.settings()
        self.assertIn("started without --tune", self.text("settings-how"))
        field, _ = self.key("stixels.width")
        self.assertEqual((field.is_enabled(), field.get_attribute("value")), (False, "4"))
        self.browser.get("about:blank")  # leave the page, so that none of its streams is cut
        other.end()

    def test_a_foreign_page_changes_nothing(self):
        before = self.value("road.top")
        url = "http://127.0.0.1:%d%s" % (self.web.port, self.path())
        self.browser.get("data:text/html,<form method=post enctype=text/plain action=%s><input name=road.top value=40>"
                         "</form>" % url)
        ways = [{"mode": "no-cors"}, {"mode": "cors"}, {"mode": "cors", "headers": {"X-Stixel-Tune": "1"}}]
        got = self.browser.execute_async_script("""const [url, ways, done] = arguments;
            Promise.all(ways.map((w) => fetch(url, {method: "POST", body: "road.top=40", ...w})
              .then((a) => a.type, () => "failed"))).then(done);""", url, ways)
        self.assertEqual(got[1:], ["failed", "failed"])
        self.assertIn(got[0], ("opaque", "failed"))
        self.browser.execute_script("document.forms[0].submit()")
        until(lambda: "not allowed for pages of other sites" in self.browser.page_source, what="the refusal")
        self.assertEqual(self.value("road.top"), before)
        self.browser.get_log("browser")


if __name__ == "__main__":
    main()
