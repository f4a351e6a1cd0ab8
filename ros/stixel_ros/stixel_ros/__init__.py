"""stixeld in ROS 2: node.py.

SPDX-License-Identifier: Apache-2.0
"""
