/*
 * Walks the paths of one scale of the pyramid over the cells that are searched: equation of
 * stages/stereo/sgm.h, recurrence of gpu/pyramid/pyramid_walk.cuh.
 *
 * Work:    a thread walks one path; a warp walks neighbouring rows or columns, whose tiles have the same or
 *          similar blocks. On large devices a warp has fewer of them: idle lanes cost less than lanes that
 *          wait for the longest list. It walks four pixels at a time, inside of one tile. The diagonals are a
 *          kernel
 *          of their own: each lane changes its tile at another step.
 * Memory:  8 bytes of costs, copied into shared memory four pixels ahead, and 8 of V for each block of a
 *          pixel and path. Lanes read and write side by side, as each orientation has its own layout
 *          (gpu/pyramid/pyramid_kernels.h).
 * Ranges:  gpu/stereo/sgm_path.cuh.
 * Shapes:  any size; 1 to SX_PYRAMID_SLOTS blocks a tile; 2, 4 or 8 paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid_walk.cuh"
#include "gpu/stereo/p2_table.cuh"
#include "stages/stereo/sgm.h"

#define WARPS 2
#define THREADS (32 * WARPS)
#define QUAD 4 /* pixels that are walked at a time */
#define SLOTS SX_PYRAMID_SLOTS
#define QUAD_WORDS (QUAD * SLOTS * 32 * 2) /* costs of a quad: [pixel][slot][lane] cell rows */
#define WARP_WORDS (2 * QUAD_WORDS + SX_PYRAMID_TURN_WORDS)

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/* Penalties: [1] for horizontal paths. */
struct path_work {
	struct sx_pyramid_view v;
	int p1[2], p2[2];
	const uint8_t *p2_table;
	int rows, columns; /* rows or columns of tiles of a warp */
	int along, down;   /* warps of one horizontal and of one vertical direction */
	int diagonal;	   /* warps of one diagonal direction */
};

/*
 * A lane's way along a row or a column.
 * tiles: list of its first tile, and bytes to the next one. cost, path: cell row of the lane's lowest pixel
 * of slot 0 of the first tile; cells_step: bytes to the next tile. step: bytes to the next pixel of the way.
 * grey: level of pixel 0, and bytes to the pixel with the next coordinate.
 * pixels: pixels of the way; length: pixels of a tile. sign: -1 if the way leads back, to the left or up,
 * else 1.
 */
struct way {
	const uint8_t *tiles, *cost, *grey;
	uint8_t *path;
	ptrdiff_t tiles_step, cells_step, grey_step;
	int step, sign, pixels, length;
	bool live;
	uint32_t p1, p2;
};

__device__ __forceinline__ struct way find_way(const struct path_work &w, int warp, bool vertical, bool back)
{
	const struct sx_pyramid_view &v = w.v;
	const int wide = vertical ? SX_SEARCH_TILE_WIDTH : SX_SEARCH_TILE_HEIGHT;
	const int tiles = vertical ? w.columns : w.rows, all = vertical ? v.tiles_x : v.tiles_y;
	const int lane = (int)threadIdx.x % 32, pixel = min(warp * tiles * wide + lane, all * wide - 1);
	const int length = vertical ? SX_SEARCH_TILE_HEIGHT : SX_SEARCH_TILE_WIDTH;
	const int last =
		back ? (vertical ? v.tiles_y : v.tiles_x) - 1 : 0; /* index of the first tile of the way */
	const int q = vertical ? pixel / wide : last, j = vertical ? last : pixel / wide;
	const size_t cells = sx_pyramid_cells(v, q, j) + (size_t)(pixel % wide * SX_PYRAMID_ROW_BYTES);
	const size_t tile_bytes = (size_t)v.slots * SX_PYRAMID_SLOT_BYTES;
	const int sign = back ? -1 : 1;
	struct way way;

	way.live = lane < tiles * wide && warp * tiles * wide + lane < all * wide;
	way.sign = sign;
	way.tiles = v.tiles + (size_t)j * v.tiles_pitch + (size_t)q * sizeof(uint64_t);
	way.tiles_step = sign * (vertical ? (ptrdiff_t)v.tiles_pitch : (ptrdiff_t)sizeof(uint64_t));
	way.cells_step = sign * (ptrdiff_t)(vertical ? (size_t)v.tiles_x * tile_bytes : tile_bytes);
	way.cost = v.cost + (vertical ? v.path_bytes : 0) + cells;
	way.path = v.path + (size_t)(2 * vertical + back) * v.path_bytes + cells;
	way.step = sign * wide * SX_PYRAMID_ROW_BYTES;
	way.pixels = vertical ? v.height : v.width;
	way.length = length;
	way.grey = v.grey[0] + (vertical ? (size_t)min(pixel, v.width - 1)
					 : (size_t)min(pixel, v.height - 1) * v.grey_pitch[0]);
	way.grey_step = vertical ? (ptrdiff_t)v.grey_pitch[0] : 1;
	way.p1 = sx_pair(w.p1[!vertical]);
	way.p2 = sx_pair(w.p2[!vertical]);
	return way;
}

