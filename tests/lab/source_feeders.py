# Images and feeders for bench_sources.py, which calls this file as a program, too:
#
#   source_feeders.py writer FOLDER WIDTH HEIGHT RATE         gives pairs by stixel.PairWriter
#   source_feeders.py topics FOLDER WIDTH HEIGHT RATE PORT    publishes as a node with rmw_zenoh, and is its router
#   source_feeders.py bag FOLDER WIDTH HEIGHT RATE PATH       writes a recording of ROS 2
#
# FOLDER has the pairs of bench_cameras.py as PGM.
# SPDX-License-Identifier: Apache-2.0
import base64
import os
import socket
import struct
import subprocess
import sys
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SIDES = ("left", "right")


def pixels(path):
    """Returns the bytes of a PGM file of bench_cameras.py, whose head is one line."""
    with open(path, "rb") as f:
        f.readline()
        return f.read()


def pgm_files(folder):
    """Yields (side, name without ending, path)."""
    for side in SIDES:
        for name in sorted(os.listdir(os.path.join(folder, side))):
            yield side, os.path.splitext(name)[0], os.path.join(folder, side, name)


def png(data, width, height):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    rows = b"".join(b"\0" + data[y * width:(y + 1) * width] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 3)) + chunk(b"IEND", b""))


def convert(folder, width, height):
    """Writes the pairs as PNG, YUYV and grey rows, and with Pillow as JPEG."""
    try:
        from PIL import Image
    except ImportError:
        Image = None
    forms = {"png": lambda data: png(data, width, height), "grey": bytes,
             "yuyv": lambda data: b"".join(bytes((light, 128)) for light in data)}
    for kind in [*forms, *(["jpg"] if Image else [])]:
        for side in SIDES:
            os.makedirs(os.path.join(folder, kind, side))
    for side, name, path in pgm_files(folder):
        data = pixels(path)
        for kind, form in forms.items():
            with open(os.path.join(folder, kind, side, f"{name}.{kind}"), "wb") as f:
                f.write(form(data))
        if Image:
            Image.frombytes("L", (width, height), data).save(os.path.join(folder, "jpg", side, name + ".jpg"),
                                                             quality=90)


def build_writer(build, folder):
    """Compiles pairs_feeder.c."""
    subprocess.run(["cc", "-O2", "-I", os.path.join(TOP, "include"), os.path.join(HERE, "pairs_feeder.c"), "-L",
                    os.path.join(build, "ipc", "client"), "-lstixel", "-o", os.path.join(folder, "pairs_feeder")],
                   check=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ticks(rate):
    """Yields increasing numbers, each at its time for this rate. Skips numbers whose time has passed."""
    began = time.monotonic()
    while True:
        number = int((time.monotonic() - began) * rate) + 1
        time.sleep(max(0, began + number / rate - time.monotonic()))
        yield number


def arrays(folder, width, height):
    import numpy as np
    found = {side: [] for side in SIDES}
    for side, _, path in pgm_files(folder):
        found[side].append(np.frombuffer(pixels(path), np.uint8).reshape(height, width))
    return list(zip(*found.values()))


def feed_writer(folder, width, height, rate):
    import stixel
    pairs = arrays(folder, width, height)
    camera = (700.0, 700.0, width / 2, height / 2, 0.12)
    with stixel.PairWriter("front", width, height, fps=rate, camera=camera, simulated=True) as writer:
        for number in ticks(rate):
            now = time.monotonic_ns()
            writer.write(*pairs[number % len(pairs)], now, now)


def messages(folder, width, height):
    """Returns a function (number, ns) that yields the calibrations and images of a pair as (topic, ns, message)."""
    sys.path.insert(0, os.path.join(TOP, "tests", "bridge"))
    import numpy as np
    import stereo
    pairs = arrays(folder, width, height)
    cx, cy = width / 2, height / 2
    projection = [np.array([700, 0, cx, tx, 0, 700, cy, 0, 0, 0, 1, 0], float) for tx in (0, -84)]
    k = np.array([700, 0, cx, 0, 700, cy, 0, 0, 1])

    def made(number, ns):
        for side, topic in enumerate(("/left", "/right")):
            yield topic + "/camera_info", ns, stereo.info(ns, side == 1, width=width, height=height, k=k,
                                                          p=projection[side])
            yield topic + "/image_rect", ns, stereo.image(ns, pairs[number % len(pairs)][side])
    return made


def write_bag(folder, width, height, rate, path):
    made = messages(folder, width, height)
    import stereo
    # a few seconds, because a repetition makes a gap
    stereo.rosbag2(path, [m for n in range(int(8 * rate)) for m in made(n, stereo.START_NS + int(n * 1e9 / rate))])


def publish(folder, width, height, rate, port):
    made = messages(folder, width, height)
    sys.path.insert(0, os.path.join(TOP, "python", "src"))
    import stereo
    import zenoh
    import zenoh_node
    from stixel_bridge.ros import graph, topics
    ready = [[(topic, stereo.cdr(message), message.__msgtype__) for topic, _, message in made(n, 0)] for n in range(8)]
    with zenoh.open(zenoh_node.config("router", f"tcp/127.0.0.1:{port}")) as session:
        kept = {"node": [session.liveliness().declare_token("@ros2_lv/3/%s/0/0/NN/%%/%%/reader" % session.info.zid())]}
        for count, (topic, data, kind) in enumerate(ready[0], 1):
            zenoh_node.publish(session, "3", kept, {
                "topic": topic, "type": graph.dds_type(kind), "hash": topics.type_hash(kind),
                "cdr": base64.b64encode(data).decode()}, count)
        for number in ticks(rate):
            stamp = struct.pack("<iI", *divmod(time.time_ns(), 10**9))
            for topic, data, _ in ready[number % len(ready)]:
                kept[topic][0].put(data[:4] + stamp + data[12:], attachment=bytes(16) + b"\x10" + bytes(16))


if __name__ == "__main__":
    what, top, *numbers = sys.argv[1:]
    common = (top, int(numbers[0]), int(numbers[1]), float(numbers[2]))
    if what == "writer":
        feed_writer(*common)
    elif what == "bag":
        write_bag(*common, numbers[3])
    else:
        publish(*common, numbers[3])
