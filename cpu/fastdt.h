/*
 * FastDT in the CPU engine, in int16 and int8: its buffers and their sizes. Results equal the results of
 * stages/stereo/fastdt.h and stages/stereo/winner.h.
 *
 * How S is computed:
 *   1. fastdt_row(): computes the costs of a row and the passes to the right and to the left, while the row
 *      is in cache. The volume is written once: one-byte codes for int8, words for int16.
 *   2. fastdt_planes(): computes the planes O and G, one value per pixel, in bands of columns.
 *   3. fastdt_band(): runs the passes down and up in bands of a few columns. The sums of the pass down stay
 *      in the second-level cache. S and its winner follow at once. S is not stored. Each worker keeps the
 *      least S of each pixel of the right image, over the bands that it has processed.
 *   4. fastdt_winners(): merges the workers' minima and writes the maps of a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_FASTDT_H
#define SX_CPU_FASTDT_H

#include <stddef.h>
#include <stdint.h>

#include "stages/stereo/fastdt.h"

#define SX_FASTDT_COLUMNS_MAX 32    /* columns of a band */
#define SX_FASTDT_PLANE_COLUMNS 128 /* columns of a task of fastdt_planes() */

struct sx_matcher;

/* Values per pixel; written and read within a frame. */
struct sx_fastdt_maps {
	/* weights between a pixel and the pixel above; 0 in the first row, and in one row after the last */
	int32_t *down;
	int32_t *least; /* O: after fastdt_row() the input of the pass down, after fastdt_planes() V(O) */
	int32_t *gain;	/* G: after fastdt_row() the input of the pass down, after fastdt_planes() R */
	uint16_t *s0, *side_low, *side_high, *d0; /* the same meaning as in struct sx_matcher_scratch */
};

/* Scratch of one worker. The cells of a pixel lie side by side. */
struct sx_fastdt_scratch {
	/* weights between a pixel and the pixel to its left, for fastdt_row(); 0 at both ends */
	int32_t *across;
	uint16_t *row;	  /* A: width x disparities */
	uint16_t *sums;	  /* U for fastdt_band(): (height + 1) x columns x disparities */
	uint16_t *state;  /* V of a row */
	uint16_t *words;  /* S of two rows of the band; pixels are sx_matcher_sum_pitch() apart */
	uint16_t *lowest; /* see fastdt_kernel.h */
	/*
	 * least S and its column by pixel of the right image, over all bands so far; each row runs from right
	 * to left
	 */
	uint16_t *right_sum, *right_x;
};

int sx_fastdt_columns(const struct sx_matcher *m); /* columns of a band */
int sx_fastdt_bands(const struct sx_matcher *m);
/*
 * Returns the place of a pixel's cells in the volume, in pixels. The order is [band][y][column of the band],
 * so a band is read sequentially.
 */
size_t sx_fastdt_pixel(const struct sx_matcher *m, int x, int y);
size_t sx_fastdt_volume_bytes(const struct sx_matcher *m);
size_t sx_fastdt_maps_bytes(const struct sx_matcher *m);
void sx_fastdt_maps_init(struct sx_fastdt_maps *maps, const struct sx_matcher *m, uint8_t *memory);
/* Lays s out in memory and returns the bytes. If memory is NULL, only counts. */
size_t sx_fastdt_scratch_lay_out(struct sx_fastdt_scratch *s, const struct sx_matcher *m, uint8_t *memory);

/* Returns the words of a row of right_sum and right_x. It includes room for vectors that run past the end. */
size_t sx_fastdt_right_pitch(const struct sx_matcher *m);

/*
 * Returns the lowest value that the int8 pass to the left can store; it depends on the largest weight. No
 * allowed sigma_s gives less than -2048, so codes need only two of their three steps, see fastdt_kernel.h.
 */
int sx_fastdt_lowest(const struct sx_matcher *m);

#endif
