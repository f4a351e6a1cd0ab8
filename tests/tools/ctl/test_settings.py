# Tests stixelctl get, set and save with a running stixeld.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import stat
import subprocess
import unittest

from support import Folder, program, run
from test_ctl import Daemon


class Settings(Folder):
    started = 0

    def setUp(self):
        super().setUp()
        self.daemon = self.start()

    def start(self, *settings):
        Settings.started += 1
        # rings with the same name would replace each other
        daemon = Daemon("settings-%d" % Settings.started, *settings)
        self.addCleanup(daemon.stop)
        daemon.wait()
        return daemon

    def ctl(self, *args, want=0, daemon=None):
        r = (daemon or self.daemon).ctl(*args)
        self.assertEqual(r.returncode, want, r.stdout + r.stderr)
        return r

    def row(self, key):
        return json.loads(self.ctl("get", key, "--json").stdout)[key]

    def conf(self, name="empty.conf"):
        return os.path.join(self.daemon.work, name)

    def live(self):
        return self.conf("empty.conf.d/90-live.conf")

    def test_get(self):
        lines = self.ctl("get").stdout.splitlines()
        self.assertGreater(len(lines), 90)
        self.assertEqual([x for x in lines if x.startswith("model.") or ".p_order" in x], [])
        self.assertIn("source.size = 320x160                     # default auto, from -s source.size=320x160, "
                      "needs a restart", lines)
        self.assertIn("stixels.width = 4                         # default 4", lines)
        self.assertIn("source.kind = synthetic                   # no default, from -s source.kind=synthetic, "
                      "needs a restart", lines)
        self.assertEqual([x.split(".")[0] for x in self.ctl("get", "road", "log").stdout.splitlines()],
                         ["road"] * 7 + ["log"])
        self.assertEqual(self.ctl("get", "stereo.p1").stdout, "stereo.p1 = 0                             # default 0\n")
        self.assertEqual(self.row("filters.smooth"), {"value": "yes", "default": "yes", "restart": False,
                                                      "from": "default", "live": False})
        r = self.ctl("get", "stixels.width", "width", want=64)
        self.assertEqual((r.stdout, r.stderr),
                         ("", "stixelctl: get: there is no 'width', did you mean stixels.width?\n"))
        self.assertIn("there is no 'stixels.', expected", self.ctl("get", "stixels.", want=64).stderr)

    def test_set(self):
        r = self.ctl("set", "stixels.width=8", "filters.median = yes")
        self.assertRegex(r.stdout, r"^filters.median = yes \(was no\)\nstixels.width = 8 \(was 4\)\n"
                                   r"from frame \d+ on\n$")
        self.assertEqual(self.row("stixels.width"), {"value": "8", "default": "4", "restart": False,
                                                     "from": "set stixels.width=8", "live": True})
        self.assertIn("# default 4, set live\n", self.ctl("get", "stixels.width").stdout)
        self.ctl("wait")
        self.assertIn('"column_width":8', self.ctl("dump", "--json").stdout.replace(" ", ""))
        self.assertEqual(self.ctl("set", "stixels.width=8").stdout, "nothing changed: so it was already\n")

    def test_constants_of_the_models(self):
        """Constants are set, shown and saved under either name. The file gets the new name."""
        default = "model.p_order = 0.2                       # default 0.2"
        self.assertIn(default, self.ctl("get", "model").stdout.splitlines())
        self.assertRegex(self.ctl("get", "stixels.p_order").stdout, r"^stixels\.p_order = 0\.2 +# default 0\.2\n$")
        r = self.ctl("set", "stixels.p_order=0.3", "model.p_gravity=0.2")
        self.assertRegex(r.stdout, r"^model.p_order = 0.3 \(was 0.2\)\nmodel.p_gravity = 0.2 \(was 0.1\)\n"
                                   r"from frame \d+ on\n$")
        self.assertEqual([x.split(" ")[0] for x in self.ctl("get").stdout.splitlines() if "set live" in x],
                         ["model.p_order", "model.p_gravity"])
        for key in ("model.p_order", "stixels.p_order"):
            self.assertEqual((self.row(key)["value"], self.row(key)["live"]), ("0.3", True))
        r = self.ctl("set", "model.p_order=7", want=78)
        self.assertEqual(r.stderr, "stixelctl: set model.p_order=7: [model] p_order: found '7', "
                                   "allowed 1e-06..0.999999\n")
        self.assertIn("did you mean model.p_order?", self.ctl("get", "road.p_order", want=64).stderr)

    def test_set_refused(self):
        r = self.ctl("set", "stixels.width=8", "stixels.p_order=2", "stereo.paths=8", "stixels.widht=3", want=78)
        self.assertEqual(r.stderr.splitlines(), [
            "stixelctl: set stixels.p_order=2: [stixels] p_order: found '2', allowed 1e-06..0.999999",
            "stixelctl: set stereo.paths=8: [stereo] paths: needs a restart: change it in a file",
            "stixelctl: set stixels.widht=3: [stixels] widht: unknown key, did you mean width?"])
        self.assertIn("need a restart: a frame could have 160 columns",
                      self.ctl("set", "stixels.width=2", want=78).stderr)
        self.assertEqual(self.row("stixels.width")["value"], "4")
        for words in (["set"], ["set", "stixels.width"], ["set", "stixels.width=8\nroad.top=4"]):
            self.assertEqual(self.daemon.ctl(*words).returncode, 64, words)
        self.assertEqual(self.row("road.top")["value"], "33")

    def test_nobody_there(self):
        env = dict(os.environ, XDG_RUNTIME_DIR=self.folder)
        for words in (["get"], ["set", "stixels.width=8"], ["save"]):
            r = run("stixelctl", "-i", "nobody-%d" % os.getpid(), *words, env=env)
            self.assertEqual(r.returncode, 1)
            self.assertIn("no stixeld runs as instance", r.stderr)
            self.assertRegex(r.stderr, "; running: ")

    def test_save(self):
        self.assertEqual(self.ctl("save").stdout, "nothing was set live: nothing to save\n")
        self.assertFalse(os.path.exists(self.live()))
        self.ctl("set", "stixels.width=8", "stereo.p1=9", "source.controls=gain=3, hue=1")
        self.assertEqual(self.ctl("save").stdout, "3 keys in %s\n" % self.live())
        with open(self.live()) as f:
            text = f.read()
        self.assertTrue(text.startswith("# Written by stixelctl save: what was set live (instance settings-"), text)
        self.assertEqual(text.split("\n", 1)[1], "\n[source]\ncontrols = gain=3, hue=1\n\n[stereo]\np1 = 9\n\n"
                                                 "[stixels]\nwidth = 8\n")
        self.assertEqual(stat.S_IMODE(os.stat(self.live()).st_mode), 0o644)
        self.assertEqual(os.listdir(os.path.dirname(self.live())), ["90-live.conf"])
        # a reload reads back the values that were set
        self.daemon.process.send_signal(1)
        for _ in range(100):
            if self.row("stixels.width")["from"] == self.live() + ":10":
                break
        self.assertEqual(self.row("stixels.width"), {"value": "8", "default": "4", "restart": False,
                                                     "from": self.live() + ":10", "live": False})
        self.assertEqual(self.row("source.controls")["value"], "gain=3, hue=1")
        # a second save keeps the saved keys and adds the keys changed since
        self.ctl("set", "stereo.p1=10", "road.top=40")
        self.assertEqual(self.ctl("save").stdout, "4 keys in %s\n" % self.live())
        with open(self.live()) as f:
            self.assertEqual(f.read().split("\n", 1)[1], "\n[source]\ncontrols = gain=3, hue=1\n\n[stereo]\np1 = 10\n\n"
                                                         "[road]\ntop = 40\n\n[stixels]\nwidth = 8\n")
        # a daemon that starts with the file uses the saved settings
        r = run("stixeld", "-c", self.conf(), "-s", "source.kind=synthetic", "--print-config")
        self.assertIn("\nwidth = 8\n", r.stdout)
        self.assertIn("\np1 = 10\n", r.stdout)

    def test_what_wins_over_it(self):
        daemon = self.start("stixels.width=4")
        self.daemon, old = daemon, self.daemon
        self.addCleanup(setattr, self, "daemon", old)
        os.mkdir(self.conf("empty.conf.d"))
        with open(self.conf("empty.conf.d/95.conf"), "w") as f:
            f.write("[road]\ntop = 20\n")
        self.ctl("set", "stixels.width=8", "road.top=30")
        self.assertEqual(self.ctl("save").stdout.splitlines(), [
            "2 keys in " + self.live(),
            "but %s:2 says road.top = 20, and wins over it" % self.conf("empty.conf.d/95.conf"),
            "but the daemon is started with -s stixels.width=4, which wins over it"])
        with open(self.conf("empty.conf.d/95.conf"), "w") as f:
            f.write("[road]\ntop = high\n")
        before = os.stat(self.live()).st_mtime_ns
        r = self.ctl("save", want=78)
        self.assertIn("top: found 'high'", r.stderr)
        self.assertIn("refused: nothing was written", r.stderr)
        self.assertEqual(os.stat(self.live()).st_mtime_ns, before)

    def test_save_replaces_names_of_before(self):
        daemon = self.start("stixels.p_gravity=0.3")
        self.daemon, old = daemon, self.daemon
        self.addCleanup(setattr, self, "daemon", old)
        os.mkdir(self.conf("empty.conf.d"))
        with open(self.live(), "w") as f:
            f.write("# Written by stixelctl save: what was set live\n[stixels]\nwidth = 8\np_order = 0.3\n")
        self.ctl("set", "model.p_gravity=0.2")
        r = self.ctl("save")
        self.assertEqual(r.stdout.splitlines(), [
            "3 keys in " + self.live(), "but the daemon is started with -s stixels.p_gravity=0.3, which wins over it"])
        self.assertIn("%s:4: [stixels] p_order belongs to [model] now" % self.live(), r.stderr)
        with open(self.live()) as f:
            self.assertEqual(f.read().split("\n", 1)[1], "\n[stixels]\nwidth = 8\n\n"
                                                         "[model]\np_order = 0.3\np_gravity = 0.2\n")

    def test_save_elsewhere(self):
        self.ctl("set", "road.top=40")
        own = self.path("own.conf")
        self.assertEqual(self.ctl("save", own).stdout, "1 key in %s\n" % own)
        self.ctl("set", "road.top=41")
        self.ctl("save", own)  # saves to its own file again
        with open(own) as f:
            self.assertIn("\n[road]\ntop = 41\n", f.read())
        by_hand = self.path("by-hand.conf")
        with open(by_hand, "w") as f:
            f.write("[road]\ntop = 7\n")
        self.assertIn("exists, and was not written by stixelctl save", self.ctl("save", by_hand, want=73).stderr)
        with open(by_hand) as f:
            self.assertEqual(f.read(), "[road]\ntop = 7\n")
        self.assertIn("No such file or directory", self.ctl("save", self.path("no", "where.conf"), want=73).stderr)
        self.assertEqual(self.listing(), ["by-hand.conf", "own.conf"])

    @unittest.skipIf(os.getuid() != 0, "needs root, to be somebody else")
    def test_save_without_rights(self):
        self.ctl("set", "road.top=40")
        for folder in (self.daemon.work, self.daemon.work + "/stixeld", os.path.dirname(self.socket())):
            os.chmod(folder, 0o755)
        os.chmod(self.socket(), 0o666)
        words = [program("stixelctl"), "-i", self.daemon.name]
        env = self.daemon.env

        def other():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        def as_other(*args):
            return subprocess.run(words + list(args), env=env, preexec_fn=other, capture_output=True, text=True)
        r = as_other("save", self.path("x.conf"))
        self.assertEqual(r.returncode, 73)
        self.assertIn("cannot write %s: Permission denied (root may: sudo stixelctl save)" % self.path("x.conf"),
                      r.stderr)
        r = as_other("set", "road.top=50")
        self.assertEqual(r.returncode, 77)
        self.assertIn("stixelctl: not allowed: only root", r.stderr)
        self.assertEqual(self.row("road.top")["value"], "40")

    def socket(self):
        return os.path.join(self.daemon.env["RUNTIME_DIRECTORY"], self.daemon.name, "status.sock")


if __name__ == "__main__":
    unittest.main()
