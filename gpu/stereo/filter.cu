/*
 * The filters on the GPU: median of both maps, left-right check, speckles, and the confidence if no filter
 * follows. Must equal sx_median(), sx_left_right(), sx_speckle() and sx_confidence() byte for byte.
 *
 * Work:    a block makes a strip of ROWS whole rows, so that the partner of every pixel is in the block. It
 *          computes medians of both maps into shared memory, checks them there, and finds the connected
 *          components of the result by union-find over runs of a row. A warp finds runs and contacts in tiles
 *          of 32 columns by ballots; then the tiles are joined. Components that are already large enough are
 *          finished; the others become nodes of a union-find in device memory. Of two neighbouring blocks,
 *          the block that arrives second joins the components across their border; no block waits. A second
 *          launch erases the components that stayed small.
 * Memory:  6 bytes of shared memory per pixel of the strip. Per pixel 4 (ROWS + 2) / ROWS bytes in, mostly
 *          from the cache, and 8 bytes out (both medians, checked map, final map); 2 bytes of label out and
 *          in again.
 * Ranges:  maps: below 0x1000 or 0xffff (256 disparities, Q4), so the median may order them as fp16. Labels:
 *          ROWS * width <= 8192. Sizes inside a strip have 16 bits, two in a word that is added to: at most
 *          8192.
 * Shapes:  width to 4096 px (ROWS 4 up to 2048 px, then 2), any height; device images padded to 128 bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/cuda.cuh"
#include "gpu/stages_cuda.h"
#include "gpu/stereo/filter_components.cuh"

#ifndef THREADS_MAX
#define THREADS_MAX 512
#endif
/* blocks of THREADS_MAX threads per multiprocessor: 64 registers with the median, else 40 */
#define BLOCKS_MIN(median) ((median) ? 2 : 3)
#define SHARED_MAX 49152
#define SHARED_PER_PIXEL 6

struct sx_filter_cuda {
	struct filter_work work; /* arguments without the images */
	bool median, speckle, smooth;
	int rows, threads;
};

/* ---- median ---- */

template <int ROWS, bool MEDIAN>
__device__ static void filter_group(const struct filter_work *w, const struct sx_median_map *m, int x, int y,
				    uint16_t *shared)
{
	uint4 out[ROWS];

	if (MEDIAN) {
		sx_median_group<ROWS>(out, m, x, y, w->width, w->height, w->border);
	} else {
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			out[r] = *reinterpret_cast<const uint4 *>(
				m->src + (size_t)min(y + r, w->height - 1) * m->src_pitch + 2 * x);
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		*reinterpret_cast<uint4 *>(&shared[r * w->stride + x]) = out[r];
		if (MEDIAN && y + r < w->height)
			*reinterpret_cast<uint4 *>(m->dst + (size_t)(y + r) * m->dst_pitch + 2 * x) = out[r];
	}
}

template <int ROWS, bool MEDIAN>
__device__ static void filter_strip(const struct filter_work *w, int y, uint16_t *left, uint16_t *right)
{
	constexpr int AT_ONCE = MEDIAN && ROWS > SX_MEDIAN_ROWS_MAX ? SX_MEDIAN_ROWS_MAX : ROWS;
	int groups = w->stride / SX_MEDIAN_COLUMNS;

	for (int i = (int)threadIdx.x; i < 2 * groups; i += (int)blockDim.x) {
		bool second = i >= groups;
		struct sx_median_map m = second ? w->right : w->left;

		for (int r = 0; r < ROWS; r += AT_ONCE)
			filter_group<AT_ONCE, MEDIAN>(w, &m, (second ? i - groups : i) * SX_MEDIAN_COLUMNS,
						      y + r, (second ? right : left) + r * w->stride);
	}
}

/* ---- left-right check ---- */

#define CHECKED_AT_ONCE 8 /* pixels that a thread checks at once: 16 bytes */

/*
 * The flat tiles of a strip as bits, in shared memory. A strip lies in one row of tiles, because ROWS divides
 * SX_FLAT_TILE.
 */
struct flat_bits {
	uint32_t *left, *right;
};

/* Returns the bits of tiles from pixel x on, the tile of x first. */
__device__ __forceinline__ uint32_t flat_from(const uint32_t *bits, int x)
{
	return bits[x / (32 * SX_FLAT_TILE)] >> x / SX_FLAT_TILE % 32;
}

/* Returns the places of a strip's flat tiles. bits: room for them. */
__device__ __forceinline__ struct flat_bits flat_of(const struct filter_work *w, uint32_t *bits)
{
	return (struct flat_bits){bits, bits + (SX_FLAT_TILES(w->width) + 31) / 32};
}

