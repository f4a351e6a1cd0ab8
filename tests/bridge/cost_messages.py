# Measures the cost of the messages of ROS 2: bytes and processor time of each topic, for a frame of the synthetic
# street.
#   cost_messages.py [-s KEY=VALUE], options of stixeld, in the environment of the tests: STIXEL_SOURCE, STIXELD, ...
# SPDX-License-Identifier: Apache-2.0
import sys
import time

import support

support.need("rosbags")

import stixel  # noqa: E402
from stixel_bridge.ros import topics  # noqa: E402
from stixel_bridge.sink import Instance, Work  # noqa: E402

FRAMES = 300
RATE_HZ = 30


def frame_of_a_daemon(options):
    """Returns the tenth frame of a street, with all its images."""
    programs = support.instances()
    daemon = programs.Daemon("cost")
    try:
        daemon.start("-s", "source.kind=synthetic", *options)
        daemon.until_published(1)
        with stixel.open(daemon.name, images=("left", "disparity")) as reader:
            for _ in range(10):
                frame = reader.next(10)
        return frame
    finally:
        daemon.close()


def main():
    frame = frame_of_a_daemon(sys.argv[1:])
    instance, options = Instance("front", {}), {option.name: option.default for option in topics.OPTIONS}
    print("%dx%d, %d stixels in %d columns; share of a core at %d Hz" % (
        frame.width, frame.height, len(frame.stixels), frame.columns, RATE_HZ))
    total = 0.0
    names = [topic.name for topic in topics.topics(options)]
    for name in names:
        sizes = [len(m.cdr) for m in topics.of_frame(Work(instance, frame, 0), options, {name})]
        if not sizes:
            continue
        began = time.process_time()
        for _ in range(FRAMES):
            list(topics.of_frame(Work(instance, frame, 0), options, {name}))
        s = (time.process_time() - began) / FRAMES
        total += s if name not in topics.DEMAND else 0.0
        print("%-28s %9d bytes %8.3f ms %6.2f %%%s" % (
            name, sizes[0], s * 1e3, s * RATE_HZ * 100, "  on demand" if name in topics.DEMAND else ""))
    print("%-28s %15s %8.3f ms %6.2f %%" % ("all but those on demand", "", total * 1e3, total * RATE_HZ * 100))


if __name__ == "__main__":
    main()
