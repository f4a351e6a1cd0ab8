# A sink's thread: sent, dropped and counted frames; connections that fail, are lost, and are restored.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import support  # noqa: F401

from stixel import _daemon as daemon
from stixel import _status
from stixel_bridge import runner, status
from stixel_bridge.fail import CANNOT_CREATE, Fail, SinkError
from stixel_bridge.sink import Instance, Report, Sink, Work

FRONT, REAR = Instance("front", {}), Instance("rear", {})


class Fake(Sink):
    """A sink that acts as the test orders, and records its calls."""

    def __init__(self, instances=(FRONT,), **options):
        super().__init__("fake", {"kind": "fake", "queue": 1, "rate_hz": 0, **options}, "here", instances)
        self.got, self.reports, self.opened, self.closed = [], [], 0, 0
        self.size = 100  # bytes of a frame
        self.fails = []  # results of the next calls of open() and send(): None or an exception
        self.may_send = threading.Event()
        self.may_send.set()
        self.sending = threading.Event()

    def _fail(self):
        error = self.fails.pop(0) if self.fails else None
        if error:
            raise error

    def open(self):
        self.opened += 1
        self._fail()

    def send(self, work):
        self.sending.set()
        self.may_send.wait(5)
        self._fail()
        self.got.append((work.instance.name, work.frame.number))
        return self.size

    def report(self, report):
        self.reports.append(report)
        return 0

    def close(self):
        self.closed += 1

    def images(self, instance):
        return frozenset(["left"])

    def figures(self):
        return {"peers": 2}


def work(number, instance=FRONT, ns=None):
    now = time.monotonic_ns()
    return Work(instance, types.SimpleNamespace(number=number, captured_ns=now - 5_000_000), ns or now)


def until(true):
    end = time.monotonic() + 5
    while not true():
        if time.monotonic() > end:
            raise AssertionError("not in time")
        time.sleep(0.002)


class Panic(BaseException):
    """Raised by packages in Rust (pyo3_runtime.PanicException). It is not an Exception."""


