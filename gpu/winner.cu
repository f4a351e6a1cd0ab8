/*
 * Winner takes all from stored volumes. Must equal sx_winner() on the S they stand for, byte for byte.
 *
 * Work:    one block per image row. D/16 lanes share a pixel and walk along a segment of the row; every lane adds up S of its
 *          16 disparities and keeps its least and, in registers that move on by one disparity per pixel, the least on the
 *          diagonals that are pixels of the right image. After D/16 pixels each lane finishes one of them: least of all
 *          lanes, rivals, sub-pixel, confidence.
 * Memory:  reads each volume once, 16 bytes a lane and load, 2 pixels ahead; shared: keys of the pixels at hand, 2 D bytes
 *          each, and 8 bytes per column of the row for the right image.
 * Ranges:  S <= 2040. BYTES: 2 (P2 + Cmax) <= 255, so that two V fit a byte; keys: gpu/winner.cuh.
 * Shapes:  any width, any D; a block's shared memory stays below 48 KB.
 * Speed:   docs/performance.md, CUDA: winner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/winner.cuh"

#include "gpu/simd.cuh"
#include "gpu/volume.cuh"
#include "gpu/winner_cuda.h"

#define AHEAD 2 /* pixels loaded ahead; D/16 is a multiple */
#define WARPS_MAX 4
#define SHARED_MAX 49152
#define SEGMENT_MIN 64 /* px: a segment's end costs as much as two pixels */

