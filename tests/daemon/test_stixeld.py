# stixeld from outside: start, status, signals, every exit code by a real cause, bad neighbours on its sockets.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import re
import signal
import socket
import stat
import subprocess
import time
import unittest

import openmetrics
from harness import SANITIZED, SMALL, STIXELD, TestCase, receive, until

STAGES = ["ingest", "census", "sgm", "winner", "median", "left_right", "speckle", "smooth", "confidence", "road",
          "reduce", "segment", "compact", "monitor"]
SPANS = ["capture_to_publish", "capture_to_engine", "engine_to_result", "result_to_publish"]
FREE = ["-s", "source.fps=0"]
SLOWER = 30 if SANITIZED else 1  # there, and beside compilers, one frame took four seconds


def write_pair(folder, name, seed, width=160, height=96):
    """A pair of PGM images as left/NAME and right/NAME: texture, moved by 8 px."""
    noise = random.Random(seed)
    for side, shift in (("left", 0), ("right", 8)):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
        noise.seed(seed)
        rows = [bytes(noise.randrange(256) for _ in range(width + 8))[shift:shift + width] for _ in range(height)]
        with open(os.path.join(folder, side, name), "wb") as f:
            f.write(b"P5\n%d %d\n255\n" % (width, height) + b"".join(rows))


