# stixeld from outside: start, signals, configuration, every exit code by a real cause.
#
# SPDX-License-Identifier: Apache-2.0
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import IDLE, SANITIZED, SMALL, STIXELD, TestCase, receive, until

FREE = ["-s", "source.fps=0"]


def write_pair(folder, name, seed, width=160, height=96):
    """A pair of PGM images as left/NAME and right/NAME: texture, moved by 8 px."""
    noise = random.Random(seed)
    for side, shift in (("left", 0), ("right", 8)):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
        noise.seed(seed)
        rows = [bytes(noise.randrange(256) for _ in range(width + 8))[shift:shift + width] for _ in range(height)]
        with open(os.path.join(folder, side, name), "wb") as f:
            f.write(b"P5\n%d %d\n255\n" % (width, height) + b"".join(rows))


class Life(TestCase):
    def test_publishes_and_ends(self):
        i = self.instance()
        code, out, err = i.run_once(*SMALL, *FREE, "--frames", "20", "-s", "engine.backend=reference")
        self.assertEqual((code, out), (0, ""), err)
        self.assertIn("engine reference", err)
        self.assertIn("20 frames published, 0 pairs dropped", err)
        self.assertEqual(i.leftovers(), [])

    def test_engines_publish_the_same(self):
        records = {}
        for engine in ("reference", "cpu"):
            i = self.instance()
            i.start(*SMALL, *FREE, "-s", "engine.backend=" + engine, "-s", "output.slots=256",
                    "-s", "engine.contexts=1")
            ring = i.ring()
            until(lambda: ring.live()[2] >= 12, 20, "twelve frames")
            i.process.kill()
            i.process.wait()
            records[engine] = {f.number: f.record for f in ring.frames()}
        common = sorted(set(records["reference"]) & set(records["cpu"]))
        self.assertGreaterEqual(len(common), 10)
        for n in common:
            self.assertEqual(records["reference"][n], records["cpu"][n], "frame %d" % n)
        self.assertGreater(len({records["cpu"][n] for n in common}), 6)

    def test_sigterm_and_sigint(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            i = self.instance()
            i.start(*SMALL)
            i.until_published(3)
            ring = i.ring()
            self.assertEqual(i.stop(how), 0)
            self.assertEqual(ring.live()[0], "closed")
            self.assertEqual(i.leftovers(), [])
            self.assertIn("stopping", i.text())
    
    def test_stray_signals_change_nothing(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
            i.process.send_signal(s)
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        i.process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        i.process.send_signal(signal.SIGCONT)
        i.until_published(n + 6)
        self.assertEqual(i.stop(), 0)

    def test_sigabrt_ends_it(self):
        # the watchdog's signal must not be blocked
        i = self.instance()
        i.start(*SMALL)
        self.assertEqual(i.stop(signal.SIGABRT), -signal.SIGABRT)

    def test_killed_and_restarted(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(2)
        old = i.ring()
        epoch = i.status()["epoch"]
        i.process.kill()
        i.process.wait()
        self.assertTrue(os.path.exists(i.ring_path))
        i.start(*SMALL)
        i.until_published(2)
        self.assertEqual(old.live()[0], "replaced")
        self.assertNotEqual(i.status()["epoch"], epoch)
        self.assertEqual(os.listdir(i.shm), ["stixeld.test"])
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_second_instance_is_refused(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        before = i.leftovers()
        code, _, err = i.run_once(*SMALL)
        self.assertEqual(code, 73)
        self.assertIn(str(i.process.pid), err)
        self.assertEqual(i.leftovers(), before)
        n = i.status()["frames"]["published"]
        i.until_published(n + 2)
        # another name is another instance
        self.assertEqual(subprocess.run([STIXELD, "--instance", "other", *SMALL, *FREE, "--frames", "2"],
                                        env=i.environment(), capture_output=True).returncode, 0)
        self.assertEqual(i.stop(), 0)

    def test_fifty_rounds_leave_nothing(self):
        i = self.instance()
        rounds = 5 if SANITIZED else 50
        for _ in range(rounds):
            code, _, err = i.run_once(*SMALL, *FREE, "-s", "source.size=64x48", "--frames", "2")
            self.assertEqual(code, 0, err)
        self.assertEqual(i.leftovers(), [])

    def test_descriptors_and_memory_do_not_grow(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(5)
        i.http("/status")
        folder = "/proc/%d/fd" % i.process.pid

        def memory():
            with open("/proc/%d/status" % i.process.pid) as f:
                return int([line for line in f if line.startswith("VmRSS")][0].split()[1])
        fds, rss = len(os.listdir(folder)), memory()
        for _ in range(100):
            i.http("/metrics")
            i.http("/status")
            i.stream().close()
        until(lambda: i.status()["stream"]["clients"] == 0, 5, "no clients")
        until(lambda: len(os.listdir(folder)) <= fds + 1, 5, "descriptors closed")
        if not SANITIZED:
            self.assertLess(memory() - rss, 2000)
        self.assertEqual(i.stop(), 0)

    def test_closed_standard_descriptors(self):
        # 0, 1, 2 must not become a socket into which the log is written
        i = self.instance()
        p = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", STIXELD, "--instance", "test", *SMALL],
                             env=i.environment())
        i.process = p
        until(i.answers, 10, "status")
        self.assertEqual([os.readlink("/proc/%d/fd/%d" % (p.pid, fd)) for fd in range(3)], ["/dev/null"] * 3)
        i.until_published(3)
        self.assertEqual(i.stop(), 0)

    def test_sockets_passed_by_systemd(self):
        i = self.instance()
        i.start_activated(*SMALL)
        self.assertEqual(len(receive(self.stream(i), 3)), 3)
        self.assertEqual(os.listdir(i.run + "/test"), ["lock"])
        self.assertEqual(i.stop(), 0)
        # the manager's sockets stay, for the next start
        self.assertTrue(os.path.exists(i.status_path) and os.path.exists(i.stream_path))

    def test_priority_and_locked_memory(self):
        i = self.instance()
        i.start(*SMALL, "-s", "realtime.priority=7", "-s", "realtime.lock_memory=yes")
        i.until_published(1)
        with open("/proc/%d/status" % i.process.pid) as f:
            locked = int([line for line in f if line.startswith("VmLck")][0].split()[1])
        # ThreadSanitizer swallows mlockall()
        self.assertTrue(locked > 1000 or SANITIZED or "realtime.lock_memory is not permitted" in i.text(), i.text())
        policies = {}
        for tid in os.listdir("/proc/%d/task" % i.process.pid):
            with open("/proc/%d/task/%s/comm" % (i.process.pid, tid)) as f:
                policies[f.read().strip()] = os.sched_getscheduler(int(tid))
        if "realtime.priority = 7 is not permitted" not in i.text():
            self.assertEqual(policies.pop("capture"), os.SCHED_FIFO)
        self.assertEqual(set(policies.values()), {os.SCHED_OTHER}, policies)
        self.assertEqual(i.stop(), 0)

    def test_log_levels(self):
        i = self.instance()
        code, _, err = i.run_once(*SMALL, *FREE, "--frames", "2", "-s", "log.levels=error")
        self.assertEqual((code, err), (0, ""))


class Configuration(TestCase):
    def test_reload(self):
        i = self.instance()
        path = os.path.join(i.top, "c.conf")

        def write(extra=""):
            with open(path, "w") as f:
                f.write("[source]\nkind = synthetic\nsize = 160x96\nfps = 50\n[stereo]\ndisparities = 32\n"
                        "[engine]\nthreads = 1\n" + extra)
        write()
        i.start("-c", path, notify=True)
        i.until_published(2)
        self.assertNotIn("debug", i.text())

        write("[log]\nlevels = warning daemon=debug\n")
        i.messages()
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "debug" in i.http("/config")[2].split('"levels"')[1][:80], 5, "new level in /config")
        i.until_message("RELOADING=1")
        stamp = int(i.until_message("MONOTONIC_USEC=")[0].split("=")[1])
        self.assertLess(abs(stamp / 1e6 - time.monotonic()), 10)
        self.assertTrue(i.until_message("READY=1"))

        write("[log]\nlevels = info\n[stixels]\nwidth = 7\n[output]\nslots = 16\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "needs a restart" in i.text(), 5, "restart-only keys")
        line = [x for x in i.text().splitlines() if "needs a restart" in x][-1]
        self.assertNotIn("stixels.width", line)
        self.assertIn("output.slots", line)
        self.assertEqual(self.receive_columns(i), {22})

        write("[log]\nlevels = info\n[stereo]\np1 = many\nnonsense = 3\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "stay as they were" in i.text(), 5, "broken file")
        self.assertIn("nonsense", i.text())
        self.assertIn("many", i.text())
        self.assertIn(i.status()["state"], ("running", "degraded") if SANITIZED else ("running",))

        os.unlink(path)
        i.process.send_signal(signal.SIGHUP)
        until(lambda: i.text().count("stay as they were") == 2, 5, "missing file")
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        self.assertEqual(i.stop(), 0)

    def receive_columns(self, i):
        return {f.columns for f in receive(self.stream(i), 3)}

    def test_drop_ins(self):
        i = self.instance()
        path = os.path.join(i.top, "c.conf")
        os.mkdir(path + ".d")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\nsize = 96x64\nfps = 20\n[stereo]\ndisparities = 32\n")
        with open(path + ".d/10-size.conf", "w") as f:
            f.write("[source]\nsize = 128x64\n[stixels]\nwidth = 4\n")
        with open(path + ".d/20-width.conf", "w") as f:
            f.write("[stixels]\nwidth = 8\n")
        i.start("-c", path)
        i.until_published(1)
        f = i.ring().frames()[-1]
        self.assertEqual((f.width, f.columns), (128, 16))
        files = [path, path + ".d/10-size.conf", path + ".d/20-width.conf"]
        self.assertEqual(i.status()["config"], {"folder": os.getcwd(), "files": files, "overrides": []})
        os.remove(files[1])
        i.process.send_signal(signal.SIGHUP)
        until(lambda: i.status()["config"]["files"] == [files[0], files[2]], 5, "one file less")
        self.assertEqual(i.stop(), 0)

    def test_print_and_check(self):
        i = self.instance()
        code, out, _ = i.run_once(*SMALL, "--print-config")
        self.assertEqual(code, 0)
        path = os.path.join(i.top, "printed.conf")
        with open(path, "w") as f:
            f.write(out)
        code, again, err = i.run_once("-c", path, "--print-config")
        self.assertEqual((code, again), (0, out), err)
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertEqual(i.leftovers(), ["printed.conf"])

    def test_constants_of_the_models(self):
        """In [model], or for a while where they were: then a notice says where, and where they belong."""
        i = self.instance()
        path = os.path.join(i.top, "c.conf")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\n[stixels]\np_order = 0.3\nwidth = 8\n[model]\np_gravity = 0.2\n")
        code, out, err = i.run_once("-c", path, "--print-config")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"^\S+ notice  config: \S+/c.conf:4: \[stixels\] p_order belongs to \[model\] now: .*\n$")
        self.assertEqual(re.findall(r"(?m)^(\w+ = .*)", out[out.index("[model]"):]),
                         ["p_order = 0.3", "p_gravity = 0.2"])
        code, every, err = i.run_once(*SMALL, "--print-config", "--all")
        self.assertEqual((code, err), (0, ""))
        with open(path, "w") as f:
            f.write(every)
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertNotIn("[model]", i.run_once("-c", path, "--print-config")[1])
        self.assertEqual(i.run_once(*SMALL, "--all"),
                         (64, "", "stixeld: --all: needs --print-config; try stixeld --help\n"))

    def test_check_looks_for_files(self):
        """What a key names must exist; all that is wrong is told at once, and a start says the same."""
        i = self.instance()
        path = os.path.join(i.top, "c.conf")
        gone = os.path.join(i.top, "drive", "12")
        os.symlink("/nowhere", i.top + "/link")
        with open(path, "w") as f:
            f.write("[source]\nkind = files\npath = %s\n[camera]\ncalibration = none.yaml\n[stixels]\nwidth = 99\n"
                    "[power]\nroot = %s/link\n" % (gone, i.top))
        code, out, err = i.run_once("-c", path, "--check-config")
        self.assertEqual((code, out), (78, ""))
        self.assertIn("c.conf:3: [source] path: %s does not exist, though %s does: correct the path" % (gone, i.top),
                      err)
        self.assertIn("c.conf:5: [camera] calibration: %s/none.yaml does not exist, though " % i.top, err)
        self.assertIn("c.conf:7: [stixels] width: found '99'", err)
        self.assertIn("c.conf:9: [power] root: %s/link is a link to /nowhere, which does not exist" % i.top, err)
        args = ["-s", "source.kind=files"]
        for more, why in ((["-s", "source.path=" + gone], gone + " does not exist, though "),
                          (["-s", "source.path=" + gone + "/{left|right}/*.pgm"], gone + " does not exist"),
                          (["-s", "source.path=" + path], "neither a folder nor a pattern"),
                          (["-s", "source.path=" + path + "/x"], "a part of the path is a file"),
                          (["-s", "source.path=" + i.top], "no pairs found"),
                          (["-s", "source.left=" + i.top, "-s", "source.right=" + gone], gone + " does not exist"),
                          (["-s", "source.layout=side-by-side", "-s", "source.path=" + gone], gone + " does not exist"),
                          (["-s", "source.path=no-such-name"], "no-such-name does not exist, seen from /")):
            code, out, err = i.run_once(*args, *more, "--check-config")
            self.assertEqual((code, out), (78, ""), more)
            self.assertIn(why, err)
            if "does not exist" in why:
                code, out, err = i.run_once(*args, *more)
                self.assertEqual((code, out), (65, ""), err)
                self.assertRegex(err, "does not exist|no image files found")
        write_pair(i.top + "/images", "0.pgm", 0)
        no_model = ["-s", "camera.fx=0", "-s", "camera.fy=0", "-s", "camera.baseline_m=0"]
        self.assertEqual(i.run_once(*args, *no_model, "-s", "source.path=" + i.top + "/images", "--check-config"),
                         (0, "", ""))
        # a camera may be plugged in later
        camera = ["-s", "source.kind=v4l2", "-s", "source.left=/dev/video98", "-s", "source.right=/dev/video99",
                  *no_model]
        self.assertEqual(i.run_once(*camera, "--check-config"), (0, "", ""))

    def test_check_says_why_a_pair_of_calibrations_is_refused(self):
        """One sentence, of the file that is wrong; a file that is there is not said to be missing."""
        i = self.instance()
        names = [os.path.join(i.top, side + ".yaml") for side in ("left", "right")]
        for name, x in zip(names, ("0.0", "-84.0")):
            with open(name, "w") as f:
                f.write("image_width: 1280\nimage_height: 720\ndistortion_model: plumb_bob\nprojection_matrix:\n"
                        "  rows: 3\n  cols: 4\n  data: [700, 13, 640, %s, 0, 700, 360, 0, 0, 0, 1, 0]\n" % x)
        for pair, why in ((names, "left projection_matrix[0][1] is 13, must be 0"),
                          (names[:1] + [i.top + "/none.yaml"], ": %s/none.yaml does not exist, though %s does" % (
                              i.top, i.top)),
                          ([i.top + "/none.yaml"] + names[1:], ": %s/none.yaml does not exist, though %s does" % (
                              i.top, i.top))):
            code, out, err = i.run_once(*SMALL, "-s", "camera.calibration=" + ",".join(pair), "--check-config")
            self.assertEqual((code, out), (78, ""))
            self.assertIn(why, err)
            self.assertEqual("does not exist" in err, "does not exist" in why, err)

    def test_check_holds_the_camera_against_the_images(self):
        """--check-config and a start end with the same code and the same sentences."""
        i = self.instance()
        write_pair(i.top + "/images", "0.pgm", 0)
        path = os.path.join(i.top, "camera.txt")
        args = ["-s", "source.kind=files", "-s", "source.path=" + i.top + "/images", "-s", "camera.calibration=" + path,
                "-s", "engine.backend=reference", "-s", "stereo.disparities=32"]
        for numbers, code, why in (
                ("fx: 160\nfy: 160\ncx: 80\ncy: 48\nbaseline_m: 0.1\n", 0, None),
                ("fx: 160\nfy: 160\ncx: 80\ncy: 48\nbaseline_m: 0.1\nwidth: 320\nheight: 192\n", 78,
                 "images are 160x96, but calibration %s was made for 320x192" % path),
                ("fx: 700\nfy: 700\ncx: 320\ncy: 192\nbaseline_m: 0.1\n", 78,
                 "the principal point 320, 192 is outside of images of 160x96: it fits images of about 4 times"),
                ("fx: 320\nfy: 320\ncx: 130\ncy: 80\nbaseline_m: 0.1\n", 0,
                 "the principal point 130, 80 of the camera is far from the middle of images of 160x96")):
            with open(path, "w") as f:
                f.write(numbers)
            for more in (["--check-config"], ["--frames", "1"]):
                got, _, err = i.run_once(*args, *more)
                self.assertEqual(got, code, err)
                self.assertEqual("principal point" in err or "was made for" in err, why is not None, err)
                self.assertIn(why or "", err)
        # nor do images that cannot be read pass
        with open(i.top + "/images/right/0.pgm", "wb") as f:
            f.write(b"P5 8 8")
        for more in (["--check-config"], ["--frames", "1"]):
            code, _, err = i.run_once(*args, *more)
            self.assertEqual(code, 65, err)
            self.assertIn("right/0.pgm: ", err)

    def test_search_range_wider_than_the_image(self):
        i = self.instance()
        args = ["-s", "source.kind=synthetic", "-s", "source.size=96x64", "--frames", "1", *FREE]
        for disparities, warns in ((32, False), (64, True), (256, True)):
            code, _, err = i.run_once(*args, "-s", "stereo.disparities=%d" % disparities)
            self.assertEqual(code, 0, err)
            self.assertEqual("stereo.disparities = %d, and images are 96 px wide" % disparities in err, warns, err)

    def test_runtime_folder(self):
        i = self.instance()
        code, _, err = i.run_once(*SMALL, env={"RUNTIME_DIRECTORY": "/proc/nowhere"})
        self.assertEqual(code, 73)
        self.assertIn("cannot use the runtime folder /proc/nowhere: ", err)
        self.assertIn("; RuntimeDirectory= of a unit, or XDG_RUNTIME_DIR of a login, names one", err)
        i.start(*SMALL)
        code, _, err = i.run_once(*SMALL)
        self.assertEqual(code, 73)
        self.assertIn(": stop it, or name another one with -i", err)
        self.assertEqual(i.stop(), 0)

    def test_no_configuration_at_all(self):
        i = self.instance("no-such-instance")
        code, out, err = i.run_once()
        self.assertEqual((code, out), (78, ""))
        self.assertIn("[source] kind: not given", err)
        self.assertIn("there is no /etc/stixeld/no-such-instance.conf, and no -c FILE names another file: ", err)
        self.assertIn("stixeld --print-config prints one to fill in", err)

    def test_dev_null_is_an_empty_file(self):
        """So is a drop-in that a link to it masks."""
        i = self.instance()
        self.assertEqual(i.run_once("-c", "/dev/null", *SMALL, "--check-config"), (0, "", ""))
        code, out, err = i.run_once("-c", "/dev/null")
        self.assertEqual((code, out), (78, ""))
        self.assertEqual(err, "[source] kind: not given, allowed v4l2, files, synthetic\n")
        path = os.path.join(i.top, "c.conf")
        os.mkdir(path + ".d")
        with open(path, "w") as f:
            f.write("[stereo]\np1 = 7\n")
        os.symlink("/dev/null", path + ".d/50-x.conf")
        self.assertEqual(i.run_once("-c", path, *SMALL, "--check-config"), (0, "", ""))
        self.assertEqual(i.run_once("-c", "/dev/zero", *SMALL, "--check-config"),
                         (78, "", "/dev/zero: not a regular file\n"))
        i.start("-c", "/dev/null", *SMALL)
        self.assertEqual(i.status()["config"]["files"], [])
        self.assertEqual(i.stop(), 0)

    def test_template(self):
        """Without a file there is one to fill in: every key, the one that must be given as a comment."""
        i = self.instance()
        code, out, err = i.run_once("--print-config")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("; no default, must be given\n#kind =\n", out)
        self.assertEqual(re.findall("(?m)^#[a-z].*", out), ["#kind ="])
        path = os.path.join(i.top, "filled.conf")
        with open(path, "w") as f:
            f.write(out)
        for again in ("--print-config", "--check-config"):
            code, said, err = i.run_once("-c", path, again)
            self.assertEqual((code, said, err), (78, "", "[source] kind: not given, allowed v4l2, files, synthetic\n"))
        with open(path, "w") as f:
            f.write(out.replace("#kind =", "kind = synthetic"))
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertEqual(i.run_once("-c", path, "--print-config")[1], out.replace("#kind =", "kind = synthetic"))

    def test_template_with_settings(self):
        i = self.instance()
        code, out, err = i.run_once("--print-config", "-s", "source.kind=v4l2", "-s", "stixels.width=9")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("\nkind = v4l2\n", out)
        self.assertIn("\nwidth = 9\n", out)
        code, out, err = i.run_once("--print-config", "-s", "stixels.width=99")
        self.assertEqual((code, out), (78, ""))
        self.assertIn("[stixels] width: found '99', allowed 1..32", err)
        code, out, err = i.run_once("--print-config", "--check-config", "-s", "source.kind=v4l2")
        self.assertEqual((code, out), (78, ""))
        self.assertIn("v4l2 needs the device in left", err)


class ExitCodes(TestCase):
    def check(self, code, args, *words, i=None, env=None):
        i = i or self.instance()
        before = i.leftovers()
        got, _, err = i.run_once(*args, env=env)
        self.assertEqual(got, code, err)
        for word in words:
            self.assertIn(word, err)
        self.assertEqual(i.leftovers(), before)
        return err

    def test_usage_64(self):
        self.check(64, ["--nonsense"], "nonsense", "--help")
        self.check(64, ["-s"], "--set needs SECTION.KEY=VALUE")
        self.check(64, ["stray"], "'stray'")
        for n in ("0", "-1", "x", "1x", "", "99999999999999999999999"):
            self.check(64, [*SMALL, "--frames", n], "--frames")
        for n in ("", "a/b", "..", "x" * 65):
            self.check(64, ["--instance", n], "--instance")

    def test_help_and_version(self):
        i = self.instance()
        code, out, err = i.run_once("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("--instance", "--frames", "--help-keys", "SIGHUP", "73"):
            self.assertIn(word, out)
        self.assertRegex(i.run_once("--version")[1], r"^stixeld \d+\.\d+\.\d+\n$")

    def test_data_65(self):
        i = self.instance()
        files = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1", *FREE]
        self.check(65, [*files, "-s", "source.path=" + i.top + "/nowhere"], "nowhere", i=i)
        empty = os.path.join(i.top, "empty")
        os.mkdir(empty)
        self.check(65, [*files, "-s", "source.path=" + empty], "empty", i=i)
        broken = os.path.join(i.top, "broken")
        write_pair(broken, "a.pgm", 1)
        with open(broken + "/left/a.pgm", "wb") as f:
            f.write(b"P5\nrubbish")
        self.check(65, [*files, "-s", "source.path=" + broken], "a.pgm", i=i)

    def test_gpu_69(self):
        self.check(69, [*SMALL, "-s", "engine.backend=cuda"], "engine.backend = cuda: ")

    def test_shared_memory_73(self):
        i = self.instance()
        self.check(73, SMALL, i.top + "/missing", i=i, env={"STIXELD_SHM_DIR": i.top + "/missing"})

    def test_full_shared_memory_73(self):
        i = self.instance()
        full = os.path.join(i.top, "full")
        os.mkdir(full)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", full], capture_output=True).returncode:
            self.skipTest("may not mount a small tmpfs")
        try:
            err = self.check(73, [*SMALL, "-s", "output.slots=256"], env={"STIXELD_SHM_DIR": full})
            self.assertIn("full", err)
            self.assertEqual(os.listdir(full), [])
        finally:
            subprocess.run(["umount", full], check=True)

    def test_runtime_directory_73(self):
        i = self.instance()
        blocked = os.path.join(i.top, "file")
        with open(blocked, "w"):
            pass
        self.check(73, SMALL, blocked, i=i, env={"RUNTIME_DIRECTORY": blocked})
        deep = os.path.join(i.top, "d" * 120)
        os.mkdir(deep)
        self.check(73, SMALL, env={"RUNTIME_DIRECTORY": deep})

    def test_configuration_78(self):
        i = self.instance()
        path = os.path.join(i.top, "bad.conf")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\nfps = fast\n[stereo]\ndisparities = 100\ncolour = blue\n"
                    "[nowhere]\nx = 1\n")
        for check in ([], ["--check-config"]):
            err = self.check(78, ["-c", path, *check, "-s", "stereo.paths=5"], "bad.conf:3", "bad.conf:5", "bad.conf:6",
                             "nowhere", "paths", i=i)
            self.assertGreaterEqual(len(err.splitlines()), 5)
        self.check(78, ["-c", i.top + "/missing.conf"], "missing.conf", i=i)
        self.check(78, [], "kind", i=i)
        # values that only do not go together
        self.check(78, [*SMALL, "-s", "stereo.p1=100", "-s", "stereo.p2=200"], "stereo.p1 = 100", "stereo.p2 = 200",
                   i=i)
        # raw cameras of which the file does not say how they stand
        raw = os.path.join(i.top, "raw.yaml")
        with open(raw, "w") as f:
            f.write("%YAML:1.0\n---\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0.1, 0, 0, 0]\n"
                    "K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD2: [0.1, 0, 0, 0]\n")
        for more in (["--check-config"], ["--check-config", "-s", "camera.rectify=yes"]):
            self.check(78, [*SMALL, "-s", "camera.calibration=" + raw, *more], raw, "without R and T", i=i)
        self.check(78, [*SMALL, "-s", "camera.rectify=yes"], "camera.rectify=yes", "no calibration file", i=i)
        # what this engine does not compute
        self.check(78, [*SMALL, "-s", "engine.backend=cpu", "-s", "stereo.aggregation=fastdt", "-s",
                        "stereo.fastdt=float"],
                   "stereo.fastdt = float: only engine.backend = reference computes it", i=i)

    def test_lost_runtime_environment(self):
        # a notify socket that is not there or makes no sense is no reason to fail
        i = self.instance()
        for where in ("/nowhere/notify", "nonsense", "@" + "x" * 200):
            code, _, err = i.run_once(*SMALL, *FREE, "--frames", "1", env={"NOTIFY_SOCKET": where})
            self.assertEqual(code, 0, err)


class Files(TestCase):
    ARGS = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1"]

    def run_files(self, i, *args):
        """Runs to the end: (published, dropped by overload, unreadable), from the last line of the log."""
        code, _, err = i.run_once(*self.ARGS, *FREE, "-s", "source.path=" + i.top + "/images", *args)
        self.assertEqual(code, 0, err)
        m = re.search(r"(\d+) frames published, (\d+) pairs dropped by overload, (\d+) unreadable", err)
        return tuple(int(n) for n in m.groups()), err

    def test_all_files_become_frames(self):
        i = self.instance()
        for n in range(30):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i)[0], (30, 0, 0))

    def test_a_broken_file_is_skipped_and_counted(self):
        i = self.instance()
        for n in range(9):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        with open(i.top + "/images/right/004.pgm", "wb") as f:
            f.write(b"P5\n160 96\n255\nshort")
        counts, err = self.run_files(i)
        self.assertEqual(counts, (8, 0, 1))
        self.assertIn("004.pgm", err)
        # also when a number of frames is asked for: the broken one is none of them
        self.assertEqual(self.run_files(i, "--frames", "6")[0], (6, 0, 1))

    def test_loop(self):
        i = self.instance()
        for n in range(3):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i, "-s", "source.loop=yes", "--frames", "20")[0], (20, 0, 0))


    def loses(self, spoil, *args, reason):
        """A loop whose images are spoiled while it runs ends with 65, and says why."""
        i = self.instance()
        folder = i.top + "/images"
        for n in range(3):
            write_pair(folder, "%03d.pgm" % n, n)
        i.start(*self.ARGS, *FREE, "-s", "source.path=" + folder, "-s", "source.loop=yes", *args)
        i.until_published(4)
        files = sorted(os.path.join(where, f) for where, _, names in os.walk(folder) for f in names)
        spoil(folder, files)
        self.assertEqual(i.wait(), 65, i.text())
        self.assertRegex(i.text(), r"error +daemon: no image file can be read any more \(3 pairs\): .*" + reason)
        self.assertEqual([n for n in i.leftovers() if not n.startswith("images")], [])

    def test_a_loop_whose_images_are_lost_ends_with_65(self):
        def each(what, chosen=lambda files: files):
            return lambda folder, files: [what(f) for f in chosen(files)]

        def garbage(f):
            with open(f, "wb") as out:
                out.write(b"\x89PNG no picture")

        def another_size(f):
            with open(f, "wb") as out:
                out.write(b"P5\n32 32\n255\n" + bytes(1024))

        def folder_in_its_place(f):
            os.unlink(f)
            os.mkdir(f)

        def pipe_in_its_place(f):
            os.unlink(f)
            os.mkfifo(f)

        def one_side(files):
            return [f for f in files if "/right/" in f]
        for name, spoil, reason in (
                ("deleted", each(os.unlink), "No such file"),
                ("one side", each(os.unlink, one_side), "right/.*No such file"),
                ("emptied", each(lambda f: os.truncate(f, 0)), "0 bytes"),
                ("cut", each(lambda f: os.truncate(f, 500)), "cut short|PGM"),
                ("garbage", each(garbage, one_side), "right/"),
                ("another size", each(another_size), "32x32 pixels"),
                ("a folder", each(folder_in_its_place), "not a file"),
                ("a pipe", each(pipe_in_its_place), "not a file"),
                ("a link to nothing", each(lambda f: (os.unlink(f), os.symlink("/nowhere", f))), "No such file"),
                ("folder removed", lambda folder, files: shutil.rmtree(folder), "No such file"),
                ("folder renamed", lambda folder, files: os.rename(folder, folder + "2"), "No such file")):
            with self.subTest(name):
                self.loses(spoil, reason=reason)
        with self.subTest("with a pace"):
            self.loses(each(os.unlink), "-s", "source.fps=20", reason="No such file")

    def test_a_loop_whose_images_may_not_be_read_ends_with_65(self):
        i = self.instance()
        folder = i.top + "/images"
        write_pair(folder, "0.pgm", 0)
        if os.geteuid() == 0:
            for where, _, names in os.walk(i.top):
                for f in [where] + [os.path.join(where, n) for n in names]:
                    os.chmod(f, 0o777)
            i.start(*self.ARGS, *FREE, "-s", "source.path=" + folder, "-s", "source.loop=yes",
                    preexec_fn=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
        else:
            i.start(*self.ARGS, *FREE, "-s", "source.path=" + folder, "-s", "source.loop=yes")
        i.until_published(2)
        os.chmod(folder + "/left", 0)
        self.assertEqual(i.wait(), 65, i.text())
        self.assertIn("Permission denied", i.text())

    def test_a_loop_with_one_good_pair_goes_on(self):
        i = self.instance()
        for n in range(4):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        i.start(*self.ARGS, *FREE, "-s", "source.path=" + i.top + "/images", "-s", "source.loop=yes")
        i.until_published(4)
        for n in range(3):
            os.unlink(i.top + "/images/right/%03d.pgm" % n)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            self.assertIsNone(i.process.poll(), i.text())
            time.sleep(0.1)
        self.assertGreater(i.status()["frames"]["dropped"]["corrupt"], 3)
        self.assertEqual(i.stop(), 0)


class SlowEngine(TestCase):
    # slow enough, and no slower: sanitizers take ten times as long
    SOME, MANY = ("480x160", "480x320") if SANITIZED else ("640x240", "1280x960")

    def test_newest_wins_with_the_reference_engine(self):
        i = self.instance()
        # a frame of the reference takes far longer than the 20 ms between pairs
        i.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.SOME, "-s", "stereo.disparities=64", "-s",
                "engine.backend=reference", "-s", "source.fps=50", "-s", "output.slots=64")
        ring = i.ring()
        i.until_published(6, 60)
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()[1:]
        self.assertGreater(frames[-1].overload, 5)
        for f in frames:
            compute = sum(f.stage_ns)
            waited = f.submitted_ns - f.left_ns
            # the pair that is submitted is the newest: younger than two computations
            if IDLE:
                self.assertLess(waited, compute + 100e6, (waited, compute))

    def test_pings_stop_while_one_frame_takes_too_long(self):
        i = self.instance()
        i.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.MANY, "-s", "stereo.disparities=256", "-s",
                "engine.backend=reference", "-s", "engine.contexts=1", "-s", "output.stream=no", notify=True,
                env={"WATCHDOG_USEC": 200000})
        i.until_message("READY=1", 60)
        until(lambda: i.health()[0] == 503 and "no frame finished" in i.health()[1], 60, "healthz 503")
        for _ in range(2):  # the second order does not wait for the frame
            i.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        self.assertEqual(i.wait(5), 0)
        self.assertEqual(i.leftovers(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