namespace /* types and templates of one name in two files would be one for the linker */
{

struct work {
	const uint8_t *path;
	size_t path_bytes;
	uint8_t *left, *right, *confidence;
	size_t left_pitch, right_pitch, confidence_pitch;
	int width, disparities;
	int largest;	      /* S where every V is 0 */
	int segment, columns; /* px of a group; words of a row in shared memory */
	struct sx_winner_options options;
};

/* V of a lane's 16 disparities of one pixel. */
template <int PATHS> struct cells {
	uint4 path[PATHS];
};

template <int PATHS>
__device__ __forceinline__ void load(struct cells<PATHS> &c, const uint8_t *path, size_t path_bytes)
{
#pragma unroll
	for (int i = 0; i < PATHS; i++)
		c.path[i] = *reinterpret_cast<const uint4 *>(path + (size_t)i * path_bytes);
}

__device__ __forceinline__ uint32_t word_of(const uint4 &v, int i)
{
	return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* Sum of V, as pairs. Two paths at a time are added as bytes, four cells in one instruction. */
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

/* What a lane knows about its place. */
struct place {
	int lanes, lane, group; /* of a pixel; in its group; of all groups of the block */
	bool live; /* not left over, as some lanes are when D/16 does not divide 32: these follow the last group */
	int first;	    /* pixel slot of the group in the warp */
	int behind;	    /* groups of the warp behind this one */
	uint32_t *slots;    /* of the warp */
	uint32_t origin[8]; /* of the lane's keys */
};

/*
 * least[x]: S << 8 | d for the right image, joined by atomic minima. leaving[x] (SHIFT 6): what left the last lane
 * at left pixel x.
 */
struct shared_row {
	uint32_t *least, *leaving;
};

template <int SHIFT>
__device__ __forceinline__ void offer(struct shared_row row, uint32_t pair, int x, const struct place &p,
				      int width)
{
	const int high = x - 8 * p.lanes;

	if (x >= 0 && x < width)
		atomicMin(row.least + x, sx_winner_entry<SHIFT>(pair & 0xffff, p.lane, p.lanes));
	if (high >= 0 && high < width)
		atomicMin(row.least + high, sx_winner_entry<SHIFT>(pair >> 16, p.lane + p.lanes, p.lanes));
}

/* What has not left at the segment's end; end: the pixel behind it. */
template <int SHIFT>
__device__ __forceinline__ void offer_rest(struct shared_row row, const uint32_t (&run)[8], int end,
					   const struct place &p, int width)
{
#pragma unroll
	for (int r = 0; r < (SHIFT == 6 ? 8 : 7); r++)
		offer<SHIFT>(row, run[r], end - 1 - (8 * p.lane + r), p, width);
}

template <int PATHS, bool BYTES>
__device__ __forceinline__ void add_up(uint32_t (&sums)[8], const struct cells<PATHS> &c)
{
	if (BYTES)
		add_up_bytes<PATHS>(sums, c);
	else
		add_up_pairs<PATHS>(sums, c);
}

/* What the group's last word of the step before passes to the next lane. All lanes of the warp meet here. */
template <int SHIFT>
__device__ __forceinline__ uint32_t enter_from(const uint32_t (&run)[8], const struct place &p)
{
	if (SHIFT == 3)
		return SX_KEY_NONE_PAIR;
	/* The group's first lane reads one that is not its own, and does not use it. */
	const uint32_t before = __shfl_up_sync(0xffffffffu, run[7], 1);

	return p.lane > 0 ? before : SX_KEY_NONE_PAIR;
}

/* One pixel, x, from its sums on. */
template <int SHIFT>
__device__ __forceinline__ void step(const uint32_t (&sums)[8], uint32_t (&run)[8], uint32_t enter, int x,
				     int slot, const struct place &p, struct shared_row row,
				     const struct work &w)
{
	uint32_t keys[8];

	sx_winner_keys<SHIFT>(keys, sums, p.origin);
	sx_winner_right(run, keys, enter);
	if (!p.live)
		return;
	sx_winner_put(sx_winner_rows_of(p.slots, p.lanes, slot), keys, p.lanes, p.lane);
	if (SHIFT == 3)
		offer<SHIFT>(row, run[7], x - (8 * p.lane + 7), p, w.width);
	else if (p.lane == p.lanes - 1)
		row.leaving[x] = run[7];
}

/* The right map of the row from what the segments left. */
template <int SHIFT>
__device__ __forceinline__ void finish_right(struct shared_row row, int lanes, const struct work &w)
{
	uint16_t *out = reinterpret_cast<uint16_t *>(w.right + (size_t)blockIdx.x * w.right_pitch);

	for (int x = (int)threadIdx.x; x < w.width; x += (int)blockDim.x) {
		uint32_t least = row.least[x];

		if (SHIFT == 6) {
			const int low = x + 8 * lanes - 1, high = x + 16 * lanes - 1;

			if (low < w.width)
				least = min(least, sx_winner_entry<6>(row.leaving[low] & 0xffff, 0, lanes));
			if (high < w.width)
				least = min(least, sx_winner_entry<6>(row.leaving[high] >> 16, lanes, lanes));
		}
		out[x] = (uint16_t)(least & 255);
	}
}

template <int LANES, int SHIFT>
__device__ __forceinline__ struct place find_place(int lanes, int largest, uint32_t *words)
{
	const int in_warp = (int)threadIdx.x % 32, groups = 32 / lanes;
	const int group = min(in_warp / lanes, groups - 1);
	struct place p;

	p.lanes = lanes;
	p.lane = in_warp % lanes;
	p.live = in_warp < groups * lanes;
	p.group = (int)threadIdx.x / 32 * groups + group;
	p.first = group * lanes;
	p.behind = groups - 1 - group;
	p.slots = words + (int)threadIdx.x / 32 * sx_winner_warp_words(lanes);
#pragma unroll
	for (int r = 0; r < 8; r++)
		p.origin[r] = sx_winner_origin<SHIFT>(p.lane, r, largest);
	return p;
}

/* All pixels of the batch, and those that are loaded ahead, are inside the row. */
template <int LANES, int PATHS, int SHIFT, bool BYTES>
__device__ __forceinline__ void full_batch(struct cells<PATHS> (&ahead)[AHEAD], const uint8_t *path,
					   uint32_t (&run)[8], int x, const struct place &p,
					   struct shared_row row, const struct work &w)
{
	const int lanes = LANES ? LANES : p.lanes, stride = 16 * lanes;

#pragma unroll
	for (int u = 0; u < (LANES ? LANES : lanes); u += AHEAD) {
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			const int next = (u + i + AHEAD) * stride;
			uint32_t sums[8];

			add_up<PATHS, BYTES>(sums, ahead[i]);
			load<PATHS>(ahead[i], path + next, w.path_bytes);
			step<SHIFT>(sums, run, enter_from<SHIFT>(run, p), x + u + i, p.first + u + i, p, row,
				    w);
		}
	}
}

template <int PATHS, int SHIFT, bool BYTES>
__device__ __forceinline__ void last_batch(const uint8_t *path, uint32_t (&run)[8], int x,
					   const struct place &p, struct shared_row row, const struct work &w)
{
#pragma unroll 1
	for (int u = 0; u < p.lanes; u++) {
		const uint32_t enter = enter_from<SHIFT>(run, p);
		struct cells<PATHS> here;
		uint32_t sums[8];

		if (x + u >= w.width)
			continue;
		load<PATHS>(here, path + u * 16 * p.lanes, w.path_bytes);
		add_up<PATHS, BYTES>(sums, here);
		step<SHIFT>(sums, run, enter, x + u, p.first + u, p, row, w);
	}
}

/* One lane, one pixel: x is that of the batch. */
template <int LANES, int SHIFT>
__device__ __forceinline__ void finish_batch(int x, const struct place &p, const struct work &w)
{
	const int mine = x + p.lane;

	__syncwarp();
	if (p.live && mine < w.width) {
		const struct sx_winner_result r = sx_winner_finish<LANES, SHIFT>(
			sx_winner_rows_of(p.slots, p.lanes, p.first + p.lane), p.lanes, w.options);

		reinterpret_cast<uint16_t *>(w.left + (size_t)blockIdx.x * w.left_pitch)[mine] = r.disparity;
		w.confidence[(size_t)blockIdx.x * w.confidence_pitch + (size_t)mine] = r.confidence;
	}
	__syncwarp();
}

/* LANES: D / 16, or 0 for any. */
template <int LANES, int PATHS, int SHIFT, bool BYTES>
__global__ void __launch_bounds__(32 * WARPS_MAX) winner_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(uint32_t, words);
	const int lanes = LANES ? LANES : w.disparities / 16, stride = 16 * lanes;
	const struct place p =
		find_place<LANES, SHIFT>(lanes, w.largest, words + (SHIFT == 6 ? 2 : 1) * w.columns);
	const struct shared_row row = {words, words + w.columns};
	const int start = p.group * w.segment;
	/* The last group of the warp comes first to the end of the row. */
	const int full = (w.width - AHEAD - start - p.behind * w.segment) / lanes,
		  batches = w.segment / lanes;
	const size_t at =
		((size_t)blockIdx.x * (size_t)w.width + (size_t)start) * (size_t)stride + 16 * (size_t)p.lane;
	const uint8_t *path = w.path + at;
	struct cells<PATHS> ahead[AHEAD];
	uint32_t run[8];

