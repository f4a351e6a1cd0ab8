"""A reader of another machine over a test transport: frames, ends, damage, waiting, and the other machine's clock.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import math
import pickle
import select
import threading
import time
import unittest
from unittest import mock

import support
import stixel
from stixel import _clock, _remote
from support import until

OFFSET_NS = 5_000_000_000  # offset of the other clock, ns: it is ahead


def frame(number, epoch=1, **more):
    return support.pack([[{"row_bottom": 5}]], epoch=epoch, number=number, **more)


class Transport(_remote.Transport):
    """A transport that passes on the test's data."""

    def __init__(self, there=True):
        super().__init__("instance 'x' of the test")
        self.there = there
        self.images = []
        self.asked = 0
        self.offset_ns = OFFSET_NS
        self.stopped = False

    def start(self, inbox):
        self.inbox = inbox
        if self.there:
            inbox.arrived()

    def want(self, images):
        self.images.append(sorted(images))

    def clock_ns(self):
        self.asked += 1
        return None if self.offset_ns is None else time.monotonic_ns() + self.offset_ns

    def stop(self):
        self.stopped = True


class Remote(support.TestCase):
    def remote(self, there=True, **more):
        self.transport = Transport(there)
        reader = _remote.RemoteReader(self.transport, **more)
        self.addCleanup(reader.close)
        self.inbox = self.transport.inbox
        return reader

    def push(self, *numbers, epoch=1):
        for number in numbers:
            self.inbox.push(frame(number, epoch))


