# The zenoh sink and stixel.open("zenoh:..."): daemon, bridge and this reader are three processes that use the real
# library.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import support

support.need("zenoh")
instances = support.instances()

import harness  # noqa: E402
import stixel  # noqa: E402
import stixel.__main__ as stixel_program  # noqa: E402
import zenoh  # noqa: E402
from stixel import _zenoh, _zenoh_session  # noqa: E402
from stixel._planes import select  # noqa: E402
from stixel_bridge import config as configuration  # noqa: E402
from stixel_bridge.fail import CONFIG, Fail, SinkError  # noqa: E402
from stixel_bridge.sink import Instance, Report, Work  # noqa: E402
from stixel_bridge.sinks import load  # noqa: E402
from test_program import Bridge, free_port  # noqa: E402

until = harness.until
LONG = 20
FAST = [*harness.SMALL, "-s", "source.fps=30"]


def tcp():
    return "tcp/127.0.0.1:%d" % free_port()


class Case(instances.TestCase):
    def bridge(self, daemon, **options):
        """Starts a bridge of one daemon. The name of its machine is h."""
        host = options.pop("host", "h")
        text = "[bridge]\nhost = %s\nname = %s\n[instance %s]\n[sink z]\nkind = zenoh\n%s" % (
            host, "default" if host == "h" else host, daemon.name,
            "".join("%s = %s\n" % item for item in options.items()))
        b = Bridge(text, daemon.user)
        self.addCleanup(b.close)
        return b

    def at(self, name, **more):
        """Returns an open reader as soon as an instance can be read."""
        def attempt():
            try:
                return self.open(name, **more)
            except stixel.NotRunning:
                return None
        return until(attempt, LONG, "an instance at " + name)

    def session(self, **values):
        """Opens another session in the network."""
        s = zenoh.open(_zenoh_session.configuration({k.replace("__", "/"): v for k, v in values.items()}))
        self.addCleanup(s.close)
        return s


