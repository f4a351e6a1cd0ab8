# A node of a real ROS 2 (rclpy, sensor_msgs), if one is installed. It reports the messages that it gets and the nodes
# that it sees. Events as in zenoh_node.py. Any line of input ends the subscription of the image.
# SPDX-License-Identifier: Apache-2.0
import json
import select
import sys
import zlib

import rclpy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image, LaserScan


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    rclpy.init()
    node = rclpy.create_node("reader")
    node.create_subscription(LaserScan, "/front/scan", lambda m: say(
        event="scan", frame=m.header.frame_id, sec=m.header.stamp.sec, ranges=list(m.ranges)), qos_profile_sensor_data)
    image = node.create_subscription(Image, "/front/left/image_rect", lambda m: say(
        event="image", width=m.width, height=m.height, crc=zlib.crc32(bytes(m.data))), qos_profile_sensor_data)
    say(event="ready", rmw=rclpy.get_rmw_implementation_identifier())
    told = None
    while True:
        rclpy.spin_once(node, timeout_sec=0.05)
        found = node.get_publishers_info_by_topic("/front/scan")
        graph = {"nodes": [name for name, _ in node.get_node_names_and_namespaces()],
                 "publishers": [[p.topic_type, str(p.topic_type_hash), p.qos_profile.reliability.name] for p in found]}
        if graph != told:
            say(event="graph", **graph)
            told = graph
        if select.select([sys.stdin], [], [], 0)[0] and image:
            if not sys.stdin.readline():
                return
            node.destroy_subscription(image)
            image = None


if __name__ == "__main__":
    main()
