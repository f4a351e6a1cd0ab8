/*
 * Winner-takes-all from stored volumes, with uniqueness, sub-pixel and the right map. Must equal sx_winner()
 * on the same S, byte for byte. The uniqueness test is in sx_winner_finish(), winner.cuh.
 *
 * Work:    one block per image row. D/16 lanes share a pixel and walk along a segment of the row, two pixels
 *          at a time. Every lane adds up V of its 16 disparities. It keeps its best key, and also the best
 *          keys on the diagonals, which are pixels of the right image. The latter are in registers that move
 *          on by one disparity per pixel. After D/16 pixels each lane finishes one of them: best of all
 *          lanes, rivals, sub-pixel, confidence.
 * Memory:  reads each volume once, 16 bytes per lane and load, 2 pixels ahead. Shared: keys of the current
 *          pixels, 2 D bytes each, and 4 bytes per column of the row for the right image. L1 must have room
 *          left for pending loads.
 * Ranges:  S <= 2040. BYTES: 2 (P2 + Cmax) <= 255 for every path, so that two V fit a byte. Keys:
 *          gpu/stereo/winner.cuh.
 * Shapes:  any width, any D; a block's shared memory stays below 48 KB.
 * Speed:   tests/lab/lab-performance.md, CUDA: winner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/winner.cuh"

#include "gpu/simd.cuh"
#include "gpu/stereo/volume.cuh"
#include "gpu/stereo/winner_cuda.h"
#include "stages/stereo/sgm.h"
#include "stages/stereo/winner.h"

#define AHEAD 2 /* pixels loaded ahead and processed together; D/16 is a multiple of it */
#define WARPS_MAX 4
/* Blocks that the registers of a multiprocessor should hold. Pending loads also need room in L1. */
#define BLOCKS(paths) ((paths) == 8 ? 3 : 4)
#define SHARED_MAX 49152

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct work {
	const uint8_t *path;
	size_t path_bytes;
	uint8_t *left, *right, *confidence;
	size_t left_pitch, right_pitch, confidence_pitch;
	int width, disparities;
	uint32_t scale;	      /* factor of V in a key: 1 << SHIFT */
	int segment, columns; /* segment: px per group; columns: px of all groups */
	struct sx_winner_options options;
};

/* V of one pixel: 16 disparities per lane, for each path. */
template <int PATHS> struct cells {
	uint4 path[PATHS];
};

/* Loads 16 bytes that are read only once. They bypass L1, so that pending loads have room there. */
__device__ __forceinline__ uint4 winner_load_once(const uint8_t *at)
{
#ifdef SX_EMULATE
	return *reinterpret_cast<const uint4 *>(at);
#else
	uint4 v;

	asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
	    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
	    : "l"(at));
	return v;
#endif
}

template <int PATHS>
__device__ __forceinline__ void load_cells(struct cells<PATHS> &c, const uint8_t *path, size_t path_bytes)
{
#pragma unroll
	for (int i = 0; i < PATHS; i++)
		c.path[i] = winner_load_once(path + (size_t)i * path_bytes);
}

template <int PATHS> __device__ __forceinline__ void clear_cells(struct cells<PATHS> &c)
{
#pragma unroll
	for (int i = 0; i < PATHS; i++)
		c.path[i] = make_uint4(0, 0, 0, 0);
}

__device__ __forceinline__ uint32_t word_of(const uint4 &v, int i)
{
	return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* Adds up V of all paths, as pairs. Two paths at a time are added as bytes: four cells in one instruction. */
template <int PATHS>
__device__ __forceinline__ void add_up_bytes(uint32_t (&sums)[8], const struct cells<PATHS> &c)
{
#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint32_t even = 0, odd = 0;

#pragma unroll
		for (int k = 0; k < PATHS; k += 2) {
			const uint32_t two = word_of(c.path[k], i) + word_of(c.path[k + 1], i);

			even += sx_pair_even(two);
			odd += sx_pair_odd(two);
		}
		sums[2 * i] = even;
		sums[2 * i + 1] = odd;
	}
}

