#!/usr/bin/env python3
"""Makes class scores of the pairs of KITTI 2015 with a network that OpenCV's dnn reads, good ones and bad ones.

Usage: tests/lab/accuracy/make_scores.py NET TRAINING OUT [--size F] [--noise GREY] [--patches SHARE] [--late FOLDER]

NET: a model of Cityscapes' 19 classes with input RGB 0 to 1; if it has 20 classes, the first one, "unlabeled", is left
out. TRAINING: as for lidar.py. Writes OUT/NAME.npy as stixel-process --semantics reads it: softmax in 1/255, scale 4.
  --size     size of the network's input, as a share of the image's (1)
  --noise    standard deviation of noise in the image that the network sees, grey levels: a camera at night (0)
  --patches  this share of squares of 32 px has the scores of another place of the image (0)
  --late     scores as if they were of an image 0.1 s earlier, of a camera that drove 1 m ahead and turned by half a
             degree since: each pixel has the scores of the place that was there then. FOLDER has
             NAME.disparity-filled.png of stixel-process, for the distance
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os

import cv2
import numpy as np

import lidar

SCALE, PATCH = 4, 32


def run_network(nets, path, image, size):
    """Returns the probabilities of the classes, [class][row][column], of the image's size. nets: by size of the input,
    because OpenCV 4.6 gives a wrong output for ENet if it changes."""
    height, width = image.shape[:2]
    shape = tuple(max(8, round(n * size / 8) * 8) for n in (width, height))
    net = nets.get(shape) or nets.setdefault(shape, cv2.dnn.readNet(path))
    net.setInput(cv2.dnn.blobFromImage(image, 1 / 255.0, shape, 0, swapRB=True, crop=False))
    logits = net.forward()[0]
    p = np.exp(logits - logits.max(0, keepdims=True))
    p = (p / p.sum(0))[-19:]
    return np.stack([cv2.resize(plane, (width, height), interpolation=cv2.INTER_LINEAR) for plane in p])


def with_patches(p, share, rng):
    """Returns p with squares that have the scores of other places."""
    out = p.copy()
    height, width = p.shape[1:]
    for y in range(0, height - PATCH + 1, PATCH):
        for x in range(0, width - PATCH + 1, PATCH):
            if rng.random() < share:
                v, u = rng.integers(height - PATCH), rng.integers(width - PATCH)
                out[:, y:y + PATCH, x:x + PATCH] = p[:, v:v + PATCH, u:u + PATCH]
    return out


def as_before(p, disparity, camera, metres=1.0, degrees=0.5):
    """Returns p as of an earlier image. disparity: px, 0 at infinity. camera: as lidar.calibration()."""
    fx, _, cx, cy, baseline = camera
    y, x = np.mgrid[:p.shape[1], :p.shape[2]].astype(np.float32)
    grown = 1 + metres * disparity / (fx * baseline)  # (z + metres) / z: how much larger the place is now
    x_now = cx + (x + fx * np.tan(np.radians(degrees)) - cx) * grown
    y_now = cy + (y - cy) * grown
    return np.stack([cv2.remap(plane, x_now.astype(np.float32), y_now.astype(np.float32), cv2.INTER_LINEAR,
                               borderMode=cv2.BORDER_REPLICATE) for plane in p])


def to_scores(p):
    """Returns the scores of p, with a last cell for the pixels that remain at the right and lower border."""
    height, width = p.shape[1:]
    pad = [(0, 0), (0, -height % SCALE), (0, -width % SCALE)]
    q = np.pad(p, pad, "edge")
    cells = q.reshape(len(p), q.shape[1] // SCALE, SCALE, q.shape[2] // SCALE, SCALE).mean((2, 4))
    return np.clip(np.rint(255 * cells), 0, 255).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net")
    parser.add_argument("training")
    parser.add_argument("out")
    parser.add_argument("--size", type=float, default=1)
    parser.add_argument("--noise", type=float, default=0)
    parser.add_argument("--patches", type=float, default=0)
    parser.add_argument("--late", metavar="FOLDER")
    a = parser.parse_args()
    nets, rng = {}, np.random.default_rng(7)
    os.makedirs(a.out, exist_ok=True)
    for name in lidar.pairs_of(a.training):
        image = cv2.imread(os.path.join(a.training, "image_2", name + ".png"))
        if a.noise:
            noise = rng.normal(0, a.noise, image.shape[:2])
            image = np.clip(np.rint(image + noise[:, :, None]), 0, 255).astype(np.uint8)
        p = run_network(nets, a.net, image, a.size)
        if a.patches:
            p = with_patches(p, a.patches, rng)
        if a.late:
            path = os.path.join(a.late, name + ".disparity-filled.png")
            camera = lidar.calibration(os.path.join(a.training, "calib_cam_to_cam", name.split("_")[0] + ".txt"))
            p = as_before(p, cv2.imread(path, cv2.IMREAD_UNCHANGED) / 256.0, camera)
        np.save(os.path.join(a.out, name + ".npy"), to_scores(p))


if __name__ == "__main__":
    main()
