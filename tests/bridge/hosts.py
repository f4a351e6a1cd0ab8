# hosts.py: eight cameras on four hosts send to three consumers over a router, on one machine. Hosts are network
# namespaces. Links have delay, loss and bandwidth by tc (netem), or by a process between two tun devices if the kernel
# has no netem. A consumer dies and returns, a host dies and returns, and a host is cut off for a while. Both sides
# count everything, and memory must not grow. Prints a table of what each side counted. Exit code 1 if a check fails.
#
# Run as root, with iproute2 and zenoh for Python (tests/bridge/packages):
#   STIXEL_SOURCE=. STIXEL_LIBRARY=.../libstixel.so.1 STIXEL_RECORDING_LIBRARY=.../libstixel-recording.so.1 \
#   STIXELD=... STIXELCTL=... python3 hosts.py [--partition S] ...
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import contextlib
import fcntl
import json
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

if __name__ == "__main__" and sys.argv[1:2] not in (["--consumer"], ["--wire"]):
    import support
    support.need("zenoh")
MODULE = os.path.join(os.environ["STIXEL_SOURCE"], "python", "src")
sys.path.insert(0, MODULE)

HOSTS, CONSUMERS, CAMERAS = 4, 3, 2
RECORDED_HZ, REPLAYED_HZ = 5, 30  # Hz; recorded slowly, because the machine has other work
PREFIX, NET = "sx%d" % (os.getpid() % 10000), "10.77.%d.%d"


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


# ---- a consumer: a process that reads all cameras ------------------------------------------------------------------


