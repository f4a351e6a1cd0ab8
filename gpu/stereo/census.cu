/*
 * Census transforms on the GPU, alone or together with ingest. Must equal sx_census() bit for bit.
 *
 * Work:    a block makes a tile of 128 columns and 2 S rows. A thread processes four columns of rows y and y
 *          + S at once, as the two halves of a pair word, for ROWS rows downwards. Its window of 7 x 12 words
 *          stays in registers and moves by one row per step.
 * Memory:  the tile with its border is in shared memory as pair words, (S + 6) x 136. So every neighbour is
 *          an aligned word, and three 16-byte loads bring the new row of four columns. Stores have 16 bytes.
 * Ranges:  grey 0..255 as pairs; bits of a descriptor in chunks of 16.
 * Shapes:  any size. The pitch of device images is a multiple of 128 bytes, so whole words are read and
 *          written beyond the last column. Descriptors there are 0. Rows of 31-bit descriptors may begin
 *          anywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/ingest/grey.cuh"
#include "gpu/stages_cuda.h"
#include "gpu/stereo/compare.cuh"
#include "stages/stereo/census.h"

#define RX SX_CENSUS_RADIUS_X
#define RY SX_CENSUS_RADIUS_Y
#define COLUMNS 128
#ifndef WARPS
#define WARPS 4
#endif
#ifndef ROWS
#define ROWS 4 /* rows that a thread makes, twice */
#endif
#define S (WARPS * ROWS)
#define TILE_ROWS (S + 2 * RY)
#define TILE_COLUMNS (COLUMNS + 2 * RX)
#define WORDS 12 /* words of a row of a thread's window */

struct census_images {
	uint8_t *grey, *census;
	size_t grey_pitch, census_pitch;
	int by_words; /* store by words, because rows of descriptors do not begin at a multiple of 16 bytes */
};

struct census_work {
	const struct sx_cuda_input *in; /* set if ingest runs in the same launch: grey is written */
	struct census_images left, right;
	int width, height;
	enum sx_pixel from; /* value of FROM */
};

/*
 * FROM: source of the tiles. A pixel format: pixels of the input block. FROM_GREY: the grey image is ready.
 * FROM_ANY: the work decides at run time. The compiler knows csct of U8, which is usual; other cases are
 * decided once per block.
 */
#define FROM_GREY SX_PIXEL_U16
#define FROM_ANY SX_PIXEL_U64

template <enum sx_pixel FROM>
__device__ static uint32_t grey4(const struct census_images *p, const struct sx_source *s, int x, int y)
{
	if (FROM != FROM_GREY)
		return sx_grey4<FROM>(s, x, y);
	return *reinterpret_cast<const uint32_t *>(p->grey + (size_t)y * p->grey_pitch + x);
}

__device__ static void keep_grey(const struct census_work *w, const struct census_images *p, int x, int y,
				 uint32_t grey)
{
	if (x < w->width && y < w->height)
		*reinterpret_cast<uint32_t *>(p->grey + (size_t)y * p->grey_pitch + x) = grey;
}

/* Returns four pixels of two rows as four pairs. */
__device__ static uint4 pairs_of(uint32_t a, uint32_t b)
{
	uint32_t even_a = sx_pair_even(a), odd_a = sx_pair_odd(a), even_b = sx_pair_even(b),
		 odd_b = sx_pair_odd(b);

	return make_uint4(__byte_perm(even_a, even_b, 0x5410), __byte_perm(odd_a, odd_b, 0x5410),
			  __byte_perm(even_a, even_b, 0x7632), __byte_perm(odd_a, odd_b, 0x7632));
}

/*
 * Fills the tile. x0, y0: the tile's first pixel. Pixels outside the image are replaced, because windows that
 * contain them are not used.
 */
template <enum sx_pixel FROM>
__device__ static void fill_tile(uint32_t *tile, const struct census_work *w, const struct census_images *p,
				 int x0, int y0)
{
	struct sx_source s = {};

	if (FROM != FROM_GREY)
		s = sx_source_of<FROM>(w->in, (int)blockIdx.z, w->width, w->height);
	for (int i = (int)threadIdx.x; i < TILE_ROWS * (TILE_COLUMNS / 4); i += 32 * WARPS) {
		int row = i / (TILE_COLUMNS / 4), word = i % (TILE_COLUMNS / 4);
		int x = min(max(x0 - RX + 4 * word, 0), (w->width - 1) & ~3);
		int ya = min(max(y0 - RY + row, 0), w->height - 1),
		    yb = min(y0 - RY + row + S, w->height - 1);
		uint32_t a = grey4<FROM>(p, &s, x, ya), b = grey4<FROM>(p, &s, x, yb);

		*reinterpret_cast<uint4 *>(&tile[row * TILE_COLUMNS + 4 * word]) = pairs_of(a, b);
		if (FROM != FROM_GREY && row >= RY && row < S + RY && word >= 1 && word <= COLUMNS / 4) {
			keep_grey(w, p, x0 - RX + 4 * word, y0 - RY + row, a);
			keep_grey(w, p, x0 - RX + 4 * word, y0 - RY + row + S, b);
		}
	}
}

