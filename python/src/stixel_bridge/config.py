"""Reads the configuration file: sections, ranges of their keys, and errors with file and line.

The syntax is that of stixeld.conf(5): [section], key = value. A comment begins with # or ; at the start of a line, or
with " ;" behind a value.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import difflib
import socket
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

from . import pairs, sinks
from .fail import CONFIG, Fail
from .options import NAME, Option, find, parse
from .pairs.topics import LIVE, Input
from .sink import Sink

LINE_MOST = 1024
SIZE_MOST = 1 << 20

BRIDGE = [
    Option("name", "name", "default", "name of this bridge, for its status socket and its metrics"),
    Option("host", "name", None, "name of this machine in keys and messages; default: the host name"),
]
INSTANCE = [
    Option("frame_prefix", "text", None, "prefix of ROS frame ids, such as PREFIX_link; default: the instance's name"),
    Option("x_m", "number", 0.0, "position of the left camera in the vehicle's frame: forward of base_link", -100, 100,
           unit="m"),
    Option("y_m", "number", 0.0, "position of the left camera: to the left of base_link", -100, 100, unit="m"),
    Option("z_m", "number", None, "position of the left camera: above base_link, which lies on the road; default: "
           "measured height",
           -100, 100, unit="m"),
    Option("yaw_deg", "number", 0.0, "direction of the camera: 0 forward, 90 to the left", -180, 180, unit="degrees"),
    Option("pitch_deg", "number", None, "angle by which the camera looks down; default: measured",
           -90, 90, unit="degrees"),
    Option("roll_deg", "number", None, "roll of the camera, positive if its right side is lower; default: measured",
           -90, 90,
           unit="degrees"),
    Option("colour_near_m", "number", 0.0, "nearest distance of the colours; 0: from the objects of the scene",
           0, 10000, unit="m"),
    Option("colour_far_m", "number", 0.0, "farthest distance of the colours; 0: from the objects of the scene",
           0, 10000, unit="m"),
]
RIG = [
    Option("instances", "list", None, "instances whose frames are merged into one scan and one cloud in the vehicle's "
           "frame"),
    Option("window_ms", "number", 50.0, "frames captured within this time are merged", 1, 1000, unit="ms"),
    Option("unseen_m", "number", 5.0, "scan: space nearer than this that no camera sees does not make a ray unseen",
           0, 100, unit="m"),
]
COMMON = [
    Option("kind", "choice", None, "kind of the sink", choices=tuple(sinks.KINDS)),
    Option("instances", "list", [], "instances that the sink gets; default: all instances of the file"),
    Option("queue", "integer", 1, "number of frames per instance that wait while the sink sends; older frames are "
           "dropped", 1, 64),
    Option("rate_hz", "number", 0.0, "largest number of frames per second and instance; 0: all frames",
           0, 1000, unit="Hz"),
]
PAIRS = [Option("kind", "choice", None, "kind of the input", choices=tuple(pairs.KINDS)), *LIVE]
_HEADS = ("bridge", "instance NAME", "rig NAME", "sink NAME", "pairs NAME")


class SinkConfig(NamedTuple):
    name: str
    where: str  #: "FILE:LINE" of the section
    maker: Type[Sink]
    options: Mapping[str, Any]  #: options of COMMON and of the sink's kind


class PairsConfig(NamedTuple):
    name: str
    where: str  #: "FILE:LINE" of the section
    maker: Type[Input]
    options: Mapping[str, Any]  #: options of PAIRS and of the input's kind


class Config(NamedTuple):
    bridge: Mapping[str, Any]
    instances: Mapping[str, Mapping[str, Any]]  #: by name, in the file's order
    rigs: Mapping[str, Mapping[str, Any]]
    sinks: Sequence[SinkConfig]
    pairs: Sequence[PairsConfig] = ()


class _Section:
    def __init__(self, kind: str, name: str, line: int) -> None:
        self.kind, self.name, self.line = kind, name, line
        self.keys: Dict[str, Tuple[int, str]] = {}


class _File:
    """A file that is being read. All its errors are reported at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: List[Tuple[int, str]] = []

    def fault(self, line: int, text: str) -> None:
        self.faults.append((line, text))

    def end(self) -> None:
        if self.faults:
            raise Fail(CONFIG, "\n".join("%s:%d: %s" % (self.path, *fault) for fault in sorted(self.faults)[:20]))