template <int PATHS>
__device__ __forceinline__ void add_up_pairs(uint32_t (&sums)[8], const struct cells<PATHS> &c)
{
#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint32_t even = 0, odd = 0;

#pragma unroll
		for (int k = 0; k < PATHS; k++) {
			even += sx_pair_even(word_of(c.path[k], i));
			odd += sx_pair_odd(word_of(c.path[k], i));
		}
		sums[2 * i] = even;
		sums[2 * i + 1] = odd;
	}
}

/* Place of a lane: its pixel, its group and its memory. */
struct place {
	int lanes, lane; /* lanes: lanes per pixel; lane: index in the group */
	/* false for the lanes left over if D/16 does not divide 32; they follow the last group */
	bool live;
	int start, last_start; /* first pixel of the group, and of the warp's last group */
	int leaving_at;	       /* index of the key that left the group, in a pixel's row */
	uint32_t *rows;	       /* rows of the group's pixels in shared memory */
	uint32_t *own_row;     /* row of the pixel that the lane finishes */
};

/*
 * Returns the words from which the right map is made. With SHIFT 6 they are keys. The low half of word X + 1
 * is the key that leaves a group at left pixel X from the lower half of the disparities, for right pixel X +
 * 1 - D/2. The high half is that of the upper disparities, for right pixel X + 1 - D. With SHIFT 3 a word is
 * the entry of one right pixel, combined by atomic maxima.
 */
__host__ __device__ inline int right_words(int shift, int columns, int lanes)
{
	return shift == SX_WINNER_NARROW_SHIFT ? columns + 16 * lanes : columns;
}

__device__ __forceinline__ void offer_right(uint32_t *right, uint32_t pair, int x, const struct place &p,
					    int width)
{
	const int high = x - 8 * p.lanes;

	if (x >= 0 && x < width)
		atomicMax(right + x, sx_winner_entry(pair & 0xffff, p.lane));
	if (high >= 0 && high < width)
		atomicMax(right + high, sx_winner_entry(pair >> 16, p.lane + p.lanes));
}

__device__ __forceinline__ uint4 join_keys(uint4 v, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return make_uint4(sx_key_max(v.x, a), sx_key_max(v.y, b), sx_key_max(v.z, c), sx_key_max(v.w, d));
}

/*
 * Stores the keys that have not left the group at the end of the segment. With SHIFT 6 they are stored where
 * later pixels would have stored them. A segment is at least D/2 long, so no other group stores there, and
 * the keys that left earlier are already in memory.
 */
template <int SHIFT>
__device__ __forceinline__ void offer_rest(uint32_t *right, const uint32_t (&run)[8], int end,
					   const struct place &p, int width)
{
	if (SHIFT == SX_WINNER_NARROW_SHIFT) {
		const int behind = p.lanes - 1 - p.lane;
		const uint32_t ranks = (uint32_t)behind * SX_WINNER_LANE_UP;
		uint4 *at = reinterpret_cast<uint4 *>(right + end + 8 * behind);

		at[0] = join_keys(at[0], run[7] + ranks, run[6] + ranks, run[5] + ranks, run[4] + ranks);
		at[1] = join_keys(at[1], run[3] + ranks, run[2] + ranks, run[1] + ranks, run[0] + ranks);
	} else {
#pragma unroll
		for (int r = 0; r < 7; r++)
			offer_right(right, run[r], end - 1 - (8 * p.lane + r), p, width);
	}
}

template <int PATHS, bool BYTES>
__device__ __forceinline__ void add_up(uint32_t (&sums)[8], const struct cells<PATHS> &c)
{
	if (BYTES)
		add_up_bytes<PATHS>(sums, c);
	else
		add_up_pairs<PATHS>(sums, c);
}

/* Returns the key that left the previous lane. All lanes of the warp must call it. */
template <int SHIFT> __device__ __forceinline__ uint32_t enter_from(uint32_t leaving, const struct place &p)
{
	if (SHIFT == SX_WINNER_WIDE_SHIFT)
		return 0;
	/* The group's first lane reads a lane of another group and ignores the value. */
	const uint32_t before = __shfl_up_sync(0xffffffffu, leaving, 1);

	return p.lane > 0 ? before + SX_WINNER_LANE_UP : 0;
}