template <>
__device__ void fill_tile<FROM_ANY>(uint32_t *tile, const struct census_work *w,
				    const struct census_images *p, int x0, int y0)
{
	switch (w->from) {
	case SX_PIXEL_U8:
		fill_tile<SX_PIXEL_U8>(tile, w, p, x0, y0);
		break;
	case SX_PIXEL_YUYV:
		fill_tile<SX_PIXEL_YUYV>(tile, w, p, x0, y0);
		break;
	case SX_PIXEL_UYVY:
		fill_tile<SX_PIXEL_UYVY>(tile, w, p, x0, y0);
		break;
	case SX_PIXEL_RGB24:
		fill_tile<SX_PIXEL_RGB24>(tile, w, p, x0, y0);
		break;
	default:
		fill_tile<FROM_GREY>(tile, w, p, x0, y0);
		break;
	}
}

template <enum sx_cost COST> __device__ constexpr bool is_compared(int dx, int dy)
{
	return COST == SX_COST_CSCT	  ? dy < 0 || (dy == 0 && dx < 0)
	       : COST == SX_COST_CENSUS48 ? dx && dy
					  : COST == SX_COST_CENSUS63 || dx || dy;
}

template <enum sx_cost COST> __device__ constexpr int bits_of()
{
	return COST == SX_COST_CSCT ? 31 : COST == SX_COST_CENSUS48 ? 48 : COST == SX_COST_CENSUS63 ? 63 : 62;
}

/* Returns the bit of a comparison in the descriptor. The first comparison is the highest bit. */
template <enum sx_cost COST> __device__ constexpr int bit_of(int dx, int dy)
{
	int bit = bits_of<COST>();

	for (int y = -RY; y <= dy; y++)
		for (int x = -RX; x <= (y < dy ? RX : dx); x++)
			bit -= is_compared<COST>(x, y);
	return bit;
}

/*
 * Makes the comparisons from the last, N = 62, to the first. So bits go from 0 upwards, as
 * sx_pair_put_above() requires.
 */
template <enum sx_cost COST, int N> struct comparisons {
	static __device__ __forceinline__ void put(const uint32_t v[7][WORDS], int top, uint32_t chunk[][4])
	{
		constexpr int dx = N % 9 - RX, dy = N / 9 - RY, bit = bit_of<COST>(dx, dy);

		if (is_compared<COST>(dx, dy)) {
#pragma unroll
			for (int i = 0; i < 4; i++) {
				uint32_t here = v[(top + RY + dy) % 7][RX + dx + i];
				uint32_t mirrored = v[(top + RY - dy) % 7][RX - dx + i],
					 centre = v[(top + RY) % 7][RX + i];

				chunk[bit / 16][i] = COST == SX_COST_CSCT
							     ? sx_pair_put_above<bit % 16>(chunk[bit / 16][i],
											   here, mirrored)
							     : sx_pair_put_above<bit % 16>(chunk[bit / 16][i],
											   centre, here);
			}
		}
		comparisons<COST, N - 1>::put(v, top, chunk);
	}
};

template <enum sx_cost COST> struct comparisons<COST, -1> {
	static __device__ __forceinline__ void put(const uint32_t[7][WORDS], int, uint32_t[][4])
	{
	}
};

__device__ static void load_row(uint32_t v[WORDS], const uint32_t *tile)
{
#pragma unroll
	for (int i = 0; i < WORDS / 4; i++) {
		uint4 four = *reinterpret_cast<const uint4 *>(&tile[4 * i]);

		v[4 * i] = four.x;
		v[4 * i + 1] = four.y;
		v[4 * i + 2] = four.z;
		v[4 * i + 3] = four.w;
	}
}

/*
 * Stores a row of descriptors. half: which row of the pairs. Columns and rows without a whole window get 0.
 */
template <int CHUNKS>
__device__ static void store(const struct census_work *w, const struct census_images *p, int x, int y,
			     int half, uint32_t chunk[CHUNKS][4])
{
	uint8_t *row = p->census + (size_t)y * p->census_pitch;
	bool inside = y >= RY && y < w->height - RY;
	unsigned pick = half ? 0x7632 : 0x5410;
	uint32_t out[2 * CHUNKS];

	if (x >= w->width || y >= w->height)
		return;
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int k = 0; k < CHUNKS / 2; k++)
			out[i * CHUNKS / 2 + k] =
				inside && x + i >= RX && x + i < w->width - RX
					? __byte_perm(chunk[2 * k][i], chunk[2 * k + 1][i], pick)
					: 0;
	if (CHUNKS == 2 && p->by_words) {
#pragma unroll
		for (int i = 0; i < 4; i++)
			reinterpret_cast<uint32_t *>(row)[x + i] = out[i];
		return;
	}
