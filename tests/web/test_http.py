# stixel-web as any HTTP client sees it: pages, refusals, streams, limits, and daemons that start and stop.
# SPDX-License-Identifier: Apache-2.0
import gzip
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

from support import FPS, LEGEND, SLOW, STIXEL_WEB, Daemon, Place, Web, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
import openmetrics  # noqa: E402

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " \
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Case(unittest.TestCase):
    """One daemon and one dashboard for all tests of a class."""

    SETTINGS = ()
    ARGS = ()

    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)
        cls.daemon = Daemon(cls.place, cls.__name__.lower(), *cls.SETTINGS)
        cls.addClassCleanup(cls.daemon.forget)
        cls.daemon.start()
        cls.web = Web(cls.place, *[a.replace("{name}", cls.daemon.name) for a in cls.ARGS])

    def stream(self, query="", **more):
        s = self.web.stream(self.daemon, query, **more)
        self.addCleanup(s.close)
        return s

    def refused(self, code, words, *args, **more):
        got, headers, body = self.web.ask(*args, **more)
        self.assertEqual(got, code, body)
        self.assertIn(words, body.decode())
        self.assertEqual(headers["content-security-policy"], POLICY)
        return headers


class Pages(Case):
    def files(self):
        """Returns all files that the page names, and the files that those name in turn."""
        found, look = {}, ["/"]
        while look:
            path = look.pop()
            code, headers, body = self.web.ask(path)
            self.assertEqual(code, 200, path)
            found[path] = (headers, body.decode())
            names = re.findall(r'(?:src|href)="(/[^"]+)"', body.decode()) if path == "/" else []
            names += ["/" + n for n in re.findall(r'(?:from |import\()"\./([^"]+)"', body.decode())]
            look += [n for n in names if n not in found]
        return found

    def test_the_page_and_its_parts(self):
        files = self.files()
        types = {"/": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
        self.assertGreaterEqual(len(files), 10)
        self.assertIn("/palette.js", files)
        for path, (headers, body) in files.items():
            self.assertTrue(headers["content-type"].startswith(types[re.sub(r".*\.", ".", path)]), path)
            self.assertEqual(headers["content-security-policy"], POLICY)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertNotIn("access-control-allow-origin", headers)
            # no content from other servers, and nothing that the policy would forbid
            elsewhere = re.findall(r"https?://(?!www\.w3\.org/2000/svg)\S+", body)
            self.assertEqual(elsewhere, [], path)
        page = files["/"][1]
        self.assertEqual(re.findall(r"<style|\bstyle=|\son\w+=|<script(?![^>]*\bsrc=)", page), [])

    def test_unchanged_is_not_sent_again(self):
        for more in ([], ["Accept-Encoding: gzip"]):
            _, headers, body = self.web.ask("/app.js", headers=more)
            code, again, nothing = self.web.ask("/app.js", headers=[*more, "If-None-Match: " + headers["etag"]])
            self.assertEqual((code, nothing), (304, b""))
            self.assertEqual(again["etag"], headers["etag"])
            self.assertEqual(self.web.ask("/app.js", headers=[*more, 'If-None-Match: "other"'])[2], body)

    def test_the_page_is_compressed(self):
        for path, (headers, body) in self.files().items():
            _, packed, data = self.web.ask(path, headers=["Accept-Encoding: deflate, gzip"])
            self.assertEqual(gzip.decompress(data).decode(), body)
            self.assertEqual((packed["content-encoding"], packed["vary"]), ("gzip", "Accept-Encoding"))
            self.assertNotEqual(packed["etag"], headers["etag"])
        self.assertNotIn("content-encoding", self.web.ask("/app.js", headers=["Accept-Encoding: br, gzip;q=0"])[1])

    def test_the_first_picture(self):
        """What a browser loads up to the first picture of KITTI's size has less than 150 kB, headers and all. Round
        trips before the stream: the page, its files, and the list of instances. The page itself names all its files,
        so that a browser finds none of them late."""
        files = self.files()
        later = {"/" + name for _, body in files.values() for name in re.findall(r'import\("\./([^"]+)"', body)}
        first, look = {"/"}, ["/app.js"]
        named = set(re.findall(r'(?:src|href)="(/[^"]+)"', files["/"][1]))
        while look:
            path = look.pop()
            first.add(path)
            look += [n for n in ("/" + n for n in re.findall(r'from "\./([^"]+)"', files[path][1])) if n not in first]
        self.assertEqual(first - named, {"/"})
        self.assertLess({"/details.js", "/space.js", "/settings.js", "/recordings.js"}, later)
        self.assertEqual(later & named, set())
        asks = "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
        page = sum(len(self.web.raw((asks % path).encode())) for path in sorted(first | named | {"/api/instances"}))
        kitti = Daemon(self.place, "kitti", "source.kind=synthetic", "source.size=1242x375", "source.fps=2").start()
        self.addCleanup(kitti.forget)
        self.addCleanup(kitti.kill, signal.SIGTERM)
        stream = Web(self.place, "-i", kitti.name).stream(kitti, "?free=yes&scale=yes&images=left&fps=30")
        self.addCleanup(stream.close)
        picture, pictures = 0, set()
        while "left" not in pictures or "frame" not in pictures:
            message = stream.next()
            pictures.add(message.kind)
            picture += 32 + message.bytes
        print("page %.1f kB, picture %.1f kB" % (page / 1e3, picture / 1e3))
        self.assertLess(page, 57000)  # /api/instances names the instances of other tests, too
        self.assertLess(page + picture, 150000)

    def test_presets(self):
        presets = {p["name"]: p for p in self.web.json("/api/presets")}
        self.assertLessEqual({"car", "fast", "indoor", "robot"}, set(presets))
        keys = self.web.json("/api/%s/settings" % self.daemon.name)["keys"]
        for preset in presets.values():
            self.assertLessEqual(set(preset["keys"]), set(keys))
        self.assertEqual(presets["robot"]["keys"]["camera.height_m"], "0.25")

    def test_head(self):
        for path in ("/", "/healthz", "/api/instances", "/api/%s/status" % self.daemon.name, "/metrics"):
            code, headers, body = self.web.ask(path, "HEAD")
            self.assertEqual((code, body), (200, b""), path)
            self.assertGreater(int(headers["content-length"]), 2)
        code, headers, body = self.web.ask("/api/%s/stream" % self.daemon.name, "HEAD")
        self.assertEqual((code, body, headers["content-type"]), (200, b"", "application/x-stixel-stream"))

    def test_a_connection_is_kept(self):
        with self.web.connect() as s:
            for _ in range(3):
                s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                reply = b""
                while not reply.endswith(b"ok\n"):
                    part = s.recv(4096)
                    self.assertTrue(part)
                    reply += part

    def test_instances(self):
        offered = self.daemon.ring + ".pairs"  # the ring of offered pairs is not an instance
        with open(self.daemon.ring, "rb") as ring, open(offered, "wb") as f:
            self.addCleanup(os.remove, offered)
            f.write(ring.read())
        mine = until(lambda: [i for i in self.web.json("/api/instances")["instances"] if i["name"] == self.daemon.name])
        self.assertEqual((mine[0]["publisher"], mine[0]["pid"]), ("alive", self.daemon.process.pid))
        names = [i["name"] for i in self.web.json("/api/instances")["instances"]]
        self.assertNotIn(self.daemon.name + ".pairs", names)

    def test_another_layout(self):
        """The list and the frame request name both versions, and the program to update."""
        name = "a-layout-%d" % os.getpid()
        path = "/dev/shm/stixeld." + name
        self.addCleanup(os.remove, path)
        with open(self.daemon.ring, "rb") as ring, open(path, "wb") as f:
            f.write(ring.read())
            f.seek(8)
            f.write(struct.pack("<HH", 7, 3))
        said = "its ring has layout 7.3, this program reads 1.x: update stixel-web and libstixel"
        listed = [i for i in self.web.json("/api/instances")["instances"] if i["name"] == name]
        self.assertEqual((listed[0]["publisher"], listed[0]["error"]), ("absent", said))
        code, _, body = self.web.ask("/api/%s/snapshot.jpg" % name)
        self.assertEqual((code, body.decode()), (502, "instance '%s': %s\n" % (name, said)))

    def test_rings_of_others_hide_no_instance(self):
        made = []
        self.addCleanup(lambda: [os.path.lexists(path) and os.unlink(path) for path in made])
        for i in range(40):
            path = "/dev/shm/stixeld.a%02d-%d" % (i, os.getpid())
            made.append(path)
            if i % 4 == 0:
                os.symlink("/etc/passwd", path)
            elif i % 4 == 1:
                os.mkfifo(path)
            else:
                shutil.copyfile(self.daemon.ring, path)
                os.chown(path, 65534, 65534)
        found = self.web.json("/api/instances")
        self.assertIn(self.daemon.name, [i["name"] for i in found["instances"]])
        self.assertFalse([i["name"] for i in found["instances"] if i["name"].endswith("-%d" % os.getpid())
                          and i["name"] != self.daemon.name])
        self.assertGreaterEqual(found["left_out"]["foreign"], 40)
        text = self.web.ask("/metrics")[2].decode()
        openmetrics.parse(text)
        self.assertIn('stixeld_uptime_seconds{instance="%s"}' % self.daemon.name, text)
        self.assertGreaterEqual(int(re.search(r'(?m)^stixel_web_instances_left_out\{reason="foreign"\} (\d+)$',
                                              text).group(1)), 40)
        self.assertIn('\nstixel_web_instances_left_out{reason="beyond"} 0\n', text)

    def test_trusted_rings_beyond_what_is_shown(self):
        made = ["/dev/shm/stixeld.a%02d-%d" % (i, os.getpid()) for i in range(40)]
        self.addCleanup(lambda: [os.path.exists(path) and os.unlink(path) for path in made])
        for path in made:
            shutil.copyfile(self.daemon.ring, path)
        found = self.web.json("/api/instances")
        self.assertEqual(len(found["instances"]), 32)
        self.assertIn(self.daemon.name, [i["name"] for i in found["instances"]])
        self.assertGreaterEqual(found["left_out"]["beyond"], 9)

    def test_clock(self):
        before = time.monotonic_ns()
        self.assertTrue(before < self.web.json("/api/clock")["monotonic_ns"] < time.monotonic_ns())

    def test_status(self):
        s = until(lambda: self.web.status(self.daemon), what="status")
        self.assertEqual((s["instance"], s["pid"]), (self.daemon.name, self.daemon.process.pid))

    def test_snapshot(self):
        def try_once():
            code, headers, body = self.web.ask("/api/%s/snapshot.jpg" % self.daemon.name)
            return (headers, body) if code == 200 else None
        headers, body = until(try_once, what="snapshot")
        self.assertEqual(headers["content-type"], "image/jpeg")
        self.assertEqual((body[:2], body[-2:]), (b"\xff\xd8", b"\xff\xd9"))
        at = body.index(b"\xff\xc0")
        self.assertEqual(struct.unpack_from(">HH", body, at + 5), (160 + LEGEND, 320))


class Refusals(Case):
    ARGS = ("-i", "{name}", "--host", "Robot.local")

    def test_not_found(self):
        for path in ("/nothing", "/api", "/api/", "/api/%s" % self.daemon.name, "/api/%s/nothing" % self.daemon.name,
                     "/../etc/passwd", "/style.css/"):
            self.refused(404, "not found", path)
        self.refused(404, "is not shown here", "/api/other/status")

    def test_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            self.assertEqual(self.refused(405, "only GET and HEAD", "/", method)["allow"], "GET, HEAD")

    def test_wrong_words(self):
        name = self.daemon.name
        self.refused(400, "instance", "/api/.hidden/status")
        self.refused(400, "instance", "/api/%2e%2e/status")
        self.refused(400, "instance", "/api//status")
        self.refused(400, "instance", "/api/%s/status" % ("n" * 65))
        for query in ("fps=0", "fps=-3", "fps=10x", "fps=", "fps=99999"):
            self.refused(400, "fps needs a number", "/api/%s/stream?%s" % (name, query))
        for key in ("free", "scale"):
            self.refused(400, key + " needs yes or no", "/api/%s/stream?%s=1" % (name, key))
        for page in ("stream", "stream.mjpg", "snapshot.jpg"):
            for query in ("near=0", "near=-1", "far=x", "near=1e9", "far=nan", "near="):
                self.refused(400, query[:query.index("=")] + " needs metres", "/api/%s/%s?%s" % (name, page, query))
            self.refused(400, "far must be farther", "/api/%s/%s?near=3&far=2" % (name, page))
        for query in ("images=right", "images=left,", "images=none,left", "images=leftdisparity"):
            self.refused(400, "images needs", "/api/%s/stream?%s" % (name, query))
        for query in ("planes=none,left", "planes=", "planes=all"):
            self.refused(400, "planes needs", "/api/%s/stream?%s" % (name, query))
        self.refused(400, "body", "/", headers=["Content-Length: 5"])
        self.refused(400, "body", "/", headers=["Transfer-Encoding: chunked"])

    def test_names(self):
        port = self.web.port
        for host in ("localhost", "localhost:%d" % port, "127.0.0.1", "127.0.0.1:9", "[::1]:80", "robot.local",
                     "ROBOT.local:1"):
            self.assertEqual(self.web.ask("/healthz", host=host)[0], 200, host)
        for host in ("evil.example", "evil.example:%d" % port, "localhost.evil.example", "127.0.0.1.evil.example",
                     "10.0.0.1",
                     "[::2]", "localhost:x", "localhost:0", "[::1", "robot.local:80:80", "user@localhost", "a" * 300):
            self.refused(403, "--host", "/healthz", host=host)
        self.assertIn(self.web.ask("/healthz", host="")[0], (400, 403))

    def test_other_sites(self):
        path = "/api/%s/stream" % self.daemon.name
        for site in ("cross-site", "same-site"):
            self.refused(403, "other sites", path, headers=["Sec-Fetch-Site: " + site, "Sec-Fetch-Mode: no-cors"])
        link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]
        self.assertEqual(self.web.ask("/", headers=link)[0], 200)
        for what in ("stream", "stream.mjpg", "snapshot.jpg"):  # requests of a window that a page opens
            self.refused(403, "other sites", "/api/%s/%s" % (self.daemon.name, what), headers=link)
        self.refused(400, "two Host headers", "/healthz", headers=["Host: localhost"])
        self.assertEqual(self.web.ask("/", headers=["Sec-Fetch-Site: same-origin"])[0], 200)

    def test_a_header_twice(self):
        site = "Sec-Fetch-Site: same-origin"
        for twice in ([site, "sec-fetch-site: cross-site"], [site, site], ["Host: localhost"], ["Origin: null"] * 2,
                      ["Sec-Fetch-Mode: navigate"] * 2, ["Authorization: Basic eDp5"] * 2):
            code, _, body = self.web.ask("/", headers=twice)
            name = twice[0].partition(":")[0]
            self.assertEqual((code, body.decode()), (400, "two %s headers\n" % name), twice)

    def test_too_many_parameters(self):
        for count in (33, 100, 1000, 10000):
            code, _, body = self.web.ask("/api/instances?" + "a&" * count)
            self.assertEqual((code, body), (400, b"more than 32 parameters\n"), count)
        self.assertEqual(self.web.ask("/api/instances?" + "&" * 32)[0], 200)
        code, _, body = self.web.ask("/api/%s/stream?%s" % (self.daemon.name, "&" * 1000))
        self.assertEqual(code, 400)

    def test_garbage(self):
        for data in (b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100000 + b"\r\n\r\n",
                     b"GET /" + b"z" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            reply = self.web.raw(data)
            self.assertTrue(reply == b"" or re.match(rb"HTTP/1\.[01] [45]\d\d", reply), reply[:80])
        self.assertEqual(self.web.ask("/healthz")[0], 200)


class Orders(Case):
    """Settings: every client reads them, --tune allows changes, and a page of another site can never change them."""

    SETTINGS = ("source.kind=synthetic", "source.size=320x160", "source.fps=%d" % FPS, "road.top=30")
    ARGS = ("-i", "{name}", "--host", "robot.local", "--tune")
    RIGHT = ("X-Stixel-Tune: 1",)

    def setUp(self):
        self.path = "/api/%s/settings" % self.daemon.name

    def keys(self):
        return self.web.json(self.path)["keys"]

    def value(self, key):
        return self.keys()[key]["value"]

    def order(self, body, *headers, web=None, **more):
        code, _, text = (web or self.web).ask(self.path, "POST", headers, body=body, **more)
        return code, text.decode()

    def test_a_change(self):
        self.assertEqual(self.keys()["stixels.width"]["value"], "4")
        code, text = self.order(b"stixels.width=8\nfilters.median=yes\n", *self.RIGHT)
        self.assertEqual(code, 200, text)
        self.assertRegex(text, r"^filters.median = yes \(was no\)\nstixels.width = 8 \(was 4\)\nfrom frame \d+ on\n$")
        # effective at once: the cached earlier answer is not shown any more
        row = self.keys()["stixels.width"]
        self.assertEqual((row["value"], row["live"]), ("8", True))
        # together with settings of other tests
        configured = self.web.json(self.path)["configured"]
        self.assertLessEqual({"filters.median": "no", "stixels.width": "4"}.items(), configured.items())
        self.assertEqual(self.order(b"stixels.width=4\nfilters.median=no", *self.RIGHT)[0], 200)

    def test_what_others_change_is_seen(self):
        before = self.value("road.max_age")
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("%s/%s/status.sock" % (self.place.env["RUNTIME_DIRECTORY"], self.daemon.name))
            s.sendall(b"POST /settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 15\r\n\r\n"
                      b"road.max_age=17")
            self.assertIn(b" 200 ", s.recv(4096))
        self.assertNotEqual(before, "17")
        until(lambda: self.value("road.max_age") == "17", 30, "the other's value")

    def test_unchanged_is_not_sent_again(self):
        _, headers, body = self.web.ask(self.path)
        self.assertEqual(headers["content-type"], "application/json; charset=utf-8")
        self.assertEqual(self.web.ask(self.path, headers=["If-None-Match: " + headers["etag"]])[0::2], (304, b""))
        self.assertEqual(self.web.ask(self.path, headers=['If-None-Match: "0"'])[2], body)

    def test_the_daemons_sentences(self):
        name = self.daemon.name
        self.assertEqual(self.order(b"road.top=99", *self.RIGHT),
                         (422, "set road.top=99: [road] top: found '99', allowed 0..90 %\n"))
        self.assertEqual(self.order(b"stereo.paths=8", *self.RIGHT),
                         (422, "set stereo.paths=8: [stereo] paths: needs a restart: change it in a file\n"))
        self.assertEqual(self.order(b"stixels.width=2", *self.RIGHT)[0], 409)
        self.assertEqual(self.order(b"", *self.RIGHT)[0], 422)
        self.assertEqual(self.order(b"road.top=" + b"1" * 20000, *self.RIGHT), (413, "the request is too long\n"))
        self.assertEqual(self.order(b"road.top=40\0\nroad.top=x", *self.RIGHT), (400, "the request has a byte 0\n"))
        self.refused(404, "is not shown here", "/api/other/settings", "POST", self.RIGHT, body=b"road.top=40")
        self.refused(405, "only GET and HEAD", "/api/%s/status" % name, "POST", self.RIGHT, body=b"road.top=40")
        allow = self.refused(405, "only GET, HEAD and POST", self.path, "PUT", self.RIGHT, body=b"road.top=40")
        self.assertEqual(allow["allow"], "GET, HEAD, POST")
        self.assertEqual(self.value("road.top"), "30")

    def test_other_sites(self):
        body, port = b"road.top=40", self.web.port
        own, evil = "Origin: http://127.0.0.1:%d" % port, "Origin: http://evil.example"
        for headers, words in (
                ([], "X-Stixel-Tune"), ([own], "X-Stixel-Tune"),  # headers that a form would send
                ([*self.RIGHT, evil], "other sites"), ([*self.RIGHT, "Origin: null"], "other sites"),
                ([*self.RIGHT, own[:-1]], "other sites"), ([*self.RIGHT, own + "0"], "other sites"),
                ([*self.RIGHT, own, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"], "other sites"),
                ([*self.RIGHT, own, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"], "other sites"),
                ([*self.RIGHT, own, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], "other sites"),
                ([*self.RIGHT, own, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"], "other sites")):
            self.refused(403, words, self.path, "POST", headers, body=body)
        # a DNS name that was pointed at this server, and the preflight request of a browser before a request with such
        # a header
        self.refused(403, "--host", self.path, "POST", [*self.RIGHT, evil], host="evil.example", body=body)
        ask = [evil, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-stixel-tune"]
        headers = self.refused(405, "only GET", self.path, "OPTIONS", ask)
        self.assertEqual([h for h in headers if h.startswith("access-control")], [])
        self.assertEqual(self.value("road.top"), "30")
        # requests of the page itself are accepted: under each name of the server, also the name that a proxy gives it
        for host, more in (("127.0.0.1:%d" % port, [own]), ("robot.local", ["Origin: http://Robot.local"]),
                           ("localhost", ["Origin: https://robot.example", "Sec-Fetch-Site: same-origin"])):
            self.assertEqual(self.order(b"road.top=30", *self.RIGHT, *more, host=host),
                             (200, "nothing changed: so it was already\n"))

    def test_refusals_are_counted(self):
        def count():
            return int(re.search(r"(?m)^stixel_web_requests_refused_total (\d+)$",
                                 self.web.ask("/metrics")[2].decode()).group(1))
        before = count()
        self.assertEqual(self.order(b"road.top=40")[0], 403)
        self.assertEqual(count(), before + 1)

    def test_without_tune(self):
        web = Web(self.place, "-i", self.daemon.name)
        self.assertEqual((web.json("/api/instances")["tune"], self.web.json("/api/instances")["tune"]), (False, True))
        self.assertEqual(web.json(self.path)["keys"]["road.top"]["value"], "30")
        code, text = self.order(b"road.top=40", *self.RIGHT, web=web)
        self.assertEqual((code, text), (403, "nothing can be changed here: stixel-web was started without --tune\n"))
        self.assertEqual(self.value("road.top"), "30")

    def test_nobody_runs(self):
        web = Web(self.place, "-i", "none-of-this-name", "--tune")
        self.assertEqual(web.ask("/api/none-of-this-name/settings")[0], 404)
        code, _, text = web.ask("/api/none-of-this-name/settings", "POST", self.RIGHT, body=b"road.top=40")
        self.assertEqual((code, text.decode()), (404, "no stixeld runs as instance 'none-of-this-name'\n"))


class Streams(Case):
    def test_frames(self):
        s = self.stream()
        self.assertEqual((s.code, s.headers["content-type"]), (200, "application/x-stixel-stream"))
        frames = [s.next("frame") for _ in range(5)]
        for a, b in zip(frames, frames[1:]):
            self.assertLess(a.number, b.number)
        for f in frames:
            magic, = struct.unpack_from("<I", f.payload)
            size, = struct.unpack_from("<I", f.payload, 16)
            number, = struct.unpack_from("<Q", f.payload, 32)
            count, kind = struct.unpack_from("<I", f.payload, 120)[0], struct.unpack_from("<I", f.payload, 256)[0]
            self.assertEqual((magic, size, number, kind), (0x46585453, len(f.payload), f.number, 0))
            self.assertGreater(count, 10)
            self.assertLess(f.age_us, 60e6)

    def test_images_belong_to_their_frame(self):
        s = self.stream("?images=left,disparity")
        s.until(lambda m: m.kind == "disparity")
        s.next("frame")
        left, disparity, frame = (s.next("left", "disparity", "frame") for _ in range(3))
        self.assertEqual((left.kind, disparity.kind, frame.kind), ("left", "disparity", "frame"))
        self.assertEqual({left.number, disparity.number, frame.number}, {frame.number})
        self.assertEqual(left.payload[:2], b"\xff\xd8")
        self.assertEqual(disparity.payload[:8], b"\x89PNG\r\n\x1a\n")
        # 8 bits, a palette whose first colour (unknown) is black
        self.assertEqual(struct.unpack_from(">IIBB", disparity.payload, 16), (320, 160, 8, 3))
        at = disparity.payload.index(b"PLTE") + 4
        self.assertEqual(disparity.payload[at:at + 3], b"\0\0\0")
        self.assertGreater(len(set(disparity.payload[at:at + 768])), 100)

    def test_how_far_it_is_free(self):
        s = self.stream("?free=yes")
        s.until(lambda m: m.kind == "free")
        s.next("frame")
        free, frame = s.next("free", "frame"), s.next("free", "frame")
        self.assertEqual((free.kind, frame.kind, free.number), ("free", "frame", frame.number))
        columns, absent = struct.unpack_from("<2I", free.payload)
        self.assertEqual(columns, 80)
        self.assertEqual(len(free.payload), 8 + 16 * columns + 4 * absent)
        each = [struct.unpack_from("<2f2I", free.payload, 8 + 16 * u) for u in range(columns)]
        seen = [(start, to) for start, to, end, _ in each if end != 0 and start < to]
        # for a camera at 1.2 m with 160 rows the first metres are below the image
        self.assertGreater(len(seen), 20)
        self.assertGreater(min(start for start, _ in seen), 2.0)
        # clients that did not ask for free space do not get it
        plain = self.stream()
        self.assertEqual({plain.next().kind for _ in range(8)} - {"notice"}, {"frame"})

    def test_colours_of_distances(self):
        def scale_and_palette(query):
            s = self.stream("?images=disparity&scale=yes" + query)
            s.until(lambda m: m.kind == "scale")
            s.next("frame")
            picture, scale, frame = (s.next("disparity", "scale", "frame") for _ in range(3))
            self.assertEqual([m.kind for m in (picture, scale, frame)], ["disparity", "scale", "frame"])
            self.assertEqual({m.number for m in (picture, scale)}, {frame.number})
            return json.loads(scale.payload), picture.payload
        scene, of_scene = scale_and_palette("")
        self.assertEqual(scene["unit"], "m")
        self.assertLess(scene["near"], scene["far"])
        self.assertEqual((float(scene["ticks"][0]["text"]), scene["ticks"][0]["place"]), (scene["near"], 1))
        self.assertEqual((float(scene["ticks"][-1]["text"]), scene["ticks"][-1]["place"]), (scene["far"], 0))
        # focal length times baseline is the product of distance and disparity
        self.assertAlmostEqual(scene["near"] * scene["near_px"], scene["far"] * scene["far_px"], delta=1e-3)
        given, of_given = scale_and_palette("&near=0.1&far=0.2")
        self.assertEqual((given["near"], given["far"]), (0.1, 0.2))
        # everything is far and has the same colour, so the picture is smaller
        self.assertLess(len(of_given), 0.8 * len(of_scene))

    def test_images_only_while_somebody_looks(self):
        def images():
            return (self.web.status(self.daemon) or {}).get("images")
        until(lambda: images() == {"left": "idle", "right": "off", "disparity": "idle"}, what="nobody asks")
        plain = self.stream()
        plain.next("frame")
        self.assertEqual(images(), {"left": "idle", "right": "off", "disparity": "idle"})
        s = self.stream("?images=left")
        s.until(lambda m: m.kind == "left")
        time.sleep(0.5)  # the status may be up to this old
        self.assertEqual(images(), {"left": "published", "right": "off", "disparity": "idle"})
        s.close()
        until(lambda: images() == {"left": "idle", "right": "off", "disparity": "idle"}, what="nobody asks any more")
        self.assertEqual(plain.next("frame").kind, "frame")

    def test_rate(self):
        s = self.stream("?fps=4")
        s.next("frame")
        begin, numbers = time.monotonic(), []
        while time.monotonic() - begin < 2.5 or len(numbers) < 2:
            numbers.append(s.next("frame").number)
        self.assertLessEqual(len(numbers), 4 * (time.monotonic() - begin) + 2)

    def test_a_slow_viewer_gets_the_newest(self):
        quick, slow = self.stream("?images=left,disparity"), self.stream("?images=left,disparity", receive_bytes=4096)
        first = slow.next("frame").number
        before, begin = quick.next("frame").number, time.monotonic()
        # a viewer that reads nothing for 10 s is cut off, so a slow machine has fewer frames to skip
        while quick.next("frame").number < before + 40 and time.monotonic() < begin + 6:
            pass
        head = quick.next("frame").number
        seen, size = [], 0
        while not seen or seen[-1].number < head:
            m = slow.next()
            size += m.bytes
            seen += [m] if m.kind == "frame" else []
        # first the content of the kernel's buffers came, then the newest frame: most frames were never sent
        self.assertLess(size, 2 << 20)
        self.assertLess(len(seen), head - first)
        self.assertGreater(seen[-1].skipped, 0)
        self.assertGreater(max(b.number - a.number for a, b in zip(seen, seen[1:])), 1)

    def test_one_thread_reads_for_all(self):
        until(lambda: self.viewers() == 0, what="no viewer")
        before = self.web.threads()
        streams = [self.stream() for _ in range(3)]
        for s in streams:
            s.next("frame")
        self.assertLessEqual(self.web.threads(), before + 3 + 1)
        for s in streams:
            s.close()
        until(lambda: self.web.threads() <= before, what="threads as before")

    def viewers(self):
        return int(re.search(r"(?m)^stixel_web_viewers (\d+)$", self.web.ask("/metrics")[2].decode()).group(1))


class Limits(Case):
    def test_viewers(self):
        streams = []
        self.addCleanup(setattr, self.web, "source", None)
        while len(streams) < 60:
            self.web.source = "127.0.0.%d" % (2 + len(streams) // 20)
            s = self.web.stream(self.daemon, "?fps=1")
            self.addCleanup(s.close)
            if s.code != 200:
                break
            streams.append(s)
        self.assertEqual((s.code, len(streams)), (503, 48))
        self.assertIn(b"too many viewers", s.file.read(int(s.headers["content-length"])))
        for s in streams:
            s.close()

        def again():
            s = self.web.stream(self.daemon)
            self.addCleanup(s.close)
            return s.code == 200
        until(again, what="room for a viewer")

    def held(self, web, source, count=110):
        """Opens `count` connections of one address. Returns the ones that the server accepts."""
        web.source, kept = source, []
        self.addCleanup(setattr, web, "source", None)
        for _ in range(count):
            s = web.connect()
            self.addCleanup(s.close)
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try:
                if b"200 OK" in s.recv(4096):
                    kept.append(s)
            except ConnectionResetError:
                pass
        return kept

    def test_a_quarter_for_each_address(self):
        web = Web(self.place)
        first = self.held(web, "127.0.0.2")
        self.assertEqual(len(first), 24)
        second = self.held(web, "127.0.0.3", 30)
        self.assertEqual(len(second), 24)
        web.source = "127.0.0.4"
        text = web.ask("/metrics")[2].decode()
        self.assertRegex(text, r"(?m)^stixel_web_connections_refused_total %d$" % (110 - 24 + 30 - 24))
        # a free place may be taken again
        for s in first[:5]:
            s.close()
        until(lambda: len(self.held(web, "127.0.0.2", 1)) == 1, what="room")
        web.end()

    def test_a_proxy_stands_for_many(self):
        web = Web(self.place, "--proxy", "127.0.0.2", "--proxy", "2001:db8::1")
        self.assertEqual(len(self.held(web, "127.0.0.2", 60)), 60)
        self.assertEqual(len(self.held(web, "127.0.0.3", 30)), 24)
        web.end()

    def test_patience(self):
        """A client that sends a request byte by byte, sends nothing, or reads nothing of a stream is cut off. Other
        clients do not notice."""
        descriptors = self.web.descriptors()
        silent, dribbling, half = self.web.connect(), self.web.connect(), self.web.connect()
        half.sendall(b"POST /api/%s/settings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
                     % self.daemon.name.encode())
        stuck = self.web.stream(self.daemon, "?images=left,disparity", receive_bytes=4096)
        other = self.stream("?fps=5")
        open_ = {silent, dribbling, half}
        end = time.monotonic() + 40 * SLOW
        while open_ and time.monotonic() < end:
            other.next("frame")
            for s in list(open_):
                s.settimeout(0.05)
                try:
                    if s is not silent:
                        s.send(b"G")
                    if s.recv(100) == b"":
                        open_.discard(s)
                except TimeoutError:
                    pass
                except OSError:
                    open_.discard(s)
        self.assertEqual(open_, set())
        other.close()
        until(lambda: self.web.descriptors() <= descriptors, 30, "the stuck viewer is gone")
        for s in (silent, dribbling, half, stuck):
            s.close()


class Life(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)
        self.daemon = Daemon(self.place, "life")
        self.addCleanup(self.daemon.forget)

    def stream(self, web, query=""):
        s = web.stream(self.daemon, query)
        self.addCleanup(s.close)
        return s

    def test_death_and_return(self):
        web = Web(self.place, "-i", self.daemon.name)
        s = self.stream(web, "?images=left")
        s.until_publisher("absent")
        self.assertEqual(web.ask("/api/%s/status" % self.daemon.name)[0], 404)
        self.assertEqual(web.ask("/api/%s/snapshot.jpg" % self.daemon.name)[0], 404)
        listed = web.json("/api/instances")["instances"]
        self.assertEqual([(i["name"], i["publisher"]) for i in listed], [(self.daemon.name, "absent")])
        self.daemon.start()
        s.until(lambda m: m.kind == "left" and m.number > 3)
        self.assertEqual(s.until_publisher("alive").notice()["error"], None)
        self.daemon.kill()
        s.until_publisher("died")
        self.daemon.start()
        s.until(lambda m: m.kind == "left", what="images, asked for again")
        until(lambda: web.status(self.daemon), what="status")
        self.daemon.kill(signal.SIGTERM)
        s.until_publisher("ended")

    def test_a_daemon_that_hangs(self):
        web = Web(self.place)
        self.daemon.start()
        s = self.stream(web)
        s.next("frame")
        self.daemon.process.send_signal(signal.SIGSTOP)
        s.until_publisher("stalled")
        code, _, body = web.ask("/api/%s/status" % self.daemon.name)
        self.assertEqual(code, 504, body)
        self.assertEqual(web.ask("/healthz")[0], 200)
        self.daemon.process.send_signal(signal.SIGCONT)
        s.until_publisher("alive")
        s.next("frame")

    def test_no_camera(self):
        rear = Daemon(self.place, "rear", "source.kind=v4l2", "source.left=/dev/none-left",
                      "source.right=/dev/none-right",
                      "source.size=320x160", "camera.fx=300", "camera.fy=300", "camera.cx=160", "camera.cy=80",
                      "camera.baseline_m=0.2")
        self.addCleanup(rear.forget)
        rear.start()
        web = Web(self.place)
        s = web.stream(rear)
        self.addCleanup(s.close)
        notice = s.until(lambda m: m.kind == "notice" and m.notice()["state"] == "no_camera").notice()
        self.assertEqual(notice["publisher"], "alive")
        self.assertIn("/dev/none-left", until(lambda: web.status(rear), what="status")["reason"])
        self.assertEqual(web.ask("/api/%s/snapshot.jpg" % rear.name)[0], 503)

    def test_it_ends_while_streams_are_open(self):
        web = Web(self.place)
        self.daemon.start()
        streams = [self.stream(web, "?images=left") for _ in range(3)] + [web.stream("nobody")]
        self.addCleanup(streams[-1].close)
        streams[0].next("frame")
        idle = web.connect()
        self.addCleanup(idle.close)
        begin = time.monotonic()
        self.assertEqual(web.end(), 0)
        self.assertLess(time.monotonic() - begin, 10 * SLOW)
        with self.assertRaises((EOFError, OSError, ValueError)):
            while True:
                streams[0].next()

    def test_metrics_of_several(self):
        other = Daemon(self.place, "other")
        self.addCleanup(other.forget)
        names = {self.daemon.start().name, other.start().name}
        web = Web(self.place, *[w for n in sorted(names) for w in ("-i", n)])
        s = self.stream(web)
        s.next("frame")

        def both():
            text = web.ask("/metrics")[2].decode()
            return text if all('stixeld_uptime_seconds{instance="%s"}' % n in text for n in names) else None
        text = until(both, what="both instances")
        openmetrics.parse(text)
        for line in text.splitlines():
            if line.startswith("stixeld"):
                self.assertEqual(line.count('instance="'), 1, line)
        self.assertRegex(text, r"(?m)^stixel_web_viewers 1$")
        self.assertRegex(text, r"(?m)^stixel_web_frames_sent_total [1-9]")
        code, headers, body = web.ask("/api/%s/metrics" % other.name)
        self.assertEqual(code, 200)
        self.assertIn("openmetrics-text", headers["content-type"])
        openmetrics.parse(body.decode())

    def test_metrics_of_bridges_and_networks(self):
        """stixel-bridge and stixel-segment answer for themselves, under their own names."""
        sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "src"))
        from stixel_bridge import status
        place = {"RUNTIME_DIRECTORY": self.place.top + "/stixel-bridge"}
        for name in ("one", "two"):
            with unittest.mock.patch.dict(os.environ, place):
                server = status.Server({"name": name, "host": "h", "version": "1", "started": time.monotonic()}, [], [])
            self.addCleanup(server.close)
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.daemon.start()
        web = Web(self.place)
        infos = ['\nstixel_bridge_info{bridge="%s",host="h",version="1"} 1\n' % name for name in ("one", "two")]

        def both():  # a bridge that does not answer soon is left out
            text = web.ask("/metrics")[2].decode()
            return text if all(info in text for info in infos) else None
        text = until(both, what="both bridges")
        openmetrics.parse(text)
        from stixel_segment import supervisor
        with unittest.mock.patch.dict(os.environ, {"RUNTIME_DIRECTORY": self.place.top + "/stixel-segment"}):
            server = supervisor.Server("front", supervisor.State())
        self.addCleanup(server.close)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        until(lambda: '\nstixel_segment_images_total{instance="front",fate="written"} 0\n' in web.ask("/metrics")[
            2].decode(), what="a network")
        self.assertNotIn("stixel_bridge", Web(self.place, "-i", self.daemon.name).ask("/metrics")[2].decode())
        self.assertIn('stixeld_uptime_seconds{instance="%s"}' % self.daemon.name, text)

    def test_nothing_runs(self):
        web = Web(self.place, "-i", "none-of-this-name")
        text = web.ask("/metrics")[2].decode()
        openmetrics.parse(text)
        self.assertNotIn("stixeld_", text)
        self.assertEqual(web.ask("/api/none-of-this-name/metrics")[0], 404)


class CommandLine(unittest.TestCase):
    def run_web(self, *args):
        r = subprocess.run([STIXEL_WEB, *args], capture_output=True, text=True, timeout=60)
        return r.returncode, r.stdout, r.stderr

    def test_help(self):
        code, out, err = self.run_web("--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("--listen", "--host", "--instance", "--quality", "--tune", "127.0.0.1:8470", "password"):
            self.assertIn(word, out)
        self.assertRegex(self.run_web("--version")[1], r"^stixel-web \d")

    def test_who_waits_says_so(self):
        with tempfile.TemporaryDirectory() as top:
            env = dict(os.environ, RUNTIME_DIRECTORY=top, XDG_RUNTIME_DIR=top)
            p = subprocess.Popen([STIXEL_WEB, "--listen", "127.0.0.1:0", "-i", "nobody-a", "-i", "nobody-b"], env=env,
                                 stderr=subprocess.PIPE, text=True)
            try:
                said = [p.stderr.readline() for _ in range(3)]
                time.sleep(1.5)  # no more messages may follow
            finally:
                p.terminate()
                said.append(p.stderr.read())
                p.wait()
        self.assertIn("http://127.0.0.1:", said[0])
        self.assertIn("instance 'nobody-a' does not run: waiting for it", said[1])
        self.assertIn("instance 'nobody-b' does not run: waiting for it", said[2])
        self.assertNotIn("waiting", said[3])

    def test_wrong_usage(self):
        for args, words in [(["--nonsense"], "--help"), (["-i", "../x"], "instance"),
                            (["--listen", "nowhere:80"], "numeric"),
                            (["--listen", "127.0.0.1"], "ADDRESS:PORT"),
                            (["--listen", "127.0.0.1:99999"], "ADDRESS:PORT"),
                            (["--listen", "[::1"], "ADDRESS:PORT"), (["--host", "a b"], "--host"),
                            (["--host", ""], "--host"),
                            (["--host", "a:80"], "without port"), (["--quality", "5"], "10..100"), (["word"], "word"),
                            (["--listen", "1"] * 5, "4 times")]:
            code, out, err = self.run_web(*args)
            self.assertEqual((code, out), (64, ""), args)
            self.assertIn(words, err, args)

    def test_the_address_is_taken(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            code, _, err = self.run_web("--listen", "127.0.0.1:0", "--listen", "127.0.0.1:%d" % s.getsockname()[1])
        self.assertEqual(code, 73)
        self.assertIn("Address already in use", err)

    def test_it_warns_beyond_loopback(self):
        place = Place()
        self.addCleanup(place.close)
        web = Web(place)
        self.assertNotIn("password", web.text())
        open_web = Web(place, "--listen", "0.0.0.0:0")
        until(lambda: "password" in open_web.text())
        # an IP address cannot be pointed elsewhere, a name can
        self.assertEqual(open_web.ask("/healthz", host="10.1.2.3")[0], 200)
        self.assertEqual(open_web.ask("/healthz", host="evil.example")[0], 403)

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as s:
                s.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no IPv6")
        place = Place()
        self.addCleanup(place.close)
        web = Web(place, "--listen", "[::1]:0")
        port = int(re.search(r"http://\[::1\]:(\d+)/", web.text()).group(1))
        with socket.create_connection(("::1", port), 20) as s:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: [::1]:%d\r\nConnection: close\r\n\r\n" % port)
            self.assertTrue(s.recv(100).startswith(b"HTTP/1.1 200"))


if __name__ == "__main__":
    unittest.main()
