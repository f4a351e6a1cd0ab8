/*
 * Sky of the cpu engine, on bits: a row of cells is `words` words, column u is bit u % 32 of word u / 32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SKY_H
#define SX_CPU_SKY_H

#include <stdint.h>

#include "stages/params/params.h"
#include "stages/road/road.h"

#define SX_SKY_WORDS_MAX 128 /* of images 4096 wide */

static inline int sx_sky_words(int columns)
{
	return (columns + 31) / 32;
}

/* Row v's words from what its cells' pixels say (enum sx_cell_pixels), a byte for each of n columns. */
void sx_sky_pack(const uint8_t *bright, int n, uint32_t *blank);

/* As sx_sky_find(): sky, of the same shape as blank; row 0 is the lowest. */
void sx_sky_spread(const uint32_t *blank, int rows, int words, uint32_t *sky);

/* The last of sx_evidence(), of columns u0 .. u1 - 1: what is sky and high enough. height: of the image. */
void sx_sky_weigh(const uint32_t *sky, int words, const struct sx_params *p, const struct sx_road *road,
		  int height, int u0, int u1, struct sx_image *cells, struct sx_image *cells_confidence);

#endif
