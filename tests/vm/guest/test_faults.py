# Tests each fault that vivid can simulate, one after the other: state, counters and recovery of the daemon.
#
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import time

from guest import TestCase, camera, camera_settings, control, flows, load_vivid, run, unload, until, until_flows

LEFT, RIGHT = "/dev/video0", "/dev/video1"
DRIVER = "/sys/bus/platform/drivers/vivid"
# Seconds until a camera is back. The daemon tries a refused camera again after one second, then after two.
BACK = 12


class Faults(TestCase):
    """Each test has cameras in their initial state, and a daemon that must stay the same process."""

    def setUp(self):
        super().setUp()
        load_vivid(2)
        self.addCleanup(unload, "vivid")
        self.i = None

    def begin(self, absent=False, **more):
        settings = {"size": "320x180", "fps": 5, "format": "GREY", "stixels.width": "16"}
        settings.update(more)
        self.i = self.daemon(camera_settings(LEFT, RIGHT, **settings))
        self.addCleanup(self.end)
        return self.i.until_state("no_camera", 10) if absent else until_flows(self.i, 20)

    def end(self):
        """Checks that the daemon is still the same process and ends with code 0."""
        self.assertIsNone(self.i.process.poll(), "stixeld has ended by itself")
        self.assertEqual(self.i.stop(), 0)

    def until_camera(self, side, condition, seconds=10):
        """Returns the status when this camera's entry meets the condition."""
        return until(lambda: (lambda s: s if condition(camera(s, side)) else None)(self.i.status()), seconds,
                     "%s camera" % side)

    def until_lost_and_back(self, reason):
        """Waits for no_camera with the expected reason, then for running. Returns the status."""
        until(lambda: reason in self.i.text(), 5, "'%s' in the log" % reason)
        status = until(lambda: (lambda s: s if flows(s) and
                                camera(s, "left")["reconnects"] == 1 else None)(self.i.status()), BACK, "running again")
        n = status["frames"]["published"]
        self.i.until_published(n + 2)
        self.assertIn("no_camera", self.i.text())
        return self.i.status()

    # -- lost or damaged pictures: no camera is reopened --
    def test_lost_pictures(self):
        self.begin()
        control(LEFT, percentage_of_dropped_buffers=50)
        status = self.until_camera("left", lambda c: c["sequence_gaps"] >= 8, 20)
        control(LEFT, percentage_of_dropped_buffers=0)
        # the right images of these times have no partner
        self.assertGreaterEqual(camera(status, "right")["dropped"]["unpaired"], 4)
        self.assertEqual(camera(status, "left")["reconnects"], 0)
        self.assert_accounted(status)
        n = status["frames"]["published"]
        self.i.until_published(n + 3)
        self.assertTrue(flows(self.i.status()))

    def test_picture_with_error_flag(self):
        self.begin()
        control(RIGHT, inject_v4l2_buf_flag_error=1)
        status = self.until_camera("right", lambda c: c["dropped"]["error_flag"] == 1)
        self.assertEqual(camera(status, "right")["errors"], 1)
        self.assertEqual(camera(status, "left")["dropped"]["error_flag"], 0)
        self.assertEqual(status["frames"]["dropped"]["corrupt"], 1)
        self.i.until_published(status["frames"]["published"] + 3)
        status = self.i.status()
        self.assertEqual((flows(status), camera(status, "right")["reconnects"]), (True, 0))
        self.assert_accounted(status)

    def test_sequence_number_wraps(self):
        # the numbers start 128 pictures before 2^32: they overflow after two seconds at 60 pictures per second
        for device in (LEFT, RIGHT):
            control(device, wrap_sequence_number=1)
        self.begin(fps=60)
        first = self.i.status()
        status = self.until_camera("left", lambda c: c["captured"] + c["sequence_gaps"] > 200, 30)
        took = (status["uptime_s"] - first["uptime_s"])
        given = [camera(s, "left")["captured"] + camera(s, "left")["sequence_gaps"] for s in (first, status)]
        self.assertLess(abs(given[1] - given[0] - 60 * took), 40, (first, status))
        self.assertEqual(camera(status, "left")["reconnects"], 0)

    def test_time_wraps(self):
        # The seconds soon exceed 32 bits. Timestamps still come from one clock, and pairs continue.
        for device in (LEFT, RIGHT):
            control(device, wrap_timestamp=2)
        self.begin()
        n = self.i.status()["frames"]["published"]
        status = self.i.until_published(n + 5)
        self.assertTrue(flows(status), status)
        self.assertEqual(camera(status, "left")["reconnects"], 0)

    # -- calls that fail while streaming: both cameras are reopened --
    def test_qbuf_fails(self):
        self.begin()
        control(LEFT, inject_vidioc_qbuf_error=1)
        self.until_lost_and_back("%s: VIDIOC_QBUF: " % LEFT)

    def test_streaming_fails_for_good(self):
        self.begin()
        control(RIGHT, inject_fatal_streaming_error=1)
        self.until_lost_and_back("camera lost: %s" % RIGHT)

    def test_disconnected(self):
        # The node stays. The driver accepts it again after the last close.
        self.begin()
        control(LEFT, disconnect=1)
        self.until_lost_and_back("camera lost: %s" % LEFT)

    # -- calls that fail at the start --
    def test_reqbufs_fails(self):
        control(LEFT, inject_vidioc_reqbufs_error=1)
        self.begin()
        self.assertIn("%s: VIDIOC_REQBUFS: " % LEFT, self.i.text())

    def test_streamon_fails(self):
        control(RIGHT, inject_vidioc_streamon_error=1)
        self.begin()
        self.assertIn("%s: VIDIOC_STREAMON: " % RIGHT, self.i.text())

    # -- cameras that cannot be a pair --
    def test_times_that_mean_different_things(self):
        control(RIGHT, timestamp_source=1)  # start of exposure
        self.begin(absent=True)
        until(lambda: "they cannot be paired" in self.i.text(), 10, "the reason")
        self.assertEqual(self.i.status()["frames"]["published"], 0)
        self.assertEqual(self.i.health()[0], 503)
        control(LEFT, timestamp_source=1)
        status = until_flows(self.i, BACK)
        self.assertEqual(status["source"]["stamp"], "start of exposure")

    # -- another process uses the camera, or the camera is absent --
    def test_in_use_by_another(self):
        other = self.start("v4l2-ctl", "-d", RIGHT, "--stream-mmap", "--stream-count=0", stderr=subprocess.DEVNULL)
        time.sleep(1)
        status = self.begin(absent=True)
        self.assertIn(RIGHT, status["reason"])
        self.assertIn("busy", status["reason"])
        other.kill()
        other.wait()
        until_flows(self.i, BACK)

    def test_driver_removed_and_back(self):
        self.begin()
        lost = self.i.status()["frames"]["captured"]
        with open(DRIVER + "/unbind", "w") as f:
            f.write("vivid.0")
        status = self.i.until_state("no_camera", 5)
        self.assertIn("No such", status["reason"])
        beat = self.i.ring().live()[1]
        until(lambda: self.i.ring().live()[1] > beat, 3, "heartbeat while the camera is absent")
        time.sleep(3)  # the daemon now looks for the camera only every few seconds
        with open(DRIVER + "/bind", "w") as f:
            f.write("vivid.0")
        run("udevadm", "settle")
        self.assertTrue(os.path.exists(LEFT) and os.path.exists(RIGHT))
        began = time.monotonic()
        status = until(lambda: (lambda s: s if s["frames"]["captured"] > lost else None)(self.i.status()), 10, "a pair")
        # inotify reports the camera, so it takes no seconds
        self.assertLess(time.monotonic() - began, 1.5)
        self.assertEqual(camera(status, "left")["reconnects"], 1)
        until_flows(self.i)
