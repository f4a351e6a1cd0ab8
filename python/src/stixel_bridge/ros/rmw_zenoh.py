"""Forms keys, liveliness tokens and attachments as rmw_zenoh does for ROS 2. This module does not use zenoh.

The formats are from the public sources of ros2/rmw_zenoh: its design document (formats; its examples are in
tests/bridge/rmw_zenoh.txt), qos.cpp (a token leaves out defaults), liveliness_utils.cpp (a gid is the hash of its
token). They hold for Humble from 0.1.2 on, Jazzy from 0.2.4 and Kilted from 0.6.0, the first versions whose attachments
have no labels. Humble has HUMBLE_HASH where the others have the hash of a type.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import struct
from typing import NamedTuple, Optional

from .graph import dds_type
from .topics import Topic

SPACE = "@ros2_lv"
NODE = "NN"
PUBLISHER = "MP"
SUBSCRIPTION = "MS"
DEPTH_DEFAULT = 42


class Seen(NamedTuple):
    """The topic in a token."""

    kind: str  #: PUBLISHER, SUBSCRIPTION, ...
    name: str  #: with a leading slash
    type: str  #: in the form of dds_type()
    hash: str


class Node(NamedTuple):
    """A node of one session. Its methods make the tokens of the node, its publishers and its subscriptions."""

    domain: int
    session: str  #: id of the session as zenoh prints it
    namespace: str  #: "" or /NAME...
    name: str

    def token(self, kind: str = NODE, entity: int = 0) -> str:
        """Makes a token; without arguments, that of the node itself, which is number 0 of the session's entities."""
        return "/".join([SPACE, str(self.domain), self.session, "0", str(entity), kind, "%", _mangled(
            self.namespace or "/"), self.name])

    def publisher(self, entity: int, name: str, topic: Topic, type_hash: str) -> str:
        """Makes the token of a publisher of topic under this name; entity: number among the session's, from 1 on."""
        return self._of(PUBLISHER, entity, name, topic, type_hash)

    def subscription(self, entity: int, name: str, topic: Topic, type_hash: str) -> str:
        """Makes the token of a subscription, with the arguments of publisher()."""
        return self._of(SUBSCRIPTION, entity, name, topic, type_hash)

    def _of(self, kind: str, entity: int, name: str, topic: Topic, type_hash: str) -> str:
        return "/".join([self.token(kind, entity), _mangled(name), dds_type(topic.type), type_hash, qos(topic)])


def _mangled(name: str) -> str:
    return name.replace("/", "%")


def qos(topic: Topic) -> str:
    """Formats reliability:durability:history,depth:deadline:lifespan:liveliness,lease. Defaults are left out."""
    reliability = "" if topic.reliable else "2"
    durability = "1" if topic.transient_local else ""
    depth = "" if topic.depth == DEPTH_DEFAULT else str(topic.depth)
    return "%s:%s:,%s:,:,:,," % (reliability, durability, depth)


def key(domain: int, name: str, kind: str, type_hash: str) -> str:
    """Returns the key under which the messages of a topic are sent."""
    return "%d/%s/%s/%s" % (domain, name.strip("/"), dds_type(kind), type_hash)


def of_token(token: str) -> Optional[Seen]:
    """Returns the topic of a token; None: the token is of a node, or this module does not know it."""
    parts = token.split("/")
    if len(parts) < 13 or parts[0] != SPACE or not all(parts):
        return None
    return Seen(parts[5], parts[9].replace("%", "/"), parts[10], parts[11])


def gid(token: str) -> bytes:
    """Returns the 16 bytes that identify the entity of a token to nodes: its 128-bit XXH3, lowest byte first."""
    import xxhash
    return xxhash.xxh3_128_intdigest(token.encode()).to_bytes(16, "little")


def attachment(number: int, sent_ns: int, sender: bytes) -> bytes:
    """Makes the attachment of a message.

    number: counted by the publisher from 1. sent_ns: wall clock. sender: gid of the publisher.
    """
    return struct.pack("<qqB16s", number, sent_ns, len(sender), sender)
