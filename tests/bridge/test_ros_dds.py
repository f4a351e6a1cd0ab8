# ROS 2 over DDS: an independent reader with independent types, against the sink.
# SPDX-License-Identifier: Apache-2.0
import base64
import os
import time
import unittest
import zlib

import support

support.need("cyclonedds", "rosbags")

import numpy as np  # noqa: E402
import ros_case  # noqa: E402
import support_frames  # noqa: E402
from child import Child  # noqa: E402
from rosbags.typesys import Stores, get_typestore  # noqa: E402
from stixel_bridge import config  # noqa: E402
from stixel_bridge.fail import SinkError  # noqa: E402
from stixel_bridge.ros import domain, topics  # noqa: E402
from stixel_bridge.sink import Instance  # noqa: E402
from stixel_bridge.sinks import ros_dds  # noqa: E402

STAMP_S = support_frames.ANCHOR_NS // 10**9
DOMAIN = 100 + os.getpid() % 100
CONFIG = ('<CycloneDDS><Domain Id="any"><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
          '</General><Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers>'
          '</Discovery></Domain></CycloneDDS>')


def decoded(message, kind):
    return get_typestore(Stores.ROS2_JAZZY).deserialize_cdr(base64.b64decode(message["cdr"]), kind)


class Network(ros_case.Sending):
    def setUp(self):
        self.number = 0

    def start(self, **options):
        self.node = Child("dds_node.py", str(DOMAIN), env={"NODE_CONFIG": CONFIG})
        self.addCleanup(self.node.close)
        self.node.until(lambda m: m["event"] == "ready", what="node")
        self.sink = ros_case.sink(ros_dds, domain=DOMAIN, **options)
        self.addCleanup(self.sink.close)
        self.sink.open()

    def send(self):
        self.number += 1
        self.sink.send(ros_case.work(self.number))

    def message(self, topic, what="message"):
        return self.node.until(lambda m: m["event"] == "message" and m["topic"] == topic, what=what, do=self.send)

    def subscribe(self, topic, kind, **more):
        self.node.tell(do="subscribe", topic=topic, type=kind, **more)


