/*
 * Path aggregation of SGM, stored flow. stages/stereo/sgm.h defines the result. Volumes:
 * gpu/stereo/volume.cuh; recurrence: gpu/stereo/sgm_path.cuh.
 *
 * Work:    all paths of all directions in one launch, the longest first. A group of 4, 8 or 16 lanes walks
 *          one path (a row, a column, a diagonal), so a warp walks 2 to 8 paths side by side.
 * Memory:  per pixel and direction D bytes of M are read, up to 8 pixels ahead into shared memory, and D
 *          bytes of V are written, up to 16 bytes per lane. With p2_edge also one byte of the left image for
 *          each pixel of a path, a ring ahead, and the P2 table in shared memory.
 * Ranges:  gpu/stereo/sgm_path.cuh.
 * Shapes:  any width, height; D any multiple of 32 from 32 to 256; shared memory at most 16 KB per block, 28
 *          KB for D = 224.
 * Speed:   tests/lab/lab-performance.md, "CUDA: path aggregation".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/sgm_place.cuh"

#include <errno.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"
#include "gpu/stereo/p2_table.cuh"
#include "gpu/stereo/sgm_path.cuh"
#include "gpu/stereo/sgm_recompute.cuh"
#include "gpu/stereo/winner_cuda.h"
#include "stages/stereo/sgm.h"

#define BATCH 2 /* pixels that are fetched at a time */

/*
 * Returns the number of pixels that are fetched ahead: a power of two, with a ring of at most 16 KB per
 * block.
 */
template <int N> __host__ __device__ constexpr int ahead_of()
{
	return N > 4 ? 4 : 8;
}

/* Grey levels along a path: of the previous pixel, and of the next ring. */
template <int N> struct levels {
	const uint32_t *p2_table;
	const uint8_t *from; /* first pixel of the next ring */
	ptrdiff_t step;
	int before, next[ahead_of<N>()];
};

/* State of a lane along its path. */
template <int N, int G> struct walk {
	const uint8_t *from; /* M to fetch next, BATCH pixels before the ring's end */
	uint8_t *to;
	ptrdiff_t step;
	uint32_t *ring; /* the lane's words of the first of AHEAD pixels */
	int left;	/* pixels left to walk */
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
};

/*
 * Fetches the levels of the next ring. left: pixels of the path from there on. whole: the ring is complete.
 */
template <int N, bool whole>
static __device__ __forceinline__ void fetch_levels(struct levels<N> *l, int left)
{
#pragma unroll
	for (int i = 0; i < ahead_of<N>(); i++)
		if (whole || i < left)
			l->next[i] = __ldg(l->from + i * l->step);
	l->from += ahead_of<N>() * l->step;
}

/* Fetches pixels t .. of the path into slot `slot` of the ring. whole: these pixels exist. */
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

/* Walks one ring of pixels. whole: this ring and the next exist in every path of the warp. */
template <int N, int G, bool EDGES, bool whole>
static __device__ __forceinline__ void walk_ring(struct walk<N, G> *w, struct levels<N> *l)
{
	constexpr int ahead = ahead_of<N>();
	uint32_t match[N], v[N], p2_table[ahead] = {};

	if (EDGES) {
#pragma unroll
		for (int i = 0; i < ahead; i++) {
			p2_table[i] = l->p2_table[abs(l->next[i] - l->before)];
			l->before = l->next[i];
		}
		fetch_levels<N, whole>(l, w->left - ahead);
	}
#pragma unroll
	for (int i = 0; i < ahead; i++) {
		if (i % BATCH == 0) {
			fetch_batch<N, G, whole>(w, (i + ahead - BATCH) % ahead, i + ahead - BATCH);
			sx_words_wait<ahead / BATCH - 1>();
		}
		sx_words_load<N>(match, w->ring + i * THREADS * N);
		sx_path_step<N, G, EDGES>(&w->s, &w->lane, match, p2_table[i], v);
		if (whole || i < w->left)
			sx_words_store<N>(w->to, v);
		w->to += w->step;
	}
	w->left -= ahead;
}

