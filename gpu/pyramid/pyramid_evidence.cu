/*
 * Evidence of thin objects: the blocks that a tile keeps because costs of a strip have one clear minimum.
 * Must equal step 5 of stages/pyramid/pyramid.h.
 *
 * Work:    a block walks down two columns of tiles, which are eight columns of groups. For each row of groups
 *          it sums the costs of all disparities, and keeps the sums of the last four rows. For each tile it
 *          adds them up to six strips, and finds the least sum of each and its least rival, two disparities
 *          to a lane.
 *
 *          If the device has products of bits (gpu/stereo/match.cuh), one product sums the 8 pixels of a
 *          group for 16 places of the right image and 8 groups. Row i of A has the right descriptors of place
 *          p = 16 k + i, column n of B the left descriptors of group n, 32 bits for each pixel. A second
 *          product has both inverted. Their sum is the number of bits that are equal, for disparity 4 n - p +
 *          D - 1. Pixels outside the image are 0 in both operands B. Other devices, the emulator and
 *          descriptors of 64 bits use POPC.
 * Memory:  the descriptors of two rows, loaded one row of groups ahead, and four rows of sums, 64 D bytes, in
 *          shared memory.
 * Ranges:  a sum is at most 32 * 253, so a sum and a disparity fit a word.
 * Shapes:  any size; D up to 512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid.cuh"
#include "gpu/stereo/match.cuh"
#include "gpu/warp.cuh"
#include "stages/stereo/sgm.h"

#define TILES_X 2 /* columns of tiles of a block */
#define WIDE (TILES_X * SX_SEARCH_TILE_WIDTH)
#define GROUP SX_PYRAMID_GROUP
#define GROUPS_X (WIDE / GROUP)
#define TILE_GROUPS_X (SX_SEARCH_TILE_WIDTH / GROUP)
#define TILE_GROUPS_Y (SX_SEARCH_TILE_HEIGHT / GROUP)
#define WINDOW (TILE_GROUPS_Y + 2) /* rows of groups of a tile's strips */
#define STRIPS SX_PYRAMID_STRIPS
#define OF_WARP 128	     /* disparities of a warp */
#define PAIRS (OF_WARP / 64) /* pairs of disparities of a lane */
#define ROWS_OF_PRODUCT 16
#define LOADS 6	     /* right columns of a thread: of 128 disparities in a warp */
#define KEY_SHIFT 10 /* a key is a sum and a disparity */
#define NO_RIVAL (INT32_MAX / 100)
#define HIDDEN 0x80000000u /* mark of a right descriptor of 31 bits that is outside the image */

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct evidence_work {
	struct sx_pyramid_view v;
	int largest;  /* the largest cost */
	int tiles;    /* a block has this number of tiles, downwards */
	bool no_view; /* a right column outside the image has the largest cost; false: that of descriptor 0 */
};

/* Returns the number of right columns that a row of groups meets, rounded up to whole products. */
__host__ __device__ inline int right_columns(int disparities)
{
	const int places = disparities + WIDE - GROUP;

	return (places + ROWS_OF_PRODUCT - 1) / ROWS_OF_PRODUCT * ROWS_OF_PRODUCT + GROUP - 1;
}

/*
 * Shared memory of a block.
 * sum: [row of groups mod WINDOW][group][disparity]. right: two rows, first column that of disparity D - 1.
 * left: two rows. least, rival: of a tile's strips.
 */
template <typename Word> struct evidence_shared {
	uint16_t *sum;
	Word *right, *left;
	uint32_t *least, *rival;

	static __host__ __device__ size_t bytes(int disparities)
	{
		return (size_t)(WINDOW * GROUPS_X * disparities) * sizeof(uint16_t) +
		       2 * (size_t)(right_columns(disparities) + 1 + WIDE) * sizeof(Word) +
		       2 * TILES_X * STRIPS * sizeof(uint32_t);
	}
	__device__ explicit evidence_shared(unsigned char *at, int disparities)
	{
		sum = reinterpret_cast<uint16_t *>(at);
		left = reinterpret_cast<Word *>(sum + WINDOW * GROUPS_X * disparities);
		right = left + 2 * WIDE;
		least = reinterpret_cast<uint32_t *>(right + 2 * (right_columns(disparities) + 1));
		rival = least + TILES_X * STRIPS;
	}
};

