"""ROS 2 package of stixeld; the node is in node.py.

SPDX-License-Identifier: Apache-2.0
"""
