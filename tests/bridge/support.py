# Helpers shared by the tests of stixel-bridge: the Python that has its packages, instances, and waiting.
# SPDX-License-Identifier: Apache-2.0
import os
import sys

# tools/test creates an environment with the packages of requirements.txt and passes its Python; some packages may be
# missing on PyPI
PYTHON = os.environ.get("STIXEL_BRIDGE_PYTHON")
if PYTHON and os.path.exists(PYTHON) and os.path.abspath(sys.executable) != os.path.abspath(PYTHON):
    os.execv(PYTHON, [PYTHON, *sys.argv])

SOURCE = os.environ["STIXEL_SOURCE"]
MODULE = os.path.join(SOURCE, "python", "src")
sys.path[:0] = [MODULE, os.path.join(SOURCE, "tests", "python")]


def missing(*names):
    """Returns the reason if one of these packages cannot be imported, otherwise ""."""
    import importlib.util
    lacking = [name for name in names if importlib.util.find_spec(name) is None]
    return ", ".join(lacking) and ("%s cannot be imported: tests/bridge/requirements.txt is not installed (no PyPI?)"
                                   % ", ".join(lacking))


def need(*names):
    """Ends the test program as skipped if a package is missing."""
    why = missing(*names)
    if why:
        print(why)
        sys.exit(77)


need("numpy")


def instances():
    """Returns the module with the daemons of the Python module's tests: support.py there, which has the same name as
    this file."""
    import importlib.util
    spec = importlib.util.spec_from_file_location("instances", os.path.join(SOURCE, "tests", "python", "support.py"))
    sys.modules["instances"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["instances"])
    return sys.modules["instances"]
