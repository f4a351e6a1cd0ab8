"""Runs the program from the source tree: python3 tools/calibrate/stixel_calibrate [OPTIONS].

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from stixel_calibrate.program import main  # noqa: E402

sys.exit(main(sys.argv[1:], "of the source tree"))
