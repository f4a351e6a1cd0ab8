/*
 * Speckle filter on many threads. stages/stereo/speckle.h defines the result.
 *
 * Rows are cut into runs of connected neighbours. Runs of neighbouring rows that touch are joined (union by
 * size, so that paths to a root stay short). Stripes of rows are independent until sx_speckle_join() connects
 * them. The root of a component may differ between runs of the program, but its size does not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SPECKLE_H
#define SX_CPU_SPECKLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "cpu/matcher.h"

#define SX_SPECKLE_ROWS 16 /* rows of a stripe */

/* A run of a row, from first to last, and its place in the union-find of runs. */
struct sx_speckle_run {
	uint16_t first, last;
	uint32_t parent; /* index of the parent run; a root has its own index */
	uint32_t size;	 /* pixels of the component, only valid for a root */
};

struct sx_speckle {
	const struct sx_matcher_kernels *kernels;
	int width, height;
	uint32_t size_limit;
	int connected;		     /* largest difference of connected neighbours, Q4 */
	struct sx_speckle_run *runs; /* runs of row y: from row[y] up to row_end[y] */
	uint32_t *row, *row_end;
};

/*
 * Initialises s. memory: sx_speckle_bytes() bytes, 8-byte aligned, any content; the caller keeps it. width:
 * up to 4096 px.
 */
size_t sx_speckle_bytes(int width, int height);
void sx_speckle_init(struct sx_speckle *s, const struct sx_matcher_kernels *k,
		     const struct sx_filter_params *p, int width, int height, void *memory);

static inline int sx_speckle_stripes(const struct sx_speckle *s)
{
	return (s->height + SX_SPECKLE_ROWS - 1) / SX_SPECKLE_ROWS;
}

/*
 * Call stripe for every stripe, on any worker: it copies its rows from src to dst and finds their runs. Then
 * call join once. Then call erase for every stripe: it erases the small components in dst.
 */
void sx_speckle_stripe(struct sx_speckle *s, const struct sx_image *src, const struct sx_image *dst,
		       int stripe);
void sx_speckle_join(struct sx_speckle *s, const struct sx_image *src);
void sx_speckle_erase(const struct sx_speckle *s, const struct sx_image *dst, int stripe);

#endif
