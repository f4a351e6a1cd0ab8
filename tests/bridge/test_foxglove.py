# The sink for Foxglove. Its messages are those of the export, and its schemas the published ones. It serves
# well-behaved and misbehaving clients. One client runs in a second process and implements the public description of the
# protocol.
# SPDX-License-Identifier: Apache-2.0
import base64
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import support
import support_frames

support.need("foxglove", "websockets", "mcap", "google", "foxglove_schemas_protobuf")

import foxglove.messages  # noqa: E402
import numpy as np  # noqa: E402
import stixel  # noqa: E402
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: E402
from mcap.reader import make_reader  # noqa: E402

from stixel._layout import MessageKind  # noqa: E402
from stixel._messages import Messages  # noqa: E402
from stixel_bridge import sinks  # noqa: E402
from stixel_bridge.fail import Fail, SinkError  # noqa: E402
from stixel_bridge.sink import Instance, Report, Work  # noqa: E402
from stixel_bridge.sinks.foxglove import TOPICS  # noqa: E402

try:
    Messages("front")
except stixel.NotSupported as e:  # the sink needs protobuf to send
    print(e)
    sys.exit(77)
python_support = support.instances()
until = python_support.until
HERE = os.path.dirname(os.path.abspath(__file__))
FRONT, REAR = Instance("front", {}), Instance("rear", {})
NAMES = [name for name in TOPICS if name != "stixel"]
SCHEMA_FILES = ("SceneUpdate", "PointCloud", "FrameTransform", "RawImage", "CameraCalibration")


def make(folder, *shape):
    """Makes a recording of test frames of instance "front". Returns the frames, and [(topic, time, data)] and the
    schemas of its export."""
    path, out = os.path.join(folder, "a.rec"), os.path.join(folder, "a.mcap")
    with open(path, "wb") as f:
        subprocess.run([os.environ["STIXEL_MAKE_RECORDING"], *map(str, shape)], stdout=f, check=True)
    subprocess.run([os.environ["STIXELCTL"], "export", "--force", path, out], check=True, stdout=subprocess.DEVNULL)
    with stixel.Recording(path) as recording:
        frames = [record for record in recording if isinstance(record, stixel.Frame)]
    with open(out, "rb") as f:
        reader = make_reader(f)
        schemas = {c.topic.split("/")[2]: reader.get_summary().schemas[c.schema_id]
                   for c in reader.get_summary().channels.values()}
        messages = [(c.topic, m.log_time, m.data) for _, c, m in reader.iter_messages()]
    return frames, messages, schemas


def sink_of(instances=(FRONT,), **options):
    maker = sinks.load("foxglove")
    values = {option.name: option.default for option in maker.OPTIONS}
    values.update({"rate_hz": 0, "queue": 1, "port": 0}, **options)
    return maker("fox", values, "here", list(instances))