/* Descriptors of a row of groups on their way to shared memory. */
template <typename Word> struct evidence_ahead {
	Word right[2][LOADS], left[2];
};

/*
 * Loads the descriptors of a row of groups from row y on. x0: first left column; first: first right column.
 */
template <typename Word>
__device__ __forceinline__ void load_rows(struct evidence_ahead<Word> *a, const struct evidence_work &w,
					  int x0, int first, int y)
{
	const int me = (int)threadIdx.x, columns = right_columns(w.v.disparities);
	const Word outside = sizeof(Word) == 4 && w.no_view ? (Word)HIDDEN : 0;

#pragma unroll
	for (int r = 0; r < 2; r++) {
		const int row = y + 2 * r;
		const bool exists = y >= 0 && row < w.v.height;
		const size_t at = exists ? (size_t)row : 0;
		const Word *left =
			reinterpret_cast<const Word *>(w.v.descriptor[0] + at * w.v.descriptor_pitch[0]);
		const Word *right =
			reinterpret_cast<const Word *>(w.v.descriptor[1] + at * w.v.descriptor_pitch[1]);

#pragma unroll
		for (int i = 0; i < LOADS; i++) {
			const int column = me + i * (int)blockDim.x, x = first + column;

			a->right[r][i] = outside;
			if (column < columns && x >= 0 && x < w.v.width)
				a->right[r][i] = exists ? right[x] : 0;
		}
		a->left[r] = exists && me < WIDE && x0 + me < w.v.width ? left[x0 + me] : 0;
	}
}

template <typename Word>
__device__ __forceinline__ void store_rows(const struct evidence_shared<Word> &s,
					   const struct evidence_ahead<Word> &a, int disparities)
{
	const int me = (int)threadIdx.x, columns = right_columns(disparities);

#pragma unroll
	for (int r = 0; r < 2; r++) {
#pragma unroll
		for (int i = 0; i < LOADS; i++)
			if (me + i * (int)blockDim.x < columns)
				s.right[r * (columns + 1) + me + i * (int)blockDim.x] = a.right[r][i];
		if (me < WIDE)
			s.left[r * WIDE + me] = a.left[r];
	}
}

/* Sums costs by POPC: a thread has one disparity after the other. */
template <typename Word>
__device__ __forceinline__ void count_groups(const struct evidence_shared<Word> &s,
					     const struct evidence_work &w, int x0, int rows, uint16_t *to)
{
	const int columns = right_columns(w.v.disparities);

	for (int d = (int)threadIdx.x; d < w.v.disparities; d += (int)blockDim.x)
#pragma unroll
		for (int n = 0; n < GROUPS_X; n++) {
			int sum = 0;

#pragma unroll
			for (int i = 0; i < 2 * GROUP; i++) {
				const int r = i / GROUP, x = n * GROUP + i % GROUP;
				const Word right = s.right[r * (columns + 1) + w.v.disparities - 1 - d + x];
				const int met = x0 + x - w.v.min_disparity - d;
				const bool hidden = w.no_view && (met < 0 || met >= w.v.width);

				if (r < rows && x0 + x < w.v.width)
					sum += hidden ? w.largest
						      : (int)sx_pyramid_ones(
								(Word)(s.left[r * WIDE + x] ^ right));
			}
			to[n * w.v.disparities + d] = (uint16_t)sum;
		}
}

