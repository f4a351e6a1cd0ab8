/*
 * The noise texture: octaves of tiling value noise, and a pyramid of filtered levels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/surface/scene_noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/*
 * Adds one octave of value noise: a lattice of the given cell size (power of two), smoothed between its
 * points. lattice: scratch memory for the points.
 */
static void add_octave(float *tile, float *lattice, int cell, float weight, uint64_t seed)
{
	const int n = SX_TEXTURE_SIZE, points = n / cell;

	sx_must(n % cell, ==, 0);
	for (int j = 0; j < points; j++)
		for (int i = 0; i < points; i++)
			lattice[j * points + i] = (float)sx_unit(sx_mix(seed, (uint64_t)j, (uint64_t)i));
	for (int y = 0; y < n; y++) {
		const float *p0 = lattice + y / cell * points,
			    *p1 = lattice + (y / cell + 1) % points * points;
		float v = (float)(y % cell) / (float)cell, b = v * v * (3 - 2 * v);

		for (int x = 0; x < n; x++) {
			int i = x / cell, i1 = (i + 1) % points;
			float u = (float)(x % cell) / (float)cell, a = u * u * (3 - 2 * u);
			float top = p0[i] + a * (p0[i1] - p0[i]), bottom = p1[i] + a * (p1[i1] - p1[i]);

			tile[y * n + x] += weight * (top + b * (bottom - top) - 0.5f);
		}
	}
}

static void normalise(float *tile)
{
	const int n = SX_TEXTURE_SIZE * SX_TEXTURE_SIZE;
	double sum = 0, squares = 0, mean, scale;

	for (int i = 0; i < n; i++)
		sum += (double)tile[i];
	mean = sum / n;
	for (int i = 0; i < n; i++)
		squares += ((double)tile[i] - mean) * ((double)tile[i] - mean);
	sx_must_be(squares > 0);
	scale = 1 / sqrt(squares / n);
	for (int i = 0; i < n; i++)
		tile[i] = (float)(((double)tile[i] - mean) * scale);
}

/* Averages fours of texels. to: n x n texels; may be the same memory as from. */
static void halve(const float *from, float *to, int n)
{
	sx_must(n, >, 0);
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			const float *p = from + 4 * (size_t)n * y + 2 * x;

			to[y * n + x] = (p[0] + p[1] + p[2 * n] + p[2 * n + 1]) * 0.25f;
		}
}

/* Fills a level from a tile of n x n texels. */
static void fill_level(float *level, const float *tile, int n)
{
	sx_must(n, >, 0);
	for (int y = 0; y <= n; y++)
		for (int x = 0; x <= n; x++)
			level[(n + 1) * y + x] = tile[n * (y % n) + x % n];
}

/* Allocates and fills all levels. tile: level 0, which is overwritten. */
static int fill_levels(struct sx_texture *t, float *tile)
{
	for (int k = 0, n = SX_TEXTURE_SIZE; k < SX_TEXTURE_LEVELS; k++, n /= 2) {
		t->level[k] = calloc((size_t)(n + 1) * (size_t)(n + 1), sizeof(*t->level[k]));
		if (!t->level[k])
			return -ENOMEM;
		fill_level(t->level[k], tile, n);
		if (n > 1)
			halve(tile, tile, n / 2);
	}
	return 0;
}

int sx_texture_init(struct sx_texture *t, uint64_t seed)
{
	/* close to asphalt and plaster: a little more energy in the fine octaves than 1/f */
	static const float weight[] = {1.1f, 1.0f, 0.9f, 0.8f, 0.75f, 0.7f, 0.6f};
	const size_t texels = (size_t)SX_TEXTURE_SIZE * SX_TEXTURE_SIZE;
	float *tile = calloc(2 * texels, sizeof(*tile)); /* and the lattice */
	int r;

	memset(t, 0, sizeof(*t));
	if (!tile)
		return -ENOMEM;
	for (int k = 0; k < 7; k++)
		add_octave(tile, tile + texels, 1 << k, weight[k], sx_mix(seed, 77, (uint64_t)k));
	normalise(tile);
	r = fill_levels(t, tile);
	free(tile);
	if (r < 0)
		sx_texture_finish(t);
	return r;
}

void sx_texture_finish(struct sx_texture *t)
{
	for (int k = 0; k < SX_TEXTURE_LEVELS; k++)
		free(t->level[k]);
	memset(t, 0, sizeof(*t));
}

/* Samples level k bilinearly. x, y: texels of this level. Unsigned wrap-around repeats the tile. */
static inline float bilinear(const struct sx_texture *t, int k, double x, double y)
{
	const uint32_t n = SX_TEXTURE_SIZE >> k, mask = n - 1;
	const int64_t i = sx_floor(x - 0.5), j = sx_floor(y - 0.5);
	const float a = (float)(x - 0.5 - (double)i), b = (float)(y - 0.5 - (double)j);
	const float *r0 = t->level[k] + ((uint32_t)j & mask) * (n + 1) + ((uint32_t)i & mask),
		    *r1 = r0 + n + 1;
	const float top = r0[0] + a * (r0[1] - r0[0]), bottom = r1[0] + a * (r1[1] - r1[0]);

	return top + b * (bottom - top);
}

/*
 * Splits the approximate log2 of x >= 1 into an integer, which it returns, and the rest. The approximation is
 * by exponent and mantissa: continuous, exact at powers of two, equal on all machines.
 */
static inline int log2_about(float x, float *rest)
{
	uint32_t bits;
	int k;

	memcpy(&bits, &x, sizeof(bits));
	k = (int)(bits >> 23) - 127;
	*rest = (float)k + (float)(bits & 0x7fffff) * (1.0f / 8388608.0f) - (float)k;
	if (*rest < 1)
		return k;
	*rest = 0; /* the sum was rounded up */
	return k + 1;
}

float sx_texture_sample(const struct sx_texture *t, double x, double y, float footprint)
{
	static const double scale_of[SX_TEXTURE_LEVELS - 1] = {1,      0.5,	0.25,	  0.125,
							       0.0625, 0.03125, 0.015625, 0.0078125};
	float rest = 0, fine;
	const int k = footprint > 1 ? log2_about(footprint, &rest) : 0;

	if (k >= SX_TEXTURE_LEVELS - 1)
		return 0;
	sx_must(k, >=, 0);
	x *= scale_of[k];
	y *= scale_of[k];
	fine = bilinear(t, k, x, y);
	if (rest <= 0)
		return fine;
	return fine + rest * (bilinear(t, k + 1, x * 0.5, y * 0.5) - fine);
}
