# Tests stixel-bench: the JSON object that other programs read, and its refusals.
# SPDX-License-Identifier: Apache-2.0
import csv
import json
import os
import re
import unittest

from support import SOURCE, Folder, run, shifted_pair, write_pgm

MODULE = os.environ["STIXEL_FAKE_MODULE"]  # computes what the reference does, under the name cuda

SMALL = ["-s", "stereo.disparities=32", "--size", "160x96"]
KEYS = ["engine", "device", "size", "disparities", "method", "frames", "chain_ms", "stages"]


class Bench(Folder):
    def bench(self, *args, want=0, module="/nowhere"):
        r = run("stixel-bench", *args, env=dict(os.environ, STIXEL_MODULE_PATH=module))
        self.assertEqual(r.returncode, want, r.stderr)
        return r

    def check(self, j):
        self.assertEqual(list(j)[:len(KEYS)], KEYS)
        for series in [j["chain_ms"], *j["stages"].values()]:
            self.assertEqual(sorted(series), ["max", "median", "p99"])
            self.assertTrue(0 <= series["median"] <= series["p99"] <= series["max"])
        self.assertGreater(j["chain_ms"]["median"], 0)
        stages = sum(s["median"] for s in j["stages"].values())
        self.assertLess(stages, 1.5 * j["chain_ms"]["max"])
        self.assertTrue(j["device"])

    def test_json(self):
        for engine in ("cpu", "reference"):
            with self.subTest(engine):
                r = self.bench(*SMALL, "-s", "engine.backend=" + engine, "--frames", 7, "--warm-up", 1, "--json")
                j = json.loads(r.stdout)
                self.check(j)
                self.assertEqual((j["engine"], j["size"], j["disparities"]), (engine, "160x96", 32))
                self.assertEqual((j["method"], j["frames"]), ("slanted", 7))
                self.assertIn("census", j["stages"])

    def test_method(self):
        r = self.bench(*SMALL, "-s", "stixels.method=rdp", "--frames", 2, "--json")
        self.assertEqual(json.loads(r.stdout)["method"], "rdp")

    def test_pair(self):
        for name, rows in zip(("l", "r"), shifted_pair(100, 64, 5)):
            write_pgm(self.path("in", name), rows)
        pair = [self.path("in", "l"), self.path("in", "r")]
        r = self.bench("-s", "stereo.disparities=32", "--pair", *pair, "--frames", 2, "--json")
        self.assertEqual(json.loads(r.stdout)["size"], "100x64")
        r = self.bench("--pair", pair[0], self.path("none"), want=65)
        self.assertIn("none", r.stderr)

    def test_text(self):
        r = self.bench(*SMALL, "--frames", 3)
        self.assertIn("160x96", r.stdout)
        self.assertRegex(r.stdout, r"(?m)^chain +[0-9.]+ +[0-9.]+ +[0-9.]+$")
        self.assertIn("3 frames", r.stdout)
        self.assertNotIn("engine.volume", r.stdout)
        r = self.bench(*SMALL, "--frames", 1, module=MODULE)
        self.assertRegex(r.stdout, r"(?m)^engine.volume = auto: stored, as this is a fake$")

    def test_sizes(self):
        r = self.bench(*SMALL, "--size", "64x48", "--frames", 2, "--json")
        both = json.loads(r.stdout)
        self.assertEqual([j["size"] for j in both], ["160x96", "64x48"])
        for j in both:
            self.check(j)
        r = self.bench(*SMALL, "--size", "64x48", "--frames", 2)
        self.assertEqual(r.stdout.count("\nchain "), 2)

    @unittest.skipIf(os.environ["SX_SANITIZED"], "its sizes are large; what it computes is tested with small ones")
    def test_table(self):
        quick = ["--table", "-s", "engine.backend=cpu", "-s", "stereo.disparities=32", "--frames", 1, "--warm-up", 0]
        lines = self.bench(*quick).stdout.splitlines()
        self.assertRegex(lines[0], r"^engine cpu \(.+\), 1 frames a case; ")
        self.assertEqual(lines[2].split(), ["ms", "SM", "median", "p99", "max", "in", "flight"])
        for line in lines[3:9]:
            self.assertRegex(line, r"^\S.* all( +[0-9]+\.[0-9]{3}){3} +(-|[0-9.]+)$")
        self.assertRegex(lines[-1], r"^9 cases limit a GPU's multiprocessors")
        table = json.loads(self.bench(*quick, "--json").stdout)
        self.assertEqual([j["size"] for j in table], ["1024x440", "1280x720"] + ["1280x384"] * 4)
        for j in table:
            self.check(j)
            self.assertTrue(j["case"])
            self.assertGreater(j["case_ms"]["median"], 0)

    def test_what_the_engine_counts(self):
        j = json.loads(self.bench(*SMALL, "--frames", 3, "--warm-up", 2, "--json").stdout)
        self.assertEqual(j["input"], {"path": "host", "copies_per_frame": 0, "bytes_per_frame": 0,
                                      "results_per_frame": 0, "staged": 0})
        self.assertEqual(j["traffic_bytes_per_pixel"], {"stored": None, "counted": None, "checkpoint": None})
        self.assertGreater(j["memory_bytes"], 160 * 96)
        self.assertGreater(j["pipelined_ms"], 0)
        self.assertLessEqual(j["engine_ms"]["median"], j["chain_ms"]["median"])
        j = json.loads(self.bench(*SMALL, "--frames", 3, "--sms", 7, "--json", module=MODULE).stdout)
        self.check(j)
        self.assertEqual((j["engine"], j["device"], j["sms"], j["contexts"]), ("cuda", "fake device", 7, 2))
        self.assertEqual(j["volume"], "engine.volume = auto: stored, as this is a fake")
        # the pairs lie in pinned memory, so nothing is staged
        self.assertEqual(j["input"], {"path": "copy", "copies_per_frame": 2, "bytes_per_frame": 2 * 96 * 192,
                                      "results_per_frame": 1, "staged": 0})

    def test_timeline(self):
        for contexts in (1, 2, 3):
            path = self.path("t.csv")
            r = self.bench("-s", "stereo.disparities=32", "--size", "64x48", "-s", "engine.contexts=%d" % contexts,
                           "--frames", 30, "--timeline", path, module=MODULE)
            self.assertRegex(r.stdout, r"captured while the frame before was computed: \d+ of 29 frames")
            self.assertEqual(len([line for line in r.stdout.splitlines() if line.endswith("|")]), 10)
            with open(path) as f:
                rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]
            self.assertEqual([row["frame"] for row in rows], list(range(1, 31)))
            for i, row in enumerate(rows):
                self.assertEqual(row["context"], i % contexts)
                self.assertLessEqual(row["capture_start_us"], row["capture_end_us"])
                self.assertLessEqual(row["capture_end_us"], row["submit_us"] + 0.1)
                self.assertLessEqual(row["submit_us"], row["start_us"] + 0.1)
                self.assertLessEqual(row["start_us"], row["finish_us"])
                self.assertLessEqual(row["finish_us"], row["collected_us"] + 0.1)
            for a, b in zip(rows, rows[contexts:]):
                self.assertLessEqual(a["collected_us"], b["submit_us"] + 0.1)  # a context takes one frame at a time

    def board(self, *args, want=0):
        return self.bench("--board", *args, want=want)

    def test_board(self):
        r = self.board("orin-nx", "--size", "1242x375")
        lines = r.stdout.splitlines()
        self.assertRegex(lines[0], r"^predicted, not measured: .*\(Jetson Orin NX 16 GB, .*, 1242x375, 128 disp")
        self.assertRegex(lines[1], r"^engine.volume = auto: checkpoint, predicted [\d.]+ ms for [\d.]+ of stored$")
        stages = [line.split()[1] for line in lines if line.startswith("predicted  ")]
        self.assertEqual(stages, ["census", "sgm", "winner", "median", "smooth", "road", "reduce", "segment", "compact",
                                  "host", "chain"])
        self.assertRegex(r.stdout, r"(?m)^predicted  chain +[\d.]+ +-\d+ to \+\d+ %$")
        j = json.loads(self.board("orin-nx", "--size", "1242x375", "--json").stdout)
        self.assertEqual((j["predicted"], j["board"], j["size"], j["disparities"], j["volume"], j["not_predicted"]),
                         (True, "orin-nx", "1242x375", 128, "checkpoint", None))
        ms = {name: stage["ms"] for name, stage in j["stages"].items()}
        beside = min(ms["smooth"] + ms["reduce"], ms["road"])
        self.assertAlmostEqual(j["chain_ms"], sum(ms.values()) - beside + j["host_ms"], delta=0.01)
        for stage in j["stages"].values():
            self.assertAlmostEqual(stage["ms"], max(stage["bytes_ms"], (stage["issue_ms"] ** 2 +
                                                                        stage["floor_ms"] ** 2) ** 0.5), delta=0.002)
            self.assertLessEqual(*stage["slices_off_percent"])
        self.assertIn("%.3f" % j["chain_ms"], r.stdout)

    def test_board_settings(self):
        j = json.loads(self.board("thor", "-s", "engine.volume=stored", "--json").stdout)
        self.assertEqual((j["volume"], j["size"]), ("stored", "1242x375"))
        j = json.loads(self.board("thor", "-s", "source.size=640x480", "--json").stdout)
        self.assertEqual(j["size"], "640x480")
        both = json.loads(self.board("thor", "--size", "640x480", "--size", "1280x720", "--json").stdout)
        self.assertEqual([j["size"] for j in both], ["640x480", "1280x720"])
        self.assertLess(2 * both[0]["chain_ms"], both[1]["chain_ms"])
        r = self.board("thor", "-s", "stereo.cost=zncc")
        self.assertRegex(r.stdout, r"(?m)^predicted  chain +unknown$")
        self.assertIn("not predicted: stereo.cost = zncc: counted for csct", r.stdout)
        j = json.loads(self.board("thor", "-s", "stixels.method=dp", "--json").stdout)
        self.assertEqual((j["chain_ms"], j["stages"]["segment"]["ms"]), (None, None))
        self.assertIn("stixels.method = dp", j["not_predicted"])
        self.assertGreater(j["stages"]["sgm"]["ms"], 0)

    def test_board_list(self):
        names = [line.split()[0] for line in self.board("list").stdout.splitlines()[1:]]
        self.assertIn("agx-orin", names)
        self.assertEqual([b["board"] for b in json.loads(self.board("list", "--json").stdout)], names)
        self.assertIn("needs list, %s, not" % ", ".join(names), self.board("nano", want=64).stderr)
        for name in names:
            self.assertEqual(json.loads(self.board(name, "--json").stdout)["board"], name)

    def test_board_document(self):
        """The program predicts the figures of docs/use/jetson.md."""
        with open(os.path.join(SOURCE, "docs", "use", "jetson.md")) as f:
            rows = re.findall(r"(?m)^\| `([a-z-]+)`, [^|]*\| (\d+) SM at ([\d.]+) GHz, ([\d.]+) GB/s "
                              r"\| ([\d.]+) \((\d+)\) \| ([\d.]+) \((\d+)\) \| ([\d.]+) \((\d+)\) \|$", f.read())
        names = [b["board"] for b in json.loads(self.board("list", "--json").stdout)]
        self.assertEqual(sorted(row[0] for row in rows), sorted(names))
        for name, sms, ghz, gb, *told in rows:
            both = json.loads(self.board(name, "--size", "1242x375", "--size", "1280x720", "--json").stdout)
            both.append(json.loads(self.board(name, "--size", "960x540", "-s", "stereo.disparities=64",
                                              "--json").stdout))
            device = both[0]["device"]
            self.assertEqual((device["sms"], device["clock_ghz"], device["memory_gb_per_s"]),
                             (int(sms), float(ghz), float(gb)))
            for j, ms, fps in zip(both, told[::2], told[1::2]):
                self.assertEqual(("%.1f" % j["chain_ms"], round(1000 / j["chain_ms"])), (ms, int(fps)), name)

    def test_board_refused(self):
        for more in (["--sms", 8], ["--table"], ["--timeline", "x"], ["--pair", "a", "b"], ["--frames", 5],
                     ["--warm-up", 0], ["--asleep"], ["--report", "x"], ["-s", "engine.backend=cpu"]):
            with self.subTest(more):
                self.assertIn("--board", self.board("thor", *more, want=64).stderr)
        self.assertTrue(self.board("thor", "--size", "8x8", want=78).stderr)

    def test_refused(self):
        for args in (
            ["--sms", "4"],
            ["--sms", "0"],
            ["--table", "--size", "64x64"],
            ["--table", "--sms", "8"],
            ["--size", "64x64", "--size", "96x96", "--timeline", "x"],
            ["--size", "64x64"] * 17,
            ["--size", "0x5"],
            ["--size", "640"],
            ["--size", "640x480x3"],
            ["--frames", "0"],
            ["--frames", "1e9"],
            ["--pair", "a"],
            ["--nonsense"],
            ["stray"],
        ):
            with self.subTest(args):
                self.assertTrue(self.bench(*args, want=64).stderr.strip())
        self.assertIn("cuda", self.bench("--sms", "4", want=64).stderr)
        self.assertIn("cuda", self.bench("--sms", "4", "-s", "engine.backend=cpu", want=64, module=MODULE).stderr)
        self.bench(*SMALL, "--frames", 1, "--timeline", self.path("no", "where"), want=73)
        self.bench("-s", "stereo.paths=3", want=78)
        floats = ["-s", "stereo.aggregation=fastdt", "-s", "stereo.fastdt=float"]
        r = self.bench("-s", "engine.backend=cpu", *floats, want=78)
        self.assertIn("stereo.fastdt = float: only engine.backend = reference computes it", r.stderr)
        self.bench("-s", "engine.backend=cuda", want=69)
        r = self.bench(*SMALL, "-s", "stixels.method=slanted-exact", "--frames", 1, want=78, module=MODULE)
        self.assertIn("stixels.method = slanted-exact: only engine.backend = cpu or reference computes it", r.stderr)


if __name__ == "__main__":
    unittest.main()
