#!/usr/bin/env python3
"""Shows a frame in Open3D (pip install open3d): open3d_view.py front, or open3d_view.py drive.mcap; with a name of a
PLY file behind it, the program writes the points to that file and shows nothing.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

import numpy as np
import open3d as o3d

import stixel

GREEN, GREY = (0.4, 0.7, 0.4), (0.6, 0.6, 0.6)

try:
    name = sys.argv[1] if len(sys.argv) > 1 else "default"
    frame = next(iter(stixel.Recording(name) if os.path.isfile(name) else stixel.open(name)))
    obstacles = frame.obstacle_points(step=0.1, range_max=60.0)
    ground = frame.ground_points(step=0.5, range_max=60.0)
    points = np.concatenate([obstacles, ground])
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(
        np.stack([points[k] for k in "xyz"], 1).astype(np.float64)))  # vehicle coordinates: x forward, y left, z up
    colours = np.tile(GREEN, (len(points), 1))
    colours[:len(obstacles)] = GREY
    cloud.colors = o3d.utility.Vector3dVector(colours)
    boxes = []
    for b in frame.boxes():
        box = o3d.geometry.AxisAlignedBoundingBox(*([float(b[k + end]) for k in "xyz"] for end in ("_min", "_max")))
        box.color = (1, 0, 0)
        boxes.append(box)
    print("frame %d: %d points, %d boxes" % (frame.number, len(points), len(boxes)))
    if len(sys.argv) > 2:
        o3d.io.write_point_cloud(sys.argv[2], cloud)
    else:
        o3d.visualization.draw_geometries([cloud, *boxes], front=[-1, 0, 0.4], lookat=[10, 0, 0], up=[0, 0, 1], zoom=.1)
except stixel.StixelError as e:
    sys.exit(str(e))
