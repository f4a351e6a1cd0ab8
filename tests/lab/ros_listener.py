# A node of ROS 2 for ros_workspace: subscribes to what the node stixel publishes, checks that messages with the
# generated classes come, and prints what they say. Exit: 0; 1 a topic is missing.
# SPDX-License-Identifier: Apache-2.0
import sys
import time

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import serialize_message
from sensor_msgs.msg import LaserScan, PointCloud2
from stixel_bridge.ros import store
from stixel_msgs.msg import StixelFrame

TYPES = {"/front/scan": LaserScan, "/front/obstacles": PointCloud2, "/front/ground": PointCloud2,
         "/front/stixels": StixelFrame, "/diagnostics": DiagnosticArray}
LIMIT_S = 60

rclpy.init()
node = rclpy.create_node("listener")
got = {name: [] for name in TYPES}
for name, kind in TYPES.items():
    node.create_subscription(kind, name, got[name].append, qos_profile_sensor_data)
end = time.monotonic() + LIMIT_S
while not all(got.values()) and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.2)
missing = [name for name, messages in got.items() if not messages]
if not missing:
    frame, scan = got["/front/stixels"][-1], got["/front/scan"][-1]
    print("frame %d: %d stixels of %dx%d px in %s, camera %.2f m above the road" % (
        frame.number, len(frame.column), frame.image_width, frame.image_height, frame.header.frame_id,
        frame.road.height))
    print("scan: %d ranges from %.2f m in %s" % (
        len(scan.ranges), min(r for r in scan.ranges if r == r), scan.header.frame_id))
    print("; ".join("%s: %s" % (s.name, s.message) for s in got["/diagnostics"][-1].status))
    # the generated class and the bridge agree about every byte
    again = store.decode(store.STIXEL_FRAME, bytes(serialize_message(frame)))
    assert list(again.disparity_q7) == list(frame.disparity_q7) and again.road.slope == frame.road.slope
node.destroy_node()
rclpy.shutdown()
sys.exit("nothing came from %s" % ", ".join(missing) if missing else 0)
