"""What a server in this process has of connections, where the package that serves says nothing of them.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
import socket
from typing import Dict, List, Set, Tuple

ESTABLISHED = "01"  # of /proc/net/tcp


def unsent(port: int) -> Dict[str, int]:
    """Bytes that wait in the kernel, by the peer, of each connection of a server on this port; none without /proc."""
    found: Dict[str, int] = {}
    for table in ("tcp", "tcp6"):
        try:
            with open("/proc/self/net/" + table, encoding="ascii") as f:
                rows = [line.split() for line in f]
        except OSError:
            continue
        found.update({row[2]: int(row[4].split(":")[0], 16) for row in rows[1:]
                      if row[3] == ESTABLISHED and int(row[1].rpartition(":")[2], 16) == port})
    return found


def _sockets(port: int) -> List[Tuple[Tuple[str, int], socket.socket]]:
    """Duplicates of the connections of a server on this port, by the peer. A descriptor may become another file's at
    any time: what is looked at and returned is the duplicate."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            number = os.dup(int(name))
        except OSError:  # closed meanwhile
            continue
        try:
            s = socket.socket(fileno=number)
        except OSError:  # no socket
            os.close(number)
            continue
        try:
            if s.family in (socket.AF_INET, socket.AF_INET6) and s.getsockname()[1] == port:
                found.append((s.getpeername()[:2], s))
                continue
        except OSError:  # it listens, or has ended
            pass
        s.close()
    return found


class Limit:
    """So many connections at most: those who came last are ended."""

    def __init__(self, most: int) -> None:
        self.ended = 0  #: connections
        self._most = most
        self._known: List[Tuple[str, int]] = []  # peers, who came first first
        self._going: Set[Tuple[str, int]] = set()  # of them, whose connection was ended

    def keep(self, port: int) -> None:
        """Ends those that are too many, of a server on this port."""
        found = _sockets(port)
        peers = {peer for peer, _ in found}
        known = [peer for peer in self._known if peer in peers] + [peer for peer, _ in found]
        self._known = list(dict.fromkeys(known))  # each once: a server may have several descriptors of one
        self._going &= peers
        too_many = set([peer for peer in self._known if peer not in self._going][self._most:])
        for peer, s in found:
            if peer in too_many:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:  # it has ended by itself
                    pass
            s.close()
        self.ended += len(too_many)
        self._going |= too_many
