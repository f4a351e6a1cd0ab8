# ROS 2 over zenoh: names against the public document; an independent router and an independent node against the sink.
# SPDX-License-Identifier: Apache-2.0
import base64
import os
import struct
import tempfile
import time
import unittest
from unittest import mock

import support

support.need("zenoh", "rosbags", "xxhash")

import ros_case  # noqa: E402
import support_frames  # noqa: E402
import xxhash  # noqa: E402
from child import Child  # noqa: E402
from rosbags.typesys import Stores, get_typestore  # noqa: E402
from stixel_bridge.fail import Fail, SinkError  # noqa: E402
from stixel_bridge.ros import graph, rmw_zenoh, session, topics  # noqa: E402
from stixel_bridge.sink import Instance  # noqa: E402
from stixel_bridge.sinks import ros_zenoh  # noqa: E402

STRING = "std_msgs/msg/String"
STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
IMAGE = ("sensor_msgs::msg::dds_::Image_", topics.type_hash("sensor_msgs/msg/Image"))
SCAN = ("sensor_msgs::msg::dds_::LaserScan_", topics.type_hash("sensor_msgs/msg/LaserScan"))
ODOMETRY = ("nav_msgs::msg::dds_::Odometry_", topics.type_hash("nav_msgs/msg/Odometry"))
TRACKED_OBJECTS = ("autoware_perception_msgs::msg::dds_::TrackedObjects_",
                   topics.type_hash("autoware_perception_msgs/msg/TrackedObjects"))
TF = ("tf2_msgs::msg::dds_::TFMessage_", topics.type_hash("tf2_msgs/msg/TFMessage"))


def decoded(message, kind):
    return get_typestore(Stores.ROS2_JAZZY).deserialize_cdr(base64.b64decode(message["cdr"]), kind)


def published(name):
    """Returns the lines of the public document's examples that begin with this name."""
    with open(os.path.join(os.path.dirname(__file__), "rmw_zenoh.txt"), encoding="utf-8") as f:
        return [line.split()[1:] for line in f if line.startswith(name + " ")]

STAMP_S = support_frames.ANCHOR_NS // 10**9


class Names(unittest.TestCase):
    def test_keys_are_those_of_the_document(self):
        self.assertEqual(len(published("key")), 2)
        for topic, key in published("key"):
            self.assertEqual(rmw_zenoh.key(0, topic, STRING, STRING_HASH), key)

    def test_tokens_are_those_of_the_document(self):
        (name, token), = published("NN")
        self.assertEqual(rmw_zenoh.Node(2, token.split("/")[2], "", name).token(), token)
        self.assertIsNone(rmw_zenoh.of_token(token))
        (name, token), = published("MP")
        chatter = topics.Topic("chatter", STRING, True, False, 7)
        node = rmw_zenoh.Node(2, token.split("/")[2], "", name)
        self.assertEqual(node.publisher(10, "/chatter", chatter, STRING_HASH), token)
        (name, token), = published("MS")
        node = rmw_zenoh.Node(2, token.split("/")[2], "", name)
        self.assertEqual(node.subscription(10, "/chatter", chatter._replace(depth=10), STRING_HASH), token)
        self.assertEqual(rmw_zenoh.of_token(token), ("MS", "/chatter", graph.dds_type(STRING), STRING_HASH))
        (_, token), = published("SS")
        self.assertEqual(rmw_zenoh.of_token(token).kind, "SS")

    def test_what_is_no_token_is_none(self):
        for token in ("", "@ros2_lv", "@ros2_lv/0//0/1/MS/%/%/n/%t/T/h/::,5:,:,:,,",
                      "x/0/z/0/1/MS/%/%/n/%t/T/h/::,5:,:,:,,"):
            self.assertIsNone(rmw_zenoh.of_token(token), token)

    def test_a_namespace_stands_in_node_and_token(self):
        token = rmw_zenoh.Node(0, "ab", "/robot1/head", "eyes").token()
        self.assertEqual(token, "@ros2_lv/0/ab/0/0/NN/%/%robot1%head/eyes")

    def test_attachment_is_that_of_the_document(self):
        # 8 bytes of number and 8 bytes of time, little endian; 1 byte of length, 16 bytes of gid
        data = rmw_zenoh.attachment(3, 1_700_000_000_000_000_000, bytes(range(16)))
        self.assertEqual(data, (3).to_bytes(8, "little") + struct.pack("<q", 1_700_000_000_000_000_000) + b"\x10" +
                         bytes(range(16)))

    def test_gid_is_xxh3_with_its_low_half_in_front(self):
        # hash of an empty string, in xxHash's own documents: 99aa06d3014798d86001c324468d497f, high half first
        self.assertEqual(rmw_zenoh.gid("").hex(), bytes.fromhex("99aa06d3014798d86001c324468d497f")[::-1].hex())

    def test_humble_has_no_hashes(self):
        self.assertEqual(graph.hash_of("sensor_msgs/msg/LaserScan",
                                       "humble"), "TypeHashNotSupported")

    def test_wrong_options_are_told(self):
        for options, words in (({"node": "a-b"}, "node = 'a-b'"), ({"namespace": "robot1"}, "namespace = 'robot1'"),
                               ({"mode": "client", "listen": ["tcp/0.0.0.0:7447"]}, "listen"),
                               ({"user": "robot"}, "password_file"), ({"tls_key": "/k"}, "tls_certificate")):
            with self.assertRaisesRegex(Fail, words):
                ros_case.sink(ros_zenoh, **options)
        with self.assertRaisesRegex(Fail, "front_1"):
            ros_case.sink(ros_zenoh, *(Instance(name, ros_case.FRONT.options) for name in ("front-1", "front.1")))


