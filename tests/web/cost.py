# Measures the cost of the dashboard: processor time of daemon and stixel-web with no viewer, one viewer and ten
# viewers. Not a test. Prints a table.
#
#   STIXELD=build/daemon/stixeld STIXEL_WEB=build/tools/web/stixel-web tests/web/cost.py [SECTION.KEY=VALUE]...
#
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import threading
import time

from support import Daemon, Place, Web

SECONDS = 10
# default settings, unless the arguments give others
SETTINGS = ["source.kind=synthetic", "source.size=1242x375", "source.fps=10", "engine.backend=cpu"]
CASES = [("nobody", 0, ""), ("1, stixels alone", 1, ""), ("1, left image", 1, "?images=left"),
         ("1, left image and free space, as the page", 1, "?images=left&free=yes"),
         ("1, disparity", 1, "?images=disparity"), ("10, left image", 10, "?images=left")]


def used(process):
    """Returns (seconds of processor time, resident memory in MB)."""
    with open("/proc/%d/stat" % process.pid) as f:
        fields = f.read().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def watch(stream, count):
    try:
        while True:
            message = stream.next()
            count[0] += message.kind == "frame"
            count[1] += message.bytes + 32
    except (EOFError, OSError, ValueError):
        pass


def measure(web, daemon, viewers, query):
    count = [0, 0]
    streams = [web.stream(daemon, query) for _ in range(viewers)]
    for s in streams:
        threading.Thread(target=watch, args=(s, count), daemon=True).start()
    time.sleep(2)
    frames = web.status(daemon)["frames"]["published"]
    first, begin, count[:] = [used(p)[0] for p in (daemon.process, web.process)], time.monotonic(), [0, 0]
    time.sleep(SECONDS)
    took = time.monotonic() - begin
    seconds = [used(p)[0] - was for p, was in zip((daemon.process, web.process), first)]
    frames = web.status(daemon)["frames"]["published"] - frames
    each = max(1, viewers) * took
    print("| %s | %.1f | %.1f | %.1f | %.1f | %.0f |" % (viewers_name(viewers, query), 1000 * seconds[0] / frames,
                                                         100 * seconds[1] / took, used(web.process)[1],
                                                 count[0] / each, count[1] / each / 1000))
    for s in streams:
        s.socket.shutdown(2)
    time.sleep(1)


def viewers_name(viewers, query):
    return next(name for name, v, q in CASES if (v, q) == (viewers, query))


def main():
    place = Place()
    daemon = Daemon(place, "cost", *(sys.argv[1:] or SETTINGS))
    try:
        daemon.start()
        web = Web(place, "-i", daemon.name)
        time.sleep(3)
        print("| viewers | daemon, ms of processor a frame | stixel-web, % of a core | its memory, MB | frames/s each "
              "| kB/s each |\n"
              "|---|---|---|---|---|---|")
        for _, viewers, query in CASES:
            measure(web, daemon, viewers, query)
    finally:
        place.close()
        daemon.forget()


main()
