/*
 * FastDT in the cpu engine, in int16 and int8: its buffers and their sizes. Results equal
 * stages/stereo/fastdt.h and stages/stereo/winner.h.
 *
 * How S is made.
 *   1. fastdt_row(): costs of a row, to the right and to the left while the row is in cache; the volume is
 *      written once: codes of one byte for int8, words for int16.
 *   2. fastdt_planes(): what the planes O and G come to, a value a pixel, in bands of columns.
 *   3. fastdt_band(): down and up in bands of a few columns, whose sums of the way down stay in the
 *      second-level cache; S and its winner at once. S is kept nowhere: each worker has the least S by pixel
 *      of the right image of the bands that it has seen.
 *   4. fastdt_winners(): the workers' minima become one; the maps of a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_FASTDT_H
#define SX_CPU_FASTDT_H

#include <stddef.h>
#include <stdint.h>

#include "stages/stereo/fastdt.h"

#define SX_FASTDT_COLUMNS_MAX 32    /* of a band */
#define SX_FASTDT_PLANE_COLUMNS 128 /* columns of a task of fastdt_planes() */

struct sx_matcher;

/* By pixel; made and read within a frame. */
struct sx_fastdt_maps {
	/* weights between a pixel and the one above; 0 in the first row, and in one after the last */
	int32_t *down;
	int32_t *least; /* O: after fastdt_row() as "down" reads it, after fastdt_planes() V(O) */
	int32_t *gain;	/* G: likewise, then R */
	uint16_t *s0, *side_low, *side_high, *d0; /* as of struct sx_matcher_scratch */
};

/* One per worker; the cells of a pixel lie side by side. */
struct sx_fastdt_scratch {
	int32_t *across;  /* fastdt_row: weights between a pixel and the one to its left; 0 at both ends */
	uint16_t *row;	  /* A: width x disparities */
	uint16_t *sums;	  /* fastdt_band: U, (height + 1) x columns x disparities */
	uint16_t *state;  /* V of a row */
	uint16_t *words;  /* S of two rows of the band, pixels sx_matcher_sum_pitch() apart */
	uint16_t *lowest; /* see fastdt_kernel.h */
	/*
	 * least S and its column by pixel of the right image, each row from right to
	 * left, of all bands so far
	 */
	uint16_t *right_sum, *right_x;
};

int sx_fastdt_columns(const struct sx_matcher *m); /* of a band */
int sx_fastdt_bands(const struct sx_matcher *m);
/*
 * Where a pixel's cells lie in the volume, in pixels: [band][y][column of the band], so that a
 * band is read as it lies.
 */
size_t sx_fastdt_pixel(const struct sx_matcher *m, int x, int y);
size_t sx_fastdt_volume_bytes(const struct sx_matcher *m);
size_t sx_fastdt_maps_bytes(const struct sx_matcher *m);
void sx_fastdt_maps_init(struct sx_fastdt_maps *maps, const struct sx_matcher *m, uint8_t *memory);
/* Lays s out in memory, or only counts when memory is NULL; returns the bytes. */
size_t sx_fastdt_scratch_lay_out(struct sx_fastdt_scratch *s, const struct sx_matcher *m, uint8_t *memory);

/* Words of a row of right_sum and right_x: vectors run past the end. */
size_t sx_fastdt_right_pitch(const struct sx_matcher *m);

/*
 * The lowest value that "to the left" of int8 can store, by the largest weight. No allowed sigma_s goes below
 * -2048, so that codes need two of their three steps, see fastdt_kernel.h.
 */
int sx_fastdt_lowest(const struct sx_matcher *m);

#endif
