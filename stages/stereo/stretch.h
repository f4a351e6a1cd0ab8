/*
 * The grey range of a Y16 pair: which raw values become grey level 0 and 255. Shared by all engines.
 *
 * Places. Each place (x, y) with 0 <= x < width - 8 of either image has the median of the values at x, x + 4
 * and x + 8 of its row. A hot or dead patch up to 4 px wide contains one of the three at most, so its value
 * is not the median.
 *
 * Ends. Of the N = 2 (width - 8) height medians, sorted, T at each end do not count. T is N / 1000 rounded
 * down, 32 at least, and (N - 1) / 2 at most, so that one median remains. low is median T, high is median N -
 * 1 - T, counted from 0. Equal values need no order.
 *
 * Steps. A patch that hides one of the outermost values still moves low or high a little. So the range ends
 * at multiples of a step S: the largest power of two with 16 S <= high - low + 1, 1 at least. min is low
 * rounded down to a multiple of S, max is the last value before the next multiple of S above high.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_STRETCH_H
#define SX_STAGES_STEREO_STRETCH_H

#include <stdint.h>

#ifdef __CUDACC__
#define SX_STRETCH_INLINE static __host__ __device__ inline
#else
#define SX_STRETCH_INLINE static inline
#endif

/* Raw values that become grey level 0 (min) and 255 (max). Lower values become 0, higher values 255. */
struct sx_stretch {
	uint16_t min, max;
};

#define SX_STRETCH_APART 4 /* columns between the three values of a median */
#define SX_STRETCH_REACH (2 * SX_STRETCH_APART)

SX_STRETCH_INLINE uint32_t sx_stretch_median(uint32_t a, uint32_t b, uint32_t c)
{
	const uint32_t less = a < b ? a : b, more = a < b ? b : a;

	return c < less ? less : c > more ? more : c;
}

/* Returns N, the number of places in both images. width > SX_STRETCH_REACH. */
SX_STRETCH_INLINE uint32_t sx_stretch_places(int width, int height)
{
	return 2 * (uint32_t)(width - SX_STRETCH_REACH) * (uint32_t)height;
}

/* Returns T, the number of medians at each end that do not count. places: N. */
SX_STRETCH_INLINE uint32_t sx_stretch_tail(uint32_t places)
{
	const uint32_t tail = places / 1000 > 32 ? places / 1000 : 32, most = (places - 1) / 2;

	return tail < most ? tail : most;
}

/* Returns the range from min to max, for the medians low and high. low <= high <= 65535. */
SX_STRETCH_INLINE struct sx_stretch sx_stretch_between(uint32_t low, uint32_t high)
{
	struct sx_stretch s;
	uint32_t step = 1;

	while (32 * step <= high - low + 1)
		step *= 2;
	s.min = (uint16_t)(low & ~(step - 1));
	s.max = (uint16_t)(high | (step - 1));
	return s;
}

/*
 * Medians are counted in two rounds: first by their upper bits; then the medians of the two classes that hold
 * low and high, by their lower bits.
 */
#define SX_STRETCH_FINE_BITS 6
#define SX_STRETCH_FINE (1 << SX_STRETCH_FINE_BITS)
#define SX_STRETCH_COARSE (1 << (16 - SX_STRETCH_FINE_BITS))

/*
 * Returns the class of the median of this rank. The rank must be below the number of medians. It becomes the
 * rank within the class.
 */
SX_STRETCH_INLINE uint32_t sx_stretch_class(const uint32_t *counts, uint32_t *rank)
{
	uint32_t i = 0;

	for (; *rank >= counts[i]; i++)
		*rank -= counts[i];
	return i;
}

#endif
