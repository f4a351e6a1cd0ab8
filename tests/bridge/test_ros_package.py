# The packages in ros/: the node with a small substitute of rclpy that accepts bytes, and examples against the messages
# that the node publishes.
# SPDX-License-Identifier: Apache-2.0
import ast
import collections
import glob
import importlib.util
import os
import re
import runpy
import sys
import types
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

import support

support.need("rosbags", "yaml")

import yaml  # noqa: E402

from stixel_bridge.fail import Fail  # noqa: E402
from stixel_bridge.ros import store, topics  # noqa: E402
from stixel_bridge.sink import Work  # noqa: E402
from support_frames import street  # noqa: E402

ROS = os.path.join(support.SOURCE, "ros")
NODE = os.path.join(ROS, "stixel_ros")
OPTIONS = {option.name: option.default for option in topics.OPTIONS}
Profile = collections.namedtuple("Profile", "history depth reliability durability")
# Parameters that nav2's sources declare (github.com/ros-navigation/navigation2 of August 2026): costmap_2d_ros.cpp,
# obstacle_layer.cpp, inflation_layer.cpp; collision_monitor_node.cpp, polygon.cpp, source.cpp. nav2 silently ignores
# other parameters.
COSTMAP = "global_frame plugins robot_base_frame rolling_window track_unknown_space"
OBSTACLE_LAYER = "enabled max_obstacle_height min_obstacle_height observation_sources plugin"
OBSTACLE_SOURCE = ("clearing data_type expected_update_rate inf_is_valid marking max_obstacle_height "
                   "min_obstacle_height obstacle_max_range obstacle_min_range raytrace_max_range raytrace_min_range "
                   "topic")
INFLATION_LAYER = "cost_scaling_factor enabled inflation_radius plugin"
MONITOR = ("base_frame_id base_shift_correction cmd_vel_in_topic cmd_vel_out_topic observation_sources odom_frame_id "
           "polygons source_timeout state_topic stop_pub_timeout transform_tolerance")
POLYGON = "action_type enabled min_points points polygon_pub_topic slowdown_ratio type visualize"
MONITOR_SOURCE = "enabled topic type"
# of robot_localization (github.com/cra-ros-pkg/robot_localization, params/ekf.yaml)
EKF = ("base_link_frame frequency map_frame odom0 odom0_config odom0_queue_size odom_frame publish_tf sensor_timeout "
       "two_d_mode world_frame")


class Publisher:
    """Like rclpy's Publisher: publishes messages of its type, or bytes."""

    def __init__(self, kind, name, quality):
        self.kind, self.name, self.quality = kind, name, quality
        self.subscribers = 0
        self.sent = []

    def publish(self, message):
        if not isinstance(message, bytes):
            raise TypeError("Expected %s, got %s" % (self.kind, type(message)))
        self.sent.append(message)

    def get_subscription_count(self):
        return self.subscribers


class Node:
    """The parts of rclpy's Node that the node needs. overrides: parameters as in a file."""

    overrides = {}

    def __init__(self, name):
        self.name, self.made, self.declared = name, {}, []

    def declare_parameter(self, name, value, descriptor):
        assert descriptor.dynamic_typing and descriptor.description and name not in self.declared
        self.declared.append(name)
        return types.SimpleNamespace(value=self.overrides.get(name, value))

    def create_publisher(self, kind, name, quality):
        assert name not in self.made
        self.made[name] = Publisher(kind, name, quality)
        return self.made[name]

    def get_logger(self):
        return types.SimpleNamespace(warning=lambda text: None)


def module(name, **values):
    """Replaces a module of ROS."""
    made = types.ModuleType(name)
    made.__dict__.update(values)
    sys.modules[name] = made
    return made


def policy(*names):
    return types.SimpleNamespace(**{name: name for name in names})


module("rclpy", ok=lambda: True)
module("rclpy.node", Node=Node)
module("rclpy.executors", ExternalShutdownException=RuntimeError)
module("rclpy.qos", QoSProfile=Profile, HistoryPolicy=policy("KEEP_LAST"),
       ReliabilityPolicy=policy("RELIABLE", "BEST_EFFORT"), DurabilityPolicy=policy("TRANSIENT_LOCAL", "VOLATILE"))
module("rcl_interfaces")
module("rcl_interfaces.msg", ParameterDescriptor=types.SimpleNamespace)
spec = importlib.util.spec_from_file_location("stixel_node", os.path.join(NODE, "stixel_ros", "node.py"))
stixel_node = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stixel_node)
stixel_node.message_class = lambda kind: kind


def read(*names):
    with open(os.path.join(ROS, *names), encoding="utf-8") as f:
        return f.read()


def example(name):
    return yaml.safe_load(read("stixel_ros", "config", name))


