/*
 * The noise texture: octaves of tiling value noise, and a pyramid of filtered levels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/*
 * Adds one octave of value noise: a lattice of the given cell size (power of two), smoothed between its
 * points.
 */
static void add_octave(float *tile, int cell, float weight, uint64_t seed)
{
	const int n = SX_TEXTURE_SIZE, points = n / cell;

	sx_must(n % cell, ==, 0);
	for (int y = 0; y < n; y++) {
		int j = y / cell, j1 = (j + 1) % points;
		float v = (float)(y % cell) / (float)cell, b = v * v * (3 - 2 * v);

		for (int x = 0; x < n; x++) {
			int i = x / cell, i1 = (i + 1) % points;
			float u = (float)(x % cell) / (float)cell, a = u * u * (3 - 2 * u);
			float p00 = (float)sx_unit(sx_mix(seed, (uint64_t)j, (uint64_t)i));
			float p01 = (float)sx_unit(sx_mix(seed, (uint64_t)j, (uint64_t)i1));
			float p10 = (float)sx_unit(sx_mix(seed, (uint64_t)j1, (uint64_t)i));
			float p11 = (float)sx_unit(sx_mix(seed, (uint64_t)j1, (uint64_t)i1));
			float top = p00 + a * (p01 - p00), bottom = p10 + a * (p11 - p10);

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

static void halve(const float *from, float *to, int n)
{
	sx_must(n, >, 0);
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			const float *p = from + 4 * (size_t)n * y + 2 * x;

			to[y * n + x] = (p[0] + p[1] + p[2 * n] + p[2 * n + 1]) * 0.25f;
		}
}

int sx_texture_init(struct sx_texture *t, uint64_t seed)
{
	/* close to asphalt and plaster: a little more energy in the fine octaves than 1/f */
	static const float weight[] = {1.1f, 1.0f, 0.9f, 0.8f, 0.75f, 0.7f, 0.6f};

	memset(t, 0, sizeof(*t));
	for (int k = 0, n = SX_TEXTURE_SIZE; k < SX_TEXTURE_LEVELS; k++, n /= 2) {
		t->level[k] = calloc((size_t)n * (size_t)n, sizeof(float));
		if (!t->level[k]) {
			sx_texture_finish(t);
			return -ENOMEM;
		}
	}
	for (int k = 0; k < 7; k++)
		add_octave(t->level[0], 1 << k, weight[k], sx_mix(seed, 77, (uint64_t)k));
	normalise(t->level[0]);
	for (int k = 1, n = SX_TEXTURE_SIZE / 2; k < SX_TEXTURE_LEVELS; k++, n /= 2)
		halve(t->level[k - 1], t->level[k], n);
	return 0;
}

void sx_texture_finish(struct sx_texture *t)
{
	for (int k = 0; k < SX_TEXTURE_LEVELS; k++)
		free(t->level[k]);
	memset(t, 0, sizeof(*t));
}

/*
 * Samples bilinearly. x, y: texels of this level. Unsigned wrap-around repeats the tile in both directions.
 */
static float bilinear(const float *tile, int k, double x, double y)
{
	const uint32_t n = SX_TEXTURE_SIZE >> k, mask = n - 1;
	int64_t i = sx_floor(x - 0.5), j = sx_floor(y - 0.5);
	float a = (float)(x - 0.5 - (double)i), b = (float)(y - 0.5 - (double)j);
	uint32_t i0 = (uint32_t)i & mask, i1 = ((uint32_t)i + 1) & mask;
	const float *r0 = tile + ((uint32_t)j & mask) * n, *r1 = tile + (((uint32_t)j + 1) & mask) * n;
	float top = r0[i0] + a * (r0[i1] - r0[i0]), bottom = r1[i0] + a * (r1[i1] - r1[i0]);

	return top + b * (bottom - top);
}

/* Approximates log2 by exponent and mantissa: continuous, exact at powers of two, equal on all machines. */
static float log2_about(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (float)((int)(bits >> 23) - 127) + (float)(bits & 0x7fffff) * (1.0f / 8388608.0f);
}

float sx_texture_sample(const struct sx_texture *t, double x, double y, float footprint)
{
	float lod = footprint > 1 ? log2_about(footprint) : 0;
	int k = (int)lod;
	double scale = 1.0 / (double)(1 << (k & 31));
	float f = lod - (float)k, fine;

	if (k >= SX_TEXTURE_LEVELS - 1)
		return 0;
	sx_must(k, >=, 0);
	fine = bilinear(t->level[k], k, x * scale, y * scale);
	if (f <= 0)
		return fine;
	return fine + f * (bilinear(t->level[k + 1], k + 1, x * scale * 0.5, y * scale * 0.5) - fine);
}
