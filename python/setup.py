# The version stands in one place, meson.build at the top of the tree; all else is in setup.cfg.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))
# In the tree; in a source package the metadata that it was made with.
PLACES = [(os.path.join(HERE, "..", "meson.build"), r"(?m)^  version: '([0-9.]+)',$"),
          (os.path.join(HERE, "PKG-INFO"), r"(?m)^Version: (\S+)$")]


def version():
    for path, pattern in PLACES:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                found = re.search(pattern, f.read())
            if found:
                return found.group(1)
    sys.exit("stixel: no version: neither the tree's meson.build nor PKG-INFO is there (pip before 21.3 builds in a "
             "copy of python alone: use a newer one)")


setup(version=version())