/* Grey levels along a path, a quad ahead, and the cuts of P2 that follow from them. */
struct edges {
	const uint32_t *p2_table;
	int before, next[QUAD];
};

__device__ __forceinline__ int grey_at(const struct way &way, int pixel)
{
	return __ldg(way.grey + min(max(pixel, 0), way.pixels - 1) * way.grey_step);
}

/* Returns F of step u as a pair, and loads the level that the same step of the next quad needs. */
template <bool EDGES>
__device__ __forceinline__ uint32_t cut_of(struct edges *e, const struct way &way, int u, int pixel)
{
	if (!EDGES)
		return 0;
	const uint32_t cut = sx_pair_even(e->p2_table[abs(e->next[u] - e->before)]);

	e->before = e->next[u];
	e->next[u] = grey_at(way, pixel + way.sign * QUAD);
	return cut;
}

/* Place in the list of tiles, from which costs are fetched. */
struct place {
	uint64_t tile, following; /* list of this tile and of the next one */
	const uint8_t *tiles, *cost;
	uint8_t *path;
	int most;
};

__device__ __forceinline__ uint64_t list_at(const struct way &way, const uint8_t *at)
{
	return way.live ? *reinterpret_cast<const uint64_t *>(at) : 0;
}

/*
 * Returns the number of slots that the warp walks: as many as its tiles have at most, rounded up to a number
 * for which walk_slots() has code.
 */
__device__ __forceinline__ int slots_of(uint64_t tile)
{
	const int most = (int)sx_warp_max((uint32_t)sx_pyramid_tile_count(tile));

	return most == 0 ? 1 : most == 5 ? 6 : most;
}

/* Goes to the next tile. left: tiles that follow it. */
__device__ __forceinline__ void go_on(struct place *p, const struct way &way, int left)
{
	p->tile = p->following;
	p->tiles += way.tiles_step;
	p->cost += way.cells_step;
	p->path += way.cells_step;
	p->following = left > 0 ? list_at(way, p->tiles + way.tiles_step) : 0;
	p->most = slots_of(p->tile);
}

/* Returns the offset of the pixel of a quad that is walked first. quad: index in its tile. */
__device__ __forceinline__ int first_of(const struct way &way, int quad)
{
	return way.sign > 0 ? QUAD * quad * way.step : -(QUAD * quad + QUAD - 1) * way.step;
}

/* Fetches the costs of a quad. first: first_of() it. */
__device__ __forceinline__ void fetch_quad(const struct place &p, int first, int step, uint32_t *to)
{
	const int count = sx_pyramid_tile_count(p.tile);
	const uint8_t *const from[QUAD] = {p.cost + first, p.cost + first + step, p.cost + first + 2 * step,
					   p.cost + first + 3 * step};

#pragma unroll
	for (int s = 0; s < SLOTS; s++) {
		if (s >= p.most)
			break;
#pragma unroll
		for (int u = 0; u < QUAD; u++) {
			uint32_t *const slot = to + (u * SLOTS + s) * 64;

			if (s < count)
				sx_words_copy<2>(slot, from[u] + s * SX_PYRAMID_SLOT_BYTES);
			else
				*reinterpret_cast<uint2 *>(slot) = make_uint2(0, 0);
		}
	}
}