class Shared(Case):
    """One daemon and one bridge for tests that disturb neither."""

    @classmethod
    def setUpClass(cls):
        cls.d = instances.Daemon("zenoh")
        cls.addClassCleanup(cls.d.close)
        cls.d.start(*FAST)
        cls.endpoint = tcp()
        cls.b = Bridge(
            "[bridge]\nhost = h\n[instance %s]\n[sink z]\nkind = zenoh\nlisten = %s\n" % (cls.d.name, cls.endpoint),
            cls.d.user)
        cls.addClassCleanup(cls.b.close)
        cls.name = "zenoh:%s/%s" % (cls.endpoint, cls.d.name)
        cls.base = "stixeld/h/" + cls.d.name

    def client(self):
        return self.session(mode="client", connect__endpoints=[self.endpoint])

    def both(self, count, **more):
        """Returns pairs of the same frame from the ring and from zenoh, matched by number."""
        remote = self.at(self.name, **more)
        here = self.open(self.d.name, **more)
        there, ring, end = {}, {}, time.monotonic() + LONG
        while len(set(there) & set(ring)) < count and time.monotonic() < end:
            for reader, found in ((remote, there), (here, ring)):
                f = reader.next(0.02)
                if f and (not more or (f.left is not None and f.disparity is not None)):
                    found[f.number] = f
        return remote, [(there[n], ring[n]) for n in sorted(set(there) & set(ring))]

    def test_the_same_frames_as_on_its_machine(self):
        remote, pairs = self.both(5)
        self.assertGreaterEqual(len(pairs), 5)
        for there, ring in pairs:
            self.assertEqual(there.raw, ring.raw)
            self.assertLess(abs(there.clock_offset_ns), 50e6)  # both sides use the clock of this machine
        s = until(lambda: (lambda s: s.state == stixel.State.RUNNING and s)(remote.status()), LONG, "its word")
        self.assertEqual((s.publisher, s.corrupt, s.restarts), (stixel.Publisher.ALIVE, 0, 0))
        self.assertEqual(s.version, self.d.status()["version"])
        self.assertLess(abs(s.clock_offset), s.clock_uncertainty)
        self.assertLess(s.clock_uncertainty, 0.05)

    def test_images_while_somebody_wants_them(self):
        self.at(self.name).next(LONG)
        self.assertEqual(self.d.status()["images"], {"left": "idle", "right": "off", "disparity": "idle"})
        remote, pairs = self.both(3, images=["left", "disparity"])
        self.assertGreaterEqual(len(pairs), 3)
        for there, ring in pairs:
            self.assertEqual(there.raw, ring.raw)  # joined from two keys
        remote.want_images("left")
        until(lambda: (lambda f: f and f.disparity is None and f.left is not None)(remote.next(LONG)), LONG, "left")
        remote.want_images("right")  # frames come although the daemon has no right image
        until(lambda: (lambda f: f and f.left is None)(remote.next(LONG)), LONG, "no image")
        first = remote.next(LONG)
        self.assertEqual((remote.next(LONG).missed, first.right), (0, None))
        remote.close()
        for reader in self._cleanups:  # close the reader of this machine, which wants the images too
            if getattr(reader[0], "__self__", None).__class__.__name__ == "RingReader":
                reader[0]()
        until(lambda: self.d.status()["images"]["left"] == "idle", LONG, "nobody to ask")

    def test_questions(self):
        self.at(self.name)
        s = self.client()

        def ask(what):
            return [r.ok.payload.to_bytes() for r in s.get("stixeld/*/%s/%s" % (self.d.name, what), timeout=5) if r.ok]
        frame = stixel.load(ask("frame")[0])
        self.assertGreater(len(frame.stixels), 0)
        self.assertIsNone(frame.left)
        self.assertEqual(json.loads(ask("configuration")[0])["keys"]["source.kind"]["value"], "synthetic")
        self.assertEqual(json.loads(ask("calibration")[0])["fx"], frame.camera.fx)
        until(lambda: ask("status"), LONG, "a report")
        self.assertEqual(json.loads(ask("status")[0])["publisher"], "alive")
        before, clock, after = time.monotonic_ns(), json.loads(ask("clock")[0]), time.monotonic_ns()
        self.assertTrue(before <= clock["monotonic_ns"] <= after)
        self.assertEqual(ask("nothing"), [])

    def test_names(self):
        self.at(self.name)
        self.assertGreater(self.at("zenoh:%s/h/%s" % (self.endpoint, self.d.name)).next(LONG).number, 0)
        with self.assertRaisesRegex(stixel.NotRunning, "^instance 'nobody' at tcp/.*: no publisher of this name; there "
                                    "are HOST/INSTANCE h/%s$" % self.d.name):
            stixel.open("zenoh:%s/nobody" % self.endpoint)
        with self.assertRaisesRegex(stixel.NotRunning, "instance '%s' of other at tcp/" % self.d.name):
            stixel.open("zenoh:%s/other/%s" % (self.endpoint, self.d.name))
        for bad in ("zenoh:", "zenoh:tcp/x:1/", "zenoh:tcp/x:1/a/b/c", "zenoh:tcp/x:1/.a", "zenoh:tcp//front",
                    "zenoh:tcp/x:1/*"):
            with self.assertRaisesRegex(stixel.BadName, "not zenoh:PROTOCOL/ADDRESS/INSTANCE or"):
                stixel.open(bad)
        with self.assertRaisesRegex(stixel.BadName, "where?"):
            stixel.open("zenoh:front")
        with self.assertRaises(stixel.NotSupported):
            stixel.open(self.name, stream=True)
        with self.assertRaisesRegex(ValueError, "one without the other"):
            stixel.open(self.name, user="x")
        with self.assertRaisesRegex(ValueError, "for other machines"):
            stixel.open("front", user="x")

    def test_by_a_configuration_of_zenoh(self):
        self.at(self.name)
        with tempfile.NamedTemporaryFile("w", suffix=".json5") as f:
            f.write('{ mode: "client", connect: { endpoints: ["%s"] } }' % self.endpoint)
            f.flush()
            self.assertGreater(self.open("zenoh:" + self.d.name, config=f.name).next(LONG).number, 0)
            f.write("}")
            f.flush()
            with self.assertRaisesRegex(ValueError, "%s: no configuration of zenoh: " % f.name):
                stixel.open("zenoh:" + self.d.name, config=f.name)

    def test_a_program_that_reads(self):
        self.at(self.name)
        r = subprocess.run([sys.executable, "-m", "stixel", self.name, "--frames", "2"], capture_output=True, text=True,
                           env=self.d.client(), timeout=60)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(r.stdout, r"^(\S+  frame \d+: \d+ stixels, .*, \d+\.\d ms old.*\n){2}$")
        for words, code in (((self.name, "--stream"), 64), (("zenoh:x/y/z/a/b",), 64), (("zenoh:%s/x" % tcp(),), 1),
                            ((self.name, "--user", "a", "--password-file", "/nowhere"), 64), (("x", "--ca", "/a"), 64)):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                try:
                    got = stixel_program.main(list(words))
                except SystemExit as e:  # the parser reports this error by SystemExit
                    got = e.code
            self.assertEqual(got, code, words)
            self.assertRegex(said.getvalue().splitlines()[-1], "^python3 -m stixel: [^ ].{20}")

    def test_a_slow_reader_counts_what_it_lost(self):
        reader = self.at(self.name)
        first = reader.next(LONG)
        until(lambda: reader.status().head > first.number + 20, LONG)
        f = reader.next()
        self.assertEqual(f.number, first.number + 1 + f.missed)
        self.assertGreater(f.missed, 10)
        self.assertEqual(reader.status().lost, first.missed + f.missed)

    def test_damaged_bytes_of_a_stranger(self):
        reader = self.at(self.name)
        frame = bytearray(reader.next(LONG).raw)
        frame[200] ^= 1
        stranger = self.client()
        for data in (b"", b"hello", bytes(frame)):
            stranger.put(self.base + "/frame", data)
        for said in (b"[1", b"[" * 100000, b'{"publisher": 3}', b"\xff"):
            stranger.put(self.base + "/status", said)
        token = stranger.liveliness().declare_token("stixeld/*/" + self.d.name)
        self.addCleanup(token.undeclare)
        until(lambda: reader.status().corrupt == 3, LONG, "damage")
        with self.assertRaises(stixel.Damaged):
            for _ in range(20):
                reader.next(LONG)
        self.assertEqual(next(reader).epoch, reader.status().epoch)
        until(lambda: reader.status().version == self.d.status()["version"], LONG, "the bridge's word")
        self.assertEqual(reader.status().publisher, stixel.Publisher.ALIVE)
        self.assertGreater(self.open(self.name).next(LONG).number, 0)


