/*
 * The grey range of a Y16 pair, and the conversion to grey levels by it. sx_ingest_stretch() and sx_ingest()
 * define the results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_INGEST_STRETCH_CUH
#define SX_GPU_INGEST_STRETCH_CUH

#include "gpu/cuda.cuh"
#include "stages/stereo/stretch.h"

/* Counts and range of a pair, in device memory. Counts and blocks must be 0 before the counting launches. */
struct sx_stretch_range {
	uint32_t coarse[SX_STRETCH_COARSE]; /* medians by their upper bits */
	uint32_t fine[2][SX_STRETCH_FINE];  /* medians of the classes of low and high, by their lower bits */
	/* the classes of low and high, and the ranks of low and high in them */
	uint32_t of[2], rank[2];
	uint32_t value[2]; /* low and high */
	struct sx_stretch found;
	unsigned blocks; /* blocks that have counted */
};

/* Values for stretching. width: max - min. inverse: 1 / (2 width). */
struct sx_stretcher {
	uint32_t min, max, width;
	float inverse;
};

__device__ inline struct sx_stretcher sx_stretcher_of(const struct sx_stretch_range *range)
{
	struct sx_stretcher s;

	s.min = range->found.min;
	s.max = range->found.max;
	s.width = s.max - s.min;
	s.inverse = 1.0f / (float)(2 * s.width);
	return s;
}

/*
 * Returns floor((2 * 255 (p - min) + width) / (2 width)), with p clamped to the range, or 0 if width is 0.
 * The estimate has an error below one, which the remainder corrects.
 */
__device__ inline uint32_t sx_stretched(const struct sx_stretcher *s, uint32_t p)
{
	const uint32_t above = min(max(p, s->min), s->max) - s->min, n = 510 * above + s->width,
		       q = (uint32_t)((float)n * s->inverse);
	const int32_t rest = (int32_t)(n - q * 2 * s->width);

	if (!s->width)
		return 0;
	return rest < 0 ? q - 1 : rest >= (int32_t)(2 * s->width) ? q + 1 : q;
}

#endif