class Runner(unittest.TestCase):
    def start(self, sink):
        self.said = []
        r = runner.Runner(sink, self.said.append)
        r.start()
        self.addCleanup(r.join, 5)
        self.addCleanup(sink.may_send.set)
        self.addCleanup(r.stop)
        return r

    def connected(self, sink):
        r = self.start(sink)
        until(lambda: r.state.name == "connected")
        return r

    def test_frames_are_sent_and_counted(self):
        sink = Fake()
        r = self.connected(sink)
        for n in range(1, 4):
            r.put(work(n))
            until(lambda: len(sink.got) == n)
        counts = r.counts["front"]
        until(lambda: len(counts.latencies) == 3)
        self.assertEqual((counts.sent, counts.bytes, counts.dropped_busy, counts.dropped_closed), (3, 300, 0, 0))
        self.assertGreaterEqual(counts.quantiles([0.5])[0], 0.005)

    def test_the_newest_wins_and_the_others_are_counted(self):
        sink = Fake((FRONT, REAR))
        r = self.connected(sink)
        sink.may_send.clear()
        r.put(work(1))
        until(sink.sending.is_set)
        for n in range(2, 6):
            r.put(work(n))
        r.put(work(1, REAR))
        sink.may_send.set()
        until(lambda: len(sink.got) == 3)
        self.assertEqual(sink.got, [("front", 1), ("front", 5), ("rear", 1)])
        self.assertEqual((r.counts["front"].dropped_busy, r.counts["rear"].dropped_busy), (3, 0))

    def test_a_queue_keeps_as_many_as_it_may(self):
        sink = Fake(queue=3)
        r = self.connected(sink)
        sink.may_send.clear()
        r.put(work(1))
        until(sink.sending.is_set)
        for n in range(2, 8):
            r.put(work(n))
        sink.may_send.set()
        until(lambda: len(sink.got) == 4)
        self.assertEqual([n for _, n in sink.got], [1, 5, 6, 7])

    def test_a_rate_leaves_frames_out(self):
        sink = Fake(queue=64, rate_hz=10)
        r = self.connected(sink)
        begin = time.monotonic_ns()
        for n in range(90):
            r.put(work(n, ns=begin + n * 33_333_333))
        until(lambda: len(sink.got) + r.counts["front"].skipped == 90)
        self.assertEqual([n for _, n in sink.got], list(range(0, 90, 3)))

    def test_lost_connections_come_again(self):
        sink = Fake()
        sink.fails = [SinkError("no router at tcp/a:1"), SinkError("no router at tcp/a:1"), None, SinkError("gone")]
        with mock.patch.object(runner, "BACKOFF_LEAST_S", 0.01):
            r = self.start(sink)
            r.put(work(1))  # dropped: not connected yet
            until(lambda: r.state.name == "connected")
            r.put(work(2))
            until(lambda: r.state.failures == 3)
            until(lambda: r.state.name == "connected")
        r.put(work(3))
        until(lambda: sink.got)
        self.assertEqual(sink.got, [("front", 3)])
        self.assertEqual((sink.opened, sink.closed, r.state.internal), (4, 3, 0))
        self.assertGreaterEqual(r.counts["front"].dropped_closed, 1)
        self.assertEqual(len([line for line in self.said if "no router at tcp/a:1; tried again" in line]), 1)

    def test_a_frame_over_which_the_connection_is_lost_is_counted(self):
        sink = Fake()
        sink.fails = [None, SinkError("gone")]
        r = self.connected(sink)
        r.put(work(1))
        until(lambda: r.state.failures == 1)
        self.assertEqual((r.counts["front"].sent, r.counts["front"].dropped_closed), (0, 1))

    def test_what_nobody_wants_is_not_sent(self):
        sink = Fake()
        sink.size = 0
        r = self.connected(sink)
        r.put(work(1))
        counts = r.counts["front"]
        until(lambda: counts.unwanted == 1)
        self.assertEqual((counts.sent, counts.bytes, len(counts.latencies), counts.dropped_closed), (0, 0, 0, 0))

    def test_only_a_connection_that_held_begins_anew_with_the_shortest_wait(self):
        """open() takes longer to fail than a connection must hold to count as settled. The failure is logged once."""
        sink = Fake()
        sink.fails = [SinkError("nobody")] * 3
        real = sink.open
        sink.open = lambda: (time.sleep(0.03), real())
        with mock.patch.multiple(runner, BACKOFF_LEAST_S=0.01, SETTLED_S=0.02):
            r = self.connected(sink)
        self.assertEqual(r.state.failures, 3)
        self.assertEqual(len([line for line in self.said if "nobody; tried again" in line]), 1)

    def test_a_panic_is_an_error_and_not_the_end(self):
        sink = Fake()
        sink.fails = [None, Panic("Rust")]
        with mock.patch.object(runner, "BACKOFF_LEAST_S", 0.01):
            r = self.connected(sink)
            r.put(work(1))
            until(lambda: sink.opened == 2 and r.state.name == "connected")
        self.assertEqual((r.state.failures, r.state.internal), (1, 1))
        self.assertTrue(any("Panic: Rust (" in line for line in self.said))
        with mock.patch.object(sink, "images", side_effect=Panic("again")):
            self.assertEqual([r.images(FRONT) for _ in range(3)], [frozenset()] * 3)
        self.assertEqual((r.state.internal, len([s for s in self.said if "images: Panic: again" in s])), (4, 1))
        self.assertEqual(r.images(FRONT), frozenset(["left"]))

    def test_an_error_of_its_own_is_a_sentence_too(self):
        sink = Fake()
        sink.fails = [None, KeyError("x")]
        r = self.connected(sink)
        r.put(work(1))
        until(lambda: r.state.internal == 1)
        self.assertIn("KeyError: 'x' (", r.state.why)
        self.assertEqual(r.images(FRONT), frozenset())

    def test_reports_arrive_and_the_newest_counts(self):
        sink = Fake()
        r = self.connected(sink)
        sink.may_send.clear()
        r.put(work(1))
        until(sink.sending.is_set)
        for state in ("starting", "running"):
            r.report(Report(FRONT, "alive", state, None))
        sink.may_send.set()
        until(lambda: sink.reports)
        self.assertEqual([x.state for x in sink.reports], ["running"])

    def test_what_several_send_is_made_once(self):
        w, made = work(1), []
        self.assertEqual([w.once("scan", lambda: made.append(1) or len(made)) for _ in range(3)], [1, 1, 1])

    def test_one_that_makes_something_delays_none_that_wants_another(self):
        w, making, go_on = work(1), threading.Event(), threading.Event()
        slow = threading.Thread(target=w.once, args=("jpeg", lambda: (making.set(), go_on.wait(5))), daemon=True)
        slow.start()
        making.wait(5)
        other = threading.Thread(target=w.once, args=("frame", lambda: b""), daemon=True)
        other.start()
        other.join(2)
        stuck = other.is_alive()
        go_on.set()
        slow.join(5)
        self.assertFalse(stuck)