class Frames(Remote):
    def test_in_order_and_what_is_missing(self):
        reader = self.remote()
        self.assertIsNone(reader.next())
        self.push(100, 101, 101, 99, 104)  # repeated and late frames are dropped
        got = [reader.next() for _ in range(4)]
        self.assertEqual([f and (f.number, f.missed) for f in got], [(100, 0), (101, 0), (104, 2), None])
        self.push(105, 106, 108)
        f = reader.latest()
        self.assertEqual((f.number, f.missed), (108, 3))
        s = reader.status()
        self.assertEqual((s.publisher, s.epoch, s.head, s.taken, s.lost, s.skipped, s.corrupt),
                         (stixel.Publisher.ALIVE, 1, 108, 4, 2, 3, 0))
        self.assertEqual(f.raw, frame(108))

    def test_what_waits_is_bounded(self):
        reader = self.remote()
        self.push(*range(1, 101))
        got = [reader.next().number for _ in range(8)]
        self.assertEqual((got, reader.next()), (list(range(93, 101)), None))
        self.push(102, *range(103, 113))
        f = reader.next()
        self.assertEqual((f.number, f.missed, reader.status().lost), (105, 4, 4))

    def test_damaged_and_foreign_bytes(self):
        reader = self.remote()
        whole = bytearray(frame(1))
        whole[-3] ^= 1
        for data in (b"", b"no frame", bytes(whole), b"x" * 5000):
            self.inbox.push(data)
        self.push(2)
        with self.assertRaisesRegex(stixel.Damaged, "instance 'x' of the test: a damaged frame"):
            reader.next()  # one exception for all damaged frames
        self.assertEqual((reader.next().number, reader.status().corrupt), (2, 4))
        self.inbox.push(frame(3, abi_major=2))
        with self.assertRaisesRegex(stixel.OtherVersion, "another major version"):
            reader.next()
        self.inbox.push(b"more")
        self.push(4)
        self.assertEqual(next(reader).number, 4)  # iteration skips the damaged bytes

    def test_ends(self):
        for died, kind in ((False, stixel.Ended), (True, stixel.Died)):
            reader = self.remote()
            self.push(1)
            self.inbox.left(died)
            self.assertEqual(reader.next().number, 1)  # earlier frames are read first
            for call in (reader.next, reader.latest, reader.wait):
                with self.assertRaises(kind) as e:
                    call(5)
                self.assertEqual(type(e.exception), kind)
            self.assertEqual(reader.status().publisher, stixel.Publisher.DIED if died else stixel.Publisher.ENDED)
            with self.assertRaises(stixel.NotRunning):
                reader.reopen()
            self.inbox.arrived()
            self.push(7, epoch=2)
            with self.assertRaises(kind):  # stays so until the reader is reopened
                reader.next()
            reader.reopen()
            self.assertEqual((reader.next().epoch, reader.status().publisher), (2, stixel.Publisher.ALIVE))

    def test_another_publisher(self):
        reader = self.remote()
        self.push(1, 2)
        self.push(1, 2, epoch=2)
        self.push(3)  # the earlier publisher is known, so its frame is dropped
        self.assertEqual(reader.latest().number, 2)
        for call in (reader.next, reader.latest, reader.wait, reader.__next__):
            with self.assertRaisesRegex(stixel.Restarted, "another publisher has taken the name"):
                call()
        reader.reopen()
        self.assertEqual([(f.epoch, f.number, f.missed) for f in (reader.next(), reader.next())],
                         [(2, 1, 0), (2, 2, 0)])
        self.assertEqual((reader.next(), reader.status().restarts), (None, 1))

    def test_one_frame_of_another_publisher_silences_none(self):
        reader = self.remote(follow=True)
        now = 1000.0
        with mock.patch.object(_remote.time, "monotonic", lambda: now):
            self.push(7, 8)
            self.push(1, epoch=2)  # a frame of another publisher with the same name
            for number in (9, 10):
                self.push(number)
            self.assertEqual([reader.next().epoch for _ in range(3)], [1, 1, 2])
            self.assertEqual(reader.status().corrupt, 2)
            now += 3.1  # the other publisher sends nothing in this time
            self.push(11, 12)
            self.push(2, epoch=2)  # the other publisher sends again
            self.assertEqual([(f.epoch, f.number, f.missed) for f in (reader.next(), reader.next())],
                             [(1, 11, 2), (1, 12, 0)])
            self.assertEqual((reader.next(), reader.status().corrupt, reader.status().lost), (None, 3, 2))
            self.push(1, epoch=3)
            self.inbox.left(True)
            self.inbox.arrived()
            self.push(13)  # the connection broke and was restored
            self.assertEqual([reader.next().epoch, reader.next().number], [3, 13])
            self.assertEqual(reader.status().head, 13)

    def test_a_number_that_cannot_be_silences_none(self):
        reader = self.remote()
        now = 1000.0
        with mock.patch.object(_remote.time, "monotonic", lambda: now):
            self.push(1, 2, 2**64 - 2, 3)
            self.assertEqual([reader.next().number for _ in range(3)], [1, 2, 3])
            self.assertEqual((reader.status().corrupt, reader.status().lost), (1, 0))
            self.push(30_000, 4)  # a plausible number: it holds until the publisher has been silent for a while
            self.assertEqual([reader.next().number, reader.next()], [30_000, None])
            now += 3.1
            self.push(30_000, 5, 6)
            self.assertEqual([(f.number, f.missed) for f in (reader.next(), reader.next())], [(5, 0), (6, 0)])
            now += 3600  # the connection was cut off for long
            self.push(108_000)
            self.assertEqual(reader.next().missed, 107_993)

    def test_following(self):
        reader = self.remote(there=False, follow=True)
        self.assertFalse(reader.wait(0.05))
        self.assertEqual(reader.status().publisher, stixel.Publisher.ABSENT)
        self.inbox.arrived()
        self.push(1, 2)
        self.inbox.left(True)
        self.assertEqual([reader.next().number, reader.next().number, reader.next()], [1, 2, None])
        self.inbox.arrived()
        self.push(3, epoch=2)
        f = reader.next(5)
        self.assertEqual((f.epoch, f.number, f.missed, reader.status().restarts), (2, 3, 2, 1))
        self.push(4, epoch=2)
        self.push(1, epoch=3)
        self.assertEqual(reader.latest().epoch, 3)
        self.inbox.broke(stixel.NotAllowed(13, "no more"))
        with self.assertRaisesRegex(stixel.NotAllowed, "no more"):
            reader.next(5)

    def test_nobody(self):
        with self.assertRaisesRegex(stixel.NotRunning, "instance 'x' of the test: no publisher of this name"):
            self.remote(there=False)
        self.assertTrue(self.transport.stopped)

    def test_what_the_other_side_says(self):
        reader = self.remote()
        self.inbox.reported(stixel.Publisher.STALLED, stixel.State.NO_CAMERA, "1.2.3")
        s = reader.status()
        self.assertEqual((s.publisher, s.state, s.version), (stixel.Publisher.STALLED, stixel.State.NO_CAMERA, "1.2.3"))
        self.assertLess(s.heartbeat_age, 1)
        self.inbox.reported(stixel.Publisher.ALIVE, stixel.State.RUNNING, "1.2.3")
        self.assertEqual(reader.status().publisher, stixel.Publisher.ALIVE)
        self.inbox._heard -= 3.1  # silence
        self.assertEqual(reader.status().publisher, stixel.Publisher.STALLED)

    def test_images(self):
        reader = self.remote(images="left")
        reader.want_images("disparity", "left")
        reader.want_images()
        self.assertEqual(self.transport.images, [["left"], ["disparity", "left"], []])


