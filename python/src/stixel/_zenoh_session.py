"""A zenoh session as readers and stixel-bridge make it: what zenoh is told, and its errors in one sentence.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import errno
import importlib
import json
import os
import re
import socket
from typing import Any, Dict, Mapping, Optional, Sequence

from ._errors import LibraryError, NotAllowed, NotRunning, StixelError

ROOT = "stixeld"  #: first part of every key
IMAGE_KEYS = ("left", "right", "disparity")
_MESSAGE_MOST = 64 << 20
_PROBE_S = 2.0
# Multicast finds, and is found by, whoever is in the network; shared memory wants /dev/shm, which a service has not.
_DEFAULTS = {"scouting/multicast/enabled": False, "transport/shared_memory/enabled": False,
             "transport/link/rx/max_message_size": _MESSAGE_MOST,
             "connect/retry": {"period_init_ms": 500, "period_max_ms": 2000, "period_increase_factor": 1.5}}


def package() -> Any:
    """The package eclipse-zenoh; LibraryError with what to install."""
    try:
        return importlib.import_module("zenoh")
    except ImportError as e:
        raise LibraryError(errno.ELIBACC, "the Python package eclipse-zenoh cannot be imported (%s): "
                           "pip install eclipse-zenoh" % e) from None


def sentence(error: BaseException) -> str:
    """An error of zenoh without the places in its source."""
    text = re.sub(r"\s*\bat /\S+?\.rs:\d+\.?", "", str(error))
    text = re.sub(r"\[?Single\(([^()]*)\)\]?", r"\1", text)
    text = " ".join(text.split()).strip("! ")
    return "".join(c if c.isprintable() else "?" for c in text)[:300] or type(error).__name__


def configuration(values: Mapping[str, Any], file: Optional[str] = None) -> Any:
    """A configuration: of a file of zenoh's (JSON5), or its defaults; then ours; then values by zenoh's keys, "a/b".

    ValueError, naming the file or the key.
    """
    zenoh = package()
    try:
        config = zenoh.Config.from_file(file) if file else zenoh.Config()
    except zenoh.ZError as e:
        raise ValueError("%s: no configuration of zenoh: %s" % (file, sentence(e))) from None
    ours: Dict[str, Any] = dict(_DEFAULTS)
    if file and json.loads(config.get_json("scouting/multicast/enabled")) is not None:
        del ours["scouting/multicast/enabled"]
    ours.update(values)
    for key, value in ours.items():
        try:
            config.insert_json5(key, json.dumps(value))
        except zenoh.ZError as e:
            raise ValueError("%s of zenoh cannot be %r: %s" % (key, value, sentence(e))) from None
    return config


def secret(path: str) -> str:
    """The password that is the first line of a file. ValueError: others may read it, or there is none."""
    try:
        with open(path, encoding="utf-8") as f:
            if os.fstat(f.fileno()).st_mode & 0o077:
                raise ValueError("%s: others may read it: chmod 600 %s" % (path, path))
            text = f.readline(4096).rstrip("\r\n")
    except OSError as e:
        raise ValueError("%s: cannot be read: %s" % (path, e.strerror)) from None
    except UnicodeDecodeError:
        raise ValueError("%s: is no text" % path) from None
    if not text:
        raise ValueError("%s: is empty, or its first line is" % path)
    return text


def _answers(endpoint: str) -> Optional[bool]:
    """Whether something takes connections at an endpoint of TCP; None: another protocol."""
    protocol, _, address = endpoint.partition("/")
    host, _, port = re.split("[?#]", address)[0].rpartition(":")
    if protocol not in ("tcp", "tls", "ws") or not port.isdigit():
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PROBE_S).close()
    except (OSError, OverflowError):
        return False
    return True


def opened(config: Any, endpoints: Sequence[str]) -> Any:
    """An open session. NotAllowed: somebody is there who lets us not in; NotRunning: nobody is; else StixelError."""
    zenoh = package()
    where = ", ".join(endpoints)
    # asked first, since zenoh says the same of both, and has no bound for a machine that is off
    answers = [_answers(endpoint) for endpoint in endpoints]
    if endpoints and not any(answer is not False for answer in answers):
        raise NotRunning(errno.ENOENT, "%s: nobody answers" % where)
    try:
        return zenoh.open(config)
    except zenoh.ZError as e:
        text = sentence(e)
    if not text.startswith("Unable to connect"):
        raise StixelError(errno.EIO, "zenoh: %s" % text)
    if any(answers):
        raise NotAllowed(errno.EACCES, "%s answers, but lets us not in: wrong user or password, certificates that do "
                         "not fit, or something else than zenoh" % where)
    raise NotRunning(errno.ENOENT, "%s: %s" % (where, text))