class Network(ros_case.Sending):
    """A router, a node, and the sink."""

    def setUp(self):
        self.endpoint = "tcp/127.0.0.1:%d" % ros_case.free_port()
        self.sink = self.node = None
        self.number = 0

    def router(self, *more):
        child = Child("zenoh_node.py", "router", self.endpoint, *more)
        self.addCleanup(child.close)
        child.until(lambda m: m["event"] == "ready", what="router")
        return child

    def start(self, **options):
        self.node = Child("zenoh_node.py", "node", self.endpoint, str(options.get("domain", 0)))
        self.addCleanup(self.node.close)
        self.node.until(lambda m: m["event"] == "ready", what="node")
        self.sink = ros_case.sink(ros_zenoh, **{"connect": [self.endpoint], "listen": ["tcp/127.0.0.1:0"], **options})
        self.addCleanup(self.sink.close)
        self.sink.open()

    def send(self):
        """Sends a frame at each call."""
        self.number += 1
        self.sink.send(ros_case.work(self.number))

    def message(self, key, what="message"):
        return self.node.until(lambda m: m["event"] == "message" and m["key"].startswith(key), what=what, do=self.send)

    def subscribe(self, topic, kind, type_hash, **more):
        self.node.tell(do="subscribe", topic=topic, type=kind, hash=type_hash, qos="2::,5:,:,:,,", **more)


class Nodes(Network):
    def test_a_node_sees_the_graph_and_gets_messages(self):
        self.router()
        self.start(domain=7, namespace="/robot1")
        count = len(self.sink.offers())
        self.assertGreaterEqual(count, 13)
        me = self.node.until(lambda m: m["event"] == "token" and m["name"] == "stixel_bridge" and m["kind"] == "NN")
        self.assertEqual([me[what] for what in ("domain", "node", "entity", "enclave", "namespace")],
                         [7, 0, 0, "/", "/robot1"])
        self.node.until(lambda m: sum(t["event"] == "token" and t["kind"] == "MP" for t in self.node.said) == count,
                        what="%d publishers" % count)
        publishers = {m["topic"]: m for m in self.node.said if m["event"] == "token" and m["kind"] == "MP"}
        self.assertEqual(set(publishers), {offer.name for offer in self.sink.offers()})
        self.assertTrue({"/robot1/front/scan", "/tf", "/tf_static", "/diagnostics"} <= set(publishers))
        self.assertEqual(len({m["entity"] for m in publishers.values()}), count)
        scan = publishers["/robot1/front/scan"]
        self.assertEqual((scan["session"], scan["type"], scan["hash"]), (me["session"], *SCAN))
        self.assertEqual(scan["qos"], {"reliability": 2, "durability": 2, "history": 1, "depth": 5})
        self.assertEqual(publishers["/tf_static"]["qos"], {"reliability": 1, "durability": 1, "history": 1, "depth": 1})

        self.subscribe("/robot1/front/scan", *SCAN)
        first = self.message("7/robot1/front/scan/")
        self.assertEqual(first["gid"], xxhash.xxh3_128_digest(scan["token"].encode())[::-1].hex())
        self.assertLess(abs(time.time_ns() - first["sent_ns"]), 10**10)
        self.node.until(lambda m: m["event"] == "message" and m["number"] == first["number"] + 2, do=self.send)
        numbers = [m["number"] for m in self.node.said if m["event"] == "message"]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        found = decoded(first, "sensor_msgs/msg/LaserScan")
        self.assertEqual(found.header.stamp.sec, STAMP_S)
        ahead = found.ranges[round(-found.angle_min / found.angle_increment)]
        self.assertAlmostEqual(ahead, 10.0, delta=0.2)

        self.sink.report(ros_case.report())
        self.subscribe("/tf_static", *TF, late=True)  # sent before this node subscribed
        late = self.message("7/tf_static/", "a transform of before")
        found = decoded(late, "tf2_msgs/msg/TFMessage")
        self.assertIn("front_optical_frame", [t.child_frame_id for t in found.transforms])
        self.assertEqual(late["number"], 1)

    def test_odometry_and_objects(self):
        self.router()
        self.start(objects=["autoware"])
        self.send = lambda: self.sink.send(ros_case.moving_work())
        self.subscribe("/front/odometry", *ODOMETRY)
        self.subscribe("/front/tracked_objects", *TRACKED_OBJECTS)
        found = decoded(self.message("0/front/odometry/"), "nav_msgs/msg/Odometry")
        self.assertEqual((found.header.stamp.sec, found.child_frame_id), (STAMP_S, "base_link"))
        self.assertAlmostEqual(found.pose.pose.position.x, 7.0)
        self.assertGreater(len(base64.b64decode(self.message("0/front/tracked_objects/")["cdr"])), 1000)

    def test_images_are_made_while_a_node_subscribes(self):
        self.router()
        self.start()
        self.send()
        self.assertEqual(self.sink.images(ros_case.FRONT), frozenset())
        self.subscribe("/front/left/image_rect", *IMAGE)
        self.until(lambda: self.sink.images(ros_case.FRONT) == {"left"}, "left image wanted")
        self.assertEqual(self.sink.figures()["subscriptions"], 1)
        found = self.message("0/front/left/image_rect/")
        image = decoded(found, "sensor_msgs/msg/Image")
        self.assertEqual((image.width, image.height, len(image.data)), (640, 480, 640 * 480))
        self.node.tell(do="unsubscribe", topic="/front/left/image_rect")
        self.until(lambda: not self.sink.images(ros_case.FRONT), "no image wanted")
        # a node with another definition of the type does not count, because it would receive nothing
        self.subscribe("/front/left/image_rect", IMAGE[0], "RIHS01_" + "0" * 64)
        self.until(lambda: self.sink.figures()["subscriptions_of_other_types"] == 1, "the other type seen")
        self.assertEqual(self.sink.images(ros_case.FRONT), frozenset())

    def test_humble_says_so_in_place_of_the_hash(self):
        self.router()
        self.start(distro="humble")
        self.subscribe("/front/scan", SCAN[0], "TypeHashNotSupported")
        key = "0/front/scan/%s/TypeHashNotSupported" % SCAN[0]
        self.assertEqual(self.message(key)["key"], key)


