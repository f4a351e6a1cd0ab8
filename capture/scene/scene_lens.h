/*
 * Raw cameras of the synthetic street. Each raw pixel is drawn where its ray meets the scene, in a view of
 * the rectified camera that is wider than the rectified image: no image is resampled, and the noise is the
 * raw pixel's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_LENS_H
#define SX_CAPTURE_SCENE_SCENE_LENS_H

struct sx_scene;

/*
 * Of one raw camera: the place in the drawn view that each pixel sees, {x, y} in px, row by row; x < 0: none,
 * the pixel is dark. at: NULL where the camera is the rectified one.
 */
struct sx_lens_view {
	int width, height; /* of the raw image, px */
	float *at;
};

/* px by which the drawn view goes on at each end of a rectified image of so many px across, or down. */
int sx_lens_margin(int px);

/* The tables of both cameras of a scene that has its rig. -ENOMEM. finish accepts a zeroed one. */
int sx_lens_init(struct sx_scene *s);
void sx_lens_finish(struct sx_lens_view *lens);

#endif
