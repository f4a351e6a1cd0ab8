"""stixel-bridge: frames of stixeld to other machines and programs. docs/bridge.md.

program.py reads the configuration (config.py, by the tables of options.py), starts a thread for each instance
(instances.py) and one for each sink (runner.py over the contract of sink.py); status.py says how they are. What is
sent is made in stixel._messages and ros/, how it travels in sinks/, which alone know the packages that they need.

SPDX-License-Identifier: Apache-2.0
"""
