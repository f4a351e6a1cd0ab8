/*
 * Path aggregation of SGM. Meaning: stages/sgm.h; volumes: gpu/volume.cuh; recurrence: gpu/sgm_path.cuh.
 *
 * Work:    all paths of all directions in one launch, the longest first; a group of 4, 8 or 16 lanes walks one path (a
 *          row, a column, a diagonal), so a warp walks 2 to 8 of them beside each other.
 * Memory:  stored: per pixel and direction D bytes of M are read, up to 8 pixels ahead into shared memory, and D bytes of V
 *          written, up to 16 bytes a lane. Lean: no M; every path counts bits of descriptors, which the caches hold, and
 *          writes D bytes.
 * Ranges:  gpu/sgm_path.cuh.
 * Shapes:  any width, height; D any multiple of 32 from 32 to 256; shared memory at most 16 KB a block, 28 KB for D = 224.
 * Speed:   docs/performance.md, "CUDA: path aggregation".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/sgm_path.cuh"

#include <errno.h>
#include <stdlib.h>

#include "gpu/cost_cuda.h"
#include "gpu/stages_cuda.h"
#include "gpu/winner_cuda.h"

#define BATCH 2 /* pixels that are fetched at a time */
#define THREADS 128
#define DIRECTIONS_MAX 8

/* Descriptors, for the lean flow. */
struct descriptors {
	const uint8_t *left, *right;
	size_t left_pitch, right_pitch;
};

struct aggregate {
	const uint8_t *match; /* M */
	uint8_t *path;	      /* V of direction i begins at i * path_bytes */
	size_t path_bytes;
	struct descriptors census;
	int width, height, p1, p2, cost_max;
	int min_disparity, beyond_is_max;
	int first_block[DIRECTIONS_MAX]; /* of the grid; INT32_MAX for directions that are not taken */
};

/* In the order of stages/sgm.h: right, left, down, up and the diagonals. Two bits each, plus 1. */
#define DX_BITS (2u | 0u << 2 | 1u << 4 | 1u << 6 | 2u << 8 | 0u << 10 | 0u << 12 | 2u << 14)
#define DY_BITS (1u | 1u << 2 | 2u << 4 | 0u << 6 | 2u << 8 | 0u << 10 | 2u << 12 | 0u << 14)

static __host__ __device__ __forceinline__ int dx_of(int direction)
{
	return (int)(DX_BITS >> 2 * direction & 3) - 1;
}

static __host__ __device__ __forceinline__ int dy_of(int direction)
{
	return (int)(DY_BITS >> 2 * direction & 3) - 1;
}

static __host__ __device__ __forceinline__ int paths_of(int dx, int dy, int width, int height)
{
	return dy == 0 ? height : dx == 0 ? width : width + height - 1;
}

/* A group's path: first pixel, direction and length. */
struct path {
	int direction, x, y, dx, dy, length;
};

/*
 * Path k of a direction. In the image mirrored such that the path runs rightwards and downwards, it starts at the
 * left or upper border. Neighbouring k have nearly the same length, so that a warp's paths end together.
 */
static __device__ __forceinline__ void place_path(struct path *p, int k, int width, int height)
{
	p->dx = dx_of(p->direction);
	p->dy = dy_of(p->direction);
	p->x = p->dy == 0 ? 0 : p->dx == 0 ? k : max(width - 1 - k, 0);
	p->y = p->dy == 0 ? k : p->dx == 0 ? 0 : max(k - width + 1, 0);
	p->length = p->dy == 0 ? width : p->dx == 0 ? height : min(width - p->x, height - p->y);
	if (p->dx < 0)
		p->x = width - 1 - p->x;
	if (p->dy < 0)
		p->y = height - 1 - p->y;
}

/* The block's direction. */
static __device__ __forceinline__ int find_direction(const struct aggregate *a, int *first_block)
{
	int direction = 0;

	*first_block = 0;
#pragma unroll
	for (int i = 1; i < DIRECTIONS_MAX; i++) {
		if ((int)blockIdx.x >= a->first_block[i]) {
			direction = i;
			*first_block = a->first_block[i];
		}
	}
	return direction;
}

/* A group without a path walks the last one along and stores the same. */
template <int G>
static __device__ __forceinline__ struct path find_path(const struct aggregate *a, int direction,
							int first_block)
{
	const int k = (((int)blockIdx.x - first_block) * THREADS + (int)threadIdx.x) / G;
	const int paths = paths_of(dx_of(direction), dy_of(direction), a->width, a->height);
	struct path p;

	p.direction = direction;
	place_path(&p, min(k, paths - 1), a->width, a->height);
	return p;
}