def _guess(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return " (do you mean '%s'?)" % near[0] if near else "; there are " + ", ".join(known)


def _section(file: _File, number: int, line: str, earlier: List[_Section]) -> Optional[_Section]:
    head, closed, behind = line[1:].partition("]")
    behind = behind.strip()
    if not closed or (behind and behind[0] not in "#;"):
        file.fault(number, "'%s' is not a section: %s or [%s]" % (
            line[:80], ", ".join("[%s]" % head for head in _HEADS[:-1]), _HEADS[-1]))
        return None
    words = head.split()
    kind, name = (words + [""])[0] if words else "", " ".join(words[1:])
    if kind not in [known.split()[0] for known in _HEADS]:
        file.fault(number, "section '%s' is not known%s" % (head[:80], _guess(kind, _HEADS)))
        return None
    if kind == "bridge" and name:
        file.fault(number, "[bridge] has no name here: say name = %s below it" % name[:80])
        return None
    if kind != "bridge" and not NAME.fullmatch(name):
        file.fault(number, "[%s NAME]: '%s' is no name: 1 to 64 of A-Z a-z 0-9 _ . -, no dot in front" % (
            kind, name[:80]))
        return None
    for other in earlier:
        if (other.kind, other.name) == (kind, name):
            file.fault(number, "[%s] stands in line %d already" % (" ".join((kind, name)).strip(), other.line))
            return None
    return _Section(kind, name, number)


def _read(file: _File, text: str) -> List[_Section]:
    sections: List[_Section] = []
    section: Optional[_Section] = None
    skip = False  # true below a section with an error
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split(" ;")[0].strip()
        if len(raw) > LINE_MOST:
            file.fault(number, "the line has more than %d characters" % LINE_MOST)
        elif not line or line[0] in "#;":
            continue
        elif not line.replace("\t", " ").isprintable():
            file.fault(number, "the line has a control character")
        elif line[0] == "[":
            section = _section(file, number, line, sections)
            skip = section is None
            sections += [section] if section else []
        elif "=" not in line:
            file.fault(number, "'%s' is neither a section nor key = value" % line[:80])
        elif section is None:
            if not skip:
                file.fault(number, "'%s' stands before any section" % line[:80])
        else:
            key, value = (part.strip() for part in line.split("=", 1))
            if key in section.keys:
                file.fault(number, "'%s' is given in line %d already" % (key[:80], section.keys[key][0]))
            else:
                section.keys[key] = number, value
    return sections


def _values(file: _File, section: _Section, options: Sequence[Option]) -> Dict[str, Any]:
    values = {option.name: option.default for option in options}
    for key, (line, text) in section.keys.items():
        option = find(options, key)
        if option is None:
            file.fault(line, "'%s' is no key of [%s]%s" % (key[:80], " ".join((section.kind, section.name)).strip(),
                                                           _guess(key, [o.name for o in options])))
            continue
        try:
            values[key] = parse(option, text)
        except ValueError as e:
            file.fault(line, "%s: %s" % (key, e))
    return values


def _check_instances(file: _File, section: _Section, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            file.fault(section.keys["instances"][0], "instances: there is no [instance %s]%s" % (
                name[:80], _guess(name, list(known))))


def _check_colours(file: _File, section: _Section, values: Mapping[str, Any]) -> None:
    near, far = values["colour_near_m"], values["colour_far_m"]
    if far and near >= far:
        file.fault(section.keys["colour_far_m"][0], "colour_far_m: %g is not beyond colour_near_m, which is %g" % (
            far, near))


def _check_unknown(file: _File, section: _Section, common: Sequence[Option], kinds: Any,
                   instances: Optional[Sequence[str]]) -> None:
    """Checks a section of an unknown kind by the keys of the most similar kind, else by the keys of all kinds."""
    meant = difflib.get_close_matches(section.keys["kind"][1], list(kinds.KINDS), 1)
    options = [common[0]._replace(kind="text"), *common[1:], *(kinds.load(meant[0]).OPTIONS if meant else [])]
    known = _Section(section.kind, section.name, section.line)
    known.keys = {key: value for key, value in section.keys.items() if meant or find(options, key)}
    values = _values(file, known, options)
    if instances is not None:
        _check_instances(file, known, values["instances"], instances)


def _of_kind(file: _File, section: _Section, common: Sequence[Option], kinds: Any,
             instances: Optional[Sequence[str]] = None) -> Optional[Tuple[str, Any, Dict[str, Any]]]:
    """Reads a section that has a kind: returns its place, its class and its values. kinds: module sinks or pairs."""
    if "kind" not in section.keys:
        file.fault(section.line, "[%s %s] has no kind: one of %s" % (
            section.kind, section.name, ", ".join(kinds.KINDS)))
        return None
    line, kind = section.keys["kind"]
    if kind not in kinds.KINDS:
        file.fault(line, "kind: '%s' is not known%s" % (kind[:80], _guess(kind, list(kinds.KINDS))))
        _check_unknown(file, section, common, kinds, instances)
        return None
    try:
        kinds.check(kind)
    except Fail as e:
        raise Fail(e.code, "%s:%d: %s" % (file.path, line, e)) from None
    maker = kinds.load(kind)
    values = _values(file, section, [common[0]._replace(kind="text"), *common[1:], *maker.OPTIONS])
    if instances is not None:
        _check_instances(file, section, values["instances"], instances)
    return "%s:%d" % (file.path, section.line), maker, values


def parse_text(path: str, text: str) -> Config:
    """Parses the text of a configuration. Fail has a line for each fault."""
    file = _File(path)
    sections = _read(file, text)
    bridge = {option.name: option.default for option in BRIDGE}
    instances: Dict[str, Dict[str, Any]] = {}
    rigs: Dict[str, Dict[str, Any]] = {}
    for section in sections:
        if section.kind == "bridge":
            bridge = _values(file, section, BRIDGE)
        elif section.kind == "instance":
            instances[section.name] = _values(file, section, INSTANCE)
            _check_colours(file, section, instances[section.name])
    heads = {section.kind for section in sections}
    if not instances and (heads & {"sink", "rig"} or "pairs" not in heads):
        instances["default"] = {option.name: option.default for option in INSTANCE}
    for section in sections:
        if section.kind == "rig":
            rigs[section.name] = _values(file, section, RIG)
            if not rigs[section.name]["instances"]:
                file.fault(section.line, "[rig %s] has no instances" % section.name)
            else:
                _check_instances(file, section, rigs[section.name]["instances"], list(instances))
            if section.name in instances:
                file.fault(section.line, "[rig %s] has the name of an instance" % section.name)
    found: List[SinkConfig] = []
    inputs: List[PairsConfig] = []
    for section in sections:
        if section.kind == "sink":
            made = _of_kind(file, section, COMMON, sinks, [*instances, *rigs])
            found += [SinkConfig(section.name, *made)] if made else []
        elif section.kind == "pairs":
            made = _of_kind(file, section, PAIRS, pairs)
            inputs += [PairsConfig(section.name, *made)] if made else []
    if not heads & {"sink", "pairs"}:
        file.fault(max(1, text.count("\n")), "there is no [sink NAME] and no [pairs NAME]: nothing would be sent")
    file.end()
    if not bridge["host"]:
        host = socket.gethostname().split(".")[0]
        bridge["host"] = host if NAME.fullmatch(host) else "localhost"
    return Config(bridge, instances, rigs, found, inputs)


def load(path: str) -> Config:
    """Reads the configuration from a file. Raises Fail."""
    try:
        with open(path, "rb") as f:
            data = f.read(SIZE_MOST + 1)
    except OSError as e:
        raise Fail(CONFIG, "%s: cannot be read: %s" % (path, e.strerror)) from None
    if len(data) > SIZE_MOST:
        raise Fail(CONFIG, "%s: is longer than %d bytes" % (path, SIZE_MOST))
    try:
        return parse_text(path, data.decode("utf-8"))
    except UnicodeDecodeError as e:
        raise Fail(CONFIG, "%s:%d: is not UTF-8" % (path, data[:e.start].count(b"\n") + 1)) from None
