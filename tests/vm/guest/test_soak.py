# Disconnects, disturbs and restores two vivid cameras at random for minutes. One daemon must survive and count
# everything.
#
#	tests/vm/test --build FOLDER --limit SECONDS --soak MINUTES[,SEED] soak
#
# SPDX-License-Identifier: Apache-2.0
import os
import random
import re
import signal
import statistics
import time

from guest import TestCase, camera, camera_settings, control, load_vivid, run, unload, until, until_flows

LEFT, RIGHT = "/dev/video0", "/dev/video1"
DRIVER = "/sys/bus/platform/drivers/vivid"
WORDS = "/host/soak"  # minutes and seed
BACK = 60  # the daemon tries a camera that was absent for long only every few seconds, and the processor is emulated
GROWTH_BYTES = 1 << 20


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

    # -- invariants --
    def assert_sound(self, before):
        """Checks and returns the current status, which must continue from `before`."""
        status = self.i.status()
        frames = status["frames"]
        self.assertEqual((status["pid"], status["epoch"]), (before["pid"], before["epoch"]))
        self.assertIn(frames["captured"] - frames["published"] - frames["dropped"]["overload"], range(0, 5), status)
        for count in ("captured", "published"):
            self.assertGreaterEqual(frames[count], before["frames"][count])
        for side in ("left", "right"):
            now, was = camera(status, side), camera(before, side)
            self.assertGreaterEqual(now["captured"], was["captured"])
            self.assertGreaterEqual(now["captured"], frames["captured"] - frames["dropped"]["overload"], status)
            self.assertGreaterEqual(now["reconnects"], was["reconnects"])
        self.assertEqual([f.number for f in self.ring.frames() if f.epoch != self.epoch], [])
        # numbers increase by one, as the counters do
        self.assertGreaterEqual(self.ring.live()[2], frames["published"])
        return status

    def memory(self):
        with open("/proc/%d/status" % self.i.process.pid) as f:
            return int(re.search(r"RssAnon:\s+(\d+) kB", f.read()).group(1)) * 1024

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.i.process.pid))

    def test_unplugged_at_random(self):
        minutes, seed = minutes_and_seed()
        print("soak: %g minutes, seed %d" % (minutes, seed), flush=True)
        self.random = random.Random(seed)
        what = [self.unplugged] * 3 + [self.lost_images, self.damaged, self.failing_call, self.dead_stream,
                                       self.disconnected, self.reloaded, self.stopped]
        self.i = self.daemon(camera_settings(LEFT, RIGHT, size="320x180", fps=5, format="GREY",
                                             **{"stixels.width": "16"}))
        status = until_flows(self.i, BACK)
        self.ring = self.i.ring()
        self.epoch = self.ring.frames()[-1].epoch
        files, memory, done = None, [], {}
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            event = self.random.choice(what)
            event()
            done[event.__name__] = done.get(event.__name__, 0) + 1
            self.assertIsNone(self.i.process.poll(), event.__name__)
            status = self.assert_sound(status)
            n = status["frames"]["published"]
            try:
                until_flows(self.i, BACK)
                self.i.until_published(n + self.random.randrange(1, 4), BACK)
            except AssertionError as e:
                raise AssertionError("after %s, seed %d: %s; %s" % (event.__name__, seed, e, self.i.status())) from None
            status = self.assert_sound(status)
            memory.append(self.memory())
            files = files or self.descriptors()
        until(lambda: self.descriptors() <= files, 10, "%d descriptors, now %d" % (files, self.descriptors()))
        quarters = [statistics.median(memory[len(memory) * q // 4:len(memory) * (q + 1) // 4] or memory)
                    for q in range(4)]
        print("soak: %d frames, %s; memory at quarters %s MiB, %d descriptors" % (
            status["frames"]["published"], ", ".join("%d %s" % (n, k) for k, n in sorted(done.items())),
            " ".join("%.2f" % (m / 2**20) for m in quarters), files), flush=True)
        if len(memory) >= 16:
            self.assertLess(quarters[3] - quarters[1], GROWTH_BYTES)
        self.assertEqual(self.i.stop(), 0)
        self.assertEqual([n for n in os.listdir("/dev/shm") if n.startswith("stixeld.")], [])
