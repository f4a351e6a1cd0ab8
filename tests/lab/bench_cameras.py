#!/usr/bin/python3
# Measures several cameras on one engine: N daemons at R pairs a second each, and in comparison one process with N
# instances at R each, and one daemon with N contexts at N x R. Prints the frames, the latencies and the memory of each
# daemon, and of all. It is no test: slow results do not fail. --check fails if figures contradict each other.
#
# usage: bench_cameras.py --build FOLDER [--cameras 1,2,4] [--rate R] [--seconds S] [--warm-up S] [--size WxH]
#                         [--images PATH] [--contexts N] [-s KEY=VALUE]... [--latency] [--json] [--check]
#
# FOLDER: a build tree, or a folder with stixeld, and with stixel-cuda.so if engine.backend is cuda. Pairs are image
# files (source.kind=files, looped at the rate): a road and walls of noise that this program draws, because the
# synthetic source would draw just 12 a second. Latencies come from the headers of all frames of the measured seconds,
# read from the ring, which costs the daemon nothing. Counts and engine memory come from /status. The program removes
# all folders that it used.
#
# Exit: 0; 1 a daemon failed, or --check found a contradiction; 64 wrong usage; 130, 143 ended by a signal.
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import Instance, until  # noqa: E402

POLL_S = 0.02
FPS_MAX = 1000  # limit of source.fps
SLOTS = 64  # slots of the ring: many times the frames between two polls
PAIRS = 8  # number of pairs drawn, used in turn
START_S = 60  # s, timeout of the start: a GPU needs time for its context and kernels
TICKS = os.sysconf("SC_CLK_TCK")


def numbers(text):
    values = [int(t) for t in text.split(",")]
    if not values or not all(1 <= v <= 16 for v in values):
        raise argparse.ArgumentTypeError("1 to 16 cameras, as in 1,2,4")
    return values


def positive(text):
    value = float(text)
    if not 0 < value < 1e5:
        raise argparse.ArgumentTypeError("a number above 0")
    return value


def size(text):
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 32 <= int(width) <= 4096 and 32 <= int(height) <= 2160):
        raise argparse.ArgumentTypeError("WIDTHxHEIGHT, 32x32 to 4096x2160")
    return int(width), int(height)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def arguments():
    p = Parser(description="several cameras: N daemons beside one with N instances, and one with N contexts")
    p.add_argument("--build", required=True, help="build tree, or folder with stixeld")
    p.add_argument("--cameras", type=numbers, default=[1, 2, 4], help="as in 1,2,4")
    p.add_argument("--rate", type=positive, default=30, help="pairs a second of each camera")
    p.add_argument("--seconds", type=positive, default=10, help="measured, of each case")
    p.add_argument("--warm-up", type=positive, default=2)
    p.add_argument("--size", type=size, default=(1242, 375), help="of the pairs that are drawn")
    p.add_argument("--images", metavar="PATH", help="source.path of pairs to take instead")
    p.add_argument("--contexts", type=int, default=1, help="of each of N daemons")
    p.add_argument("-s", action="append", default=[], metavar="KEY=VALUE", help="setting of every daemon")
    p.add_argument("--latency", action="store_true", help="engine_to_result beside the stages in it, and each stage")
    p.add_argument("--json", action="store_true")
    p.add_argument("--check", action="store_true", help="exit 1 when figures contradict each other")
    return p.parse_args()


def find(build, *names):
    for name in names:
        path = os.path.join(os.path.abspath(build), name)
        if os.path.isfile(path):
            return path
    return None


