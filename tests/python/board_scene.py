# Renders pairs of a board as two known cameras see them. Each sample's ray is intersected with the plane, and the
# samples of a pixel are averaged. NumPy only. The lens models are implemented here a second time, so that a mistake of
# the program does not cancel out.
# SPDX-License-Identifier: Apache-2.0
import cv2
import numpy as np

SAMPLES = 3  # samples along a pixel's side
GRID = 2
NEWTON = 30
EDGE = 14  # distance of inner corners from the image's border, px


def rotation(vector):
    """Returns the rotation matrix of a Rodrigues vector."""
    v = np.asarray(vector, float)
    angle = np.linalg.norm(v)
    if angle == 0:
        return np.eye(3)
    x, y, z = v / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


class Camera:
    """lens: plumb_bob (k1 k2 p1 p2 k3), rational (k1 k2 p1 p2 k3 k4 k5 k6), equidistant (k1 k2 k3 k4)."""

    def __init__(self, size, lens, f, c, d):
        self.size, self.lens, self.f, self.c = size, lens, np.asarray(f, float), np.asarray(c, float)
        self.d = np.r_[np.asarray(d, float), np.zeros(8 - len(d))]
        self.k = np.array([[f[0], 0, c[0]], [0, f[1], c[1]], [0, 0, 1]])
        # rays are exact on a grid of GRID px; in between they are interpolated with an error of less than 0.001 px
        x, y = (np.arange(-GRID, n + 2 * GRID, GRID) for n in size)
        rays = self._rays(np.stack(np.meshgrid(x, y), axis=-1).astype(float))
        for axis, n in ((1, size[0]), (0, size[1])):
            at = (np.arange(n * SAMPLES) + 0.5) / SAMPLES - 0.5
            i = np.floor(at / GRID).astype(int) + 1
            part = (at / GRID + 1 - i).astype(np.float32).reshape([-1, 1, 1] if axis == 0 else [1, -1, 1])
            rays = rays.take(i, axis) * (1 - part) + rays.take(i + 1, axis) * part
        self.rays = rays

    def _bend(self, xy):
        """Flat lenses: maps points at z = 1 to positions in focal lengths."""
        k1, k2, p1, p2, k3, k4, k5, k6 = self.d
        x, y = xy[..., 0], xy[..., 1]
        s = x * x + y * y
        g = (1 + s * (k1 + s * (k2 + s * k3))) / (1 + s * (k4 + s * (k5 + s * k6)))
        return np.stack([x * g + 2 * p1 * x * y + p2 * (s + 2 * x * x),
                         y * g + p1 * (s + 2 * y * y) + 2 * p2 * x * y], -1)

    def _bend_angle(self, a):
        s = a * a
        return a * (1 + s * (self.d[0] + s * (self.d[1] + s * (self.d[2] + s * self.d[3]))))

    def project(self, points):
        """Projects points (..., 3) in front of the camera to px."""
        p = np.asarray(points, float)
        if self.lens != "equidistant":
            return self._bend(p[..., :2] / p[..., 2:]) * self.f + self.c
        across = np.maximum(np.linalg.norm(p[..., :2], axis=-1), 1e-12)
        scale = self._bend_angle(np.arctan2(across, p[..., 2])) / across
        return p[..., :2] * scale[..., None] * self.f + self.c

    def _rays(self, px):
        wanted = (px - self.c) / self.f
        if self.lens != "equidistant":
            xy = wanted.copy()
            for _ in range(NEWTON):
                xy += wanted - self._bend(xy)
            return np.concatenate([xy, np.ones_like(xy[..., :1])], -1).astype(np.float32)
        radius = np.maximum(np.linalg.norm(wanted, axis=-1), 1e-12)
        angle = radius.copy()
        for _ in range(NEWTON):
            angle += radius - self._bend_angle(angle)
        out = wanted * (np.sin(angle) / radius)[..., None]
        return np.concatenate([out, np.cos(angle)[..., None]], -1).astype(np.float32)

    def see(self, texture, dots_per_m, r, t, background, noise):
        """Returns a grey image of a board at r, t. texture: picture of the board."""
        image = background.astype(np.float32)
        w, h = self.size
        high, wide = np.array(texture.shape) / dots_per_m
        edge = np.linspace(0, 1, 40)
        outline = np.concatenate([np.c_[edge * wide, 0 * edge], np.c_[edge * wide, 0 * edge + high],
                                  np.c_[0 * edge, edge * high], np.c_[0 * edge + wide, edge * high]])
        px = self.project(np.c_[outline, np.zeros(len(outline))] @ r.T + t)
        x0, y0 = np.maximum(np.floor(px.min(axis=0)).astype(int) - 1, 0)
        x1, y1 = np.minimum(np.ceil(px.max(axis=0)).astype(int) + 2, (w, h))
        if x1 <= x0 or y1 <= y0:
            return (image + noise).clip(0, 255).astype(np.uint8)
        s = SAMPLES
        rays = self.rays[y0 * s:y1 * s, x0 * s:x1 * s]
        normal = r[:, 2].astype(np.float32)
        depth = np.float32(normal @ t) / (rays @ normal)
        on = (rays @ (r[:, :2] * dots_per_m).astype(np.float32)) * depth[..., None]
        on -= (t @ r[:, :2] * dots_per_m).astype(np.float32)
        u, v = on[..., 0].astype(int), on[..., 1].astype(int)
        inside = (depth > 0) & (on >= 0).all(axis=-1) & (u < texture.shape[1]) & (v < texture.shape[0])
        back = np.repeat(np.repeat(image[y0:y1, x0:x1], s, 0), s, 1)
        seen = np.where(inside, texture[np.where(inside, v, 0), np.where(inside, u, 0)], back)
        image[y0:y1, x0:x1] = seen.reshape(y1 - y0, s, x1 - x0, s).mean(axis=(1, 3))
        return (image + noise).clip(0, 255).astype(np.uint8)


