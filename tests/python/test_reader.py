"""A reader whose publisher ends, dies, restarts, damages a frame, or is read by many readers at once.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import errno
import logging
import os
import resource
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import support
import stixel
from support import SLOW, until

LONG = 20 * SLOW


class Names(support.TestCase):
    def test_names_that_are_none(self):
        for name in ("", ".x", "a/b", "x" * 65, "a b", "ä"):
            with self.assertRaisesRegex(stixel.BadName, "not a name: 1 to 64 of A-Z a-z 0-9"):
                stixel.open(name)
        with self.assertRaisesRegex(stixel.BadName, "no zero byte"):
            stixel.open("a\0b")
        with self.assertRaisesRegex(TypeError, "text, not int"):
            stixel.open(3)
        with self.assertRaisesRegex(ValueError, "image 'middle': there are 'left', 'right' and 'disparity'"):
            stixel.open("x", images=["left", "middle"])

    def test_nobody(self):
        for stream in (False, True):
            with self.assertRaisesRegex(stixel.NotRunning, "instance 'test-nobody': no stixel publisher of this") as e:
                stixel.open("test-nobody", stream=stream)
            self.assertEqual(e.exception.errno, errno.ENOENT)
            self.assertIsInstance(e.exception, FileNotFoundError)
            self.assertIn("is running: start it (stixeld -i test-nobody), or name one of those that stixelctl list",
                          str(e.exception))
        with self.assertRaises(stixel.NotRunning) as e:
            stixel.open_path("/dev/shm/stixeld.test-nobody")
        self.assertNotIn("start it", str(e.exception))

    def test_no_ring(self):
        path = "/dev/shm/stixeld.test-python-%d" % os.getpid()
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        with open(path, "wb") as f:
            f.write(b"x" * 8192)
        with self.assertRaisesRegex(stixel.NotStixel, "not a stixel ring"):
            stixel.open_path(path)
        p = self.publisher(1000, 100)
        with open("/dev/shm/stixeld." + p.name, "rb") as f:
            data = bytearray(f.read())
        data[8:10] = struct.pack("<H", 2)
        with open(path, "wb") as f:
            f.write(data)
        with self.assertRaises(stixel.OtherVersion):
            stixel.open_path(path)


    def test_what_is_no_ring_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "frames.sock")
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(path)
                with self.assertRaisesRegex(stixel.NotStixel, "is a socket, not a ring: open it with stream=True"):
                    stixel.open_path(path)
            with open(os.path.join(folder, "file"), "w", encoding="utf-8"):
                pass
            for name, words in (("x" * 300, "too long"), (os.path.join("file", "x"), "Not a directory")):
                with self.assertRaisesRegex(stixel.StixelError, words):
                    stixel.open_path(os.path.join(folder, name))


class Foreign(support.TestCase):
    def foreign(self):
        """Copies the ring of a running publisher. The copy belongs to another user if we may change its owner.
        Otherwise it is open to all users."""
        path = "/dev/shm/stixeld.test-python-foreign-%d" % os.getpid()
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        with open(path, "wb") as f, open("/dev/shm/stixeld." + self.publisher(100000, 100).name, "rb") as ring:
            f.write(until(lambda: self.with_a_frame(ring), LONG, "frame"))
        if os.geteuid() == 0:
            os.chown(path, 65534, -1)
        else:
            os.chmod(path, 0o666)
        return path

    def with_a_frame(self, ring):
        ring.seek(0)
        data = ring.read()
        return data if struct.unpack_from("<Q", data, 1024)[0] else None

    def test_cut_short_by_its_owner(self):
        for size, taken in ((4096, False), (0, True)):
            path = self.foreign()
            if os.geteuid() == 0:
                with self.assertRaises(stixel.NotAllowed):
                    stixel.open_path(path)
            with stixel.open_path(path, any_owner=True) as reader:
                if taken:
                    self.assertIsNotNone(reader.latest())
                os.truncate(path, size)
                # a process that maps the file would be killed here without protection
                with self.assertRaisesRegex(stixel.NotStixel, "not a stixel ring"):
                    reader.next(LONG)


class Frames(support.TestCase):
    def test_every_frame_in_order_to_the_end(self):
        p = self.publisher(40, 100, held=True)
        with stixel.open(p.name) as reader:
            p.go()
            frames = list(reader)
            numbers = [f.number for f in frames]
            self.assertEqual((numbers, numbers[-1]), (sorted(set(numbers)), 40))
            self.assertEqual(numbers[0], 1 + frames[0].missed)
            for before, f in zip(frames, frames[1:]):
                self.assertEqual(f.number, before.number + 1 + f.missed)
            s = reader.status()
            self.assertEqual((s.publisher, s.head, s.taken, s.lost),
                             (stixel.Publisher.ENDED, 40, len(frames), 40 - len(frames)))
            for call in (reader.latest, reader.next, reader.wait):
                with self.assertRaisesRegex(stixel.Ended, "the publisher has ended") as e:
                    call()
                self.assertNotIsInstance(e.exception, stixel.Died)
            self.assertEqual(list(reader), [])  # the end is permanent
            with self.assertRaises(stixel.NotRunning):
                reader.reopen()
        self.assertTrue(reader.closed)
        for call in (reader.latest, reader.status, reader.fileno, reader.reopen, reader.want_images, reader.__next__):
            with self.assertRaisesRegex(ValueError, "the reader is closed"):
                call()
        reader.close()

    def test_what_was_missed_is_counted(self):
        p = self.publisher(100000, 200)
        a, b = self.open(p.name), self.open(p.name)
        first = a.next(LONG), b.latest(LONG)
        until(lambda: a.status().head > first[0].number + 20)
        f, g = a.next(), b.latest()
        self.assertEqual(f.number - first[0].number - 1, f.missed)
        self.assertEqual(g.number - first[1].number - 1, g.missed)
        self.assertEqual(a.status().lost, first[0].missed + f.missed)
        self.assertEqual(b.status().skipped, first[1].missed + g.missed)
        self.assertGreater(min(f.missed, g.missed), 10)

    def test_timeouts(self):
        with stixel.open("test-python-nobody", follow=True) as reader:
            for call in (reader.wait, reader.latest, reader.next):
                began = time.monotonic()
                self.assertFalse(call(0.3))
                self.assertGreaterEqual(time.monotonic() - began, 0.3)
            self.assertFalse(reader.wait(0))
            self.assertFalse(reader.wait(-1))
            with self.assertRaisesRegex(ValueError, "nan"):
                reader.wait(float("nan"))

    def test_frames_stay_what_they_were(self):
        p = self.publisher(100000, 500)
        with stixel.open(p.name) as reader:
            first = reader.next(LONG)
            stixels, raw = first.stixels, bytes(bytearray(first.raw))
            for _ in range(20):
                self.assertIsNotNone(reader.next(LONG))
        self.assertEqual(first.raw, raw)
        self.assertEqual(stixels.tobytes(), stixel.load(raw).stixels.tobytes())

    def test_damaged_ones(self):
        p = self.publisher(100000, 10)
        path = "/dev/shm/stixeld." + p.name
        with open(path, "rb") as f:
            ring = f.read(4096)
        slots, stride, at, header = struct.unpack_from("<4I", ring, 24)

        def damage(number):
            with open(path, "r+b") as f:
                f.seek(at + (number & (slots - 1)) * stride + header + 300)
                f.write(b"\xff")
        with stixel.open(p.name) as reader:
            reader.wait(LONG)
            n = reader.status().head
            damage(n)
            with self.assertRaisesRegex(stixel.Damaged, "a frame was damaged and is skipped"):
                while reader.next(LONG).number < n:
                    pass
            reader.wait(LONG)
            damage(reader.status().head)
            f = next(reader)  # continues with the next frame
            self.assertGreater(f.number, n)
            self.assertIn(reader.status().corrupt, (1, 2))  # 2 if the reader also saw the second damaged frame

    def test_stream(self):
        p = self.publisher(25, 25, held=True)
        path = os.path.join(p.top, p.name, "frames.sock")
        same, ring = {}, self.open(p.name)
        t = threading.Thread(target=lambda: same.update((f.number, f.raw) for f in ring))
        with stixel.open_path(path, stream=True) as reader:
            p.go()
            t.start()
            with self.assertRaisesRegex(stixel.NotSupported, "a stream has no images: read from shared memory"):
                reader.want_images("left")
            frames = list(reader)
            self.assertEqual(reader.status().publisher, stixel.Publisher.ENDED)
        t.join(LONG)
        self.assertEqual(frames[-1].number, 25)
        self.assertGreater(len([f for f in frames if f.number in same]), 10)
        for f in frames:
            self.assertEqual(f.raw, same.get(f.number, f.raw))
        with self.assertRaises(stixel.NotSupported):
            p = self.publisher(1000, 100)
            stixel.open_path(os.path.join(p.top, p.name, "frames.sock"), stream=True, images=["left"])

    def test_stream_of_a_dead_one(self):
        p = self.publisher(1000, 100)
        with stixel.open_path(os.path.join(p.top, p.name, "frames.sock"), stream=True) as reader:
            self.assertIsNotNone(reader.next(LONG))
            p.kill()
            with self.assertRaisesRegex(stixel.Died, "frames.sock: the connection broke off"):
                list(reader)

    def test_many_readers(self):
        p = self.publisher(100000, 100)
        readers = [self.open(p.name) for _ in range(60)]
        for n in range(3):
            self.assertEqual({type(r.next(LONG)) for r in readers}, {stixel.Frame})

    @unittest.skipIf(os.environ.get("SX_EMULATED"), "not with an emulator: leaks are the same on every machine")
    def test_memory_stays(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * resource.getpagesize()
        p, other = self.publisher(10000000, 0), self.publisher(100000, 100)
        count, before, end = 0, None, time.monotonic() + 5 * SLOW
        descriptors = len(os.listdir("/proc/self/fd"))
        with stixel.open(p.name) as reader:
            for frame in reader:
                frame.stixels, frame.stages, frame.road, frame.camera
                count += 1
                if count % 1000 == 0:
                    frame.free_space(), reader.status(), reader.latest()
                if count == 5000:
                    before = resident()
                if count == 100000 or count > 20000 and time.monotonic() > end:
                    break
        grown = resident() - before
        p.kill()
        self.assertLess(grown, 1 << 20, "%d frames" % count)
        for _ in range(2000):
            stixel.open(other.name).close()
        self.assertLess(resident() - before, 2 << 20)
        self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)


class Ends(support.TestCase):
    def test_killed(self):
        p = self.publisher(100000, 100)
        with stixel.open(p.name) as reader:
            self.assertIsNotNone(reader.next(LONG))
            threading.Timer(0.2, p.kill).start()
            with self.assertRaisesRegex(stixel.Died, r"the publisher \(process %d\) died" % p.process.pid):
                for _ in reader:
                    pass
            self.assertEqual(reader.status().publisher, stixel.Publisher.DIED)
            with self.assertRaises(stixel.NotRunning):
                reader.reopen()
        with self.assertRaises(stixel.NotRunning):
            stixel.open(p.name)
        with stixel.open(p.name, leftover=True) as reader:
            self.assertGreater(reader.latest().number, 1)

    def test_restarted(self):
        p = self.publisher(100000, 100)
        with stixel.open(p.name) as reader, stixel.open(p.name, follow=True) as follower:
            old = reader.next(LONG)
            follower.next(LONG)
            p.kill()
            self.publisher(100000, 100, p.name)
            with self.assertRaisesRegex(stixel.Restarted, "a newer publisher took the name"):
                while reader.next(LONG):
                    pass
            reader.reopen()
            new = reader.next(LONG)
            self.assertNotEqual(new.epoch, old.epoch)
            f = until(lambda: (lambda f: f and f.epoch == new.epoch and f)(follower.next(LONG)), LONG)
            self.assertEqual(f.number - 1, f.missed)
            self.assertEqual(follower.status().restarts, 1)

    def test_follow_begins_with_nobody(self):
        name = "test-python-later-%d" % os.getpid()
        with stixel.open(name, follow=True) as reader:
            self.assertEqual(reader.status().publisher, stixel.Publisher.ABSENT)
            self.assertIsNone(reader.status().heartbeat_age)
            self.assertIsNone(reader.latest(0.1))
            with self.assertRaisesRegex(stixel.NotConnected, "no frame socket to wait on"):
                reader.fileno()
            self.publisher(100000, 100, name)
            self.assertIsNotNone(reader.latest(LONG))
            self.assertGreaterEqual(reader.fileno(), 0)

    def test_who_waits_says_so(self):
        """A waiting reader logs a message once, after a second, and in a program without logging on stderr. It never
        logs one about a daemon that sends frames."""
        name = "test-python-later-%d-said" % os.getpid()
        with stixel.open(name, follow=True) as reader:
            with self.assertLogs("stixel", "WARNING") as said:
                self.assertIsNone(reader.latest(0.5))
                self.assertEqual(said.output, [])
                logging.getLogger("stixel").warning("placeholder")
                self.assertIsNone(reader.latest(3))
            self.assertEqual([r.getMessage() for r in said.records[1:]],
                             ["instance '%s': nothing publishes under this name; waiting" % name])
            self.publisher(100000, 100, name)
            with self.assertLogs("stixel", "WARNING") as said:
                logging.getLogger("stixel").warning("placeholder")
                end = time.monotonic() + 2
                while time.monotonic() < end:
                    self.assertIsNotNone(reader.next(LONG))
            self.assertEqual(len(said.output), 1)

    def test_who_waits_says_so_without_logging(self):
        for program in ("for f in stixel.open(%r, follow=True): pass",
                        "import asyncio\nasync def main():\n async for f in stixel.open(%r, follow=True): pass\n"
                        "asyncio.run(main())"):
            process = subprocess.Popen([sys.executable, "-c", "import stixel\n" + program % "test-python-nobody"],
                                       env=dict(os.environ, PYTHONPATH=support.MODULE), stderr=subprocess.PIPE,
                                       text=True)
            try:
                self.assertEqual(process.stderr.readline(), "instance 'test-python-nobody': nothing publishes under "
                                                            "this name; waiting\n")
            finally:
                process.kill()
                process.wait()
                process.stderr.close()

    def test_selectors(self):
        p = self.publisher(30, 100, held=True)
        with stixel.open(p.name) as reader, selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            p.go()
            numbers = []
            with self.assertRaises(stixel.Ended):
                while True:
                    self.assertTrue(selector.select(LONG), "a frame, or the end")
                    frame = reader.next()
                    while frame:
                        numbers.append(frame.number)
                        frame = reader.next()
            self.assertEqual(numbers[-1], 30)


class Threads(support.TestCase):
    def quiet(self):
        """Opens a reader whose publisher sends nothing for a long time."""
        p = self.publisher(100000, 0.01)
        return self.open(p.name)

    def test_one_at_a_time(self):
        reader = self.quiet()
        t = threading.Thread(target=lambda: self.assertRaises(ValueError, reader.wait))
        t.start()
        until(reader._lock.locked)
        for call in (reader.latest, reader.status, reader.wait, reader.fileno, reader.reopen):
            with self.assertRaisesRegex(RuntimeError, "in use by another thread or task: open one for each"):
                call()
        began = time.monotonic()
        reader.close()  # closed by this thread while the other one waits
        t.join(LONG)
        self.assertFalse(t.is_alive())
        self.assertLess(time.monotonic() - began, 2 * SLOW)

    def test_others_run_while_one_waits(self):
        reader = self.quiet()
        before = time.process_time()
        t = threading.Thread(target=reader.wait, args=(1.0,))
        t.start()
        turns = 0
        while t.is_alive():
            turns += 1
            time.sleep(0.01)
        self.assertGreater(turns, 20)
        self.assertLess(time.process_time() - before, 0.5)  # no thread spins

    def test_a_reader_for_each(self):
        p = self.publisher(200, 300, held=True)
        found, all_there = [], threading.Barrier(9)

        def read():
            with stixel.open(p.name) as reader:
                all_there.wait(LONG)
                found.append([f.number for f in reader][-1])
        threads = [threading.Thread(target=read) for _ in range(8)]
        for t in threads:
            t.start()
        all_there.wait(LONG)
        p.go()
        for t in threads:
            t.join(LONG)
        self.assertEqual(found, [200] * 8)

    def test_close_and_use_at_once(self):
        p = self.publisher(100000, 1000)
        for _ in range(50):
            reader = stixel.open(p.name)

            def use():
                try:
                    for _ in range(1000):
                        reader.next(0.01)
                except (ValueError, RuntimeError):
                    pass
            t = threading.Thread(target=use)
            t.start()
            time.sleep(0.002)
            reader.close()
            t.join(LONG)
            self.assertFalse(t.is_alive())
            self.assertIsNone(reader._handle)

    def test_fork(self):
        p = self.publisher(100000, 200)
        with stixel.open(p.name) as reader:
            self.assertIsNotNone(reader.next(LONG))
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    try:
                        reader.next()
                    except RuntimeError as e:
                        code = 2 if "before fork(): open one in the child" in str(e) else 3
                    reader.close()
                    with stixel.open(p.name) as own:
                        code = 0 if code == 2 and own.next(LONG) else code
                finally:
                    os._exit(code)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if sys.version_info >= (3, 9) else
                             os.waitpid(pid, 0)[1], 0)
            self.assertIsNotNone(reader.next(LONG))


class Signals(support.TestCase):
    PROGRAM = """
