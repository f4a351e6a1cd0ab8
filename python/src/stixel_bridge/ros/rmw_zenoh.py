"""How rmw_zenoh says ROS 2 over zenoh: keys, liveliness tokens, what is attached to a message. Knows no zenoh.

From the public sources of ros2/rmw_zenoh: its design document (formats; its examples: tests/bridge/rmw_zenoh.txt),
qos.cpp (what a token leaves out because it is the default), liveliness_utils.cpp (a gid is the hash of its token).
This is what Humble has from 0.1.2 on, Jazzy from 0.2.4 and Kilted from 0.6.0, the first of each in which an attachment
has no labels; Humble has HUMBLE_HASH where the others have the hash of a type.

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
    """A topic as a token names it."""

    kind: str  #: PUBLISHER, SUBSCRIPTION, ...
    name: str  #: with its slash in front
    type: str  #: as dds_type() has it
    hash: str


class Node(NamedTuple):
    """A node of one session: from it, the tokens of all that it has."""

    domain: int
    session: str  #: the session's id as zenoh prints it
    namespace: str  #: "" or /NAME...
    name: str

    def token(self, kind: str = NODE, entity: int = 0) -> str:
        """Of the node itself: number 0 of the session's entities."""
        return "/".join([SPACE, str(self.domain), self.session, "0", str(entity), kind, "%", _mangled(
            self.namespace or "/"), self.name])

    def publisher(self, entity: int, name: str, topic: Topic, type_hash: str) -> str:
        """Of a publisher of the topic that is called name here; entity: its number, from 1 on."""
        return "/".join([self.token(PUBLISHER, entity), _mangled(name), dds_type(topic.type), type_hash, qos(topic)])


def _mangled(name: str) -> str:
    return name.replace("/", "%")


def qos(topic: Topic) -> str:
    """Reliability:durability:history,depth:deadline:lifespan:liveliness,lease; what is the default is left out."""
    reliability = "" if topic.reliable else "2"
    durability = "1" if topic.transient_local else ""
    depth = "" if topic.depth == DEPTH_DEFAULT else str(topic.depth)
    return "%s:%s:,%s:,:,:,," % (reliability, durability, depth)


def key(domain: int, name: str, kind: str, type_hash: str) -> str:
    """Where the messages of a topic go."""
    return "%d/%s/%s/%s" % (domain, name.strip("/"), dds_type(kind), type_hash)


def of_token(token: str) -> Optional[Seen]:
    """The topic of a token; None: it is of a node, or none of ours to understand."""
    parts = token.split("/")
    if len(parts) < 13 or parts[0] != SPACE or not all(parts):
        return None
    return Seen(parts[5], parts[9].replace("%", "/"), parts[10], parts[11])


def gid(token: str) -> bytes:
    """The 16 bytes by which nodes know the entity of a token: its XXH3 of 128 bits, lowest byte first."""
    import xxhash
    return xxhash.xxh3_128_intdigest(token.encode()).to_bytes(16, "little")


def attachment(number: int, sent_ns: int, sender: bytes) -> bytes:
    """What goes with a message; number: counted by its publisher from 1; sent_ns: wall clock; sender: its gid."""
    return struct.pack("<qqB16s", number, sent_ns, len(sender), sender)
