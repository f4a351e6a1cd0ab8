/*
 * Division of small integers, of which compilers make vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_DIVIDE_H
#define SX_CPU_KERNELS_DIVIDE_H

/*
 * Returns a / b, rounded towards zero. A float holds both (|a|, b < 2^24), and its quotient, if not an
 * integer, is at least 1/b away from one. So the result is exact for quotients below 4500 with b < 2^11, for
 * quotients below 32 with b < 2^19, and for b a power of two.
 */
static inline int divide(int a, int b)
{
	return (int)((float)a / (float)b);
}

#endif