/* Reads the flat tiles of the strip that begins in row y. */
__device__ static void load_flat(const struct filter_work *w, int y, uint32_t *bits)
{
	const int tiles = SX_FLAT_TILES(w->width), words = (tiles + 31) / 32, lane = (int)threadIdx.x % 32;

	for (int i = (int)threadIdx.x / 32; i < 2 * words; i += (int)blockDim.x / 32) {
		const bool second = i >= words;
		const int x = 32 * (second ? i - words : i) + lane;
		const uint8_t *flat = second ? w->flat[1] : w->flat[0];
		const size_t pitch = second ? w->flat_pitch[1] : w->flat_pitch[0];
		const bool set = flat && x < tiles &&
				 (flat[(size_t)(y / SX_FLAT_TILE) * pitch + (size_t)x] & SX_TILE_FLAT);
		const uint32_t all = __ballot_sync(ALL_LANES, set);

		if (lane == 0)
			bits[i] = all;
	}
}

/* Returns the checked disparity of pixel x, Q4, or INVALID. right: row of the right map. */
__device__ __forceinline__ int checked(const struct filter_work *w, const uint16_t *right,
				       const uint32_t *flat_right, bool flat_left, int x, int v)
{
	const int d = v >> 4, k = x - d, partner = k - w->min_disparity;
	const bool inside = partner >= 0 && partner < w->width;
	bool good = v != INVALID && x < w->width && !flat_left;

	if (w->tolerance >= 0 && good) {
		if (k >= 0 && abs((int)right[k] - d) > w->tolerance)
			good = false;
		if (!w->keep && (k < 0 || !inside || x >= w->end))
			good = false;
	}
	if (good && inside)
		good = !(flat_from(flat_right, partner) & 1);
	return good ? max(v + 16 * w->min_disparity, 0) : INVALID;
}

/* Makes the confidence of invalid pixels 0. map: disparities from pixel x on. */
__device__ static void check_confidence(const struct filter_work *w, uint8_t *row, int x,
					const uint32_t map[CHECKED_AT_ONCE / 2])
{
	for (int i = 0; i < CHECKED_AT_ONCE && x + i < w->width; i++)
		if ((int)(map[i / 2] >> 16 * (i % 2) & 0xffff) == INVALID)
			row[x + i] = 0;
}

template <int ROWS>
__device__ static void check_strip(const struct filter_work *w, int y, uint16_t *left, const uint16_t *right,
				   const struct flat_bits *flat)
{
	const int groups = w->stride / CHECKED_AT_ONCE;
	int row = 0, group = (int)threadIdx.x;

	for (;; group += (int)blockDim.x) {
		for (; group >= groups; group -= groups)
			row++;
		if (row >= ROWS || y + row >= w->height)
			return;
		const int x = CHECKED_AT_ONCE * group;
		const uint32_t flat_left = flat_from(flat->left, x);
		uint4 *const at = reinterpret_cast<uint4 *>(&left[row * w->stride + x]);
		const uint4 read = *at;
		uint32_t map[CHECKED_AT_ONCE / 2] = {read.x, read.y, read.z, read.w};

#pragma unroll
		for (int i = 0; i < CHECKED_AT_ONCE; i += 2) {
			const bool is_flat = flat_left >> i / SX_FLAT_TILE & 1;
			const int a = checked(w, &right[row * w->stride], flat->right, is_flat, x + i,
					      (int)(map[i / 2] & 0xffff)),
				  b = checked(w, &right[row * w->stride], flat->right, is_flat, x + i + 1,
					      (int)(map[i / 2] >> 16));

			map[i / 2] = (uint32_t)a | (uint32_t)b << 16;
		}
		const uint4 written = make_uint4(map[0], map[1], map[2], map[3]);

		*at = written;
		*reinterpret_cast<uint4 *>(w->final_map + (size_t)(y + row) * w->final_pitch + 2 * x) =
			written;
		if (w->checked)
			*reinterpret_cast<uint4 *>(w->checked + (size_t)(y + row) * w->checked_pitch +
						   2 * x) = written;
		if (w->confidence)
			check_confidence(w, w->confidence + (size_t)(y + row) * w->confidence_pitch, x, map);
	}
}