/* Starts the levels. There is no step before a path's first pixel, so the cut of P2 is 0 there. */
template <int N, bool EDGES>
static __device__ __forceinline__ void start_levels(struct levels<N> *l, const struct aggregate *a,
						    const struct path *path, const uint32_t *p2_table)
{
	if (!EDGES)
		return;
	l->p2_table = p2_table;
	l->from = a->grey + (size_t)path->y * a->grey_pitch + (size_t)path->x;
	l->step = path->dy * (ptrdiff_t)a->grey_pitch + path->dx;
#pragma unroll
	for (int i = 0; i < ahead_of<N>(); i++)
		l->next[i] = 0;
	fetch_levels<N, false>(l, path->length);
	l->before = l->next[0];
}

template <int N, int G, bool EDGES>
static __device__ __forceinline__ void start_walk(struct walk<N, G> *w, struct levels<N> *l,
						  const struct aggregate *a, int direction, int first_block,
						  uint32_t *ring, const uint32_t *p2_table)
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
	sx_path_lane_init<G>(&w->lane, g, a->p1[is_horizontal(direction)], a->p2[is_horizontal(direction)]);
	sx_path_start(&w->s, &w->lane);
#pragma unroll
	for (int i = 0; i < ahead_of<N>() - BATCH; i += BATCH)
		fetch_batch<N, G, false>(w, i, i);
	start_levels<N, EDGES>(l, a, &path, p2_table);
}

template <int N, int G, bool EDGES>
__global__ void __launch_bounds__(THREADS) stored_kernel(const struct aggregate a)
{
	SX_DYNAMIC_SHARED(uint32_t, ring);
	uint32_t *const p2_table = ring + ahead_of<N>() * THREADS * N;
	int first_block;
	const int direction = find_direction(&a, &first_block);
	struct extent e = extent_of<G>(&a, direction, first_block);
	struct walk<N, G> w;
	struct levels<N> l;

	if (EDGES)
		sx_p2_table_copy(p2_table, a.p2_table, is_horizontal(direction), THREADS);
	start_walk<N, G, EDGES>(&w, &l, &a, direction, first_block, ring, p2_table);
	for (; e.shortest >= 2 * ahead_of<N>(); e.shortest -= ahead_of<N>(), e.longest -= ahead_of<N>())
		walk_ring<N, G, EDGES, true>(&w, &l);
	for (; e.longest > 0; e.longest -= ahead_of<N>())
		walk_ring<N, G, EDGES, false>(&w, &l);
	sx_words_wait<0>();
}

struct sx_sgm_cuda {
	struct aggregate a;
	struct sx_stereo_params p;
	struct sx_cuda_volumes volumes;
	int blocks;
	bool counts; /* true: there is no cost volume */
	struct sx_recompute_work recompute;
};

template <int N, int G>
static void launch_paths(const struct sx_sgm_cuda *s, const struct aggregate *a, cudaStream_t stream)
{
	constexpr size_t ring = ahead_of<N>() * THREADS * N * 4;

	if (a->p2_table)
		SX_LAUNCH((stored_kernel<N, G, true>), s->blocks, THREADS, ring + SX_P2_TABLE_SHARED, stream,
			  *a);
	else
		SX_LAUNCH((stored_kernel<N, G, false>), s->blocks, THREADS, ring, stream, *a);
}

/* Returns the number of lanes that share a path: 16 bytes per lane if possible. */
static int lanes_of(int disparities)
{
	return disparities <= 64 ? 4 : disparities == 256 ? 16 : 8;
}

