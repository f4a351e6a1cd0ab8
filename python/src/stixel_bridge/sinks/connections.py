"""Inspects and limits the connections of a server in this process, when the server's package has no functions for that.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
import socket
from typing import Dict, List, Set, Tuple

ESTABLISHED = "01"  # state in /proc/net/tcp


def unsent(port: int) -> Dict[str, int]:
    """Returns the unsent bytes in the kernel of each connection to this port, by peer. Empty without /proc."""
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
    """Returns duplicates of the connections of a server on this port, by peer.

    A descriptor may become that of another file at any time, so this function inspects and returns duplicates.
    """
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            number = os.dup(int(name))
        except OSError:  # closed meanwhile
            continue
        try:
            s = socket.socket(fileno=number)
        except OSError:  # the descriptor is not a socket
            os.close(number)
            continue
        try:
            if s.family in (socket.AF_INET, socket.AF_INET6) and s.getsockname()[1] == port:
                found.append((s.getpeername()[:2], s))
                continue
        except OSError:  # a listening socket, or a connection that has ended
            pass
        s.close()
    return found


class Limit:
    """Limits the number of connections. The newest ones beyond the limit are ended."""

    def __init__(self, most: int) -> None:
        self.ended = 0  #: connections ended
        self._most = most
        self._known: List[Tuple[str, int]] = []  # peers, the oldest connection first
        self._going: Set[Tuple[str, int]] = set()  # peers whose connection was ended and still exists

    def keep(self, port: int) -> None:
        """Ends the connections beyond the limit of a server on this port."""
        found = _sockets(port)
        peers = {peer for peer, _ in found}
        known = [peer for peer in self._known if peer in peers] + [peer for peer, _ in found]
        self._known = list(dict.fromkeys(known))  # each once: a server may have several descriptors of one connection
        self._going &= peers
        too_many = set([peer for peer in self._known if peer not in self._going][self._most:])
        for peer, s in found:
            if peer in too_many:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:  # the connection has ended already
                    pass
            s.close()
        self.ended += len(too_many)
        self._going |= too_many
