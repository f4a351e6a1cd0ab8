"""Adds up the steps of a camera (stixel.Frame.ego) to its pose, with a covariance that grows.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stixel import Ego, Frame, Road

    Floats = NDArray[np.float64]

SCALE_SIGMA = 0.01  # error that all steps share, of the way: docs/use/bridge.md says why
# a camera whose step is not known: standard deviations of its acceleration, m/s^2 and rad/s^2
ACCELERATION, TURN_ACCELERATION = 3.0, 3.0
AHEAD_S = 1.0  # such a camera goes on as before for this time at most
KEPT_NS = 1_000_000_000  # steps do not begin longer ago than this


class Pose(NamedTuple):
    """Pose of the left camera at the capture of a frame, and its velocity.

    A camera's axes are x to the right, y down, z ahead. *There* are the axes of the camera where the trajectory began,
    and the origin is its place then.
    """

    place: Floats  #: (3,), m, there
    turn: Floats  #: (3, 3), rotates from the axes of the camera to those there
    covariance: Floats  #: (6, 6) of the place and of the turn as a rotation vector, both there; m, rad
    velocity: Floats  #: (6,), m/s and rad/s along the axes of the camera: the mean over the last step
    velocity_covariance: Floats  #: (6, 6)
    first_road: Optional[Road]  #: the first road that was known since the trajectory began
    last_road: Optional[Road]


class _Node(NamedTuple):
    """A pose at a time. The covariance is without SCALE_SIGMA."""

    time_ns: int
    place: Floats
    turn: Floats
    covariance: Floats


def cross(v: Floats) -> Floats:
    """Returns the matrix (3, 3) of the cross product: cross(v) @ w is v x w."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _coefficients(angle: float) -> Tuple[float, float, float]:
    """Returns sin(a) / a, (1 - cos(a)) / a^2 and (a - sin(a)) / a^3."""
    if angle < 1e-4:
        return 1.0 - angle ** 2 / 6, 0.5 - angle ** 2 / 24, 1.0 / 6 - angle ** 2 / 120
    return math.sin(angle) / angle, (1 - math.cos(angle)) / angle ** 2, (angle - math.sin(angle)) / angle ** 3


def rotation(vector: Floats) -> Floats:
    """Returns the rotation (3, 3) of a rotation vector, rad."""
    a, b, _ = _coefficients(float(np.linalg.norm(vector)))
    k = cross(vector)
    found: Floats = np.eye(3) + a * k + b * (k @ k)
    return found


def _bent(vector: Floats) -> Floats:
    """Returns the matrix by which a constant velocity becomes a way, while the axes turn by this vector."""
    _, b, c = _coefficients(float(np.linalg.norm(vector)))
    k = cross(vector)
    found: Floats = np.eye(3) + b * k + c * (k @ k)
    return found


def _vector(turn: Floats) -> Floats:
    """Returns the rotation vector of a rotation of less than half a turn."""
    twice = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])  # 2 sin(a) axis
    angle = math.atan2(float(np.linalg.norm(twice)), float(np.trace(turn)) - 1)
    found: Floats = twice / (2 * _coefficients(angle)[0])
    return found


def _velocity(way: Floats, turn: Floats, seconds: float) -> Floats:
    """Returns the constant velocity (6,) that leads over a step in this time."""
    vector = _vector(turn)
    found: Floats = np.concatenate([np.linalg.solve(_bent(vector), way), vector]) / seconds
    return found


def _moved(node: _Node, time_ns: int, way: Floats, turn: Floats, covariance: Floats) -> _Node:
    """Returns the pose after a step. covariance: of the way and of the turn, along the axes of the camera before."""
    ahead = node.turn @ way
    lever = np.eye(6)
    lever[:3, 3:] = -cross(ahead)
    axes = np.kron(np.eye(2), node.turn)
    return _Node(time_ns, node.place + ahead, node.turn @ turn,
                 lever @ node.covariance @ lever.T + axes @ covariance @ axes.T)


def _gone_on(node: _Node, time_ns: int, velocity: Floats) -> _Node:
    """Returns the pose of a camera that has gone on, or had come, with this velocity, which may have changed."""
    seconds = (time_ns - node.time_ns) / 1e9
    step = velocity * min(max(seconds, -AHEAD_S), AHEAD_S)
    doubt = np.repeat([ACCELERATION, TURN_ACCELERATION], 3) * seconds ** 2 / 2
    return _moved(node, time_ns, _bent(step[3:]) @ step[:3], rotation(step[3:]), np.diag(doubt ** 2))


