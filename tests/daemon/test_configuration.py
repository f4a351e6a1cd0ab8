# Tests stixeld from outside: what it reads, checks, prints and reloads.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import signal
import time
import unittest

from harness import FREE, SMALL, TestCase, receive, until, without_origins, write_pair


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
        until(lambda: "debug" in i.http("/config")[2].split('"levels"')[1][:80], 30, "new level in /config")
        i.until_message("RELOADING=1")
        stamp = int(i.until_message("MONOTONIC_USEC=")[0].split("=")[1])
        self.assertLess(abs(stamp / 1e6 - time.monotonic()), 10)
        self.assertTrue(i.until_message("READY=1"))

        write("[log]\nlevels = info\n[stixels]\nwidth = 7\n[output]\nslots = 16\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "needs a restart" in i.text(), 30, "restart-only keys")
        line = [x for x in i.text().splitlines() if "needs a restart" in x][-1]
        self.assertNotIn("stixels.width", line)
        self.assertIn("output.slots", line)
        self.assertEqual(self.receive_columns(i), {22})

        write("[log]\nlevels = info\n[stereo]\np1 = many\nnonsense = 3\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "stay as they were" in i.text(), 30, "broken file")
        self.assertIn("nonsense", i.text())
        self.assertIn("many", i.text())
        self.assertIn(i.status()["state"], ("running", "degraded"))  # degraded: a sanitizer's engine is slow

        os.unlink(path)
        i.process.send_signal(signal.SIGHUP)
        until(lambda: i.text().count("stay as they were") == 2, 30, "missing file")
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
        until(lambda: i.status()["config"]["files"] == [files[0], files[2]], 30, "one file less")
        self.assertEqual(i.stop(), 0)

    def test_print_and_check(self):
        i = self.instance()
        code, out, _ = i.run_once(*SMALL, "--print-config")
        self.assertEqual(code, 0)
        path = os.path.join(i.top, "printed.conf")
        with open(path, "w") as f:
            f.write(out)
        code, again, err = i.run_once("-c", path, "--print-config")
        self.assertEqual((code, without_origins(again)), (0, without_origins(out)), err)
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertEqual(i.leftovers(), ["printed.conf"])

    def test_constants_of_the_models(self):
        """The keys belong in [model]. For a while their old sections work too: a notice then names the old place and
        the new one."""
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
        """Files and devices named by a key must exist. --check-config reports all errors at once, and a start
        reports the same ones."""
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
        # a camera may be connected later
        camera = ["-s", "source.kind=v4l2", "-s", "source.left=/dev/video98", "-s", "source.right=/dev/video99",
                  *no_model]
        self.assertEqual(i.run_once(*camera, "--check-config"), (0, "", ""))

    def test_check_says_why_a_pair_of_calibrations_is_refused(self):
        """The message is one sentence about the file that is wrong. It does not call an existing file missing."""
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
        """--check-config and a start end with the same exit code and the same sentences."""
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
        # images that cannot be read are refused too
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
        """/dev/null is an empty configuration file. A drop-in that is masked by a link to /dev/null is empty, too."""
        i = self.instance()
        self.assertEqual(i.run_once("-c", "/dev/null", *SMALL, "--check-config"), (0, "", ""))
        code, out, err = i.run_once("-c", "/dev/null")
        self.assertEqual((code, out), (78, ""))
        self.assertEqual(err, "[source] kind: not given, allowed v4l2, files, synthetic, shared\n")
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
        """--print-config prints a template with every key if there is no configuration file. The mandatory key is a
        comment."""
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
            self.assertEqual((code, said, err),
                             (78, "", "[source] kind: not given, allowed v4l2, files, synthetic, shared\n"))
        with open(path, "w") as f:
            f.write(out.replace("#kind =", "kind = synthetic"))
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertEqual(without_origins(i.run_once("-c", path, "--print-config")[1]),
                         out.replace("#kind =", "kind = synthetic"))

    def test_preset(self):
        """Files and -s count more than a preset. --print-config names where a value comes from."""
        i = self.instance()
        path = os.path.join(i.top, "tall.conf")
        with open(path, "w") as f:
            f.write("# tall\n[camera]\nheight_m = 3\n[stixels]\nwidth = 9\n[stereo]\np1 = 5\n")
        config = os.path.join(i.top, "c.conf")
        with open(config, "w") as f:
            f.write("[source]\nkind = synthetic\n[stixels]\nwidth = 7\n")
        code, out, err = i.run_once("-c", config, "--preset", path, "-s", "stereo.p1=6", "--print-config")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, "from %s:3\nheight_m = 3\n" % path)
        self.assertRegex(out, "from %s:4\nwidth = 7\n" % config)
        self.assertRegex(out, "from -s stereo.p1=6\np1 = 6\n")
        self.assertRegex(out, "from -s preset.name=%s\nname = %s\n" % (path, path))
        code, out, err = i.run_once("-c", config, "--preset", "tall", "--print-config")
        self.assertEqual((code, out), (64, ""))
        self.assertIn("--preset needs car, fast, indoor, robot of /", err)
        with open(config, "a") as f:
            f.write("[camera]\nheight_m = 2\n[stereo]\np1 = 6\n")
        self.assertIn("tall.conf has no effect", i.run_once("-c", config, "--preset", path, "--check-config")[2])
        with open(path, "a") as f:
            f.write("p3 = 5\n")
        code, out, err = i.run_once("-c", config, "--preset", path, "--check-config")
        self.assertEqual(code, 78)
        self.assertTrue(err.endswith(path + ":8: [stereo] p3: unknown key, did you mean p1?\n"), err)

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