class Lives(Case):
    def test_daemon_and_bridge_come_and_go(self):
        d, endpoint = instances.Daemon("zenoh-lives"), tcp()
        self.addCleanup(d.close)
        name = "zenoh:%s/%s" % (endpoint, d.name)
        with self.assertRaisesRegex(stixel.NotRunning, "^%s: no answer$" % endpoint):
            stixel.open(name)
        follower = self.open(name, follow=True)  # before an instance exists
        self.assertFalse(follower.wait(0.05))
        d.start(*FAST)
        b = self.bridge(d, listen=endpoint)
        reader = self.at(name)
        epoch = reader.next(LONG).epoch
        self.assertEqual(follower.next(LONG).epoch, epoch)
        # the daemon ends without an error, then starts again
        d.stop()
        with self.assertRaises(stixel.Ended) as e:
            for _ in range(200):
                reader.next(LONG)
        self.assertNotIsInstance(e.exception, stixel.Died)
        with self.assertRaises(stixel.NotRunning):
            reader.reopen()
        until(lambda: follower.status().publisher == stixel.Publisher.ENDED, LONG, "the end")
        d.start(*FAST)
        f = until(lambda: (lambda f: f and f.epoch != epoch and f)(follower.next(LONG)), LONG, "another epoch")
        until(lambda: self.reopened(reader), LONG, "the same of the other reader")
        self.assertEqual(reader.next(LONG).epoch, f.epoch)
        # the bridge is killed and starts again: the same publisher
        b.process.kill()
        with self.assertRaisesRegex(stixel.Died, "the publisher died, or the way to it broke off"):
            for _ in range(200):
                reader.next(LONG)
        until(lambda: follower.status().publisher == stixel.Publisher.DIED, LONG, "death")
        while follower.next(0):
            pass
        again = self.bridge(d, listen=endpoint, host="h")
        f = follower.next(LONG)
        self.assertGreater(f.missed, 5)
        self.assertEqual(follower.status().restarts, 1)
        # the daemon is killed
        last = self.at(name)
        d.stop(signal.SIGKILL)
        with self.assertRaises(stixel.Ended):
            for _ in range(200):
                last.next(LONG)
        self.assertNotIn("Traceback", b.text() + again.text())

    def reopened(self, reader):
        try:
            reader.reopen()
            return True
        except stixel.NotRunning:
            return False

    def test_through_a_router_and_two_hosts(self):
        d, endpoint = self.daemon("zenoh-router", *FAST), tcp()
        router = self.session(mode="router", listen__endpoints=[endpoint])
        name = "zenoh:%s/%s" % (endpoint, d.name)
        a = self.bridge(d, mode="client", connect=endpoint)
        self.assertGreater(self.at(name, images=["left"]).next(LONG).number, 0)
        self.bridge(d, connect=endpoint, host="g")
        other = self.at("zenoh:%s/g/%s" % (endpoint, d.name))
        self.assertEqual(other.next(LONG).epoch, self.at("zenoh:%s/h/%s" % (endpoint, d.name)).next(LONG).epoch)
        with self.assertRaisesRegex(stixel.BadName, "there are several, of the hosts g, h: say which, as in zenoh:"):
            stixel.open(name)
        # the router ends: this is reported, and the connection is tried again
        router.close()
        state = until(lambda: (lambda s: s["sinks"][0]["state"] == "waiting" and s)(a.status()), LONG, "no connection")
        self.assertIn(endpoint, state["sinks"][0]["why"])
        self.session(mode="router", listen__endpoints=[endpoint])
        until(lambda: a.status()["sinks"][0]["state"] == "connected", LONG, "the new router")
        self.assertNotIn("Traceback", a.text())

    def test_another_clock(self):
        if os.geteuid() or subprocess.run(["unshare", "-T", "--monotonic", "5000", "true"], capture_output=True,
                                          check=False).returncode:
            self.skipTest("no time namespaces here")
        d, endpoint = instances.Daemon("zenoh-clock"), tcp()
        self.addCleanup(d.close)
        apart = ["unshare", "-T", "--monotonic", "5000", "--boottime", "5000", "--"]
        d.process = subprocess.Popen([*apart, d.binary, "--instance", d.name, *FAST], env=d.environment(),
                                     stderr=subprocess.DEVNULL)
        text = "[bridge]\nhost = h\n[instance %s]\n[sink z]\nkind = zenoh\nlisten = %s\n" % (d.name, endpoint)
        b = Bridge(text, d.user, apart)
        self.addCleanup(b.close)
        reader = self.at("zenoh:%s/%s" % (endpoint, d.name))
        f = reader.next(LONG)
        s = reader.status()
        self.assertLess(abs(s.clock_offset - 5000), s.clock_uncertainty)
        self.assertLess(s.clock_uncertainty, 0.05)
        # the frame's bytes keep the times of the other machine
        self.assertGreater(f.captured_ns, time.monotonic_ns() + 4000e9)
        self.assertTrue(0 < f.age() < 5, f.age())


