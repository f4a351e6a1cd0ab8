"""Class tables: the classes of a network's output in their order, and the labels under which stixeld publishes them.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import configparser
import os
from typing import Dict, List, NamedTuple, Optional

from stixel._program import CONFIG, Fail
from stixel._scores import CLASSES_MAX

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables")
OTHER_NAMES = {"bdd100k": "cityscapes-19"}
KINDS = ("ground", "object", "sky")
UNLABELLED = -1


class Label(NamedTuple):
    """A class that stixeld publishes."""

    name: str
    kind: str  #: of KINDS
    moves: bool  #: whether it can move by itself


class Table(NamedTuple):
    """A class table."""

    name: str
    labels: List[Label]
    classes: List[str]  #: the network's classes, in the order of its output
    label_of: List[int]  #: for each class the number of its label, or UNLABELLED

    def line(self) -> str:
        """Returns the labels as semantics.classes of stixeld has them."""
        return " ".join(x.name if x.kind == "object" else "%s:%s" % (x.name, x.kind) for x in self.labels)


def names() -> List[str]:
    """Returns the names of the tables that come with the program."""
    return sorted([os.path.splitext(name)[0] for name in os.listdir(FOLDER)] + list(OTHER_NAMES))


class _Names(configparser.ConfigParser):
    def optionxform(self, optionstr: str) -> str:  # names stay as they are written
        return optionstr


def read_ini(path: str) -> configparser.ConfigParser:
    """Reads a file of sections, with names as they are written. Fail: it cannot be read."""
    found = _Names(delimiters=("=",), interpolation=None, inline_comment_prefixes=(";",))
    try:
        with open(path, encoding="utf-8") as f:
            found.read_file(f, path)
    except OSError as e:
        raise Fail(CONFIG, "%s: cannot be read: %s" % (path, e.strerror or e)) from None
    except (configparser.Error, ValueError) as e:
        raise Fail(CONFIG, "%s: %s" % (path, " ".join(str(e).split()))) from None
    return found


def _labels(path: str, section: Optional[configparser.SectionProxy]) -> List[Label]:
    labels = []
    for name, text in (section or {}).items():
        words = text.split()
        if not words or words[0] not in KINDS or words[1:] not in ([], ["moves"]):
            raise Fail(CONFIG, "%s: %s = %s: allowed is %s, and perhaps moves" % (
                path, name, text, " or ".join(KINDS)))
        labels.append(Label(name, words[0], len(words) > 1))
    if not 1 <= len(labels) <= CLASSES_MAX:
        raise Fail(CONFIG, "%s: %d labels in [labels], allowed 1 to %d" % (path, len(labels), CLASSES_MAX))
    return labels


def load(name: str, folder: str = "") -> Table:
    """Loads a table: one of names(), or a file, whose path may be relative to a folder."""
    path = os.path.join(FOLDER, OTHER_NAMES.get(name, name) + ".ini")
    if name not in names():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            raise Fail(CONFIG, "table '%s': no such file, nor one of %s" % (name, ", ".join(names())))
    read = read_ini(path)
    labels = _labels(path, read["labels"] if "labels" in read else None)
    number: Dict[str, int] = {label.name: i for i, label in enumerate(labels)}
    classes = dict(read["classes"].items()) if "classes" in read else {x.name: x.name for x in labels}
    for one, label in classes.items():
        if label and label not in number:
            raise Fail(CONFIG, "%s: %s = %s: there is no such label in [labels]" % (path, one, label))
    return Table(name, labels, list(classes), [number.get(label, UNLABELLED) for label in classes.values()])
