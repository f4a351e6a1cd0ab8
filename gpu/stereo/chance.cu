/*
 * Finds areas that were matched by chance, on the GPU. Must equal sx_chance() (stages/stereo/chance.h)
 * byte for byte.
 *
 * Work:   a block makes 32 x 8 tiles. First its threads sum the pixels of the two even rows of each of these
 *         tiles and of three more tiles to each side. Each thread has one row: it waits for the disparities,
 *         then for the right descriptors. Then the threads add five neighbours in a row, then five such sums
 *         in a column, which makes a square. Then each tile checks the nine squares that contain it.
 * Memory: 13 KB of shared memory. Half of the rows are read 2.1 times, mostly from the cache: disparities
 *         and left descriptors in order, right descriptors at the places that the disparities give. One byte
 *         per tile is read and written; with pyramid search one more is read.
 * Ranges: sums of a square are at most 12600, so two of them are in a word and are added at once.
 * Shapes: any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/chance.h"

#include "gpu/cuda.cuh"
#include "gpu/stages_cuda.h"

#define TILES_X 32 /* tiles of a block */
#define TILES_Y 8
#define THREADS (2 * TILES_X * TILES_Y)
#define LAST (SX_FLAT_SQUARE - 1)
#define BESIDE (SX_FLAT_SQUARE - 2) /* tiles to each side that a tile's squares reach */
#define WIDE (TILES_X + 2 * BESIDE)
#define HIGH (TILES_Y + 2 * BESIDE)
#define STARTS (WIDE - LAST) /* squares of a row */

struct chance_work {
	const uint16_t *winner;
	const void *descriptor[2], *search; /* search: NULL: full search */
	uint8_t *flat;
	size_t winner_pitch, descriptor_pitch[2], search_pitch, flat_pitch;
	int width, height, tiles_x, tiles_y, min_disparity, bits;
};

/*
 * Sums of struct sx_chance_sums. Each word has the left sum in the low half and the right sum in the high
 * half.
 */
struct pair_sums {
	uint32_t differ, set;
};

__device__ static int bits_of(uint32_t word)
{
	return __popc(word);
}

__device__ static int bits_of(uint64_t word)
{
	return __popcll(word);
}

/* Loads four neighbouring words of a row. They begin at a multiple of 16 bytes. */
__device__ static void load_four(uint32_t word[4], const uint32_t *from)
{
	const uint4 v = *reinterpret_cast<const uint4 *>(from);

	word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
}

__device__ static void load_four(uint64_t word[4], const uint64_t *from)
{
	const ulonglong2 a = reinterpret_cast<const ulonglong2 *>(from)[0],
			 b = reinterpret_cast<const ulonglong2 *>(from)[1];

	word[0] = a.x, word[1] = a.y, word[2] = b.x, word[3] = b.y;
}

/*
 * Returns the sums of row y of the tile in column i. A tile that is partly outside the image has no pixel
 * with a descriptor.
 */
template <typename Word>
__device__ static struct pair_sums row_sums(const struct chance_work &w, int i, int y)
{
	struct pair_sums s = {0, 0};
	Word left[SX_FLAT_TILE];

	if (i < 0 || (i + 1) * SX_FLAT_TILE > w.width || !sx_chance_row(y, w.height))
		return s;
	const size_t row = (size_t)y;
	const uint2 winners = reinterpret_cast<const uint2 *>(reinterpret_cast<const uint8_t *>(w.winner) +
							      row * w.winner_pitch)[i];
	const Word *right = reinterpret_cast<const Word *>(static_cast<const uint8_t *>(w.descriptor[1]) +
							   row * w.descriptor_pitch[1]);

	load_four(left, reinterpret_cast<const Word *>(static_cast<const uint8_t *>(w.descriptor[0]) +
						       row * w.descriptor_pitch[0]) +
				i * SX_FLAT_TILE);
#pragma unroll
	for (int k = 0; k < SX_FLAT_TILE; k++) {
		const uint32_t v = ((k < 2 ? winners.x : winners.y) >> 16 * (k % 2)) & 0xffff;
		const int partner = sx_chance_partner(i * SX_FLAT_TILE + k, (int)v, w.width, w.min_disparity);

		if (partner < 0)
			continue;
		s.differ += 1 + ((uint32_t)bits_of(left[k] ^ right[partner]) << 16);
		s.set += (uint32_t)bits_of(left[k]) + ((uint32_t)bits_of(right[partner]) << 16);
	}
	return s;
}

__device__ static struct pair_sums join(struct pair_sums a, struct pair_sums b)
{
	a.differ += b.differ;
	a.set += b.set;
	return a;
}

