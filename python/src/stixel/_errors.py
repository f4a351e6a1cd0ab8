"""Exceptions by cause. Each carries the library's errno and a sentence.

SPDX-License-Identifier: Apache-2.0
"""
import errno
from typing import Dict, Type


class StixelError(OSError):
    """Any error of a publisher or its frames. Carries errno and a sentence, which str() returns."""

    def __str__(self) -> str:
        return self.strerror or super().__str__()


class LibraryError(StixelError):
    """libstixel cannot be used: it is missing, or too old for this module."""


class BadName(StixelError, ValueError):
    """This is not a valid name of an instance: [A-Za-z0-9_.-], 1 to 64 characters, no leading dot."""


class NotRunning(StixelError, FileNotFoundError):
    """There is no publisher of this name."""


class NotAllowed(StixelError, PermissionError):
    """This process may not read the frames, or they belong to a user who is not trusted."""


class NotStixel(StixelError):
    """The object is no ring or socket of stixeld, or it is damaged."""


class OtherVersion(StixelError):
    """The publisher has another major version of the layout, or another byte order."""


class Damaged(StixelError, ValueError):
    """A frame was damaged (sizes, order, checksum). The reader has skipped it and may go on."""


class Restarted(StixelError):
    """A newer publisher has taken the name: reopen(), or open with follow=True."""


class Ended(StixelError, EOFError):
    """The publisher ended, and all its frames were read."""


class Died(Ended):
    """The publisher is dead and had not announced its end."""


class NotConnected(StixelError):
    """There is no frame socket at the moment: no publisher, or a publisher without one (output.stream = no)."""


class NotSupported(StixelError):
    """This way of reading does not support the request."""


class Refused(StixelError, ConnectionRefusedError):
    """The daemon does not accept this writer of pairs. The sentence is the daemon's."""


class Busy(StixelError):
    """The publisher already has the maximum number of clients."""


CLASSES: Dict[int, Type[StixelError]] = {
    errno.EINVAL: BadName,
    errno.ENOENT: NotRunning,
    errno.EACCES: NotAllowed,
    errno.EPERM: NotAllowed,
    errno.EPROTO: NotStixel,
    errno.EPROTONOSUPPORT: OtherVersion,
    errno.EBADMSG: Damaged,
    errno.ESTALE: Restarted,
    errno.EPIPE: Ended,
    errno.ENOTCONN: NotConnected,
    errno.ENOTSUP: NotSupported,
    errno.EAGAIN: Busy,
    errno.ECONNREFUSED: Refused,
}


def error_of(code: int, sentence: str) -> StixelError:
    """Returns the exception for a negative errno value."""
    return CLASSES.get(-code, StixelError)(-code, sentence)