import signal, stixel, sys, time
signal.signal(signal.SIGUSR1, lambda *_: print("signal", flush=True))
reader = stixel.open(sys.argv[1])
print("ready", flush=True)
try:
    reader.wait() if sys.argv[2] == "wait" else next(iter(reader))
except KeyboardInterrupt:
    print("interrupted")
"""

    @unittest.skipIf(os.environ.get("SX_EMULATED"), "not with an emulator: start times in /proc are another's, "
                     "so that a publisher that is silent counts as gone")
    def test_interrupt_while_waiting(self):
        p = self.publisher(100000, 0.01)
        for how in ("wait", "iterate"):
            with subprocess.Popen([sys.executable, "-c", self.PROGRAM, p.name, how], stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, PYTHONPATH=support.MODULE)) as child:
                self.addCleanup(child.kill)
                self.assertEqual(child.stdout.readline(), "ready\n")
                time.sleep(0.1)
                # a handler that does not end the program: the reader continues to wait
                child.send_signal(signal.SIGUSR1)
                self.assertEqual(child.stdout.readline(), "signal\n")
                self.assertIsNone(child.poll())
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.stdout.readline(), "interrupted\n")
                self.assertEqual(child.wait(LONG), 0)


class Async(support.TestCase):
    def test_frames_to_the_end(self):
        p = self.publisher(40, 100, held=True)

        async def read():
            with stixel.open(p.name) as reader:
                p.go()
                return [f async for f in reader]
        frames = asyncio.run(asyncio.wait_for(read(), LONG))
        self.assertEqual(frames[-1].number, 40)
        for before, f in zip(frames, frames[1:]):
            self.assertEqual(f.number, before.number + 1 + f.missed)

    def test_dead_publisher(self):
        p = self.publisher(100000, 100)

        async def read():
            with stixel.open(p.name) as reader:
                async for frame in reader:
                    if frame.number >= 5:
                        p.kill()
        with self.assertRaises(stixel.Died):
            asyncio.run(asyncio.wait_for(read(), LONG))

    def test_follow_from_nobody_on(self):
        name = "test-python-async-%d" % os.getpid()

        async def read():
            with stixel.open(name, follow=True) as reader:
                asyncio.get_running_loop().call_later(0.1, lambda: self.publisher(100000, 100, name))
                return (await reader.__anext__()).number
        self.assertGreater(asyncio.run(asyncio.wait_for(read(), LONG)), 0)

    def test_cancelled_and_closed(self):
        p = self.publisher(100000, 0.01)

        async def read():
            reader = stixel.open(p.name)
            task = asyncio.ensure_future(reader.__anext__())
            await asyncio.sleep(0.05)
            with self.assertRaisesRegex(RuntimeError, "by another thread or task"):
                reader.latest()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertIsNone(reader.latest())  # usable as before
            # the reader left no descriptor in the event loop
            self.assertFalse(asyncio.get_running_loop().remove_reader(reader.fileno()))
            task = asyncio.ensure_future(reader.__anext__())
            await asyncio.sleep(0.05)
            reader.close()
            with self.assertRaisesRegex(ValueError, "closed while it waited"):
                await asyncio.wait_for(task, LONG)
            self.assertIsNone(reader._handle)
        asyncio.run(read())

    def test_nobody_spins(self):
        p = self.publisher(100000, 0.01)

        async def read():
            with stixel.open(p.name) as reader:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(reader.__anext__(), 1.0)
        before = time.process_time()
        asyncio.run(read())
        self.assertLess(time.process_time() - before, 0.5)


if __name__ == "__main__":
    unittest.main()