/* Processes pixels x and x + 1. keys: keys of both. slot: rows of both in shared memory. */
template <int LANES, int SHIFT>
__device__ __forceinline__ void step_two_pixels(const uint32_t (&keys)[2][8], uint32_t (&run)[8], int x,
						uint32_t *slot, const struct place &p, uint32_t *right,
						const struct work &w)
{
	const uint32_t enter = enter_from<SHIFT>(run[7], p), leaves = sx_winner_leaves(run, keys[0]);
	const int lanes = LANES ? LANES : p.lanes;

	sx_winner_right(run, keys[0], keys[1], enter, enter_from<SHIFT>(leaves, p));
	if (!p.live)
		return;
	sx_winner_put<SHIFT>(slot, keys[0], leaves, lanes, p.lane, p.leaving_at);
	sx_winner_put<SHIFT>(slot + sx_winner_row_words(lanes), keys[1], run[7], lanes, p.lane, p.leaving_at);
	if (SHIFT == SX_WINNER_WIDE_SHIFT) {
		offer_right(right, leaves, x - (8 * p.lane + 7), p, w.width);
		offer_right(right, run[7], x + 1 - (8 * p.lane + 7), p, w.width);
	}
}

/* Processes a batch whose pixels are all inside the row. more: load the pixels after the batch too. */
template <int LANES, int PATHS, int SHIFT, bool BYTES>
__device__ __forceinline__ void full_batch(struct cells<PATHS> (&ahead)[AHEAD], const uint8_t *path,
					   bool more, uint32_t (&run)[8], int x, const struct place &p,
					   uint32_t *right, const struct work &w)
{
	const int lanes = LANES ? LANES : p.lanes, stride = 16 * lanes;

#pragma unroll
	for (int u = 0; u < (LANES ? LANES : lanes); u += AHEAD) {
		const uint8_t *next = path + (u + AHEAD) * stride;
		uint32_t keys[AHEAD][8];

#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			uint32_t sums[8];

			add_up<PATHS, BYTES>(sums, ahead[i]);
			sx_winner_keys(keys[i], sums, w.scale);
		}
		/* Lanes that load nothing are set to 0; keeping the old value would cost registers. */
#pragma unroll
		for (int i = 0; i < AHEAD; i++)
			if (u + AHEAD < lanes || more)
				load_cells<PATHS>(ahead[i], next + i * stride, w.path_bytes);
			else
				clear_cells<PATHS>(ahead[i]);
		step_two_pixels<LANES, SHIFT>(keys, run, x + u, p.rows + u * sx_winner_row_words(lanes), p,
					      right, w);
	}
}

/*
 * Processes a batch whose pixels may lie beyond the row's end. Pixels beyond it have keys of 0. line: start
 * of the row.
 */
template <int PATHS, int SHIFT, bool BYTES>
__device__ __forceinline__ void last_batch(struct cells<PATHS> (&ahead)[AHEAD], const uint8_t *line,
					   uint32_t (&run)[8], int x, const struct place &p, uint32_t *right,
					   const struct work &w)
{
#pragma unroll 1
	for (int u = 0; u < p.lanes; u += AHEAD) {
		uint32_t keys[AHEAD][8];

#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			const int next = min(x + u + i + AHEAD, w.width - 1);
			uint32_t sums[8];

			add_up<PATHS, BYTES>(sums, ahead[i]);
			load_cells<PATHS>(ahead[i], line + next * 16 * p.lanes, w.path_bytes);
			sx_winner_keys(keys[i], sums, w.scale);
#pragma unroll
			for (int r = 0; r < 8; r++)
				keys[i][r] = x + u + i < w.width ? keys[i][r] : 0;
		}
		step_two_pixels<0, SHIFT>(keys, run, x + u, p.rows + u * sx_winner_row_words(p.lanes), p,
					  right, w);
	}
}

