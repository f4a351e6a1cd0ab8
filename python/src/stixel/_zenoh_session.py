"""Configures and opens a zenoh session for readers and stixel-bridge, and puts its errors into one sentence.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import errno
import importlib
import itertools
import json
import os
import re
import socket
from typing import Any, Dict, List, Mapping, Optional

from ._errors import LibraryError, NotAllowed, NotRunning, StixelError

ROOT = "stixeld"  #: first part of every key
IMAGE_KEYS = ("left", "right", "disparity")
_MESSAGE_MOST = 64 << 20
_PROBE_S = 2.0
# Multicast finds, and is found by, every zenoh program in the network. Shared memory needs /dev/shm, which a service
# does not have.
_DEFAULTS = {"scouting/multicast/enabled": False, "transport/shared_memory/enabled": False,
             "transport/link/rx/max_message_size": _MESSAGE_MOST,
             "connect/retry": {"period_init_ms": 500, "period_max_ms": 2000, "period_increase_factor": 1.5}}


def package() -> Any:
    """Returns the package eclipse-zenoh. LibraryError says what to install."""
    try:
        return importlib.import_module("zenoh")
    except ImportError as e:
        raise LibraryError(errno.ELIBACC, "the Python package eclipse-zenoh cannot be imported (%s): "
                           "pip install eclipse-zenoh" % e) from None


def sentence(error: BaseException) -> str:
    """Returns the text of an error of zenoh without the places in its source."""
    text = re.sub(r"\s*\bat /\S+?\.rs:\d+\.?", "", str(error))
    text = re.sub(r"\[?Single\(([^()]*)\)\]?", r"\1", text)
    text = " ".join(text.split()).strip("! ")
    return "".join(c if c.isprintable() else "?" for c in text)[:300] or type(error).__name__


def configuration(values: Mapping[str, Any], file: Optional[str] = None) -> Any:
    """Makes a configuration from zenoh's defaults or a zenoh file (JSON5), then our defaults, then values (keys "a/b").

    ValueError names the file or the key.
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
    """Reads the password from the first line of a file.

    Raises ValueError if other users may read the file, or it has no password.
    """
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
    """Returns whether a program accepts connections at a TCP endpoint; None: another protocol."""
    protocol, _, address = endpoint.partition("/")
    host, _, port = re.split("[?#]", address)[0].rpartition(":")
    if protocol not in ("tcp", "tls", "ws") or not port.isdigit():
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PROBE_S).close()
    except (OSError, OverflowError):
        return False
    return True


def _endpoints(config: Any) -> List[str]:
    """Returns the endpoints to which the session connects, whatever its mode."""
    found: Any = json.loads(config.get_json("connect/endpoints")) or []
    if isinstance(found, dict):  # a list for each mode
        found = itertools.chain.from_iterable(found.values())
    return [str(endpoint) for endpoint in found]


def opened(config: Any) -> Any:
    """Opens a session. NotAllowed: the peer refuses us; NotRunning: there is no peer; else StixelError."""
    zenoh = package()
    endpoints = _endpoints(config)
    where = ", ".join(endpoints) or "zenoh"
    # probed first, because zenoh reports both errors alike, and has no timeout for a machine that is off
    answers = [_answers(endpoint) for endpoint in endpoints]
    if endpoints and not any(answer is not False for answer in answers):
        raise NotRunning(errno.ENOENT, "%s: no answer" % where)
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
