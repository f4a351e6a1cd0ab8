"""A domain of DDS in this process, which its sinks and inputs share.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ipaddress
import threading
import weakref
from typing import Any, Callable, Mapping, Optional, Sequence
from xml.sax.saxutils import quoteattr

from ..fail import SinkError, sentence
from ..options import Option

LOOPBACK = "127.0.0.1"
INDEX_MOST = 32  # participants of a machine that unicast discovery finds; value of rmw_cyclonedds
_MULTICAST = {"yes": "true", "discovery": "spdp", "no": "false"}

OPTIONS: Sequence[Option] = [
    Option("interface", "text", "lo", "network interface, by name or address; lo: only this machine; auto: "
           "Cyclone DDS chooses"),
    Option("peers", "list", [], "machines that discovery also asks by unicast, because multicast does not reach "
           "them"),
    Option("multicast", "choice", "yes", "yes: discovery by multicast, data by unicast; no: discovery finds only "
           "peers", choices=tuple(_MULTICAST)),
    Option("configuration", "file", None, "configuration file of Cyclone DDS (XML), instead of interface, peers "
           "and multicast"),
]


def configuration(options: Mapping[str, Any]) -> str:
    """Returns the configuration of Cyclone DDS, as XML."""
    interface = options["interface"]
    peers = list(options["peers"])
    if interface in ("lo", "localhost", LOOPBACK):
        interface = LOOPBACK
        peers.append(LOOPBACK)  # versions before 11 do not use lo for multicast
    try:
        where = "address=" + quoteattr(str(ipaddress.ip_address(interface)))
    except ValueError:
        where = 'autodetermine="true"' if interface == "auto" else "name=" + quoteattr(interface)
    return (
        "<CycloneDDS><Domain Id=\"%d\"><General><Interfaces><NetworkInterface %s/></Interfaces>"
        "<AllowMulticast>%s</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
        "<MaxAutoParticipantIndex>%d</MaxAutoParticipantIndex><Peers>%s</Peers></Discovery></Domain></CycloneDDS>" % (
            options["domain"], where, _MULTICAST[options["multicast"]], INDEX_MOST,
            "".join("<Peer address=%s/>" % quoteattr(peer) for peer in peers)))


class _Domain:
    """An open domain. Closed when the last participant forgets it."""

    def __init__(self, number: int, uri: str) -> None:
        from cyclonedds.domain import Domain
        self.uri = uri
        self.sink: Callable[[], Optional[Participant]] = lambda: None  #: returns the sink's participant
        self._entity = Domain(number, uri)


_lock = threading.Lock()
_open: "weakref.WeakValueDictionary[int, _Domain]" = weakref.WeakValueDictionary()


class Participant:
    """A participant in the domain of the options. sink: a sink uses it; a domain has one sink. Raises SinkError."""

    def __init__(self, options: Mapping[str, Any], sink: bool, *policies: Any) -> None:
        from cyclonedds.core import DDSException, Qos
        from cyclonedds.domain import DomainParticipant
        number, path = options["domain"], options["configuration"]
        uri = "file://" + path if path else configuration(options)
        try:
            with _lock:
                domain = _open.get(number)
                if domain is None:
                    domain = _open[number] = _Domain(number, uri)
            if domain.uri != uri:
                raise SinkError("domain %d of DDS is open with another interface, peers, multicast or configuration: "
                                "a process has one set for a domain" % number)
            if sink and domain.sink() is not None:
                raise SinkError("domain %d of DDS cannot be opened: another sink has the domain" % number)
            self._domain: Optional[_Domain] = domain
            self.entity: Any = DomainParticipant(number, Qos(*policies))
            if sink:
                domain.sink = weakref.ref(self)
        except (DDSException, UnicodeError) as e:
            raise SinkError("domain %d of DDS on %s cannot be opened: no such interface, or another sink has the "
                            "domain (%s)" % (number, path or options["interface"], sentence(e))) from None

    def close(self) -> None:
        """Ends the participant, and the domain if it was the last one."""
        self.entity = None
        self._domain = None
