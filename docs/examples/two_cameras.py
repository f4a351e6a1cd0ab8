#!/usr/bin/env python3
"""Reads several instances in one thread, with asyncio: two_cameras.py front rear

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import sys

import numpy as np

import stixel


async def watch(name: str) -> None:
    """Prints the frames of one instance, through every restart of its publisher."""
    with stixel.open(name, follow=True) as reader:
        async for frame in reader:
            free = frame.free_space()
            ahead = np.fmin.reduce(free[len(free) // 3:2 * len(free) // 3], initial=np.nan)  # ignores unseen columns
            print("%s: frame %d, free ahead %.1f m" % (name, frame.number, ahead), flush=True)


async def main() -> None:
    """Watches all instances at once. An error of one instance ends the program."""
    await asyncio.gather(*(watch(name) for name in sys.argv[1:] or ["default"]))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except stixel.StixelError as e:
        sys.exit(str(e))
    except KeyboardInterrupt:
        pass
