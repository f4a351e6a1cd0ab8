# Tests stixeld with fake sensors: a board whose power ramps, a card, and sensors that go away.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import shutil
import threading
import time
import unittest

import openmetrics
from harness import IDLE, SANITIZED, SMALL, TestCase, until

HWMON = "/sys/class/hwmon/hwmon3"
RAILS = ["VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"]
FIRST_W, SLOPE_W_PER_S = 10.0, 0.8
FPS = 5 if SANITIZED else 25
MV, OTHER_MA = 5000, 400  # voltage of each rail, mV; current of the two constant rails, mA


class Board:
    """An AGX Orin in its own folder. The first rail's power ramps. A reading is at most STEP_S old."""
    STEP_S = 0.01

    def __init__(self, root):
        self.root = root
        self.began = time.monotonic()
        self.quit = threading.Event()
        self.late_s = 0.0
        self.make()
        self.thread = threading.Thread(target=self.ramp)
        self.thread.start()

    def put(self, path, text):
        path = self.root + path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text + "\n")

    def make(self):
        for n, label in enumerate(RAILS, 1):
            self.put(HWMON + "/in%d_label" % n, label)
            self.put(HWMON + "/in%d_input" % n, "%d" % MV)
            self.put(HWMON + "/curr%d_input" % n, "%06d" % OTHER_MA)
        self.put("/sys/class/hwmon/hwmon4/name", "ina3221")
        self.put("/sys/class/hwmon/hwmon4/in2_label", "VDDQ_VDD2_1V8AO")
        self.put("/sys/class/hwmon/hwmon4/in2_input", "5000")
        self.put("/sys/class/hwmon/hwmon4/curr2_input", "20000")
        self.put("/sys/firmware/devicetree/base/model", "NVIDIA Jetson AGX Orin Developer Kit\0")
        self.put("/var/lib/nvpmodel/status", "pmode:0002")
        self.put("/etc/nvpmodel.conf", "< POWER_MODEL ID=2 NAME=MODE_30W >")
        self.put("/sys/class/devfreq/17000000.gpu/cur_freq", "612000000")
        self.put("/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1728000")
        self.put("/sys/kernel/debug/bpmp/debug/clk/emc/rate", "3199000000")
        self.set_current()
        self.put(HWMON + "/name", "ina3221")  # written last: a sensor with a name is complete

    def watts(self, t):
        return FIRST_W + SLOPE_W_PER_S * (t - self.began)

    def joules(self, a, b):
        """Returns the integral of watts() from a to b."""
        return (self.watts(a) + self.watts(b)) / 2 * (b - a)

    def set_current(self):
        """Overwrites the value in place with the same number of digits. A reader sees the old or the new value."""
        ma = (self.watts(time.monotonic()) - 2 * MV * OTHER_MA * 1e-6) / MV * 1e6
        try:
            fd = os.open(self.root + HWMON + "/curr1_input", os.O_WRONLY)
        except FileNotFoundError:
            return
        os.pwrite(fd, b"%06d\n" % round(ma), 0)
        os.close(fd)

    def ramp(self):
        last = time.monotonic()
        while not self.quit.wait(self.STEP_S):
            self.set_current()
            now = time.monotonic()
            self.late_s, last = max(self.late_s, now - last), now

    def close(self):
        self.quit.set()
        self.thread.join()


