# Usage: ros2 launch stixel_ros stixel.launch.py params:=/path/to/stixel.yaml
# SPDX-License-Identifier: Apache-2.0
import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    example = os.path.join(get_package_share_directory("stixel_ros"), "config", "stixel.yaml")
    return LaunchDescription([
        DeclareLaunchArgument("params", default_value=example, description="parameters of the node stixel"),
        Node(package="stixel_ros", executable="stixel_node", name="stixel", output="screen",
             parameters=[LaunchConfiguration("params")]),
    ])
