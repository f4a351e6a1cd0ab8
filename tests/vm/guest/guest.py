# Functions shared by the tests in the guest: kernel modules, cameras, the daemon with a camera as its source.
#
# SPDX-License-Identifier: Apache-2.0
import contextlib
import glob
import os
import re
import shutil
import struct
import subprocess
import time

import harness

harness.STIXELD = shutil.which("stixeld")
harness.POLL_S = 0.05
harness_until = harness.until


def until(condition, seconds=10.0, what="condition"):
    """Works as in the harness. But each check costs processor time of the guest, so it sleeps three times as long as
    the check took, at most 0.3 s."""
    def look():
        began = time.monotonic()
        value = condition()
        if not value:
            time.sleep(min(0.3, 3 * (time.monotonic() - began)))
        return value
    return harness_until(look, seconds, what)


harness.until = until  # the harness's own waits use it, too

HERE = os.path.dirname(os.path.abspath(__file__))
# Pairs of the synthetic street, made on the host: 320x160, and small ones that cost almost no time.
IMAGES, SMALL_IMAGES = "/host/images", "/host/images/small"
SIZE, SMALL_SIZE = "320x160", "96x64"
PAIRS = 4
CAMERA = IMAGES + "/camera.conf"  # the camera that took them
# A small search. The processor is emulated, and other tests check the results.
CHEAP = {"stereo.disparities": "32", "stereo.paths": "2", "engine.threads": "1"}


def run(*command, check=True, timeout=60, **more):
    """Returns the stdout of a command."""
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, check=False, **more)
    if check and r.returncode:
        raise AssertionError("%s: exit %d: %s%s" % (" ".join(map(str, command)), r.returncode, r.stdout, r.stderr))
    return r.stdout


def load(module, *parameters):
    run("modprobe", module, *parameters)
    run("udevadm", "settle", "--timeout=20")


def text(path):
    """Returns the text of a file of the kernel, or "" if it does not exist or has vanished."""
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return ""


# functions of the kernel through which a thread opens, uses and closes a camera, or registers and removes one
CAMERA_CALLS = ("chrdev", "media_", "uvc", "usb", "v4l2", "vb2", "vhci", "video", "vivid")


def stuck():
    """Describes what may use a camera: threads that have it open or mapped, threads that wait uninterruptibly or are in
    the kernel's code of cameras, each with its place there, USB devices and ports, and the end of the kernel's log."""
    said = []
    for task in glob.glob("/proc/[0-9]*/task/[0-9]*"):
        nodes = set(re.findall(r"/dev/(?:video|media).*", text(task + "/maps")))
        for fd in glob.glob(task + "/fd/*"):
            with contextlib.suppress(OSError):  # the descriptor is closed by now
                nodes |= {node for node in [os.readlink(fd)] if node.startswith(("/dev/video", "/dev/media"))}
        state = text(task + "/stat").rpartition(") ")[2][:1]
        calls = [line.split()[-1] for line in text(task + "/stack").splitlines()]
        if nodes or state == "D" or any(call.startswith(CAMERA_CALLS) for call in calls):
            said.append("%s (%s) %s %s: %s" % (task, text(task + "/comm"), state, " ".join(sorted(nodes)),
                                               " < ".join(calls)))
    said += ["%s: %s" % (path, text(path)) for path in sorted(glob.glob("/sys/bus/usb/devices/*/product"))]
    said += text("/sys/devices/platform/vhci_hcd.0/status").splitlines()
    return said + run("dmesg", check=False).splitlines()[-20:]


def unload(module):
    """Unloads the module. Waits for processes that have just closed it."""
    try:
        until(lambda: subprocess.run(["rmmod", module], capture_output=True, check=False).returncode == 0, 30,
              "rmmod " + module)
    except AssertionError as e:
        used = text("/sys/module/%s/refcnt" % module) or "(not loaded)"
        raise AssertionError("\n".join(["%s: used %s times" % (e, used)] + stuck())) from None


