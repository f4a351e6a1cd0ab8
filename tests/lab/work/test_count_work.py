# Tests how count_work.py reads a profiler's CSV and the output of stixel-bench. `table --check` tests the table itself.
#
# Usage: test_count_work.py PATH-OF-THE-SCRIPT
# SPDX-License-Identifier: Apache-2.0
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(sys.argv.pop())
METRICS = ("smsp__inst_executed.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum")
BLACK, FIRST, SECOND = 100, 1000, 1010  # instructions of the road stage in a black frame, and in two others


def profile(kernels, device="NVIDIA H200, sm_90, 132 SMs, input by copy"):
    """Returns the text of a profiler's run. kernels: (name, instructions)."""
    out = io.StringIO()
    out.write("==PROF== Connected\n" + json.dumps({"device": device, "size": "640x480", "disparities": 128}) + "\n")
    table = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow(["ID", "Kernel Name", "Metric Name", "Metric Value"])
    for i, (name, instructions) in enumerate(kernels):
        for k, metric in enumerate(METRICS):
            table.writerow([i, name, metric, "{:,}".format(instructions + k)])
    return out.getvalue()


def frame(road, flow="void stored_kernel<4, 8, 0>(aggregate)"):
    return [("stamp_kernel(unsigned long *)", 6), ("void census<0, 0>(census_work)", 5 * road), (flow, 7 * road),
            ("find_plane(sx_road_finder_cuda, int)", road)]


class CountWork(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def run_script(self, *args, want=0):
        r = subprocess.run([sys.executable, SCRIPT, *args], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, want, r.stderr)
        return list(csv.DictReader(io.StringIO(r.stdout))) if want == 0 else r.stderr

    def test_counts(self):
        path = self.put("a.csv", profile(frame(BLACK) + frame(FIRST) + frame(SECOND)))
        rows = {r["kernel"]: r for r in self.run_script("counts", path)}
        self.assertEqual(sorted(rows), ["census<0, 0>", "find_plane", "stored_kernel<4, 8, 0>"])
        road = rows["find_plane"]
        self.assertEqual((road["size"], road["disparities"], road["flow"]), ("640x480", "128", "stored"))
        # means of the two frames that are not black; memory is the sum of read and written bytes
        self.assertEqual([int(road[k]) for k in ("instructions", "memory_bytes", "l2_bytes")],
                         [1005, 2 * 1005 + 1 + 2, 1005 + 3])

    def test_frames_of_the_other_flow(self):
        other = "void <unnamed>::down_kernel<4, 0>(sx_checkpoint_work)"
        path = self.put("a.csv", profile(frame(FIRST, other) + frame(BLACK)))
        self.assertEqual([r["flow"] for r in self.run_script("counts", path)], ["checkpoint"] * 3)

    def test_a_kernel_of_no_stage(self):
        path = self.put("a.csv", profile(frame(FIRST) + [("new_kernel(int)", 1)]))
        self.assertIn("new_kernel is in no stage", self.run_script("counts", path, want=1))
        self.assertIn("no JSON line", self.run_script("counts", self.put("b.csv", "==PROF==\n"), want=1))

    def test_slices_are_what_the_driver_gave(self):
        answer = {"device": "H200, sm_90, 24 of 132 SMs, input by copy", "chain_ms": {"median": 1.5},
                  "stages": {"census": {"median": 0.25}, "sgm": {"median": 0.5}}}
        rows = self.run_script("slices", self.put("bench", "#!/bin/sh\necho '%s'\n" % json.dumps(answer)))
        self.assertEqual(len(rows), 32)  # four sizes; the whole device and three slices; two ways to keep path costs
        self.assertEqual({r["sms"] for r in rows}, {"24"})
        self.assertEqual((rows[0]["chain"], rows[0]["sgm"], rows[0]["winner"]), ("1.500", "0.500", "0.000"))
        broken = self.put("broken", "#!/bin/sh\necho it is broken >&2; exit 1\n")
        self.assertIn("it is broken", self.run_script("slices", broken, want=1))


if __name__ == "__main__":
    unittest.main()
