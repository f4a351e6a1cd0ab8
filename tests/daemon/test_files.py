# Tests stixeld from outside with image files as source.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import shutil
import unittest

from harness import FREE, THREADS_ONLY, TestCase, receive, until, without_origins, write_pair


class Files(TestCase):
    ARGS = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1"]

    def run_files(self, i, *args):
        """Runs the daemon to its end. Returns (published, dropped by overload, unreadable) from the last line of the
        log."""
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
        # the broken pair does not count towards a requested number of frames
        self.assertEqual(self.run_files(i, "--frames", "6")[0], (6, 0, 1))

    def test_loop(self):
        i = self.instance()
        for n in range(3):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i, "-s", "source.loop=yes", "--frames", "20")[0], (20, 0, 0))


    def loses(self, spoil, *args, reason):
        """If images are spoiled while their loop runs, the daemon ends with 65 and logs the reason."""
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
            if THREADS_ONLY and name != "deleted":
                continue
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
        until(lambda: i.status()["frames"]["dropped"]["corrupt"] > 3, 60, "four corrupt pairs")
        i.until_published(i.status()["frames"]["published"] + 2)
        self.assertEqual(i.stop(), 0)


SENSOR = """%%YAML:1.0
sensor_type: camera
T_BS:
  cols: 4
  rows: 4
  data: [1, 0, 0, %g, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
resolution: [160, 96]
camera_model: pinhole
intrinsics: [150, 150, 80, 48]
distortion_model: radial-tangential
distortion_coefficients: [-0.05, 0.01, 0, 0]
"""


