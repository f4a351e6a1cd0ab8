/*
 * Zero-mean normalised cross-correlation of square windows, as an integer matching cost. Chang, Zha et al.:
 * Real-time stereo matching on embedded GPUs with Z2-ZNCC and FastDT (the windows' sums, T); the arithmetic
 * below is exact, so that every order of summation gives the same cost.
 *
 * Over a window of l x l pixels, n = l * l, coordinates clamped to the image:
 *   S1 = sum I, S2 = sum I^2, V = n S2 - S1^2                                        of each pixel
 *   P = sum L R, N = n P - S1(L) S1(R), z = N / sqrt(V(L) V(R)), -1 <= z <= 1         of each pair of pixels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_ZNCC_H
#define SX_STAGES_STEREO_ZNCC_H

#include <stdint.h>
#include <string.h>

#include "base/image.h"

#define SX_ZNCC_WINDOW_MAX 15
#define SX_ZNCC_SCALE 21 /* T: costs are 0 .. 2 T */

/*
 * Packs the numbers of a window that all its correlations need into one 64-bit word: S1 in the lower half, in
 * the upper half the bits of the binary32 1 / sqrt(V), each step rounded to nearest; 0 if V is 0.
 */
static inline uint64_t sx_zncc_word(uint32_t sum, float inverse)
{
	uint32_t bits;

	memcpy(&bits, &inverse, sizeof(bits));
	return (uint64_t)bits << 32 | sum;
}

static inline uint32_t sx_zncc_sum(uint64_t word)
{
	return (uint32_t)word;
}

static inline float sx_zncc_inverse(uint64_t word)
{
	const uint32_t bits = (uint32_t)(word >> 32);
	float inverse;

	memcpy(&inverse, &bits, sizeof(inverse));
	return inverse;
}

/* Computes the words of all windows. grey: U8. words: U64 of the same size. window: l, odd, 3..15. */
void sx_zncc_windows(const struct sx_image *grey, const struct sx_image *words, int window);

/*
 * Computes z of the windows around (x, y) of the left image and (partner, y) of the right one, partner in
 * 0..width-1: z = (float(N) * 1/sqrt(V(L))) * 1/sqrt(V(R)) in binary32, one rounding per step. 0 if a window
 * is flat. Can exceed 1 by one unit of its last place.
 */
float sx_zncc(const struct sx_image grey[2], const struct sx_image words[2], int x, int partner, int y,
	      int window);

/* Returns the cost: T - round(z T), to nearest, ties to even, 0 .. 2 T. */
uint8_t sx_zncc_cost(float z);

#endif
