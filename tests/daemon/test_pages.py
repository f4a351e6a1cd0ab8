# Tests what a running stixeld serves on its two sockets: status, metrics, health and configuration over HTTP, and
# frames. Hostile clients there must change nothing.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import socket
import stat
import time
import unittest

import openmetrics
from harness import HEIGHT, IDLE, SANITIZED, SMALL, WIDTH, TestCase, receive, until

STAGES = ["ingest", "census", "sgm", "winner", "median", "left_right", "speckle", "smooth", "confidence", "road",
          "reduce", "segment", "compact", "monitor", "motion"]
SPANS = ["capture_to_publish", "capture_to_engine", "engine_to_result", "result_to_publish"]
SLOWER = 30 if SANITIZED else 1  # a frame took four seconds with sanitizers and compilers on the same machine


class Pages(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Pages().instance()
        # The pace is so slow that no machine falls behind and drops pairs. With sanitizers a machine might, so the
        # engine sets the pace.
        cls.fps = 0 if SANITIZED else 10
        cls.i.start(*SMALL, "-s", "source.fps=%d" % cls.fps)
        cls.i.until_published(20)
        until(lambda: cls.i.status()["fps"]["last_1s"], 30, "fps known")

    @classmethod
    def tearDownClass(cls):
        code = cls.i.stop()
        left = cls.i.leftovers()
        cls.i.close()
        assert (code, left) == (0, []), (code, left)

    def runTest(self):
        pass

    def test_status(self):
        s = self.i.status()
        self.assertEqual(s["schema"], 1)
        self.assertEqual((s["instance"], s["pid"], s["state"]), ("test", self.i.process.pid, "running"))
        self.assertRegex(s["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(s["epoch"], r"^[0-9a-f]{16}$")
        self.assertIsNone(s["reason"])
        self.assertTrue(0 < s["uptime_s"] < 1000)
        self.assertEqual(set(s["engine"]), {"backend", "device", "reason", "volume", "contexts", "memory_bytes",
                                            "input"})
        self.assertEqual(s["engine"]["input"], {"path": "host", "copies_per_frame": 0, "bytes_per_frame": 0,
                                                "results_per_frame": 0, "staged": 0})
        self.assertEqual(s["engine"]["backend"], "cpu")
        self.assertIn("auto", s["engine"]["reason"])
        self.assertGreater(s["engine"]["memory_bytes"], 160 * 96 * 32)
        self.assertEqual(s["source"]["kind"], "synthetic")
        self.assertEqual(s["source"]["memory"], "generated")
        self.assertEqual([c["side"] for c in s["source"]["cameras"]], ["left", "right"])
        for c in s["source"]["cameras"]:
            self.assertEqual(set(c), {"side", "path", "format", "width", "height", "captured", "errors",
                                      "sequence_gaps", "reconnects"})
            self.assertEqual((c["width"], c["height"], c["format"]), (WIDTH, HEIGHT, "grey8"))
            self.assertGreaterEqual(c["captured"], 20)
            self.assertIsNone(c["sequence_gaps"])
        self.assertEqual(set(s["source"]["pair_skew_us"]), {"p50", "p99", "max"})
        f = s["frames"]
        self.assertEqual(set(f), {"captured", "published", "blind", "dropped"})
        self.assertEqual(set(f["dropped"]), {"overload", "unpaired", "corrupt", "no_map", "teardown"})
        in_flight = f["captured"] - f["published"] - f["dropped"]["overload"]
        self.assertTrue(0 <= in_flight <= 4, f)
        self.assertEqual(set(s["fps"]), {"last_1s", "last_10s"})
        self.assertTrue(1 / SLOWER < s["fps"]["last_1s"] < (20 if self.fps else 5000), s["fps"])
        for table in ("latency_us", "latency_10s_us", "latency_1s_us"):
            self.assertEqual(set(s[table]), {*SPANS, *STAGES})
        for name, q in s["latency_us"].items():
            self.assertEqual(set(q), {"p50", "p90", "p99", "max", "n"})
            if q["n"]:
                self.assertTrue(0 < q["p50"] <= q["p90"] <= q["p99"] <= q["max"], (name, q))
            else:
                self.assertEqual([q[k] for k in ("p50", "p90", "p99", "max")], [None] * 4)
        self.assertGreaterEqual(s["latency_us"]["capture_to_publish"]["n"], 20)
        self.assertGreater(s["latency_us"]["sgm"]["n"], 0)
        self.assertEqual(set(s["stixels"]), {"per_frame", "pixels_per_stixel"})
        self.assertAlmostEqual(s["stixels"]["per_frame"] * s["stixels"]["pixels_per_stixel"], WIDTH * HEIGHT, delta=1)
        self.assertIn(s["road"]["origin"], ("measured", "previous", "calibration", "none"))
        self.assertEqual(set(s["power"]), {"source", "scope", "device", "reason", "stale", "watts", "watts_10s",
                                           "joules_per_frame", "fps_per_watt", "age_ms", "interval_ms", "since_start"})
        self.assertEqual(set(s["power"]["since_start"]), {"joules", "seconds", "frames", "joules_per_frame"})
        self.assertEqual(set(s["board"]), {"model", "power_mode", "governor", "cpu_hz", "cpu_max_hz", "gpu_hz",
                                           "gpu_max_hz", "memory_hz"})
        self.assertTrue({"clients", "dropped"} <= set(s["stream"]))
        self.assertEqual((s["config"]["folder"], s["config"]["files"]), (os.getcwd(), []))
        self.assertIn("source.kind=synthetic", s["config"]["overrides"])
        self.assertEqual(s["ring"]["path"], self.i.ring_path)
        self.assertEqual(s["ring"]["bytes"], os.stat(self.i.ring_path).st_size)

    def test_frames_and_status_are_built_from_the_same_numbers(self):
        s = self.i.status()
        ring = self.i.ring()
        latencies = [f.published_ns - min(f.left_ns, f.right_ns) for f in ring.frames()]
        worst = self.i.status()["latency_us"]["capture_to_publish"]["max"]
        # the header is sealed before the frame enters the ring
        self.assertLess(max(latencies) / 1000, worst)
        f = ring.frames()[-1]
        self.assertEqual(f.stage_names[:len(STAGES)], STAGES)
        self.assertEqual(f.stage_count, len(STAGES))
        self.assertEqual("%016x" % f.epoch, s["epoch"])
        self.assertEqual(f.published, f.number)
        self.assertGreaterEqual(f.captured, f.published + f.overload)
        self.assertLess(sum(f.stage_ns), f.published_ns - f.left_ns)

    def test_metrics(self):
        code, headers, body = self.i.http("/metrics")
        self.assertEqual(code, 200)
        self.assertEqual(headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        m = openmetrics.parse(body)
        value = openmetrics.value
        published = value(m, "stixeld_frames_published", "_total")
        self.assertGreaterEqual(published, 20)
        s = self.i.until_published(published)  # a page is cached for 10 ms: it may be older than metrics
        for reason in ("overload", "unpaired", "corrupt", "no_map", "teardown"):
            self.assertGreaterEqual(value(m, "stixeld_frames_dropped", "_total", reason=reason), 0)
        self.assertEqual(value(m, "stixeld_state", stixeld_state="running"), 1)
        self.assertEqual(value(m, "stixeld", "_info", instance="test", version=s["version"], backend="cpu",
                               device=s["engine"]["device"], input="host", source="synthetic"), 1)
        count = value(m, "stixeld_capture_to_publish_seconds", "_count")
        total = value(m, "stixeld_capture_to_publish_seconds", "_sum")
        self.assertGreaterEqual(count, 20)
        self.assertTrue(0 < total / count < SLOWER, (total, count))
        middle = value(m, "stixeld_capture_to_publish_seconds", quantile="0.5")
        self.assertTrue(0 < middle <= value(m, "stixeld_capture_to_publish_seconds", quantile="0.99") < 5 * SLOWER)
        self.assertGreater(value(m, "stixeld_stage_seconds", "_sum", stage="sgm"), 0)
        self.assertEqual(m["stixeld_stage_seconds"].unit, "seconds")
        # every family is documented, and every documented family exists or is in the list of optional families
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "use", "metrics.md")) as f:
            documented = {word.strip("`") for line in f if line.startswith("| `stixeld")
                          for word in line.split()[1:2]}
        self.assertEqual(set(m) - documented, set())
        depends = {name for name in documented  # depends on the machine's sensors; test_power.py checks all of them
                   if name.startswith(("stixeld_power", "stixeld_energy", "stixeld_board", "stixeld_clock",
                                    "stixeld_scores", "stixeld_frames_by_scores",  # test_semantics.py checks these
                                    "stixeld_disparity_maps",  # test_external.py checks these
                                    # quality/motion/test_daemon.py checks these
                                    "stixeld_frames_by_motion", "stixeld_speed", "stixeld_yaw_rate", "stixeld_range",
                                    "stixeld_row_correction_"))}  # test_pictures.py checks these
        depends |= {"stixeld_joules_per_frame", "stixeld_fps_per_watt", "stixeld_road_horizon_row_pixels",
                    "stixeld_road_pitch_degrees", "stixeld_road_roll_degrees", "stixeld_road_height_meters",
                    "stixeld_road_pitch_sigma_degrees", "stixeld_road_roll_sigma_degrees",
                    "stixeld_road_height_sigma_meters", "stixeld_road_age_frames"}
        self.assertEqual(documented - set(m) - depends,
                         {"stixeld_camera_errors", "stixeld_camera_sequence_gaps", "stixeld_camera_dropped",
                          "stixeld_camera_odd_jpeg"})

    def test_the_parser_is_strict(self):
        good = self.i.http("/metrics")[2]
        for bad in (good[:-1], good.replace("# EOF\n", ""), good.replace("_total ", " ", 1),
                    good.replace(" 1\n", " one\n", 1), good.replace('="running"', '="starting"', 1),
                    good.replace("# UNIT stixeld_uptime_seconds seconds", "# UNIT stixeld_uptime_seconds ms"),
                    good.replace("# EOF", "stixeld_x 1\n# EOF"), good + good, good.replace("\n", "\n\n", 1)):
            with self.assertRaises(ValueError):
                openmetrics.parse(bad)

    def test_health_and_config(self):
        self.assertEqual(self.i.health(), (200, "running"))
        code, headers, body = self.i.http("/config")
        self.assertEqual((code, headers["content-type"]), (200, "application/json"))
        config = json.loads(body)
        self.assertEqual(config["source"]["fps"]["value"], self.fps)
        self.assertEqual(config["stereo"]["disparities"]["value"], 32)
        self.assertEqual(config["source"]["fps"]["restart"], True)
        self.assertEqual(config["log"]["levels"]["restart"], False)

    def test_http_rules(self):
        code, headers, body = self.i.http("/status", "HEAD")
        self.assertEqual((code, body), (200, ""))
        self.assertGreater(int(headers["content-length"]), 500)
        code, _, body = self.i.http("/nothing")
        self.assertEqual(code, 404)
        self.assertIn("/status /metrics /healthz /config", body)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
            code, headers, _ = self.i.http("/status", method)
            self.assertEqual((method, code), (method, 405))
            self.assertEqual(headers["allow"], "GET, HEAD")
        self.assertEqual(self.i.http("/status?x=1")[0], 200)
        self.assertEqual(self.i.http("/../status")[0], 404)
        self.assertEqual(self.i.http("/%2e%2e/" + "x" * 200)[0], 404)

    def test_modes(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.i.status_path).st_mode), 0o660)
        self.assertEqual(stat.S_IMODE(os.stat(self.i.stream_path).st_mode), 0o660)
        self.assertEqual(stat.S_IMODE(os.stat(self.i.ring_path).st_mode), 0o640)

    def test_garbage_on_the_status_socket(self):
        noise = random.Random(1)
        requests = [b"", b"\0" * 100, b"GET\r\n\r\n", b"GET /status\r\n\r\n", b"\r\n" * 5000, b"A" * 100000,
                    b"GET /" + b"x" * 60000 + b" HTTP/1.1\r\n\r\n",
                    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
                    b"POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n" + b"z" * 200000,
                    b"GET /status HTTP/9.9\r\nHost: x\r\n\r\n"]
        requests += [bytes(noise.randrange(256) for _ in range(noise.randrange(2000))) for _ in range(40)]
        for r in requests:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(self.i.status_path)
                s.settimeout(0.05)
                try:
                    s.sendall(r)
                    s.shutdown(socket.SHUT_WR)
                    reply = s.recv(4096)
                    if reply and not r.startswith(b"GET /status HTTP"):
                        self.assertRegex(reply, rb"^HTTP/1\.[01] (4|5)\d\d ")
                except (TimeoutError, ConnectionError):
                    pass
        self.assertEqual(self.i.health()[0], 200)

    def test_too_many_clients(self):
        before = self.i.status()["frames"]["published"]
        idle = []
        try:
            for _ in range(200):
                s = socket.socket(socket.AF_UNIX)
                s.setblocking(False)
                try:
                    s.connect(self.i.status_path)
                    s.send(b"GET /status HT")  # half a request
                    idle.append(s)
                except (BlockingIOError, BrokenPipeError):  # the kernel's queue is full, or the daemon refuses
                    s.close()
                    time.sleep(0.005)
            self.assertGreater(len(idle), 32)
            # frames continue, and the daemon's number of descriptors is bounded
            until(lambda: self.i.ring_state()[2] > before, 30, "frames beside the crowd")
            self.assertLess(len(os.listdir("/proc/%d/fd" % self.i.process.pid)), 32 + 40)
        finally:
            for s in idle:
                s.close()
        until(self.i.answers, 30, "status after the crowd")

    def test_garbage_and_slow_readers_on_the_frame_socket(self):
        slow = self.stream(self.i)  # this client never reads
        for r in (b"x", b"\0" * 8, bytes(range(1, 251)) * 12, b"HTXS" + b"\xff" * 4):
            s = self.stream(self.i)
            try:
                s.send(r)
            except OSError:
                pass
        good = self.stream(self.i)
        frames = receive(good, 15)
        self.assertEqual(len(frames), 15)
        s = self.i.status()
        if IDLE:
            self.assertLess(s["latency_10s_us"]["capture_to_publish"]["p50"], 200000 * SLOWER)
        until(lambda: self.i.status()["stream"]["garbage"] >= 3, 30, "garbage counted")
        slow.close()


if __name__ == "__main__":
    unittest.main()
