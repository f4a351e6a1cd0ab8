/*
 * The grey range of a Y16 pair, and grey levels by it. Meaning: sx_ingest_stretch(), sx_ingest().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_INGEST_STRETCH_CUH
#define SX_GPU_INGEST_STRETCH_CUH

#include "gpu/cuda.cuh"

/* Range of the pair. The last block of a launch publishes it and leaves the rest as it was found. */
struct sx_stretch_range {
	uint32_t min, max;		     /* of the last pair */
	uint32_t next_min, next_max, blocks; /* at work: all ones, 0, 0 between frames */
};

/* By it; width: max - min, inverse: 1 / (2 width). */
struct sx_stretcher {
	uint32_t min, width;
	float inverse;
};

__device__ inline struct sx_stretcher sx_stretcher_of(const struct sx_stretch_range *range)
{
	struct sx_stretcher s;

	s.min = range->min;
	s.width = range->max - s.min;
	s.inverse = 1.0f / (float)(2 * s.width);
	return s;
}

/*
 * floor((2 * 255 (p - min) + width) / (2 width)), 0 where width is: the estimate is off by less than one, the
 * remainder corrects it.
 */
__device__ inline uint32_t sx_stretched(const struct sx_stretcher *s, uint32_t p)
{
	uint32_t n = 510 * (p - s->min) + s->width, q = (uint32_t)((float)n * s->inverse);
	int32_t rest = (int32_t)(n - q * 2 * s->width);

	if (!s->width)
		return 0;
	return rest < 0 ? q - 1 : rest >= (int32_t)(2 * s->width) ? q + 1 : q;
}

#endif
