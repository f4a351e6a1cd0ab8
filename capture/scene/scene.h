/*
 * Synthetic streets and rooms with known ground truth. A frame depends only on (name, seed, size, frame
 * number), and has the same bytes on every machine: it is computed with integers, and with floating point
 * using + - * / only. Raw cameras see the street through lenses. The tables of the lenses also use sines and
 * square roots, and are rounded.
 *
 * The world consists of plane pieces ("facets"). The inverse depth of a plane is an affine function of the
 * image coordinates. So disparity, visibility and texture coordinates of both views are exact at every
 * sub-pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_H
#define SX_CAPTURE_SCENE_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "base/camera.h"
#include "base/image.h"
#include "base/rig.h"
#include "base/why.h"

#define SX_SCENE_WIDTH 1242
#define SX_SCENE_HEIGHT 375
#define SX_ROOM_WIDTH 640
#define SX_ROOM_HEIGHT 480

struct stixel; /* include/stixel.h */
struct sx_scene;

/*
 * Error of the right camera that its calibration does not know. shift_px: its image is shifted to the right by this
 * many px of the rectified image, so that all disparities are too small by it. The angles turn the camera: up, to
 * the right, and clockwise.
 */
struct sx_scene_error {
	double shift_px, pitch_deg, yaw_deg, roll_deg;
};

/*
 * Parameters of a scene.
 *
 * name: "street" (NULL: street). "open": the same road without buildings, trees and parked cars. "climb" and
 * "fall": a road that begins to climb or fall some way ahead. "ramp": a flat street, one part of which rises
 * ahead: the part with the camera's lane, or only the right pavement. In these three scenes the camera drives
 * up to that place and is then put back. "verge": a road that tilts sideways, with kerbs, a fence and houses
 * on one side, grass, guard rail and bank on the other, white sky, lens flare and puddles. Kerbs, pavements
 * and banks are ground; rails and the bars of fences are objects. "cargo": the open road, empty except for
 * small objects of known size and distance. "room": rooms as a small robot sees them, with cameras 6 cm apart
 * and 0.2 to 0.5 m above the floor (scene_room.h).
 *
 * Scenes on the ground of "verge" that test what light does to matching: "night": headlights, street lamps, lit
 * windows and noise. "rain": a wet road that mirrors, falling drops, drops on one lens, haze; half of the seeds are
 * dark. "glass": shop windows that mirror the street. Reflections, rain and drops are not in the truth.
 *
 * Scenes with truth of motion (motion/episode.h), in which each thing has its own path and speed, and the camera
 * turns, shakes and dives: "traffic": a car ahead that brakes and speeds up, oncoming cars, cars that turn off or in,
 * cyclists. "crossing": people and cyclists cross, start and stop, some behind parked vans, and cars cross. "bend":
 * the street bends, and the camera turns by up to 25 degrees a second. "yard": a robot with cameras 7.5 cm apart,
 * among people, another robot, and things that stand. All have leaves that sway, and fences with equal bars. After
 * 24 s such a scene begins anew elsewhere.
 *
 * lenses: "ideal" (NULL: ideal): the images are a rectified pair. All other lenses give raw images. After
 * rectification by sx_scene_rig() these equal the images of ideal lenses, except for the loss by
 * interpolation. "plain": barrel distortion, as of cheap cameras. "wide": up to 105 degrees, the rational
 * model. "fisheye": up to 124 degrees. Both cameras are rotated, by 1.7 degrees between each other, and
 * differ in focal lengths and principal points.
 *
 * raw_width, raw_height: size of raw images, px, within the same limits; 0: as the rectified images.
 *
 * fps: frames per second of the scenes with truth of motion: frame n shows their world at n / fps s. 0: 30. In other
 * scenes, speeds are per frame.
 *
 * right: the images show it, and sx_scene_rig() does not have it.
 */
struct sx_scene_params {
	const char *name;
	unsigned seed;
	int width, height; /* size of the rectified images, px, 32..4096 x 32..2160 */
	const char *lenses;
	int raw_width, raw_height;
	double fps;
	struct sx_scene_error right;
};

/*
 * Creates a scene. *ret is set on success only. Returns -EINVAL for an unknown name, lenses or size, or
 * -ENOMEM, with a message in why.
 */
int sx_scene_create(struct sx_scene **ret, const struct sx_scene_params *p, struct sx_why *why);
void sx_scene_destroy(struct sx_scene *s);
const char *sx_scene_name(const struct sx_scene *s);

/* Returns the usual size of the rectified images of a scene, px. An unknown name is taken as a street. */
void sx_scene_usual_size(const char *name, int *width, int *height);

/*
 * Returns the nominal rectified camera of a scene: the values for a configuration. All streets have the same
 * camera. In rooms, its height depends on the seed. lenses are not used. Pixel centres are at integers. An
 * unknown name is taken as a street.
 */
void sx_scene_camera(const struct sx_scene_params *p, struct sx_camera *ret);

/*
 * Returns the raw cameras of these scene, lenses and sizes, and their rectification to the nominal camera.
 * Both raw cameras see all of the rectified image. "ideal": already rectified (sx_rig_is_rectified()), and of
 * the rectified size. Returns -EINVAL with a message for unknown lenses; *ret is set on success only.
 */
int sx_scene_rig(const struct sx_scene_params *p, struct sx_rig *ret, struct sx_why *why);

/*
 * Draws frame number `frame` of both cameras into two U8 images of the scene's size. Allocates nothing. Only
 * one thread at a time may use a scene.
 */
void sx_scene_render(struct sx_scene *s, uint32_t frame, struct sx_image *left, struct sx_image *right);

#endif
