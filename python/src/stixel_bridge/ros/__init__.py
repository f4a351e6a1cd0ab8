"""Makes ROS 2 messages of a frame and serialises them, without a ROS installation. See docs/use/bridge.md.

Sinks call topics.py, which has the list of topics, and the messages of a frame or of a report. store.py knows the
message types, their hashes and their serialisation (rosbags, which needs Python 3.10). frames.py has the coordinate
frames. Each other module makes one kind of message and does not depend on the transport.

SPDX-License-Identifier: Apache-2.0
"""
