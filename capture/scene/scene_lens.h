/*
 * Raw cameras of the synthetic street. Each raw pixel is drawn where its ray meets the scene, in a view of
 * the rectified camera that is wider than the rectified image. So no image is resampled, and each raw pixel
 * has its own noise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_LENS_H
#define SX_CAPTURE_SCENE_SCENE_LENS_H

struct sx_scene;

/*
 * View of one raw camera. at: for each raw pixel, row by row, the place {x, y} in the drawn view that the
 * pixel sees, px. x < 0: the pixel sees nothing and is dark. at is NULL if the camera is the rectified one.
 */
struct sx_lens_view {
	int width, height; /* size of the raw image, px */
	float *at;
};

/*
 * Returns the margin of the drawn view, px, at each end of a rectified image with a width or height of `px`.
 */
int sx_lens_margin(int px);

/*
 * Computes the tables of both cameras of a scene whose rig is set. Returns -ENOMEM. finish accepts a zeroed
 * table.
 */
int sx_lens_init(struct sx_scene *s);
void sx_lens_finish(struct sx_lens_view *lens);

#endif
