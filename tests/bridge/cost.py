# Measures the cost of a sink of stixel-bridge: bytes per frame, time from publication to receipt, processor time of the
# bridge.
#
#     build/test/bridge/bin/python tests/bridge/cost.py --tools build/main [--sink KIND]...
#
# A recording of the synthetic street (1280x720, about 2000 stixels; or --recording) is replayed at 30 Hz. The program
# runs with one sink, and this process receives the messages. "none" is the bridge with a sink without receivers. Prints
# a table in Markdown. The processor time of the receivers does not count. On a machine with other work, times are
# longer.
# SPDX-License-Identifier: Apache-2.0
import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "python", "src"))

INSTANCE = "cost"
FPS = 30.0
# few frames per second, so that a slow machine records them at even intervals, which are replayed
STREET = ["-s", "source.kind=synthetic", "-s", "source.size=1280x720", "-s", "source.fps=0.5", "-s",
          "stereo.disparities=64", "-s", "stixels.width=4"]
STREET_FRAMES = 6
START_S = 30.0  # the program begins to send within this time
SILENT_S = 5.0  # s, the same limit for a receiver that cannot notice the start


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Foxglove:
    """Client of the given topics, under "/cost/"."""

    def __init__(self, topics):
        self.topics, self.port = topics, free_port()

    def config(self):
        return "kind = foxglove\nport = %d\n" % self.port

    def receive(self, got):
        """Calls got(bytes, CLOCK_REALTIME of publication) for every message, until stop()."""
        from websockets.exceptions import ConnectionClosed
        from websockets.sync.client import connect
        while True:
            try:
                self.socket = connect("ws://127.0.0.1:%d" % self.port, subprotocols=["foxglove.sdk.v1"], max_size=None,
                                      compression=None)
                break
            except OSError:
                time.sleep(0.05)
        channels = {}
        while len(channels) < 10:
            told = json.loads(self.socket.recv(10))
            channels.update({c["topic"]: c["id"] for c in told.get("channels", ())})
        self.socket.send(json.dumps({"op": "subscribe", "subscriptions": [
            {"id": i, "channelId": channels["/%s/%s" % (INSTANCE, topic)]} for i, topic in enumerate(self.topics)]}))
        with contextlib.suppress(ConnectionClosed):
            for data in self.socket:
                if isinstance(data, bytes):
                    got(len(data), int.from_bytes(data[5:13], "little"))

    def stop(self):
        self.socket.close()


class Zenoh:
    """Subscriber of one key, under "stixeld/here/cost/". The bridge connects to it."""

    def __init__(self, key):
        self.key, self.port = key, free_port()
        self.ended = threading.Event()

    def config(self):
        return "kind = zenoh\nconnect = tcp/127.0.0.1:%d\n" % self.port

    def receive(self, got):
        import zenoh
        config = zenoh.Config()
        for key, value in (("mode", "router"), ("listen/endpoints", ["tcp/127.0.0.1:%d" % self.port]),
                           ("scouting/multicast/enabled", False)):
            config.insert_json5(key, json.dumps(value))

        def took(sample):
            data = bytes(sample.payload)
            published, monotonic, realtime = struct.unpack_from("<3q", data, 64)
            got(len(data), realtime + published - monotonic)

        with zenoh.open(config) as session:
            subscriber = session.declare_subscriber("stixeld/here/%s/%s" % (INSTANCE, self.key), took)
            self.ended.wait()
            subscriber.undeclare()

    def stop(self):
        self.ended.set()


class Silent(Foxglove):
    """A sink without any receiver."""

    def receive(self, got):
        pass

    def stop(self):
        pass


KINDS = {  # row of the table: its receiver; cost_ros.py has those for ROS 2
    "none": lambda: Silent([]),
    "foxglove frame": lambda: Foxglove(["frame"]),
    "foxglove 3D": lambda: Foxglove(["scene", "transform"]),
    "foxglove all": lambda: Foxglove(["frame", "scene", "points", "transform"]),
    "foxglove image": lambda: Foxglove(["left"]),
    "zenoh": lambda: Zenoh("frame"),
    "zenoh image": lambda: Zenoh("left"),
}


