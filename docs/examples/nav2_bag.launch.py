"""Plays a bag of scans (scan_bag.py) to a costmap of nav2: ros2 launch nav2_bag.launch.py bag:=bag_folder

The costmap has the parameters of stixel_ros (config/nav2_costmap.yaml). The vehicle stands still: put your odometry in
the place of the transform from odom to base_link. In rviz2, add a Map (/costmap/costmap) and a LaserScan (/front/scan).

SPDX-License-Identifier: Apache-2.0
"""
import os

import yaml
from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def still(parent, child):
    """Returns a node that publishes child at the origin of parent."""
    return Node(package="tf2_ros", executable="static_transform_publisher", name=child.replace("/", "_"),
                arguments=["--frame-id", parent, "--child-frame-id", child])


def generate_launch_description():
    with open(os.path.join(get_package_share_directory("stixel_ros"), "config", "nav2_costmap.yaml"),
              encoding="utf-8") as f:
        costmap = yaml.safe_load(f)["local_costmap"]["local_costmap"]["ros__parameters"]
    clock = {"use_sim_time": True}
    return LaunchDescription([
        DeclareLaunchArgument("bag", description="folder that scan_bag.py wrote"),
        ExecuteProcess(cmd=["ros2", "bag", "play", "--clock", "100", "--loop", LaunchConfiguration("bag")]),
        still("odom", "base_link"), still("base_link", "front/road"),
        Node(package="nav2_costmap_2d", executable="nav2_costmap_2d", output="screen", parameters=[costmap, clock]),
        Node(package="nav2_lifecycle_manager", executable="lifecycle_manager", name="lifecycle_manager_costmap",
             parameters=[clock, {"autostart": True, "node_names": ["costmap/costmap"]}]),
    ])