/* Where the steps of a quad are. pixel: the one that is walked first. */
struct quad {
	const uint32_t *match;
	uint8_t *to;
	int pixel, count;
	bool entered;
};

/*
 * Walks a quad. It may have pixels beyond the image, where M is 0. A way back begins there: V is P2 in all
 * cells until the first pixel of the image, which so has V = P2 + M, as at the start of a path.
 */
template <int N, bool EDGES>
__device__ __forceinline__ void walk_quad(struct sx_pyramid_state *s, struct edges *e, const struct way &way,
					  const struct quad &q)
{
#pragma unroll
	for (int u = 0; u < QUAD; u++) {
		const uint32_t cut = cut_of<EDGES>(e, way, u, q.pixel + way.sign * u);
		uint2 match[N];

#pragma unroll
		for (int i = 0; i < N; i++)
			match[i] = *reinterpret_cast<const uint2 *>(q.match + (u * SLOTS + i) * 64);
		if (u > 0 || !q.entered)
			sx_pyramid_stay<N>(s);
		sx_pyramid_step<N, EDGES>(s, match, way.p1, way.p2, cut);
#pragma unroll
		for (int i = 0; i < N; i++)
			if (i < q.count)
				*reinterpret_cast<uint2 *>(q.to + i * SX_PYRAMID_SLOT_BYTES + u * way.step) =
					sx_pyramid_stored(*s, i);
	}
}

template <bool EDGES>
__device__ __forceinline__ void walk_slots(struct sx_pyramid_state *s, struct edges *e, const struct way &way,
					   const struct quad &q)
{
	switch (s->most) {
	case 1:
		walk_quad<1, EDGES>(s, e, way, q);
		break;
	case 2:
		walk_quad<2, EDGES>(s, e, way, q);
		break;
	case 3:
		walk_quad<3, EDGES>(s, e, way, q);
		break;
	case 4:
		walk_quad<4, EDGES>(s, e, way, q);
		break;
	case 6:
		walk_quad<6, EDGES>(s, e, way, q);
		break;
	default:
		walk_quad<SLOTS, EDGES>(s, e, way, q);
		break;
	}
}

/* Walks the paths of a warp. shared: its WARP_WORDS words. */
template <bool EDGES>
__device__ __forceinline__ void walk(const struct way &way, uint32_t *shared, const uint32_t *p2_table)
{
	const int lane = (int)threadIdx.x % 32, in_tile = way.length / QUAD - 1; /* mask of a quad's index */
	const int all = (way.pixels + QUAD - 1) / QUAD, begin = way.sign > 0 ? 0 : all - 1;
	const int lead = way.sign > 0 ? 0 : QUAD - 1; /* of a quad's pixels, the one that is walked first */
	uint32_t *const turn = shared + 2 * QUAD_WORDS, *const ring = shared + 2 * lane;
	int tiles = (way.pixels - 1) / way.length; /* that follow */
	struct sx_pyramid_state s;
	struct edges e;
	struct place p;
	uint64_t last_tile;

	p.tiles = way.tiles;
	p.cost = way.cost;
	p.path = way.path;
	p.tile = list_at(way, way.tiles);
	p.following = tiles > 0 ? list_at(way, way.tiles + way.tiles_step) : 0;
	p.most = slots_of(p.tile);
	sx_pyramid_start(&s, p.tile, p.most, way.p2, turn);
	last_tile = p.tile;
	if (EDGES) {
		e.p2_table = p2_table;
#pragma unroll
		for (int u = 0; u < QUAD; u++)
			e.next[u] = grey_at(way, begin * QUAD + lead + way.sign * u);
		e.before = e.next[0];
	}
	fetch_quad(p, first_of(way, begin & in_tile), way.step, ring);
	sx_words_commit();
#pragma unroll 1
	for (int n = 0; n < all; n++) {
		const int at = begin + way.sign * n, before = at - way.sign, beyond = at + way.sign;
		/* tiles begin where the index of the upper one of two quads is a multiple of their number */
		const bool leaves = (max(at, beyond) & in_tile) == 0, came = (max(at, before) & in_tile) == 0;
		const uint64_t tile = p.tile;
		struct quad q;

		q.match = ring + (n & 1) * QUAD_WORDS;
		q.pixel = at * QUAD + lead;
		q.to = p.path + first_of(way, at & in_tile);
		q.count = sx_pyramid_tile_count(tile);
		q.entered = n > 0 && came && __any_sync(SX_WARP_ALL_LANES, tile != last_tile);
		last_tile = tile;
		if (q.entered)
			sx_pyramid_enter(&s, tile, p.most, turn);
		if (n + 1 < all) {
			if (leaves)
				go_on(&p, way, --tiles);
			fetch_quad(p, first_of(way, beyond & in_tile), way.step,
				   ring + (~n & 1) * QUAD_WORDS);
		}
		sx_words_commit();
		sx_words_wait<1>();
		walk_slots<EDGES>(&s, &e, way, q);
	}
	sx_words_wait<0>();
}