def flat(tree, prefix=""):
    """Returns the parameters of a file by their full names."""
    found = {}
    for key, value in tree.items():
        found.update(flat(value, prefix + key + ".") if isinstance(value, dict) else {prefix + key: value})
    return found


def node_of(**overrides):
    Node.overrides = overrides
    return stixel_node.StixelNode()


class TheNode(unittest.TestCase):
    def work(self, node, **more):
        return Work(node._sources[0].instance, street(**more), 0)

    def test_topics_types_and_quality(self):
        node = node_of(instances=["front", "rear"])
        self.assertEqual(len(node.made), 2 * 14 + 3)
        for instance in (source.instance for source in node._sources):
            for topic in topics.topics(OPTIONS, instance):
                publisher = node.made[topics.full_name(topic, instance)]
                self.assertEqual(publisher.kind, topic.type)
                self.assertEqual(publisher.quality, (
                    "KEEP_LAST", topic.depth, "RELIABLE" if topic.reliable else "BEST_EFFORT",
                    "TRANSIENT_LOCAL" if topic.transient_local else "VOLATILE"))

    def test_only_what_somebody_subscribes_to_is_made(self):
        node = node_of()
        front = node._sources[0].instance
        node._all.put(self.work(node))
        self.assertEqual([p.name for p in node.made.values() if p.sent], [])
        self.assertEqual(node._all.images(front), frozenset())
        for name in ("/front/scan", "/tf", "/front/left/image_rect", "/front/disparity"):
            node.made[name].subscribers = 1
        self.assertEqual(node._all.images(front), {"left", "disparity"})
        node._all.put(self.work(node, planes=("left",)))
        self.assertEqual({p.name: len(p.sent) for p in node.made.values() if p.sent},
                         {"/front/scan": 1, "/tf": 1, "/front/left/image_rect": 1})
        scan = store.decode(store.LASER_SCAN, node.made["/front/scan"].sent[0])
        self.assertEqual(scan.ranges.tobytes(), street().scan().ranges.tobytes())

    def test_static_frames_and_diagnostics(self):
        node = node_of(instances=["front", "rear"], **{"front.x_m": 2, "front.z_m": 1, "front.pitch_deg": 0,
                                                       "front.roll_deg": 0.0, "rear.frame_prefix": "back"})
        node.start()
        try:
            found = store.decode(store.TRANSFORMS, node.made["/tf_static"].sent[0]).transforms
            self.assertEqual([(t.header.frame_id, t.child_frame_id) for t in found], [
                ("base_link", "front_link"), ("front_link", "front_optical_frame"),
                ("back_link", "back_optical_frame")])
            self.assertEqual(found[0].transform.translation.x, 2.0)
            support.instances().until(lambda: len(node.made["/diagnostics"].sent) >= 2, 30, "diagnostics")
        finally:
            node.stop()
        said = [store.decode(store.DIAGNOSTICS, m).status[0] for m in node.made["/diagnostics"].sent[:2]]
        self.assertEqual(sorted((s.name, s.level) for s in said), [("front: stixeld", 3), ("rear: stixeld", 3)])
        self.assertFalse(any(source.is_alive() for source in node._sources))

    def test_it_publishes_what_a_daemon_sees(self):
        programs = support.instances()
        daemon = programs.Daemon("rosnode")
        self.addCleanup(daemon.close)
        daemon.start(*programs.SMALL)
        with unittest.mock.patch.dict(os.environ, XDG_RUNTIME_DIR=daemon.user):
            node = node_of(instances=[daemon.name])
            place = "/" + topics.namespace(daemon.name)
            node.made[place + "/stixels"].subscribers = node.made[place + "/left/image_rect"].subscribers = 1
            node.start()
            try:
                programs.until(lambda: node.made[place + "/left/image_rect"].sent, 30, "images")
            finally:
                node.stop()
        frame = store.decode(store.STIXEL_FRAME, node.made[place + "/stixels"].sent[0])
        self.assertEqual((frame.image_width, frame.image_height), (160, 96))
        self.assertGreater(len(frame.column), 0)
        self.assertEqual(store.decode(store.IMAGE, node.made[place + "/left/image_rect"].sent[0]).step, 160)

    def test_parameters_that_cannot_be_used(self):
        for overrides, says in (
                ({"scan_above": "maybe"}, "parameter scan_above: 'maybe' is not one of free, obstacle, unseen"),
                ({"front.yaw_deg": 400.0}, "parameter front.yaw_deg: '400.0' is not a number from -180 to 180"),
                ({"instances": []}, "names no instance"),
                ({"base_frame": "/map"}, "no frame id")):
            with self.assertRaises(Fail) as caught:
                node_of(**overrides)
            self.assertIn(says, str(caught.exception))

    def test_a_package_of_messages_that_is_missing(self):
        said = []

        def message_class(kind):
            return None if kind.startswith("stixel_msgs") else kind
        logger = types.SimpleNamespace(warning=said.append)
        with unittest.mock.patch.object(stixel_node, "message_class", message_class), \
                unittest.mock.patch.object(Node, "get_logger", lambda self: logger):
            node = node_of()
        self.assertEqual(said, ["topic /front/stixels is not published: the ROS package of its messages is not there"])
        self.assertNotIn("/front/stixels", node.made)
        node.made["/front/scan"].subscribers = 1
        node._all.put(self.work(node))
        self.assertEqual(len(node.made["/front/scan"].sent), 1)
        with unittest.mock.patch.object(stixel_node, "message_class", lambda kind: None):
            with self.assertRaises(Fail) as caught:
                node_of()
        self.assertEqual(caught.exception.code, 69)

    def test_the_example_of_parameters(self):
        values = flat(example("stixel.yaml")["stixel"]["ros__parameters"])
        node = node_of(**values)
        self.assertEqual(set(values) - set(node.declared), set())
        self.assertEqual(node._sources[0].instance.options["y_m"], values["front.y_m"])
        self.assertEqual(node._all._options["scan_range_max_m"], 25.0)


