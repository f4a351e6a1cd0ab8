# fleet.py: simulates many vehicles that send to one site over routers. Prints which frames arrive, how late, and the
# traffic of the links.
#
# Each camera makes a frame at its rate. A vehicle's sinks keep the newest frame of each instance while its uplink is
# busy, as stixel-bridge does (runner.py). The routers of depots and site forward in the order of arrival. If the queue
# is full they drop the message, as zenoh does with congestion control "drop". Links have a rate and a delay, and they
# lose packets, which TCP sends again a round trip later. hosts.py measures the real programs on links like these.
#
# Usage: fleet.py [--seconds N] [--seed N]
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import heapq
import random

PACKET = 1448  # payload bytes of a TCP packet
OVERHEAD = 1.06  # headers of Ethernet, IP, TCP, and zenoh's own, over all bytes

Link = collections.namedtuple("Link", "mbit delay_ms loss")
Fleet = collections.namedtuple("Fleet", "vehicles depots cameras fps bytes uplink depot site queue")

LAN, SITE = Link(1000, 5, 0.0), Link(1000, 2, 0.0)
WORLDS = [
    ("5G, 2 cameras of 1000 stixels at 10 Hz", Fleet(100, 10, 2, 10, 20_000, Link(20, 15, 0.001), LAN, SITE, 64)),
    ("5G, 4 cameras of 1000 stixels at 30 Hz", Fleet(100, 10, 4, 30, 20_000, Link(20, 15, 0.001), LAN, SITE, 64)),
    ("LTE, 2 cameras of 1000 stixels at 10 Hz", Fleet(100, 10, 2, 10, 20_000, Link(5, 40, 0.01), LAN, SITE, 64)),
    ("LTE, 2 scans (2.6 kB) at 10 Hz", Fleet(100, 10, 2, 10, 2_700, Link(5, 40, 0.01), LAN, SITE, 64)),
    ("Wi-Fi of 100 Mbit/s for 10 vehicles, 4 cameras at 30 Hz",
     Fleet(100, 10, 4, 30, 20_000, Link(10, 3, 0.005), LAN, SITE, 64)),
]


class Queue:
    """A link. It sends one message at a time, and the others wait in order. Messages that do not fit the queue are
    lost."""

    def __init__(self, link, room, rng):
        self.link, self.room, self.rng = link, room, rng
        self.busy_until = 0.0
        self.ends = collections.deque()  # end times of the messages that are being sent or wait
        self.bytes = 0
        self.dropped = 0

    def free(self, now):
        return now >= self.busy_until

    def send(self, now, size):
        """Returns the arrival time, s. None: the queue had no room."""
        while self.ends and self.ends[0] <= now:
            self.ends.popleft()
        if len(self.ends) > self.room:
            self.dropped += 1
            return None
        begin = max(now, self.busy_until)
        self.busy_until = begin + size * OVERHEAD * 8 / (self.link.mbit * 1e6)
        self.ends.append(self.busy_until)
        self.bytes += size
        # a lost packet is sent again a round trip later, and all later packets wait in the receiver
        again = self.link.loss and self.rng.random() > (1 - self.link.loss) ** -(-size // PACKET)
        return self.busy_until + self.link.delay_ms / 1e3 * (3 if again else 1)


class Camera:
    def __init__(self, vehicle, period, phase):
        self.vehicle, self.period, self.next = vehicle, period, phase
        self.waiting = None  # capture time of the frame that waits for the uplink
        self.made = self.replaced = 0
        self.latencies = []
        # arrival time of the last message: TCP keeps the order, so later messages do not arrive before it
        self.last = 0.0


def simulate(fleet, seconds, seed):
    """Simulates cameras and the links of the vehicles, the depots and the site."""
    rng = random.Random(seed)
    uplinks = [Queue(fleet.uplink, fleet.queue, rng) for _ in range(fleet.vehicles)]
    depots = [Queue(fleet.depot, fleet.queue, rng) for _ in range(fleet.depots)]
    site = Queue(fleet.site, fleet.queue, rng)
    cameras = [Camera(v, 1 / fleet.fps, rng.random() / fleet.fps) for v in range(fleet.vehicles)
               for _ in range(fleet.cameras)]
    events = [(camera.next, i, "frame", 0.0) for i, camera in enumerate(cameras)]
    heapq.heapify(events)

    def uplink(now, i):
        camera, link = cameras[i], uplinks[cameras[i].vehicle]
        if camera.waiting is None:
            return
        if not link.free(now):
            heapq.heappush(events, (link.busy_until, i, "uplink", 0.0))
            return
        at, camera.waiting = camera.waiting, None
        heapq.heappush(events, (link.send(now, fleet.bytes), i, "depot", at))

    def onwards(now, i, queue, to, at):
        arrives = queue.send(now, fleet.bytes)
        if arrives is not None:
            heapq.heappush(events, (arrives, i, to, at))

    while events and events[0][0] < seconds:
        now, i, what, at = heapq.heappop(events)
        camera = cameras[i]
        if what == "frame":
            camera.made += 1
            camera.replaced += camera.waiting is not None
            camera.waiting = now
            heapq.heappush(events, (now + camera.period, i, "frame", 0.0))
            uplink(now, i)
        elif what == "uplink":
            uplink(now, i)
        elif what == "depot":
            onwards(now, i, depots[camera.vehicle % fleet.depots], "site", at)
        elif what == "site":
            onwards(now, i, site, "there", at)
        else:
            camera.last = max(camera.last, now)
            camera.latencies.append(camera.last - at)
    return cameras, uplinks, depots, site


def row(name, fleet, seconds, seed):
    cameras, uplinks, depots, site = simulate(fleet, seconds, seed)
    latencies = sorted(x for camera in cameras for x in camera.latencies)
    made, got = sum(c.made for c in cameras), len(latencies)
    hz = got / seconds / len(cameras)
    flying = sum(1 for c in cameras if c.waiting is not None)
    lost = sum(link.dropped for link in [*uplinks, *depots, site])
    replaced = sum(c.replaced for c in cameras)
    assert made >= got + replaced + lost and made - got - replaced - lost <= flying + len(cameras) * 8, "one is lost"
    return "| %s | %.1f of %g | %.1f | %.0f / %.0f / %.0f | %.1f | %.0f |" % (
        name, hz, fleet.fps, 100 * replaced / made, *(1e3 * latencies[int(q * (got - 1))] for q in (0.5, 0.99, 1)),
        8e-6 * OVERHEAD * sum(u.bytes for u in uplinks) / seconds / len(uplinks),
        8e-6 * OVERHEAD * site.bytes / seconds)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=60.0)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    print("| 100 vehicles, 10 depots, one site | Hz a camera | replaced by newer ones, % | ms p50 / p99 / max "
          "| Mbit/s a vehicle | Mbit/s at the site |\n|---|---|---|---|---|---|")
    for name, fleet in WORLDS:
        print(row(name, fleet, o.seconds, o.seed), flush=True)


if __name__ == "__main__":
    main()
