"""stixel-bridge: sends the frames of stixeld to other machines and programs, and gives it images.

See docs/use/bridge.md.

program.py reads the configuration (config.py, with the tables of options.py). It starts a thread for each instance
(instances.py) and for each sink (runner.py, which uses the contract in sink.py). status.py reports their state.
stixel._messages and ros/ make the messages; sinks/ sends them. In the other direction, pairs/ receives stereo images of
ROS 2 and gives them to daemons: from topics (a thread for each input, pairs/feed.py) or from a recording (play.py).
Only sinks/, pairs/ and ros/ know the packages that the network needs.

SPDX-License-Identifier: Apache-2.0
"""