/* Finishes a batch, one pixel per lane. x: first pixel of the batch. */
template <int LANES, int SHIFT>
__device__ __forceinline__ void finish_batch(int x, const struct place &p, uint32_t *right,
					     const struct work &w)
{
	x += p.lane;
	__syncwarp();
	if (SHIFT == SX_WINNER_NARROW_SHIFT && p.live)
		right[x + 1] = p.own_row[p.leaving_at];
	if (p.live && x < w.width) {
		const struct sx_winner_result r =
			sx_winner_finish<LANES, SHIFT>(p.own_row, p.lanes, w.options);

		reinterpret_cast<uint16_t *>(w.left + (size_t)blockIdx.x * w.left_pitch)[x] = r.disparity;
		w.confidence[(size_t)blockIdx.x * w.confidence_pitch + (size_t)x] = r.confidence;
	}
	__syncwarp();
}

/* Walks the segments of a warp, side by side. */
template <int LANES, int PATHS, int SHIFT, bool BYTES>
__device__ __forceinline__ void walk_segment(uint32_t (&run)[8], const struct place &p, uint32_t *right,
					     const struct work &w)
{
	const int lanes = p.lanes, stride = 16 * lanes, batches = w.segment / lanes;
	const uint8_t *line =
		w.path + (size_t)blockIdx.x * (size_t)w.width * (size_t)stride + 16 * (size_t)p.lane;
	const uint8_t *path = line + (size_t)p.start * (size_t)stride;
	/* Full batches never load beyond the row's end. The last batch of a segment loads nothing ahead. */
	const int full =
		p.last_start + w.segment <= w.width ? batches : (w.width - AHEAD - p.last_start) / lanes;
	struct cells<PATHS> ahead[AHEAD];

#pragma unroll
	for (int i = 0; i < AHEAD; i++)
		load_cells<PATHS>(ahead[i], line + min(p.start + i, w.width - 1) * stride, w.path_bytes);
	int b = 0;

	for (; b < full; b++, path += lanes * stride) {
		const int x = p.start + b * lanes;

		full_batch<LANES, PATHS, SHIFT, BYTES>(ahead, path, b + 1 < batches, run, x, p, right, w);
		finish_batch<LANES, SHIFT>(x, p, right, w);
	}
	for (; b < batches; b++) {
		const int x = p.start + b * lanes;

		last_batch<PATHS, SHIFT, BYTES>(ahead, line, run, x, p, right, w);
		finish_batch<LANES, SHIFT>(x, p, right, w);
	}
}

/* Writes four pixels of the right map, except those beyond the row's end. */
__device__ __forceinline__ void finish_right_four(const uint32_t *right, uint16_t *out, int x, int lanes,
						  int width)
{
	const uint4 low = *reinterpret_cast<const uint4 *>(right + x + 8 * lanes),
		    high = *reinterpret_cast<const uint4 *>(right + x + 16 * lanes);
	const uint32_t words[2] = {
		sx_winner_right_pair(__byte_perm(low.x, low.y, 0x5410), __byte_perm(high.x, high.y, 0x7632),
				     lanes),
		sx_winner_right_pair(__byte_perm(low.z, low.w, 0x5410), __byte_perm(high.z, high.w, 0x7632),
				     lanes),
	};

	if (x + 4 <= width) {
		*reinterpret_cast<uint2 *>(out + x) = make_uint2(words[0], words[1]);
		return;
	}
#pragma unroll
	for (int i = 0; i < 3; i++)
		if (x + i < width)
			out[x + i] = (uint16_t)(words[i / 2] >> 16 * (i % 2));
}

template <int SHIFT>
__device__ __forceinline__ void finish_right(uint32_t *right, int lanes, const struct work &w)
{
	uint16_t *out = reinterpret_cast<uint16_t *>(w.right + (size_t)blockIdx.x * w.right_pitch);

	if (SHIFT == SX_WINNER_NARROW_SHIFT) {
		for (int x = 4 * (int)threadIdx.x; x < w.width; x += 4 * (int)blockDim.x)
			finish_right_four(right, out, x, lanes, w.width);
	} else {
		for (int x = (int)threadIdx.x; x < w.width; x += (int)blockDim.x)
			out[x] = (uint16_t)(255 - (right[x] & 255));
	}
}