class Datasets(TestCase):
    """Published data sets: source.path alone gives pairs, calibration and capture times."""
    ARGS = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1"]
    START_NS = 1403715273262142976

    def euroc(self, folder, times_ms):
        """Makes a data set in which the right camera has one more image before the others."""
        for n, _ in enumerate(times_ms):
            write_pair(folder, "%d.pgm" % n, n)
        for side, cam in (("left", "cam0"), ("right", "cam1")):
            os.makedirs(folder + "/mav0/" + cam)
            os.rename(folder + "/" + side, folder + "/mav0/" + cam + "/data")
            with open(folder + "/mav0/" + cam + "/sensor.yaml", "w") as f:
                f.write(SENSOR % (0.1 if side == "right" else 0))
            with open(folder + "/mav0/" + cam + "/data.csv", "w") as f:
                f.write("#timestamp [ns],filename\r\n")
                if side == "right":
                    f.write("%d,early.pgm\r\n" % (self.START_NS - 50000000))
                for n, ms in enumerate(times_ms):
                    f.write("%d,%d.pgm\r\n" % (self.START_NS + ms * 1000000, n))
        write_pair(folder, "early.pgm", 99)
        os.rename(folder + "/right/early.pgm", folder + "/mav0/cam1/data/early.pgm")
        return folder

    def check(self, i, folder, *args):
        code, out, err = i.run_once(*self.ARGS, "-s", "source.path=" + folder, "--check-config", *args)
        self.assertEqual(out, "")
        return code, err

    def test_euroc_needs_no_other_setting(self):
        i = self.instance()
        times = [0, 100, 250, 300, 450, 500]
        folder = self.euroc(i.top + "/V1", times)
        found = "EuRoC: 6 pairs at 10 pairs/s; images without a partner: 0 left, 1 right; calibration of "
        self.assertEqual(self.check(i, folder), (0, "stixeld: " + found + "mav0/cam0/sensor.yaml and "
                                                 "mav0/cam1/sensor.yaml\n"))
        self.assertIn("of cam0/sensor.yaml and cam1/sensor.yaml", self.check(i, folder + "/mav0")[1])
        i.start(*self.ARGS, "-s", "source.path=" + folder, "-s", "source.loop=yes")
        s = i.until_published(3)
        self.assertIn("EuRoC sensor.yaml " + folder, s["camera"]["text"])
        config = json.loads(i.http("/config")[2])
        self.assertEqual(config["source"]["fps"]["value"], 10)
        self.assertEqual(config["source"]["fps"]["from"], folder + " (EuRoC)")
        self.assertIn(found, i.text())
        # Frames have the intervals of the time stamps, to the nanosecond, though a busy machine may lose pairs. A loop
        # goes on one mean interval, 100 ms, after the last pair.
        frames = receive(self.stream(i), 8)
        stamps = [f.left_ns for f in frames]
        known = {ms + 600 * loop for loop in range(40) for ms in times}
        starts = [ms for ms in times if all((t - stamps[0]) % 1000000 == 0 and
                                            (t - stamps[0]) // 1000000 + ms in known for t in stamps)]
        self.assertTrue(starts, [(t - stamps[0]) / 1e6 for t in stamps])
        self.assertEqual(i.stop(), 0)

    def test_settings_win(self):
        i = self.instance()
        folder = self.euroc(i.top + "/V1", [0, 10000, 20000])
        code, _, err = i.run_once(*self.ARGS, *FREE, "-s", "source.path=" + folder)
        self.assertEqual(code, 0, err)
        self.assertIn("3 frames published", err)  # at full speed, although the stamps are 10 s apart
        own = ["-s", "camera.fx=100", "-s", "camera.fy=100", "-s", "camera.cx=80", "-s", "camera.cy=48",
               "-s", "camera.baseline_m=0.2"]
        code, err = self.check(i, folder, *own)
        self.assertEqual((code, "calibration" in err), (0, False), err)
        code, err = self.check(i, folder, "-s", "camera.calibration=")
        self.assertEqual((code, "calibration" in err), (0, False), err)
        code, out, err = i.run_once(*self.ARGS, "-s", "source.path=" + folder, "-s", "camera.baseline_m=0.2",
                                    "--print-config")
        self.assertEqual(code, 0, err)
        self.assertIn("\nbaseline_m = 0.2\n", out)
        self.assertIn("from the time stamps\n#fps = 0.1\n", out)
        # a printed configuration gives the same settings
        with open(i.top + "/printed.conf", "w") as f:
            f.write(out)
        code, again, err = i.run_once("-c", i.top + "/printed.conf", "--print-config")
        self.assertEqual((code, without_origins(again)), (0, without_origins(out)), err)

    def test_what_is_missing_is_named(self):
        i = self.instance()
        folder = self.euroc(i.top + "/V1", [0, 100])
        with open(folder + "/mav0/cam1/data.csv", "a") as f:
            f.write("garbage\n")
        for args in ([], ["--check-config"], FREE):
            code, _, err = i.run_once(*self.ARGS, "-s", "source.path=" + folder, *args)
            self.assertEqual(code, 65, err)
            self.assertIn("/mav0/cam1/data.csv:5: found 'garbage', expected TIME_NS,NAME", err)
        os.unlink(folder + "/mav0/cam1/data.csv")
        code, err = self.check(i, folder)
        self.assertEqual(code, 78, err)
        self.assertIn("EuRoC: the time stamps " + folder + "/mav0/cam1/data.csv are missing", err)
        os.unlink(folder + "/mav0/cam0/sensor.yaml")
        code, err = self.check(i, folder)
        self.assertEqual(code, 78, err)
        self.assertIn("EuRoC: the calibration " + folder + "/mav0/cam0/sensor.yaml is missing; name one in "
                      "camera.calibration", err)

    def test_kitti_without_its_calibration_is_questioned(self):
        i = self.instance()
        folder = i.top + "/00"
        for n in range(3):
            write_pair(folder, "%06d.pgm" % n, n)
        os.rename(folder + "/left", folder + "/image_0")
        os.rename(folder + "/right", folder + "/image_1")
        code, err = self.check(i, folder)
        self.assertEqual((code, "KITTI" in err), (0, False), err)  # a folder of pairs, of no data set
        with open(folder + "/times.txt", "w") as f:
            f.write("0.000000e+00\n1.036224e-01\n2.072448e-01\n")
        code, err = self.check(i, folder)
        self.assertEqual(code, 0, err)
        self.assertIn("stixeld: KITTI: 3 pairs at 9.65 pairs/s\n", err)
        self.assertIn("warning: KITTI: the calibration " + folder + "/calib.txt is missing: ", err)
        with open(folder + "/calib.txt", "w") as f:
            f.write("P0: 150 0 80 0 0 150 48 0 0 0 1 0\nP1: 150 0 80 -30 0 150 48 0 0 0 1 0\n")
        self.assertEqual(self.check(i, folder),
                         (0, "stixeld: KITTI: 3 pairs at 9.65 pairs/s; calibration of calib.txt\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