/* Least and greatest length of a block's paths, the latter at most too large: the same for all threads, known to the compiler. */
struct extent {
	int shortest, longest;
};

/* Over k, lengths rise by one a path, stay and fall by one again. */
template <int G>
static __device__ __forceinline__ struct extent extent_of(const struct aggregate *a, int direction,
							  int first_block)
{
	const int paths = paths_of(dx_of(direction), dy_of(direction), a->width, a->height);
	const int k = ((int)blockIdx.x - first_block) * (THREADS / G);
	struct path first, last;
	struct extent e;

	first.direction = last.direction = direction;
	place_path(&first, k, a->width, a->height);
	place_path(&last, min(k + THREADS / G, paths) - 1, a->width, a->height);
	e.shortest = min(first.length, last.length);
	e.longest = min(e.shortest + THREADS / G,
			dy_of(direction) == 0 ? a->width : max(first.length, a->height));
	return e;
}

/* What a lane knows along its path. */
template <int N, int G> struct walk {
	const uint8_t *from; /* M to fetch next, BATCH pixels before the ring's end */
	uint8_t *to;
	ptrdiff_t step;
	uint32_t *ring; /* the lane's words of the first pixel of AHEAD */
	int left;	/* pixels to go */
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
};

/* Pixels that are fetched ahead: a power of two, ring of at most 16 KB a block. */
template <int N> __host__ __device__ constexpr int ahead_of()
{
	return N > 4 ? 4 : 8;
}

/* Pixels at and t.. of the path into the ring's place slot. whole: they exist. */
template <int N, int G, bool whole>
static __device__ __forceinline__ void fetch_batch(struct walk<N, G> *w, int slot, int t)
{
#pragma unroll
	for (int i = 0; i < BATCH; i++) {
		if (whole || t + i < w->left)
			sx_words_copy<N>(w->ring + (slot + i) * THREADS * N, w->from);
		w->from += w->step;
	}
	sx_words_commit();
}

/* A ring of pixels. whole: this one and the next exist in every path of the warp. */
template <int N, int G, bool whole> static __device__ __forceinline__ void walk_ring(struct walk<N, G> *w)
{
	constexpr int ahead = ahead_of<N>();
	uint32_t match[N], v[N];

#pragma unroll
	for (int i = 0; i < ahead; i++) {
		if (i % BATCH == 0) {
			fetch_batch<N, G, whole>(w, (i + ahead - BATCH) % ahead, i + ahead - BATCH);
			sx_words_wait<ahead / BATCH - 1>();
		}
		sx_words_load<N>(match, w->ring + i * THREADS * N);
		sx_path_step<N, G>(&w->s, &w->lane, match, v);
		if (whole || i < w->left)
			sx_words_store<N>(w->to, v);
		w->to += w->step;
	}
	w->left -= ahead;
}

template <int N, int G>
static __device__ __forceinline__ void start_walk(struct walk<N, G> *w, const struct aggregate *a,
						  int direction, int first_block, uint32_t *ring)
{
	const int g = (int)threadIdx.x % G;
	const struct path path = find_path<G>(a, direction, first_block);
	const size_t offset =
		((size_t)path.y * (size_t)a->width + (size_t)path.x) * (4 * N * G) + (size_t)g * (4 * N);

	w->from = a->match + offset;
	w->to = a->path + (size_t)direction * a->path_bytes + offset;
	w->step = (ptrdiff_t)(path.dy * a->width + path.dx) * (4 * N * G);
	w->ring = ring + threadIdx.x * N;
	w->left = path.length;
	sx_path_lane_init<G>(&w->lane, g, a->p1, a->p2);
	sx_path_start(&w->s, &w->lane);
#pragma unroll
	for (int i = 0; i < ahead_of<N>() - BATCH; i += BATCH)
		fetch_batch<N, G, false>(w, i, i);
}

template <int N, int G> __global__ void __launch_bounds__(THREADS) stored_kernel(const struct aggregate a)
{
	SX_DYNAMIC_SHARED(uint32_t, ring);
	int first_block;
	const int direction = find_direction(&a, &first_block);
	struct extent e = extent_of<G>(&a, direction, first_block);
	struct walk<N, G> w;

	start_walk(&w, &a, direction, first_block, ring);
	for (; e.shortest >= 2 * ahead_of<N>(); e.shortest -= ahead_of<N>(), e.longest -= ahead_of<N>())
		walk_ring<N, G, true>(&w);
	for (; e.longest > 0; e.longest -= ahead_of<N>())
		walk_ring<N, G, false>(&w);
	sx_words_wait<0>();
}

