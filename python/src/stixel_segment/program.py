"""The main program: options, --check and --show; otherwise the supervisor.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from typing import Any, List, Optional

from stixel._program import (CANNOT_CREATE, CONFIG, DATA, FAILED, NO_INPUT, UNAVAILABLE, Fail, log_of, log_warnings,
                             sentence)
from stixel._program import version as module_version

from . import instance, text
from . import model as models
from .text import PROGRAM

RUNS = 10  # of --check, after one that is not counted
IMAGE_S = 10.0

say = log_of(PROGRAM)


def _from_instance(name: str) -> Any:
    import stixel
    with stixel.open(name + ".pairs", follow=True) as pairs:
        pair = pairs.latest(timeout=IMAGE_S)
        if pair is None or pair.left is None:
            raise Fail(NO_INPUT, "instance '%s' offers no image: it has to run, with pairs = yes in [external]" % name)
        return pair.left


def _image(options: argparse.Namespace) -> Any:
    """Returns the grey image of --image or of the instance; None: there is neither."""
    import cv2
    if options.image:
        found = cv2.imread(options.image, cv2.IMREAD_GRAYSCALE)
        if found is None:
            raise Fail(NO_INPUT, "%s: is no image that OpenCV can read" % options.image)
        return found
    return _from_instance(options.instance or "default") if options.instance or options.show else None


def _classes_of(about: models.Model) -> List[str]:
    table = about.table
    lines = ["classes   %s: %d classes in %d labels" % (about.options["table"], len(table.classes), len(table.labels))]
    for word, chosen in (("ground", [x for x in table.labels if x.kind == "ground"]),
                         ("object", [x for x in table.labels if x.kind == "object" and not x.moves]),
                         ("moves", [x for x in table.labels if x.moves]),
                         ("sky", [x for x in table.labels if x.kind == "sky"])):
        if chosen:
            lines.append("  %-7s %s" % (word, " ".join(x.name for x in chosen)))
    return lines


def _segment(network: Any, image: Any) -> Any:
    from .network import BadOutput
    try:
        return network.scores(image)
    except BadOutput as e:
        raise Fail(DATA, "%s: %s" % (network.model.path, e)) from None


def _check(options: argparse.Namespace, about: models.Model, network: Any) -> int:
    import numpy as np
    image = _image(options)
    if image is None:  # a slope of grey levels
        width, height = network.input_size(1280, 720)
        image = np.broadcast_to(np.linspace(0, 255, width).astype(np.uint8), (height, width))
    times = []
    for _ in range(RUNS + 1):
        began = time.monotonic()
        _segment(network, image)
        times.append((time.monotonic() - began) * 1e3)
    times = sorted(times[1:])
    print("network   %s, by %s" % (about.path, network.back_end.name))
    print("described %s" % (about.described_by or "by -s alone"))
    print("input     %dx%d, %s, for images of %dx%d" % (*network.input_size(*image.shape[::-1]),
                                                       about.options["channels"], *image.shape[::-1]))
    print("output    %s, %s" % ("x".join(map(str, network.shape)), network.output))
    print("\n".join(_classes_of(about)))
    print("time      %.1f ms, %.1f to %.1f ms in %d images" % (times[RUNS // 2], times[0], times[-1], RUNS))
    if not options.instance:
        return 0
    lines = instance.changes(options.instance, instance.status(options.instance), about.table, True)
    print("instance  '%s' %s" % (options.instance, "needs in its configuration:\n\n    " + "\n    ".join(lines)
                                 if lines else "has the same classes"))
    return CONFIG if lines else 0


def _show(options: argparse.Namespace, about: models.Model, network: Any) -> int:
    import cv2

    from . import picture
    image = _image(options)
    drawn = picture.draw(image, _segment(network, image), about.table)
    try:
        done = cv2.imwrite(options.show, drawn)
    except cv2.error:  # an ending that is no format
        done = False
    if not done:
        raise Fail(CANNOT_CREATE, "%s: cannot be written" % options.show)
    return 0


def _run(options: argparse.Namespace) -> int:
    from .supervisor import Supervisor
    supervisor = Supervisor(options.instance or "default", [options.model, *options.set], options.limit, say)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, supervisor.stop)
    return supervisor.run()


def main(arguments: Optional[List[str]] = None, version: Optional[str] = None) -> int:
    """Runs the program. Returns an exit code of text.EXITS."""
    options = text.parser(version or module_version()).parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        about = models.load(options.model, options.set)
        if not (options.check or options.show):
            return _run(options)
        log_warnings(say)
        from .network import Network
        network = Network(about, say)
        code = _show(options, about, network) if options.show else 0
        return _check(options, about, network) if options.check else code
    except Fail as e:
        say(str(e))
        return e.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader of the pipe has gone, so there is nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ImportError as e:
        say("the Python module %s cannot be imported" % e.name)
        return UNAVAILABLE
    except OSError as e:
        say(sentence(e))
        return FAILED
