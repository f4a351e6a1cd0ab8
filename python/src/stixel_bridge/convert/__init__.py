"""What sinks send, made of frames: one module a format.

SPDX-License-Identifier: Apache-2.0
"""