class Locks(Case):
    """Access control: by user and password, by certificates."""

    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.top)

    def file(self, name, text, mode=0o600):
        path = os.path.join(self.top, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def certificates(self):
        """Makes an authority, a certificate of localhost signed by it, and another authority."""
        def run(*words):
            subprocess.run(["openssl", *words], cwd=self.top, check=True, capture_output=True)
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        for name in ("ca", "other"):
            run("req", "-x509", *new, "-keyout", name + ".key", "-out", name + ".pem", "-subj", "/CN=" + name)
        run("req", *new, "-keyout", "robot.key", "-out", "robot.csr", "-subj", "/CN=localhost")
        run("x509", "-req", "-in", "robot.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
            "robot.pem", "-extfile", self.file("ext", "subjectAltName=DNS:localhost,IP:127.0.0.1\n"))
        return lambda name: os.path.join(self.top, name)

    def test_both_at_once(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        d, path, endpoint = self.daemon("zenoh-locks", *FAST), self.certificates(), "tls/localhost:%d" % free_port()
        self.bridge(d, listen=endpoint, users_file=self.file("users", "op:secret\nview:only\n"),
                    tls_certificate=path("robot.pem"), tls_key=path("robot.key"))
        name, good = "zenoh:%s/%s" % (endpoint, d.name), {"user": "view", "password": "only", "ca": path("ca.pem")}
        self.assertGreater(self.at(name, **good).next(LONG).number, 0)
        for wrong in ({"password": "secret"}, {"user": "nobody"}, {"user": None, "password": None},
                      {"ca": path("other.pem")}, {"ca": None}):
            with self.assertRaisesRegex(stixel.NotAllowed, "^tls/localhost:.* answers, but lets us not in: wrong user"):
                stixel.open(name, **{**good, **wrong})

    def test_certificates_of_both_sides(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        path, endpoint = self.certificates(), "tls/localhost:%d" % free_port()
        mine = {"tls_ca": path("ca.pem"), "tls_certificate": path("robot.pem"), "tls_key": path("robot.key")}
        listens = Options.sink(self, listen=endpoint, tls_clients="yes", **mine)
        shows = Options.sink(self, mode="client", connect=endpoint, tls_clients="yes", **mine)
        shows_none = Options.sink(self, mode="client", connect=endpoint, tls_ca=path("ca.pem"))
        for sink in (listens, shows, shows_none):
            self.addCleanup(sink.close)
        listens.open()
        shows.open()
        with self.assertRaisesRegex(SinkError, "lets us not in"):
            shows_none.open()

    def test_a_router_that_wants_a_password(self):
        endpoint = tcp()
        self.session(mode="router", listen__endpoints=[endpoint],
                     transport__auth__usrpwd__dictionary_file=self.file("users", "robot:secret\n"))
        for password, works in (("secret", True), ("wrong", False)):
            sink = Options.sink(self, connect=endpoint, user="robot",
                                password_file=self.file(password, password + "\n"))
            self.addCleanup(sink.close)
            if works:
                sink.open()
                self.assertEqual(sink.report(Report(sink.instances[0], "alive", "running", None)), 0)
            else:
                with self.assertRaisesRegex(SinkError, "^%s answers, but lets us not in" % endpoint):
                    sink.open()

    def test_files_that_others_may_read(self):
        sink = Options.sink(self, connect=tcp(), user="a", password_file=self.file("p", "x\n", 0o640))
        with self.assertRaisesRegex(SinkError, "p: others may read it: chmod 600 /"):
            sink.open()
        sink = Options.sink(self, listen=tcp(), users_file=self.file("u", "", 0o600))
        with self.assertRaisesRegex(SinkError, "u: is empty"):
            sink.open()


class Options(Case):
    def sink(self, **options):
        maker = load("zenoh")
        text = "[sink z]\nkind = zenoh\n" + "".join("%s = %s\n" % item for item in options.items())
        sink, = configuration.parse_text("x", text).sinks
        return maker("z", sink.options, "h", [Instance("front", {})])

    def test_what_does_not_go_together(self):
        for options, want in (({}, "neither connect nor listen nor multicast"),
                              ({"mode": "client", "listen": "tcp/x:1"}, "a client does not listen"),
                              ({"connect": "tcp/x:1", "user": "a"}, "one of user and password_file"),
                              ({"connect": "tcp/x:1", "tls_key": "/a"}, "one of tls_certificate and tls_key"),
                              ({"connect": "tcp/x:1", "tls_clients": "yes"}, "tls_clients needs"),
                              ({"listen": "tls/x:1"}, "TLS needs tls_certificate"),
                              ({"listen": "tls/x:1, tcp/x:2", "tls_clients": "yes", "tls_ca": "/a", "tls_key": "/a",
                                "tls_certificate": "/a"}, "listen: tcp/x:2 asks for no certificate, but tls_clients"),
                              ({"connect": "tcp/x:1", "users_file": "/a"}, "users_file is for clients that connect"),
                              ({"listen": "tcp/x:1", "user": "a", "password_file": "/a"}, "user is for connect")):
            with self.assertRaisesRegex(Fail, want) as e:
                self.sink(**options)
            self.assertEqual(e.exception.code, CONFIG)

    def test_what_zenoh_refuses_is_a_sentence(self):
        port = free_port()
        holder = self.sink(listen="tcp/127.0.0.1:%d" % port)
        self.addCleanup(holder.close)
        holder.open()
        for listen in ("tcp/127.0.0.1:%d" % port, "pigeon/127.0.0.1:1", "tcp"):
            sink = self.sink(listen=listen)
            with self.assertRaises(SinkError) as e:
                sink.open()
            self.assertRegex(str(e.exception), r"^[^\n]{10,300}$")
            self.assertNotIn(".rs:", str(e.exception))
            sink.close()

    def test_options_reach_zenoh(self):
        sink = self.sink(listen=tcp(), multicast="no", compression="yes", priority="data-high", congestion="block",
                         reliability="best-effort", express="no")
        values = sink._values()
        self.assertEqual((values["mode"], values["transport/unicast/compression/enabled"]), ("peer", True))
        made = _zenoh_session.configuration(values)
        self.assertEqual([made.get_json(k) for k in ("scouting/multicast/enabled", "transport/shared_memory/enabled")],
                         ["false", "false"])
        self.addCleanup(sink.close)
        sink.open()
        publisher = sink._published["front"]._frame._publisher
        self.assertEqual((publisher.priority, publisher.congestion_control, publisher.reliability),
                         (zenoh.Priority.DATA_HIGH, zenoh.CongestionControl.BLOCK, zenoh.Reliability.BEST_EFFORT))

    def test_a_publisher_that_ended_is_not_back_by_a_late_frame(self):
        sink = self.sink(listen=tcp())
        self.addCleanup(sink.close)
        sink.open()
        front = sink.instances[0]
        late = Work(front, stixel.load(instances.pack([[]], epoch=5)), 0)
        published = sink._published["front"]
        sink.send(late)
        self.assertIsNotNone(published._token)
        sink.report(Report(front, "ended", "closed", None))
        self.assertEqual(sink.send(late), 0)
        # the late frame must not become the last frame of the next publisher either
        self.assertEqual((published._token, published._last), (None, None))
        sink.send(Work(front, stixel.load(instances.pack([[]], epoch=6)), time.monotonic_ns()))
        self.assertIsNotNone(published._token)
        # a late report: the daemon answers, so the report is about the previous publisher
        sink.report(Report(front, "absent", "starting", {"version": "1"}))
        self.assertEqual(json.loads(published._status)["publisher"], "stalled")
        self.assertIsNotNone(published._token)
        sink.report(Report(front, "absent", "starting", None))
        self.assertIsNone(published._token)


class Joiner(Case):
    def setUp(self):
        self.out = []
        self.joiner = _zenoh._Joiner(lambda data: self.out.append(self.short(data)))
        self.joiner.want(frozenset(["left", "disparity"]))

    def short(self, data):
        f = stixel.load(data)
        return f.number, "".join(k[0] for k in ("left", "disparity") if getattr(f, k) is not None)

    def add(self, kind, number, epoch=1):
        np = instances.np
        whole = instances.pack([[]], epoch=epoch, number=number, images=[
            (stixel.Plane.LEFT, np.zeros((4, 8), np.uint8)), (stixel.Plane.DISPARITY, np.zeros((4, 8), np.uint16))])
        planes = {"frame": (), "left": (stixel.Plane.LEFT,), "disparity": (stixel.Plane.DISPARITY,)}[kind]
        self.joiner.add(kind, select(whole, planes))

    def test_orders(self):
        for kinds in (("frame", "left", "disparity"), ("disparity", "left"), ("left", "frame", "disparity", "frame")):
            number = len(self.out) + 1
            for kind in kinds:
                self.add(kind, number)
            self.assertEqual(self.out[-1], (number, "ld"))
            self.assertEqual(len(self.out), number)

    def test_a_stranger_ends_nothing(self):
        self.add("frame", 2**63)  # the first frame
        self.add("frame", 7, epoch=2)
        self.add("frame", 9)  # a frame of an earlier publisher: passed on, so that it is counted
        for kind in ("frame", "left", "disparity"):
            self.add(kind, 8, epoch=2)
        self.assertEqual(self.out, [(2**63, ""), (9, ""), (7, ""), (8, "ld")])
        self.add("frame", 2**64 - 2, epoch=2)
        for kind in ("left", "frame", "disparity"):
            self.add(kind, 9, epoch=2)
        self.assertEqual(self.out[4:], [(2**64 - 2, ""), (9, "ld")])
        with mock.patch("stixel._remote.time.monotonic", lambda: time.perf_counter() + 1e6):
            for kind in ("left", "frame", "disparity"):
                self.add(kind, 10)
        self.assertEqual(self.out[6:], [(10, "ld")])

    def test_planes_that_nobody_knows(self):
        odd = instances.pack([[]], epoch=1, number=1, images=[(9, instances.np.zeros((4, 8), "u1"))], flags=1)
        self.joiner.add("left", odd)
        self.joiner.add("disparity", odd)
        self.assertEqual(self.out, [(1, "")])

    def test_what_does_not_come_is_not_waited_for(self):
        self.add("frame", 1)
        self.add("left", 1)
        self.assertEqual(self.out, [])
        self.add("frame", 2)
        self.add("disparity", 1)  # too late
        self.add("left", 3)
        self.assertEqual(self.out, [(1, "l"), (2, "")])
        self.joiner.want(frozenset())
        self.add("frame", 4)
        self.assertEqual(self.out[2:], [(3, "l"), (4, "")])


if __name__ == "__main__":
    unittest.main()
