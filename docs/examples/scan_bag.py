#!/usr/bin/env python3
"""Writes the scans of a recording as a bag for ros2 and nav2 (pip install rosbags): scan_bag.py drive.mcap bag_folder

The bag has /INSTANCE/scan in the frame INSTANCE/road. nav2_bag.launch.py plays it to a costmap.

SPDX-License-Identifier: Apache-2.0
"""
import sys

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import stixel

SCAN = "sensor_msgs/msg/LaserScan"
if len(sys.argv) != 3:
    sys.exit("usage: scan_bag.py RECORDING FOLDER")
store = get_typestore(Stores.ROS2_HUMBLE)
LaserScan, Header, Time = (store.types[name] for name in (SCAN, "std_msgs/msg/Header", "builtin_interfaces/msg/Time"))
try:
    with stixel.Recording(sys.argv[1]) as recording, Writer(sys.argv[2], version=9,
                                                            storage_plugin=StoragePlugin.MCAP) as bag:
        topic, count = None, 0
        for frame in recording:
            h, s = frame.header, frame.scan()
            ns = int(h["anchor_realtime_ns"]) - int(h["anchor_monotonic_ns"]) + frame.capture_left_ns
            topic = topic or bag.add_connection("/%s/scan" % recording.instance, SCAN, typestore=store)
            scan = LaserScan(Header(Time(ns // 10**9, ns % 10**9), recording.instance + "/road"), s.angle_min,
                             s.angle_min + s.angle_increment * (len(s.ranges) - 1), s.angle_increment, 0.0, 0.0,
                             s.range_min, s.range_max, s.ranges, s.ranges[:0])
            bag.write(topic, ns, store.serialize_cdr(scan, SCAN))
            count += 1
    print("%d scans of %s" % (count, topic.topic if topic else "no frame"))
except stixel.StixelError as e:
    sys.exit(str(e))
