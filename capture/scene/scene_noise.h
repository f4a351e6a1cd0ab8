/*
 * Hashes, smooth motion and the noise texture of the synthetic street.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_NOISE_H
#define SX_CAPTURE_SCENE_SCENE_NOISE_H

#include <stdint.h>

#define SX_TEXTURE_LEVELS 9
#define SX_TEXTURE_SIZE 256 /* texels a side of level 0; level k has half the side of level k-1 */

/* Tiling noise with mean 0 and deviation about 1, and its box-filtered levels. */
struct sx_texture {
	float *level[SX_TEXTURE_LEVELS];
};

int sx_texture_init(struct sx_texture *t, uint64_t seed);
void sx_texture_finish(struct sx_texture *t);

/*
 * Value at (x, y) in texels (any number, wraps), filtered for a pixel of extent footprint texels: contrast
 * fades with distance, as it does in a lens.
 */
float sx_texture_sample(const struct sx_texture *t, double x, double y, float footprint);

/* Well mixed 64 bits from three numbers (finaliser of splitmix64, S. Vigna, public domain). */
static inline uint64_t sx_mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a + UINT64_C(0x9e3779b97f4a7c15) * (b + 1) + UINT64_C(0xd1342543de82ef95) * (c + 1);

	h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
	return h ^ (h >> 31);
}

/* 0 <= result < 1, exact. */
static inline double sx_unit(uint64_t h)
{
	return (double)(h >> 40) * (1.0 / 16777216.0);
}

/* lo <= result < hi, from the hash of (seed, what, index). */
static inline double sx_pick(uint64_t seed, uint64_t what, int64_t index, double lo, double hi)
{
	return lo + (hi - lo) * sx_unit(sx_mix(seed, what, (uint64_t)index));
}

/* Floor without the library: exact for |x| < 2^62. */
static inline int64_t sx_floor(double x)
{
	int64_t i = (int64_t)x;

	return i - ((double)i > x);
}

/* Like sin(2 pi x) within 6 %, from two parabolas. */
static inline double sx_wave(double x)
{
	double f = x - (double)sx_floor(x);

	return f < 0.5 ? 16 * f * (0.5 - f) : -16 * (f - 0.5) * (1 - f);
}

#endif
