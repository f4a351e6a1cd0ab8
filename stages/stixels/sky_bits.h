/*
 * Runs of cells as bits of a word, for cpu/ and gpu/: how they go along a row of sx_sky_find().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SKY_BITS_H
#define SX_STAGES_STIXELS_SKY_BITS_H

#include <stdint.h>

#ifdef __CUDACC__
#define SX_SKY_BITS static __host__ __device__ inline
#else
#define SX_SKY_BITS static inline
#endif

/* sky, a part of blank, and what of blank follows it towards the highest bit without a gap. */
SX_SKY_BITS uint32_t sx_sky_rightwards(uint32_t blank, uint32_t sky)
{
	return (blank & ~(blank + sky)) | sky;
}

/* The same towards the lowest bit: twice as far each time. */
SX_SKY_BITS uint32_t sx_sky_leftwards(uint32_t blank, uint32_t sky)
{
	for (int step = 1; step < 32; step *= 2) {
		sky |= blank & sky >> step;
		blank &= blank >> step;
	}
	return sky;
}

/*
 * A row down: what of it is sky, `sky` of it being known. open: columns in which sky goes on; gap: whose cell
 * above is none.
 */
SX_SKY_BITS uint32_t sx_sky_down(uint32_t blank, uint32_t sky, uint32_t *open, uint32_t *gap)
{
	sky |= blank & *open;
	*open = sky | (*open & ~*gap);
	*gap = ~sky;
	return sky;
}

#endif
