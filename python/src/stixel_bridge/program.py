"""The main program: options, threads, signals.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Sequence

from stixel._program import log_of, log_warnings, notify
from stixel._program import version as module_version

from . import config as configuration
from . import status, text
from .fail import CONFIG, FAILED, UNAVAILABLE, Fail, sentence
from .pairs.topics import Input
from .sink import Instance, Sink
from .text import PROGRAM

STOP_S = 3.0
say = log_of(PROGRAM)


def _everything(config: configuration.Config) -> Dict[str, Instance]:
    """Returns all instances and rigs, by name."""
    return {name: Instance(name, options) for name, options in [*config.instances.items(), *config.rigs.items()]}


def make_sinks(config: configuration.Config) -> List[Sink]:
    """Makes the sinks of a configuration, without connecting them.

    Fail names the line of a section with contradictory options.
    """
    everything = _everything(config)
    found: List[Sink] = []
    taken: Dict[str, str] = {}  # resources that only one sink may have, and the sink that has each
    prefixes: Dict[str, str] = {}
    for name, options in config.instances.items():
        other = prefixes.setdefault(options["frame_prefix"] or name, name)
        if other != name:
            raise Fail(CONFIG, "[instance %s] and [instance %s] have one frame_prefix" % (other, name))
    for c in config.sinks:
        names = c.options["instances"] or [*config.instances, *(config.rigs if c.maker.RIGS else ())]
        for name in names:
            if name in config.rigs and not c.maker.RIGS:
                raise Fail(CONFIG, "%s: sinks of kind %s send no rigs, and '%s' is one" % (
                    c.where, c.options["kind"], name))
        try:
            sink = c.maker(c.name, c.options, config.bridge["host"], [everything[name] for name in names])
        except Fail as e:
            raise Fail(e.code, "%s: %s" % (c.where, e)) from None
        alone = sink.exclusive()
        other = taken.setdefault(alone, c.name) if alone else c.name
        if other != c.name:
            raise Fail(CONFIG, "%s: [sink %s] has %s already" % (c.where, other, alone))
        found.append(sink)
    return found


def make_inputs(config: configuration.Config) -> List[Input]:
    """Makes the inputs of a configuration, without connecting them.

    Fail names the line of a section with contradictory options.
    """
    found: List[Input] = []
    taken: Dict[str, str] = {}
    for c in config.pairs:
        try:
            found.append(c.maker(c.name, c.options))
        except Fail as e:
            raise Fail(e.code, "%s: %s" % (c.where, e)) from None
        instance = c.options["instance"] or c.name
        other = taken.setdefault(instance, c.name)
        if other != c.name:
            raise Fail(CONFIG, "%s: [pairs %s] gives pairs to instance %s already" % (c.where, other, instance))
    return found


class Bridge:
    """The threads of a configuration."""

    def __init__(self, config: configuration.Config, version: str) -> None:
        from .instances import Reports, Source
        from .pairs.feed import Feed
        from .rig import Rig
        from .runner import Runner
        everything = _everything(config)
        self.runners = [Runner(sink, say) for sink in make_sinks(config)]
        rigs = [Rig(everything[name], [everything[i] for i in options["instances"]], self._of(name))
                for name, options in config.rigs.items()]

        def more(name: str) -> Any:
            mine = [rig for rig in rigs if rig.has(name)]
            return (lambda work: [rig.put(work) for rig in mine]) if mine else None

        self.sources = [Source(everything[name], self._of(name), say, more(name)) for name in config.instances]
        self._reports = [Reports(source, self._of(source.instance.name), say) for source in self.sources]
        self.feeds = [Feed(source, say) for source in make_inputs(config)]
        about = {**config.bridge, "version": version, "started": time.monotonic()}
        self._server = status.Server(about, self.sources, self.runners, [
            *self.runners, *self.sources, *self._reports, *self.feeds], rigs, self.feeds)
        self._serving = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="status", daemon=True)

    def _of(self, name: str) -> List[Any]:
        return [runner for runner in self.runners if name in runner.counts]

    def start(self) -> None:
        """Starts all threads."""
        for thread in (*self.runners, *self.sources, *self._reports, *self.feeds, self._serving):
            thread.start()

    def stop(self) -> List[str]:
        """Ends all threads. Returns the names of threads that did not end in time."""
        threads: Sequence[Any] = (*self._reports, *self.sources, *self.runners, *self.feeds)
        for thread in threads:
            thread.stop()
        until = time.monotonic() + STOP_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._server.close()
        return [thread.name for thread in threads if thread.is_alive()]


def _what(config: configuration.Config) -> str:
    def of(count: int, one: str) -> str:
        return "%d %s" % (count, one if count == 1 else one + "s")
    parts = []
    if config.sinks or not config.pairs:
        parts.append("%s to %s" % (of(len(config.instances), "instance"), of(len(config.sinks), "sink")))
    if config.pairs:
        parts.append("pairs of %s" % of(len(config.pairs), "input"))
    return ", ".join(parts)


def _run(config: configuration.Config, version: str) -> int:
    # These signals are blocked in all threads, and this thread takes them with sigwait(). Otherwise the kernel could
    # deliver one to a thread of a package. Python would not handle it, because it handles signals when its main thread
    # wakes.
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    bridge = Bridge(config, version)
    log_warnings(say)
    gc.collect()
    gc.freeze()  # exempts the loaded objects from garbage collection, so that a collection has less to scan
    bridge.start()
    say(_what(config))
    notify("READY=1")
    signal.sigwait(ends)
    notify("STOPPING=1")
    late = bridge.stop()
    if late:
        say("%s did not end within %g s" % (", ".join(late), STOP_S))
        os._exit(0)  # a package waits for a peer that does not answer; the bridge itself leaves nothing behind
    return 0


def main(arguments: Optional[List[str]] = None, version: Optional[str] = None) -> int:
    """Runs the program. Returns an exit code of fail.EXITS."""
    if arguments is None:
        arguments = sys.argv[1:]
    if version is None:
        version = module_version()
    options = text.parser(version).parse_args(arguments)
    try:
        if options.print_config:
            text.print_config()
            return 0
        try:
            import numpy  # noqa: F401
        except ImportError:
            raise Fail(UNAVAILABLE, "NumPy cannot be loaded: install it (Debian package python3-numpy)") from None
        if options.command == "play":
            from .pairs import PAIR
            from .play import run
            return run(options.recording, options.instance, {o.name: getattr(options, o.name) for o in PAIR},
                       options.rate, options.loop, say)
        config = configuration.load(options.config)
        if options.check:
            make_sinks(config)
            make_inputs(config)
            print("%s: %d instances, %d sinks%s" % (options.config, len(config.instances), len(config.sinks), (
                ", %d pairs" % len(config.pairs)) * bool(config.pairs)))
            return 0
        return _run(config, version)
    except Fail as e:
        for line in str(e).splitlines():
            say(line)
        return e.code
    except BrokenPipeError:
        # the reader of the pipe has gone, so there is nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as e:
        say(sentence(e))
        return FAILED
