"""stixel-bridge: sends the frames of stixeld to other machines and programs. See docs/use/bridge.md.

program.py reads the configuration (config.py, with the tables of options.py). It starts a thread for each instance
(instances.py) and for each sink (runner.py, which uses the contract in sink.py). status.py reports their state.
stixel._messages and ros/ make the messages; sinks/ sends them. Only sinks/ knows the packages that sending needs.

SPDX-License-Identifier: Apache-2.0
"""
