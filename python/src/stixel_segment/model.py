"""Model files: what a network expects and gives.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from stixel._program import CONFIG, NO_INPUT, Fail

from . import tables

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
SECTION = "model"
ENDINGS = (".onnx", ".tflite", ".net", ".t7", ".caffemodel", ".pb")  #: of files of networks


class Key(NamedTuple):
    """A key of a model file."""

    name: str
    default: str
    parse: Callable[[str], Any]  #: raises ValueError
    range: str
    help: str


def _choice(*words: str) -> Callable[[str], Any]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text
    return parse


def _integer(least: int, most: int) -> Callable[[str], Any]:
    def parse(text: str) -> int:
        if not least <= int(text) <= most:
            raise ValueError
        return int(text)
    return parse


def _text(text: str) -> str:
    return text


def _numbers(text: str) -> Tuple[float, ...]:
    found = tuple(float(word) for word in text.replace(",", " ").split())
    if len(found) not in (1, 3):
        raise ValueError
    return found


def _white(text: str) -> float:
    if not 1 <= float(text) <= 65535:
        raise ValueError
    return float(text)


def _deviations(text: str) -> Tuple[float, ...]:
    found = _numbers(text)
    if min(found) <= 0:
        raise ValueError
    return found


def _size(text: str) -> Optional[Tuple[int, int]]:
    if text == "auto":
        return None
    width, height = map(int, re.fullmatch(r"(\d+)x(\d+)", text).groups())  # type: ignore[union-attr]
    if not (1 <= width <= 8192 and 1 <= height <= 8192):
        raise ValueError
    return width, height


KEYS = [
    Key("file", "", _text, "a path", "the network; relative to the model file. Default: beside it, with its name"),
    Key("table", "", _text, ", ".join(tables.names()) + ", or a file",
        "the classes of the output in their order, and their labels"),
    Key("input", "auto", _size, "auto or WIDTHxHEIGHT",
        "size of the network's input; auto: its only size, else that of the image"),
    Key("multiple", "32", _integer(1, 1024), "1 to 1024 px",
        "with input = auto the size is rounded to a multiple of this number"),
    Key("channels", "rgb", _choice("rgb", "bgr", "grey"), "rgb, bgr or grey",
        "channels of the input. Images of stixeld are grey: all channels get the same image"),
    Key("white", "1", _white, "1 to 65535", "the input's value of white, from which mean is subtracted: 1 or 255"),
    Key("mean", "0", _numbers, "one number, or three in the order R G B", "is subtracted"),
    Key("std", "1", _deviations, "as mean", "standard deviation, by which the difference is divided"),
    Key("output", "auto", _choice("auto", "logits", "probabilities", "classes"),
        "auto, logits, probabilities or classes", "what the output is; auto: found out by the first image"),
    Key("scale", "4", _integer(1, 32), "1 to 32 px", "image pixels that share a score, in both directions"),
    Key("back_end", "auto", _choice("auto", "onnxruntime", "opencv"), "auto, onnxruntime or opencv",
        "what runs the network; auto: onnxruntime for .onnx if it is installed, else OpenCV's dnn"),
    Key("provider", "auto", _choice("auto", "cpu", "cuda", "tensorrt"), "auto, cpu, cuda or tensorrt",
        "where onnxruntime runs it; auto: cuda if it is there, else cpu"),
    Key("threads", "0", _integer(0, 256), "0 to 256", "threads on the processor; 0: as many as the back end takes"),
]
_KEY = {key.name: key for key in KEYS}


class Model(NamedTuple):
    """A network and all that is known of it."""

    path: str  #: of the network
    described_by: str  #: the model file; empty: there is none
    table: tables.Table
    options: Dict[str, Any]  #: values of KEYS

    def per_channel(self, name: str) -> List[float]:
        """Returns mean or std for each channel of the network's input."""
        values = list(self.options[name])
        if self.options["channels"] == "grey":
            return values[:1]
        values = values * 3 if len(values) == 1 else values
        return values[::-1] if self.options["channels"] == "bgr" else values


def _parse(where: str, name: str, text: str) -> Any:
    key = _KEY.get(name)
    if key is None:
        raise Fail(CONFIG, "%s: there is no key %s; there are %s" % (where, name, ", ".join(_KEY)))
    try:
        return key.parse(text)
    except (ValueError, AttributeError):
        raise Fail(CONFIG, "%s: %s = %s: allowed is %s" % (where, name, text, key.range)) from None


def _model_file(path: str) -> str:
    """Returns the model file of a network: the one beside it, or the one of its name that comes with the program."""
    stem = os.path.splitext(os.path.basename(path))[0]
    found = [os.path.join(folder, stem + ".ini") for folder in (os.path.dirname(path), MODELS)]
    return next((name for name in found if os.path.exists(name)), "")


def _network_of(path: str, file: str) -> str:
    if file:
        return os.path.join(os.path.dirname(path), file)
    stem = os.path.splitext(path)[0]
    found = [stem + ending for ending in ENDINGS if os.path.exists(stem + ending)]
    if not found:
        raise Fail(NO_INPUT, "%s: has no key file, and beside it is no %s with one of %s" % (
            path, os.path.basename(stem), " ".join(ENDINGS)))
    return found[0]


def load(path: str, settings: Iterable[str] = ()) -> Model:
    """Loads a network's description by the path of the model file or of the network. settings: KEY=VALUE."""
    given = dict([setting.partition("=")[::2] for setting in settings])
    if not os.path.isfile(path):
        raise Fail(NO_INPUT, "%s: no such file" % path)
    described_by = path if path.endswith(".ini") else _model_file(path)
    texts: Dict[str, str] = {}
    if described_by:
        read = tables.read_ini(described_by)
        if read.sections() != [SECTION]:
            raise Fail(CONFIG, "%s: needs one section, [%s]" % (described_by, SECTION))
        texts = dict(read[SECTION].items())
    options = {key.name: key.parse(key.default) for key in KEYS}
    options.update({name: _parse(described_by, name, text) for name, text in texts.items()})
    options.update({name: _parse("-s %s=%s" % (name, text), name, text) for name, text in given.items()})
    network = _network_of(path, options["file"]) if path == described_by else path
    if not os.path.isfile(network):
        raise Fail(NO_INPUT, "%s: no such file (%s)" % (network, described_by))
    if not options["table"]:
        raise Fail(CONFIG, "%s: nothing says which classes its output has: write a model file %s.ini beside it, or "
                   "say -s table=NAME, one of %s" % (network, os.path.splitext(os.path.basename(network))[0],
                                                     ", ".join(tables.names())))
    table = tables.load(options["table"], os.path.dirname(described_by))
    return Model(network, described_by, table, options)


def sections() -> Sequence[Tuple[str, str, Sequence[Key]]]:
    """Returns the sections of a model file, for the man page."""
    return [(SECTION, "a network", KEYS)]