def load_vivid(devices=2):
    """Creates webcams /dev/video0, video1, ... in their initial state. Their picture shows no clock."""
    if os.path.exists("/sys/module/vivid"):
        unload("vivid")
    load("vivid", "n_devs=%d" % devices, "node_types=" + ",".join(["0x1"] * devices),
         "num_inputs=" + ",".join(["1"] * devices), "input_types=" + ",".join(["0"] * devices))
    for n in range(devices):
        control("/dev/video%d" % n, osd_text_mode=2)


def control(device, **values):
    run("v4l2-ctl", "-d", device, "-c", ",".join("%s=%d" % v for v in values.items()))


def words(settings):
    """Returns the -s arguments of a dictionary."""
    return [w for k, v in settings.items() for w in ("-s", "%s=%s" % (k, v))]


def images(side, form, folder=IMAGES):
    return ["%s/%s-%d.%s" % (folder, side, n, form) for n in range(PAIRS)]


def camera_settings(left, right, **more):
    """Returns settings for a pair of cameras. Names without a section belong to source."""
    s = dict(CHEAP)
    s.update({"source.kind": "v4l2", "source.left": left, "source.right": right})
    s.update({k if "." in k else "source." + k: v for k, v in more.items()})
    return s


def camera(status, side):
    return next(c for c in status["source"]["cameras"] if c["side"] == side)


NO_CONCERN = ("engine too slow", "both images are the same", "both cameras repeat")


def flows(status):
    """Returns true if frames are published. An emulated processor may be too slow for all pairs, and both vivids
    show one pattern, so the state may be degraded."""
    return status["state"] == "running" or (status["reason"] or "").startswith(NO_CONCERN)


def until_flows(instance, limit=10):
    return until(lambda: (lambda s: s if flows(s) else None)(instance.status()), limit, "frames to flow")


def left_image(ring, number):
    """Returns the picture published with frame `number` (output.planes = left)."""
    at = ring.first + (number & (ring.slots - 1)) * ring.stride + ring.header
    kind, width, height, pitch, offset, _ = struct.unpack_from("<6I", ring.map, at + 256)
    assert kind == 2, kind
    return b"".join(ring.map[at + offset + y * pitch:at + offset + y * pitch + width] for y in range(height))


class TestCase(harness.TestCase):
    def setUp(self):
        self.daemons = []

    def evidence(self):
        """Returns the daemons' logs, which are shown if the test fails."""
        return "".join(i.text() for i in self.daemons if os.path.exists(i.log))

    def daemon(self, settings, folder=IMAGES, wait=True, name="test", env=None, config="camera.conf", more=()):
        """Starts stixeld with the cameras' calibration. `more` is a list of arguments."""
        self.addCleanup(self.remove, "/dev/shm/stixeld." + name)  # left by a killed daemon
        i = self.instance(name)
        i.shm, i.run = "/dev/shm", "/run/stixeld"  # where stixelctl looks
        os.makedirs(i.run, exist_ok=True)
        i.status_path = "%s/%s/status.sock" % (i.run, name)
        self.daemons.append(i)
        i.start("-c", os.path.join(folder, config), *words(settings), *more, wait=wait, env=env)
        if wait and i.process.poll() is not None:
            self.fail("stixeld ended with %d" % i.process.returncode)
        return i

    def remove(self, path):
        if os.path.exists(path):
            os.unlink(path)

    def refused(self, settings):
        """Runs stixeld, which must end at its start. Returns (exit code, messages)."""
        i = self.instance()
        code, _, err = i.run_once("-c", CAMERA, *words(settings))
        return code, err

    def start(self, *command, **more):
        """Starts a helper that ends with the test."""
        p = subprocess.Popen([str(c) for c in command], **more)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def assert_accounted(self, status):
        """Checks that every captured image is in a pair or in a counter of drops. Checks the same for pairs."""
        frames = status["frames"]
        for c in status["source"]["cameras"]:
            # overload counts pairs, which are in frames.captured
            dropped = sum(n for reason, n in c["dropped"].items() if reason != "overload")
            # a few images are on their way: they wait for a partner, or the decoder has their pair
            self.assertIn(c["captured"] - dropped - frames["captured"], range(0, 9), status)
        dropped = frames["dropped"]["overload"] + frames["dropped"]["teardown"]
        self.assertIn(frames["captured"] - frames["published"] - dropped, range(0, 5), status)


def nodes():
    return sorted(glob.glob("/dev/video*"))
