/*
 * Patterns of surfaces: edges, periodic pulses and noise, averaged over the extent of a pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_PATTERN_H
#define SX_CAPTURE_SCENE_SCENE_PATTERN_H

#include "capture/scene/surface/scene_noise.h"

/* Limits a share to 0..1. */
static inline float sx_clamp01(float x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Mixes two tones. share: of b. */
static inline float sx_blend(float a, float b, float share)
{
	return a + (b - a) * share;
}

/* Returns the share of the interval x -/+ f/2 that lies in lo..hi. */
static inline float sx_inside(float x, float lo, float hi, float f)
{
	float a = x - 0.5f * f, b = x + 0.5f * f;

	a = a > lo ? a : lo;
	b = b < hi ? b : hi;
	return b > a ? sx_clamp01((b - a) / f) : 0;
}

/* Returns the length of the pulses between 0 and `periods`. rest: length of the last period. */
static inline double sx_pulse_sum(double periods, double period, double width, double *rest)
{
	double k = (double)sx_floor(periods);

	*rest = (periods - k) * period;
	return k * width + (*rest < width ? *rest : width);
}

/* Returns the share of the interval x -/+ f/2 that lies in [from, from + width) of any period. */
static inline float sx_pulse(double x, double period, double from, double width, float f)
{
	double half = 0.5 * (double)f, inverse = 1 / period, rest;
	double end = sx_pulse_sum((x - from + half) * inverse, period, width, &rest);

	/* the whole interval lies behind the pulse, whatever the rounding: both sums are equal */
	if (rest > width + 3 * half)
		return 0;
	return (float)((end - sx_pulse_sum((x - from - half) * inverse, period, width, &rest)) / (2 * half));
}

/*
 * Returns noise with mean 0 and deviation 1 at (x, y), m. The finest grains have a size of 1 / texels_per_m.
 * f: extent of the pixel, m. seed: selects a part of the noise.
 */
static inline float sx_grain(const struct sx_texture *t, double x, double y, double texels_per_m, float f,
			     uint64_t seed)
{
	return sx_texture_sample(t, x * texels_per_m + (double)(seed & 255),
				 y * texels_per_m + (double)(seed >> 8 & 255), f * (float)texels_per_m);
}

/* Returns how much of a pixel at (dx, dy) from its middle a disc covers. */
static inline float sx_disc(float dx, float dy, float radius, float f)
{
	float r2 = dx * dx + dy * dy;

	/* the edge is about one pixel wide: |r^2 - R^2| = 2 R f/2 */
	return sx_clamp01((radius * radius - r2) / (2 * radius * f) + 0.5f);
}

#endif