template <int ROWS, bool MEDIAN, bool SPECKLE>
__global__ void __launch_bounds__(THREADS_MAX, BLOCKS_MIN(MEDIAN)) filter_kernel(struct filter_work w)
{
	SX_DYNAMIC_SHARED(uint16_t, left);
	int places = ROWS * w.stride, y = (int)blockIdx.x * ROWS;
	uint32_t *parent = reinterpret_cast<uint32_t *>(left + places),
		 *sizes = reinterpret_cast<uint32_t *>(left);
	uint16_t *right = left + places; /* shares memory that parent uses later */

	filter_strip<ROWS, MEDIAN>(&w, y, left, right);
	/* the second half of parent's memory is free until components are joined */
	load_flat(&w, y, reinterpret_cast<uint32_t *>(right + places));
	__syncthreads();
	const struct flat_bits flat = flat_of(&w, reinterpret_cast<uint32_t *>(right + places));

	check_strip<ROWS>(&w, y, left, right, &flat);
	if (!SPECKLE)
		return;
	__syncthreads();
	join_tiles<ROWS>(&w, y, left, parent);
	__syncthreads();
	join_sides<ROWS>(&w, y, left, parent);
	__syncthreads();
	for (int i = (int)threadIdx.x; i < places / 2; i += (int)blockDim.x)
		sizes[i] = 0;
	__syncthreads();
	count_runs<ROWS>(&w, parent, sizes);
	__syncthreads();
	label_strip<ROWS>(&w, y, parent, left);
	join_neighbours<ROWS>(&w, sizes);
}

/* ---- components that stayed small ---- */

#define ERASE_X 32
#define ERASE_Y 4

template <int ROWS> __global__ void __launch_bounds__(ERASE_X *ERASE_Y) erase(struct filter_work w)
{
	int x = 8 * (int)(blockIdx.x * ERASE_X + threadIdx.x), y = (int)(blockIdx.y * ERASE_Y + threadIdx.y);
	uint32_t base = (uint32_t)(y / ROWS * ROWS * w.stride), last = 0;
	uint16_t *map = reinterpret_cast<uint16_t *>(w.final_map + (size_t)y * w.final_pitch);
	bool small = false;
	uint32_t label[4];

	if (x >= w.width || y >= w.height)
		return;
	*reinterpret_cast<uint4 *>(label) =
		*reinterpret_cast<const uint4 *>(w.labels + (size_t)y * w.labels_pitch + 2 * x);
	if (!(label[0] | label[1] | label[2] | label[3]))
		return;
#pragma unroll
	for (int i = 0; i < 8; i++) {
		uint32_t l = label[i / 2] >> (16 * (i % 2)) & 0xffff;

		if (!l || x + i >= w.width)
			continue;
		if (l != last) {
			uint32_t root = sx_union_find_root(&w.union_find, base + l - 1);

			small = root != SX_UNION_FIND_KEPT && w.union_find.size[root] <= w.size_limit;
			last = l;
		}
		if (small) {
			map[x + i] = SX_DISPARITY_INVALID;
			if (w.confidence)
				w.confidence[(size_t)y * w.confidence_pitch + x + i] = 0;
		}
	}
}

/* ---- host ---- */

static int take_union_find(struct sx_filter_cuda *s, struct sx_cuda_memory *m,
			   const struct sx_context_config *c)
{
	struct filter_work *w = &s->work;
	size_t strips = (size_t)(c->height + s->rows - 1) / (size_t)s->rows;
	size_t places = strips * (size_t)(s->rows * w->stride);
	size_t labels_pitch = ((size_t)c->width * 2 + 127) / 128 * 128;

	w->union_find.parent = (uint32_t *)sx_cuda_take_scratch(m, places * sizeof(uint32_t));
	w->union_find.size = (uint32_t *)sx_cuda_take_scratch(m, places * sizeof(uint32_t));
	w->arrived = (uint32_t *)sx_cuda_take(m, (strips + 1) * sizeof(uint32_t));
	w->labels = (uint8_t *)sx_cuda_take_scratch(m, labels_pitch * (size_t)c->height);
	w->labels_pitch = labels_pitch;
	return w->union_find.parent && w->union_find.size && w->arrived && w->labels ? 0 : -ENOMEM;
}

/*
 * Returns the threads of a block: one per group of the median. If all strips fit side by side, more threads
 * shorten the time to the last barrier.
 */
static int threads_of(const struct sx_filter_cuda *s, int height, int sms)
{
	const int groups = 2 * s->work.stride / SX_MEDIAN_COLUMNS, strips = (height + s->rows - 1) / s->rows;
	const int threads = s->speckle && strips <= sms ? s->work.stride : groups;

	return threads > THREADS_MAX ? THREADS_MAX : (threads + 31) / 32 * 32;
}

