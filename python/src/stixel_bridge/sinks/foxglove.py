"""Sends the topics of `stixelctl export` live to Foxglove: a WebSocket server (foxglove.sdk.v1).

The code that needs foreign packages is in foxglove_service.py.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Mapping, Optional, Sequence

from stixel._errors import StixelError
from stixel._layout import MessageKind

from ..fail import SinkError
from ..options import Option, together
from ..sink import NO_IMAGES, Instance, Report, Work
from ..sink import Sink as Base

if TYPE_CHECKING:
    from .foxglove_service import Service


TOPICS = tuple(kind.name.lower() for kind in MessageKind)


class Sink(Base):
    """A server for all instances, with their topics below /INSTANCE/."""

    OPTIONS = [
        Option("host", "text", "127.0.0.1", "address to listen on; everyone who can reach it sees everything"),
        Option("port", "integer", 8765, "TCP port; 0: any free port", 0, 65535),
        Option("certificate", "file", None, "TLS: certificate chain, PEM; then clients use wss://"),
        Option("key", "file", None, "TLS: private key, PEM (PKCS #8)"),
        Option("topics", "list", [name for name in TOPICS if name != "stixel"],
               "topics that the sink offers, below /INSTANCE/; stixel: the frame's bytes, which Foxglove cannot show",
               choices=TOPICS),
        Option("backlog", "integer", 64, "number of messages that wait for a slow client; then the oldest are dropped",
               8, 4096),
        Option("clients", "integer", 8, "largest number of connections; further ones are refused", 1, 256),
        Option("budget_mb", "integer", 256,
               "memory for messages that wait for all clients, MB; if it is full, images are left out until slow "
               "clients have caught up",
               16, 65536),
    ]
    PACKAGES = ("foxglove",)
    HELP = "WebSocket server for Foxglove: the topics of stixelctl export, live"

    def __init__(self, name: str, options: Mapping[str, Any], host: str, instances: Sequence[Instance]) -> None:
        super().__init__(name, options, host, instances)
        together(options, ("certificate", "key"))
        self._service: Optional[Service] = None  # kept after the first open()

    @property
    def port(self) -> int:
        """Port on which the server listens; 0: it does not listen."""
        return self._service.port if self._service else 0

    def _read(self, option: str) -> Optional[bytes]:
        path = self.options[option]
        if not path:
            return None
        try:
            with open(path, "rb") as f:
                if option == "key" and os.fstat(f.fileno()).st_mode & 0o077:
                    raise SinkError("key %s: others may read it: chmod 600 %s" % (path, path))
                return f.read()
        except OSError as e:
            raise SinkError("%s %s cannot be read: %s" % (option, path, e.strerror)) from None

    def exclusive(self) -> str:
        return "port %(port)d of %(host)s" % self.options if self.options["port"] else ""

    def open(self) -> None:
        from .foxglove_service import Service
        certificate, key = self._read("certificate"), self._read("key")
        if not self._service:
            try:
                self._service = Service(self.options, self.host, self.instances)
            except StixelError as e:
                raise SinkError(str(e)) from None
        self._service.start(certificate, key)

    def send(self, work: Work) -> int:
        assert self._service
        return self._service.send(work)

    def report(self, report: Report) -> int:
        if self._service:
            self._service.report(report)
        return 0

    def images(self, instance: Instance) -> FrozenSet[str]:
        return self._service.images(instance.name) if self._service else NO_IMAGES

    def figures(self) -> Dict[str, float]:
        return self._service.figures() if self._service else {}

    def close(self) -> None:
        if self._service:
            self._service.stop()