template <bool EDGES> __global__ void __launch_bounds__(THREADS) path_kernel(const struct path_work w)
{
	__shared__ __align__(16) uint32_t shared[WARPS][WARP_WORDS];
	__shared__ uint32_t p2_table[2][EDGES ? SX_P2_TABLE_LEVELS : 1];
	const int warp = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;
	const int vertical = warp - 2 * w.along; /* the longest paths begin first */

	if (EDGES) {
		sx_p2_table_copy(p2_table[0], w.p2_table, 0, THREADS);
		sx_p2_table_copy(p2_table[1], w.p2_table, 1, THREADS);
	}
	if (vertical >= 2 * w.down)
		return;
	const bool back = vertical < 0 ? warp >= w.along : vertical >= w.down;
	const int index = vertical < 0 ? warp - back * w.along : vertical - back * w.down;
	const struct way way = find_way(w, index, vertical >= 0, back);

	walk<EDGES>(way, shared[threadIdx.x / 32], p2_table[vertical < 0]);
}

/* Steps of a diagonal, where each lane may enter another tile. */
template <int N, bool EDGES>
__device__ __forceinline__ void step_diagonal(struct sx_pyramid_state *s, const uint8_t *cost, uint8_t *to,
					      int count, bool enters, uint32_t p1, uint32_t p2, uint32_t cut)
{
	uint2 match[N];

#pragma unroll
	for (int i = 0; i < N; i++)
		match[i] = i < count ? *reinterpret_cast<const uint2 *>(cost + i * SX_PYRAMID_SLOT_BYTES)
				     : make_uint2(0, 0);
	if (!enters)
		sx_pyramid_stay<N>(s);
	sx_pyramid_step<N, EDGES>(s, match, p1, p2, cut);
#pragma unroll
	for (int i = 0; i < N; i++)
		if (to && i < count)
			*reinterpret_cast<uint2 *>(to + i * SX_PYRAMID_SLOT_BYTES) = sx_pyramid_stored(*s, i);
}

