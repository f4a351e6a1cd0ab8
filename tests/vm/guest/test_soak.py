# Disconnects, disturbs and restores two vivid cameras at random for minutes. One daemon must survive. stixelctl
# endurance judges its counts, memory and descriptors.
#
#	tests/vm/test --build FOLDER --limit SECONDS --soak MINUTES[,SEED] soak
#
# SPDX-License-Identifier: Apache-2.0
import collections
import json
import os
import random
import signal
import subprocess
import time

from guest import TestCase, camera, camera_settings, control, load_vivid, run, unload, until, until_flows

LEFT, RIGHT = "/dev/video0", "/dev/video1"
DRIVER = "/sys/bus/platform/drivers/vivid"
WORDS = "/host/soak"  # minutes and seed
BACK = 60  # the daemon tries a camera that was absent for long only every few seconds, and the processor is emulated
# Checks of stixelctl endurance. The others judge time, which the cameras and this emulated processor decide, or a state
# that the events change.
JUDGED = ("restarts", "numbers", "counts", "memory", "descriptors")
# The daemon's memory may grow by this from the second to the fourth quarter of the soak. In the first quarter the
# daemon uses everything for the first time.
GROWTH_KIB = 1536


def minutes_and_seed():
    if not os.path.exists(WORDS):
        return 0.5, random.SystemRandom().randrange(1 << 30)
    with open(WORDS) as f:
        words = f.read().strip().split(",")
    return float(words[0]), int(words[1]) if len(words) > 1 else random.SystemRandom().randrange(1 << 30)


def driver(word):
    with open("%s/%s" % (DRIVER, word), "w") as f:
        f.write("vivid.0")


class Soak(TestCase):
    def setUp(self):
        super().setUp()
        load_vivid(2)
        self.addCleanup(unload, "vivid")

    def nodes_open(self):
        folder = "/proc/%d/fd" % self.i.process.pid
        links = []
        for name in os.listdir(folder):
            try:
                links.append(os.readlink(os.path.join(folder, name)))
            except FileNotFoundError:
                pass  # closed meanwhile
        return [link for link in links if link.startswith("/dev/video")]

    @staticmethod
    def control(device, **values):
        """Sets controls of a camera. Retries, because the previous event may have removed the camera before the
        daemon noticed."""
        def done():
            try:
                control(device, **values)
            except AssertionError as e:
                if "No such" not in str(e):
                    raise
                return False
            return True
        until(done, BACK, "%s, to set %s" % (device, values))

    # -- events --
    def unplugged(self):
        driver("unbind")
        # A node that is still open would keep its number. The camera would then come back under another number.
        self.i.until_state("no_camera", BACK)
        until(lambda: not self.nodes_open(), BACK, "closed cameras")
        time.sleep(self.random.choice([0.0, 0.3, 1.0, 4.0]))
        driver("bind")
        run("udevadm", "settle")
        until(lambda: os.path.exists(LEFT) and os.path.exists(RIGHT), BACK, "nodes")

    def lost_images(self):
        device = self.random.choice((LEFT, RIGHT))
        self.control(device, percentage_of_dropped_buffers=self.random.randrange(10, 80))
        time.sleep(self.random.uniform(0.5, 3.0))
        self.control(device, percentage_of_dropped_buffers=0)

    def damaged(self):
        self.control(self.random.choice((LEFT, RIGHT)), inject_v4l2_buf_flag_error=1)

    def failing_call(self):
        self.control(self.random.choice((LEFT, RIGHT)), inject_vidioc_qbuf_error=1)

    def dead_stream(self):
        self.control(self.random.choice((LEFT, RIGHT)), inject_fatal_streaming_error=1)

    def disconnected(self):
        self.control(self.random.choice((LEFT, RIGHT)), disconnect=1)

    def reloaded(self):
        for _ in range(self.random.randrange(1, 10)):
            self.i.process.send_signal(signal.SIGHUP)

    def stopped(self):
        self.i.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.1, 3.0))
        self.i.process.send_signal(signal.SIGCONT)

    # -- judgement --
    def assert_cameras_count_on(self, before):
        """Checks the counters of the cameras, which stixelctl endurance does not know. Returns the status."""
        status = self.i.status()
        frames = status["frames"]
        for side in ("left", "right"):
            now, was = camera(status, side), camera(before, side)
            self.assertGreaterEqual(now["captured"], was["captured"])
            self.assertGreaterEqual(now["captured"], frames["captured"] - frames["dropped"]["overload"], status)
            self.assertGreaterEqual(now["reconnects"], was["reconnects"])
        return status

    def start_endurance(self, seconds, descriptors):
        """descriptors: number of descriptors that the cameras hold. If no camera is unplugged in the first third of a
        short soak, or in its last, the daemon seems to have that many fewer or more."""
        return self.start("stixelctl", "-i", "test", "endurance", "--json", "--duration", "%.1f" % seconds, "--memory",
                          GROWTH_KIB, "--descriptors", descriptors, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)

    def assert_endured(self, endurance):
        out, err = endurance.communicate(timeout=BACK)
        self.assertIn(endurance.returncode, (0, 1), err)
        rows = json.loads(out)["checks"]
        for row in rows:
            print("%(check)-12s %(verdict)-10s %(figure)s" % row, flush=True)
        self.assertEqual({row["check"]: row["verdict"] for row in rows if row["check"] in JUDGED},
                         dict.fromkeys(JUDGED, "good"))

    def disturb(self, event, status):
        """Disturbs the cameras once. Returns the status after frames flow again."""
        published = status["frames"]["published"]
        event()
        self.assertIsNone(self.i.process.poll(), event.__name__)
        try:
            until_flows(self.i, BACK)
            self.i.until_published(published + self.random.randrange(1, 4), BACK)
        except AssertionError as e:
            raise AssertionError("after %s: %s; %s" % (event.__name__, e, self.i.status())) from None
        return self.assert_cameras_count_on(status)

    def test_unplugged_at_random(self):
        minutes, seed = minutes_and_seed()
        print("soak: %g minutes, seed %d" % (minutes, seed), flush=True)
        self.random = random.Random(seed)
        what = [self.unplugged] * 3 + [self.lost_images, self.damaged, self.failing_call, self.dead_stream,
                                       self.disconnected, self.reloaded, self.stopped]
        self.i = self.daemon(camera_settings(LEFT, RIGHT, size="320x180", fps=5, format="GREY",
                                             **{"stixels.width": "16"}))
        status = until_flows(self.i, BACK)
        cameras = len(self.nodes_open())
        endurance, done, seconds = None, collections.Counter(), minutes * 60
        quarter_ends = time.monotonic() + seconds / 4
        while not endurance or endurance.poll() is None:
            if not endurance and time.monotonic() >= quarter_ends:
                endurance = self.start_endurance(seconds * 3 / 4, cameras)
            event = self.random.choice(what)
            status = self.disturb(event, status)
            done[event.__name__] += 1
        print("soak: %d frames, %s" % (status["frames"]["published"],
                                       ", ".join("%d %s" % (n, k) for k, n in sorted(done.items()))), flush=True)
        self.assert_endured(endurance)
        self.assertEqual(self.i.stop(), 0)
        self.assertEqual([n for n in os.listdir("/dev/shm") if n.startswith("stixeld.")], [])