static __device__ __forceinline__ uint32_t bits_of(uint32_t v)
{
	return (uint32_t)__popc(v);
}

static __device__ __forceinline__ uint32_t bits_of(uint64_t v)
{
	return (uint32_t)__popc((uint32_t)v) + (uint32_t)__popc((uint32_t)(v >> 32));
}

/* M of one cell; partner: column of the right image. */
template <typename DESCRIPTOR>
static __device__ __forceinline__ uint32_t match_of(const struct aggregate *a, DESCRIPTOR left,
						    const DESCRIPTOR *right, int partner)
{
	const bool inside = partner >= 0 && partner < a->width;
	const DESCRIPTOR other = inside ? __ldg(right + partner) : 0;

	return !inside && a->beyond_is_max ? 0 : (uint32_t)a->cost_max - bits_of((DESCRIPTOR)(left ^ other));
}

/* M of a lane's disparities at a pixel. */
template <int N, int G, typename DESCRIPTOR>
static __device__ __forceinline__ void count_matches(uint32_t (&match)[N], const struct aggregate *a, int x,
						     int y, int g)
{
	const DESCRIPTOR *right =
		reinterpret_cast<const DESCRIPTOR *>(a->census.right + (size_t)y * a->census.right_pitch);
	const DESCRIPTOR left = __ldg(
		reinterpret_cast<const DESCRIPTOR *>(a->census.left + (size_t)y * a->census.left_pitch) + x);
	const int first = x - a->min_disparity - 2 * N * g;

#pragma unroll
	for (int i = 0; i < N; i++) {
		match[i] = 0;
#pragma unroll
		for (int b = 0; b < 4; b++)
			match[i] |= match_of(a, left, right, first - 2 * i - (b & 1) - (b >> 1) * (2 * N * G))
				    << 8 * b;
	}
}

template <int N, int G, typename DESCRIPTOR>
__global__ void __launch_bounds__(THREADS) lean_kernel(const struct aggregate a)
{
	const int g = (int)threadIdx.x % G;
	int first_block;
	const int direction = find_direction(&a, &first_block);
	const struct path path = find_path<G>(&a, direction, first_block);
	const int longest = extent_of<G>(&a, direction, first_block).longest;
	const ptrdiff_t step = (ptrdiff_t)(path.dy * a.width + path.dx) * (4 * N * G);
	const size_t offset =
		((size_t)path.y * (size_t)a.width + (size_t)path.x) * (4 * N * G) + (size_t)g * (4 * N);
	uint8_t *to = a.path + (size_t)direction * a.path_bytes + offset;
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
	uint32_t match[N], v[N];

	sx_path_lane_init<G>(&lane, g, a.p1, a.p2);
	sx_path_start(&s, &lane);
	for (int t = 0; t < longest; t++) {
		const int here = min(t, path.length - 1);

		count_matches<N, G, DESCRIPTOR>(match, &a, path.x + here * path.dx, path.y + here * path.dy,
						g);
		sx_path_step<N, G>(&s, &lane, match, v);
		if (t < path.length)
			sx_words_store<N>(to, v);
		to += step;
	}
}

struct sx_sgm_cuda {
	struct aggregate a;
	struct sx_stereo_params p;
	struct sx_cuda_volumes volumes;
	uint8_t *cost; /* NULL: lean */
	int blocks;
};

template <int N, int G>
static void launch_paths(const struct sx_sgm_cuda *s, const struct aggregate *a, bool wide,
			 cudaStream_t stream)
{
	if (s->cost)
		SX_LAUNCH((stored_kernel<N, G>), s->blocks, THREADS, ahead_of<N>() * THREADS * N * 4, stream,
			  *a);
	else if (wide)
		SX_LAUNCH((lean_kernel<N, G, uint64_t>), s->blocks, THREADS, 0, stream, *a);
	else
		SX_LAUNCH((lean_kernel<N, G, uint32_t>), s->blocks, THREADS, 0, stream, *a);
}

/* Lanes that share a path: 16 bytes a lane where that goes. */
static int lanes_of(int disparities)
{
	return disparities <= 64 ? 4 : disparities == 256 ? 16 : 8;
}

