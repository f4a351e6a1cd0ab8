/*
 * Road estimation on the GPU. Must equal sx_road_find() and sx_road_ground() byte for byte, but for the three
 * fields that sx_road_describe() fills in on the host.
 *
 * Work:    histogram: a block per image row; a thread takes 8 pixels and adds runs of equal ones, since on a
 *          road a row has nearly one disparity. Cells that may be above the threshold, judged by the row's
 *          own maximum, go to a list. lines: a block per angle of the Hough transform lets the list vote for
 *          it and the two beside, so that it finds its own peaks; the block that is done last chooses and
 *          refines the line and writes the ground of all rows.
 * Memory:  the map is read once, the list by every block of the second kernel, from L2. Votes never leave
 *          shared memory (12 bytes per rho). Nothing depends on the order of atomics: the list may have any
 *          order, candidates are compared by key.
 * Ranges:  sums over 32 rows fit 32 bits when counted from the first of them (create checks it); all others
 *          are 64 bits. Doubles as in stages/stixels/road_line.h.
 * Shapes:  every size up to rhos = height + 2 range = 3900. Rows of the map are read by 8 pixels.
 * Speed:   see docs/lab-performance.md, CUDA: road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"

#include "gpu/cuda.cuh"
#include "gpu/warp.cuh"
#include "stages/stixels/road_line.h"

#define ROW_THREADS 128
#ifndef LINE_THREADS
#define LINE_THREADS 256
#endif
#define LINE_WARPS (LINE_THREADS / 32)
#define ANGLES (SX_HOUGH_ANGLES - 2) /* the outer two are neighbours only */
#define RHOS_MAX 3900

/* A cell of the histogram. */
struct point {
	uint32_t y_k, n; /* y << 16 | k; pixels */
};

/* Of one frame; zero between frames. max, weight: largest cell, sum of cells. */
struct progress {
	uint32_t blocks_done, candidates, points, max, weight;
};

struct sx_road_finder_cuda {
	struct sx_road_params params;
	struct sx_camera camera;
	double tan_max_pitch;
	struct sx_road calibrated;
	int width, height, range, first_row, first_column, end_column, needed_votes, rhos;
	int pitch; /* cells of a histogram row, a multiple of 8 */
	int looks; /* sx_road_looks() */
	int16_t cos_q14[SX_HOUGH_ANGLES], sin_q14[SX_HOUGH_ANGLES];
	uint16_t *histogram; /* [rows][pitch], from first_row on */
	struct point *point; /* in no order */
	uint64_t *candidate; /* keys, in no order */
	struct progress *progress;
	struct sx_cuda_input *input; /* of this frame: host memory is read while nobody waits for it */
};

extern "C" void sx_road_cuda_destroy(struct sx_road_finder_cuda *s)
{
	free(s);
}

extern "C" int sx_road_cuda_create(struct sx_road_finder_cuda **ret, struct sx_cuda_memory *m,
				   const struct sx_road_finder *f, int)
{
	struct sx_road_finder_cuda *s;
	const size_t rows = (size_t)(f->height - f->first_row);

	if (f->rhos > RHOS_MAX || (uint64_t)f->width * (uint64_t)f->range * 32 * 31 > UINT32_MAX)
		return -EINVAL;
	s = (struct sx_road_finder_cuda *)calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->params = f->params;
	s->camera = f->camera;
	s->tan_max_pitch = f->tan_max_pitch;
	s->calibrated = f->calibrated;
	s->width = f->width;
	s->height = f->height;
	s->range = f->range;
	s->first_row = f->first_row;
	s->first_column = f->first_column;
	s->end_column = f->end_column;
	s->needed_votes = f->needed_votes;
	s->rhos = f->rhos;
	s->pitch = (f->range + 7) / 8 * 8;
	s->looks = sx_road_looks(f);
	for (int i = 0; i < SX_HOUGH_ANGLES; i++) {
		s->cos_q14[i] = f->cos_q14[i];
		s->sin_q14[i] = f->sin_q14[i];
	}
	s->input = (struct sx_cuda_input *)sx_cuda_take(m, sizeof(*s->input));
	if (s->looks) {
		s->histogram = (uint16_t *)sx_cuda_take(m, rows * (size_t)s->pitch * sizeof(*s->histogram));
		s->point = (struct point *)sx_cuda_take(m, rows * (size_t)s->range * sizeof(*s->point));
		/* no two peaks of one angle are neighbours */
		s->candidate =
			(uint64_t *)sx_cuda_take(m, ANGLES * (size_t)(s->rhos / 2 + 1) * sizeof(uint64_t));
		s->progress = (struct progress *)sx_cuda_take(m, sizeof(*s->progress));
	}
	if (m->error != cudaSuccess) {
		sx_road_cuda_destroy(s);
		return 0;
	}
	*ret = s;
	return 0;
}

