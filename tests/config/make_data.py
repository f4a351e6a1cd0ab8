# Writes the calibration files in data/ in the formats of the original tools. Prints OpenCV's results for
# test_raw_cameras.c. Needs python3-opencv. The files are kept in the repository, so tests do not need it.
# Usage: make_data.py FOLDER
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import cv2
import numpy as np

SIZE = (752, 480)
K1 = np.array([[458.654, 0, 367.215], [0, 457.296, 248.375], [0, 0, 1.0]])
K2 = np.array([[457.587, 0, 379.999], [0, 456.134, 255.238], [0, 0, 1.0]])
PLUMB_BOB = (np.array([[-0.2834, 0.0740, 0.0002, 0.00002, -0.008]]),
             np.array([[-0.2837, 0.0745, -0.0001, -0.00003, -0.0085]]))
FISHEYE = (np.array([[-0.012], [0.006], [-0.004], [0.0007]]),
           np.array([[-0.011], [0.005], [-0.0035], [0.0006]]))
R = cv2.Rodrigues(np.array([0.004, -0.0137, 0.0071]))[0]
T = np.array([[-0.1101], [0.0004], [-0.00087]])


def write(folder, name, **values):
    file = cv2.FileStorage(os.path.join(folder, name), cv2.FILE_STORAGE_WRITE)
    for key, value in values.items():
        file.write(key, value)
    file.release()


def show(name, rotations, p1, p2):
    print("%s: fx %.12g fy %.12g cx %.12g cy %.12g baseline %.12g" % (
        name, p1[0, 0], p1[1, 1], p1[0, 2], p1[1, 2], -p2[0, 3] / p2[0, 0]))
    for r in rotations:
        print("  {" + ", ".join("%.12g" % v for v in r.ravel()) + "},")


def text(values):
    return "[" + ", ".join("%.17g" % v for v in np.asarray(values).ravel()) + "]"


def write_ros(folder, name, side, k, d, r, p):
    with open(os.path.join(folder, name), "w") as file:
        file.write("image_width: %d\nimage_height: %d\ncamera_name: narrow_stereo/%s\n" % (*SIZE, side))
        for key, rows, cols, values in (("camera_matrix", 3, 3, k), (None, 0, 0, 0),
                                        ("distortion_coefficients", 1, 5, d), ("rectification_matrix", 3, 3, r),
                                        ("projection_matrix", 3, 4, p)):
            if key:
                file.write("%s:\n  rows: %d\n  cols: %d\n  data: %s\n" % (key, rows, cols, text(values)))
            else:
                file.write("distortion_model: plumb_bob\n")


def write_kalibr(folder, name):
    with open(os.path.join(folder, name), "w") as file:
        for i, (k, d) in enumerate(((K1, PLUMB_BOB[0]), (K2, PLUMB_BOB[1]))):
            file.write("cam%d:\n" % i)
            if i:
                file.write("  T_cn_cnm1:\n")
                for row in np.vstack((np.hstack((R, T)), [0, 0, 0, 1])):
                    file.write("  - %s\n" % text(row))
            file.write("  cam_overlaps: [%d]\n  camera_model: pinhole\n" % (1 - i))
            file.write("  distortion_coeffs: %s\n  distortion_model: radtan\n" % text(d[0, :4]))
            file.write("  intrinsics: %s\n" % text([k[0, 0], k[1, 1], k[0, 2], k[1, 2]]))
            file.write("  resolution: [%d, %d]\n  rostopic: /cam%d/image_raw\n" % (*SIZE, i))


def main(folder):
    d1, d2 = PLUMB_BOB
    r1, r2, p1, p2, q, _, _ = cv2.stereoRectify(K1, d1, K2, d2, SIZE, R, T, flags=cv2.CALIB_ZERO_DISPARITY, alpha=0)
    show("plumb_bob", (r1, r2), p1, p2)
    # names as in OpenCV's samples/cpp/stereo_calib.cpp
    write(folder, "intrinsics.yml", M1=K1, D1=d1, M2=K2, D2=d2)
    write(folder, "extrinsics.yml", R=R, T=T, R1=r1, R2=r2, P1=p1, P2=p2, Q=q)
    write(folder, "opencv.yml", image_width=SIZE[0], image_height=SIZE[1], cameraMatrix1=K1, distCoeffs1=d1.T,
          cameraMatrix2=K2, distCoeffs2=d2.T, R=R, T=T)
    f1, f2 = FISHEYE
    write(folder, "fisheye.yml", image_width=SIZE[0], image_height=SIZE[1], fisheye=1, K1=K1, D1=f1, K2=K2, D2=f2,
          R=R, T=T, R1=r1, R2=r2, P1=p1, P2=p2)
    write_ros(folder, "ros_left.yaml", "left", K1, d1, r1, p1)
    write_ros(folder, "ros_right.yaml", "right", K2, d2, r2, p2)
    write_kalibr(folder, "kalibr.yaml")
    four = [np.append(d[0, :4], 0) for d in PLUMB_BOB]
    r1, r2, p1, p2, _, _, _ = cv2.stereoRectify(K1, four[0], K2, four[1], SIZE, R, T,
                                                flags=cv2.CALIB_ZERO_DISPARITY, alpha=0)
    show("kalibr", (r1, r2), p1, p2)
    for alpha in (-1, 1):
        r1, r2, p1, p2, _, _, _ = cv2.stereoRectify(K1, d1, K2, d2, SIZE, R, T, flags=cv2.CALIB_ZERO_DISPARITY,
                                                    alpha=alpha, newImageSize=(640, 400))
        show("alpha %d, 640x400" % alpha, (r1, r2), p1, p2)


main(sys.argv[1])
