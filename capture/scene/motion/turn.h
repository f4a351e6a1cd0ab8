/*
 * Sine and cosine with the same bits on every machine: + - * and a floor only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_MOTION_TURN_H
#define SX_CAPTURE_SCENE_MOTION_TURN_H

#include "capture/scene/surface/scene_noise.h"

#define SX_PI 3.14159265358979323846
#define SX_DEGREE (SX_PI / 180)

struct sx_turn {
	double cosine, sine;
};

/* Returns cosine and sine of an angle, rad, |angle| < 1e6. Errors are below 1e-15 for |angle| < 10. */
static inline struct sx_turn sx_turn_of(double angle)
{
	/* pi/2 in two parts; the product of the first one with a small number is exact */
	const int64_t quarter = sx_floor(angle * (2 / SX_PI) + 0.5);
	const double a = angle - (double)quarter * 1.57079632673412561417 -
			 (double)quarter * 6.07710050650619224932e-11;
	const double q = a * a;
	double s = 1, c = 1; /* |a| <= pi/4: the next terms of both series are below 1e-16 */

	for (int k = 15; k > 1; k -= 2) {
		s = 1 - q / (k * (k - 1)) * s;
		c = 1 - q / ((k + 1) * k) * c;
	}
	c = 1 - q / 2 * c;
	s *= a;
	switch (quarter & 3) {
	case 0:
		return (struct sx_turn){c, s};
	case 1:
		return (struct sx_turn){-s, c};
	case 2:
		return (struct sx_turn){-c, -s};
	default:
		return (struct sx_turn){s, -c};
	}
}

/* Returns sin(2 pi x). */
static inline double sx_sine_wave(double x)
{
	return sx_turn_of(2 * SX_PI * (x - (double)sx_floor(x))).sine;
}

#endif