def consume(path, router, names):
    """Reads each camera in a thread. Writes the results to a file once a second and at the end."""
    import stixel
    found = {name: {"got": 0, "missed": 0, "corrupt": 0, "restarts": 0, "bytes": 0, "ms": [], "first": None,
                    "last": None, "gap_s": 0.0} for name in names}
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())

    def read(name):
        mine, before = found[name], None
        with stixel.open("zenoh:%s/%s" % (router, name), follow=True) as reader:
            while not ended.is_set():
                try:
                    frame = reader.next(0.5)
                except stixel.Damaged:
                    continue
                if frame is None:
                    continue
                now = time.monotonic()
                mine["got"] += 1
                mine["missed"] += frame.missed
                mine["bytes"] += len(frame.raw)
                mine["ms"].append(round((now - frame.published_ns / 1e9) * 1e3, 2))
                mine["first"] = mine["first"] or [frame.epoch, frame.number]
                mine["last"] = [frame.epoch, frame.number]
                mine["gap_s"] = max(mine["gap_s"], now - before) if before else 0.0
                before = now
            status = reader.status()
            mine["corrupt"], mine["restarts"] = status.corrupt, status.restarts

    threads = [threading.Thread(target=read, args=(name,), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    while True:
        over = ended.wait(1.0)
        if over:
            for thread in threads:
                thread.join(3)
        with open(path + ".new", "w") as f:
            json.dump(found, f)
        os.replace(path + ".new", path)
        if over:
            return


ROUTER_PROGRAM = """
import json, signal, zenoh
c = zenoh.Config()
for key, value in (("mode", "router"), ("listen/endpoints", ["tcp/0.0.0.0:7447"]),
                   ("scouting/multicast/enabled", False), ("transport/shared_memory/enabled", False)):
    c.insert_json5(key, json.dumps(value))
with zenoh.open(c):
    print("ready", flush=True)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])
"""


# ---- a link: what tc's netem does, for kernels that lack it ----------------------------------------------------------


def wire(first, second, delay, loss, mbit):
    """Passes packets between two tun devices, each NAMESPACE:DEVICE, until the process ends. SIGUSR1 cuts the link off
    or restores it."""
    def tun(end):
        import ctypes
        name, device = end.split(":")
        with open("/run/netns/" + name) as f:
            if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0x40000000):  # CLONE_NEWNET
                raise OSError(ctypes.get_errno(), "setns")
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", device.encode(), 0x1001))  # TUNSETIFF: IFF_TUN, IFF_NO_PI
        return fd

    ends = [tun(first), tun(second)]
    print("ready", flush=True)
    off = []
    signal.signal(signal.SIGUSR1, lambda *_: off.pop() if off else off.append(True))
    # time when the wire is free; packets on their way
    free, flying = [0.0, 0.0], [collections.deque(), collections.deque()]
    poll = select.poll()
    for fd in ends:
        poll.register(fd, select.POLLIN)
    while True:
        times = [queue[0][0] for queue in flying if queue]
        poll.poll(max(0.0, min(times) - time.monotonic()) * 1e3 if times else None)
        for i in (0, 1):
            with contextlib.suppress(BlockingIOError):
                while True:
                    packet = os.read(ends[i], 2048)
                    now = time.monotonic()
                    # at most packets of half a second wait
                    if off or random.random() * 100 < loss or free[i] > now + 0.5:
                        continue
                    free[i] = max(free[i], now) + len(packet) * 8 / (mbit * 1e6)
                    flying[i].append((free[i] + delay / 1e3, packet))
        now = time.monotonic()
        for i in (0, 1):
            while flying[i] and flying[i][0][0] <= now:
                with contextlib.suppress(OSError):  # the receiver's buffer is full, or the device is down
                    os.write(ends[1 - i], flying[i].popleft()[1])


# ---- the network ----------------------------------------------------------------------------------------------------


class Network(contextlib.ExitStack):
    """A namespace for the site, and one for each host and consumer, each with a link to the site."""

    def __init__(self, o):
        super().__init__()
        self.o = o
        self.wires, self.number = {}, {}
        self.namespace("site")
        self.netem = self.inside("site", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1us", check=False
                                 ).returncode == 0
        if self.netem:
            self.inside("site", "tc", "qdisc", "del", "dev", "lo", "root")
        try:
            for i in range(HOSTS):
                self.link("host%d" % i, 10 + i, o.delay, o.loss, o.mbit)
            for i in range(CONSUMERS):
                self.link("consumer%d" % i, 100 + i, 1, 0, 1000)
        except BaseException:
            self.close()
            raise

    def namespace(self, name):
        run("ip", "netns", "add", PREFIX + name)
        self.callback(run, "ip", "netns", "del", PREFIX + name, check=False)
        self.inside(name, "ip", "link", "set", "lo", "up")

    def inside(self, name, *words, check=True):
        return run("ip", "netns", "exec", PREFIX + name, *words, check=check)

    def link(self, name, number, delay, loss, mbit):
        self.namespace(name)
        self.number[name] = number
        outer = "%s%d" % (PREFIX, number)
        shaped = (delay, loss, mbit) != (1, 0, 1000)
        if shaped and not self.netem:
            self.wires[name] = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--wire", PREFIX + "site:" + outer,
                 "%s:eth0" % (PREFIX + name), str(delay), str(loss), str(mbit)], stdout=subprocess.PIPE)
            self.callback(self.wires[name].kill)
            if not self.wires[name].stdout.readline():
                raise AssertionError("no link for " + name)
        else:
            run("ip", "link", "add", outer, "netns", PREFIX + "site", "type", "veth", "peer", "name", "eth0", "netns",
                PREFIX + name)
        for where, device, last, peer in (("site", outer, 1, 2), (name, "eth0", 2, 1)):
            self.inside(where, "ip", "addr", "add", NET % (number, last), "peer", NET % (number, peer), "dev", device)
            self.inside(where, "ip", "link", "set", device, "up")
            if shaped and self.netem:
                self.inside(where, "tc", "qdisc", "add", "dev", device, "root", "netem", "delay", "%gms" % delay,
                            "loss", "%g%%" % loss, "rate", "%gmbit" % mbit, "limit", "2000")

    def router(self, name):
        """Returns the address of the site's router, as seen from a namespace."""
        return "tcp/%s:7447" % NET % (self.number[name], 1)

    def cut(self, host, off):
        name = "host%d" % host
        if name in self.wires:
            self.wires[name].send_signal(signal.SIGUSR1)
        else:
            self.inside("site", "ip", "link", "set", "%s%d" % (PREFIX, self.number[name]), "down" if off else "up")

    def start(self, name, *words, **more):
        # exec: the process is the program itself, so that its own memory is measured
        return subprocess.Popen(["ip", "netns", "exec", PREFIX + name, *words], **more)