int sx_filter_cuda_create(struct sx_filter_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c, int sms)
{
	const struct sx_filter_params *f = &c->params.filters;
	struct sx_filter_cuda *s = (struct sx_filter_cuda *)calloc(1, sizeof(*s));
	struct filter_work *w;
	int r;

	if (!s)
		return -ENOMEM;
	w = &s->work;
	w->width = c->width;
	w->height = c->height;
	w->stride = (c->width + SX_MEDIAN_COLUMNS - 1) / SX_MEDIAN_COLUMNS * SX_MEDIAN_COLUMNS;
	w->connected = f->speckle_range > 0xffff / 16 ? 0xffff : 16 * f->speckle_range;
	w->size_limit = (uint32_t)f->speckle_size;
	w->tolerance = f->left_right;
	w->keep = f->left_right_keep;
	w->min_disparity = c->params.stereo.min_disparity;
	w->end = c->width - sx_left_right_border(&c->params.stereo);
	w->border = f->median_border;
	s->median = f->median;
	s->speckle = f->speckle_size > 0;
	s->smooth = f->smooth;
	s->rows = 4 * w->stride * SHARED_PER_PIXEL <= SHARED_MAX ? 4 : 2;
	s->threads = threads_of(s, c->height, sms);
	r = s->rows * w->stride * SHARED_PER_PIXEL > SHARED_MAX ? -EINVAL
	    : s->speckle					? take_union_find(s, m, c)
								: 0;
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_filter_cuda_destroy(struct sx_filter_cuda *s)
{
	free(s);
}

static struct sx_median_map map_of(const struct sx_image *src, const struct sx_image *dst)
{
	struct sx_median_map m = {(const uint8_t *)src->data, (uint8_t *)dst->data, src->pitch, dst->pitch};

	return m;
}

template <int ROWS>
static void check_launch(const struct sx_filter_cuda *s, struct filter_work w, cudaStream_t stream)
{
	unsigned strips = (unsigned)(w.height + ROWS - 1) / ROWS, threads = (unsigned)s->threads;
	size_t shared = (size_t)(ROWS * w.stride) * SHARED_PER_PIXEL;

	if (s->median && s->speckle)
		SX_LAUNCH((filter_kernel<ROWS, true, true>), strips, threads, shared, stream, w);
	else if (s->median)
		SX_LAUNCH((filter_kernel<ROWS, true, false>), strips, threads, shared, stream, w);
	else if (s->speckle)
		SX_LAUNCH((filter_kernel<ROWS, false, true>), strips, threads, shared, stream, w);
	else
		SX_LAUNCH((filter_kernel<ROWS, false, false>), strips, threads, shared, stream, w);
}

static void set_speckle(struct filter_work *w, const struct sx_image *speckle,
			const struct sx_image *confidence, bool smooth)
{
	w->final_map = (uint8_t *)speckle->data;
	w->final_pitch = speckle->pitch;
	w->confidence = smooth ? NULL : (uint8_t *)confidence->data;
	w->confidence_pitch = confidence->pitch;
}

cudaError_t sx_filter_cuda_check(const struct sx_filter_cuda *s, const struct sx_image winner[2],
				 const struct sx_image median[2], const struct sx_image *flat,
				 const struct sx_image *left_right, const struct sx_image *speckle,
				 const struct sx_image *confidence, cudaStream_t stream)
{
	struct filter_work w = s->work;

	w.left = map_of(&winner[0], &median[0]);
	w.right = map_of(&winner[1], &median[1]);
	for (int side = 0; flat && side < 2; side++) {
		w.flat[side] = (const uint8_t *)flat[side].data;
		w.flat_pitch[side] = flat[side].pitch;
	}
	w.checked = s->speckle ? (uint8_t *)left_right->data : NULL;
	w.checked_pitch = left_right->pitch;
	set_speckle(&w, speckle, confidence, s->smooth);
	if (s->rows == 4)
		check_launch<4>(s, w, stream);
	else
		check_launch<2>(s, w, stream);
	return SX_LAUNCHED();
}

bool sx_filter_cuda_is_done(const struct sx_filter_cuda *s)
{
	return !s->speckle && !s->smooth;
}

cudaError_t sx_filter_cuda_finish(const struct sx_filter_cuda *s, const struct sx_image *speckle,
				  const struct sx_image *disparity, const struct sx_image *confidence,
				  cudaStream_t stream)
{
	struct filter_work w = s->work;
	dim3 grid((unsigned)(w.width + 8 * ERASE_X - 1) / (8 * ERASE_X),
		  (unsigned)(w.height + ERASE_Y - 1) / ERASE_Y);

	set_speckle(&w, speckle, confidence, s->smooth);
	if (s->speckle && s->rows == 4)
		SX_LAUNCH((erase<4>), grid, dim3(ERASE_X, ERASE_Y), 0, stream, w);
	else if (s->speckle)
		SX_LAUNCH((erase<2>), grid, dim3(ERASE_X, ERASE_Y), 0, stream, w);
	return s->smooth ? sx_smooth_cuda_run(speckle, disparity, confidence, stream) : SX_LAUNCHED();
}