class Life(TestCase):
    def test_publishes_and_ends(self):
        i = self.instance()
        code, out, err = i.run_once(*SMALL, *FREE, "--frames", "20", "-s", "engine.backend=reference")
        self.assertEqual((code, out), (0, ""), err)
        self.assertIn("engine reference", err)
        self.assertIn("20 frames published, 0 pairs dropped", err)
        self.assertEqual(i.leftovers(), [])

    def test_engines_publish_the_same(self):
        records = {}
        for engine in ("reference", "cpu"):
            i = self.instance()
            i.start(*SMALL, *FREE, "-s", "engine.backend=" + engine, "-s", "output.slots=256",
                    "-s", "engine.contexts=1")
            ring = i.ring()
            until(lambda: ring.live()[2] >= 12, 20, "twelve frames")
            i.process.kill()
            i.process.wait()
            records[engine] = {f.number: f.record for f in ring.frames()}
        common = sorted(set(records["reference"]) & set(records["cpu"]))
        self.assertGreaterEqual(len(common), 10)
        for n in common:
            self.assertEqual(records["reference"][n], records["cpu"][n], "frame %d" % n)
        self.assertGreater(len({records["cpu"][n] for n in common}), 6)

    def test_sigterm_and_sigint(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            i = self.instance()
            i.start(*SMALL)
            i.until_published(3)
            ring = i.ring()
            self.assertEqual(i.stop(how), 0)
            self.assertEqual(ring.live()[0], "closed")
            self.assertEqual(i.leftovers(), [])
            self.assertIn("stopping", i.text())
    
    def test_stray_signals_change_nothing(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
            i.process.send_signal(s)
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        i.process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        i.process.send_signal(signal.SIGCONT)
        i.until_published(n + 6)
        self.assertEqual(i.stop(), 0)

    def test_sigabrt_ends_it(self):
        # the watchdog's signal must not be blocked
        i = self.instance()
        i.start(*SMALL)
        self.assertEqual(i.stop(signal.SIGABRT), -signal.SIGABRT)

    def test_killed_and_restarted(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(2)
        old = i.ring()
        epoch = i.status()["epoch"]
        i.process.kill()
        i.process.wait()
        self.assertTrue(os.path.exists(i.ring_path))
        i.start(*SMALL)
        i.until_published(2)
        self.assertEqual(old.live()[0], "replaced")
        self.assertNotEqual(i.status()["epoch"], epoch)
        self.assertEqual(os.listdir(i.shm), ["stixeld.test"])
        self.assertEqual(i.stop(), 0)
        self.assertEqual(i.leftovers(), [])

    def test_second_instance_is_refused(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(1)
        before = i.leftovers()
        code, _, err = i.run_once(*SMALL)
        self.assertEqual(code, 73)
        self.assertIn(str(i.process.pid), err)
        self.assertEqual(i.leftovers(), before)
        n = i.status()["frames"]["published"]
        i.until_published(n + 2)
        # another name is another instance
        self.assertEqual(subprocess.run([STIXELD, "--instance", "other", *SMALL, *FREE, "--frames", "2"],
                                        env=i.environment(), capture_output=True).returncode, 0)
        self.assertEqual(i.stop(), 0)

    def test_fifty_rounds_leave_nothing(self):
        i = self.instance()
        rounds = 5 if SANITIZED else 50
        for _ in range(rounds):
            code, _, err = i.run_once(*SMALL, *FREE, "-s", "source.size=64x48", "--frames", "2")
            self.assertEqual(code, 0, err)
        self.assertEqual(i.leftovers(), [])

    def test_descriptors_and_memory_do_not_grow(self):
        i = self.instance()
        i.start(*SMALL)
        i.until_published(5)
        i.http("/status")
        folder = "/proc/%d/fd" % i.process.pid

        def memory():
            with open("/proc/%d/status" % i.process.pid) as f:
                return int([line for line in f if line.startswith("VmRSS")][0].split()[1])
        fds, rss = len(os.listdir(folder)), memory()
        for _ in range(100):
            i.http("/metrics")
            i.http("/status")
            i.stream().close()
        until(lambda: i.status()["stream"]["clients"] == 0, 5, "no clients")
        until(lambda: len(os.listdir(folder)) <= fds + 1, 5, "descriptors closed")
        if not SANITIZED:
            self.assertLess(memory() - rss, 2000)
        self.assertEqual(i.stop(), 0)

    def test_closed_standard_descriptors(self):
        # 0, 1, 2 must not become a socket into which the log is written
        i = self.instance()
        p = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", STIXELD, "--instance", "test", *SMALL],
                             env=i.environment())
        i.process = p
        until(i.answers, 10, "status")
        self.assertEqual([os.readlink("/proc/%d/fd/%d" % (p.pid, fd)) for fd in range(3)], ["/dev/null"] * 3)
        i.until_published(3)
        self.assertEqual(i.stop(), 0)

    def test_sockets_passed_by_systemd(self):
        i = self.instance()
        i.start_activated(*SMALL)
        self.assertEqual(len(receive(self.stream(i), 3)), 3)
        self.assertEqual(os.listdir(i.run + "/test"), ["lock"])
        self.assertEqual(i.stop(), 0)
        # the manager's sockets stay, for the next start
        self.assertTrue(os.path.exists(i.status_path) and os.path.exists(i.stream_path))

    def test_priority_and_locked_memory(self):
        i = self.instance()
        i.start(*SMALL, "-s", "realtime.priority=7", "-s", "realtime.lock_memory=yes")
        i.until_published(1)
        with open("/proc/%d/status" % i.process.pid) as f:
            locked = int([line for line in f if line.startswith("VmLck")][0].split()[1])
        # ThreadSanitizer swallows mlockall()
        self.assertTrue(locked > 1000 or SANITIZED or "realtime.lock_memory is not permitted" in i.text(), i.text())
        policies = {}
        for tid in os.listdir("/proc/%d/task" % i.process.pid):
            with open("/proc/%d/task/%s/comm" % (i.process.pid, tid)) as f:
                policies[f.read().strip()] = os.sched_getscheduler(int(tid))
        if "realtime.priority = 7 is not permitted" not in i.text():
            self.assertEqual(policies.pop("capture"), os.SCHED_FIFO)
        self.assertEqual(set(policies.values()), {os.SCHED_OTHER}, policies)
        self.assertEqual(i.stop(), 0)

    def test_log_levels(self):
        i = self.instance()
        code, _, err = i.run_once(*SMALL, *FREE, "--frames", "2", "-s", "log.levels=error")
        self.assertEqual((code, err), (0, ""))


class Pages(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.i = Pages().instance()
        # so slow that no machine falls behind and drops; with sanitizers one might, so they set the pace
        cls.fps = 0 if SANITIZED else 10
        cls.i.start(*SMALL, "-s", "source.fps=%d" % cls.fps)
        cls.i.until_published(20)
        until(lambda: cls.i.status()["fps"]["last_1s"], 10, "fps known")

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
            self.assertEqual((c["width"], c["height"], c["format"]), (160, 96, "grey8"))
            self.assertGreaterEqual(c["captured"], 20)
            self.assertIsNone(c["sequence_gaps"])
        self.assertEqual(set(s["source"]["pair_skew_us"]), {"p50", "p99", "max"})
        f = s["frames"]
        self.assertEqual(set(f), {"captured", "published", "dropped"})
        self.assertEqual(set(f["dropped"]), {"overload", "unpaired", "corrupt", "no_map"})
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
        self.assertAlmostEqual(s["stixels"]["per_frame"] * s["stixels"]["pixels_per_stixel"], 160 * 96, delta=1)
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
        # the header is sealed before the frame is in the ring
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
        s = self.i.status()
        self.assertTrue(20 <= value(m, "stixeld_frames_published", "_total") <= s["frames"]["published"])
        for reason in ("overload", "unpaired", "corrupt", "no_map"):
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
        # every family is documented, and every documented one exists or may be missing by right
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "metrics.md")) as f:
            documented = {word.strip("`") for line in f if line.startswith("| `stixeld")
                          for word in line.split()[1:2]}
        self.assertEqual(set(m) - documented, set())
        depends = {name for name in documented  # on the machine's sensors: test_power.py has them all
                   if name.startswith(("stixeld_power", "stixeld_energy", "stixeld_board", "stixeld_clock",
                                    "stixeld_scores", "stixeld_frames_by_scores",  # and test_semantics.py
                                    "stixeld_disparity_maps",  # and test_external.py
                                    "stixeld_row_correction_"))}  # and test_pictures.py
        depends |= {"stixeld_joules_per_frame", "stixeld_fps_per_watt", "stixeld_road_horizon_row_pixels",
                    "stixeld_road_pitch_degrees", "stixeld_road_roll_degrees", "stixeld_road_height_meters",
                    "stixeld_road_pitch_sigma_degrees", "stixeld_road_roll_sigma_degrees",
                    "stixeld_road_height_sigma_meters", "stixeld_road_age_frames"}
        self.assertEqual(documented - set(m) - depends,
                         {"stixeld_camera_errors", "stixeld_camera_sequence_gaps", "stixeld_camera_dropped"})

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
                except (BlockingIOError, BrokenPipeError):  # the kernel's queue is full, or it is refused
                    s.close()
                    time.sleep(0.005)
            self.assertGreater(len(idle), 32)
            # frames go on; the descriptors of the daemon are bounded
            until(lambda: self.i.ring_state()[2] > before, 10, "frames beside the crowd")
            self.assertLess(len(os.listdir("/proc/%d/fd" % self.i.process.pid)), 32 + 40)
        finally:
            for s in idle:
                s.close()
        until(self.i.answers, 10, "status after the crowd")

    def test_garbage_and_slow_readers_on_the_frame_socket(self):
        slow = self.stream(self.i)  # never reads
        for r in (b"x", b"\0" * 8, os.urandom(3000), b"HTXS" + b"\xff" * 4):
            s = self.stream(self.i)
            try:
                s.send(r)
            except OSError:
                pass
        good = self.stream(self.i)
        frames = receive(good, 15)
        self.assertEqual(len(frames), 15)
        s = self.i.status()
        self.assertLess(s["latency_10s_us"]["capture_to_publish"]["p50"], 200000 * SLOWER)
        until(lambda: self.i.status()["stream"]["garbage"] >= 3, 5, "garbage counted")
        slow.close()


class Configuration(TestCase):
    def test_reload(self):
        i = self.instance()
        path = os.path.join(i.top, "c.conf")

        def write(extra=""):
            with open(path, "w") as f:
                f.write("[source]\nkind = synthetic\nsize = 160x96\nfps = 50\n[stereo]\ndisparities = 32\n"
                        "[engine]\nthreads = 1\n" + extra)
        write()
        i.start("-c", path, notify=True)
        i.until_published(2)
        self.assertNotIn("debug", i.text())

        write("[log]\nlevels = warning daemon=debug\n")
        i.messages()
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "debug" in i.http("/config")[2].split('"levels"')[1][:80], 5, "new level in /config")
        i.until_message("RELOADING=1")
        stamp = int(i.until_message("MONOTONIC_USEC=")[0].split("=")[1])
        self.assertLess(abs(stamp / 1e6 - time.monotonic()), 10)
        self.assertTrue(i.until_message("READY=1"))

        write("[log]\nlevels = info\n[stixels]\nwidth = 7\n[output]\nslots = 16\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "needs a restart" in i.text(), 5, "restart-only keys")
        line = [x for x in i.text().splitlines() if "needs a restart" in x][-1]
        self.assertNotIn("stixels.width", line)
        self.assertIn("output.slots", line)
        self.assertEqual(self.receive_columns(i), {22})

        write("[log]\nlevels = info\n[stereo]\np1 = many\nnonsense = 3\n")
        i.process.send_signal(signal.SIGHUP)
        until(lambda: "stay as they were" in i.text(), 5, "broken file")
        self.assertIn("nonsense", i.text())
        self.assertIn("many", i.text())
        self.assertIn(i.status()["state"], ("running", "degraded") if SANITIZED else ("running",))

        os.unlink(path)
        i.process.send_signal(signal.SIGHUP)
        until(lambda: i.text().count("stay as they were") == 2, 5, "missing file")
        n = i.status()["frames"]["published"]
        i.until_published(n + 3)
        self.assertEqual(i.stop(), 0)

    def receive_columns(self, i):
        return {f.columns for f in receive(self.stream(i), 3)}

    def test_drop_ins(self):
        i = self.instance()
        path = os.path.join(i.top, "c.conf")
        os.mkdir(path + ".d")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\nsize = 96x64\nfps = 20\n[stereo]\ndisparities = 32\n")
        with open(path + ".d/10-size.conf", "w") as f:
            f.write("[source]\nsize = 128x64\n[stixels]\nwidth = 4\n")
        with open(path + ".d/20-width.conf", "w") as f:
            f.write("[stixels]\nwidth = 8\n")
        i.start("-c", path)
        i.until_published(1)
        f = i.ring().frames()[-1]
        self.assertEqual((f.width, f.columns), (128, 16))
        files = [path, path + ".d/10-size.conf", path + ".d/20-width.conf"]
        self.assertEqual(i.status()["config"], {"folder": os.getcwd(), "files": files, "overrides": []})
        os.remove(files[1])
        i.process.send_signal(signal.SIGHUP)
        until(lambda: i.status()["config"]["files"] == [files[0], files[2]], 5, "one file less")
        self.assertEqual(i.stop(), 0)

    def test_print_and_check(self):
        i = self.instance()
        code, out, _ = i.run_once(*SMALL, "--print-config")
        self.assertEqual(code, 0)
        path = os.path.join(i.top, "printed.conf")
        with open(path, "w") as f:
            f.write(out)
        code, again, err = i.run_once("-c", path, "--print-config")
        self.assertEqual((code, again), (0, out), err)
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertEqual(i.leftovers(), ["printed.conf"])

    def test_template(self):
        """Without a file there is one to fill in: every key, the one that must be given as a comment."""
        i = self.instance()
        code, out, err = i.run_once("--print-config")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("; no default, must be given\n#kind =\n", out)
        self.assertEqual(re.findall("(?m)^#[a-z].*", out), ["#kind ="])
        path = os.path.join(i.top, "filled.conf")
        with open(path, "w") as f:
            f.write(out)
        for again in ("--print-config", "--check-config"):
            code, said, err = i.run_once("-c", path, again)
            self.assertEqual((code, said, err), (78, "", "[source] kind: not given, allowed v4l2, files, synthetic\n"))
        with open(path, "w") as f:
            f.write(out.replace("#kind =", "kind = synthetic"))
        self.assertEqual(i.run_once("-c", path, "--check-config"), (0, "", ""))
        self.assertEqual(i.run_once("-c", path, "--print-config")[1], out.replace("#kind =", "kind = synthetic"))

    def test_template_with_settings(self):
        i = self.instance()
        code, out, err = i.run_once("--print-config", "-s", "source.kind=v4l2", "-s", "stixels.width=9")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("\nkind = v4l2\n", out)
        self.assertIn("\nwidth = 9\n", out)
        code, out, err = i.run_once("--print-config", "-s", "stixels.width=99")
        self.assertEqual((code, out), (78, ""))
        self.assertIn("[stixels] width: found '99', allowed 1..32", err)
        code, out, err = i.run_once("--print-config", "--check-config", "-s", "source.kind=v4l2")
        self.assertEqual((code, out), (78, ""))
        self.assertIn("v4l2 needs the device in left", err)


class ExitCodes(TestCase):
    def check(self, code, args, *words, i=None, env=None):
        i = i or self.instance()
        before = i.leftovers()
        got, _, err = i.run_once(*args, env=env)
        self.assertEqual(got, code, err)
        for word in words:
            self.assertIn(word, err)
        self.assertEqual(i.leftovers(), before)
        return err

    def test_usage_64(self):
        self.check(64, ["--nonsense"], "nonsense", "--help")
        self.check(64, ["-s"], "--set needs SECTION.KEY=VALUE")
        self.check(64, ["stray"], "'stray'")
        for n in ("0", "-1", "x", "1x", "", "99999999999999999999999"):
            self.check(64, [*SMALL, "--frames", n], "--frames")
        for n in ("", "a/b", "..", "x" * 65):
            self.check(64, ["--instance", n], "--instance")

    def test_help_and_version(self):
        i = self.instance()
        code, out, err = i.run_once("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("--instance", "--frames", "--help-keys", "SIGHUP", "73"):
            self.assertIn(word, out)
        self.assertRegex(i.run_once("--version")[1], r"^stixeld \d+\.\d+\.\d+\n$")

    def test_data_65(self):
        i = self.instance()
        files = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1", *FREE]
        self.check(65, [*files, "-s", "source.path=" + i.top + "/nowhere"], "nowhere", i=i)
        empty = os.path.join(i.top, "empty")
        os.mkdir(empty)
        self.check(65, [*files, "-s", "source.path=" + empty], "empty", i=i)
        broken = os.path.join(i.top, "broken")
        write_pair(broken, "a.pgm", 1)
        with open(broken + "/left/a.pgm", "wb") as f:
            f.write(b"P5\nrubbish")
        self.check(65, [*files, "-s", "source.path=" + broken], "a.pgm", i=i)

    def test_gpu_69(self):
        self.check(69, [*SMALL, "-s", "engine.backend=cuda"], "engine.backend = cuda: ")

    def test_shared_memory_73(self):
        i = self.instance()
        self.check(73, SMALL, i.top + "/missing", i=i, env={"STIXELD_SHM_DIR": i.top + "/missing"})

    def test_full_shared_memory_73(self):
        i = self.instance()
        full = os.path.join(i.top, "full")
        os.mkdir(full)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", full], capture_output=True).returncode:
            self.skipTest("may not mount a small tmpfs")
        try:
            err = self.check(73, [*SMALL, "-s", "output.slots=256"], env={"STIXELD_SHM_DIR": full})
            self.assertIn("full", err)
            self.assertEqual(os.listdir(full), [])
        finally:
            subprocess.run(["umount", full], check=True)

    def test_runtime_directory_73(self):
        i = self.instance()
        blocked = os.path.join(i.top, "file")
        with open(blocked, "w"):
            pass
        self.check(73, SMALL, blocked, i=i, env={"RUNTIME_DIRECTORY": blocked})
        deep = os.path.join(i.top, "d" * 120)
        os.mkdir(deep)
        self.check(73, SMALL, env={"RUNTIME_DIRECTORY": deep})

    def test_configuration_78(self):
        i = self.instance()
        path = os.path.join(i.top, "bad.conf")
        with open(path, "w") as f:
            f.write("[source]\nkind = synthetic\nfps = fast\n[stereo]\ndisparities = 100\ncolour = blue\n"
                    "[nowhere]\nx = 1\n")
        for check in ([], ["--check-config"]):
            err = self.check(78, ["-c", path, *check, "-s", "stereo.paths=5"], "bad.conf:3", "bad.conf:5", "bad.conf:6",
                             "nowhere", "paths", i=i)
            self.assertGreaterEqual(len(err.splitlines()), 5)
        self.check(78, ["-c", i.top + "/missing.conf"], "missing.conf", i=i)
        self.check(78, [], "kind", i=i)
        # values that only do not go together
        self.check(78, [*SMALL, "-s", "stereo.p1=100", "-s", "stereo.p2=200"], "stereo.p1 = 100", "stereo.p2 = 200",
                   i=i)
        # raw cameras of which the file does not say how they stand
        raw = os.path.join(i.top, "raw.yaml")
        with open(raw, "w") as f:
            f.write("%YAML:1.0\n---\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0.1, 0, 0, 0]\n"
                    "K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD2: [0.1, 0, 0, 0]\n")
        for more in (["--check-config"], ["--check-config", "-s", "camera.rectify=yes"]):
            self.check(78, [*SMALL, "-s", "camera.calibration=" + raw, *more], raw, "without R and T", i=i)
        self.check(78, [*SMALL, "-s", "camera.rectify=yes"], "camera.rectify=yes", "no calibration file", i=i)
        # what this engine does not compute
        self.check(78, [*SMALL, "-s", "engine.backend=cpu", "-s", "stereo.aggregation=fastdt", "-s",
                        "stereo.fastdt=float"],
                   "stereo.fastdt = float: only engine.backend = reference computes it", i=i)

    def test_lost_runtime_environment(self):
        # a notify socket that is not there or makes no sense is no reason to fail
        i = self.instance()
        for where in ("/nowhere/notify", "nonsense", "@" + "x" * 200):
            code, _, err = i.run_once(*SMALL, *FREE, "--frames", "1", env={"NOTIFY_SOCKET": where})
            self.assertEqual(code, 0, err)


class Files(TestCase):
    ARGS = ["-s", "source.kind=files", "-s", "stereo.disparities=32", "-s", "engine.threads=1"]

    def run_files(self, i, *args):
        """Runs to the end: (published, dropped by overload, unreadable), from the last line of the log."""
        code, _, err = i.run_once(*self.ARGS, *FREE, "-s", "source.path=" + i.top + "/images", *args)
        self.assertEqual(code, 0, err)
        m = re.search(r"(\d+) frames published, (\d+) pairs dropped by overload, (\d+) unreadable", err)
        return tuple(int(n) for n in m.groups()), err

    def test_all_files_become_frames(self):
        i = self.instance()
        for n in range(30):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i)[0], (30, 0, 0))

    def test_a_broken_file_is_skipped_and_counted(self):
        i = self.instance()
        for n in range(9):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        with open(i.top + "/images/right/004.pgm", "wb") as f:
            f.write(b"P5\n160 96\n255\nshort")
        counts, err = self.run_files(i)
        self.assertEqual(counts, (8, 0, 1))
        self.assertIn("004.pgm", err)
        # also when a number of frames is asked for: the broken one is none of them
        self.assertEqual(self.run_files(i, "--frames", "6")[0], (6, 0, 1))

    def test_loop(self):
        i = self.instance()
        for n in range(3):
            write_pair(i.top + "/images", "%03d.pgm" % n, n)
        self.assertEqual(self.run_files(i, "-s", "source.loop=yes", "--frames", "20")[0], (20, 0, 0))


class SlowEngine(TestCase):
    # slow enough, and no slower: sanitizers take ten times as long
    SOME, MANY = ("480x160", "480x320") if SANITIZED else ("640x240", "1280x960")

    def test_newest_wins_with_the_reference_engine(self):
        i = self.instance()
        # a frame of the reference takes far longer than the 20 ms between pairs
        i.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.SOME, "-s", "stereo.disparities=64", "-s",
                "engine.backend=reference", "-s", "source.fps=50", "-s", "output.slots=64")
        ring = i.ring()
        i.until_published(6, 60)
        self.assertEqual(i.stop(), 0)
        frames = ring.frames()[1:]
        self.assertGreater(frames[-1].overload, 5)
        for f in frames:
            compute = sum(f.stage_ns)
            waited = f.submitted_ns - f.left_ns
            # the pair that is submitted is the newest: younger than two computations, whatever is slow around us
            self.assertLess(waited, compute + 100e6, (waited, compute))

    def test_pings_stop_while_one_frame_takes_too_long(self):
        i = self.instance()
        i.start("-s", "source.kind=synthetic", "-s", "source.size=" + self.MANY, "-s", "stereo.disparities=256", "-s",
                "engine.backend=reference", "-s", "engine.contexts=1", "-s", "output.stream=no", notify=True,
                env={"WATCHDOG_USEC": 200000})
        i.until_message("READY=1", 60)
        until(lambda: i.health()[0] == 503 and "no frame finished" in i.health()[1], 60, "healthz 503")
        for _ in range(2):  # the second order does not wait for the frame
            i.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        self.assertEqual(i.wait(5), 0)
        self.assertEqual(i.leftovers(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
