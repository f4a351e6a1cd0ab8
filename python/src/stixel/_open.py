"""stixel.open() and stixel.open_path(): choose the reader.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Iterable, Optional

from ._errors import BadName, NotStixel, NotSupported
from ._layout import Open
from ._library import library
from ._reader import Reader, wish
from ._ring import RingReader

if TYPE_CHECKING:
    from typing import Union

    PathLike = Union[str, "os.PathLike[str]"]


def _text(path: Optional[PathLike]) -> Optional[str]:
    return None if path is None else os.fspath(path)


def _flags(follow: bool, stream: bool, leftover: bool, any_owner: bool) -> Open:
    return (Open(0) | (Open.FOLLOW if follow else 0) | (Open.STREAM if stream else 0)
            | (Open.LEFTOVER if leftover else 0) | (Open.ANY_OWNER if any_owner else 0))


def open(instance: str, follow: bool = False, stream: bool = False, images: Iterable[str] = (), *,
         leftover: bool = False, any_owner: bool = False, user: Optional[str] = None, password: Optional[str] = None,
         ca: Optional[PathLike] = None, config: Optional[PathLike] = None) -> Reader:
    """Opens a running instance by its name. The newest available frame counts as new.

    An instance on another machine, where stixel-bridge runs, is named zenoh:PROTOCOL/ADDRESS/[HOST/]INSTANCE, for
    example "zenoh:tcp/robot:7447/front" (docs/use/python.md).

    follow: a missing publisher is no error. The reader waits for one, and changes to each new publisher. After a second
    of waiting, the logger "stixel" reports the reason as a warning. stream: read through frames.sock instead of shared
    memory. images: planes to ask for, of "left", "right", "disparity". leftover: also read the frames that a dead
    publisher left. any_owner: also read shared memory of any user. Only for zenoh: user, password; ca: file of the
    authority's certificate for tls/; config: a configuration file of zenoh.

    Raises BadName, NotRunning, NotAllowed, NotStixel, OtherVersion, Busy, LibraryError.
    """
    if not isinstance(instance, str):
        raise TypeError("the name of an instance is text, not %s" % type(instance).__name__)
    if instance.startswith("zenoh:"):
        if stream or leftover or any_owner:
            raise NotSupported(errno.ENOTSUP, "%s: stream, leftover and any_owner are for this machine" % instance)
        from ._zenoh import open_zenoh  # imported here, because readers of this machine do not need it
        return open_zenoh(instance, follow, images, user, password, _text(ca), _text(config))
    if (user, password, ca, config) != (None, None, None, None):
        raise ValueError("user, password, ca and config are for other machines: zenoh:PROTOCOL/ADDRESS/INSTANCE")
    lib = library()
    if "\0" in instance:
        raise BadName(errno.EINVAL, "instance %r: a name has no zero byte" % (instance,))
    return RingReader(lib, lib.open, "instance %r" % instance, instance, _flags(follow, stream, leftover, any_owner),
                  wish(images))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False  # the library reports the reason


def open_path(path: PathLike, follow: bool = False, stream: bool = False, images: Iterable[str] = (), *,
              leftover: bool = False, any_owner: bool = False) -> Reader:
    """Opens a ring object at another path, or with stream=True a socket. The other arguments are as for open()."""
    lib = library()
    where = os.fspath(path)
    if "\0" in where:
        raise BadName(errno.EINVAL, "%r: a path has no zero byte" % (where,))
    if not stream and _is_socket(where):
        raise NotStixel(errno.EPROTO, "%s is a socket, not a ring: open it with stream=True" % where)
    return RingReader(lib, lib.open_path, where, where, _flags(follow, stream, leftover, any_owner), wish(images))