def draw_row(noise, y, width, height, walls):
    """Draws one row of both images: ground with its disparity, 0 above the horizon, and the walls in front of it."""
    left = noise.randbytes(width)
    ground = max(0, (y - height * 2 // 5) * width // (8 * height))
    right = bytearray(left[ground:] + noise.randbytes(ground))
    for begin, end, top, disparity in walls:
        if top <= y and disparity > ground:
            right[max(0, begin - disparity):max(0, end - disparity)] = left[max(begin, disparity):max(end, disparity)]
    return left, bytes(right)


def draw_pairs(folder, width, height):
    """Writes PAIRS pairs as PGM. Returns the source.path of them."""
    noise = random.Random(1)
    for side in ("left", "right"):
        os.mkdir(os.path.join(folder, side))
    for n in range(PAIRS):
        step = width // 6
        walls = [(i * step, i * step + step // 2, height // 4, (3 + (i + n) % 6) * width // 96) for i in range(6)]
        rows = [draw_row(noise, y, width, height, walls) for y in range(height)]
        for i, side in enumerate(("left", "right")):
            with open(os.path.join(folder, side, f"{n:02}.pgm"), "wb") as f:
                f.write(b"P5 %d %d 255\n" % (width, height) + b"".join(row[i] for row in rows))
    return os.path.join(folder, "{left|right}", "*.pgm")


def quantile(values, permille):
    """Returns the quantile by nearest rank, or None without values."""
    values = sorted(values)
    return values[max(1, math.ceil(len(values) * permille / 1000)) - 1] if values else None


def process_figures(pid):
    """Returns the resident memory, MB, and the processor time so far, s."""
    with open(f"/proc/{pid}/status") as f:
        resident = next((int(line.split()[1]) for line in f if line.startswith("VmRSS:")), 0) / 1024
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return resident, (int(fields[11]) + int(fields[12])) / TICKS


def proportional_mb(pid):
    """Returns the memory of a process, MB: of pages that several processes have, its share. 0: unknown."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("Pss:")), 0) / 1024
    except OSError:
        return 0


def card_mb():
    """Returns the used memory of the first card, by all processes, MB. None: no card, or its memory is unknown."""
    if not shutil.which("nvidia-smi"):
        return None
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], timeout=20,
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        return float(text.split("\n")[0])
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


class Daemon:
    """One instance and its frames. rate: pairs per second of its source. others: further instances in its process."""

    def __init__(self, a, name, contexts, rate, others=()):
        self.name, self.contexts, self.rate, self.others = name, contexts, rate, others
        self.instance = Instance(name, find(a.build, "daemon/stixeld", "stixeld", "bin/stixeld"))
        self.frames, self.next, self.missed = [], None, 0
        module = find(a.build, "gpu/stixel-cuda.so", "stixel-cuda.so")
        self.args = []
        for s in ["source.kind=files", f"source.path={a.images}", "source.loop=yes", f"source.fps={rate:g}",
                  f"output.slots={SLOTS}", "output.stream=no", *a.s, f"engine.contexts={contexts}"]:
            self.args += ["-s", s]
        self.env = {"STIXEL_MODULE_PATH": module} if module else {}
        for other in others:
            self.args += ["-i", other.name]

    def start(self):
        self.instance.start(*self.args, env=self.env, wait=False)
        for other in self.others:
            other.instance = self.instance.beside(other.name)

    def await_frames(self):
        """Waits until it publishes. If it ends first, or never publishes, raises SystemExit with its messages."""
        i = self.instance
        try:
            until(lambda: i.process.poll() is not None or (i.answers() and i.status()["frames"]["published"] > 0),
                  START_S, "the first frame")
        except AssertionError as e:
            raise SystemExit(f"{self.name}: {e}\n{i.text()}")
        if i.process.poll() is not None:
            raise SystemExit(f"{self.name} ended with code {i.process.returncode}:\n{i.text()}")
        self.ring = i.ring()

    def begin(self):
        self.before = self.instance.status()
        self.next = self.ring.live()[2] + 1
        self.cpu, self.began = process_figures(self.instance.process.pid)[1], time.monotonic()

    def poll(self):
        """Reads the new frames in the ring, and counts frames that were overwritten before."""
        head = self.ring.live()[2]
        for number in range(self.next, head + 1):
            frame = self.ring.frame(number)
            if frame:
                self.frames.append(frame)
            else:
                self.missed += 1
        self.next = head + 1

    def end(self):
        self.poll()
        self.seconds = time.monotonic() - self.began
        self.after = self.instance.status()
        self.resident, cpu = process_figures(self.instance.process.pid)
        self.cpu = cpu - self.cpu

    def figures(self):
        """Returns the figures of the measured time. Durations are in us."""
        before, after = self.before["frames"], self.after["frames"]
        engine = [(f.published_ns - f.submitted_ns) / 1e3 for f in self.frames]
        whole = [(f.published_ns - min(f.left_ns, f.right_ns)) / 1e3 for f in self.frames]
        stages = {}
        for i in range(self.frames[0].stage_count if self.frames else 0):
            p50 = statistics.median(f.stage_ns[i] for f in self.frames) / 1e3
            if p50 >= 0.5:  # a stage with less is off
                stages[self.frames[0].stage_names[i]] = round(p50, 1)
        return {
            "name": self.name, "contexts": self.contexts, "rate": self.rate, "seconds": round(self.seconds, 3),
            "backend": self.after["engine"]["backend"], "device": self.after["engine"].get("device"),
            "fps": round((len(self.frames) + self.missed) / self.seconds, 2),
            "captured": after["captured"] - before["captured"],
            "published": after["published"] - before["published"],
            "dropped": sum(after["dropped"].values()) - sum(before["dropped"].values()),
            "read": len(self.frames), "missed": self.missed,
            "engine_to_result_us": {"p50": quantile(engine, 500), "p99": quantile(engine, 990)},
            "capture_to_result_us": {"p50": quantile(whole, 500), "p99": quantile(whole, 990)},
            "stages_us": stages, "stages_sum_us": round(sum(stages.values()), 1),
            "pid": self.instance.process.pid, "resident_mb": round(self.resident, 1),
            "cpu_percent": round(100 * self.cpu / self.seconds, 1),
            "engine_mb": round(self.after["engine"]["memory_bytes"] / 1e6, 1),
        }

    def close(self):
        try:
            if self.instance.process and self.instance.process.poll() is None:
                self.instance.stop()
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.instance.close()


class Other(Daemon):
    """An instance in the process of another one."""

    def __init__(self, a, name, contexts, rate):
        self.name, self.contexts, self.rate = name, contexts, rate
        self.frames, self.next, self.missed = [], None, 0

    def start(self):
        """The first instance has started it."""

    def close(self):
        """The first instance ends it."""


def one_process(a, count):
    names = [f"camera{i + 1}" for i in range(count)]
    others = [Other(a, name, a.contexts, a.rate) for name in names[1:]]
    return [Daemon(a, names[0], a.contexts, a.rate, others), *others]


def run_case(a, name, daemons):
    """Runs all daemons at once. Removes their folders in any case."""
    idle = card_mb()
    try:
        for d in daemons:
            d.start()
        for d in daemons:
            d.await_frames()
        time.sleep(a.warm_up)
        for d in daemons:
            d.begin()
        end = time.monotonic() + a.seconds
        # --check needs a frame of each daemon; under a sanitizer, beside other work, a second may be too short for one
        while time.monotonic() < end or a.check and not all(d.frames for d in daemons) and \
                time.monotonic() < end + START_S:
            time.sleep(POLL_S)
            for d in daemons:
                d.poll()
        used = card_mb()
        for d in daemons:
            d.end()
        card = round(used - idle, 1) if used is not None and idle is not None else None
        processes = {d.instance.process.pid: d.figures() for d in daemons}
        return {"case": name, "card_mb": card, "daemons": [d.figures() for d in daemons],
                "processes": len(processes), "pss_mb": round(sum(map(proportional_mb, processes)), 1),
                "cpu_percent": round(sum(p["cpu_percent"] for p in processes.values()), 1)}
    finally:
        for d in daemons:
            d.close()


def cases(a):
    """Yields (name, function that makes the daemons): N daemons, one process with N instances, then one daemon with N
    contexts. All are the same if N is 1."""
    for n in a.cameras:
        yield (f"{n} daemon{'s' if n > 1 else ''}",
               lambda n=n: [Daemon(a, f"camera{i + 1}", a.contexts, a.rate) for i in range(n)])
        if n > 1:
            yield (f"1 process of {n}", lambda n=n: one_process(a, n))
        if n > 1 and n <= 4:  # the limit of engine.contexts is 4
            yield (f"1 daemon, {n} contexts", lambda n=n: [Daemon(a, "cameras", n, n * a.rate)])


def milliseconds(us):
    return "-" if us is None else f"{us / 1e3:.3f}"


def print_case(result, latency):
    for d in result["daemons"]:
        engine, whole = d["engine_to_result_us"], d["capture_to_result_us"]
        print(f"{result['case']:<22} {d['name']:<9} {d['rate']:>6g} {d['fps']:>7.2f} {d['dropped']:>7} "
              f"{milliseconds(engine['p50']):>9} {milliseconds(engine['p99']):>9} "
              f"{milliseconds(whole['p50']):>9} {milliseconds(whole['p99']):>9} "
              f"{d['cpu_percent']:>6.0f} {d['resident_mb']:>8.0f} {d['engine_mb']:>8.1f} "
              f"{'-' if result['card_mb'] is None else format(result['card_mb'], '.0f'):>8}")
        if latency and engine["p50"] is not None:
            each = ", ".join(f"{k} {v / 1e3:.3f}" for k, v in d["stages_us"].items())
            print(f"{'':<22} engine_to_result {milliseconds(engine['p50'])} ms, stages {d['stages_sum_us'] / 1e3:.3f}, "
                  f"beside them {(engine['p50'] - d['stages_sum_us']) / 1e3:.3f} ({each})")
    if len(result["daemons"]) > 1:
        print(f"{'':<22} all: {result['cpu_percent']:.0f} % cpu, {result['pss_mb']:.1f} MB (Pss)")
    sys.stdout.flush()


def print_head(a):
    pairs = "%dx%d" % a.size if a.drawn else a.images
    print(f"{pairs}, {a.rate:g} pairs a second of each camera, {a.seconds:g} s after {a.warm_up:g}; {' '.join(a.s)}")
    print(f"{'':<22} {'':<9} {'':>6} {'':>7} {'':>7} {'engine to result':>19} {'capture to result':>19} "
          f"{'cpu':>6} {'resident':>8} {'engine':>8} {'card':>8}")
    print(f"{'case':<22} {'daemon':<9} {'wanted':>6} {'fps':>7} {'dropped':>7} {'p50 ms':>9} {'p99 ms':>9} "
          f"{'p50 ms':>9} {'p99 ms':>9} {'%':>6} {'MB':>8} {'MB':>8} {'MB':>8}")
    sys.stdout.flush()


def contradictions(result):
    """Returns sentences about contradictory figures. Empty if there are none."""
    found = []
    for d in result["daemons"]:
        where = f"{result['case']}, {d['name']}: "
        slack = 4 + d["contexts"] + d["rate"] * 0.5  # frames in flight, and frames between two queries
        if d["read"] + d["missed"] == 0:
            found.append(where + "no frame")
        if d["missed"]:
            found.append(where + f"{d['missed']} frames were overwritten before they were read")
        if abs(d["published"] - d["read"] - d["missed"]) > slack:
            found.append(where + f"{d['published']} published by /status, {d['read']} read")
        if abs(d["captured"] - d["published"] - d["dropped"]) > slack:
            found.append(where + f"{d['captured']} captured, {d['published']} published, {d['dropped']} dropped")
        if d["captured"] > d["rate"] * d["seconds"] + slack:
            found.append(where + f"{d['captured']} captured in {d['seconds']} s at {d['rate']:g} a second")
        engine, whole = d["engine_to_result_us"], d["capture_to_result_us"]
        if d["read"] and not 0 < engine["p50"] <= engine["p99"] <= whole["p99"]:
            found.append(where + f"engine to result {engine}, capture to result {whole}")
        if d["read"] and not d["stages_us"]:
            found.append(where + "no stage took time")
        if not d["engine_mb"] > 0 or not d["resident_mb"] > 0:
            found.append(where + "no memory")
    return found


def end_by_signal(number, _):
    raise SystemExit(128 + number)


def measure(a):
    """Measures all cases. Returns the exit code."""
    results, found = [], []
    if not a.json:
        print_head(a)
    for name, make in cases(a):
        result = run_case(a, name, make())
        results.append(result)
        found += contradictions(result)
        if not a.json:
            print_case(result, a.latency)
    if a.json:
        print(json.dumps(results))
    else:
        first = results[0]["daemons"][0]
        print(f"engine {first['backend']}: {first['device']}")
    for sentence in found if a.check else []:
        print(sentence, file=sys.stderr)
    return 1 if a.check and found else 0


def main():
    a = arguments()
    if not find(a.build, "daemon/stixeld", "stixeld", "bin/stixeld"):
        print(f"{a.build}: there is no stixeld in it", file=sys.stderr)
        return 64
    if a.rate * max(a.cameras) > FPS_MAX:
        print(f"--rate {a.rate:g} of {max(a.cameras)} cameras are more than the {FPS_MAX} pairs a second that one "
              "source gives (source.fps)", file=sys.stderr)
        return 64
    signal.signal(signal.SIGTERM, end_by_signal)
    signal.signal(signal.SIGINT, end_by_signal)
    a.drawn = not a.images
    with tempfile.TemporaryDirectory(prefix="stixeld-cameras-") as folder:
        if a.drawn:
            a.images = draw_pairs(folder, *a.size)
        return measure(a)


if __name__ == "__main__":
    sys.exit(main())
