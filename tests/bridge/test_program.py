# stixel-bridge as a program: daemons that start and stop, sinks without receivers, its status, its end, wrong use.
# SPDX-License-Identifier: Apache-2.0
import http.server
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

import support

support.need("zenoh")
instances = support.instances()

import harness  # noqa: E402
import stixel  # noqa: E402
from stixel import _daemon as daemon  # noqa: E402

MODULE, until = support.MODULE, harness.until
STIXELCTL = os.environ["STIXELCTL"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Bridge:
    """The program in a separate folder. Its sockets belong to the user of a daemon."""

    def __init__(self, text, runtime, before=()):
        self.folder = tempfile.TemporaryDirectory(prefix="stixel-")
        self.file = os.path.join(self.folder.name, "b.conf")
        self.runtime = runtime
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text)
        self.log = open(os.path.join(self.folder.name, "log"), "w+", encoding="utf-8")
        env = dict(os.environ, PYTHONPATH=MODULE, XDG_RUNTIME_DIR=runtime,
                   RUNTIME_DIRECTORY=os.path.join(runtime, "stixel-bridge"))
        self.process = subprocess.Popen([*before, sys.executable, "-m", "stixel_bridge", "-c", self.file], env=env,
                                        stderr=self.log, text=True)

    def path(self, name="default"):
        return os.path.join(self.runtime, "stixel-bridge", name, "status.sock")

    def status(self):
        try:
            return json.loads(daemon.ask_path(self.path(), "/status")[1])
        except OSError:
            return None

    def way(self, sink=0):
        """Returns the status of the first instance at a sink."""
        found = self.status()
        return found and found["sinks"][sink]["instances"][0]

    def text(self):
        with open(self.log.name, encoding="utf-8") as f:
            return f.read()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