def as_photo(image, random):
    """Changes the picture to that of a camera in a room: light from one side, the reflection of a lamp, a slightly
    blurred lens with dark corners, and the noise of a dark picture."""
    h, w = image.shape
    y, x = np.mgrid[0:h, 0:w] / np.array([h, w], float).reshape(2, 1, 1) - 0.5
    turn, at = random.uniform(0, 2 * np.pi), random.uniform(-0.3, 0.3, 2)
    light = 0.30 + 0.25 * (x * np.cos(turn) + y * np.sin(turn)) * 2
    light *= 1 - 0.9 * (x * x + y * y)
    lamp = 55 * np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / 0.015)
    soft = cv2.GaussianBlur(image, (0, 0), 0.9).astype(float)
    return (soft * light + lamp + 12 + random.normal(0, 3, image.shape)).clip(0, 255).astype(np.uint8)


class Rig:
    """Left and right camera. A point p in the left camera's axes is r p + t in the right camera's axes."""

    def __init__(self, left, right, r, t):
        self.left, self.right, self.r, self.t = left, right, np.asarray(r, float), np.asarray(t, float)


def rig(lens, size=(640, 480)):
    """Returns a stereo camera with a baseline of 12 cm whose cameras are slightly different and not quite parallel."""
    w, h = size
    f = {"plumb_bob": 0.9, "rational": 0.62, "equidistant": 0.45}[lens] * w
    d = {"plumb_bob": (-0.31, 0.11, 0.0008, -0.0006, -0.015),
         "rational": (0.78, 0.068, 0.0006, -0.0004, 0.0004, 1.11, 0.24, 0.001),
         "equidistant": (0.03, -0.012, 0.004, -0.001)}[lens]
    left = Camera(size, lens, (f, f * 1.002), (w * 0.508, h * 0.49), d)
    right = Camera(size, lens, (f * 1.006, f * 1.007), (w * 0.493, h * 0.512), np.multiply(d, 0.97))
    return Rig(left, right, rotation((0.011, -0.014, 0.02)), (-0.12, 0.0015, 0.002))


