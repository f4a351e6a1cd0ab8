# What the tests of the page in headless Chromium share. python3-selenium drives the browser.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
import unittest

from support import Daemon, Place, Web, until

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    webdriver = By = None

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = [name for name,
           there in (("chromium", CHROMIUM), ("chromium-driver", DRIVER), ("python3-selenium", webdriver)) if not there]
# sum of a canvas's pixels, to see that the canvas changes and is not empty
SUM = """const c = document.getElementById(arguments[0]), t = document.createElement('canvas');
t.width = 64; t.height = 64; const k = t.getContext('2d'); k.drawImage(c, 0, 0, 64, 64);
const d = k.getImageData(0, 0, 64, 64).data; let s = 0, h = 0;
for (let i = 0; i < d.length; i++) { s += d[i]; h = (h * 31 + d[i]) >>> 0; } return [s, h];"""


def start_browser(width, height):
    options = Options()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--enable-unsafe-swiftshader", "--window-size=%d,%d" % (width, height)):
        options.add_argument(word)
    options.accept_insecure_certs = True  # the test certificates are not signed
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


class Page(unittest.TestCase):
    """Tests of the page. One daemon, one stixel-web and one browser serve all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)
        cls.daemon = Daemon(cls.place, "browser", "source.kind=synthetic", "source.size=320x160", "source.fps=10")
        cls.addClassCleanup(cls.daemon.forget)
        cls.daemon.start()
        cls.folder = os.path.join(cls.place.top, "recordings")
        os.mkdir(cls.folder, 0o750)
        cls.web = Web(cls.place, "-i", cls.daemon.name, "--tune", "--recordings", cls.folder)
        # Chromium and its driver write below the test's folder, which is removed at the end
        os.environ["HOME"] = os.environ["TMPDIR"] = cls.place.top
        cls.browser = start_browser(1280, 1000)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        """Forgets the choices of earlier tests, and opens the views that a computer without a graphics card opens."""
        self.browser.get("http://127.0.0.1:%d/favicon.svg" % self.web.port)
        self.browser.execute_script("localStorage.clear(); localStorage.setItem('stixel.views', 'picture,map');")

    def open(self, width=1280, height=1000, **more):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     dict(width=width, height=height, deviceScaleFactor=1, mobile=False, **more))
        self.browser.get("http://127.0.0.1:%d/" % self.web.port)
        self.until_frames()

    def dock(self, page):
        """Opens a page of the dock."""
        self.browser.execute_script("const button = {settings: 'to-settings', details: 'state', help: 'to-help'};"
                                    "document.getElementById(button[arguments[0]]).click()", page)

    def view(self, name):
        """Opens or closes a view."""
        self.browser.execute_script("document.querySelector(`input[name=view][value=${arguments[0]}]`).click()", name)

    def tip(self):
        """Returns the text beside the pointer."""
        return " ".join(e.text for e in self.browser.find_elements(By.CSS_SELECTOR, ".tip") if e.is_displayed())

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
        """Returns the errors of the console."""
        allowed = (*allowed, "/favicon.ico")  # a browser asks for this icon if it opens a file that is no page
        return [e["message"] for e in self.browser.get_log("browser")
                if e["level"] in ("SEVERE", "WARNING") and not any(a in e["message"] for a in allowed)]

    def settings(self):
        """Opens the panel with all settings that change live."""
        self.dock("settings")
        until(lambda: self.browser.find_elements(By.ID, "set-stixels.width"), what="the first settings")
        self.browser.execute_script("document.getElementById('settings-every').click()")
        until(lambda: self.browser.execute_script("""
            const s = [...document.querySelectorAll("#settings-sections > details:not([hidden])")];
            s.forEach((d) => { d.open = true; });
            return s.length;"""), what="the settings")

    def key(self, key):
        field = self.browser.find_element(By.ID, "set-" + key)
        return field, field.find_element(By.XPATH, "./ancestor::div[@class='key' or starts-with(@class, 'key ')]")

    def enter(self, key, text):
        field, _ = self.key(key)
        field.clear()
        field.send_keys(text + "\ue007")

    def back(self):
        """Orders the configuration. It presses the button as a keyboard does, because a busy page may move the button
        below the mouse."""
        self.browser.find_element(By.ID, "settings-back").send_keys("\ue007")

    def waiting(self):
        """Returns the rows whose change the daemon has not answered."""
        return self.browser.find_elements(By.CSS_SELECTOR, ".key.waiting")

    def other(self, body):
        """Changes settings as another client does."""
        code, _, text = self.web.ask(self.path(), "POST", ["X-Stixel-Tune: 1"], body=body)
        self.assertEqual(code, 200, text)

    def path(self):
        return "/api/%s/settings" % self.daemon.name

    def value(self, key):
        return self.web.json(self.path())["keys"][key]["value"]


def main():
    """Runs the tests of the program."""
    if MISSING:
        print("skipped: not installed: " + ", ".join(MISSING))
        # a build server has them, and must not skip these tests unnoticed
        sys.exit(1 if os.environ.get("STIXEL_NEED_BROWSER") else 77)
    unittest.main()
