#!/usr/bin/python3
# Compares the whole chain of stixeld's cpu engine with OpenCV's StereoSGBM (MODE_SGBM_3WAY, matching alone). Runs both
# in turn on the same machine and prints their milliseconds and the ratio. It is no test: slow results do not fail.
#
# usage: bench_opencv.py STIXEL_BENCH [--pair LEFT RIGHT] [--threads N] [--rounds N] [--simd NAME]
#
# Exit 77 without OpenCV for Python. CPU time is compared as well, because other work on the machine affects it less.
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

FRAMES = 20
DISPARITIES = 128


def arguments():
    p = argparse.ArgumentParser(description="stixel-bench beside OpenCV's StereoSGBM")
    p.add_argument("bench", help="path of stixel-bench")
    p.add_argument("--pair", nargs=2, metavar=("LEFT", "RIGHT"), help="rectified images; default: noise, 1242x375")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--simd", help="SX_SIMD for stixel-bench")
    return p.parse_args()


def children_cpu_s():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def own_cpu_s():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def run_stixels(a, frames):
    """Returns the result of stixel-bench, and the CPU time it took, s."""
    env = dict(os.environ, **({"SX_SIMD": a.simd} if a.simd else {}))
    command = [a.bench, "-s", "engine.backend=cpu", "-s", f"engine.threads={a.threads}", "-s",
               f"stereo.disparities={DISPARITIES}", "--frames", str(frames), "--json"]
    command += ["--pair", *a.pair] if a.pair else ["--size", "1242x375"]
    before = children_cpu_s()
    text = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text), children_cpu_s() - before


def bench_stixels(a):
    """Returns the result, and the CPU time of a frame. The time is the difference between two runs, so that the
    start does not count."""
    result, long = run_stixels(a, 2 * FRAMES)
    _, short = run_stixels(a, FRAMES)
    return result, (long - short) * 1e3 / FRAMES


def images(cv2, numpy, a):
    if a.pair:
        return [cv2.imread(path, cv2.IMREAD_GRAYSCALE) for path in a.pair]
    left = cv2.GaussianBlur(numpy.random.default_rng(1).integers(0, 256, (375, 1242), dtype=numpy.uint8), (3, 3), 0)
    return [left, numpy.roll(left, -30, axis=1)]


def bench_opencv(cv2, pair, threads):
    cv2.setNumThreads(threads)
    matcher = cv2.StereoSGBM_create(0, DISPARITIES, 3, P1=8 * 9, P2=32 * 9, disp12MaxDiff=1, uniquenessRatio=5,
                                    mode=cv2.STEREO_SGBM_MODE_SGBM_3WAY)
    matcher.compute(*pair)
    ms = []
    cpu = own_cpu_s()
    for _ in range(FRAMES):
        begin = time.perf_counter()
        matcher.compute(*pair)
        ms.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(ms), (own_cpu_s() - cpu) * 1e3 / FRAMES


def main():
    a = arguments()
    try:
        import cv2
        import numpy
    except ImportError:
        print("no OpenCV for this Python: skipped", file=sys.stderr)
        return 77
    pair = images(cv2, numpy, a)
    ours, theirs, ratios, our_cpu, their_cpu = [], [], [], [], []
    for _ in range(a.rounds):
        result, cpu = bench_stixels(a)
        our_cpu.append(cpu)
        wall, cpu = bench_opencv(cv2, pair, a.threads)
        ours.append(result["chain_ms"]["median"])
        theirs.append(wall)
        ratios.append(wall / ours[-1])
        their_cpu.append(cpu)
    height, width = pair[0].shape
    print(f"{width}x{height}, {DISPARITIES} disparities, {a.threads} threads, {a.rounds} rounds in turn, medians")
    print(f"stixeld, whole chain ({result['device']}, {result['method']}): {statistics.median(ours):.1f} ms, "
          f"{statistics.median(our_cpu):.1f} ms of CPU; best round {min(ours):.1f} ms")
    print(f"OpenCV {cv2.__version__} SGBM_3WAY, matching alone: {statistics.median(theirs):.1f} ms, "
          f"{statistics.median(their_cpu):.1f} ms of CPU; best round {min(theirs):.1f} ms")
    print(f"ratio OpenCV / stixeld: {statistics.median(ratios):.2f} by time ({min(ratios):.2f} to {max(ratios):.2f}), "
          f"{statistics.median(their_cpu) / statistics.median(our_cpu):.2f} by CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
