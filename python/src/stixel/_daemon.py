"""Queries a daemon at its status socket.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import http.client
import os
import socket
from typing import Optional, Tuple

from ._library import places

BODY_MOST = 16 << 20


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask_path(path: str, target: str, timeout: float = 1.0) -> Tuple[int, bytes]:
    """Sends GET target to a Unix socket. Returns the HTTP code and the body. Raises OSError."""
    connection = _Connection(path, timeout)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read(BODY_MOST)
    except http.client.HTTPException as e:
        raise OSError("%s: %s" % (path, e or type(e).__name__)) from None
    finally:
        connection.close()


def ask(instance: str, target: str, timeout: float = 1.0) -> Optional[Tuple[int, bytes]]:
    """Queries an instance in the first runtime directory in which it answers; None: no answer."""
    for folder in places("stixeld"):
        try:
            return ask_path(os.path.join(folder, instance, "status.sock"), target, timeout)
        except OSError:
            continue
    return None