class Scene:
    """Board views of a rig. board: the board of the program, of which only size and picture are used."""

    def __init__(self, rig_, board, seed, dots=40, noise=1.5):
        self.rig, self.random, self.noise = rig_, np.random.default_rng(seed), noise
        self.dots_per_m = dots / (board.square_mm / 1000)
        self.margin_m = 0.8 * board.square_mm / 1000
        margin = round(self.margin_m * self.dots_per_m)
        squares = np.full(((board.rows + 1) * dots, (board.columns + 1) * dots), 225, np.float32)
        for edges in board.rectangles():
            x, y, w, h = (v * dots / board.square_mm for v in edges)
            squares[round(y):round(y + h), round(x):round(x + w)] = 25
        self.texture = np.pad(squares, margin, constant_values=225)
        self.extent_m = np.array(self.texture.shape[::-1]) / self.dots_per_m
        s = board.square_mm / 1000
        grid = np.mgrid[1:board.columns + 1, 1:board.rows + 1].T.reshape(-1, 2)
        self.inner = np.c_[grid * s + self.margin_m, np.zeros(len(grid))]
        w, h = rig_.left.size
        y, x = np.mgrid[0:h, 0:w]
        self.background = 70 + 40 * np.sin(x / w * 5) * np.cos(y / h * 4)

    def clutter(self):
        """Draws shelves and books behind the board: edges and corners of any contrast."""
        h, w = self.background.shape
        for _ in range(250):
            x, y = self.random.integers(0, (w, h))
            wide, high = self.random.integers(5, 80, 2)
            self.background[y:y + high, x:x + wide] = self.random.uniform(10, 240)

    def _visible(self, r, t):
        """Returns the share of the inner corners that both cameras see."""
        corners = self.inner @ r.T + t
        w, h = self.rig.left.size
        seen = np.ones(len(corners), bool)
        for camera, points in ((self.rig.left, corners), (self.rig.right, corners @ self.rig.r.T + self.rig.t)):
            px = camera.project(points)
            seen &= (points[:, 2] > 0.1) & (px > EDGE).all(axis=1) & (px < (w - EDGE, h - EDGE)).all(axis=1)
        return seen.mean()

    def pose(self, near, far, tilt_deg, share=1.0):
        """Returns a random pose in which both cameras see at least this share of the inner corners. The board's middle
        lies anywhere in the left image."""
        w, h = self.rig.left.size
        while True:
            px = self.random.uniform((0, 0), (w, h))
            ray = self.rig.left.rays[int(px[1]) * SAMPLES, int(px[0]) * SAMPLES].astype(float)
            lean = np.radians(self.random.uniform(-tilt_deg, tilt_deg, 2))
            ray /= np.linalg.norm(ray)
            # the board is held towards the camera: away from the axis it is tilted towards the camera
            towards = np.array([-ray[1], ray[0], 0]) / max(np.hypot(ray[0], ray[1]), 1e-9) * np.arccos(ray[2])
            r = rotation(towards) @ rotation((lean[1], lean[0], self.random.uniform(-0.35, 0.35)))
            t = ray * self.random.uniform(near, far) - r[:, :2] @ (self.extent_m / 2)
            if self._visible(r, t) >= share:
                return r, t

    def pair(self, r, t):
        """Returns both images of a pose."""
        g = self.rig
        w, h = g.left.size
        noise = self.random.normal(0, self.noise, (2, h, w))
        return (g.left.see(self.texture, self.dots_per_m, r, t, self.background, noise[0]),
                g.right.see(self.texture, self.dots_per_m, g.r @ r, g.r @ t + g.t, self.background, noise[1]))