class Losses(Network):
    def test_nobody_there_is_a_sentence(self):
        for mode in ("client", "peer"):
            s = ros_case.sink(ros_zenoh, connect=[self.endpoint], mode=mode)
            with mock.patch.object(session, "CONNECT_MS", 200), self.assertRaisesRegex(SinkError, self.endpoint):
                s.open()
            s.close()
        s = ros_case.sink(ros_zenoh, connect=["nonsense"])
        with self.assertRaisesRegex(SinkError, "nonsense"):
            s.open()
        s.close()
        s = ros_case.sink(ros_zenoh, configuration="/nowhere/zenoh.json5")
        with self.assertRaisesRegex(SinkError, "/nowhere/zenoh.json5"):
            s.open()
        s.close()

    def test_a_wrong_password_is_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            def file(name, text):
                path = os.path.join(folder, name)
                with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
                    f.write(text)
                return path
            self.router(file("users", "robot:secret\n"))
            for password, fits in (("wrong", False), ("secret", True)):
                s = ros_case.sink(ros_zenoh, connect=[self.endpoint], mode="client", user="robot",
                                  password_file=file(password, password + "\n"))
                self.addCleanup(s.close)
                with mock.patch.object(session, "CONNECT_MS", 1000):
                    if fits:
                        s.open()
                    else:
                        self.assertRaisesRegex(SinkError, "wrong user or password", s.open)

    def test_a_peer_goes_on_without_the_router(self):
        router = self.router()
        self.start()
        self.subscribe("/front/scan", *SCAN)
        self.message("0/front/scan/")
        router.kill()
        self.until(lambda: self.sink.figures()["neighbours"] == 1, "the router gone")
        self.node.forget()
        self.message("0/front/scan/", "a message without the router")
        self.node.kill()
        with self.assertRaisesRegex(SinkError, "lost"):
            self.until(lambda: False, "the last peer gone")

    def test_a_client_comes_again_after_the_router(self):
        router = self.router()
        self.start(mode="client", listen=None)
        self.subscribe("/front/scan", *SCAN)
        self.message("0/front/scan/")
        router.kill()
        with self.assertRaisesRegex(SinkError, "lost"):
            self.until(lambda: False, "the router gone")
        self.sink.close()
        self.assertEqual(self.sink.images(ros_case.FRONT), frozenset())
        self.router()
        self.sink.open()
        self.node.forget()
        self.assertEqual(self.message("0/front/scan/")["number"], 1)


if __name__ == "__main__":
    unittest.main()
