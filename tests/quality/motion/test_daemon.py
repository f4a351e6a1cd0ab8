# Tests what a daemon says about motion: speed, and a range that is right or wrong, in status, metrics and doctor.
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys
import tempfile
import unittest

from harness import TestCase, until

CTL = os.environ["STIXELCTL"]
FRAMES = os.environ["STIXEL_MOTION_FRAMES"]
SIZE = "560x180"
MOTION = ["-s", "motion.mode=pair", "-s", "engine.backend=cpu", "-s", "engine.threads=2", "-s", "stereo.disparities=64",
          "-s", "source.fps=10"]
TRAFFIC = ["-s", "source.kind=synthetic", "-s", "source.scene=traffic", "-s", "source.size=" + SIZE]


def motion(i):
    return i.status()["motion"]


class Motion(TestCase):
    def files(self, folder, shift):
        subprocess.run([FRAMES, "--scene", "traffic", "--seed", "4", "--size", SIZE, "--shift", str(shift), "-n", "24",
                        folder], check=True)
        with open(os.path.join(folder, "calib.txt")) as f:
            camera = dict(line.split(": ") for line in f.read().splitlines())
        keys = ["fx", "fy", "cx", "cy", "baseline_m", "height_m"]
        return ["-s", "source.kind=files", "-s", "source.left=%s/*_left.png" % folder,
                "-s", "source.right=%s/*_right.png" % folder, "-s", "source.loop=yes",
                *(a for k in keys for a in ("-s", "camera.%s=%s" % (k, camera[k])))]

    def doctor(self, i):
        link = os.path.join(i.top, "stixeld")  # a program finds the instance here
        if not os.path.exists(link):
            os.symlink(i.run, link)
        out = subprocess.run([CTL, "-i", i.name, "doctor"], env=i.environment({"XDG_RUNTIME_DIR": i.top}),
                             capture_output=True, text=True).stdout
        self.assertIn("images", out)
        return [line for line in out.splitlines() if line.split()[1:2] == ["range"]]

    def test_right_range(self):
        i = self.instance()
        i.start(*TRAFFIC, *MOTION)
        until(lambda: motion(i)["range"]["text"] and motion(i)["frames"]["known"] > 2, what="a range that is known")
        m = until(lambda: [m for m in [motion(i)] if m["state"] == "found"], what="a frame with a step")[0]
        self.assertTrue(1 < m["speed_m_s"] < 25, m)
        self.assertLess(abs(m["yaw_rate_deg_s"]), 10)
        self.assertLess(abs(m["range"]["error_percent"]), 4)
        self.assertGreater(i.status()["latency_us"]["motion"]["p50"], 0)
        self.assertTrue(0 < m["frames"]["unknown"] < m["frames"]["known"] + 9, m)  # the first frame is unknown
        metrics = i.http("/metrics")[2]
        self.assertIn("\nstixeld_range_offset_pixels ", metrics)
        for motion_is, least in (("known", m["frames"]["known"]), ("unknown", 1)):
            found = re.search(r'\nstixeld_frames_by_motion_total\{motion="%s"\} (\d+)\n' % motion_is, metrics)
            self.assertGreaterEqual(int(found.group(1)), least)
        # readers get it: a frame with the step, and records of velocities between stixels and images
        moved = until(lambda: [f for f in i.ring().frames() if f.ego_known], what="a frame with a step")[-1]
        self.assertTrue(50e6 < moved.motion_span_ns < 360e6)
        self.assertEqual(len(moved.motion), moved.count)
        self.assertIsNone(moved.objects)  # nothing follows them
        self.assertEqual({state for *_, state in moved.motion} - {0, 1, 2}, set())
        self.assertTrue(any(sigma_x and sigma_z for _, _, sigma_x, sigma_z, *_ in moved.motion))
        # new contexts for another key: what is known goes on
        code, text = i.order("stereo.p1=9")
        self.assertEqual(code, 200, text)
        i.until_published(i.status()["frames"]["published"] + 2)
        self.assertTrue(motion(i)["range"]["text"])
        self.assertEqual(i.order("motion.mode=off")[0], 200)
        i.until_published(i.status()["frames"]["published"] + 2)
        m = motion(i)
        self.assertEqual((m["mode"], m["state"], m["speed_m_s"], m["range"]["text"]), ("off", None, None, None))
        self.assertEqual(self.doctor(i), [])
        self.assertNotIn("by_motion", i.http("/metrics")[2])
        self.assertEqual(i.order("motion.mode=filter")[0], 200)
        until(lambda: motion(i)["state"] == "found", what="a frame with a step")
        self.assertEqual(motion(i)["mode"], "filter")
        first = i.ring().live()[2]
        until(lambda: [f for f in i.ring().frames() if f.number > first and {1, 2} & {m[-1] for m in f.motion}],
              what="a stixel that stands or moves")
        # objects, with an identity that lasts; those that are known to move give their velocity to their stixels
        def moving():
            return {f.number: f for f in i.ring().frames()
                    if f.number > first and f.objects and 2 in [state for _, state in f.objects]}
        seen = {}
        until(lambda: seen.update(moving()) or len(seen) > 3, what="objects that move")
        for f in seen.values():
            ids = [each for each, _ in f.objects]
            self.assertTrue(ids == sorted(set(ids)) and ids[0] > 0, ids)
            self.assertLessEqual(max(f.object_of), len(ids))
            for number, (*_, state) in zip(f.object_of, f.motion):
                if number and f.objects[number - 1][1] == 2:
                    self.assertEqual(state, 2)
        self.assertTrue(any(f.object_of.count(1 + [s for _, s in f.objects].index(2)) > 1 for f in seen.values()))
        known = [{each for each, _ in f.objects} for f in seen.values()]
        self.assertTrue(any(a & b for a, b in zip(known, known[1:])), known)
        # a new chain, as after another mode or another number of stixels, never uses an identity again
        for orders in ("motion.mode=pair", "motion.mode=filter"), ("stixels.width=8",):
            used = max(each for f in i.ring().frames() for each, _ in f.objects or [(0, 0)])
            self.assertGreater(used, 0)
            for each in orders:
                code, text = i.order(each)
                self.assertEqual(code, 200, text)
            first = int(re.search(r"from frame (\d+) on", text).group(1))
            f = until(lambda: [f for f in i.ring().frames() if f.number >= first and f.objects], what="objects")[0]
            self.assertGreater(min(each for each, _ in f.objects), used)
            self.assertLessEqual(max(f.object_of), len(f.objects))
        self.assertEqual(i.stop(), 0)

    def test_wrong_range(self):
        with tempfile.TemporaryDirectory() as folder:
            i = self.instance()
            i.start(*self.files(folder, 1.5), *MOTION)
            until(lambda: motion(i)["range"]["wrong"], what="a range that is wrong")
            r = motion(i)["range"]
            self.assertLess(abs(r["offset_px"] - 1.5), 0.4, r)
            self.assertRegex(r["text"], r"^at \d+ m distances are .* % \(\+-.*\) too long: offset")
            said = self.doctor(i)
            self.assertEqual(len(said), 1)
            self.assertRegex(said[0], "^warning +range +at .* too long: .*calibrate the cameras again")
            # applied, the frames have the disparities of cameras that are not shifted
            self.assertEqual(i.order("motion.range_offset=apply")[0], 200)
            until(lambda: not motion(i)["range"]["wrong"], what="an offset that is applied")
            r = motion(i)["range"]
            self.assertLess(abs(r["applied_px"] - 1.5), 0.4, r)
            self.assertRegex(r["text"], r"; \+1\.\d\d px are added to the disparities of stixels and road$")
            self.assertIn("too long" if r["error_percent"] > 1 else "px are added", self.doctor(i)[0])
            self.assertGreaterEqual(i.ring().frames()[-1].range_applied, r["applied_px"] - 0.2)
            self.assertLess(abs(r["offset_px"]), 0.4)  # what is still missing
            # other stixels need another chain: distances do not jump
            self.assertEqual(i.order("stixels.width=8")[0], 200)
            i.until_published(i.status()["frames"]["published"] + 2)
            f = i.ring().frames()[-1]
            self.assertEqual(f.columns, 70)
            self.assertGreaterEqual(f.range_applied, r["applied_px"] - 0.2)
            # nor do they if motion was off meanwhile
            self.assertEqual(i.order("motion.mode=off")[0], 200)
            i.until_published(i.status()["frames"]["published"] + 2)
            self.assertEqual(i.ring().frames()[-1].range_applied, 0)
            self.assertEqual(i.order("motion.mode=pair")[0], 200)
            i.until_published(i.status()["frames"]["published"] + 2)
            self.assertGreaterEqual(i.ring().frames()[-1].range_applied, r["applied_px"] - 0.2)
            self.assertEqual(i.order("motion.range_offset=off")[0], 200)
            i.until_published(i.status()["frames"]["published"] + 2)
            self.assertEqual((motion(i)["range"]["text"], self.doctor(i)[0].split()[0]), (None, "ok"))
            self.assertEqual(i.ring().frames()[-1].range_applied, 0)
            self.assertEqual(i.stop(), 0)

    def test_refusals(self):
        i = self.instance()
        code, _, err = i.run_once(*TRAFFIC, *MOTION, "-s", "camera.baseline_m=0")
        self.assertEqual(code, 78)
        self.assertIn("motion.mode = pair needs a camera: fx, fy and baseline", err)
        env = {"STIXEL_MODULE_PATH": os.path.join(os.environ["STIXELD_MODULES"], "fake-module-good.so")}
        code, _, err = i.run_once(*TRAFFIC, *MOTION, "-s", "engine.backend=cuda", env=env)
        self.assertEqual(code, 78)
        self.assertIn("motion.mode = pair: only engine.backend = cpu or reference computes it", err)
        i.start(*TRAFFIC, "-s", "engine.backend=cuda", env=env)
        code, text = i.order("motion.mode=pair")
        self.assertEqual(code, 422, text)
        self.assertIn("only engine.backend = cpu or reference computes it", text)
        self.assertEqual(motion(i)["mode"], "off")
        self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
