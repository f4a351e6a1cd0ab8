/*
 * Darkness and rain of the synthetic scenes: light of headlights, falling drops, and drops on one lens. Light,
 * drops and streaks are no surfaces: the truth does not contain them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_WEATHER_WEATHER_H
#define SX_CAPTURE_SCENE_WEATHER_WEATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/camera.h"

#define SX_WEATHER_DROPS 24

/* A drop of water on a lens, out of focus: place and radius in the view, px. */
struct sx_drop {
	float x, y, radius;
};

/* Values that depend on the seed alone. All 0: a clear day. */
struct sx_weather {
	uint64_t seed;
	bool dark;	 /* headlights and lamps are the only light */
	float ambient;	 /* share of the daylight that is left in the dark */
	float glass;	 /* share of the reflected tone in shop windows; 0: there are none */
	float flood;	 /* added to how wet the road is, 0..1 */
	int streaks;	 /* falling drops that the left camera may see */
	float wind;	 /* px to the right per px that a drop falls */
	int side, drops; /* the lens with drops, and their number */
	struct sx_drop drop[SX_WEATHER_DROPS];
};

/* Sets streaks, wind and drops of a rain. width, height: of the view, px; px: size of a pixel of KITTI's camera. */
void sx_weather_rain(struct sx_weather *w, int width, int height, double px);

/* Returns the share of daylight at a place relative to the left camera's foot, m. up: height above the road. */
float sx_weather_light(const struct sx_weather *w, double right, double up, double ahead);

/*
 * Finds the drop that covers (x, y). Returns the share of the tone that it changes, 0..1, and in at the place of
 * the view that is seen through it there: drops show the view upside down, and smaller.
 */
float sx_weather_drop(const struct sx_weather *w, int side, int x, int y, double at[2]);

/*
 * Draws the falling drops that a camera sees in a frame. The function sets each of the
 * width * height values of tones to the tone that the drops add there. c is the left camera; the rows and columns are
 * those of its view.
 */
void sx_weather_streaks(const struct sx_weather *w, const struct sx_camera *c, int side, uint32_t frame,
			int width, int height, float *tones);

#endif
