# meson.build at the top of the tree has the version. All other metadata is in setup.cfg.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

from setuptools import Distribution, setup

HERE = os.path.dirname(os.path.abspath(__file__))
# Source of the version: meson.build in the tree, PKG-INFO in a source package.
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


def with_library():
    """Returns arguments for a wheel that contains the library (tools/wheel): one platform, every Python 3."""
    if not os.path.exists(os.path.join(HERE, "src", "stixel", "libstixel.so.1")):
        return {}
    from wheel.bdist_wheel import bdist_wheel

    class Platform(Distribution):
        def has_ext_modules(self):
            return True

    class Wheel(bdist_wheel):
        def get_tag(self):
            return "py3", "none", super().get_tag()[2]

    return {"distclass": Platform, "cmdclass": {"bdist_wheel": Wheel}}


setup(version=version(), **with_library())