class Packages(unittest.TestCase):
    def manifest(self, name):
        return ElementTree.fromstring(read(name, "package.xml"))

    def test_manifests(self):
        version = re.search(r"(?m)^  version: '([0-9.]+)',$", read("..", "meson.build")).group(1)
        for name in ("stixel_msgs", "stixel_ros"):
            root = self.manifest(name)
            self.assertEqual((root.tag, root.get("format")), ("package", "3"))
            self.assertEqual([root.findtext(tag) for tag in ("name", "version", "license")],
                             [name, version, "Apache-2.0"])
            for tag in ("description", "maintainer"):
                self.assertEqual(len(root.findall(tag)), 1, tag)
            self.assertIn("@", root.find("maintainer").get("email"))
        self.assertEqual(self.manifest("stixel_msgs").findtext("member_of_group"), "rosidl_interface_packages")
        needs = {d.text for d in self.manifest("stixel_ros").findall("exec_depend")}
        self.assertLessEqual({topic.type.split("/")[0] for topic in topics.topics(OPTIONS)}, needs)

    @unittest.skipIf(support.missing("catkin_pkg"), support.missing("catkin_pkg"))
    def test_manifests_as_the_build_tools_read_them(self):
        """colcon and rosdep read manifests with catkin_pkg, which refuses what the schema does not allow."""
        from catkin_pkg.package import parse_package
        for name in ("stixel_msgs", "stixel_ros"):
            warnings = []
            package = parse_package(os.path.join(ROS, name, "package.xml"), warnings=warnings)
            package.validate(warnings=warnings)
            self.assertEqual((package.name, package.package_format, warnings), (name, 3, []))
            kind = {"stixel_msgs": "ament_cmake", "stixel_ros": "ament_python"}[name]
            self.assertEqual(package.get_build_type(), kind)

    @unittest.skipIf(support.missing("rosidl_adapter"), support.missing("rosidl_adapter"))
    def test_messages_as_ros_reads_them(self):
        """rosidl's own parser accepts the definitions, and finds the fields that the bridge sends."""
        from rosidl_adapter.parser import parse_message_file
        for kind in ("Road", "StixelFrame"):
            path = os.path.join(ROS, "stixel_msgs", "msg", kind + ".msg")
            message = parse_message_file("stixel_msgs", path)
            self.assertEqual([field.name for field in message.fields],
                             [name for name, _ in store.definition("stixel_msgs/msg/" + kind)])
            self.assertGreaterEqual(len(message.constants), 4)

    def test_all_messages_are_generated(self):
        listed = re.findall(r'"(msg/\w+\.msg)"', read("stixel_msgs", "CMakeLists.txt"))
        there = ["msg/" + os.path.basename(p) for p in glob.glob(os.path.join(ROS, "stixel_msgs", "msg", "*"))]
        self.assertEqual(sorted(listed), sorted(there))

    def test_python_3_8_reads_all_of_it(self):
        paths = glob.glob(NODE + "/**/*.py", recursive=True)
        self.assertEqual(len(paths), 4)
        for path in paths:
            with open(path, encoding="utf-8") as f:
                ast.parse(f.read(), path, feature_version=(3, 8))

    def test_setup_installs_what_the_launch_file_starts(self):
        before = os.getcwd()
        os.chdir(NODE)
        try:
            with unittest.mock.patch("setuptools.setup") as setup:
                runpy.run_path("setup.py")
        finally:
            os.chdir(before)
        given = setup.call_args[1]
        version = self.manifest("stixel_ros").findtext("version")
        self.assertEqual((given["name"], given["version"]), ("stixel_ros", version))
        files = [path for _, paths in given["data_files"] for path in paths]
        self.assertTrue(all(os.path.exists(os.path.join(NODE, path)) for path in files))
        self.assertIn("config/stixel.yaml", files)
        self.assertEqual(given["entry_points"]["console_scripts"], ["stixel_node = stixel_ros.node:main"])
        launch = {name: unittest.mock.MagicMock() for name in (
            "ament_index_python", "ament_index_python.packages", "launch", "launch.actions", "launch.substitutions",
            "launch_ros", "launch_ros.actions")}
        launch["ament_index_python.packages"].get_package_share_directory = lambda name: NODE
        with unittest.mock.patch.dict(sys.modules, launch):
            made = runpy.run_path(os.path.join(NODE, "launch", "stixel.launch.py"))
            made["generate_launch_description"]()
        node = launch["launch_ros.actions"].Node.call_args[1]
        self.assertEqual((node["package"], node["executable"], node["name"]), ("stixel_ros", "stixel_node", "stixel"))
        default = launch["launch.actions"].DeclareLaunchArgument.call_args[1]["default_value"]
        self.assertTrue(os.path.exists(default))

    def test_examples_use_parameters_that_nav2_has(self):
        def check(found, names):
            self.assertEqual({key for key, value in found.items() if not isinstance(value, dict)} - set(names.split()),
                             set())
        costmap = example("nav2_costmap.yaml")["local_costmap"]["local_costmap"]["ros__parameters"]
        layer = costmap["obstacle_layer"]
        for found, names in ((costmap, COSTMAP), (layer, OBSTACLE_LAYER), (layer["scan"], OBSTACLE_SOURCE),
                             (costmap["inflation_layer"], INFLATION_LAYER)):
            check(found, names)
        self.assertEqual(set(costmap["plugins"]), {k for k, v in costmap.items() if isinstance(v, dict)})
        monitor = example("nav2_collision_monitor.yaml")["collision_monitor"]["ros__parameters"]
        check(monitor, MONITOR)
        for name in monitor["polygons"]:
            check(monitor[name], POLYGON)
        check(monitor["scan"], MONITOR_SOURCE)

    def test_robot_localization(self):
        """It takes velocities of the topic odometry, and is the node that sends the transform."""
        ekf = example("robot_localization.yaml")["ekf_filter_node"]["ros__parameters"]
        self.assertLessEqual(set(ekf), set(EKF.split()))
        instance = node_of()._sources[0].instance
        there = {topics.full_name(topic, instance): topic for topic in topics.topics(OPTIONS)}
        self.assertEqual(there[ekf["odom0"]].type, store.ODOMETRY)
        # x y z roll pitch yaw, then their velocities and accelerations: measured are those of a vehicle on the ground
        self.assertEqual([i for i, used in enumerate(ekf["odom0_config"]) if used], [6, 7, 11])
        self.assertEqual((ekf["odom_frame"], ekf["base_link_frame"], ekf["world_frame"]),
                         (OPTIONS["odom_frame"], OPTIONS["base_frame"], OPTIONS["odom_frame"]))
        self.assertTrue(ekf["publish_tf"] and OPTIONS["odometry_tf"] is None)

    def test_examples_name_topics_that_are_there(self):
        instance = node_of()._sources[0].instance
        there = {topics.full_name(topic, instance): topic for topic in topics.topics(OPTIONS)}
        layer = example("nav2_costmap.yaml")["local_costmap"]["local_costmap"]["ros__parameters"]["obstacle_layer"]
        self.assertEqual(there[layer["scan"]["topic"]].type, "sensor_msgs/msg/" + layer["scan"]["data_type"])
        monitor = example("nav2_collision_monitor.yaml")["collision_monitor"]["ros__parameters"]
        self.assertEqual(there[monitor["scan"]["topic"]].type, store.LASER_SCAN)
        self.assertEqual(set(monitor["polygons"] + monitor["observation_sources"]) - set(monitor), set())
        shown = [d for d in example("stixel.rviz")["Visualization Manager"]["Displays"] if "Topic" in d]
        self.assertEqual(len(shown), 5)
        for display in shown:
            topic = there[display["Topic"]["Value"]]
            self.assertEqual(topic.type.split("/")[-1], display["Class"].split("/")[-1])
            reliable = display["Topic"]["Reliability Policy"] == "Reliable"
            # otherwise publisher and subscriber would not match
            self.assertTrue(topic.reliable or not reliable, display["Name"])


if __name__ == "__main__":
    unittest.main()