# ---- programs in the namespaces ------------------------------------------------------------------------------------


class World:
    def __init__(self, net, folder, recording):
        self.net, self.folder = net, folder
        self.recording, self.rate = recording
        self.env = dict(os.environ, PYTHONPATH=MODULE, XDG_RUNTIME_DIR=folder)
        self.running = {}
        self.memory = {}
        self.log = open(os.path.join(folder, "log"), "w")

    def camera(self, host, camera):
        return "%s-%d-%d" % (PREFIX, host, camera)

    def go(self, key, name, *words):
        p = self.net.start(name, *words, env=dict(self.env, RUNTIME_DIRECTORY=os.path.join(self.folder, key)),
                           stdout=self.log, stderr=self.log)
        self.running[key] = p

    def start_host(self, host):
        names = [self.camera(host, c) for c in range(CAMERAS)]
        for name in names:
            self.go("camera " + name, "host%d" % host, os.environ["STIXELCTL"], "-i", name, "replay", "--loop",
                    "--rate", "%g" % self.rate, self.recording)
        path = os.path.join(self.folder, "host%d.conf" % host)
        with open(path, "w") as f:
            f.write("[bridge]\nname = host%d\nhost = host%d\n" % (host, host))
            f.write("".join("[instance %s]\n" % name for name in names))
            f.write("[sink site]\nkind = zenoh\nmode = client\nconnect = %s\n" % self.net.router("host%d" % host))
        self.go("bridge %d" % host, "host%d" % host, sys.executable, "-m", "stixel_bridge", "-c", path)

    def kill_host(self, host):
        for key in [*("camera " + self.camera(host, c) for c in range(CAMERAS)), "bridge %d" % host]:
            self.running[key].kill()
            self.running.pop(key).wait()

    def start_consumer(self, i, life):
        names = ["host%d/%s" % (h, self.camera(h, c)) for h in range(HOSTS) for c in range(CAMERAS)]
        path = os.path.join(self.folder, "consumer%d.%d.json" % (i, life))
        self.go("consumer %d" % i, "consumer%d" % i, sys.executable, os.path.abspath(__file__), "--consumer", path,
                self.net.router("consumer%d" % i), *names)
        return path

    def bridge(self, host):
        """Returns /status of a host's bridge."""
        from stixel import _daemon as daemon
        path = os.path.join(self.folder, "bridge %d" % host, "host%d" % host, "status.sock")
        return json.loads(daemon.ask_path(path, "/status", 3)[1])

    def wait(self, host):
        """Waits until both cameras of a host were sent."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if all(way["sent"] for way in self.bridge(host)["sinks"][0]["instances"]):
                    return
            time.sleep(0.2)
        raise AssertionError("nothing is sent by host %d" % host)

    def look(self, when):
        for key, p in self.running.items():
            if key.split()[0] in ("router", "bridge", "consumer") and p.poll() is None:
                with open("/proc/%d/status" % p.pid) as f:
                    kib = [int(line.split()[1]) for line in f if line.startswith("VmRSS")]
                self.memory.setdefault(key, []).append((when, kib[0] / 1024, p.pid))

    def end(self):
        for p in self.running.values():
            p.terminate()
        for p in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(8)
            p.kill()
            p.wait()
        self.log.close()


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


def rate_of(path):
    """Returns the frames per second of a recording, at its original speed."""
    import stixel
    with stixel.Recording(path) as recording:
        times = [frame.published_ns for frame in recording if isinstance(frame, stixel.Frame)]
    return (len(times) - 1) * 1e9 / (times[-1] - times[0])


def record(folder):
    """Records some seconds of a street with a camera of KITTI's size: about a thousand stixels. Returns the recording
    and the factor for replay."""
    name, path = PREFIX + "-record", os.path.join(folder, "street.mcap")
    env = dict(os.environ, XDG_RUNTIME_DIR=folder)
    daemon = subprocess.Popen([os.environ["STIXELD"], "--instance", name, "-s", "source.kind=synthetic", "-s",
                               "source.size=1242x376", "-s", "source.fps=%g" % RECORDED_HZ], env=env,
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            r = run(os.environ["STIXELCTL"], "-i", name, "record", "--frames", "25", "--force", path, check=False) \
                if os.path.exists("/dev/shm/stixeld." + name) else None
            if r and r.returncode == 0:
                return path, REPLAYED_HZ / rate_of(path)
            time.sleep(0.2)
        raise AssertionError("no recording: %s" % (r and r.stderr))
    finally:
        daemon.terminate()
        daemon.wait()


def seconds(text):
    print("%6.1f s  %s" % (time.monotonic() - BEGIN, text), file=sys.stderr, flush=True)


BEGIN = time.monotonic()


def history(world, net, o):
    """Runs the sequence of events. Returns the files of the consumers' lives."""
    files = {i: [world.start_consumer(i, 0)] for i in range(CONSUMERS)}
    time.sleep(o.calm)
    world.look("calm")
    before = [world.bridge(h) for h in range(HOSTS)]
    time.sleep(o.calm)
    after = [world.bridge(h) for h in range(HOSTS)]
    seconds("consumer 0 is killed")
    world.running["consumer 0"].kill()
    world.running.pop("consumer 0").wait()
    time.sleep(o.calm / 2)
    files[0].append(world.start_consumer(0, 1))
    seconds("host 1 is killed")
    world.kill_host(1)
    time.sleep(o.calm)
    world.start_host(1)
    world.wait(1)
    time.sleep(o.calm)
    seconds("host 2 is cut off for %g s" % o.partition)
    net.cut(2, True)
    time.sleep(o.partition)
    net.cut(2, False)
    seconds("and has its link again")
    time.sleep(2 * o.calm)
    world.look("end")
    last = [world.bridge(h) for h in range(HOSTS)]
    return files, before, after, last


