"""Plants faults of cameras into rectified pairs: covered lenses, masks, dirt, dead rows, frozen images, fog, night.

A fault takes a Street and returns a Planted: pairs as the cameras would deliver them, and the share of the scene's
light that is lost in each pixel. This share is the truth of where nothing can be measured. Sizes are in px of a
picture that is 1242 px wide; they are scaled down for smaller pictures.

SPDX-License-Identifier: Apache-2.0
"""
from typing import Callable, Dict, List, NamedTuple, Tuple

import numpy as np

VARIANTS = 3  # number of pairs of a standing street: the same picture with different sensor noise, as from cameras
SENSOR_NOISE = 0.7  # grey levels
GONE = 0.97  # share of lost light from which on nothing can be measured
HARDLY = 0.9  # share of lost light from which on nothing can be demanded
VISIBLE = 0.8  # below this share of lost light a thing has to be seen
JPEG_LUMINANCE = np.array([  # ITU-T T.81, table K.1
    [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56],
    [14, 17, 22, 29, 51, 87, 80, 62], [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
    [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99]], float)


class Street:
    """The scene that both cameras see.

    pairs: of consecutive moments; the first is used for a standing street. horizon: image row. depth: of each pixel
    of the left and of the right image, m, inf for the sky; only fog needs it.
    """

    def __init__(self, pairs, horizon, depth=None):
        self.pairs, self.horizon, self.depth = pairs, horizon, depth
        self.height, self.width = pairs[0][0].shape
        self.scale = self.width / 1242
        self.y, self.x = np.mgrid[:self.height, :self.width].astype(float)

    def px(self, length):
        return length * self.scale

    def still(self, rng):
        """Returns the first pair VARIANTS times, with different noise."""
        return [tuple(image + rng.normal(0, SENSOR_NOISE, image.shape) for image in self.pairs[0])
                for _ in range(VARIANTS)]


class Planted(NamedTuple):
    """Pairs with a fault. lost: share of the scene's light that is lost in each pixel of the left and of the right
    image, 0..1."""

    pairs: List[Tuple[np.ndarray, np.ndarray]]
    lost: Tuple[np.ndarray, np.ndarray]


def to_grey(image):
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def jpeg(image, quality):
    """Returns a grey image with JPEG's loss: cosine transform of blocks, quantized and inverted."""
    height, width = image.shape
    blocks = np.pad(image.astype(float), ((0, -height % 8), (0, -width % 8)), "edge") - 128
    k = np.arange(8)
    transform = np.sqrt(0.25) * np.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16)
    transform[0] /= np.sqrt(2)
    scale = 50 / quality if quality < 50 else 2 - quality / 50
    table = np.clip(np.rint(JPEG_LUMINANCE * scale), 1, 255)
    rows, columns = (n // 8 for n in blocks.shape)
    blocks = blocks.reshape(rows, 8, columns, 8).transpose(0, 2, 1, 3)
    blocks = transform.T @ (np.rint(transform @ blocks @ transform.T / table) * table) @ transform + 128
    return blocks.transpose(0, 2, 1, 3).reshape(rows * 8, columns * 8)[:height, :width]


def blur(mask, sigma):
    """Applies a Gaussian filter. Pixels beyond the border equal those at the border."""
    reach = int(3 * sigma) + 1
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    for axis in (0, 1):
        padded = np.pad(mask, [(reach, reach) if a == axis else (0, 0) for a in (0, 1)], "edge")
        mask = np.lib.stride_tricks.sliding_window_view(padded, len(kernel), axis) @ kernel
    return mask


# -- places: functions of a street and a side (0 left, 1 right) that return the lost share of each pixel --
def everywhere(s, side):
    return np.ones(s.x.shape)


def nowhere(s, side):
    return np.zeros(s.x.shape)


def at_right(width):
    return lambda s, side: (s.x >= s.width - s.px(width)).astype(float)


def at_left(width):
    return lambda s, side: (s.x < s.px(width)).astype(float)


def letterbox(height):
    return lambda s, side: ((s.y < s.px(height)) | (s.y >= s.height - s.px(height))).astype(float)


def patch(s, side):
    """Returns a large thing in front of the lens, or in the mask of a user: 200 px wide, from above the horizon
    down."""
    from_x = 0.58 * s.width
    return ((s.y >= 0.58 * s.horizon) & (s.x >= from_x) & (s.x < from_x + s.px(200))).astype(float)


def middle_patch(s, side):
    """Returns a large patch in front of the road ahead, with road below it."""
    return ((np.abs(s.x - s.width / 2) < s.px(60)) & (s.y >= 0.58 * s.horizon) &
            (s.y < s.horizon + 0.7 * (s.height - s.horizon))).astype(float)


def curved(s, side):
    """Returns the parts that stay empty after rectification of a barrel lens and a turned camera: arcs at both
    sides."""
    v = (s.y / s.height - 0.5 + (0.06, -0.06)[side]) * 2
    return ((s.x < s.px(70) * (1 - v * v) + s.px(6) * side) |
            (s.x >= s.width - s.px(90) * v * v - s.px(10) * side)).astype(float)


def bonnet(s, side):
    """Returns a mask that a user paints over the bonnet: an arc at the lower border."""
    u = (s.x / s.width - 0.5) * 2
    return (s.y >= s.height - s.px(75) * (1 - 0.6 * u * u)).astype(float)


def tape(soft_px=0.0, row=0.5):
    """Returns 60 px of tape in the middle of the road, as sharp as a lens shows things on its surface. row: 0
    horizon, 1 lower border."""
    def where(s, side):
        y = s.horizon + row * (s.height - s.horizon)
        square = ((np.abs(s.x - s.width / 2) < s.px(30)) & (np.abs(s.y - y) < s.px(30))).astype(float)
        return np.clip(blur(square, s.px(soft_px)), 0, 1) if soft_px else square
    return where


def dirt(s, side):
    """Returns drops of mud, out of focus. The middle of large drops is opaque."""
    rng = np.random.default_rng(5)
    mask = np.zeros(s.x.shape)
    for _ in range(14):
        x, y = rng.uniform(0, s.width), rng.uniform(0.3 * s.height, s.height)
        radius = s.px(rng.uniform(12, 45))
        mask = np.maximum(mask, np.hypot(s.x - x, s.y - y) < radius)
    return np.clip(blur(mask, s.px(8)), 0, 1)


def rows(*which):
    """Returns dead rows. which: row numbers in an image of 375 rows."""
    return lambda s, side: np.isin(s.y, [round(r * s.height / 375) for r in which]).astype(float)


def glare(dx, row, radius):
    """Returns a saturated disc with a halo."""
    def where(s, side):
        r = np.hypot(s.x - s.width * dx, s.y - s.height * row) / s.px(radius)
        return np.clip(2 - r, 0, 1) ** 2
    return where


# -- contents: functions that return the picture in these places --
def constant(value):
    return lambda s, rng: (np.full(s.x.shape, float(value)),) * 2


def noise(value, sigma, same=False):
    """Returns noise: the same in both images, or a different one in each."""
    def what(s, rng):
        left, right = (value + rng.normal(0, sigma, s.x.shape) for _ in range(2))
        return (left, left) if same else (left, right)
    return what


def shade(value, by):
    """Returns a finger or a cap: nearly flat, a little brighter to one side, with the sensor's noise."""
    return lambda s, rng: tuple(value + by * s.x / s.width + rng.normal(0, SENSOR_NOISE, s.x.shape) for _ in range(2))


# -- faults --
def painted(where, what, sides=(0, 1), after=None):
    """Returns a fault that paints a content into a place. after: function for the whole picture, such as a camera's
    compression."""
    def plant(s, rng):
        lost = tuple(where(s, side) if side in sides else nowhere(s, side) for side in (0, 1))
        pairs = []
        for pair in s.still(rng):
            over = what(s, rng)
            pairs.append(tuple(image * (1 - m) + o * m if m.any() else image for image, o, m in zip(pair, over, lost)))
        if after:
            pairs = [tuple(after(to_grey(image)) for image in pair) for pair in pairs]
        return Planted(pairs, lost)
    return plant


def clean(s, rng):
    return Planted(s.still(rng), (nowhere(s, 0), nowhere(s, 1)))


def frozen(still):
    """Returns a fault in which one camera's picture stays while the vehicle drives on, so that it shows things that
    are no longer there."""
    def plant(s, rng):
        pairs = [tuple(s.pairs[0][side] if side == still else pair[side] + rng.normal(0, SENSOR_NOISE, s.x.shape)
                       for side in (0, 1)) for pair in s.pairs]
        return Planted(pairs, tuple(np.full(s.x.shape, HARDLY) for _ in range(2)))
    return plant


def one_twice(s, rng):
    """Gives both images the left camera's picture, so no disparity can be measured."""
    return Planted([(left, left) for left, _ in s.still(rng)], (everywhere(s, 0), everywhere(s, 1)))


def fog(visibility, light=190):
    """Returns fog by Koschmieder's law. visibility: distance at which 5 % of the contrast is left, m. light 0:
    headlights, or a dark room."""
    def plant(s, rng):
        lost = tuple(1 - np.exp(np.log(0.05) * depth / visibility) for depth in s.depth)
        pairs = [tuple(image * (1 - m) + light * m + rng.normal(0, SENSOR_NOISE, image.shape)
                       for image, m in zip(s.pairs[0], lost)) for _ in range(VARIANTS)]
        return Planted(pairs, lost)
    return plant


def night(gain, sigma):
    """Returns darker pictures with more noise. The visible share varies, so all pixels count as neither lost nor
    untouched."""
    def plant(s, rng):
        pairs = [tuple(image * gain + 8 + rng.normal(0, sigma, image.shape) for image in s.pairs[0])
                 for _ in range(VARIANTS)]
        return Planted(pairs, tuple(np.full(s.x.shape, 0.5) for _ in range(2)))
    return plant


Fault = Callable[[Street, np.random.Generator], Planted]
BLACK, GREY, WHITE = constant(0), constant(128), constant(255)
FAULTS: Dict[str, Fault] = {
    "clean": clean,
    "both covered": painted(everywhere, BLACK),
    "left covered": painted(everywhere, BLACK, [0]),
    "right covered": painted(everywhere, BLACK, [1]),
    "right covered, noise 1": painted(everywhere, noise(1, 1), [1]),
    "right covered, noise 2": painted(everywhere, noise(6, 2), [1]),
    "right covered by a hand": painted(everywhere, shade(25, 40), [1]),
    "both covered by a cap": painted(everywhere, shade(6, 10)),
    "both white": painted(everywhere, WHITE),
    "right white": painted(everywhere, WHITE, [1]),
    "both grey": painted(everywhere, GREY),
    "both grey, noise 2": painted(everywhere, noise(128, 2)),
    "one image twice": one_twice,
    "left frozen": frozen(0),
    "right frozen": frozen(1),
    "right bar 20 px, black": painted(at_right(20), BLACK),
    "right bar 40 px, black": painted(at_right(40), BLACK),
    "right bar 80 px, black": painted(at_right(80), BLACK),
    "right bar 80 px, grey": painted(at_right(80), GREY),
    "right bar 80 px, white": painted(at_right(80), WHITE),
    "right bar 80 px, noise 0..2": painted(at_right(80), noise(1, 0.7)),
    "right bar 80 px, same noise": painted(at_right(80), noise(1, 0.7, same=True)),
    "right bar 80 px, JPEG": painted(at_right(80), BLACK, after=lambda image: jpeg(image, 75)),
    "right bar 80 px, left only": painted(at_right(80), BLACK, [0]),
    "right bar 80 px, right only": painted(at_right(80), BLACK, [1]),
    "left bar 80 px, black": painted(at_left(80), BLACK),
    "letterbox 30 px": painted(letterbox(30), BLACK),
    "curved borders, black": painted(curved, BLACK),
    "curved borders, grey": painted(curved, GREY),
    "patch, black": painted(patch, BLACK),
    "patch, white": painted(patch, WHITE),
    "patch, grey": painted(patch, GREY),
    "patch, grey, noise 1": painted(patch, noise(128, 1)),
    "patch, grey, noise 2": painted(patch, noise(128, 2)),
    "patch, grey, noise 5": painted(patch, noise(128, 5)),
    "patch, grey, same noise 1": painted(patch, noise(128, 1, same=True)),
    "patch, grey, same noise 5": painted(patch, noise(128, 5, same=True)),
    "patch, JPEG": painted(patch, BLACK, after=lambda image: jpeg(image, 60)),
    "patch, black, left only": painted(patch, BLACK, [0]),
    "patch, black, right only": painted(patch, BLACK, [1]),
    "patch before the road, black": painted(middle_patch, BLACK),
    "patch before the road, grey, left only": painted(middle_patch, GREY, [0]),
    "bonnet masked, black": painted(bonnet, BLACK),
    "bonnet masked, grey": painted(bonnet, GREY),
    "tape, left": painted(tape(), noise(30, 0.7), [0]),
    "tape, left, out of focus": painted(tape(4), noise(30, 0.7), [0]),
    "tape, right": painted(tape(), noise(200, 0.7), [1]),
    "tape, far, left": painted(tape(row=0.25), noise(30, 0.7), [0]),
    "dirt, left": painted(dirt, noise(60, 0.7), [0]),
    "dirt, right": painted(dirt, noise(60, 0.7), [1]),
    "dead row, left": painted(rows(250), BLACK, [0]),
    "3 dead rows, both": painted(rows(230, 231, 232), BLACK),
    "dead rows, right": painted(rows(200, 201, 240, 270, 300, 301, 302), BLACK, [1]),
    "sun on the road": painted(glare(0.5, 0.72, 60), WHITE),
    "sun at the horizon": painted(glare(0.45, 0.45, 60), WHITE),
    "sun, left only": painted(glare(0.5, 0.65, 60), WHITE, [0]),
    "JPEG of quality 50": painted(nowhere, BLACK, after=lambda image: jpeg(image, 50)),
    "fog, sight 15 m": fog(15),
    "fog, sight 30 m": fog(30),
    "fog, sight 60 m": fog(60),
    "dark from 15 m on": fog(15, light=2),
    "night, noise 4": night(0.3, 4),
    "night, noise 8": night(0.3, 8),
}
