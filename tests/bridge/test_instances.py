# The threads of an instance: their reports about an instance that cannot be read. An error must not end them.
# SPDX-License-Identifier: Apache-2.0
import os
import socket
import tempfile
import time
import types
import unittest
from unittest import mock

import support  # noqa: F401

import stixel
from stixel._classes import PublisherClasses
from stixel_bridge import instances
from stixel_bridge.sink import NO_IMAGES, Instance
from test_runner import Panic, until

FRONT = Instance("front", {})
LIFE = types.SimpleNamespace(publisher=stixel.Publisher.ALIVE, state=stixel.State.RUNNING, restarts=0)


class Reader:
    """Returns frames given by the test. Each call of next() takes one of them. An exception in the list is raised."""

    def __init__(self, frames):
        self.frames = frames

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def status(self):
        return LIFE

    def want_images(self, *_):
        pass

    def next(self, timeout):
        found = self.frames.pop(0) if self.frames else time.sleep(0.005)
        if isinstance(found, BaseException):
            raise found
        return found


def frame(number):
    return types.SimpleNamespace(number=number, missed=0, epoch=7, capture_left_ns=1 + number, ego=None)


class Source(unittest.TestCase):
    def start(self, opened, more=None):
        """Starts a source. Each attempt to open takes the next entry of the list, and an exception in the list is
        raised. The last entry is used again and again."""
        def opens(*_, **__):
            found = opened.pop(0) if len(opened) > 1 else opened[0]
            if isinstance(found, BaseException):
                raise found
            return Reader(found)

        self.said, self.got = [], []
        runner = types.SimpleNamespace(images=lambda instance: NO_IMAGES, put=lambda work: self.got.append(work))
        for patch in (mock.patch.object(stixel, "open", opens), mock.patch.object(instances, "RETRY_S", 0.02)):
            patch.start()
            self.addCleanup(patch.stop)
        source = instances.Source(FRONT, [runner], self.said.append, more)
        source.start()
        self.addCleanup(source.join, 5)
        self.addCleanup(source.stop)
        return source

    def test_one_that_can_no_longer_be_read_is_not_alive(self):
        source = self.start([[frame(1), stixel.StixelError(1, "not allowed")], stixel.StixelError(1, "not allowed")])
        until(lambda: source.why)
        until(lambda: source.publisher == "absent")
        self.assertEqual((source.publisher, source.state, source.frames), ("absent", "", 1))
        self.assertEqual(len([line for line in self.said if "tried again" in line]), 1)

    def test_a_panic_does_not_end_it(self):
        source = self.start([[frame(1), Panic("Rust")], [frame(2)]])
        until(lambda: source.frames == 2)
        self.assertTrue(source.is_alive())
        self.assertEqual((source.internal, source.publisher, source.why), (1, "alive", ""))
        self.assertIn("Panic: Rust (", self.said[0])

    def test_an_error_of_a_rig_delays_no_sink(self):
        def more(work):
            raise ValueError("rig")

        source = self.start([[frame(n) for n in range(3)]], more)
        until(lambda: source.internal == 3)
        self.assertEqual([work.frame.number for work in self.got], [0, 1, 2])
        self.assertEqual((source.publisher, len(self.said)), ("alive", 1))


class Reports(unittest.TestCase):
    def source(self, name):
        return types.SimpleNamespace(instance=Instance(name, {}), publisher="alive", state="running", internal=0,
                                     classes=PublisherClasses())

    def start(self, source, tell):
        self.said = []
        thread = instances.Reports(source, [types.SimpleNamespace(report=tell)], self.said.append)
        thread.start()
        self.addCleanup(thread.join, 5)
        self.addCleanup(thread.stop)
        return thread

    def test_daemons_that_hang_delay_no_other_and_the_end_is_in_time(self):
        with tempfile.TemporaryDirectory() as runtime, mock.patch.object(instances, "REPORT_S", 0.05), \
                mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": runtime}):
            threads, got = [], []
            for name in "abcd":
                os.makedirs(os.path.join(runtime, "stixeld", name))
                hangs = socket.socket(socket.AF_UNIX)
                self.addCleanup(hangs.close)
                hangs.bind(os.path.join(runtime, "stixeld", name, "status.sock"))
                hangs.listen(8)
                threads.append(self.start(self.source(name), lambda report: None))
            begun = time.monotonic()
            threads.append(self.start(self.source("e"), got.append))
            until(lambda: len(got) >= 3)
            self.assertLess(time.monotonic() - begun, 0.9)  # the answer of a hung instance times out after a second
            for thread in threads:
                thread.stop()
            begun = time.monotonic()
            for thread in threads:
                thread.join(5)
            self.assertLess(time.monotonic() - begun, 2.5)

    def test_an_error_does_not_end_it(self):
        got = []

        def tell(report):
            got.append(report)
            raise Panic("Rust")

        with mock.patch.object(instances, "REPORT_S", 0.01), \
                mock.patch.object(instances._daemon, "ask", lambda *_: None):
            source = self.source("front")
            thread = self.start(source, tell)
            until(lambda: source.internal >= 3)
            self.assertTrue(thread.is_alive())
        self.assertEqual(len(self.said), 1)


if __name__ == "__main__":
    unittest.main()
