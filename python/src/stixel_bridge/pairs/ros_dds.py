"""Receives topics of ROS 2 nodes with rmw_cyclonedds or rmw_fastrtps: topics rt/..., read with Cyclone DDS.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ..fail import SinkError, sentence
from ..options import Option
from ..ros import domain, graph, topics as known
from ..ros.dds_raw import Reader, Types
from . import topics

WAIT_MS = 100  # longest wait of the thread that takes messages
DEPTH = 5


class Input(topics.Input):
    """Reads each topic with one DDS reader, and takes what comes with one thread."""

    OPTIONS = [
        *(option for option in graph.OPTIONS if option.name == "domain"),
        Option("reliable", "switch", False, "ask the camera's node for lost parts again; a node that sends best effort "
               "is then not received"),
        *domain.OPTIONS,
    ]
    PACKAGES = ("cyclonedds", "rosbags")
    HELP = "topics of nodes with rmw_cyclonedds or rmw_fastrtps"

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, options)
        self._types = Types(known.definition)
        self._participant: Any = None
        self._readers: List[Tuple[str, Reader]] = []
        self._taking: Optional[threading.Thread] = None
        self._end = threading.Event()
        self._failed = ""  # why the thread has ended
        self._figures: Dict[str, float] = {}

    def open(self, put: Callable[[str, bytes], None]) -> None:
        from cyclonedds.core import DDSException, Policy
        self._participant = domain.Participant(self.options, False, Policy.Userdata(b"enclave=/;"))
        entity = self._participant.entity
        try:
            for name, kind in self.topics().items():
                topic = self._types.topic(entity, "rt" + name, kind)
                self._readers.append((name, Reader(entity, topic, self._qos())))
        except DDSException as e:
            raise SinkError("domain %d of DDS: %s" % (self.options["domain"], sentence(e))) from None
        self._failed = ""
        self._end.clear()
        self._taking = threading.Thread(target=self._take, args=(put,), name="DDS of " + self.name, daemon=True)
        self._taking.start()

    def _qos(self) -> Any:
        from cyclonedds.core import Policy, Qos
        return Qos(Policy.Reliability.Reliable(0) if self.options["reliable"] else Policy.Reliability.BestEffort,
                   Policy.Durability.Volatile, Policy.History.KeepLast(DEPTH),
                   Policy.DataRepresentation(use_cdrv0_representation=True))

    def _take(self, put: Callable[[str, bytes], None]) -> None:
        """Passes received messages to put(). Runs in a thread that open() starts."""
        from cyclonedds.core import DDSException, ReadCondition, WaitSet
        from cyclonedds.core import InstanceState, SampleState, ViewState
        from cyclonedds.util import duration
        try:
            wait = WaitSet(self._participant.entity)
            conditions = [ReadCondition(reader.reader, SampleState.Any | ViewState.Any | InstanceState.Any)
                          for _, reader in self._readers]
            for condition in conditions:
                wait.attach(condition)
            while not self._end.is_set():
                if not wait.wait(duration(milliseconds=WAIT_MS)):
                    continue
                for name, reader in self._readers:
                    message = reader.take()
                    while message is not None and not self._end.is_set():
                        put(name, message)
                        message = reader.take()
        except DDSException as e:
            self._failed = sentence(e)

    def look(self) -> None:
        if self._failed:
            raise SinkError("domain %d of DDS: %s" % (self.options["domain"], self._failed))
        self._figures = {"publishers": float(sum(reader.writers() for _, reader in self._readers))}

    def figures(self) -> Dict[str, float]:
        return self._figures

    def close(self) -> None:
        self._end.set()
        if self._taking is not None:
            self._taking.join(1.0)
        self._taking, self._figures = None, {}
        self._readers = []
        if self._participant is not None:
            self._participant.close()
        self._participant = None
