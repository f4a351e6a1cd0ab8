# What the tests in the guest share: kernel modules, cameras, the daemon with a camera as its source.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import shutil
import subprocess

os.environ.setdefault("STIXELD", shutil.which("stixeld"))

import harness  # noqa: E402: it looks at STIXELD
from harness import until  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = "/host/images"
IMAGES_SIZE = (320, 160)
CAMERA = IMAGES + "/camera.conf"  # what the images were taken with
# A small search: the processor is emulated, and what it computes is tested elsewhere.
CHEAP = {"stereo.disparities": "32", "stereo.paths": "2", "engine.threads": "1"}


def run(*command, check=True, timeout=60):
    """stdout of a command."""
    r = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, check=False)
    if check and r.returncode:
        raise AssertionError("%s: exit %d: %s%s" % (" ".join(map(str, command)), r.returncode, r.stdout, r.stderr))
    return r.stdout


def settle():
    run("udevadm", "settle", "--timeout=20")


def load(module, *parameters):
    run("modprobe", module, *parameters)
    settle()


def unload(module):
    """Waits for those who have just closed it."""
    until(lambda: subprocess.run(["rmmod", module], capture_output=True, check=False).returncode == 0, 10,
          "rmmod " + module)


def load_vivid(devices=2):
    """Clean webcams /dev/video0, video1, ...; each test begins with new ones."""
    if os.path.exists("/sys/module/vivid"):
        unload("vivid")
    load("vivid", "n_devs=%d" % devices, "node_types=" + ",".join(["0x1"] * devices),
         "num_inputs=" + ",".join(["1"] * devices), "input_types=" + ",".join(["0"] * devices))


def control(device, **values):
    run("v4l2-ctl", "-d", device, "-c", ",".join("%s=%d" % v for v in values.items()))


def words(settings):
    """-s arguments of a dictionary."""
    return [w for k, v in settings.items() for w in ("-s", "%s=%s" % (k, v))]


class TestCase(harness.TestCase):
    def setUp(self):
        self.daemons = []  # whose logs are shown when the test fails

    def daemon(self, settings, wait=True, notify=False, name="test"):
        """stixeld, started with cameras (settings of section source without their prefix) and the cheap engine."""
        i = self.instance(name)
        self.daemons.append(i)
        given = dict(CHEAP)
        given.update({k if "." in k else "source." + k: v for k, v in settings.items()})
        i.start("-c", CAMERA, *words(given), wait=wait, notify=notify)
        return i

    def two(self, left, right, **more):
        """Settings of a pair of cameras."""
        s = {"kind": "v4l2", "left": left, "right": right}
        s.update(more)
        return s


def nodes():
    return sorted(glob.glob("/dev/video*"))
