# A process that exchanges lines of JSON with the tests.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import queue
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Child:
    """Runs a script of this folder. Keeps its messages in said, in order."""

    def __init__(self, script, *args, env=None, python=sys.executable):
        self.process = subprocess.Popen([python, os.path.join(HERE, script), *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=dict(os.environ, **(env or {})))
        self.said = []
        self._queue = queue.Queue()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        for line in self.process.stdout:
            self._queue.put(json.loads(line))

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def until(self, fits, seconds=30, what="message", do=None):
        """Returns the first message, old or new, for which fits() is true. do: a function that is called repeatedly
        while waiting."""
        end = time.monotonic() + seconds
        at = 0
        while True:
            while at < len(self.said):
                if fits(self.said[at]):
                    return self.said[at]
                at += 1
            if time.monotonic() > end:
                raise AssertionError("%s: not within %g s; it said %s" % (what, seconds, self.said[-5:]))
            if do:
                do()
            try:
                self.said.append(self._queue.get(timeout=0.05))
            except queue.Empty:
                pass

    def forget(self):
        """Drops all messages received so far."""
        while not self._queue.empty():
            self._queue.get()
        self.said.clear()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        self._thread.join()
        self.process.stdin.close()
        self.process.stdout.close()