class Power(TestCase):
    def board(self, i):
        b = Board(os.path.join(i.top, "board"))
        self.addCleanup(b.close)
        return b

    def start(self, *args, env=None):
        i = self.instance()
        board = self.board(i)
        i.start(*SMALL, "-s", "source.fps=%d" % FPS, "-s", "power.root=" + board.root, *args, env=env)
        return i, board

    def look(self, i):
        """Returns (status, time of the last reading). Asks again if the answer itself took long."""
        while True:
            before = time.monotonic()
            s = i.status()
            after = time.monotonic()
            if after - before < 0.2:
                return s, (before + after) / 2 - s["power"]["age_ms"] / 1000

    def until_power(self, i, seconds, what="power"):
        return until(lambda: (lambda s: s if (s["power"]["since_start"]["seconds"] or 0) >= seconds else None)(
                         i.status()), 60, "%s for %.1f s" % (what, seconds))

    def test_a_ramp(self):
        i, board = self.start()
        self.until_power(i, 1.5)
        a, a_s = self.look(i)
        self.until_power(i, 5.0)
        b, b_s = self.look(i)
        p = b["power"]
        self.assertEqual((p["source"], p["scope"], p["stale"], p["reason"]), ("ina3221", "sum of 3 rails", False, None))
        self.assertEqual(p["device"], ", ".join(RAILS) + " at hwmon3")
        self.assertEqual(p["interval_ms"], 100)
        # the energy between two times is the integral of the ramp; the frames are those published in between
        first, last = a["power"]["since_start"], p["since_start"]
        joules, frames = last["joules"] - first["joules"], last["frames"] - first["frames"]
        seconds = last["seconds"] - first["seconds"]
        slack = 0.01 + 0.5 * board.late_s / seconds  # 1 %, and the delay of the ramp's writer
        published = b["frames"]["published"] - a["frames"]["published"]
        ages_s = (a["power"]["age_ms"] + p["age_ms"]) / 1000
        self.assertAlmostEqual(frames, published, delta=FPS * (ages_s + 0.2) + 2)
        if IDLE:  # the ramp follows this clock
            self.assertAlmostEqual(seconds, b_s - a_s, delta=0.15)
            self.assertAlmostEqual(joules / seconds, board.joules(a_s, b_s) / (b_s - a_s),
                                   delta=slack * board.watts(b_s))
            # the check can fail
            self.assertGreater(abs(joules / seconds - board.watts(a_s)), 3 * 0.01 * board.watts(b_s))
            self.assertAlmostEqual(p["watts"], board.watts(b_s - 0.5), delta=(slack + 0.01) * board.watts(b_s))
        # the quotients match these numbers
        self.assertAlmostEqual(last["joules_per_frame"] * last["frames"], last["joules"], delta=1e-4 * last["joules"])
        self.assertAlmostEqual(p["joules_per_frame"] * p["fps_per_watt"], 1, delta=1e-4)
        if last["seconds"] < 9.5:  # the window covers the whole run
            self.assertAlmostEqual(p["joules_per_frame"], last["joules_per_frame"], delta=1e-4)
            self.assertAlmostEqual(p["watts_10s"] * p["fps_per_watt"], last["frames"] / last["seconds"], delta=0.01)
        self.assertLess(p["watts_10s"], p["watts"])
        self.assertIn("power by ina3221: sum of 3 rails", i.text())

    def test_board_and_metrics(self):
        i, board = self.start()
        s = self.until_power(i, 1.5)
        self.assertEqual(s["board"], {"model": "NVIDIA Jetson AGX Orin Developer Kit",
                                      "power_mode": {"id": 2, "name": "MODE_30W"}, "governor": None,
                                      "cpu_hz": 1728000000, "cpu_max_hz": None, "gpu_hz": 612000000, "gpu_max_hz": None,
                                      "memory_hz": 3199000000})
        m = openmetrics.parse(i.http("/metrics")[2])
        p = i.status()["power"]
        value = openmetrics.value
        self.assertEqual(value(m, "stixeld_power", "_info", source="ina3221", scope="sum of 3 rails",
                               device=p["device"]), 1)
        self.assertEqual(value(m, "stixeld_board", "_info", model=s["board"]["model"], power_mode="MODE_30W"), 1)
        for domain, hz in (("cpu", 1728e6), ("gpu", 612e6), ("memory", 3199e6)):
            self.assertEqual(value(m, "stixeld_clock_hertz", domain=domain), hz)
        joules = value(m, "stixeld_energy_joules", "_total")
        frames = value(m, "stixeld_energy_frames", "_total")
        self.assertTrue(s["power"]["since_start"]["joules"] - 1e-3 <= joules <= p["since_start"]["joules"] + 1e-3)
        self.assertTrue(s["power"]["since_start"]["frames"] <= frames <= p["since_start"]["frames"])
        if p["since_start"]["seconds"] < 9.5:
            self.assertAlmostEqual(value(m, "stixeld_joules_per_frame"), joules / frames, delta=1e-6)
        self.assertAlmostEqual(value(m, "stixeld_joules_per_frame") * value(m, "stixeld_fps_per_watt"), 1, delta=1e-6)
        self.assertTrue(FIRST_W <= value(m, "stixeld_power_watts") <= board.watts(time.monotonic()))
        self.assertTrue(0 <= value(m, "stixeld_power_age_seconds") < 1.1)
        self.assertEqual((m["stixeld_power_watts"].unit, m["stixeld_energy_joules"].unit), ("watts", "joules"))
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "use", "metrics.md")) as f:
            documented = {line.split()[1].strip("`") for line in f if line.startswith("| `stixeld_")}
        self.assertEqual({n for n in documented if n.startswith(("stixeld_power", "stixeld_energy", "stixeld_joules",
                                                                  "stixeld_fps", "stixeld_board", "stixeld_clock"))}
                         - set(m), set())

    def test_a_sensor_that_goes_away(self):
        i, board = self.start()
        before = self.until_power(i, 1.2)
        shutil.rmtree(board.root + HWMON)
        stale = until(lambda: (lambda s: s if s["power"]["stale"] else None)(i.status()), 30, "stale")["power"]
        self.assertEqual([stale[k] for k in ("watts", "watts_10s", "joules_per_frame", "fps_per_watt")], [None] * 4)
        self.assertIn("No such file or directory", stale["reason"])
        self.assertGreaterEqual(stale["age_ms"], 1000)
        self.assertGreaterEqual(stale["since_start"]["joules"], before["power"]["since_start"]["joules"])
        m = openmetrics.parse(i.http("/metrics")[2])
        self.assertNotIn("stixeld_power_watts", m)
        until(lambda: "the power sensor is lost" in i.text(), 30, "the log's line")
        lost = until(lambda: (lambda s: s if "it is not known which rails" in s["power"]["reason"] else None)(
                         i.status()), 20, "a search without success")
        self.assertIsNone(lost["power"]["source"])
        # losing the sensor has no effect on frames
        self.assertGreater(lost["frames"]["published"], before["frames"]["published"])
        board.make()
        measured = lost["power"]["since_start"]["joules"]
        p = until(lambda: (lambda p: p if p["since_start"]["joules"] > measured and p["watts"] else None)(
            i.status()["power"]), 30, "power again")
        self.assertFalse(p["stale"])
        self.assertLess(p["watts"], board.watts(time.monotonic()) + 0.1)  # the time without a sensor does not count

    def test_none(self):
        i = self.instance().start(*SMALL, "-s", "power.source=none")
        p = i.status()["power"]
        self.assertEqual((p["source"], p["reason"], p["stale"]), (None, "power.source = none", False))
        i.close()
        i = self.instance()
        i.start(*SMALL, "-s", "power.source=rapl", "-s", "power.root=" + i.top)
        p = until(lambda: (lambda p: p if "RAPL" in p["reason"] else None)(i.status()["power"]), 30, "reason")
        self.assertEqual([p[k] for k in ("source", "scope", "watts", "joules_per_frame", "fps_per_watt", "age_ms")],
                         [None] * 6)
        self.assertIsNone(p["since_start"]["joules"])
        until(lambda: "power is not measured: the processor's energy counter (RAPL) is not in" in i.text(), 10,
              "the log")
        self.assertFalse([n for n in openmetrics.parse(i.http("/metrics")[2]) if "power" in n or "joules" in n])

    def test_a_card(self):
        """The library in the folder replaces the driver of the card."""
        i, _ = self.start("-s", "power.source=nvml", env={"LD_LIBRARY_PATH": os.environ["STIXELD_FAKE_NVML"],
                                                          "FAKE_NVML_WATTS": "250"})
        s = self.until_power(i, 2.0)
        p = s["power"]
        self.assertEqual((p["source"], p["scope"], p["device"]),
                         ("nvml", "GPU board", "NVIDIA Played 9000, energy counter"))
        if IDLE:  # the fake card counts energy by the clock
            self.assertAlmostEqual(p["watts"], 250, delta=25)
            self.assertAlmostEqual(p["since_start"]["joules"] / p["since_start"]["seconds"], 250, delta=12)
        self.assertEqual((s["board"]["gpu_hz"], s["board"]["memory_hz"]), (1980000000, 3201000000))
        self.assertNotIn("on the card", i.text())

    def test_a_card_that_others_use(self):
        """The card's energy includes all its processes. /status and the log say so."""
        for others in (0, 1, 3, 100):
            i, _ = self.start("-s", "power.source=nvml", env={
                "LD_LIBRARY_PATH": os.environ["STIXELD_FAKE_NVML"], "FAKE_NVML_WATTS": "250",
                "FAKE_NVML_OTHERS": others})
            p = self.until_power(i, 1.0)["power"]
            self.assertEqual(p["scope"], "GPU board" + (" with other processes" if others else ""))
            said = re.search(r"(\d+) other process\w* computes? on the card: watts and joules", i.text())
            self.assertEqual(bool(said), others > 0)
            if others in (1, 3):
                self.assertEqual(int(said[1]), others)
            self.assertEqual(i.stop(), 0)


if __name__ == "__main__":
    unittest.main()