#pragma unroll
	for (int i = 0; i < CHUNKS / 2; i++)
		reinterpret_cast<uint4 *>(row)[x / 4 * CHUNKS / 2 + i] =
			make_uint4(out[4 * i], out[4 * i + 1], out[4 * i + 2], out[4 * i + 3]);
}

template <enum sx_cost COST, enum sx_pixel FROM>
__global__ void __launch_bounds__(32 * WARPS, 16 / WARPS) census(struct census_work w)
{
	constexpr int chunks = COST == SX_COST_CSCT ? 2 : 4;
	__shared__ __align__(16) uint32_t tile[TILE_ROWS * TILE_COLUMNS];
	int lane = (int)threadIdx.x % 32, first = (int)threadIdx.x / 32 * ROWS;
	int x0 = (int)blockIdx.x * COLUMNS, y0 = (int)blockIdx.y * 2 * S;
	const struct census_images p = blockIdx.z ? w.right : w.left;
	uint32_t v[7][WORDS];

	fill_tile<FROM>(tile, &w, &p, x0, y0);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < 6; i++)
		load_row(v[i], &tile[(first + i) * TILE_COLUMNS + 4 * lane]);
#pragma unroll
	for (int i = 0; i < ROWS; i++) {
		uint32_t chunk[chunks][4] = {};

		load_row(v[(i + 6) % 7], &tile[(first + i + 6) * TILE_COLUMNS + 4 * lane]);
		comparisons<COST, 62>::put(v, i, chunk);
		store<chunks>(&w, &p, x0 + 4 * lane, y0 + first + i, 0, chunk);
		store<chunks>(&w, &p, x0 + 4 * lane, y0 + first + i + S, 1, chunk);
	}
}

static struct census_images images_of(const struct sx_image *grey, const struct sx_image *census)
{
	struct census_images p;

	p.grey = (uint8_t *)grey->data;
	p.grey_pitch = grey->pitch;
	p.census = (uint8_t *)census->data;
	p.census_pitch = census->pitch;
	p.by_words = (uintptr_t)census->data % 16 != 0;
	return p;
}

static struct census_work work_of(const struct sx_cuda_input *in, enum sx_pixel from,
				  const struct sx_image grey[2], const struct sx_image out[2])
{
	struct census_work w = {};

	w.in = in;
	w.from = from;
	w.width = grey[0].width;
	w.height = grey[0].height;
	w.left = images_of(&grey[0], &out[0]);
	w.right = images_of(&grey[1], &out[1]);
	return w;
}

static cudaError_t census_launch(const struct census_work &w, enum sx_cost cost, cudaStream_t stream)
{
	dim3 grid((unsigned)(w.width + COLUMNS - 1) / COLUMNS, (unsigned)(w.height + 2 * S - 1) / (2 * S), 2);

	switch (cost) {
	case SX_COST_CSCT:
		if (w.from == SX_PIXEL_U8)
			SX_LAUNCH((census<SX_COST_CSCT, SX_PIXEL_U8>), grid, 32 * WARPS, 0, stream, w);
		else
			SX_LAUNCH((census<SX_COST_CSCT, FROM_ANY>), grid, 32 * WARPS, 0, stream, w);
		break;
	case SX_COST_CENSUS:
		SX_LAUNCH((census<SX_COST_CENSUS, FROM_ANY>), grid, 32 * WARPS, 0, stream, w);
		break;
	case SX_COST_CENSUS48:
		SX_LAUNCH((census<SX_COST_CENSUS48, FROM_ANY>), grid, 32 * WARPS, 0, stream, w);
		break;
	case SX_COST_CENSUS63:
		SX_LAUNCH((census<SX_COST_CENSUS63, FROM_ANY>), grid, 32 * WARPS, 0, stream, w);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}

cudaError_t sx_census_cuda_run(const struct sx_image grey[2], const struct sx_image census[2],
			       enum sx_cost cost, cudaStream_t stream)
{
	return census_launch(work_of(NULL, FROM_GREY, grey, census), cost, stream);
}

cudaError_t sx_ingest_census_cuda_run(const struct sx_cuda_input *in, enum sx_pixel pixel,
				      const struct sx_image grey[2], const struct sx_image census[2],
				      enum sx_cost cost, cudaStream_t stream)
{
	switch (pixel) {
	case SX_PIXEL_U8:
	case SX_PIXEL_NV12:
		return census_launch(work_of(in, SX_PIXEL_U8, grey, census), cost, stream);
	case SX_PIXEL_YUYV:
	case SX_PIXEL_UYVY:
	case SX_PIXEL_RGB24:
		return census_launch(work_of(in, pixel, grey, census), cost, stream);
	default:
		return cudaErrorInvalidValue;
	}
}