def judge(world, o, files, before, after, last):
    """Returns the table and the failures."""
    wrong, rows = [], []
    lives = {i: [json.load(open(path)) for path in paths if os.path.exists(path)] for i, paths in files.items()}
    for h in range(HOSTS):
        for c in range(CAMERAS):
            name = world.camera(h, c)
            ways = [next(w for w in s["sinks"][0]["instances"] if w["instance"] == name)
                    for s in (before[h], after[h], last[h])]
            sent = (ways[1]["sent"] - ways[0]["sent"]) / o.calm
            dropped = last[h]["sinks"][0]["instances"][c]["dropped"]
            for i in range(CONSUMERS):
                seen = lives[i][-1]["host%d/%s" % (h, name)]
                total = seen["got"] + seen["missed"]
                rows.append((h, c, i, sent, seen["got"], seen["missed"], quantile(seen["ms"], 0.5),
                             quantile(seen["ms"], 0.99), max(seen["ms"] or [0]), seen["gap_s"], seen["restarts"]))
                if not seen["got"]:
                    wrong.append("consumer %d got nothing of %s" % (i, name))
                    continue
                if seen["corrupt"]:
                    wrong.append("consumer %d: %d damaged frames of %s" % (i, seen["corrupt"], name))
                if h in (0, 3) and seen["missed"] > 0.02 * total:
                    wrong.append("consumer %d lost %d of %d frames of %s, which nothing happened to" % (
                        i, seen["missed"], total, name))
                if h in (0, 3) and seen["first"][0] == seen["last"][0] and \
                        seen["last"][1] - seen["first"][1] + 1 != total:
                    wrong.append("consumer %d: %d frames of %s and %d lost are not the %d that there were" % (
                        i, seen["got"], name, seen["missed"], seen["last"][1] - seen["first"][1] + 1))
                if h == 1 and i and not seen["restarts"]:
                    wrong.append("consumer %d saw no restart of %s" % (i, name))
                if h == 2 and not o.partition * 0.5 < seen["gap_s"] < o.partition + 15:
                    wrong.append("consumer %d: %s was away for %.1f s" % (i, name, seen["gap_s"]))
            frames = next(x["frames"] for x in last[h]["instances"] if x["instance"] == name)
            counted = ways[2]["sent"] + ways[2]["unwanted"] + sum(dropped.values())
            # tolerance: frames on their way, and frames read while the answer was made
            if not counted <= frames <= counted + 2 + 2:
                wrong.append("%s: %d frames were read, and %d sent or dropped" % (name, frames, counted))
    for key, looks in world.memory.items():
        first, end = looks[0], looks[-1]
        if first[2] == end[2] and end[1] > first[1] * 1.15 + 8:
            wrong.append("%s grew from %.0f to %.0f MB" % (key, first[1], end[1]))
    return rows, wrong