/* Returns the bits of a square. */
__device__ static uint8_t square_of(struct pair_sums s, int bits)
{
	struct sx_chance_sums sums;

	sums.pixels = (int16_t)(s.differ & 0xffff);
	sums.differ = (int16_t)(s.differ >> 16);
	sums.left = (int16_t)(s.set & 0xffff);
	sums.right = (int16_t)(s.set >> 16);
	return sx_chance_square(&sums, bits);
}

/* Returns true if the tile of pyramid search around tile (x, y) is crowded. */
__device__ static bool is_crowded(const struct chance_work &w, int x, int y)
{
	if (!w.search)
		return false;
	const uint8_t *const row =
		static_cast<const uint8_t *>(w.search) + (size_t)SX_CHANCE_SEARCH_ROW(y) * w.search_pitch;

	return SX_SEARCH_IS_CROWDED(
		reinterpret_cast<const struct sx_search_tile *>(row)[SX_CHANCE_SEARCH_COLUMN(x)]);
}

template <typename Word>
static __global__ void __launch_bounds__(THREADS) find_chance(const struct chance_work w)
{
	__shared__ struct pair_sums half[2][HIGH][WIDE], line[HIGH][STARTS];
	__shared__ uint8_t square[HIGH - LAST][STARTS];
	const int x0 = (int)blockIdx.x * TILES_X - BESIDE, y0 = (int)blockIdx.y * TILES_Y - BESIDE;
	const int me = (int)threadIdx.x;
	struct pair_sums *const sums = &half[0][0][0];
	const int i0 = me % TILES_X, j0 = me / TILES_X, x = x0 + BESIDE + i0, y = y0 + BESIDE + j0;

#pragma unroll 3
	for (int i = me; i < 2 * HIGH * WIDE; i += THREADS)
		sums[i] = row_sums<Word>(w, x0 + i % WIDE,
					 (y0 + i / WIDE % HIGH) * SX_FLAT_TILE + i / (HIGH * WIDE) * 2);
	__syncthreads();
	for (int i = me; i < HIGH * STARTS; i += THREADS) {
		struct pair_sums s = {0, 0};

		for (int k = 0; k <= LAST; k++)
			s = join(s, join(half[0][i / STARTS][i % STARTS + k],
					 half[1][i / STARTS][i % STARTS + k]));
		line[i / STARTS][i % STARTS] = s;
	}
	__syncthreads();
	for (int i = me; i < (HIGH - LAST) * STARTS; i += THREADS) {
		const int u = x0 + i % STARTS, v = y0 + i / STARTS;
		struct pair_sums s = line[i / STARTS][i % STARTS];

		for (int k = 1; k <= LAST; k++)
			s = join(s, line[i / STARTS + k][i % STARTS]);
		square[i / STARTS][i % STARTS] =
			u >= 0 && v >= 0 && u + LAST < w.tiles_x && v + LAST < w.tiles_y
				? square_of(s, w.bits)
				: 0;
	}
	__syncthreads();

	uint8_t squares = 0;

	if (j0 >= TILES_Y || x >= w.tiles_x || y >= w.tiles_y)
		return;
	for (int k = 0; k < BESIDE * BESIDE; k++)
		squares |= square[j0 + k / BESIDE][i0 + k % BESIDE];
	if (squares) {
		uint8_t *const flat = w.flat + (size_t)y * w.flat_pitch + (size_t)x;

		*flat = sx_chance_tile(*flat, squares, is_crowded(w, x, y));
	}
}

extern "C" cudaError_t sx_chance_cuda_run(const struct sx_image *winner, const struct sx_image descriptor[2],
					  const struct sx_image *flat, const struct sx_image *search,
					  const struct sx_stereo_params *p, cudaStream_t stream)
{
	struct chance_work w = {};
	const dim3 grid((unsigned)(flat->width + TILES_X - 1) / TILES_X,
			(unsigned)(flat->height + TILES_Y - 1) / TILES_Y);

	w.winner = (const uint16_t *)winner->data;
	w.winner_pitch = winner->pitch;
	for (int side = 0; side < 2; side++) {
		w.descriptor[side] = descriptor[side].data;
		w.descriptor_pitch[side] = descriptor[side].pitch;
	}
	w.search = search->data;
	w.search_pitch = search->pitch;
	w.flat = (uint8_t *)flat->data;
	w.flat_pitch = flat->pitch;
	w.width = winner->width;
	w.height = winner->height;
	w.tiles_x = flat->width;
	w.tiles_y = flat->height;
	w.min_disparity = p->min_disparity;
	w.bits = sx_cost_max(p->cost);
	if (descriptor[0].pixel == SX_PIXEL_U64)
		SX_LAUNCH((find_chance<uint64_t>), grid, THREADS, 0, stream, w);
	else
		SX_LAUNCH((find_chance<uint32_t>), grid, THREADS, 0, stream, w);
	return SX_LAUNCHED();
}
