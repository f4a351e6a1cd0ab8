/*
 * Sky of the CPU engine, on bits. A row of cells has `words` words; column u is bit u % 32 of word u / 32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SKY_H
#define SX_CPU_SKY_H

#include <stdint.h>

#include "stages/params/params.h"
#include "stages/road/road.h"

#define SX_SKY_WORDS_MAX 128 /* suffices for images 4096 px wide */

static inline int sx_sky_words(int columns)
{
	return (columns + 31) / 32;
}

/* Packs row v into words. bright: enum sx_cell_pixels of the cells, one byte for each of n columns. */
void sx_sky_pack(const uint8_t *bright, int n, uint32_t *blank);

/* Computes the same as sx_sky_find(). sky: same shape as blank; row 0 is the lowest. */
void sx_sky_spread(const uint32_t *blank, int rows, int words, uint32_t *sky);

/*
 * Runs the last part of sx_evidence() for columns u0 .. u1 - 1: makes sky of the cells that are set in `sky`
 * and high enough above the road. height: height of the image, px.
 */
void sx_sky_weigh(const uint32_t *sky, int words, const struct sx_params *p, const struct sx_road *road,
		  int height, int u0, int u1, struct sx_image *cells, struct sx_image *cells_confidence);

#endif
