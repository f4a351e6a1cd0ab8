/*
 * Runs of cells as bits of a word, for cpu/ and gpu/: the steps of sx_sky_find() along and between rows.
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

/* Returns sky (a part of blank) with the blank cells that follow it towards the highest bit without a gap. */
SX_SKY_BITS uint32_t sx_sky_rightwards(uint32_t blank, uint32_t sky)
{
	return (blank & ~(blank + sky)) | sky;
}

/* Returns sky with the blank cells that follow it towards the lowest bit. Each step reaches twice as far. */
SX_SKY_BITS uint32_t sx_sky_leftwards(uint32_t blank, uint32_t sky)
{
	for (int step = 1; step < 32; step *= 2) {
		sky |= blank & sky >> step;
		blank &= blank >> step;
	}
	return sky;
}

/*
 * Goes down to the next row and returns its sky. `sky`: the part already known. open: columns in which sky
 * goes on; gap: columns whose cell above is not sky.
 */
SX_SKY_BITS uint32_t sx_sky_down(uint32_t blank, uint32_t sky, uint32_t *open, uint32_t *gap)
{
	sky |= blank & *open;
	*open = sky | (*open & ~*gap);
	*gap = ~sky;
	return sky;
}

#endif