__device__ __forceinline__ struct place find_place(int lanes, uint32_t *words, const struct work &w)
{
	const int warp = (int)threadIdx.x / 32, in_warp = (int)threadIdx.x % 32, groups = 32 / lanes;
	const int group = min(in_warp / lanes, groups - 1);
	struct place p;

	p.lanes = lanes;
	p.lane = in_warp % lanes;
	p.live = in_warp < groups * lanes;
	p.start = (warp * groups + group) * w.segment;
	p.last_start = (warp * groups + groups - 1) * w.segment;
	p.rows = words + (warp * groups + group) * sx_winner_group_words(lanes);
	p.leaving_at = sx_winner_leaving_at(lanes) + group % 4;
	p.own_row = p.rows + p.lane * sx_winner_row_words(lanes);
	return p;
}

/* LANES: D / 16, or 0 for any D. */
template <int LANES, int PATHS, int SHIFT, bool BYTES>
__global__ void __launch_bounds__(32 * WARPS_MAX, BLOCKS(PATHS)) winner_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(uint32_t, words);
	const int lanes = LANES ? LANES : w.disparities / 16;
	const int right_count = right_words(SHIFT, w.columns, lanes);
	const struct place p = find_place(lanes, words + right_count, w);
	uint32_t *const right = words, run[8];

	for (int i = (int)threadIdx.x; i < right_count; i += (int)blockDim.x)
		right[i] = 0;
#pragma unroll
	for (int r = 0; r < 8; r++)
		run[r] = 0;
	__syncthreads();
	walk_segment<LANES, PATHS, SHIFT, BYTES>(run, p, right, w);
	__syncthreads();
	if (p.live)
		offer_rest<SHIFT>(right, run, p.start + w.segment, p, w.width);
	__syncthreads();
	finish_right<SHIFT>(right, lanes, w);
}

static int round_up(int n, int unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Chooses segment length and warps per block; returns the shared memory of a block, bytes. */
static size_t arrange(struct work *w, int shift, int *warps)
{
	/* A segment is at least D/2 long, a multiple of a batch, and a multiple of 8 right pixels. */
	const int lanes = w->disparities / 16, in_warp = 32 / lanes;
	int unit = lanes;

	while (unit % 8)
		unit += lanes;
	for (*warps = WARPS_MAX;; --*warps) {
		const int groups = in_warp * *warps;
		const int even = round_up((w->width + groups - 1) / groups, unit);
		size_t words;

		w->segment = even > 8 * lanes ? even : 8 * lanes;
		w->columns = groups * w->segment;
		words = (size_t)(right_words(shift, w->columns, lanes) +
				 groups * sx_winner_group_words(lanes));
		if (*warps == 1 || (words * 4 <= SHARED_MAX && even >= 8 * lanes))
			return words * 4;
	}
}

template <int LANES, int PATHS, int SHIFT, bool BYTES>
static void launch_winner(struct work w, int height, cudaStream_t stream)
{
	int warps;
	const size_t shared = arrange(&w, SHIFT, &warps);

	w.scale = 1u << SHIFT;
	SX_LAUNCH((winner_kernel<LANES, PATHS, SHIFT, BYTES>), dim3((unsigned)height),
		  dim3(32 * (unsigned)warps), shared, stream, w);
}

template <int PATHS> static void launch_narrow(const struct work &w, int height, cudaStream_t stream)
{
	if (w.disparities == 128)
		launch_winner<8, PATHS, SX_WINNER_NARROW_SHIFT, true>(w, height, stream);
	else if (w.disparities == 64)
		launch_winner<4, PATHS, SX_WINNER_NARROW_SHIFT, true>(w, height, stream);
	else
		launch_winner<0, PATHS, SX_WINNER_NARROW_SHIFT, true>(w, height, stream);
}

/*
 * Launches with SHIFT 3. With 8 paths two V often fit a byte. With fewer paths, sums that need SHIFT 3 hardly
 * ever fit.
 */
template <int PATHS>
static void launch_wide(const struct work &w, bool bytes, int height, cudaStream_t stream)
{
	if (w.disparities != 128)
		launch_winner<0, PATHS, SX_WINNER_WIDE_SHIFT, false>(w, height, stream);
	else if (PATHS == 8 && bytes)
		launch_winner<8, PATHS, SX_WINNER_WIDE_SHIFT, PATHS == 8>(w, height, stream);
	else
		launch_winner<8, PATHS, SX_WINNER_WIDE_SHIFT, false>(w, height, stream);
}

/*
 * Launches the kernel. volumes: equal to the number of paths, or half of it if a volume is the sum of two
 * paths. Sums of two paths are not added as bytes again.
 */
static void launch_any(const struct work &w, const struct sx_stereo_params *p, int volumes, int height,
		       cudaStream_t stream)
{
	const bool bytes = volumes == p->paths && sx_winner_two_fit(p);
	const bool narrow = bytes && w.disparities <= 128 && sx_sgm_largest(p) <= SX_WINNER_NARROW;

	if (volumes == 8)
		launch_wide<8>(w, bytes, height, stream);
	else if (volumes == 4)
		narrow ? launch_narrow<4>(w, height, stream) : launch_wide<4>(w, bytes, height, stream);
	else if (volumes == 2)
		narrow ? launch_narrow<2>(w, height, stream) : launch_wide<2>(w, bytes, height, stream);
	else
		launch_wide<1>(w, bytes, height, stream);
}

} // namespace

