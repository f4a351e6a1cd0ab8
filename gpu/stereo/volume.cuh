/*
 * Layout of a volume: one byte per cell, [y][x][D], no padding. Of a pixel's D bytes, the 32-bit word i (0 ..
 * D/4 - 1) holds the disparities 2i, 2i+1, 2i + D/2, 2i+1 + D/2, lowest byte first. So
 *
 *   word & 0x00ff00ff        = the pair (d, d + D/2) with d = 2i,
 *   word >> 8 & 0x00ff00ff   = the pair with d = 2i + 1,
 *
 * the neighbours d-1 and d+1 of a pair are whole pairs too, and a group of G lanes owns D/G disparities of
 * each pixel as consecutive words, for every G. gpu/simd.cuh has the arithmetic on pairs.
 *
 * Volumes store M = Cmax - C, which says how well a pixel matches, 0 .. Cmax, and per path V = P2 + Cmax - L,
 * 0 .. P2 + Cmax <= 254. So S = sum of L = paths * (P2 + Cmax) - sum of V, which does not need M.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_VOLUME_CUH
#define SX_GPU_STEREO_VOLUME_CUH

#include <stddef.h>
#include <stdint.h>

#include "gpu/cuda.cuh"

#endif
