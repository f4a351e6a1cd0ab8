"""Writes files, each either whole or not at all.

SPDX-License-Identifier: Apache-2.0
"""
import os
import tempfile

from .fail import CANNOT_CREATE, Fail


def refuse(path, e):
    """Raises the Fail for an OSError."""
    raise Fail(CANNOT_CREATE, "%s cannot be written: %s" % (path, e.strerror)) from None


def check_place(path):
    """Raises Fail if a file could not be written at this path. Called before the calibration, so that no work is
    lost."""
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(21, os.strerror(21))
        fd, name = tempfile.mkstemp(prefix=".stixel-calibrate-", dir=os.path.dirname(path) or ".")
        os.close(fd)
        os.unlink(name)
    except OSError as e:
        refuse(path, e)


def write(path, data, keep=False):
    """Writes bytes to path in one step, so that no reader sees half a file. keep: an existing file becomes path.1."""
    name = None
    try:
        fd, name = tempfile.mkstemp(prefix=".stixel-calibrate-", dir=os.path.dirname(path) or ".")
        with os.fdopen(fd, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        if keep and os.path.exists(path):
            link = name + ".1"
            os.link(path, link)
            os.replace(link, path + ".1")
        os.replace(name, path)
    except OSError as e:
        if name and os.path.exists(name):
            os.unlink(name)
        refuse(path, e)