static void launch(const struct sx_sgm_cuda *s, const struct aggregate *a, bool wide, cudaStream_t stream)
{
	switch (s->p.disparities) {
	case 32:
		launch_paths<2, 4>(s, a, wide, stream);
		break;
	case 64:
		launch_paths<4, 4>(s, a, wide, stream);
		break;
	case 96:
		launch_paths<3, 8>(s, a, wide, stream);
		break;
	case 128:
		launch_paths<4, 8>(s, a, wide, stream);
		break;
	case 160:
		launch_paths<5, 8>(s, a, wide, stream);
		break;
	case 192:
		launch_paths<6, 8>(s, a, wide, stream);
		break;
	case 224:
		launch_paths<7, 8>(s, a, wide, stream);
		break;
	default:
		launch_paths<4, 16>(s, a, wide, stream);
		break;
	}
}

static void lay_out_grid(struct sx_sgm_cuda *s)
{
	const int lanes = lanes_of(s->p.disparities);

	for (int i = 0; i < DIRECTIONS_MAX; i++) {
		const int paths = paths_of(dx_of(i), dy_of(i), s->a.width, s->a.height);

		s->a.first_block[i] = i < s->p.paths ? s->blocks : INT32_MAX;
		if (i < s->p.paths)
			s->blocks += (paths * lanes + THREADS - 1) / THREADS;
	}
}

int sx_sgm_cuda_create(struct sx_sgm_cuda **ret, struct sx_cuda_memory *m, const struct sx_context_config *c,
		       enum sx_sgm_flow flow, int sms)
{
	struct sx_sgm_cuda *s = (struct sx_sgm_cuda *)calloc(1, sizeof(*s));

	(void)sms;
	if (!s)
		return -ENOMEM;
	s->p = c->params.stereo;
	s->a.width = c->width;
	s->a.height = c->height;
	s->a.p1 = s->p.p1;
	s->a.p2 = s->p.p2;
	s->a.cost_max = sx_cost_max(s->p.cost);
	s->a.min_disparity = s->p.min_disparity;
	s->a.beyond_is_max = s->p.out_of_view == SX_OUT_OF_VIEW_MAX;
	s->a.path_bytes = ((size_t)c->width * (size_t)c->height * (size_t)s->p.disparities + 255) / 256 * 256;
	lay_out_grid(s);
	if (flow == SX_SGM_STORED)
		s->cost = (uint8_t *)sx_cuda_take(m, s->a.path_bytes);
	s->a.path = (uint8_t *)sx_cuda_take(m, (size_t)s->p.paths * s->a.path_bytes);
	if (m->error != cudaSuccess) {
		sx_sgm_cuda_destroy(s);
		return -ENOMEM;
	}
	if (!c->keep_volume)
		sx_cuda_lend(m, s->a.path, (size_t)s->p.paths * s->a.path_bytes);
	s->a.match = s->cost;
	s->volumes.path = s->a.path;
	s->volumes.path_bytes = s->a.path_bytes;
	*ret = s;
	return 0;
}

void sx_sgm_cuda_destroy(struct sx_sgm_cuda *s)
{
	free(s);
}

size_t sx_sgm_cuda_traffic(const struct sx_sgm_cuda *s)
{
	const size_t cells = (size_t)s->a.width * (size_t)s->a.height * (size_t)s->p.disparities;
	const size_t paths = (size_t)s->p.paths;

	/* Each path is written, and read by the winner. Stored: M is written, and read by each path. */
	return cells * (2 * paths + (s->cost ? 1 + paths : 0));
}

cudaError_t sx_sgm_cuda_run(const struct sx_sgm_cuda *s, const struct sx_image census[2],
			    const struct sx_image *winner, const struct sx_image *winner_right,
			    const struct sx_image *confidence, const struct sx_sgm_cuda_streams *streams,
			    cudaStream_t stream)
{
	struct aggregate a = s->a;
	cudaError_t e = cudaSuccess;

	a.census.left = (const uint8_t *)census[0].data;
	a.census.left_pitch = census[0].pitch;
	a.census.right = (const uint8_t *)census[1].data;
	a.census.right_pitch = census[1].pitch;
	if (s->cost)
		e = sx_cost_cuda_run(census, &s->p, s->cost, stream);
	if (e != cudaSuccess)
		return e;
	launch(s, &a, census[0].pixel == SX_PIXEL_U64, stream);
	e = SX_LAUNCHED();
	if (e == cudaSuccess && streams && streams->between)
		e = sx_cuda_mark(streams->between, stream);
	if (e != cudaSuccess)
		return e;
	return sx_winner_cuda_run(&s->volumes, &s->p, winner, winner_right, confidence, stream);
}

cudaError_t sx_sgm_cuda_sum(const struct sx_sgm_cuda *s, const struct sx_image *sum, cudaStream_t stream)
{
	return sx_winner_cuda_sum(&s->volumes, &s->p, sum, stream);
}
