"""What is sent to ROS 2: a frame as messages, serialised, without a ROS installation. docs/bridge.md.

topics.py is what sinks call: which topics there are, and the messages of a frame or of a report. store.py knows the
types, their hashes and their serialisation (rosbags, which needs Python 3.10); frames.py the coordinate frames; the
other modules make one kind of message each and know nothing of how it travels.

SPDX-License-Identifier: Apache-2.0
"""