def processor_s(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as f:
        fields = f.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Measured:
    """Messages received while it is open."""

    def __init__(self):
        self.open = False
        self.first = threading.Event()  # set by the first message, whether it counts or not
        self.bytes, self.latencies, self.frames = 0, [], set()

    def got(self, size, published_ns):
        self.first.set()
        if self.open:
            self.latencies.append(time.time_ns() - published_ns)
            self.bytes += size
            self.frames.add(published_ns)


def measure(receiver, folder, env, seconds):
    """Returns (bytes per frame, frames per second, p50 ms, p99 ms, share of a core) of the bridge with one sink."""
    path = os.path.join(folder, "bridge.conf")
    with open(path, "w", encoding="ascii") as f:
        f.write("[bridge]\nname = cost-%d\nhost = here\n[instance %s]\n[sink it]\n%s" % (
            os.getpid(), INSTANCE, receiver.config()))
    found = Measured()
    bridge = subprocess.Popen([sys.executable, "-m", "stixel_bridge", "-c", path], env=env)
    try:
        thread = threading.Thread(target=receiver.receive, args=(found.got,), daemon=True)
        thread.start()
        if isinstance(receiver, Silent):
            time.sleep(SILENT_S)
        elif not found.first.wait(START_S):
            sys.exit("nothing came within %g s" % START_S)
        if bridge.poll() is not None:
            sys.exit("the bridge ended with %d" % bridge.returncode)
        time.sleep(1.0)
        used, began, found.open = processor_s(bridge.pid), time.monotonic(), True
        time.sleep(seconds)
        found.open = False
        share = (processor_s(bridge.pid) - used) / (time.monotonic() - began)
        receiver.stop()
        thread.join(5)
    finally:
        bridge.send_signal(signal.SIGTERM)
        bridge.wait(10)
    ms = sorted(ns / 1e6 for ns in found.latencies) or [float("nan")]
    frames = len(found.frames)
    return (found.bytes / max(1, frames), frames / seconds, ms[len(ms) // 2], ms[min(len(ms) - 1, len(ms) * 99 // 100)],
            share)


def record(tools, folder, env):
    """Makes a short recording of the street."""
    path = os.path.join(folder, "street.mcap")
    with subprocess.Popen([os.path.join(tools, "daemon", "stixeld"), "--instance", INSTANCE, *STREET], env=env,
                          stderr=subprocess.DEVNULL) as daemon:
        try:
            time.sleep(1.0)
            subprocess.run([os.path.join(tools, "tools", "stixelctl"), "-i", INSTANCE, "record", path, "--frames",
                            str(STREET_FRAMES), "--images", "left", "--duration", "60"], env=env, check=True,
                           stdout=subprocess.DEVNULL)
        finally:
            daemon.terminate()
    return path


def pace(path):
    """Returns (frames per second, stixels per frame) of a recording."""
    import stixel
    with stixel.Recording(path) as recording:
        frames = [r for r in recording if isinstance(r, stixel.Frame)]
    if len(frames) < 2:
        sys.exit("%s: has fewer than two frames" % path)
    length_s = (frames[-1].published_ns - frames[0].published_ns) / 1e9
    return (len(frames) - 1) / length_s, sum(len(f.stixels) for f in frames) / len(frames)


def main():
    p = argparse.ArgumentParser(description="What a sink of stixel-bridge costs.")
    p.add_argument("--tools", required=True, help="folder of a build")
    p.add_argument("--sink", action="append", choices=sorted(KINDS), help="one of them; without: all")
    p.add_argument("--seconds", type=float, default=20.0, help="of each (default: 20)")
    p.add_argument("--recording", help="of which instance ever, instead of the street")
    options = p.parse_args()
    folder = tempfile.mkdtemp(prefix="stixel-")
    runtime = os.path.join(folder, "stixeld")
    os.mkdir(runtime)
    # environment of this program too, which reads the recording
    os.environ["STIXEL_LIBRARY"] = os.path.abspath(os.path.join(options.tools, "ipc", "client", "libstixel.so.1"))
    os.environ["STIXEL_RECORDING_LIBRARY"] = os.path.abspath(
        os.path.join(options.tools, "recording", "libstixel-recording.so.1"))
    env = dict(os.environ, XDG_RUNTIME_DIR=folder, RUNTIME_DIRECTORY=runtime,
               PYTHONPATH=os.path.join(SOURCE, "python", "src"), PYTHONDONTWRITEBYTECODE="1")
    try:
        path = options.recording or record(options.tools, folder, env)
        fps, stixels = pace(path)
        print("%.0f stixels a frame, %g Hz, %g s each; one core is 100 %%\n" % (stixels, FPS, options.seconds))
        print("| sink | frames a second | kB a frame | p50, ms | p99, ms | processor |\n|---|---|---|---|---|---|")
        with subprocess.Popen([os.path.join(options.tools, "tools", "stixelctl"), "-i", INSTANCE, "replay", "--loop",
                               "--rate", "%.4f" % (FPS / fps), path], env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as replay:
            try:
                for name in options.sink or KINDS:
                    size, rate, p50, p99, share = measure(KINDS[name](), folder, env, options.seconds)
                    sent = "%.1f | %.1f | %.2f | %.2f" % (rate, size / 1e3, p50, p99) if rate else "- | - | - | -"
                    print("| %s | %s | %.1f %% |" % (name, sent, 100 * share), flush=True)
            finally:
                replay.terminate()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
