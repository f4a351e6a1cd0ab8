"""Program "python3 -m stixel NAME": prints a line for each frame.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import sys
from typing import Any, Dict, List, NoReturn, Optional

import numpy as np

import stixel
from stixel._zenoh_session import secret


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, "%s: %s\n" % (self.prog, message))


def _parser() -> _Parser:
    p = _Parser(prog="python3 -m stixel", description="Prints one line for each frame of an instance of stixeld.")
    p.add_argument("instance", nargs="?", default="default", metavar="NAME",
                   help="instance (default: %(default)s), or zenoh:PROTOCOL/ADDRESS/[HOST/]INSTANCE")
    p.add_argument("--frames", type=int, default=0, metavar="N", help="stop after N frames")
    p.add_argument("--follow", action="store_true", help="wait for the publisher, and for the next one when it ends")
    p.add_argument("--stream", action="store_true", help="read through frames.sock instead of shared memory")
    p.add_argument("--user", metavar="USER", help="zenoh:...: user name, with --password-file")
    p.add_argument("--password-file", metavar="FILE", help="zenoh:...: file with the password; only its owner may "
                   "read it")
    p.add_argument("--ca", metavar="FILE", help="zenoh:tls/...: certificate of the authority, PEM")
    p.add_argument("--config", metavar="FILE", help="zenoh:...: configuration file of zenoh")
    p.add_argument("--version", action="version", version="stixel " + stixel.__version__)
    return p


def line(frame: stixel.Frame) -> str:
    """Returns one line of text that describes a frame."""
    free = frame.free_space()
    seen = np.where(np.isfinite(free), free, np.inf)
    nearest = "nothing seen" if np.isnan(free).all() else "no obstacle"
    if len(seen) and np.isfinite(seen.min()):
        nearest = "nearest %6.2f m in column %d" % (seen.min(), seen.argmin())
    lost = ", %d lost" % frame.missed if frame.missed else ""
    return "%s  frame %d: %d stixels, %s, %.1f ms old%s" % (
        frame.captured_at.astimezone().strftime("%H:%M:%S.%f")[:-3], frame.number, len(frame.stixels), nearest,
        frame.age() * 1e3, lost)


def _remote(options: argparse.Namespace) -> Dict[str, Any]:
    """Returns the options that hold only for instances on other machines. Raises ValueError."""
    given = {name: getattr(options, name) for name in ("user", "ca", "config") if getattr(options, name) is not None}
    if options.password_file is not None:
        given["password"] = secret(options.password_file)
    return given


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the program. Returns the exit code: 0 done, 1 nothing to read, 64 wrong usage, 65 not readable."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.frames < 0:
        parser.error("--frames %d: 0 or more" % options.frames)
    try:
        with stixel.open(options.instance, options.follow, options.stream, **_remote(options)) as reader:
            for count, frame in enumerate(reader, 1):
                print(line(frame), flush=True)
                if count == options.frames:
                    break
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        # the reader of the pipe has gone, so there is nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (stixel.BadName, stixel.NotSupported) as e:
        parser.error(str(e))
    except stixel.StixelError as e:
        print("python3 -m stixel: %s" % e, file=sys.stderr)
        return 65 if isinstance(e, (stixel.NotStixel, stixel.OtherVersion, stixel.Damaged)) else 1
    except ValueError as e:
        parser.error(str(e))
    return 0


if __name__ == "__main__":
    sys.exit(main())
