# Helpers of the tests of stixel-segment: the program, a daemon that wants scores, networks of the stand-in.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "bridge")]
import support  # noqa: E402

support.need("cv2", "onnx", "onnxruntime")
instances = support.instances()

import harness  # noqa: E402
from stixel import _daemon  # noqa: E402

until = harness.until
STAND_IN = os.path.join(HERE, "stand_in")


class Segment:
    """The program, for a daemon."""

    def __init__(self, d, model, *more, stand_in=True, before=(), **environment):
        self.d = d
        path = os.pathsep.join([STAND_IN] * stand_in + [support.MODULE])
        self.runtime = os.path.join(d.user, "stixel-segment")
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "stixel_segment", "-m", os.path.basename(model), "-i", d.name, *more],
            cwd=os.path.dirname(model), stderr=self.log,
            env={**d.client(), "PYTHONPATH": path, "RUNTIME_DIRECTORY": self.runtime, **environment})

    def ask(self, target="/status"):
        path = os.path.join(self.runtime, self.d.name, "status.sock")
        try:
            return _daemon.ask_path(path, target)[1].decode()
        except OSError:
            return None

    def status(self):
        answer = self.ask()
        return json.loads(answer) if answer else None

    def until(self, test, what):
        """Waits for a state of the program. Returns it, or None: the program has ended."""
        def found():
            s = self.status()
            return s if s and test(s) else None
        state = until(lambda: self.process.poll() is not None or found(), 30, "%s: %s" % (what, self.text()))
        return None if state is True else state

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        text = self.text()
        self.log.close()
        return code, text

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Case(instances.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stixel-")
        self.addCleanup(folder.cleanup)
        self.top = folder.name

    def model(self, name="n.onnx", table="cityscapes-19", **faults):
        """Writes a network of the stand-in."""
        path = os.path.join(self.top, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(faults, f)
        with open(os.path.splitext(path)[0] + ".ini", "w", encoding="utf-8") as f:
            f.write("[model]\ntable = %s\n" % table)
        return path

    def with_scores(self, *more):
        d = instances.Daemon("segment")
        self.addCleanup(d.close)
        self.addCleanup(lambda: [os.unlink(p) for p in (instances.written("stixel-scores." + d.name),
                                                        d.ring_path + ".pairs") if os.path.exists(p)])
        d.start(*harness.SMALL, "-s", "source.fps=10", "-s", "external.pairs=yes", "-s", "semantics.source=" + d.name,
                *more)
        until(lambda: os.path.exists(d.ring_path + ".pairs"), 30, "ring of pairs")
        return d

    def segment(self, *args, **more):
        s = Segment(*args, **more)
        self.addCleanup(s.close)
        return s