def report(world, o, rows, last):
    print("Links of hosts: %g Mbit/s, %g ms and %g %% loss each way; %d cameras on %d hosts, %d consumers; cut off for "
          "%g s." % (o.mbit, o.delay, o.loss, HOSTS * CAMERAS, HOSTS, CONSUMERS, o.partition))
    print("| host | consumer | frames sent a second | got | lost | ms p50 / p99 / max | longest gap, s | restarts |\n"
          "|---|---|---|---|---|---|---|---|")
    for h in range(HOSTS):
        for i in range(CONSUMERS):
            mine = [r for r in rows if r[0] == h and r[2] == i]
            what = {1: "killed, returned", 2: "cut off"}.get(h, "") + (", consumer killed, returned" if i == 0 else "")
            print("| %d %s | %d | %.1f | %d | %d | %.1f / %.1f / %.0f | %.1f | %d |" % (
                h, what.strip(", "), i, sum(r[3] for r in mine), sum(r[4] for r in mine), sum(r[5] for r in mine),
                max(r[6] for r in mine), max(r[7] for r in mine), max(r[8] for r in mine), max(r[9] for r in mine),
                max(r[10] for r in mine)))
    size = last[3]["sinks"][0]["instances"][0]
    print("Bytes a frame: %d. Memory, MB, after %g s and at the end: %s." % (
        size["bytes"] / max(1, size["sent"]), o.calm, "; ".join("%s %.0f, %.0f" % (
            key, looks[0][1], looks[-1][1]) for key, looks in sorted(world.memory.items())
            if looks[0][2] == looks[-1][2])))
    print("Dropped by the bridge of the host that was cut off: %s." % json.dumps(
        [way["dropped"] for way in last[2]["sinks"][0]["instances"]]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--mbit", type=float, default=20)
    p.add_argument("--delay", type=float, default=10, help="ms, each way")
    p.add_argument("--loss", type=float, default=0.5, help="%%, each way")
    p.add_argument("--partition", type=float, default=30.0, help="s")
    p.add_argument("--calm", type=float, default=10.0, help="s between events")
    o = p.parse_args()
    if os.geteuid() or not shutil.which("tc"):
        print("network namespaces need root and iproute2")
        return 77
    r = run("unshare", "-n", "true", check=False)
    if r.returncode:
        print("network namespaces cannot be made here: " + r.stderr.strip())
        return 77
    with tempfile.TemporaryDirectory(prefix="stixel-") as folder:
        recording = record(folder)
        with Network(o) as net:
            world = World(net, folder, recording)
            try:
                router = net.start("site", sys.executable, "-c", ROUTER_PROGRAM, stdout=subprocess.PIPE, env=world.env)
                world.running["router"] = router
                router.stdout.readline()
                for h in range(HOSTS):
                    world.start_host(h)
                for h in range(HOSTS):
                    world.wait(h)
                seconds("all hosts run")
                files, before, after, last = history(world, net, o)
            finally:
                world.end()
                if os.environ.get("KEEP_LOG"):
                    shutil.copy(os.path.join(folder, "log"), os.environ["KEEP_LOG"])
            rows, wrong = judge(world, o, files, before, after, last)
            report(world, o, rows, last)
    for line in wrong:
        print("WRONG: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--consumer"]:
        consume(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif sys.argv[1:2] == ["--wire"]:
        wire(*sys.argv[2:4], *map(float, sys.argv[4:]))
    else:
        sys.exit(main())
