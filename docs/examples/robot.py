#!/usr/bin/env python3
"""Drives a robot through a room of a simulator by what stixeld sees of it: robot.py robot --metres 50

The robot has two cameras 6 cm apart, 0.25 m above the floor. The simulator draws their images (robot_world.py), and
stixeld gets them through shared memory. The robot keeps a map of the free space that stixeld reports, and steers by it
alone. At the end it prints how far it drove and what it touched. Needs MuJoCo (pip install mujoco), libosmesa6, and

    stixeld -i robot -s source.kind=shared -s camera.height_m=0.25

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import sys
import time

import numpy as np

import robot_world
import stixel
from robot_world import AHEAD, BASELINE, FOCAL, HEIGHT, RADIUS, WIDTH

PERIOD, SPEED, TURN = 0.2, 0.5, 1.2  # s between two pairs, m/s, rad/s
CELL, SIDE, REACH = 0.05, 200, 3.0  # m, cells, m


class Map:
    """A map of the room as the robot has seen it: cells that are unknown (0), free (below 0) or occupied (above 0)."""

    def __init__(self, place):
        self.cells = np.zeros((SIDE, SIDE), int)
        self.mark(place[:2] + np.random.default_rng(1).uniform(-0.55, 0.55, (4000, 2)), -3)  # the robot's place is free

    def cells_of(self, points):
        return np.clip((points / CELL + SIDE / 2).astype(int), 0, SIDE - 1)

    def mark(self, points, by):
        x, y = np.unique(self.cells_of(points), axis=0).T
        self.cells[x, y] = np.clip(self.cells[x, y] + by, -3, 6)

    def see(self, frame, place):
        """Adds the free space of a frame, and the objects and drops that end it."""
        columns = frame.free_columns()
        sideways = (frame.camera.cx - (np.arange(frame.columns) + 0.5) * frame.column_width) / frame.camera.fx
        steps = np.arange(0.3, REACH, 0.04)
        free = (steps > columns["from_m"][:, None]) & (steps < columns["to_m"][:, None] - 0.03)
        ends = np.isin(columns["end"], (stixel.Free.OBJECT, stixel.Free.DROP)) & (columns["to_m"] < REACH)
        self.mark(world_of(place, np.broadcast_to(steps, free.shape)[free], (steps * sideways[:, None])[free]), -1)
        for depth in columns["to_m"][ends], columns["to_m"][ends] + 0.04:
            self.mark(world_of(place, depth, depth * sideways[ends]), 3)

    def near(self, place):
        """Returns the places of the occupied and of the unknown cells within 1.5 m."""
        x, y = self.cells_of(place[:2])
        x, y = max(0, x - 30), max(0, y - 30)
        part = self.cells[x:x + 60, y:y + 60]
        return [(np.argwhere(which) + (x, y) + 0.5 - SIDE / 2) * CELL for which in (part > 0, part == 0)]


def world_of(place, ahead, left):
    """Returns the places in the room of points before the cameras."""
    x, y, heading = place
    ahead = ahead + AHEAD
    return np.stack([x + ahead * np.cos(heading) - left * np.sin(heading),
                     y + ahead * np.sin(heading) + left * np.cos(heading)], -1)


def steer(chart, place, before):
    """Returns speed and turn: of the arcs of one second that keep clear of what is occupied or unknown, the best."""
    best, choice = -np.inf, (0.0, TURN if before[1] >= 0 else -TURN)  # no arc is free: turn on the spot
    near = chart.near(place)
    times = np.arange(1, 11) * 0.1
    for speed in (SPEED, SPEED / 2):
        for turn in np.linspace(-TURN, TURN, 9):
            x = place[0] + np.cumsum(speed * np.cos(place[2] + turn * times)) * 0.1
            y = place[1] + np.cumsum(speed * np.sin(place[2] + turn * times)) * 0.1
            occupied, unknown = (np.hypot(c[:, :1] - x, c[:, 1:] - y).min(initial=9.0) for c in near)
            value = 2 * speed + 0.6 * min(occupied, 0.6) - 0.25 * abs(turn) - 0.1 * abs(turn - before[1])
            if occupied > RADIUS + 0.06 and unknown > RADIUS - 0.03 and value > best:
                best, choice = value, (speed, turn)
    return choice


def draw(folder, number, image, chart, place):
    """Saves the left image beside the map, for a film."""
    from PIL import Image

    plan = np.array([[225, 225, 225], [40, 40, 40], [220, 80, 40]], np.uint8)[np.sign(chart.cells) + 1]
    x, y = chart.cells_of(place[:2])
    plan[x - 3:x + 4, y - 3:y + 4] = 30, 120, 255
    plan = np.asarray(Image.fromarray(np.rot90(plan)).resize((HEIGHT, HEIGHT), Image.NEAREST))
    os.makedirs(folder, exist_ok=True)
    Image.fromarray(np.hstack([np.repeat(image[:, :, None], 3, 2), plan])).save("%s/%05d.png" % (folder, number))


def frame_of(reader, captured_ns):
    """Returns the frame of this pair or of a later one."""
    while True:
        frame = reader.latest(timeout=10.0)
        if frame is None:
            sys.exit("stixeld gives no frames")
        if frame.captured_ns >= captured_ns:
            return frame


def drive(options, writer, reader):
    world = robot_world.World(options.seed)
    chart, command, way, still, longest, touched = Map(world.place), (0.0, 0.0), 0.0, 0.0, 0.0, None
    number = 0
    world.move(0, 0, 0)
    while way < options.metres and not touched and still < 60:
        now = time.monotonic_ns()
        left, right = world.look()
        writer.write(left, right, now, now)
        chart.see(frame_of(reader, now), world.place)
        if options.film and number % 10 == 0:
            draw(options.film, number, left, chart, world.place)
        command = steer(chart, world.place, command)
        touched = world.move(*command, PERIOD)
        way += command[0] * PERIOD
        still = 0.0 if command[0] else still + PERIOD
        longest = max(longest, still)
        number += 1
    print("seed %d: %.1f m in %.0f s, at most %.1f s on the spot, touched %s"
          % (options.seed, way, number * PERIOD, longest, touched or "nothing"))
    return not touched and way >= options.metres


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("instance")
    parser.add_argument("--metres", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1, help="of the room")
    parser.add_argument("--film", metavar="FOLDER", help="save every tenth image beside the map")
    options = parser.parse_args()
    camera = (FOCAL, FOCAL, (WIDTH - 1) / 2, (HEIGHT - 1) / 2, BASELINE)
    with stixel.PairWriter(options.instance, WIDTH, HEIGHT, camera=camera, simulated=True) as writer:
        if not writer.connect(timeout=10):
            sys.exit(writer.why)
        with stixel.open(options.instance, follow=True) as reader:
            return 0 if drive(options, writer, reader) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except stixel.StixelError as e:
        sys.exit(str(e))
    except KeyboardInterrupt:
        pass