#if SX_HAS_BIT_PRODUCTS
/* Adds the products of bits: c[0], c[1] of row g, columns 2 t and 2 t + 1; c[2], c[3] of row g + 8. */
__device__ __forceinline__ void add_product(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
	asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
	    "{%8, %9}, {%0, %1, %2, %3};"
	    : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Sums costs of 31-bit descriptors by products of bits: a warp has one product's places after the other. */
__device__ __forceinline__ void multiply_groups(const struct evidence_shared<uint32_t> &s,
						const struct evidence_work &w, int x0, int rows, uint16_t *to)
{
	const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
	const int columns = right_columns(w.v.disparities), places = columns - (GROUP - 1);
	const bool inside = x0 + lane < w.v.width;
	const uint32_t mask[2] = {inside && rows > 0 ? SX_MATCH_BITS : 0,
				  inside && rows > 1 ? SX_MATCH_BITS : 0};
	const uint32_t left[2] = {s.left[lane] & mask[0], s.left[WIDE + lane] & mask[1]};
	const uint32_t not_left[2] = {~s.left[lane] & mask[0], ~s.left[WIDE + lane] & mask[1]};
	int bits[2];

#pragma unroll
	for (int k = 0; k < 2; k++)
		bits[k] = w.largest * rows * min(max(w.v.width - x0 - GROUP * (2 * t + k), 0), GROUP);
	for (int p = (int)threadIdx.x / 32 * ROWS_OF_PRODUCT; p < places;
	     p += (int)blockDim.x / 32 * ROWS_OF_PRODUCT) {
		const uint32_t *at = s.right + p + g + t;
		const uint32_t a[4] = {at[0], at[8], at[columns + 1], at[columns + 9]};
		uint32_t not_a[4];
		int c[4] = {0, 0, 0, 0};

#pragma unroll
		for (int i = 0; i < 4; i++)
			not_a[i] = w.no_view && (a[i] & HIDDEN) ? 0 : ~a[i];
		add_product(c, a, left);
		add_product(c, not_a, not_left);

		/* c[i] is of group 2 t + i % 2 and place p + g + 8 (i / 2) */
		const int d = 2 * GROUP * t - p - g + w.v.disparities - 1;
		uint16_t *const out = to + 2 * t * w.v.disparities + d;
		const bool all =
			p >= WIDE - GROUP && p + ROWS_OF_PRODUCT <= w.v.disparities; /* d are in range */

#pragma unroll
		for (int i = 0; i < 4; i++) {
			const int more = GROUP * (i % 2) - 8 * (i / 2);

			if (all || (d + more >= 0 && d + more < w.v.disparities))
				out[i % 2 * w.v.disparities + more] = (uint16_t)(bits[i % 2] - c[i]);
		}
	}
}
#endif

template <typename Word>
__device__ __forceinline__ void sum_groups(const struct evidence_shared<Word> &s,
					   const struct evidence_work &w, int x0, int rows, uint16_t *to)
{
	count_groups<Word>(s, w, x0, rows, to);
}

#if SX_HAS_BIT_PRODUCTS
template <>
__device__ __forceinline__ void sum_groups<uint32_t>(const struct evidence_shared<uint32_t> &s,
						     const struct evidence_work &w, int x0, int rows,
						     uint16_t *to)
{
	multiply_groups(s, w, x0, rows, to);
}
#endif

/* Returns true if a strip of tile (q, j) has a group in the image. */
__device__ __forceinline__ bool strip_exists(const struct sx_pyramid_view &v, int q, int j, int strip)
{
	if (strip < TILE_GROUPS_X)
		return (TILE_GROUPS_X * q + strip) * SX_PYRAMID_GROUP < v.width;
	return (TILE_GROUPS_Y * j + strip - TILE_GROUPS_X) * SX_PYRAMID_GROUP < v.height;
}

/* Returns the blocks that a strip keeps. key: its least sum and the disparity. */
__device__ __forceinline__ uint64_t kept_by(uint32_t key, uint32_t rival, int disparities)
{
	const int b0 = (int)(key & ((1u << KEY_SHIFT) - 1));
	uint64_t kept = 0;

	if (!sx_pyramid_strip_is_clear((int)(key >> KEY_SHIFT), (int)rival))
		return 0;
	for (int b = sx_pyramid_strip_first(b0, disparities); b <= sx_pyramid_strip_last(b0, disparities);
	     b++)
		kept |= 1ull << b;
	return kept;
}

/* Adds up strip i of a tile, for two neighbouring disparities. window: sums of the tile's groups. */
__device__ __forceinline__ uint32_t strip_of(const uint32_t (&window)[WINDOW][TILE_GROUPS_X], int i)
{
	if (i < TILE_GROUPS_X)
		return window[0][i] + window[1][i] + window[2][i] + window[3][i];

	const uint32_t(&row)[TILE_GROUPS_X] = window[(1 + i - TILE_GROUPS_X) % WINDOW];

	return row[0] + row[1] + row[2] + row[3];
}

/*
 * Adds up the strips of a tile. group: the tile's first group; slot: row of sums of the window's first row.
 */
template <typename Word>
__device__ __forceinline__ void add_strips(const struct evidence_shared<Word> &s, int disparities, int group,
					   int slot, int d, uint32_t (&strip)[STRIPS])
{
	uint32_t window[WINDOW][TILE_GROUPS_X];

#pragma unroll
	for (int y = 0; y < WINDOW; y++)
#pragma unroll
		for (int i = 0; i < TILE_GROUPS_X; i++)
			window[y][i] = *reinterpret_cast<const uint32_t *>(
				s.sum + (((slot + y) % WINDOW) * GROUPS_X + group + i) * disparities + d);
#pragma unroll
	for (int i = 0; i < STRIPS; i++)
		strip[i] = strip_of(window, i);
}

/* Finds the blocks that tile (q, j) keeps. tile: 0 or 1. All threads of the block must call it. */
template <typename Word>
__device__ __forceinline__ void judge_tile(const struct evidence_shared<Word> &s,
					   const struct evidence_work &w, int q, int j, int tile, int slot)
{
	const int first = (int)threadIdx.x / 32 * OF_WARP + 2 * ((int)threadIdx.x % 32);
	const int disparities = w.v.disparities;
	uint32_t *least = s.least + tile * STRIPS, *rival = s.rival + tile * STRIPS;
	uint32_t strip[PAIRS][STRIPS], key[STRIPS];

#pragma unroll
	for (int i = 0; i < STRIPS; i++)
		key[i] = UINT32_MAX;
#pragma unroll
	for (int k = 0; k < PAIRS; k++) {
		const int d = first + 64 * k;

		if (d >= disparities)
			break;
		add_strips<Word>(s, disparities, tile * TILE_GROUPS_X, slot, d, strip[k]);
#pragma unroll
		for (int i = 0; i < STRIPS; i++)
			key[i] = min(key[i], min((strip[k][i] & 0xffff) << KEY_SHIFT | (uint32_t)d,
						 strip[k][i] >> 16 << KEY_SHIFT | (uint32_t)(d + 1)));
	}
#pragma unroll
	for (int i = 0; i < STRIPS; i++) {
		key[i] = sx_warp_min(key[i]);
		if (threadIdx.x % 32 == 0)
			atomicMin(&least[i], key[i]);
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < STRIPS; i++) {
		const int b0 = (int)(least[i] & ((1u << KEY_SHIFT) - 1));
		uint32_t most = NO_RIVAL;

#pragma unroll
		for (int k = 0; k < PAIRS; k++) {
			const int apart = first + 64 * k - b0;

			if (first + 64 * k >= disparities)
				break;
			if (apart < -SX_PYRAMID_APART || apart > SX_PYRAMID_APART)
				most = min(most, strip[k][i] & 0xffff);
			if (apart + 1 < -SX_PYRAMID_APART || apart + 1 > SX_PYRAMID_APART)
				most = min(most, strip[k][i] >> 16);
		}
		most = sx_warp_min(most);
		if (threadIdx.x % 32 == 0)
			atomicMin(&rival[i], most);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		uint64_t kept = 0;

		for (int i = 0; i < STRIPS; i++) {
			if (strip_exists(w.v, q, j, i))
				kept |= kept_by(least[i], rival[i], disparities);
			least[i] = UINT32_MAX;
			rival[i] = NO_RIVAL;
		}
		w.v.kept[j * w.v.tiles_x + q] = kept;
	}
}

template <typename Word>
__global__ void __launch_bounds__(SX_PYRAMID_BLOCKS_MAX *SX_SEARCH_BLOCK / OF_WARP * 32)
	evidence_kernel(const struct evidence_work w)
{
	SX_DYNAMIC_SHARED(unsigned char, memory);
	const struct evidence_shared<Word> s(memory, w.v.disparities);
	const int q = (int)blockIdx.x * TILES_X, x0 = (int)blockIdx.x * WIDE;
	const int first_tile = (int)blockIdx.y * w.tiles, last_tile = min(first_tile + w.tiles, w.v.tiles_y);
	const int first = x0 - w.v.min_disparity - (w.v.disparities - 1);
	struct evidence_ahead<Word> ahead;

	for (int i = (int)threadIdx.x; i < TILES_X * STRIPS; i += (int)blockDim.x) {
		s.least[i] = UINT32_MAX;
		s.rival[i] = NO_RIVAL;
	}
	load_rows<Word>(&ahead, w, x0, first, (TILE_GROUPS_Y * first_tile - 1) * GROUP);
	for (int g = TILE_GROUPS_Y * first_tile - 1; g <= TILE_GROUPS_Y * last_tile; g++) {
		const int done = g - TILE_GROUPS_Y * (first_tile + 1); /* 0 if the first tile is complete */
		const int y = g * GROUP, j = first_tile + done / TILE_GROUPS_Y;
		const int rows = y < 0 || y >= w.v.height ? 0 : y + 2 < w.v.height ? 2 : 1;

		__syncthreads();
		store_rows<Word>(s, ahead, w.v.disparities);
		__syncthreads();
		if (g < TILE_GROUPS_Y * last_tile)
			load_rows<Word>(&ahead, w, x0, first, y + GROUP);
		sum_groups<Word>(s, w, x0, rows, s.sum + (g + WINDOW) % WINDOW * GROUPS_X * w.v.disparities);
		if (done < 0 || done % TILE_GROUPS_Y)
			continue;
		__syncthreads();
		for (int tile = 0; tile < TILES_X && q + tile < w.v.tiles_x; tile++)
			judge_tile<Word>(s, w, q + tile, j, tile, (g + 1) % WINDOW);
	}
}

template <typename Word> void launch(const struct evidence_work &w, cudaStream_t stream)
{
	const dim3 grid((unsigned)((w.v.tiles_x + TILES_X - 1) / TILES_X),
			(unsigned)((w.v.tiles_y + w.tiles - 1) / w.tiles));
	const unsigned warps = ((unsigned)w.v.disparities + OF_WARP - 1) / OF_WARP;

	SX_LAUNCH((evidence_kernel<Word>), grid, 32 * warps, evidence_shared<Word>::bytes(w.v.disparities),
		  stream, w);
}

} // namespace

extern "C" cudaError_t sx_pyramid_evidence_launch(const struct sx_pyramid_view *v,
						  const struct sx_stereo_params *p, int sms,
						  cudaStream_t stream)
{
	const struct evidence_work w = {*v, sx_cost_max(p->cost), sms >= SX_PYRAMID_LARGE_SMS ? 2 : 8,
					p->out_of_view == SX_OUT_OF_VIEW_MAX};

	if (v->wide)
		launch<uint64_t>(w, stream);
	else
		launch<uint32_t>(w, stream);
	return SX_LAUNCHED();
}