class Client:
    """foxglove_client.py in a second process, with its methods under their names."""

    def __init__(self, test):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "foxglove_client.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        test.addCleanup(self.close)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def ask(self, name, **arguments):
        self.process.stdin.write(json.dumps([name, arguments]) + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def __getattr__(self, name):
        def call(**arguments):
            self.ask(name, **arguments)
            return self.answer()
        return call


def memory_kb():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


class TestCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stixel-")
        self.addCleanup(shutil.rmtree, self.folder)

    def open(self, instances=(FRONT,), **options):
        sink = sink_of(instances, **options)
        self.addCleanup(sink.close)
        sink.open()
        return sink

    def client(self, sink, topics=(), channels=None, **more):
        """Returns a client that subscribes to these topics of "front"."""
        client = Client(self)
        offered = len(sink.options["topics"]) * len(sink.instances)
        told = client.connect(url="ws%s://127.0.0.1:%d" % ("s" if more else "", sink.port), channels=offered, **more)
        self.assertNotIn("error", told)
        client.told = told
        if topics:
            before = sink.figures()["subscriptions"]
            client.subscribe(topics=["/front/" + topic for topic in topics])
            until(lambda: sink.figures()["subscriptions"] == before + len(topics), 30, "subscription")
        return client

    def frames_with_image(self, width=640, height=480):
        image = np.arange(width * height, dtype=np.uint64).astype(np.uint8).reshape(height, width)
        return stixel.load(python_support.pack([[{"row_bottom": 100, "disparity_q7": 640}]], [(2, image)]))


class Schemas(TestCase):
    def test_foxglove_schemas_are_those_published(self):
        """Compares names, numbers and types of every field in the library, in foxglove-sdk, and in the package of
        schemas."""
        messages = Messages("front")

        def fields(data):
            found = {}
            for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
                for message in file.message_type:
                    found["%s.%s" % (file.package, message.name)] = sorted(
                        (f.number, f.name, f.type, f.label, f.type_name) for f in message.field)
                for enum in file.enum_type:
                    found["%s.%s" % (file.package, enum.name)] = [(v.name, v.number) for v in enum.value]
            return found

        for kind in MessageKind:
            topic = messages.topic(kind)
            if topic.schema.startswith("foxglove."):
                mine = fields(getattr(foxglove.messages, topic.schema.split(".")[1]).get_schema().data)
                want = fields(topic.descriptor)
                self.assertIn(topic.schema, mine)
                self.assertEqual(mine, {message: want[message] for message in mine})
        for name in SCHEMA_FILES:
            module = importlib.import_module("foxglove_schemas_protobuf.%s_pb2" % name)
            want = descriptor_pb2.DescriptorProto()
            module.DESCRIPTOR.message_types_by_name[name].CopyToProto(want)
            self.assertEqual(fields(getattr(foxglove.messages, name).get_schema().data)["foxglove." + name],
                             sorted((f.number, f.name, f.type, f.label, f.type_name) for f in want.field))


class Live(TestCase):
    def test_a_client_gets_what_the_export_has(self):
        """Compares every message by topic and time, decoded only with the schema that the server sent."""
        frames, messages, exported = make(self.folder, 24, 30, 40, 64, 2, "plain")
        sink = self.open((FRONT, REAR), topics=list(TOPICS), backlog=4096)
        topics = [name for name in TOPICS if name not in ("left", "right", "events")]
        client = self.client(sink, topics)
        info, channels = client.told["info"], client.told["channels"]
        self.assertEqual((client.told["subprotocol"], info["name"]), ("foxglove.sdk.v1", "stixeld here"))
        self.assertIn("parameters", info["capabilities"])
        self.assertEqual(set(channels), {"/%s/%s" % (i, name) for i in ("front", "rear") for name in TOPICS})
        for frame in frames:
            sink.send(Work(FRONT, frame, 0))
        want = [m for m in messages if m[0].split("/")[2] in topics]
        got = [(t, ns, base64.b64decode(data)) for t, ns, data in client.take(count=len(want))]
        self.assertEqual(sorted(got), sorted(want))
        decoded = {}
        for topic, _, data in got:
            channel = channels[topic]
            self.assertEqual(channel["schemaEncoding"], channel["encoding"])
            if channel["schemaName"].startswith("stixel.") and channel["encoding"] == "protobuf":
                self.assertEqual(base64.b64decode(channel["schema"]), exported[topic.split("/")[2]].data)
            if channel["encoding"] == "protobuf":
                pool = descriptor_pool.DescriptorPool()
                for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(channel["schema"])).file:
                    pool.Add(file)
                cls = message_factory.GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"]))
                decoded.setdefault(topic.split("/")[2], []).append(cls.FromString(data))
        self.assertEqual([m.number for m in decoded["frame"]], [frame.number for frame in frames])
        self.assertEqual([len(m.stixels) for m in decoded["frame"]], [len(frame.stixels) for frame in frames])
        self.assertEqual({m.entities[0].frame_id for m in decoded["scene"]}, {"front/camera"})
        self.assertEqual(decoded["disparity"][0].encoding, "16UC1")
        self.assertEqual(sink.figures()["messages"], len(want))

    def test_events_of_lives_and_gaps(self):
        """The event about a start of a daemon has the pid and the version that were reported since this start, never
        those of the daemon before."""
        frames, messages, _ = make(self.folder, 24, 30, 4, 0, 2, "plain")
        sink = self.open()

        def report(pid, version="0.0.test", classes=()):
            sink.report(Report(FRONT, "alive", "running", {
                "pid": pid, "version": version, "semantics": {"classes": list(classes)}}))
        report(76, "0.0.before")
        client = self.client(sink, ["events"])
        for frame in frames[:5] + frames[8:]:
            sink.send(Work(FRONT, frame, 0))
            if frame in (frames[1], frames[14]):
                report(77)
        report(78)
        sink.send(Work(FRONT, frames[-1], 0))
        report(78, classes=[{"name": "road", "kind": "ground"}, {"name": "car", "kind": "object"}])
        sink.send(Work(FRONT, frames[-1], 0))
        got = [base64.b64decode(data) for _, _, data in client.take(count=6, seconds=0.5)]
        want = [data for topic, _, data in messages if topic == "/front/events"]
        self.assertEqual([got[0], got[2]], [want[0], want[1]])  # publishers, as recorded
        self.assertEqual(got[1], Messages("front").gap(1000, 6, 3))
        made = Messages("front")
        self.assertEqual(got[3:], [made.publisher(frames[-1].epoch, 78, "0.0.test"),
                                   made.publisher(frames[-1].epoch, 78, "0.0.test", ["road", "car"])])
        self.assertIn(b"road car", got[4])

    def test_frames_have_the_names_of_their_classes(self):
        sink, raw = self.open(), support_frames.street().raw
        client = self.client(sink, ["frame"])
        for classes in (None, ("road", "car"), None):
            sink.send(Work(FRONT, stixel.Frame(raw, classes=classes), 0))
        plain, named, again = [base64.b64decode(data) for _, _, data in client.take(count=3, seconds=0.5)]
        self.assertEqual(named, plain + b"\xe2\x01\x04road\xe2\x01\x03car")
        self.assertEqual(again, plain)

    def test_who_comes_later_gets_what_seldom_changes(self):
        frames, _, _ = make(self.folder, 4, 30, 4, 0, 1, "plain")
        sink = self.open()
        sink.send(Work(FRONT, frames[0], 0))
        sink.report(Report(FRONT, "alive", "running", None))
        for _ in range(2):
            client = self.client(sink, ["calibration", "events"])
            for frame in frames:
                sink.send(Work(FRONT, frame, 0))
            self.assertEqual(sorted(t for t, _, _ in client.take(count=3, seconds=0.3)),
                             ["/front/calibration", "/front/events"])

    def test_images_while_somebody_wants_them(self):
        sink = self.open((FRONT, REAR))
        frame = self.frames_with_image()
        self.assertEqual(sink.images(FRONT), frozenset())
        self.assertEqual(sink.send(Work(FRONT, frame, 0)), 0)
        client = self.client(sink, ["left", "disparity"])
        self.assertEqual((sink.images(FRONT), sink.images(REAR)), ({"left", "disparity"}, frozenset()))
        self.assertGreater(sink.send(Work(FRONT, frame, 0)), 640 * 480)
        (topic, _, data), = client.take(count=1)
        self.assertEqual(topic, "/front/left")
        image = importlib.import_module("foxglove_schemas_protobuf.RawImage_pb2").RawImage.FromString(
            base64.b64decode(data))
        self.assertEqual((image.width, image.height, image.step, image.encoding), (640, 480, 640, "mono8"))
        self.assertEqual(image.data, frame.left.tobytes())
        client.unsubscribe(topics=["/front/left"])
        until(lambda: sink.images(FRONT) == {"disparity"}, 30, "unsubscribed")
        client.close()
        until(lambda: not sink.images(FRONT), 30, "client gone")

    def test_parameters_are_read_and_not_set(self):
        daemon = python_support.Daemon("fox")
        self.addCleanup(daemon.close)
        daemon.start(*python_support.SMALL, "-s", "source.fps=7")
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = daemon.user
        self.addCleanup(lambda: os.environ.update(XDG_RUNTIME_DIR=before) if before else
                        os.environ.pop("XDG_RUNTIME_DIR"))
        until(lambda: os.path.exists(daemon.status_path), 30, "daemon")
        name = daemon.name
        sink = self.open((Instance(name, {}), REAR))
        client = self.client(sink)

        def ask(op, **more):
            client.send(what={"op": op, "id": "1", **more})
            return {p["name"]: p.get("value") for p in client.text(op="parameterValues")["parameters"]}

        every = until(lambda: ask("getParameters", parameterNames=[]), 30, "settings")
        self.assertGreater(len(every), 100)
        fps, kind, median = ("/%s/%s" % (name, key) for key in ("source.fps", "source.kind", "filters.median"))
        self.assertEqual([every[k] for k in (fps, kind, median)], [7, "synthetic", False])
        self.assertEqual(ask("getParameters", parameterNames=[fps, "/%s/none" % name, "/rear/source.fps"]), {fps: 7})
        self.assertEqual(ask("setParameters", parameters=[{"name": fps, "value": 9}]), {fps: 7})
        self.assertEqual(sink.figures()["parameters_refused"], 1)
        client.send(what={"op": "subscribeParameterUpdates", "parameterNames": [kind]})

        def told():
            sink.report(Report(Instance(name, {}), "alive", "running", None))
            return client.text(op="parameterValues", seconds=0.2).get("parameters")
        self.assertEqual(until(told, 30, "update"), [{"name": kind, "value": "synthetic"}])
        daemon.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        for _ in range(20):  # a daemon that hangs delays nothing
            self.assertIn(ask("getParameters", parameterNames=[fps]), ({fps: 7}, {}))
        self.assertLess(time.monotonic() - began, 2)
        daemon.process.send_signal(signal.SIGCONT)

    def test_state_and_graph(self):
        sink = self.open()
        client = self.client(sink, ["frame"])
        sink.report(Report(FRONT, "stalled", "running", None))
        told = client.text(op="status")
        self.assertEqual((told["id"], told["level"], told["message"]), ("front", 1, "front: publisher is stalled"))
        sink.report(Report(FRONT, "alive", "running", None))
        self.assertEqual(client.text(op="removeStatus")["statusIds"], ["front"])
        client.send(what={"op": "subscribeConnectionGraph"})
        graph = client.text(op="connectionGraphUpdate")
        self.assertEqual({t["name"] for t in graph["publishedTopics"]}, {"/front/" + name for name in NAMES})
        self.assertEqual([t["name"] for t in graph["subscribedTopics"]], ["/front/frame"])

    @mock.patch("stixel_bridge.sinks.foxglove_service.LOOK_S", 0)
    def test_a_client_that_stops_reading(self):
        """A client that stops reading loses frames, and other clients lose none. Memory does not grow. The client
        continues with the newest frame."""
        sink = self.open(topics=["left"], backlog=8)
        slow, other = self.client(sink, ["left"]), self.client(sink, ["left"])
        frame = self.frames_with_image(1280, 720)
        messages = Messages("front")
        messages.take(frame)
        size = len(messages.make(MessageKind.LEFT))
        count = 60
        before = 0
        for i in range(count):
            other.ask("take", count=1, sizes=True)
            sink.send(Work(FRONT, frame, 0))
            self.assertEqual(other.answer()[0][2], size)
            if i == 30:  # every buffer is full by now
                before = memory_kb()
                for _ in range(2):
                    sink.report(Report(FRONT, "alive", "running", None))
        self.assertLess(memory_kb() - before, 8 * size // 1024)
        figures = sink.figures()
        self.assertEqual((figures["clients"], figures["clients_behind"], figures["frames_behind"]), (2, 1, count - 31))
        got = len(slow.take(count=count, seconds=0.5, sizes=True))
        self.assertGreater(got, 8)
        self.assertLess(got, count - 10)
        sink.send(Work(FRONT, frame, 0))
        self.assertEqual(len(slow.take(count=1, sizes=True)), 1)

    def test_clients_that_are_too_many(self):
        """Surplus clients are refused and the earlier clients stay. A client gets a frame only if all clients can get
        it."""
        sink = self.open(topics=["left"], clients=2)
        first, second = self.client(sink, ["left"]), self.client(sink, ["left"])
        sink.report(Report(FRONT, "alive", "running", None))
        more = [self.client(sink) for _ in range(3)]
        for client in more:
            client.subscribe(topics=["/front/left"])
        frame = self.frames_with_image()
        until(lambda: sink.figures()["subscriptions"] > 2, 30, "one more")

        def sent():
            return sink.send(Work(FRONT, frame, 0))
        self.assertEqual(sent(), 0)
        until(sent, 30, "few enough")
        for client in (first, second):
            self.assertEqual(len(client.take(count=1)), 1)
        for client in more:
            self.assertIn("Closed", client.text(op="status")["error"])
        figures = sink.figures()
        self.assertEqual((figures["clients_refused"], figures["subscriptions"]), (3, 2))
        self.assertGreater(figures["frames_withheld"], 0)
        self.client(sink)  # also without a subscription
        with mock.patch("stixel_bridge.sinks.foxglove_service.LOOK_S", 0):
            sink.report(Report(FRONT, "alive", "running", None))
        self.assertEqual(sink.figures()["clients_refused"], 4)

    def test_images_for_those_who_do_not_read_have_a_budget(self):
        """The budget holds for any number of slow clients. Other topics continue, and images continue when these
        clients have gone."""
        sink = self.open(topics=["left", "events"], backlog=64, budget_mb=24)
        clients = [self.client(sink, ["left"]) for _ in range(6)]
        frame = self.frames_with_image(1280, 720)
        sink.send(Work(FRONT, frame, 0))
        before = memory_kb()
        for _ in range(40):
            sink.send(Work(FRONT, frame, 0))
            time.sleep(0.005)
        self.assertLess(memory_kb() - before, 40000)  # 6 clients could hold 212 MB without the budget
        self.assertGreater(sink.figures()["images_left_out"], 10)
        for client in clients:
            client.close()
        until(lambda: not sink.images(FRONT), 30, "clients gone")
        reader = self.client(sink, ["left"])
        for _ in range(40):
            until(lambda: sink.send(Work(FRONT, frame, 0)), 30, "acknowledgement of those before")
            self.assertEqual(len(reader.take(count=1, sizes=True)), 1)

    def test_parameters_that_are_not_there_are_not_kept(self):
        sink = self.open()
        listener = sink._service._listener
        until(lambda: "front" in listener.settings._answers, 30, "that there is no daemon")
        listener.settings.found["front"] = [foxglove.Parameter("/front/a", value=1)]
        listener.on_parameters_subscribe(["/front/a", "/front/b"] + ["x%d" % i for i in range(1000)])
        self.assertEqual(listener.followed, {"/front/a"})
        client = self.client(sink)
        client.send(what={"op": "subscribeParameterUpdates", "parameterNames": ["y" * 99]})
        client.send(what={"op": "getParameters", "parameterNames": ["/front/a"], "id": "1"})
        self.assertEqual(client.text(op="parameterValues")["parameters"][0]["value"], 1)
        self.assertEqual(listener.followed, {"/front/a"})

    def test_a_hundred_clients_come_and_go(self):
        sink = self.open()
        url, client = "ws://127.0.0.1:%d" % sink.port, Client(self)

        def go(times):
            self.assertIs(client.churn(url=url, times=times, topic="/front/left"), True)
            until(lambda: sink.figures()["subscriptions"] == 0 and not sink.images(FRONT), 30, "all gone")
            return memory_kb(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

        go(20)
        before, after = go(10), go(100)
        self.assertEqual(after[1], before[1])
        self.assertLessEqual(after[2], before[2] + 1)
        self.assertLess(after[0] - before[0], 2048)

    def test_who_does_not_speak_the_protocol(self):
        sink = self.open()
        before = sink.figures()["client_errors"]
        self.assertIn("400", Client(self).connect(url="ws://127.0.0.1:%d" % sink.port,
                                                  subprotocol="chat")["error"])
        with socket.create_connection(("127.0.0.1", sink.port)) as s:
            s.sendall(b"\0" * 100)
        until(lambda: sink.figures()["client_errors"] - before >= 2, 30, "count of errors")
        client = self.client(sink, ["left"])
        client.send(what="no JSON")
        self.assertEqual(client.text(op="status")["level"], 2)
        client.send(what={"op": "subscribe", "subscriptions": [{"id": 9, "channelId": 4711}]})
        self.assertIn("4711", client.text(op="status")["message"])
        sink.send(Work(FRONT, self.frames_with_image(), 0))
        self.assertEqual(len(client.take(count=1)), 1)

    def test_a_port_that_is_taken_and_a_server_that_comes_again(self):
        sink = self.open()
        other = sink_of(port=sink.port)
        taken = r"^cannot listen on 127\.0\.0\.1, port %d: Address already in use" % sink.port
        self.assertRaisesRegex(SinkError, taken, other.open)
        other.close()
        client = self.client(sink, ["left"])
        sink.options["port"] = sink.port
        sink.close()
        self.assertEqual((sink.port, sink.images(FRONT), sink.figures()["subscriptions"]), (0, frozenset(), 0))
        self.assertIn("Closed", client.text(op="status")["error"])
        for _ in range(200):  # about once in 60 times the port is still taken by the previous server
            sink.open()
            sink.close()
        sink.open()
        client = self.client(sink, ["left"])
        sink.send(Work(FRONT, self.frames_with_image(), 0))
        self.assertEqual(len(client.take(count=1)), 1)
        for host in ("256.0.0.1", "192.0.2.1"):
            with self.assertRaisesRegex(SinkError, "^cannot listen on %s" % host):
                sink_of(host=host).open()

    def test_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        certificate, key = (os.path.join(self.folder, name) for name in ("c.pem", "k.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=here",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        sink = self.open(certificate=certificate, key=key)
        client = self.client(sink, ["left"], ca=certificate)
        sink.send(Work(FRONT, self.frames_with_image(), 0))
        self.assertEqual(len(client.take(count=1)), 1)
        self.assertIn("error", Client(self).connect(url="ws://127.0.0.1:%d" % sink.port))
        self.assertIn("CERTIFICATE", Client(self).connect(url="wss://127.0.0.1:%d" % sink.port)["error"])
        with self.assertRaisesRegex(Fail, "one of certificate and key is given: it needs both"):
            sink_of(certificate=certificate)
        with self.assertRaisesRegex(SinkError, "key /none cannot be read: No such file"):
            sink_of(certificate=certificate, key="/none").open()
        os.chmod(key, 0o644)
        with self.assertRaisesRegex(SinkError, "key .*: others may read it: chmod 600"):
            sink_of(certificate=certificate, key=key).open()
        os.chmod(key, 0o600)
        os.chmod(certificate, 0o600)  # for the next start, at which they are exchanged
        with self.assertRaisesRegex(SinkError, "^cannot listen on .*TLS"):
            sink_of(certificate=key, key=certificate).open()


if __name__ == "__main__":
    unittest.main()