	for (int x = (int)threadIdx.x; x < w.width; x += (int)blockDim.x)
		row.least[x] = 0xffffffffu;
#pragma unroll
	for (int r = 0; r < 8; r++)
		run[r] = SX_KEY_NONE_PAIR;
	__syncthreads();
	if (full > 0) {
#pragma unroll
		for (int i = 0; i < AHEAD; i++)
			load<PATHS>(ahead[i], path + i * stride, w.path_bytes);
	}
	for (int b = 0; b < batches; b++) {
		if (b < full)
			full_batch<LANES, PATHS, SHIFT, BYTES>(ahead, path, run, start + b * lanes, p, row,
							       w);
		else
			last_batch<PATHS, SHIFT, BYTES>(path, run, start + b * lanes, p, row, w);
		path += lanes * stride;
		finish_batch<LANES, SHIFT>(start + b * lanes, p, w);
	}
	if (p.live)
		offer_rest<SHIFT>(row, run, min(start + w.segment, w.width), p, w.width);
	__syncthreads();
	finish_right<SHIFT>(row, lanes, w);
}

static int round_up(int n, int unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Segment length and warps per block; returns the shared memory they need. */
static size_t arrange(struct work *w, int shift, int *warps)
{
	const int lanes = w->disparities / 16, in_warp = 32 / lanes;

	for (*warps = 2;; --*warps) {
		const int groups = in_warp * *warps;
		size_t words;

		w->segment = round_up((w->width + groups - 1) / groups, lanes);
		w->columns = round_up(w->width, 4);
		words = (size_t)(shift == 6 ? 2 : 1) * (size_t)w->columns +
			(size_t)(*warps * sx_winner_warp_words(lanes));
		if (*warps == 1 || (words * 4 <= SHARED_MAX && w->segment >= SEGMENT_MIN))
			return words * 4;
	}
}

template <int LANES, int PATHS, int SHIFT, bool BYTES>
static void launch(struct work w, int height, cudaStream_t stream)
{
	int warps;
	const size_t shared = arrange(&w, SHIFT, &warps);

	SX_LAUNCH((winner_kernel<LANES, PATHS, SHIFT, BYTES>), dim3((unsigned)height),
		  dim3(32 * (unsigned)warps), shared, stream, w);
}

template <int PATHS> static void launch_narrow(const struct work &w, int height, cudaStream_t stream)
{
	if (w.disparities == 128)
		launch<8, PATHS, 6, true>(w, height, stream);
	else if (w.disparities == 64)
		launch<4, PATHS, 6, true>(w, height, stream);
	else
		launch<0, PATHS, 6, true>(w, height, stream);
}

template <int PATHS>
static void launch_wide(const struct work &w, bool bytes, int height, cudaStream_t stream)
{
	if (w.disparities != 128)
		launch<0, PATHS, 3, false>(w, height, stream);
	else if (bytes)
		launch<8, PATHS, 3, true>(w, height, stream);
	else
		launch<8, PATHS, 3, false>(w, height, stream);
}

static void launch_any(const struct work &w, int paths, int height, cudaStream_t stream)
{
	const bool bytes = 2 * w.largest / paths <= 255;
	const bool narrow = bytes && w.disparities <= 128 && w.largest <= SX_WINNER_NARROW;

	if (paths == 8)
		launch_wide<8>(w, bytes, height, stream);
	else if (paths == 4)
		narrow ? launch_narrow<4>(w, height, stream) : launch_wide<4>(w, bytes, height, stream);
	else
		narrow ? launch_narrow<2>(w, height, stream) : launch_wide<2>(w, bytes, height, stream);
}

} // namespace

extern "C" cudaError_t sx_winner_cuda_run(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
					  const struct sx_image *winner, const struct sx_image *winner_right,
					  const struct sx_image *confidence, cudaStream_t stream)
{
	const struct work w = {
		v->path,
		v->path_bytes,
		(uint8_t *)winner->data,
		(uint8_t *)winner_right->data,
		(uint8_t *)confidence->data,
		winner->pitch,
		winner_right->pitch,
		confidence->pitch,
		winner->width,
		p->disparities,
		p->paths * (p->p2 + sx_cost_max(p->cost)),
		0,
		0,
		{p->uniqueness, p->subpixel, 1.0f / (float)(60 * p->paths)},
	};

	launch_any(w, p->paths, winner->height, stream);
	return SX_LAUNCHED();
}

/* One thread per word of four cells. */
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
		  v->path_bytes, p->paths, p->paths * (p->p2 + sx_cost_max(p->cost)), width, p->disparities,
		  (uint8_t *)sum->data, sum->pitch);
	return SX_LAUNCHED();
}