class Program(instances.TestCase):
    def bridge(self, text, runtime, before=()):
        b = Bridge(text, runtime, before)
        self.addCleanup(b.close)
        return b

    def front(self):
        return self.daemon("bridge", *harness.SMALL, "-s", "source.fps=20")

    def test_frames_go_out_and_the_daemon_may_come_and_go(self):
        d = self.front()
        dead, port = free_port(), free_port()
        b = self.bridge("[instance %s]\n[sink near]\nkind = zenoh\nlisten = tcp/127.0.0.1:%d\n[sink dead]\n"
                        "kind = zenoh\nmode = client\nconnect = tcp/127.0.0.1:%d\n" % (d.name, port, dead), d.user)
        until(lambda: (b.way() or {}).get("unwanted", 0) > 5, 30, "frames: " + b.text())
        self.assertEqual((b.way()["sent"], b.way()["latency_ms"]), (0, None))
        remote = stixel.open("zenoh:tcp/127.0.0.1:%d/%s" % (port, d.name), follow=True)
        self.addCleanup(remote.close)
        until(lambda: b.way()["sent"] > 5, 30, "frames that somebody wants")
        until(lambda: b.status()["sinks"][1]["state"] == "waiting", 30, "a connection that fails")
        sinks = b.status()["sinks"]
        self.assertEqual([s["state"] for s in sinks], ["connected", "waiting"])
        self.assertIn(str(dead), sinks[1]["why"])
        self.assertNotIn("Traceback", b.text())
        code, body = daemon.ask_path(b.path(), "/healthz")
        self.assertEqual((code, body.decode().startswith("sink dead: ")), (503, True))
        # the same names as in stixelctl
        env = d.client()
        listed = subprocess.run([STIXELCTL, "list"], capture_output=True, text=True, env=env, check=True).stdout
        self.assertRegex(listed, r"(?m)^default +near +zenoh +%s +connected +[1-9]" % d.name)
        self.assertRegex(listed, r"(?m)^default +dead +zenoh +%s +waiting +0\.0 " % d.name)
        answer = json.loads(subprocess.run([STIXELCTL, "--json", "list"], capture_output=True, text=True, env=env,
                                           check=True).stdout)
        mine = [x for x in answer if x["kind"] == "bridge" and x["pid"] == b.process.pid]
        self.assertEqual(len(mine[0]["bridge"]["sinks"]), 2)
        # kill the daemon and start it again
        d.process.kill()
        d.process.wait()
        until(lambda: b.status()["instances"][0]["publisher"] != "alive", 30, "death")
        d.start(*harness.SMALL, "-s", "source.fps=20")
        sent = b.way()["sent"]
        until(lambda: b.way()["sent"] > sent + 5, 30, "frames after the restart")
        until(lambda: b.status()["instances"][0]["restarts"] == 1, 30, "the restart, counted")
        self.assertEqual(b.status()["instances"][0]["damaged"], 0)
        # the bridge ends with code 0 on SIGTERM and leaves no files
        b.process.send_signal(signal.SIGTERM)
        self.assertEqual(b.process.wait(30), 0)
        self.assertFalse(os.path.exists(os.path.dirname(b.path())))

    def test_a_name_belongs_to_one_bridge(self):
        with tempfile.TemporaryDirectory() as runtime:
            text = "[sink a]\nkind = zenoh\nlisten = tcp/127.0.0.1:%d\n"
            first = self.bridge(text % free_port(), runtime)
            until(first.status, 30, "status")
            second = self.bridge(text % free_port(), runtime)
            self.assertEqual(second.process.wait(30), 73)
            self.assertIn("another stixel-bridge runs as 'default'", second.text())
            self.assertTrue(first.status())

    def test_no_instance_is_waited_for(self):
        with tempfile.TemporaryDirectory() as runtime:
            b = self.bridge("[instance nobody-%d]\n[sink a]\nkind = zenoh\nlisten = tcp/127.0.0.1:%d\n" % (
                os.getpid(), free_port()), runtime)
            until(b.status, 30, "status")
            self.assertEqual(b.status()["instances"][0]["publisher"], "absent")
            until(lambda: b.status()["sinks"][0]["state"] == "connected", 30, "a sink")
            word = "stixel-bridge: instance 'nobody-%d': nothing publishes under this name; waiting\n" % os.getpid()
            until(lambda: word in b.text(), 30, "a word about it")
            # no thread, not even of a package, may take the signal from the thread that waits for it
            ends = 1 << signal.SIGINT - 1 | 1 << signal.SIGTERM - 1
            looked_at = 0
            for task in os.listdir("/proc/%d/task" % b.process.pid):
                try:
                    with open("/proc/%d/task/%s/status" % (b.process.pid, task), encoding="utf-8") as f:
                        found = dict(line.split(":", 1) for line in f)
                except (FileNotFoundError, ProcessLookupError):
                    continue  # a thread that has ended in the meantime
                looked_at += 1
                self.assertTrue(int(found["SigBlk"], 16) & ends == ends or int(task) == b.process.pid, found["Name"])
            self.assertGreater(looked_at, 1)
            b.process.send_signal(signal.SIGINT)
            self.assertEqual(b.process.wait(30), 0)

    def test_all_kinds_in_the_sandbox_of_the_service(self):
        """With only the allowed system calls and no code generated at run time, every package connects, and frames are
        sent."""
        filtered = [sys.executable, os.path.join(support.SOURCE, "tests", "systemd", "filtered.py"), "--no-new-code",
                    os.environ["STIXEL_BRIDGE_UNIT"]]
        if not shutil.which("systemd-analyze") or subprocess.run([*filtered, "--", "true"], capture_output=True,
                                                                 check=False).returncode:
            self.skipTest("no systemd-analyze, or no filter and no refusal of new code here")
        for package in ("cyclonedds", "rosbags", "foxglove"):
            support.need(package)
        d, port = self.front(), free_port()
        b = self.bridge("[instance %s]\n[sink z]\nkind = zenoh\nlisten = tcp/127.0.0.1:%d\n[sink f]\nkind = foxglove\n"
                        "port = %d\n[sink d]\nkind = ros-dds\ndomain = 77\n[sink r]\nkind = ros-zenoh\n"
                        "connect = tcp/127.0.0.1:%d\n" % (d.name, port, free_port(), port), d.user, [*filtered, "--"])
        until(lambda: [s["state"] for s in (b.status() or {"sinks": []})["sinks"]] == ["connected"] * 4, 30,
              "connections: " + b.text())
        until(lambda: all(sum(s["instances"][0][c] for c in ("sent", "unwanted")) > 5 for s in b.status()["sinks"]), 20,
              "frames")
        self.assertEqual([s["internal_errors"] for s in b.status()["sinks"]], [0] * 4)
        with open("/proc/%d/maps" % b.process.pid, encoding="utf-8") as f:
            mapped = f.read()
        self.assertIn("/dev/shm/stixeld." + d.name, mapped)
        # no shared memory of zenoh, which would be left behind if the process were killed
        self.assertNotIn(".zenoh", mapped)
        b.process.send_signal(signal.SIGTERM)
        self.assertEqual(b.process.wait(30), 0)

    def test_what_a_bridge_says_is_not_believed(self):
        """The status of a process that impersonates a bridge is checked and cleaned before it is shown."""
        for said, listed in ((b"{}", "its status is none of a bridge"), (b"[1", "its status is none of a bridge"),
                             (b'{"bridge": "x\\u001b]0;y\\u0007\\n", "sinks": [{"sink": "a\\u001b[2J", "why": null, '
                              b'"instances": [{"instance": "f\\nfake", "dropped": {"busy": 9223372036854775807, '
                              b'"not_connected": 9223372036854775807}}]}]}', "f?fake")):
            with tempfile.TemporaryDirectory() as runtime:
                os.makedirs(os.path.join(runtime, "stixel-bridge", "evil"))

                class Handler(http.server.BaseHTTPRequestHandler):
                    address_string = log_message = lambda *_: "local"

                    def do_GET(self):
                        self.send_response(200)
                        self.send_header("Content-Length", str(len(said)))
                        self.end_headers()
                        self.wfile.write(said)

                server = socketserver.UnixStreamServer(os.path.join(runtime, "stixel-bridge", "evil", "status.sock"),
                                                       Handler)
                self.addCleanup(server.server_close)
                threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
                for words in (["list"], ["--json", "list"]):
                    r = subprocess.run([STIXELCTL, *words], capture_output=True, text=True, check=False,
                                       env=dict(os.environ, XDG_RUNTIME_DIR=runtime))
                    self.assertEqual((r.returncode, r.stderr), (0, ""), words)
                    self.assertNotRegex(r.stdout, "[\x00-\x09\x0b-\x1f]")
                    self.assertIn(listed, r.stdout)
                self.assertIn("evil", [x["instance"] for x in json.loads(r.stdout)])
                server.shutdown()

    def run_it(self, *words):
        return subprocess.run([sys.executable, "-m", "stixel_bridge", *words], capture_output=True, text=True,
                              timeout=30, env=dict(os.environ, PYTHONPATH=MODULE))

    def test_wrong_use_is_a_sentence(self):
        for words, code, want in ((("--nonsense",), 64, "unrecognized arguments: --nonsense"),
                                  (("-c", "/nowhere.conf"), 78, "/nowhere.conf: cannot be read: No such file")):
            r = self.run_it(*words)
            self.assertEqual((r.returncode, r.stdout), (code, ""), words)
            self.assertRegex(r.stderr, r"^stixel-bridge: [^\n]*\n$")
            self.assertIn(want, r.stderr)

    def test_a_reader_that_goes_is_no_error(self):
        line = "set -o pipefail; %s -m stixel_bridge --print-config | head -n 1 >/dev/null" % sys.executable
        r = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False,
                           env=dict(os.environ, PYTHONPATH=MODULE))
        self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_what_is_installed_as_an_example_can_be_used(self):
        path = os.path.join(support.SOURCE, "systemd", "stixel-bridge.conf")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(self.run_it("--check", "-c", path).returncode, 78)  # no sink yet
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
            keys = ("[sink", "[pairs", " = ")
            f.write("\n".join(line[1:] if line.startswith("#") and any(key in line for key in keys) else line
                              for line in text.split("\n")))
            f.flush()
            r = self.run_it("--check", "-c", f.name)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertIn("1 instances, 3 sinks, 1 pairs", r.stdout)


if __name__ == "__main__":
    unittest.main()
