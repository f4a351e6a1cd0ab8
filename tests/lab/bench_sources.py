#!/usr/bin/python3
# Measures all sources of pairs: files, data set, JPEG, a writer in C and one in Python, GStreamer, a recording and
# topics of ROS 2, and cameras if there are any. Prints the table of docs/use/latency.md. A slow result is not an error.
#
# usage: bench_sources.py --build FOLDER [--python PYTHON] [--sizes 640x480,1242x375] [--rate R] [--seconds S]
#                         [--runs N] [--only WORD] [--v4l2 LEFT,RIGHT] [-s KEY=VALUE]...
#
# PYTHON has the packages of tests/bridge/requirements.txt; by default the program makes it in build/test/bridge, as
# tools/test does. Without PyPI the rows of ROS 2 are left out. Each source runs twice: first at R pairs a second with
# the usual search, for latency and processor time, then at 250 pairs a second (GStreamer 60) with a small search, for
# the most pairs a second. Figures are medians of N runs. All of it takes three minutes.
#
# Exit: 0; 1 a source failed; 64 wrong usage; 130, 143 ended by a signal.
# SPDX-License-Identifier: Apache-2.0
import argparse
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import bench_cameras  # noqa: E402
import source_feeders  # noqa: E402
from bench_cameras import PAIRS, positive, quantile, size  # noqa: E402

START_S = 15  # timeout of a daemon and of its first frame
WARM_UP_S = 1
MOST_S = 2
MOST_RATE = 250
# A search that takes almost no time, so that the source limits the rate.
QUICK = ["stereo.disparities=32", "stereo.paths=2", "stixels.width=16"]
CALIBRATION = "P0: 700 0 %g 0 0 700 %g 0 0 0 1 0\nP1: 700 0 %g -84 0 700 %g 0 0 0 1 0\n"
SHARED = ["source.kind=shared"]


def arguments():
    p = bench_cameras.Parser(description="all sources of pairs")
    p.add_argument("--build", required=True, help="build tree")
    p.add_argument("--python", help="Python with the packages of tests/bridge/requirements.txt; empty: none")
    p.add_argument("--sizes", type=lambda text: [size(t) for t in text.split(",")], default=[(640, 480), (1242, 375)])
    p.add_argument("--rate", type=positive, default=15, help="pairs a second at which latencies are measured")
    p.add_argument("--seconds", type=positive, default=4, help="measured, of each source")
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--only", default="", help="sources whose name has this word")
    p.add_argument("--v4l2", metavar="LEFT,RIGHT", help="two cameras, or two v4l2loopback devices that are fed")
    p.add_argument("-s", action="append", default=[], metavar="KEY=VALUE", help="setting of every daemon")
    return p.parse_args()


class Daemon(bench_cameras.Daemon):
    """A daemon in a folder that other programs find by XDG_RUNTIME_DIR."""

    def __init__(self, a, settings):
        super().__init__(argparse.Namespace(build=a.build, images="", s=[]), "front", 1, 1)
        i = self.instance
        i.run = os.path.join(i.top, "stixeld")
        os.mkdir(i.run)
        i.status_path = os.path.join(i.run, "front", "status.sock")
        settings = [f"output.slots={bench_cameras.SLOTS}", "output.stream=no", *a.s, *settings]
        self.args = [word for s in settings for word in ("-s", s)]

    def client(self, build):
        """Returns the environment of a program that feeds this daemon."""
        return dict(os.environ, XDG_RUNTIME_DIR=self.instance.top, RUNTIME_DIRECTORY=self.instance.top,
                    PYTHONPATH=os.path.join(TOP, "python", "src"), PYTHONDONTWRITEBYTECODE="1",
                    STIXEL_SOURCE=TOP, STIXEL_LIBRARY=bench_cameras.find(build, "ipc/client/libstixel.so.1"),
                    LD_LIBRARY_PATH=os.path.join(os.path.abspath(build), "ipc", "client"),
                    GST_PLUGIN_PATH=os.path.join(os.path.abspath(build), "gstreamer"),
                    GST_REGISTRY=os.path.join(self.instance.top, "registry"))

    def latency(self):
        """Returns p50 and p99 from capture to engine and from capture to publication, ms."""
        spans = ([(f.submitted_ns - min(f.left_ns, f.right_ns)) / 1e6 for f in self.frames],
                 [(f.published_ns - min(f.left_ns, f.right_ns)) / 1e6 for f in self.frames])
        return [quantile(values, permille) for values in spans for permille in (500, 990)]


