/*
 * Smoothing of the finished map on the GPU, and its confidence. Must equal sx_smooth() and sx_confidence()
 * byte for byte.
 *
 * Work:   a block makes a tile of 60 words, two columns each, by 16 rows; one thread per word of four rows.
 *         First it runs the pass along columns into shared memory, also for two words beside the tile on
 *         either side. Then it runs the pass along rows. 16 exchanges of packed halves sort seven pixels
 *         (stereo/median.cuh). Invalid pixels come last. So if the second, fourth and sixth are valid, at
 *         least two, four and six are, which yields the rank.
 * Memory: 4 KB of shared memory. A pixel is read 2.7 times, from the cache except for the first time, and
 *         written once.
 * Ranges: disparities below 0x2000 or 0xffff, which is 0x3fff meanwhile.
 * Shapes: any width and height; rows padded to whole words.
 * Speed:  tests/lab/lab-performance.md, CUDA: filters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/smooth.h"

#include "gpu/cuda.cuh"
#include "gpu/stages_cuda.h"
#include "gpu/stereo/median.cuh"

#define LINE (2 * SX_SMOOTH_RADIUS + 1)
#define WORDS 64 /* words of a tile with its neighbours */
#define BESIDE 2 /* words, for SX_SMOOTH_RADIUS columns */
#define TILE_WORDS (WORDS - 2 * BESIDE)
#define ROWS 4 /* rows per thread */
#define TILE_ROWS 16
#define THREADS (WORDS * TILE_ROWS / ROWS)
#define NONE 0x3fff3fffu /* two invalid pixels */

static_assert(2 * BESIDE >= SX_SMOOTH_RADIUS, "what the pass along rows reads");
static_assert(SX_SMOOTH_CLOSES == 4 && LINE == 7, "what smooth_line() knows");

struct smooth {
	const uint8_t *src;
	uint8_t *dst, *confidence;
	size_t src_pitch, dst_pitch, confidence_pitch;
	int width, height;
};

__device__ __forceinline__ void exchange(uint32_t p[LINE], int a, int b)
{
	const uint32_t least = sx_median_min(p[a], p[b]);

	p[b] = sx_median_max(p[a], p[b]);
	p[a] = least;
}

/* Returns a mask with all bits set in the halves that are invalid. */
__device__ __forceinline__ uint32_t invalid_of(uint32_t d)
{
	return (d >> 13 & 0x00010001u) * 0xffffu;
}

__device__ __forceinline__ uint32_t where(uint32_t mask, uint32_t a, uint32_t b)
{
	return (a & mask) | (b & ~mask);
}

/* Smooths the centre of seven pixels in their order, for two lines at once. */
__device__ __forceinline__ uint32_t smooth_line(uint32_t p[LINE])
{
	const uint32_t centre = p[SX_SMOOTH_RADIUS];
	uint32_t r;

	exchange(p, 0, 6), exchange(p, 2, 3), exchange(p, 4, 5);
	exchange(p, 0, 2), exchange(p, 1, 4), exchange(p, 3, 6);
	exchange(p, 0, 1), exchange(p, 2, 5), exchange(p, 3, 4);
	exchange(p, 1, 2), exchange(p, 4, 6);
	exchange(p, 2, 3), exchange(p, 4, 5);
	exchange(p, 1, 2), exchange(p, 3, 4), exchange(p, 5, 6);
	r = where(invalid_of(p[1]), p[0], p[1]);
	r |= invalid_of(centre) & NONE;
	r = where(invalid_of(p[3]), r, p[2]);
	return where(invalid_of(p[5]), r, p[3]);
}

/* Loads columns 2 i and 2 i + 1 of row y. */
__device__ __forceinline__ uint32_t load(const struct smooth &s, int i, int y)
{
	uint32_t d = NONE;

	if (i >= 0 && 2 * i < s.width && y >= 0 && y < s.height)
		d = reinterpret_cast<const uint32_t *>(s.src + (size_t)y * s.src_pitch)[i] & NONE;
	return 2 * i + 1 < s.width ? d : d | (NONE & 0xffff0000u);
}

__device__ __forceinline__ void store(const struct smooth &s, int i, int y, uint32_t d)
{
	uint8_t *const confidence = s.confidence + (size_t)y * s.confidence_pitch + 2 * (size_t)i;

	d += (d & 0x20002000u) * 6; /* 0x3fff means 0xffff */
	*reinterpret_cast<uint32_t *>(s.dst + (size_t)y * s.dst_pitch + 4 * (size_t)i) = d;
	if ((d & 0xffff) == SX_DISPARITY_INVALID)
		confidence[0] = 0;
	if (d >> 16 == SX_DISPARITY_INVALID && 2 * i + 1 < s.width)
		confidence[1] = 0;
}

static __global__ void __launch_bounds__(THREADS) smooth_tile(const struct smooth s)
{
	__shared__ uint32_t tile[TILE_ROWS][WORDS];
	const int word = (int)threadIdx.x % WORDS, row = (int)threadIdx.x / WORDS * ROWS;
	const int i = (int)blockIdx.x * TILE_WORDS + word - BESIDE, y = (int)blockIdx.y * TILE_ROWS + row;
	uint32_t raw[ROWS + LINE - 1], p[LINE];

#pragma unroll
	for (int r = 0; r < ROWS + LINE - 1; r++)
		raw[r] = load(s, i, y + r - SX_SMOOTH_RADIUS);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
#pragma unroll
		for (int k = 0; k < LINE; k++)
			p[k] = raw[r + k];
		tile[row + r][word] = smooth_line(p);
	}
	__syncthreads();
	if (word < BESIDE || word >= WORDS - BESIDE || 2 * i >= s.width)
		return;
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const uint32_t *const at = &tile[row + r][word];

		if (y + r >= s.height)
			return;
		/* a pixel at an odd distance is the high half of one word and the low half of the next */
		p[0] = __byte_perm(at[-2], at[-1], 0x5432);
		p[1] = at[-1];
		p[2] = __byte_perm(at[-1], at[0], 0x5432);
		p[3] = at[0];
		p[4] = __byte_perm(at[0], at[1], 0x5432);
		p[5] = at[1];
		p[6] = __byte_perm(at[1], at[2], 0x5432);
		store(s, i, y + r, smooth_line(p));
	}
}

extern "C" cudaError_t sx_smooth_cuda_run(const struct sx_image *src, const struct sx_image *dst,
					  const struct sx_image *confidence, cudaStream_t stream)
{
	const struct smooth s = {(const uint8_t *)src->data,
				 (uint8_t *)dst->data,
				 (uint8_t *)confidence->data,
				 src->pitch,
				 dst->pitch,
				 confidence->pitch,
				 src->width,
				 src->height};
	const dim3 grid((unsigned)((s.width + 1) / 2 + TILE_WORDS - 1) / TILE_WORDS,
			(unsigned)(s.height + TILE_ROWS - 1) / TILE_ROWS);

	SX_LAUNCH(smooth_tile, grid, THREADS, 0, stream, s);
	return SX_LAUNCHED();
}