class Waiting(Remote):
    def test_wakes(self):
        reader = self.remote()
        threading.Timer(0.05, self.push, (1,)).start()
        began = time.monotonic()
        self.assertTrue(reader.wait(20))
        self.assertEqual(reader.next(20).number, 1)
        self.assertLess(time.monotonic() - began, 10)

    def test_beside_other_descriptors(self):
        reader = self.remote()
        ready = lambda: bool(select.select([reader], [], [], 0)[0])  # noqa: E731
        self.push(1)
        self.assertTrue(ready())
        self.assertEqual((reader.next().number, reader.next()), (1, None))
        self.assertFalse(ready())
        self.push(2, 3)
        self.assertTrue(ready())
        self.assertEqual((reader.latest().number, reader.next(), ready()), (3, None, False))
        self.inbox.push(b"bad")
        self.assertTrue(ready())
        with self.assertRaises(stixel.Damaged):
            reader.next()
        self.assertIsNone(reader.next())
        self.inbox.left(False)
        self.assertTrue(ready())

    def test_asyncio(self):
        reader = self.remote()

        async def read():
            return [f.number async for f in reader]

        threading.Timer(0.05, self.push, (1, 2)).start()
        threading.Timer(0.10, self.inbox.left, (False,)).start()
        self.assertEqual(asyncio.run(asyncio.wait_for(read(), 20)), [1, 2])

    def test_closed_while_it_waits(self):
        reader = self.remote()
        threading.Timer(0.05, reader.close).start()
        with self.assertRaisesRegex(ValueError, "closed while it waited"):
            reader.next(None)
        until(lambda: self.transport.stopped)
        with self.assertRaisesRegex(ValueError, "the reader is closed"):
            reader.status()


class OtherClock(Remote):
    def test_age(self):
        reader = self.remote()
        captured = time.monotonic_ns() + OFFSET_NS - 70_000_000
        self.inbox.push(frame(1, capture_left_ns=captured, capture_right_ns=captured))
        f = reader.next()
        s = reader.status()
        self.assertAlmostEqual(s.clock_offset, OFFSET_NS / 1e9, delta=s.clock_uncertainty)
        self.assertLess(s.clock_uncertainty, 0.01)
        self.assertGreaterEqual(f.age(), 0.07 - s.clock_uncertainty)
        self.assertLess(f.age(), 5)
        self.assertEqual(f.captured_ns, captured)  # the bytes of the frame stay unchanged
        self.assertEqual(pickle.loads(pickle.dumps(f)).clock_offset_ns, f.clock_offset_ns)
        self.assertEqual(stixel.load(f.raw).clock_offset_ns, 0)

    def test_until_it_is_known_ages_are_not(self):
        reader = self.remote()
        self.transport.offset_ns = None  # the other clock does not answer
        self.inbox.left(True)
        self.inbox.arrived()
        self.push(1)
        f = reader.next()
        self.assertIsNone(f.clock_offset_ns)
        self.assertTrue(math.isnan(f.age()))
        self.assertEqual((reader.status().clock_offset, reader.status().clock_uncertainty), (None, None))
        self.transport.offset_ns = -OFFSET_NS  # restarted
        self.inbox.arrived()
        until(lambda: reader.status().clock_offset is not None)
        self.assertAlmostEqual(reader.status().clock_offset, -OFFSET_NS / 1e9, delta=0.05)

    def test_estimate(self):
        offsets = _clock.Offsets()
        ms = 1_000_000
        self.assertIsNone(offsets.at(0))
        # true offset 7000 ms; one way takes 1 ms, the way back much longer: the worst case for taking the middle
        offsets.add(0, 1000 * ms, 8001 * ms, 1041 * ms)
        far = offsets.at(1041 * ms)
        self.assertEqual(far.offset_ns, (8001 - 1020.5) * ms)
        self.assertLessEqual(abs(far.offset_ns - 7000 * ms), far.uncertainty_ns)
        offsets.add(0, 1100 * ms, 8102 * ms, 1105 * ms)
        near = offsets.at(1105 * ms)
        self.assertEqual(near.offset_ns, (8102 - 1102.5) * ms)
        self.assertLessEqual(abs(near.offset_ns - 7000 * ms), near.uncertainty_ns)
        self.assertLess(near.uncertainty_ns, 3 * ms)
        # the uncertainty grows with time by the possible drift of clocks, until a newer sample is better although it
        # was less exact when taken
        later = offsets.at(101_105 * ms)
        self.assertEqual((later.offset_ns, later.uncertainty_ns // ms), (near.offset_ns, 112))
        offsets.add(0, 101_100 * ms, 108_106 * ms, 101_110 * ms)
        self.assertEqual(offsets.at(101_110 * ms).uncertainty_ns // ms, 5)
        # after a jump of the clock earlier samples are dropped, although they were more exact
        offsets.add(0, 101_200 * ms, 8_106 * ms, 101_212 * ms)
        self.assertEqual(offsets.at(101_212 * ms).offset_ns, (8_106 - 101_206) * ms)
        offsets.reset()
        offsets.add(0, 0, 5, 10)  # asked before the last sample
        self.assertIsNone(offsets.at(10))
        offsets.add(offsets.life, 0, 5, 10)
        self.assertEqual(offsets.at(10).offset_ns, 0)


if __name__ == "__main__":
    unittest.main()