class Case:
    """A source. settings: function of the rate that returns the daemon's settings. feeders: function of the rate that
    returns the commands of the programs that feed the daemon; only the processor time of the last program is measured.
    why: reason why the source cannot be measured here, or empty. most: rate at which the largest number of pairs a
    second is measured."""

    def __init__(self, name, copies, settings, feeders=lambda rate: [], why="", most=MOST_RATE):
        self.name, self.copies, self.settings, self.feeders = name, copies, settings, feeders
        self.why, self.most = why, most


def files_cases(images, width, height):
    def files(path):
        return lambda rate: ["source.kind=files", f"source.path={path}", "source.loop=yes", f"source.fps={rate:g}"]
    kitti = os.path.join(images, "sequences", "00")
    for side, name in enumerate(("left", "right")):
        shutil.copytree(os.path.join(images, "png", name), os.path.join(kitti, f"image_{side}"))
    with open(os.path.join(kitti, "calib.txt"), "w") as f:
        f.write(CALIBRATION % ((width / 2, height / 2) * 2))
    with open(os.path.join(kitti, "times.txt"), "w") as f:
        f.writelines("%e\n" % (n / 10) for n in range(PAIRS))
    yield Case("files, PGM", "0", files(os.path.join(images, "{left|right}", "*.pgm")))
    yield Case("data set, PNG", "0 after decoding", files(kitti))
    jpeg = os.path.join(images, "jpg")
    why = "" if os.path.isdir(jpeg) else "no Pillow to make JPEG files with"
    yield Case("MJPEG files", "0 after decoding", files(os.path.join(jpeg, "{left|right}", "*.jpg")), why=why)


def writer_cases(a, images, shape):
    def c_writer(rate):
        return [[images + "/pairs_feeder", images, *shape, f"{rate:g}"]]

    def python_writer(rate):
        return [[sys.executable, source_feeders.__file__, "writer", images, *shape, f"{rate:g}"]]

    def pipeline(rate):
        parse = f"rawvideoparse format=yuy2 width={shape[0]} height={shape[1]} framerate={rate:g}/1"
        sides = [f"multifilesrc location={images}/yuyv/{side}/%02d.yuyv loop=true ! {parse} ! videoconvert "
                 f"! video/x-raw,format=GRAY8 ! s.{side}" for side in ("left", "right")]
        return [["gst-launch-1.0", "-q", *" ".join(
            ["stixelsink name=s instance=front simulated=true fx=700 fy=700 baseline=0.12", *sides]).split()]]
    yield Case("C writer", "0", lambda rate: SHARED, c_writer)
    why = "" if bench_cameras.find(a.build, "gstreamer/libgststixel.so") and shutil.which("gst-launch-1.0") \
        else "no GStreamer"
    yield Case("GStreamer, YUY2 to grey", "0 after videoconvert", lambda rate: SHARED, pipeline, why,
               most=60)  # a pipeline that is late plays both sides at different times
    yield Case("Python PairWriter.write()", "1", lambda rate: SHARED, python_writer)


def ros_cases(a, images, shape):
    bridge = [a.python, "-m", "stixel_bridge"]
    bag = os.path.join(images, "bag")

    def play(rate):
        # 1: the rate of the recording, which is the wanted one; 0: as fast as the daemon takes pairs
        return [[*bridge, "play", bag, "-i", "front", "--loop", "--simulated", "yes", "--rate",
                 "0" if rate == MOST_RATE else "1"]]

    def topics(rate):
        port = source_feeders.free_port()
        conf = os.path.join(images, "bridge.conf")
        with open(conf, "w") as f:
            f.write("[pairs front]\nkind = ros-zenoh\ndomain = 3\nleft = /left/image_rect\nright = /right/image_rect\n"
                    f"simulated = yes\nconnect = tcp/127.0.0.1:{port}\n")
        return [[a.python, source_feeders.__file__, "topics", images, *shape, f"{rate:g}", str(port)],
                [*bridge, "-c", conf]]
    why = "" if a.python else "no packages of stixel-bridge"
    if a.python:
        subprocess.run([a.python, source_feeders.__file__, "bag", images, *shape, f"{a.rate:g}", bag], check=True,
                       env=dict(os.environ, STIXEL_SOURCE=TOP))
    yield Case("recording (bridge play)", "2", lambda rate: SHARED, play, why)
    yield Case("ROS 2 topics by zenoh", "2", lambda rate: SHARED, topics, why)