static void sgm_launch(const struct sx_sgm_cuda *s, const struct aggregate *a, cudaStream_t stream)
{
	switch (s->p.disparities) {
	case 32:
		launch_paths<2, 4>(s, a, stream);
		break;
	case 64:
		launch_paths<4, 4>(s, a, stream);
		break;
	case 96:
		launch_paths<3, 8>(s, a, stream);
		break;
	case 128:
		launch_paths<4, 8>(s, a, stream);
		break;
	case 160:
		launch_paths<5, 8>(s, a, stream);
		break;
	case 192:
		launch_paths<6, 8>(s, a, stream);
		break;
	case 224:
		launch_paths<7, 8>(s, a, stream);
		break;
	default:
		launch_paths<4, 16>(s, a, stream);
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

static void create_recompute(struct sx_sgm_cuda *s, struct sx_cuda_memory *m,
			     const struct sx_context_config *c)
{
	sx_checkpoint_describe(&s->recompute.w, m, c);
	s->recompute.path = s->a.path;
	s->recompute.path_bytes = s->a.path_bytes;
	s->recompute.paths = s->p.paths;
	if (m->error == cudaSuccess && !m->counting)
		m->error = sx_recompute_prepare(&s->recompute, s->p.disparities);
}

int sx_sgm_cuda_create(struct sx_sgm_cuda **ret, struct sx_cuda_memory *m, const struct sx_context_config *c,
		       const uint8_t *costs)
{
	struct sx_sgm_cuda *s;

	if (!costs && m->error == cudaSuccess &&
	    (c->params.stereo.cost != SX_COST_CSCT || c->params.stereo.paths > 4))
		return -EINVAL;
	s = (struct sx_sgm_cuda *)calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->p = c->params.stereo;
	s->counts = !costs;
	s->a.width = c->width;
	s->a.height = c->height;
	for (int horizontal = 0; horizontal < 2; horizontal++) {
		s->a.p1[horizontal] = sx_sgm_penalties(&s->p, horizontal).p1;
		s->a.p2[horizontal] = sx_sgm_penalties(&s->p, horizontal).p2;
	}
	s->a.path_bytes = sx_cuda_rounded_up((size_t)c->width * (size_t)c->height * (size_t)s->p.disparities,
					     SX_CUDA_ALIGN);
	lay_out_grid(s);
	if (s->p.p2_edge && !s->counts)
		s->a.p2_table = sx_p2_table_upload(m, &s->p);
	s->a.match = costs;
	s->a.path = (uint8_t *)sx_cuda_take(m, (size_t)s->p.paths * s->a.path_bytes);
	if (s->counts)
		create_recompute(s, m, c);
	if (m->error != cudaSuccess) {
		sx_sgm_cuda_destroy(s);
		return -ENOMEM;
	}
	if (!c->keep_volume)
		sx_cuda_lend(m, s->a.path, (size_t)s->p.paths * s->a.path_bytes);
	s->volumes.path = s->a.path;
	s->volumes.path_bytes = s->a.path_bytes;
	s->volumes.volumes = s->p.paths;
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

	/* each path is written, and read by the winner; with p2_edge one byte more per pixel and path */
	const size_t bytes =
		2 * cells * paths + (s->p.p2_edge ? cells / (size_t)s->p.disparities * paths : 0);
	const size_t descriptors = cells / (size_t)s->p.disparities * sizeof(uint32_t);

	/* M is written once and read by each path; or descriptors are read */
	return bytes + (s->counts ? 2 * descriptors * paths : cells * (1 + paths));
}

static cudaError_t run_recompute(const struct sx_sgm_cuda *s, const struct sx_image *left,
				 const struct sx_image *descriptors, cudaStream_t stream)
{
	struct sx_recompute_work c = s->recompute;

	sx_checkpoint_set_descriptors(&c.w, &s->p, descriptors);
	c.w.grey = (const uint8_t *)left->data;
	c.w.grey_pitch = left->pitch;
	return sx_recompute_run(&c, s->p.disparities, stream);
}

cudaError_t sx_sgm_cuda_run(const struct sx_sgm_cuda *s, const struct sx_image *left,
			    const struct sx_image *descriptors, cudaStream_t stream)
{
	struct aggregate a = s->a;

	if (s->counts)
		return run_recompute(s, left, descriptors, stream);
	a.grey = (const uint8_t *)left->data;
	a.grey_pitch = left->pitch;
	sgm_launch(s, &a, stream);
	return SX_LAUNCHED();
}

const struct sx_cuda_volumes *sx_sgm_cuda_volumes(const struct sx_sgm_cuda *s)
{
	return &s->volumes;
}