/* ---- histogram ----------------------------------------------------------------------------------------- */

__device__ __forceinline__ void add_run(uint32_t *bins, int k, uint32_t n, int range)
{
	if (n && k > 0 && k < range)
		atomicAdd(&bins[k], n);
}

__device__ __forceinline__ void add_row(const struct sx_road_finder_cuda *s, const uint4 *row, uint32_t *bins)
{
	for (int x = s->first_column / 8 * 8 + 8 * (int)threadIdx.x; x < s->end_column;
	     x += 8 * ROW_THREADS) {
		const uint4 d4 = row[x / 8];
		const uint32_t d[4] = {d4.x, d4.y, d4.z, d4.w};
		uint32_t n = 0;
		int run = 0;

#pragma unroll
		for (int i = 0; i < 8; i++) {
			const int k = (int)((d[i / 2] >> i % 2 * 16 & 0xffff) + 8) >> 4;

			if (x + i < s->first_column || x + i >= s->end_column)
				continue;
			if (k != run) {
				add_run(bins, run, n, s->range);
				run = k;
				n = 0;
			}
			n++;
		}
		add_run(bins, run, n, s->range);
	}
}

__device__ __forceinline__ void copy_input(struct sx_cuda_input *to, const struct sx_cuda_input *from)
{
	for (unsigned i = threadIdx.x; i < sizeof(*to) / 4; i += blockDim.x)
		((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
}

struct row_sum {
	uint32_t max, weight;
};

struct row_shared {
	struct row_sum part[ROW_THREADS / 32];
	uint32_t count, first; /* of the list */
};

/* Maximum and sum over the block, in every thread. */
__device__ __forceinline__ struct row_sum sum_block(struct row_sum sum, struct row_sum *part)
{
	sum.max = sx_warp_max(sum.max);
	sum.weight = sx_warp_sum(sum.weight);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	sum = part[0];
	for (int w = 1; w < ROW_THREADS / 32; w++) {
		sum.max = part[w].max > sum.max ? part[w].max : sum.max;
		sum.weight += part[w].weight;
	}
	return sum;
}

/* The row's cells that may be above the threshold to the list. kept: room for a whole row. Whole block. */
__device__ __forceinline__ void list_points(const struct sx_road_finder_cuda *s, int y, const uint32_t *bins,
					    struct row_sum sum, struct row_shared *sh, uint32_t *kept)
{
	const uint32_t above = (uint32_t)s->params.threshold * sum.max / 100;

	if (threadIdx.x == 0)
		sh->count = 0;
	__syncthreads();
	for (int k = (int)threadIdx.x; k < s->pitch; k += ROW_THREADS)
		if (bins[k] > above)
			kept[atomicAdd(&sh->count, 1u)] = (uint32_t)k;
	__syncthreads();
	if (threadIdx.x == 0) {
		sh->first = atomicAdd(&s->progress->points, sh->count);
		atomicMax(&s->progress->max, sum.max);
		atomicAdd(&s->progress->weight, sum.weight);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < sh->count; i += ROW_THREADS) {
		struct point p;

		p.y_k = (uint32_t)y << 16 | kept[i];
		p.n = bins[kept[i]];
		s->point[sh->first + i] = p;
	}
}

/* The last block fetches the input instead. */
static __global__ void __launch_bounds__(ROW_THREADS)
	histogram(const struct sx_road_finder_cuda s, const uint8_t *map, size_t map_pitch,
		  const struct sx_cuda_input *in)
{
	SX_DYNAMIC_SHARED(uint32_t, bins);
	__shared__ struct row_shared sh;
	const int row = (int)blockIdx.x, y = s.first_row + row;
	uint16_t *out = s.histogram + (size_t)row * (size_t)s.pitch;
	struct row_sum sum = {};

	if (y == s.height) {
		copy_input(s.input, in);
		return;
	}
	for (int k = (int)threadIdx.x; k < s.pitch; k += ROW_THREADS)
		bins[k] = 0;
	__syncthreads();
	add_row(&s, (const uint4 *)(map + (size_t)y * map_pitch), bins);
	__syncthreads();
	for (int k = (int)threadIdx.x; k < s.pitch; k += ROW_THREADS) {
		const uint32_t n = bins[k];

		out[k] = (uint16_t)n;
		sum.max = n > sum.max ? n : sum.max;
		sum.weight += n;
	}
	sum = sum_block(sum, sh.part);
	if (sum.max > 0)
		list_points(&s, y, bins, sum, &sh, bins + s.pitch);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Shared memory of a block of the second kernel, besides the votes. */
struct line_shared {
	uint64_t key[LINE_WARPS];
	int64_t sum[LINE_WARPS][6];
	double slope, offset;
	struct sx_road_sums total;
	uint32_t candidates, solved;
	int vhor, last;
};

/* votes: 3 angles, rhos each. Every cell of the list above `above` votes. */
__device__ __forceinline__ void vote(const struct sx_road_finder_cuda *s, int angle, uint32_t points,
				     uint32_t above, uint32_t *votes)
{
	int c[3], sine[3];

#pragma unroll
	for (int a = 0; a < 3; a++) {
		c[a] = s->cos_q14[angle - 1 + a];
		sine[a] = s->sin_q14[angle - 1 + a];
	}
#pragma unroll 4
	for (uint32_t i = threadIdx.x; i < points; i += LINE_THREADS) {
		const uint2 p = ((const uint2 *)s->point)[i];
		const int y = (int)(p.x >> 16), k = (int)(p.x & 0xffff);

		if (p.y <= above)
			continue;
#pragma unroll
		for (int a = 0; a < 3; a++)
			atomicAdd(&votes[a * s->rhos + s->range + ((k * c[a] + y * sine[a] + 8192) >> 14)],
				  1u);
	}
}

/* Candidates in their order: the larger the earlier. */
__device__ __forceinline__ uint64_t key_of(uint32_t votes, int angle, int i)
{
	return (uint64_t)votes << 32 | (uint32_t)(255 - angle) << 16 | (uint32_t)(65535 - i);
}

__device__ __forceinline__ void line_of_key(const struct sx_road_finder_cuda *s, uint64_t key, double *slope,
					    double *offset)
{
	const int angle = 255 - (int)(key >> 16 & 0xffff), i = 65535 - (int)(key & 0xffff);

	sx_road_line_of_hough(s->cos_q14[angle], s->sin_q14[angle], i - s->range, slope, offset);
}

__device__ __forceinline__ bool plausible(const struct sx_road_finder_cuda *s, double slope, double offset)
{
	return sx_road_line_plausible(&s->camera, &s->params, s->tan_max_pitch, slope, offset);
}

/* Plausible peaks of the middle angle go to the list. */
__device__ __forceinline__ void list_peaks(const struct sx_road_finder_cuda *s, int angle,
					   const uint32_t *votes)
{
	const uint32_t *v = votes + s->rhos;

	for (int i = 1 + (int)threadIdx.x; i < s->rhos - 1; i += LINE_THREADS) {
		const uint64_t key = key_of(v[i], angle, i);
		double slope, offset;

		if ((int)v[i] <= s->needed_votes || !(v[i] > v[i - 1] && v[i] >= v[i + 1]) ||
		    !(v[i] > v[i - s->rhos] && v[i] >= v[i + s->rhos]))
			continue;
		line_of_key(s, key, &slope, &offset);
		if (plausible(s, slope, offset))
			s->candidate[atomicAdd(&s->progress->candidates, 1u)] = key;
	}
}

/* The largest key below `below`, 0 if there is none; in every thread. */
__device__ __forceinline__ uint64_t next_key(const struct sx_road_finder_cuda *s, struct line_shared *sh,
					     uint64_t below)
{
	const volatile uint64_t *candidate = s->candidate;
	uint64_t best = 0;

	for (uint32_t i = threadIdx.x; i < sh->candidates; i += LINE_THREADS) {
		const uint64_t k = candidate[i];

		best = k < below && k > best ? k : best;
	}
	for (int i = 16; i > 0; i >>= 1) {
		const uint64_t k = __shfl_xor_sync(SX_WARP_ALL_LANES, (unsigned long long)best, i);

		best = k > best ? k : best;
	}
	if (threadIdx.x % 32 == 0)
		sh->key[threadIdx.x / 32] = best;
	__syncthreads();
	for (int w = 0; w < LINE_WARPS; w++)
		best = sh->key[w] > best ? sh->key[w] : best;
	return best;
}

/* Adds the cells near the line of 32 rows from y0 on; every lane has the sums. */
__device__ __forceinline__ void add_rows(const struct sx_road_finder_cuda *s, double slope, double offset,
					 int y0, struct sx_road_sums *sums)
{
	const int i = (int)threadIdx.x % 32, y = y0 + i;
	const uint16_t *bins = s->histogram + (size_t)(y - s->first_row) * (size_t)s->pitch;
	uint32_t cells = 0, n = 0, sk = 0, sy = 0, syy = 0, syk = 0;
	int first = 1, last = 0;

	if (y < s->height)
		sx_road_line_near(slope, offset, y, s->range, &first, &last);
		/* never more than three */
#pragma unroll
	for (int j = 0; j < 3; j++) {
		const uint32_t k = (uint32_t)(first + j), w = first + j <= last ? bins[k] : 0;

		cells += first + j <= last;
		n += w;
		sk += w * k;
	}
	sy = n * (uint32_t)i;
	syy = sy * (uint32_t)i;
	syk = sk * (uint32_t)i;
	cells = sx_warp_sum(cells);
	n = sx_warp_sum(n);
	sk = sx_warp_sum(sk);
	sy = sx_warp_sum(sy);
	syy = sx_warp_sum(syy);
	syk = sx_warp_sum(syk);
	sums->cells += cells;
	sums->n += n;
	sums->sk += sk;
	sums->sy += sy + (int64_t)n * y0;
	sums->syy += syy + 2 * (int64_t)sy * y0 + (int64_t)n * y0 * y0;
	sums->syk += syk + (int64_t)sk * y0;
}

/*
 * One round of least squares from sh->slope, sh->offset; leaves the new line and the sums there. Whole block.
 */
__device__ __forceinline__ void refine(const struct sx_road_finder_cuda *s, struct line_shared *sh)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const double slope = sh->slope, offset = sh->offset;
	struct sx_road_sums sums = {};

	for (int y0 = s->first_row + 32 * warp; y0 < s->height; y0 += LINE_THREADS)
		add_rows(s, slope, offset, y0, &sums);
	if (lane == 0) {
		sh->sum[warp][0] = sums.cells;
		sh->sum[warp][1] = sums.n;
		sh->sum[warp][2] = sums.sy;
		sh->sum[warp][3] = sums.sk;
		sh->sum[warp][4] = sums.syy;
		sh->sum[warp][5] = sums.syk;
	}
	__syncthreads();
	if (warp == 0) {
		int64_t total = 0;

		if (lane < 6) {
			for (int w = 0; w < LINE_WARPS; w++)
				total += sh->sum[w][lane];
			(&sh->total.cells)[lane] = total;
		}
		__syncwarp();
		if (lane == 0) {
			double new_slope = slope, new_offset = offset;

			sh->solved = sx_road_line_solve(&sh->total, &new_slope, &new_offset);
			sh->slope = new_slope;
			sh->offset = new_offset;
		}
	}
	__syncthreads();
}

/*
 * The first candidate that is a road, in sh->slope, sh->offset, sh->total; in every thread whether there is
 * one.
 */
__device__ __forceinline__ bool measure(const struct sx_road_finder_cuda *s, struct line_shared *sh,
					uint32_t weight)
{
	const int64_t all_cells = (int64_t)(s->height - s->first_row) * s->range;
	uint64_t key = UINT64_MAX;

	for (int tries = 0; tries < SX_ROAD_TRIES; tries++) {
		key = next_key(s, sh, key);
		if (!key)
			return false;
		if (threadIdx.x == 0)
			line_of_key(s, key, &sh->slope, &sh->offset);
		__syncthreads();
		for (int i = 0; i < SX_ROAD_REFINEMENTS; i++) {
			refine(s, sh);
			if (!sh->solved)
				break;
		}
		if (sh->solved && sx_road_line_dense(&sh->total, all_cells, weight) &&
		    plausible(s, sh->slope, sh->offset))
			return true;
	}
	return false;
}

/* Writes the road that sh->slope, sh->offset, road->road.origin say: ground and vhor. Whole block. */
__device__ __forceinline__ void write_ground(const struct sx_road *line, int height, int *vhor,
					     struct sx_cuda_road *road)
{
	const double slope = line->slope, offset = line->offset;
	int32_t *ground = road->ground_q4;

	if (threadIdx.x == 0)
		*vhor = height;
	__syncthreads();
	for (int v = (int)threadIdx.x; v < height; v += (int)blockDim.x) {
		const int32_t g = sx_road_line_ground_q4(slope, offset, height - 1 - v);

		ground[v] = g;
		if (g <= 0)
			atomicMin(vhor, v);
	}
	__syncthreads();
	if (threadIdx.x == 0)
		road->vhor = *vhor;
}

/* What happens when no line was found. One thread. */
__device__ __forceinline__ void fall_back(const struct sx_road_finder_cuda *s, const struct sx_cuda_input *in,
					  struct sx_road *road)
{
	if (s->looks && in->has_previous && sx_road_lasts(&in->previous, s->params.max_age)) {
		*road = in->previous;
		road->origin = SX_ROAD_PREVIOUS;
		road->age++;
		return;
	}
	*road = s->calibrated;
}

static __global__ void __launch_bounds__(LINE_THREADS)
	lines(const struct sx_road_finder_cuda s, struct sx_cuda_road *road)
{
	SX_DYNAMIC_SHARED(uint32_t, votes);
	__shared__ struct line_shared sh;
	__shared__ struct sx_road found;
	const int angle = 1 + (int)blockIdx.x;
	const uint32_t weight = s.progress->weight;

	for (int i = (int)threadIdx.x; i < 3 * s.rhos; i += LINE_THREADS)
		votes[i] = 0;
	__syncthreads();
	vote(&s, angle, s.progress->points, (uint32_t)s.params.threshold * s.progress->max / 100, votes);
	__syncthreads();
	list_peaks(&s, angle, votes);
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0)
		sh.last = atomicAdd(&s.progress->blocks_done, 1u) == gridDim.x - 1;
	__syncthreads();
	if (!sh.last)
		return;
	__threadfence();
	if (threadIdx.x == 0) {
		const struct progress none = {};

		sh.candidates = atomicExch(&s.progress->candidates, 0u);
		*s.progress = none; /* for the next frame */
	}
	__syncthreads();
	const bool measured = measure(&s, &sh, weight);

	if (threadIdx.x == 0) {
		struct sx_road r = {};

		if (measured) {
			r.slope = sh.slope;
			r.offset = sh.offset;
			r.inliers = (uint32_t)sh.total.n;
			r.origin = SX_ROAD_MEASURED;
		} else {
			fall_back(&s, s.input, &r);
		}
		found = r;
		road->road = r;
		road->number = s.input->number;
	}
	__syncthreads();
	write_ground(&found, s.height, &sh.vhor, road);
}

/* Instead of the two others where nothing is looked at. One block. */
static __global__ void calibrated(const struct sx_road_finder_cuda s, const struct sx_cuda_input *in,
				  struct sx_cuda_road *road)
{
	__shared__ int vhor;

	if (threadIdx.x == 0) {
		road->road = s.calibrated;
		road->number = in->number;
	}
	write_ground(&s.calibrated, s.height, &vhor, road);
}

extern "C" cudaError_t sx_road_cuda_run(const struct sx_road_finder_cuda *s, const struct sx_image *disparity,
					const struct sx_cuda_input *in, struct sx_cuda_road *road,
					cudaStream_t stream)
{
	if (!s->looks) {
		SX_LAUNCH(calibrated, 1, LINE_THREADS, 0, stream, *s, in, road);
		return SX_LAUNCHED();
	}
	SX_LAUNCH(histogram, (unsigned)(s->height - s->first_row + 1), ROW_THREADS, 8 * (size_t)s->pitch,
		  stream, *s, (const uint8_t *)disparity->data, disparity->pitch, in);
	SX_LAUNCH(lines, ANGLES, LINE_THREADS, 3 * 4 * (size_t)s->rhos, stream, *s, road);
	return SX_LAUNCHED();
}