class Readers(Network):
    def test_a_reader_finds_writers_and_reads_messages(self):
        self.start(namespace="/robot1")
        offers = {"rt" + offer.name: offer.topic for offer in self.sink.offers()}
        self.node.until(lambda m: sum(w["event"] == "writer" for w in self.node.said) > len(offers), what="all writers")
        writers = {m["topic"]: m for m in self.node.said if m["event"] == "writer"}
        self.assertEqual(set(writers), set(offers) | {"ros_discovery_info"})
        for name, topic in offers.items():
            package, _, kind = topic.type.split("/")
            self.assertEqual(writers[name]["type"], "%s::msg::dds_::%s_" % (package, kind))
            self.assertEqual(writers[name]["reliable"], topic.reliable)
            self.assertEqual(writers[name]["late"], topic.transient_local)
            self.assertEqual(writers[name]["user"], "typehash=%s;" % topics.type_hash(topic.type))
            self.assertFalse(writers[name]["described"])  # otherwise readers with another description would not match

        self.subscribe("rt/robot1/front/scan", "LaserScan")
        first = self.message("rt/robot1/front/scan")
        scan = decoded(first, "sensor_msgs/msg/LaserScan")
        self.assertEqual(scan.header.stamp.sec, STAMP_S)
        stamp = {"sec_": STAMP_S, "nanosec_": scan.header.stamp.nanosec}
        self.assertEqual(first["sample"]["header_"], {"stamp_": stamp, "frame_id_": scan.header.frame_id})
        for name in ("angle_min", "angle_max", "angle_increment", "range_min", "range_max", "ranges"):
            np.testing.assert_array_equal(np.float32(first["sample"][name + "_"]), getattr(scan, name), name)
        self.assertAlmostEqual(scan.ranges[round(-scan.angle_min / scan.angle_increment)], 10.0, delta=0.2)
        self.assertLess(abs(time.time_ns() - first["sent_ns"]), 10**10)

        self.subscribe("rt/tf_static", "TFMessage", reliable=True, late=True)  # sent before this reader subscribed
        late = self.message("rt/tf_static", "a transform of before")
        transforms = decoded(late, "tf2_msgs/msg/TFMessage").transforms
        self.assertIn("front_optical_frame", [t.child_frame_id for t in transforms])

    def test_odometry_and_objects(self):
        """Also the types with types within types within them have writers."""
        self.start(objects=["autoware", "derived", "derived_covariance", "nav2"])
        self.send = lambda: self.sink.send(ros_case.moving_work())
        self.subscribe("rt/front/odometry", "Odometry", reliable=True)
        self.subscribe("rt/front/dynamic_obstacles", "ObstacleArray", reliable=True)
        made = self.message("rt/front/odometry")["sample"]
        self.assertEqual((made["header_"]["frame_id_"], made["child_frame_id_"]), ("odom", "base_link"))
        self.assertAlmostEqual(made["pose_"]["pose_"]["position_"]["x_"], 7.0)
        self.assertAlmostEqual(made["twist_"]["twist_"]["linear_"]["x_"], 10.0)
        self.assertAlmostEqual(made["twist_"]["covariance_"][0], 1e-2 + 1e-2)  # the camera is 1 m above base_link
        made = self.message("rt/front/dynamic_obstacles")["sample"]
        car, = made["obstacles_"]
        self.assertEqual((made["header_"]["frame_id_"], len(car["uuid_"]["uuid_"])), ("front_road", 16))
        self.assertAlmostEqual(car["position_"]["x_"], 10.0)
        self.assertAlmostEqual(car["velocity_"]["x_"], 5.0)
        self.assertAlmostEqual(car["velocity_covariance_"][4], 0.09, 6)
        writers = {m["topic"]: m for m in self.node.said if m["event"] == "writer"}
        for name, kind in (("tracked_objects", "autoware_perception_msgs::msg::dds_::TrackedObjects_"),
                           ("objects", "derived_object_msgs::msg::dds_::ObjectArray_"),
                           ("objects_with_covariance", "derived_object_msgs::msg::dds_::ObjectWithCovarianceArray_")):
            self.assertEqual(writers["rt/front/" + name]["type"], kind)
        for message in topics.of_frame(ros_case.moving_work(), self.sink.options, {
                "tracked_objects", "objects", "objects_with_covariance"}):  # Cyclone accepts the bytes for the type
            self.assertEqual(self.sink.publish("/front/" + message.topic.name, message.cdr), len(message.cdr))

    def test_the_node_is_told(self):
        self.start(node="eyes")
        self.subscribe("ros_discovery_info", "Graph", reliable=True, late=True)
        graph = self.message("ros_discovery_info")["sample"]
        participant = self.node.until(lambda m: m["event"] == "participant")
        self.assertEqual(participant["user"], "enclave=/;")
        self.assertEqual(bytes(graph["gid_"]["data_"]).hex(), participant["guid"])
        mine, = graph["node_entities_info_seq_"]
        self.assertEqual((mine["node_namespace_"], mine["node_name_"], mine["reader_gid_seq_"]), ("/", "eyes", []))
        self.node.until(lambda m: m["event"] == "writer" and m["topic"] == "rt/diagnostics")
        told = {bytes(gid["data_"]).hex() for gid in mine["writer_gid_seq_"]}
        seen = {m["guid"] for m in self.node.said if m["event"] == "writer" and m["topic"].startswith("rt/")}
        self.assertEqual(len(told), len(self.sink.offers()))
        self.assertEqual(seen & told, seen)

    def test_images_are_made_while_a_reader_is_there(self):
        self.start()
        self.send()
        self.assertEqual(self.sink.images(ros_case.FRONT), frozenset())
        self.subscribe("rt/front/left/image_rect", "Image")
        self.until(lambda: self.sink.images(ros_case.FRONT) == {"left"}, "left image wanted")
        found = self.message("rt/front/left/image_rect")
        image = decoded(found, "sensor_msgs/msg/Image")
        self.assertEqual((image.width, image.height, len(image.data)), (640, 480, 640 * 480))
        self.assertEqual(found["crc"], zlib.crc32(image.data))
        self.node.tell(do="unsubscribe", topic="rt/front/left/image_rect")
        self.until(lambda: not self.sink.images(ros_case.FRONT), "no image wanted")
        self.subscribe("rt/front/left/image_rect", "Image")
        self.until(lambda: self.sink.images(ros_case.FRONT) == {"left"}, "wanted again")
        # a reader that asks for reliable messages of a best effort topic gets none, and is counted
        self.subscribe("rt/front/scan", "LaserScan", reliable=True)
        self.until(lambda: self.sink.figures()["subscriptions_refused"] == 1, "a reader refused")
        self.assertEqual(self.sink.figures()["subscriptions"], 1)