class Status(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.dict(os.environ, {"RUNTIME_DIRECTORY": folder.name})
        patch.start()
        self.addCleanup(patch.stop)
        self.path = os.path.join(folder.name, "site", "status.sock")
        self.about = {"name": "site", "host": "robot", "version": "1", "started": time.monotonic()}
        self.sink = Fake()
        self.runner = runner.Runner(self.sink, lambda text: None)
        self.source = types.SimpleNamespace(instance=FRONT, publisher="alive", state="running", why="", frames=9,
                                            lost=1, damaged=2, restarts=3, internal=0)

    def serve(self):
        server = status.Server(self.about, [self.source], [self.runner])
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.close)
        return server

    def test_it_says_what_is_sent_and_dropped(self):
        self.serve()
        self.runner.start()
        self.addCleanup(self.runner.stop)
        until(lambda: self.runner.state.name == "connected")
        self.runner.put(work(1))
        until(lambda: self.runner.counts["front"].latencies)
        code, body = daemon.ask_path(self.path, "/status")
        found = json.loads(body)
        self.assertEqual((code, found["bridge"], found["sinks"][0]["state"]), (200, "site", "connected"))
        way = found["sinks"][0]["instances"][0]
        self.assertEqual((way["sent"], way["bytes"], way["dropped"]), (1, 100, {"busy": 0, "not_connected": 0}))
        self.assertEqual((way["unwanted"], found["instances"][0]["internal_errors"]), (0, 0))
        self.assertGreater(way["latency_ms"]["p50"], 4.9)
        self.assertEqual(found["instances"][0]["restarts"], 3)
        lines = daemon.ask_path(self.path, "/metrics")[1].decode().splitlines()
        for line in ('stixel_bridge_sent_total{bridge="site",sink="fake",instance="front"} 1',
                     'stixel_bridge_connected{bridge="site",sink="fake",kind="fake"} 1',
                     'stixel_bridge_instance_lost_total{bridge="site",instance="front"} 3',
                     'stixel_bridge_sink_peers{bridge="site",sink="fake"} 2'):
            self.assertIn(line, lines)
        self.assertEqual(lines[-1], "# EOF")
        self.assertEqual(daemon.ask_path(self.path, "/healthz"), (200, b"ok\n"))
        self.assertEqual(daemon.ask_path(self.path, "/other")[0], 404)

    def test_health_names_the_sink(self):
        self.serve()
        code, body = daemon.ask_path(self.path, "/healthz")
        self.assertEqual((code, body), (503, b"sink fake: connecting \n"))

    def test_health_names_a_thread_that_has_ended(self):
        self.runner.state = self.runner.state._replace(name="connected")
        server = self.serve()
        ended = threading.Thread(target=lambda: None, name="instance front")
        ended.start()
        ended.join()
        server._watched = [threading.current_thread(), ended]
        self.assertEqual(daemon.ask_path(self.path, "/healthz"), (503, b"thread instance front: has ended\n"))

    def test_the_group_gets_at_the_socket_whatever_the_umask(self):
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.serve()
        modes = [os.stat(p).st_mode & 0o777 for p in (os.path.dirname(self.path), self.path)]
        self.assertEqual(modes, [0o755, 0o660])

    def dripping(self, count, user=None):
        """Runs one process with connections that send a byte now and then, forever. The process replaces each
        connection that ends."""
        code = "import os, socket, sys, time\nif %r: os.setgid(%r); os.setuid(%r)\n" % (user, user, user)
        code += ("held = []\nwhile True:\n"
                 "    while len(held) < %d:\n"
                 "        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); held.append(s)\n"
                 "    for s in list(held):\n"
                 "        try: s.sendall(b'x')\n"
                 "        except OSError: held.remove(s); s.close()\n"
                 "    print(flush=True); time.sleep(0.1)\n" % count)
        p = subprocess.Popen([sys.executable, "-c", code, self.path], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdout.close()))
        p.stdout.readline()

    def test_the_whole_request_has_one_limit_of_time(self):
        self.serve()
        began = time.monotonic()
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.path)
            s.sendall(b"GET /")
            with self.assertRaises(OSError):
                while time.monotonic() < began + 10:
                    s.sendall(b"x")
                    time.sleep(0.1)
        self.assertLess(time.monotonic() - began, 2 * _status.CLIENT_S)

    def test_who_drips_keeps_none_out(self):
        """Slow clients block neither clients of the same user nor clients of other users."""
        self.serve()
        self.dripping(40)
        for _ in range(10):
            self.assertEqual(daemon.ask_path(self.path, "/healthz")[0], 503)
        if os.geteuid() == 0:
            for path in (os.path.dirname(os.path.dirname(self.path)), os.path.dirname(self.path)):
                os.chmod(path, 0o755)
            os.chmod(self.path, 0o666)
            for user in range(61001, 61007):
                self.dripping(20, user)
            for _ in range(10):
                self.assertEqual(daemon.ask_path(self.path, "/healthz")[0], 503)
        self.assertLess(threading.active_count(), 2 * _status.CLIENTS_MOST)

    def test_a_name_belongs_to_one(self):
        server = self.serve()
        with self.assertRaises(Fail) as caught:
            status.Server(self.about, [], [])
        self.assertEqual(caught.exception.code, CANNOT_CREATE)
        self.assertIn("another stixel-bridge runs as 'site'", str(caught.exception))
        self.assertEqual(daemon.ask_path(self.path, "/healthz")[0], 503)
        self.assertTrue(server.folder)

    def test_nothing_is_left_behind(self):
        server = status.Server(self.about, [], [])
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        server.close()
        self.assertFalse(os.path.exists(os.path.dirname(self.path)))


if __name__ == "__main__":
    unittest.main()