def camera_cases(a):
    left, _, right = (a.v4l2 or "").partition(",")
    why = "" if right else "no --v4l2 LEFT,RIGHT"
    yield Case("V4L2", "0 (userptr)", lambda rate: [
        "source.kind=v4l2", f"source.left={left}", f"source.right={right}", f"source.fps={rate:g}", "camera.fx=700",
        "camera.fy=700", "camera.baseline_m=0.12"], why=why)


def cases(a, images, width, height):
    shape = (str(width), str(height))
    yield from files_cases(images, width, height)
    yield from writer_cases(a, images, shape)
    yield from ros_cases(a, images, shape)
    yield from camera_cases(a)


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def measure(a, case, rate, seconds, settings):
    """Runs the source once. Returns (daemon with its frames, processor time of the feeder in percent)."""
    d = Daemon(a, [*case.settings(rate), *settings])
    with contextlib.ExitStack() as stack:
        stack.callback(d.close)
        d.start()
        process = d.instance.process
        bench_cameras.until(lambda: process.poll() is not None or d.instance.answers(), START_S, "the daemon")
        feeders = []
        log = stack.enter_context(open(os.path.join(d.instance.top, "feeders"), "w+"))
        for words in case.feeders(rate):
            feeders.append(subprocess.Popen(words, env=d.client(a.build), stdout=log, stderr=log))
            stack.callback(end, feeders[-1])
        try:
            d.await_frames()
        except SystemExit as e:
            log.seek(0)
            raise RuntimeError(f"{case.name}: {e}\n{log.read()}")
        time.sleep(WARM_UP_S)
        began = feeders and bench_cameras.process_figures(feeders[-1].pid)[1]
        d.begin()
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            time.sleep(bench_cameras.POLL_S)
            d.poll()
        d.end()
        spent = feeders and bench_cameras.process_figures(feeders[-1].pid)[1] - began
    return d, 100 * spent / d.seconds if feeders else 0


def figures(a, case):
    """Returns the figures of a source: most pairs a second, latencies in ms, processor time in percent."""
    d, feeder = measure(a, case, a.rate, a.seconds, [])
    most, _ = measure(a, case, case.most, MOST_S, QUICK)
    return [(len(most.frames) + most.missed) / most.seconds, *d.latency(), 100 * d.cpu / d.seconds, feeder]


def print_row(case, rows):
    values = [statistics.median(row[n] for row in rows) for n in range(len(rows[0]))]
    print("| %s | %.0f | %s | %.2f / %.2f | %.1f / %.1f | %.0f + %.0f |" % (
        case.name, values[0], case.copies, *values[1:]), flush=True)


def measure_size(a, width, height):
    """Prints the table of one size. Returns whether a source failed."""
    failed = False
    with tempfile.TemporaryDirectory(prefix="stixeld-sources-") as images:
        bench_cameras.draw_pairs(images, width, height)
        source_feeders.convert(images, width, height)
        source_feeders.build_writer(a.build, images)
        print(f"\n{width}x{height}, {a.rate:g} pairs a second of {a.seconds:g} s, medians of {a.runs} runs, load "
              f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        print("| source | most pairs/s | copies | capture to engine, ms | capture to publish, ms | % of a core |")
        print("|---|---|---|---|---|---|", flush=True)
        for case in cases(a, images, width, height):
            if a.only.lower() not in case.name.lower():
                continue
            if case.why:
                print(f"| {case.name} | not measured: {case.why} | | | | |", flush=True)
                continue
            try:
                print_row(case, [figures(a, case) for _ in range(a.runs)])
            except (RuntimeError, AssertionError, OSError, TypeError):
                traceback.print_exc()
                failed = True
    return failed


def bridge_python():
    """Returns a Python with the packages of stixel-bridge, or None."""
    command = [os.path.join(TOP, *path.split("/")) for path in ("tests/bridge/packages", "build/test/bridge")]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return made.stdout.strip() if made.returncode == 0 else None


def main():
    a = arguments()
    if a.python is None:
        a.python = bridge_python()
    if not bench_cameras.find(a.build, "daemon/stixeld"):
        print(f"{a.build}: there is no stixeld in it", file=sys.stderr)
        return 64
    bench_cameras.START_S = START_S
    signal.signal(signal.SIGTERM, bench_cameras.end_by_signal)
    signal.signal(signal.SIGINT, bench_cameras.end_by_signal)
    began = time.monotonic()
    failed = [measure_size(a, *shape) for shape in a.sizes]
    print(f"\n{time.monotonic() - began:.0f} s; latencies are p50 / p99, processor time is that of daemon + feeder")
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