/* Walks diagonals: directions 4 to 7, right or left and down or up. */
template <bool EDGES> __global__ void __launch_bounds__(THREADS) diagonal_kernel(const struct path_work w)
{
	__shared__ __align__(16) uint32_t shared[WARPS][SX_PYRAMID_TURN_WORDS];
	__shared__ uint32_t p2_table[EDGES ? SX_P2_TABLE_LEVELS : 1];
	const int warp = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, direction = warp / w.diagonal;
	const int k = warp % w.diagonal * 32 + (int)threadIdx.x % 32;
	const int dx = direction == 1 || direction == 2 ? -1 : 1,
		  dy = direction == 1 || direction == 3 ? -1 : 1;
	const int width = w.v.width, height = w.v.height;
	const bool live = k < width + height - 1;
	/*
	 * in the image mirrored such that the path runs right and down, it starts at the left or upper border
	 */
	const int left = max(width - 1 - k, 0), upper = live ? max(k - width + 1, 0) : 0;
	const int length = live ? min(width - left, height - upper) : 0;
	int x = dx > 0 ? left : width - 1 - left, y = dy > 0 ? upper : height - 1 - upper;
	const uint32_t p1 = sx_pair(w.p1[0]), p2 = sx_pair(w.p2[0]);
	uint32_t *const turn = shared[threadIdx.x / 32];
	struct sx_pyramid_state s;
	uint64_t last = 0;
	int before = 0;

	if (EDGES)
		sx_p2_table_copy(p2_table, w.p2_table, 0, THREADS);
	if (direction >= 4)
		return;
	uint8_t *const path = w.v.path + (size_t)(4 + direction) * w.v.path_bytes;
	const int steps = (int)sx_warp_max((uint32_t)length);

#pragma unroll 1
	for (int i = 0; i < steps; i++) {
		const int q = x / SX_SEARCH_TILE_WIDTH, j = y / SX_SEARCH_TILE_HEIGHT;
		const uint64_t tile = i < length ? sx_pyramid_tile(w.v, q, j) : 0;
		const int count = sx_pyramid_tile_count(tile);
		const int most = sx_warp_max((uint32_t)count) <= 2 ? 2 : SLOTS;
		const int pixel = sx_pyramid_pixel(x % SX_SEARCH_TILE_WIDTH, y % SX_SEARCH_TILE_HEIGHT);
		const size_t at = sx_pyramid_cells(w.v, q, j) + (size_t)(pixel * SX_PYRAMID_ROW_BYTES);
		const bool enters = __any_sync(SX_WARP_ALL_LANES, tile != last) && i > 0;
		const int grey = EDGES ? w.v.grey[0][(size_t)y * w.v.grey_pitch[0] + (size_t)x] : 0;
		const uint32_t cut = EDGES && i > 0 ? sx_pair_even(p2_table[abs(grey - before)]) : 0;
		uint8_t *const to = i < length ? path + at : NULL;

		before = grey;
		last = tile;
		if (i == 0)
			sx_pyramid_start(&s, tile, most, p2, turn);
		if (enters)
			sx_pyramid_enter(&s, tile, most, turn);
		if (most == 2)
			step_diagonal<2, EDGES>(&s, w.v.cost + at, to, count, enters, p1, p2, cut);
		else
			step_diagonal<SLOTS, EDGES>(&s, w.v.cost + at, to, count, enters, p1, p2, cut);
		x += i + 1 < length ? dx : 0;
		y += i + 1 < length ? dy : 0;
	}
}

void lay_out(struct path_work *w, int sms)
{
	w->rows = sms >= SX_PYRAMID_LARGE_SMS ? 1 : 32 / SX_SEARCH_TILE_HEIGHT;
	w->columns = sms >= SX_PYRAMID_LARGE_SMS ? 1 : 32 / SX_SEARCH_TILE_WIDTH;
	w->along = (w->v.tiles_y + w->rows - 1) / w->rows;
	w->down = w->v.paths > 2 ? (w->v.tiles_x + w->columns - 1) / w->columns : 0;
	w->diagonal = w->v.paths > 4 ? (w->v.width + w->v.height - 1 + 31) / 32 : 0;
}

unsigned blocks_of(int warps)
{
	return (unsigned)((warps + WARPS - 1) / WARPS);
}

template <bool EDGES> void launch(const struct path_work &w, cudaStream_t stream)
{
	SX_LAUNCH((path_kernel<EDGES>), blocks_of(2 * (w.along + w.down)), THREADS, 0, stream, w);
	if (w.diagonal)
		SX_LAUNCH((diagonal_kernel<EDGES>), blocks_of(4 * w.diagonal), THREADS, 0, stream, w);
}

} // namespace

extern "C" const uint8_t *sx_pyramid_p2_table(struct sx_cuda_memory *m, const struct sx_stereo_params *p)
{
	return p->p2_edge ? sx_p2_table_upload(m, p) : NULL;
}

extern "C" cudaError_t sx_pyramid_paths_launch(const struct sx_pyramid_view *v,
					       const struct sx_stereo_params *p, const uint8_t *p2_table,
					       int sms, cudaStream_t stream)
{
	struct path_work w = {};

	w.v = *v;
	w.p2_table = p2_table;
	for (int horizontal = 0; horizontal < 2; horizontal++) {
		w.p1[horizontal] = sx_sgm_penalties(p, horizontal).p1;
		w.p2[horizontal] = sx_sgm_penalties(p, horizontal).p2;
	}
	lay_out(&w, sms);
	if (p2_table)
		launch<true>(w, stream);
	else
		launch<false>(w, stream);
	return SX_LAUNCHED();
}
