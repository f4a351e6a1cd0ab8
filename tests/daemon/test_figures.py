# Figures of /status and /metrics against what somebody else has measured: a client that counts frames and looks at its
# own clock, a source and an engine (fake.c) whose delays are known.
#
# SPDX-License-Identifier: Apache-2.0
import math
import socket
import threading
import time
import unittest

import openmetrics
from harness import FAKE, Frame, TestCase, until

BUCKET = 1.017  # half a bucket of the histogram, and the nanosecond's rounding


def rank(values, permille):
    """The value of rank ceil(n * permille / 1000): what base/histogram.h says it gives."""
    return sorted(values)[max(1, math.ceil(len(values) * permille / 1000)) - 1]


class Client(threading.Thread):
    """Takes frames as packets, each with the time of its arrival on this process's clock."""

    def __init__(self, test, instance):
        super().__init__(daemon=True)
        self.socket = test.stream(instance)
        self.socket.settimeout(0.2)
        self.frames, self.stopped = [], False
        self.start()

    def run(self):
        while not self.stopped:
            try:
                data = self.socket.recv(1 << 20)
            except socket.timeout:
                continue
            now = time.monotonic_ns()
            if not data:
                return
            self.frames.append((now, Frame(data)))

    def end(self):
        self.stopped = True
        self.join()
        return self.frames


class Figures(TestCase):
    def fake(self, *args, **env):
        i = self.instance(binary=FAKE)
        i.start("-s", "source.kind=synthetic", "-s", "stixels.width=4", "-s", "output.slots=1024", *args,
                env={"FAKE_" + k.upper(): v for k, v in env.items()})
        return i

    def test_frames_per_second(self):
        """As a client counts them, and 0 once they have stopped."""
        i = self.fake(interval_us=20000, compute_us=1000, silent_at=200)
        client = Client(self, i)
        until(lambda: len(client.frames) >= 120, 30, "frames")
        now, status = time.monotonic_ns(), i.status()
        times = [t for t, _ in client.frames]
        for window, key in ((1, "last_1s"), (10, "last_10s")):
            seen = [t for t in times if now - window * 10**9 <= t <= now]
            counted = (len(seen) - 1) / (seen[-1] - seen[0]) * 1e9
            self.assertAlmostEqual(status["fps"][key] / counted, 1, delta=0.08, msg=key)
        until(lambda: i.status()["frames"]["captured"] == 199, 20, "the last pair")
        until(lambda: i.status()["fps"]["last_1s"] < 1, 5, "a rate that sinks")
        self.assertGreater(i.status()["fps"]["last_10s"], 1)
        client.end()
        families = openmetrics.parse(i.http("/metrics")[2])
        self.assertLess(openmetrics.value(families, "stixeld_frames_per_second", window="1s"), 1)
        i.stop()

    def test_latency_of_known_delays(self):
        """A pair comes 30 ms after its capture, the engine takes 40 ms: no less, and no more than a client sees."""
        late, compute = 30000, 40000
        i = self.fake("-s", "engine.contexts=1", interval_us=100000, late_us=late, compute_us=compute, pairs=30,
                      skew_us=700)
        client = Client(self, i)
        until(lambda: len(client.frames) >= 25, 30, "frames")
        status, frames = i.status(), client.end()
        table = status["latency_us"]
        whole = table["capture_to_publish"]
        self.assertGreater(whole["p50"] * BUCKET, late + compute)
        self.assertGreater(table["capture_to_engine"]["p50"] * BUCKET, late)
        self.assertGreater(table["engine_to_result"]["p50"] * BUCKET, compute)
        # at the client later than at the head, by a wake-up; the slowest of a busy machine are not compared
        arrived = rank([(t - min(f.left_ns, f.right_ns)) / 1000 for t, f in frames], 500)
        self.assertLess(whole["p50"] / BUCKET, arrived)
        self.assertLess(arrived - whole["p50"], 20000)
        parts = sum(table[k]["p50"] for k in ("capture_to_engine", "engine_to_result", "result_to_publish"))
        self.assertAlmostEqual(parts / whole["p50"], 1, delta=0.1)
        self.assertAlmostEqual(status["source"]["pair_skew_us"]["p50"] / 700, 1, delta=BUCKET - 1)
        self.assertEqual(table["result_to_publish"]["n"], whole["n"])

    def test_asked_for_in_time(self):
        """A frame is asked for around its expected end; one that takes longer is waited for asleep."""
        compute, longer, late = 20000, 30000, 60000
        for nearly in (0, 3000):
            i = self.fake("-s", "engine.contexts=1", interval_us=150000, compute_us=compute, jitter_us=longer,
                          tell_late_us=late, nearly_us=nearly, pairs=12)
            until(lambda i=i: i.status()["frames"]["published"] >= 10, 30, "frames")
            spent = [((f.published_ns - f.submitted_ns) / 1000, f.number % 2) for f in i.ring().frames()]
            for us, is_longer in spent:
                self.assertGreaterEqual(us, compute + is_longer * longer)
                if is_longer or not nearly:
                    self.assertGreaterEqual(us, compute + late)
            if nearly:
                self.assertLess(rank([us for us, is_longer in spent if not is_longer], 500), compute + late / 2)
            i.stop()

    def test_quantiles_of_all_frames(self):
        """Every frame is still in the ring: the quantiles are those of its headers, the sums too."""
        i = self.fake(interval_us=3000, compute_us=500, jitter_us=4000, silent_at=300)
        until(lambda: (lambda f: f["captured"] == 299 and
                       f["published"] + sum(f["dropped"].values()) == 299)(i.status()["frames"]), 30, "all frames")
        status, metrics = i.status(), openmetrics.parse(i.http("/metrics")[2])
        frames = i.ring().frames()
        self.assertEqual(len(frames), status["latency_us"]["engine_to_result"]["n"])
        self.assertGreater(len(frames), 200)
        spent = [(f.published_ns - f.submitted_ns) / 1000 for f in frames]
        told = status["latency_us"]["engine_to_result"]
        for key, permille in (("p50", 500), ("p90", 900), ("p99", 990)):
            want = rank(spent, permille)
            self.assertTrue(want / BUCKET <= told[key] <= want * BUCKET, (key, told[key], want))
        self.assertAlmostEqual(told["max"], max(spent), delta=0.001)
        total = openmetrics.value(metrics, "stixeld_latency_part_seconds", "_sum", part="engine_to_result")
        count = openmetrics.value(metrics, "stixeld_latency_part_seconds", "_count", part="engine_to_result")
        self.assertAlmostEqual(total * 1e6 / sum(spent), 1, delta=1e-6)
        self.assertEqual(count, len(frames))
        i.stop()


if __name__ == "__main__":
    unittest.main(verbosity=2)
