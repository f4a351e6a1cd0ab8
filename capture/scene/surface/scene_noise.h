/*
 * Hashes, smooth motion and the noise texture of the synthetic street.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_NOISE_H
#define SX_CAPTURE_SCENE_SCENE_NOISE_H

#include <stdint.h>

#define SX_TEXTURE_LEVELS 9
#define SX_TEXTURE_SIZE 256 /* texels per side of level 0; level k has half the side of level k-1 */

/*
 * Tiling noise with mean 0 and standard deviation about 1, and its box-filtered levels. Each level ends with
 * a copy of its first row and column, so that a sample needs no second wrap-around.
 */
struct sx_texture {
	float *level[SX_TEXTURE_LEVELS];
};

int sx_texture_init(struct sx_texture *t, uint64_t seed);
void sx_texture_finish(struct sx_texture *t);

/*
 * Returns the value at (x, y) in texels (any number, wraps), filtered for a pixel with an extent of
 * `footprint` texels. Contrast fades with distance, as with a real lens.
 */
float sx_texture_sample(const struct sx_texture *t, double x, double y, float footprint);

/* Mixes three numbers into 64 well mixed bits (finaliser of splitmix64, S. Vigna, public domain). */
static inline uint64_t sx_mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a + UINT64_C(0x9e3779b97f4a7c15) * (b + 1) + UINT64_C(0xd1342543de82ef95) * (c + 1);

	h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
	return h ^ (h >> 31);
}

/* Returns a number with 0 <= result < 1, exact. */
static inline double sx_unit(uint64_t h)
{
	return (double)(h >> 40) * (1.0 / 16777216.0);
}

/* Returns a number with lo <= result < hi, from the hash of (seed, what, index). */
static inline double sx_pick(uint64_t seed, uint64_t what, int64_t index, double lo, double hi)
{
	return lo + (hi - lo) * sx_unit(sx_mix(seed, what, (uint64_t)index));
}

/*
 * Returns the floor without the math library. Exact for |x| < 2^62. The sign hardly changes from pixel to
 * pixel, so that a branch costs less than a comparison with i.
 */
static inline int64_t sx_floor(double x)
{
	int64_t i = (int64_t)x;

	return x >= 0 ? i : i - ((double)i > x);
}

/* Approximates sin(2 pi x) within 6 %, by two parabolas. */
static inline double sx_wave(double x)
{
	double f = x - (double)sx_floor(x);

	return f < 0.5 ? 16 * f * (0.5 - f) : -16 * (f - 0.5) * (1 - f);
}

#endif
