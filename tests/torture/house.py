# The environment of all lives: programs of a build, a daemon to read from, images and a recording.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import threading
import time

import cuda_lives
import lives

NAMES = ["start", "files", "steady", "reload", "order", "stop", "camera-start", "camera", "cuda-start", "cuda-auto",
         "cuda-steady", "cuda-reload", "cuda-order", "cuda-stop", "cuda-camera", "record", "export", "web"]


class House:
    """The programs of a build, and the files and the daemon that they need."""

    def __init__(self, build, top):
        self.build, self.top = os.path.abspath(build), top
        self.lock = threading.Lock()
        self.instance = "torture-%d" % os.getpid()  # readers search only /dev/shm
        self.daemon, self.exported = None, None
        self.stixeld = os.path.join(self.build, "daemon", "stixeld")
        self.stixelctl = os.path.join(self.build, "tools", "stixelctl")

    def program(self, name):
        return os.path.join(self.build, "tests", "torture", name)

    def lives(self):
        pair = ["-s", "source.path=" + self.pictures()]
        frames = ["--frames", "2"]
        return [
            lives.Daemon("start", self, arguments=frames),
            lives.Daemon("files", self, phase="start", kind="files", arguments=pair + frames),
            lives.Daemon("steady", self),
            lives.Daemon("reload", self),
            lives.Daemon("order", self),
            lives.Daemon("stop", self),
            lives.Cameras("camera-start", self, phase="start", arguments=frames),
            lives.Cameras("camera", self),
        ] + cuda_lives.cuda_lives(self) + [
            lives.Record("record", self, "torture-stixelctl"),
            lives.Export("export", self, "torture-stixelctl"),
        ] + ([lives.Web("web", self, "torture-stixel-web")]
             if os.path.exists(self.program("torture-stixel-web")) else [])

    def planted(self):
        found_by = {"good": "", "crashes": "signal 11|memory", "hangs": "hangs", "silent": "no sentence",
                    "silent-later": "no sentence", "wrong-code": "code 78", "wrong-code-read": "code 78",
                    "ends": "ended by itself", "rare": "signal 6", "leaves": "left behind: whole",
                    "allocates": "allocates"}
        if self.sanitized:
            found_by["leaks"] = "leak"
        return [lives.Planted(how, self, words) for how, words in found_by.items()] + cuda_lives.cuda_planted(self)

    @property
    def sanitized(self):
        with open(self.program("torture-planted"), "rb") as f:
            return b"__asan_init" in f.read()

    def environment(self):
        """Returns the environment of a daemon for programs that read. Starts the daemon at the first call."""
        # clients search below XDG_RUNTIME_DIR
        env = {"RUNTIME_DIRECTORY": os.path.join(self.top, "stixeld"), "XDG_RUNTIME_DIR": self.top}
        with self.lock:
            if not self.daemon:
                os.mkdir(env["RUNTIME_DIRECTORY"])
                config = os.path.join(self.top, "house.conf")
                with open(config, "w") as f:
                    f.write((lives.CONFIG % {"kind": "synthetic", "width": 4}).replace("fps = 0", "fps = 100"))
                self.daemon = subprocess.Popen([self.stixeld, "-i", self.instance, "-c", config],
                                               env=dict(os.environ, **env), stderr=subprocess.DEVNULL)
                end = time.monotonic() + lives.HANG_S
                while not os.path.exists("/dev/shm/stixeld." + self.instance):
                    if time.monotonic() > end or self.daemon.poll() is not None:
                        raise SystemExit("the daemon to read from does not run")
                    time.sleep(0.01)
        return env

    def close(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()

    def tool(self, *arguments):
        return subprocess.run([self.stixelctl, *arguments], capture_output=True,
                              text=True, env=dict(os.environ, **self.environment()), timeout=60)

    def info(self, file):
        r = self.tool("info", file)
        return r.returncode, r.stdout + r.stderr

    def recording(self):
        """Returns a recording of three frames with images, and notes the size of its export."""
        path, out = os.path.join(self.top, "house.mcap"), os.path.join(self.top, "exported.mcap")
        if not self.exported:
            for arguments in (("-i", self.instance, "record", "--frames", "3", path), ("export", path, out)):
                r = self.tool(*arguments)
                if r.returncode:
                    raise SystemExit("%s: %s" % (arguments, r.stderr))
            self.exported = os.path.getsize(out)  # only the size is compared, because times in the export differ
        return path

    def pictures(self):
        """Returns a folder with pairs. There are two more than requested, because a failed call costs one."""
        top = os.path.join(self.top, "pictures")
        for side, shift in (("left", 0), ("right", 3)):
            os.makedirs(os.path.join(top, side), exist_ok=True)
            for n in range(4):
                with open(os.path.join(top, side, "%d.pgm" % n), "wb") as f:
                    f.write(b"P5\n64 48\n255\n" + bytes((x + shift) * 37 % 251 ^ y * 5 & 63
                                                        for y in range(48) for x in range(64)))
        return top