@unittest.skipUnless(os.environ.get("STIXEL_ROS_PYTHON"), "STIXEL_ROS_PYTHON names no Python with rclpy")
class Ros(Network):
    """Runs against a real ROS 2, if one is installed."""

    def test_a_node_reads_scans_and_images(self):
        self.node = Child("ros_node.py", env={"ROS_DOMAIN_ID": str(DOMAIN)}, python=os.environ["STIXEL_ROS_PYTHON"])
        self.addCleanup(self.node.close)
        self.node.until(lambda m: m["event"] == "ready", 30, "node")
        self.sink = ros_case.sink(ros_dds, domain=DOMAIN)
        self.addCleanup(self.sink.close)
        self.sink.open()
        scan = self.node.until(lambda m: m["event"] == "scan", what="scan", do=self.send)
        self.assertEqual(scan["sec"], STAMP_S)
        self.assertAlmostEqual(scan["ranges"][len(scan["ranges"]) // 2], 10.0, delta=0.2)
        image = self.node.until(lambda m: m["event"] == "image", what="image", do=self.send)
        self.assertEqual((image["width"], image["height"]), (640, 480))
        self.assertEqual(image["crc"], zlib.crc32(ros_case.frame().left))
        graph = self.node.until(lambda m: m["event"] == "graph" and "stixel_bridge" in m["nodes"], what="the node")
        kind, type_hash, reliability = graph["publishers"][0]
        self.assertEqual((kind, reliability), ("sensor_msgs/msg/LaserScan", "BEST_EFFORT"))
        self.assertIn(topics.type_hash(kind), type_hash)
        self.node.tell(do="end the image")
        self.until(lambda: not self.sink.images(ros_case.FRONT), "no image wanted")


class Opening(unittest.TestCase):
    def test_what_cannot_be_opened_is_a_sentence(self):
        for options, words in (({"interface": "nowhere9"}, "nowhere9"),
                               ({"configuration": "/nowhere/dds.xml"}, "/nowhere/dds.xml")):
            s = ros_case.sink(ros_dds, domain=DOMAIN, **options)
            with self.assertRaisesRegex(SinkError, words):
                s.open()
            s.close()

    def test_it_opens_again_and_one_at_a_time(self):
        one, two = ros_case.sink(ros_dds, domain=DOMAIN), ros_case.sink(ros_dds, domain=DOMAIN)
        one.open()
        with self.assertRaisesRegex(SinkError, "another sink"):
            two.open()
        two.close()
        one.close()
        two.open()
        two.report(ros_case.report())
        two.close()

    def test_what_does_not_fit_its_type_is_not_written(self):
        s = ros_case.sink(ros_dds, domain=DOMAIN)
        self.addCleanup(s.close)
        s.open()
        scan, = [m for m in topics.of_frame(ros_case.work(), s.options, {"scan"})]
        self.assertEqual(s.publish("/front/scan", scan.cdr), len(scan.cdr))
        with self.assertRaisesRegex(ValueError, "does not fit"):
            s.publish("/front/scan", scan.cdr[:-8])

    def test_a_rig_has_fewer_topics(self):
        rig = Instance("around", {option.name: option.default for option in config.RIG})
        s = ros_case.sink(ros_dds, rig, domain=DOMAIN)
        self.addCleanup(s.close)
        s.open()
        self.assertEqual({o.name for o in s.offers()}, {"/around/scan", "/around/obstacles", "/around/ground"})

    def test_options_become_cyclone_s_configuration(self):
        def of(**options):
            return domain.configuration(ros_case.sink(ros_dds, **options).options)
        self.assertIn('address="127.0.0.1"/></Interfaces>', of())
        self.assertIn('<Peers><Peer address="127.0.0.1"/></Peers>', of())
        self.assertIn('<NetworkInterface name="eth0"/>', of(interface="eth0"))
        self.assertIn("<NetworkInterface name='a&lt;\"'/>", of(interface='a<"'))
        self.assertIn('<Peer address="10.0.0.2"/><Peer address="robot"/>', of(
            interface="eth0", peers=["10.0.0.2", "robot"]))
        self.assertIn("<AllowMulticast>spdp</AllowMulticast>", of(multicast="discovery"))

    def test_the_library_is_that_of_the_package(self):
        with open("/proc/self/maps", encoding="ascii") as f:
            libraries = {line.split()[-1] for line in f if "libddsc" in line}
        self.assertEqual(len(libraries), 1)
        self.assertIn("cyclonedds.libs/libddsc-", libraries.pop())


if __name__ == "__main__":
    unittest.main()