def _between(one: _Node, other: _Node, time_ns: int) -> _Node:
    """Returns the pose between two others, with a constant velocity."""
    share = (time_ns - one.time_ns) / (other.time_ns - one.time_ns)
    step = share * _velocity(one.turn.T @ (other.place - one.place), one.turn.T @ other.turn, 1.0)
    return _Node(time_ns, one.place + one.turn @ _bent(step[3:]) @ step[:3], one.turn @ rotation(step[3:]),
                 one.covariance + share * (other.covariance - one.covariance))


def _sane(ego: Ego) -> bool:
    """Returns whether it is a step: a frame that was forged may have any numbers."""
    values = np.array([*ego.turn_rad, *ego.way_m, *ego.turn_sigma_rad, *ego.way_sigma_m])
    return bool((np.abs(values) < 1e6).all()) and math.hypot(*ego.turn_rad) < math.pi


class Trajectory:
    """The way of one camera. The thread that reads the instance hands it every frame (instances.py).

    A step leads from a frame of about 0.1 s before, so that the steps of a fast camera overlap. Therefore only some
    poses are joined to each other: those whose steps begin where the last one of them ended, or later. The steps of
    the frames between them begin at a pose that lies between two of these. So their errors do not add up.
    """

    def __init__(self) -> None:
        self._epoch: Optional[int] = None
        self._time_ns = 0
        self._forget()

    def _forget(self) -> None:
        self._joined: List[_Node] = []
        self._since: List[_Node] = []  # frames after the last joined pose
        self._velocity = np.zeros(6)
        self._first_road: Optional[Road] = None
        self._last_road: Optional[Road] = None

    def take(self, frame: Frame) -> Optional[Pose]:
        """Returns the pose of this frame. None: the step of the camera is not known, and so nothing is known now.

        Another epoch, or a time that does not grow, begins another trajectory.
        """
        time_ns = frame.capture_left_ns
        if frame.epoch != self._epoch or time_ns <= self._time_ns:
            self._forget()
        self._epoch, self._time_ns = frame.epoch, time_ns
        ego = frame.ego
        if ego is None or not _sane(ego):
            return None
        road = frame.road
        if road.known:
            self._first_road, self._last_road = self._first_road or road, road
        return self._add(time_ns, ego)

    def _add(self, time_ns: int, ego: Ego) -> Pose:
        way, turn = np.array(ego.way_m), rotation(np.array(ego.turn_rad))
        covariance = np.diag(np.array(ego.way_sigma_m + ego.turn_sigma_rad) ** 2)
        begin_ns = time_ns - round(ego.seconds * 1e9)
        if not self._joined:
            self._joined.append(_Node(begin_ns, np.zeros(3), np.eye(3), np.zeros((6, 6))))
        begin = self._at(begin_ns)
        node = _moved(begin, time_ns, way, turn, covariance)
        if begin_ns >= self._joined[-1].time_ns:
            self._joined = [n for n in self._joined if time_ns - KEPT_NS <= n.time_ns < begin_ns] + [begin, node]
            self._since = []
        else:
            self._since.append(node)
        self._velocity = _velocity(way, turn, ego.seconds)
        shared, doubt = np.zeros((2, 6, 6))
        shared[:3, :3] = np.outer(node.place, node.place)
        doubt[:3, :3] = np.outer(self._velocity[:3], self._velocity[:3])
        return Pose(node.place, node.turn, node.covariance + SCALE_SIGMA ** 2 * shared, self._velocity,
                    covariance / ego.seconds ** 2 + SCALE_SIGMA ** 2 * doubt, self._first_road, self._last_road)

    def _at(self, time_ns: int) -> _Node:
        """Returns the pose at the time at which a step begins."""
        nodes = self._joined + self._since
        if time_ns <= nodes[0].time_ns:
            return _gone_on(nodes[0], time_ns, self._velocity)
        for one, other in zip(nodes, nodes[1:]):
            if time_ns <= other.time_ns:
                return _between(one, other, time_ns)
        return _gone_on(nodes[-1], time_ns, self._velocity)
