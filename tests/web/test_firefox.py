# The page in Firefox, driven by its own protocol (Marionette), because Debian has no geckodriver. Headless, Firefox has
# no WebGL; with Xvfb it has Mesa's software renderer.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import socket
import subprocess
import sys
import unittest

from support import SLOW, Daemon, Place, Web, until

XVFB = shutil.which("Xvfb")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PREFS = {"marionette.port": 0, "datareporting.policy.dataSubmissionEnabled": False, "app.update.auto": False,
         "browser.shell.checkDefaultBrowser": False, "toolkit.telemetry.enabled": False, "webgl.force-enabled": True,
         "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False}


class Firefox:
    """A browser with a fresh profile in a folder."""

    def __init__(self, folder):
        profile, port = folder + "/profile", folder + "/profile/MarionetteActivePort"
        os.mkdir(profile)
        with open(profile + "/user.js", "w") as f:
            f.writelines("user_pref(%s, %s);\n" % (json.dumps(k), json.dumps(v)) for k, v in PREFS.items())
        env, words = dict(os.environ, HOME=folder, TMPDIR=folder, XDG_RUNTIME_DIR=folder), ["--headless"]
        self.screen = None
        if XVFB:
            env, words = dict(env, DISPLAY=self.open_screen(), MOZ_X11_EGL="1", LIBGL_ALWAYS_SOFTWARE="1"), []
        self.process = subprocess.Popen([FIREFOX, *words, "--marionette", "--remote-allow-system-access",
                                         "--profile", profile],
                                        env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: os.path.exists(port) and os.path.getsize(port), 60, "Firefox")
        with open(port) as f:
            self.socket = socket.create_connection(("127.0.0.1", int(f.read())), 60 * SLOW)
        self.file, self.number = self.socket.makefile("rb"), 0
        self.receive()  # greeting of Marionette
        self.ask("WebDriver:NewSession", {"timeouts": {"script": int(60000 * SLOW), "pageLoad": int(60000 * SLOW)}})

    def open_screen(self):
        """Starts an X server without a screen. Returns its name."""
        read, write = os.pipe()
        self.screen = subprocess.Popen([XVFB, "-displayfd", str(write), "-screen", "0", "1400x1000x24",
                                        "-nolisten", "tcp"],
                                       pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with open(read) as f:
            return ":" + f.readline().strip()

    def receive(self):
        digits = iter(lambda: self.file.read(1), b":")
        return json.loads(self.file.read(int(b"".join(digits))))

    def ask(self, what, values):
        self.number += 1
        data = json.dumps([0, self.number, what, values]).encode()
        self.socket.sendall(b"%d:%s" % (len(data), data))
        _, _, error, value = self.receive()
        if error:
            raise AssertionError("%s: %s" % (what, error["message"]))
        return value.get("value") if isinstance(value, dict) else value

    def run(self, script, *args):
        return self.ask("WebDriver:ExecuteScript", {"script": script, "args": list(args)})

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30 * SLOW)
        if self.screen:
            self.screen.terminate()
            self.screen.wait(30 * SLOW)


class Page(unittest.TestCase):
    def test_the_page(self):
        place = Place()
        self.addCleanup(place.close)
        daemon = Daemon(place, "firefox", "source.kind=synthetic", "source.size=320x160", "source.fps=5").start()
        self.addCleanup(daemon.forget)
        web = Web(place, "-i", daemon.name, "--tune")
        firefox = Firefox(place.top)
        self.addCleanup(firefox.close)
        firefox.ask("WebDriver:Navigate", {"url": "http://127.0.0.1:%d/" % web.port})
        firefox.run("window.faults = []; addEventListener('error', (e) => faults.push(e.message));"
                    "addEventListener('unhandledrejection', (e) => faults.push(String(e.reason)));"
                    "const log = console.error;"
                    "console.error = (...what) => { faults.push(what.join(' ')); log(...what); };")
        frame = lambda: int(firefox.run("return document.body.dataset.frame || 0"))
        first = until(frame, 30, "a frame")
        until(lambda: frame() > first + 2, 30, "more frames")
        self.assertIn(firefox.run("return document.getElementById('state-word').textContent"), ("Running", "Degraded"))
        colours = """const c = document.getElementById(arguments[0]);
            const k = document.createElement("canvas").getContext("2d");
            k.drawImage(c, 0, 0, 64, 64);
            return new Set(new Uint32Array(k.getImageData(0, 0, 64, 64).data.buffer)).size;"""
        for canvas in ("view", "map"):
            until(lambda: firefox.run(colours, canvas) > 20, what=canvas)
        # everything lies on the screen; the pointer measures
        self.assertEqual(firefox.run("const r = document.documentElement;"
                                     "return [r.scrollWidth - innerWidth, r.scrollHeight - innerHeight]"), [0, 0])
        firefox.run("const c = document.getElementById('view'), r = c.getBoundingClientRect();"
                    "c.dispatchEvent(new PointerEvent("
                    "'pointermove', {clientX: r.left + r.width / 2, clientY: r.top + r.height * 0.95, bubbles: true}))")
        tip = lambda: firefox.run("return document.querySelector('.tip:not([hidden])')?.textContent")
        self.assertRegex(until(tip, what="the label"), r"^(ground|object) · x [\d.]+ m, y |^not seen")
        # a slider changes a setting; the view in three dimensions says whether the browser has WebGL
        firefox.run("document.getElementById('to-settings').click()")
        until(lambda: firefox.run("const width = document.getElementById('set-stixels.width');"
                                  "const s = width?.parentElement.querySelector('[type=range]');"
                                  "if (!s || s.disabled) return false;"
                                  "s.value = 800; s.dispatchEvent(new Event('input')); return true;"),
              what="the slider")
        settings = "/api/%s/settings" % daemon.name
        until(lambda: web.json(settings)["keys"]["stixels.width"]["value"] != "4", what="the change")
        firefox.run("document.querySelector('input[name=view][value=space]').click();"
                    "document.getElementById('to-settings').click()")
        until(lambda: firefox.run("return document.getElementById('space-labels').width > 300 ||"
                                  "document.getElementById('space-note').textContent.includes('no WebGL')"),
              what="three dimensions")
        # the past: pause, a step back
        firefox.run("document.getElementById('play-pause').click(); document.getElementById('play-back').click()")
        state = "return document.getElementById('state-text').textContent"
        until(lambda: "Paused at" in firefox.run(state), what="the pause")
        if XVFB:
            self.look_from_another_side(firefox)
        self.assertEqual(firefox.run("return faults"), [])

    def look_from_another_side(self, firefox):
        """The view in three dimensions, of a frame that stays, without its labels."""
        self.assertNotIn("no WebGL", firefox.run("return document.getElementById('space-note').textContent"))
        firefox.run("document.getElementById('space-labels').style.opacity = 0")
        pane = firefox.ask("WebDriver:FindElement", {"using": "css selector", "value": "#space"})
        seen = lambda: firefox.ask("WebDriver:TakeScreenshot", {"id": next(iter(pane.values())), "full": False})
        still = until(lambda: (lambda first: first == seen() and first)(seen()), 30, "a picture that stays")
        firefox.run("for (let i = 0; i < 5; i++) document.getElementById('space-labels').dispatchEvent("
                    "new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}))")
        until(lambda: seen() != still, 30, "another side")


if __name__ == "__main__":
    if not FIREFOX:
        print("skipped: firefox-esr is not installed")
        sys.exit(77)
    unittest.main()