extern "C" cudaError_t sx_winner_cuda_run(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
					  const struct sx_image *winner, const struct sx_image *winner_right,
					  const struct sx_image *confidence, cudaStream_t stream)
{
	struct work w = {};

	w.path = v->path;
	w.path_bytes = v->path_bytes;
	w.left = (uint8_t *)winner->data;
	w.left_pitch = winner->pitch;
	w.right = (uint8_t *)winner_right->data;
	w.right_pitch = winner_right->pitch;
	w.confidence = (uint8_t *)confidence->data;
	w.confidence_pitch = confidence->pitch;
	w.width = winner->width;
	w.disparities = p->disparities;
	w.options = sx_winner_options_of(p);
	launch_any(w, p, v->volumes, winner->height, stream);
	return SX_LAUNCHED();
}

/* Computes S, one thread per word of four cells. */
static __global__ void __launch_bounds__(256)
	sum_kernel(const uint8_t *path, size_t path_bytes, int paths, int largest, int width, int disparities,
		   uint8_t *sum, size_t pitch)
{
	const int words = disparities / 4, i = (int)(blockIdx.x * 256 + threadIdx.x), x = i / words,
		  word = i % words;
	const size_t at =
		((size_t)blockIdx.y * (size_t)width + (size_t)x) * (size_t)disparities + 4 * (size_t)word;
	uint16_t *out =
		reinterpret_cast<uint16_t *>(sum + blockIdx.y * pitch) + (size_t)x * (size_t)disparities;

	if (x >= width)
		return;
	for (int k = 0; k < 4; k++) {
		const int d = 2 * word + (k & 1) + (k >> 1) * (disparities / 2);
		int s = largest;

		for (int j = 0; j < paths; j++)
			s -= path[(size_t)j * path_bytes + at + (size_t)k];
		out[d] = (uint16_t)s;
	}
}

extern "C" cudaError_t sx_winner_cuda_sum(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
					  const struct sx_image *sum, cudaStream_t stream)
{
	const int width = sum->width / p->disparities;
	const unsigned blocks = (unsigned)(width * (p->disparities / 4) + 255) / 256;

	SX_LAUNCH(sum_kernel, dim3(blocks, (unsigned)sum->height), dim3(256), 0, stream, v->path,
		  v->path_bytes, v->volumes, sx_sgm_largest(p), width, p->disparities, (uint8_t *)sum->data,
		  sum->pitch);
	return SX_LAUNCHED();
}
