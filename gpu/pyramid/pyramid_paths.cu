/*
 * Walks the paths of one scale of the pyramid over the cells that are searched: equation of
 * stages/stereo/sgm.h, recurrence of gpu/pyramid/pyramid_walk.cuh.
 *
 * Work:    a warp walks the paths of neighbouring rows or columns, with two or four lanes for each. With four,
 *          all rows of a warp are in one row of tiles. With two, columns are in one column of tiles, and rows
 *          in two rows of tiles. More lanes make a step shorter, but the warps execute more instructions: so
 *          four are for scales with too few paths to keep the device busy. A warp walks eight pixels at a time,
 *          inside of one tile. The diagonals are a kernel of their own, with a lane for each path: each lane
 *          changes its tile at another step.
 *          A block has the warps of both ways along its rows or columns. If these share a volume, each writes
 *          V until they meet. There they wait for each other. Then each adds V to what the other wrote.
 * Memory:  8 bytes of costs, copied into shared memory eight pixels ahead, and 8 of V for each block of a
 *          pixel and path. Lanes read and write side by side (gpu/pyramid/pyramid_kernels.h). Vertical paths
 *          read costs of two rows in 16 bytes.
 * Ranges:  gpu/stereo/sgm_path.cuh.
 * Shapes:  any size; 1 to SX_PYRAMID_SLOTS blocks a tile; 2, 4 or 8 paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid_walk.cuh"
#include "gpu/stereo/p2_table.cuh"
#include "gpu/stereo/winner.cuh"
#include "stages/stereo/census.h"
#include "stages/stereo/sgm.h"

#define WARPS 2
#define THREADS (32 * WARPS)
#define SPAN \
	8 /* pixels whose costs are fetched at a time: a tile of a vertical path, half of a horizontal one's */
#define QUAD 4			    /* pixels of a span that are walked without a branch */
#define PIECE 2			    /* pixels whose costs are copied at once on vertical paths */
#define SLOT_WORDS (PIECE * 32 * 2) /* costs of a slot of a piece: [pixel][lane] or [lane][pixel] cell rows */
/* A device with this number of paths' warps for each multiprocessor is busy with two lanes for a path. */
#define BUSY_WARPS 6

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/* Penalties: [1] for horizontal paths. */
struct path_work {
	struct sx_pyramid_view v;
	int p1[2], p2[2];
	const uint8_t *p2_table;
	int along, down; /* blocks of horizontal and of vertical paths */
	int diagonal;	 /* warps of one diagonal direction */
	int largest;	 /* the largest cost */
	bool no_view;	 /* a right column outside the image has the largest cost */
};

/* Returns the words of a piece of a span. */
template <int G> __host__ __device__ constexpr int piece_words()
{
	return sx_pyramid_lane_slots<G>() * SLOT_WORDS;
}

/* Returns the words of a span. */
template <int G> __host__ __device__ constexpr int span_words()
{
	return SPAN / PIECE * piece_words<G>();
}

/* Returns M of the cells of a pixel in a block, if the scale is crowded. Rare, so the code is short. */
template <typename Word>
__device__ __forceinline__ uint2 match_words(const struct path_work &w, int x, int y, int block)
{
	const int met = x - w.v.min_disparity - block * SX_SEARCH_BLOCK;
	const Word left = sx_pyramid_descriptor<Word>(w.v, 0, x, y);
	uint2 words = make_uint2(0, 0);

	if (!sx_pyramid_is_inside(w.v, x, y))
		return words;
#pragma unroll 1
	for (int d = 0; d < SX_SEARCH_BLOCK; d++) {
		const Word right = sx_pyramid_descriptor<Word>(w.v, 1, met - d, y);
		const bool hidden = w.no_view && (met - d < 0 || met - d >= w.v.width);
		const uint32_t m = hidden ? 0 : (uint32_t)w.largest - sx_pyramid_ones((Word)(left ^ right));
		const uint32_t byte = m << (d % 2 + d / 4 * 2) * 8;

		words.x += d & 2 ? 0 : byte;
		words.y += d & 2 ? byte : 0;
	}
	return words;
}

__device__ __forceinline__ uint2 match_of(const struct path_work &w, int x, int y, int block)
{
	return w.v.wide ? match_words<uint64_t>(w, x, y, block) : match_words<uint32_t>(w, x, y, block);
}

/*
 * A lane's way along a row or a column.
 * lists: of its first tile; lists_step: tiles to the next one. cost, path: place of the pixel of a tile that is
 * walked first, in the lane's first cell row in slot 0 of a volume; cost is not read if the scale is crowded.
 * cost_step, path_step: bytes to the next pixel of the way. skipped: pixels of the first tile that are not
 * walked.
 * grey: level of pixel 0, and bytes to the pixel with the next coordinate.
 * pixels: pixels of the way; length: pixels of a tile; across: the coordinate that does not change. sign: -1
 * if the way leads back, to the left or up, else 1.
 * meets: spans before the way enters pixels where its opposite has been.
 */
struct way {
	const struct sx_pyramid_list *lists;
	const uint8_t *cost, *grey;
	uint8_t *path;
	ptrdiff_t lists_step, grey_step;
	int cost_step, path_step, skipped, sign, pixels, length, across, meets;
	bool vertical, live, crowded;
};

template <int G>
__device__ __forceinline__ struct way find_way(const struct path_work &w, int block, bool vertical, bool back)
{
	const struct sx_pyramid_view &v = w.v;
	const int wide = vertical ? SX_SEARCH_TILE_WIDTH : SX_SEARCH_TILE_HEIGHT;
	const int all = (vertical ? v.tiles_x : v.tiles_y) * wide, paths = sx_pyramid_warp_paths<G>();
	const int path = block * paths + (int)threadIdx.x % paths, pixel = min(path, all - 1);
	const int last = back ? (vertical ? v.tiles_y : v.tiles_x) - 1 : 0; /* index of the first tile */
	const int q = vertical ? pixel / wide : last, j = vertical ? last : pixel / wide;
	const struct sx_pyramid_volumes volumes = sx_pyramid_volumes_of(v);
	const int sign = back ? -1 : 1, across = pixel % wide * SX_PYRAMID_ROW_BYTES;
	struct way way;

	way.vertical = vertical;
	way.live = path < all;
	way.sign = sign;
	way.lists = v.lists + j * v.tiles_x + q;
	way.lists_step = sign * (vertical ? v.tiles_x : 1);
	way.cost_step = sign * (vertical ? 1 : SX_SEARCH_TILE_HEIGHT) * SX_PYRAMID_ROW_BYTES;
	way.path_step = sign * wide * SX_PYRAMID_ROW_BYTES;
	way.pixels = vertical ? v.height : v.width;
	way.length = vertical ? SX_SEARCH_TILE_HEIGHT : SX_SEARCH_TILE_WIDTH;
	way.across = pixel;
	way.grey = v.grey[0] + (vertical ? (size_t)min(pixel, v.width - 1)
					 : (size_t)min(pixel, v.height - 1) * v.grey_pitch[0]);
	way.grey_step = vertical ? (ptrdiff_t)v.grey_pitch[0] : 1;

	/* a way back begins with the last pixel of a tile; on vertical paths, costs of two rows are copied at once */
	const int begin = back ? way.length - 1 : 0, lowest = back && vertical ? 1 : 0;

	way.crowded = !volumes.cost;
	way.cost = (way.crowded ? volumes.path : volumes.cost) +
		   across * (vertical ? SX_SEARCH_TILE_HEIGHT : 1) + (begin - lowest) * abs(way.cost_step);
	way.path = volumes.path + (size_t)sx_pyramid_volume(v, 2 * vertical + back) * volumes.bytes + across +
		   begin * abs(way.path_step);

	const int spans = (way.pixels + SPAN - 1) / SPAN, in_tile = way.length / SPAN;

	way.skipped = back ? (in_tile - 1 - (spans - 1) % in_tile) * SPAN : 0;
	way.meets = back ? spans - spans / 2 : spans / 2;
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

/* Returns F of step u in four bytes, and loads the level that the same step of the next quad needs. */
template <bool EDGES>
__device__ __forceinline__ uint32_t cut_of(struct edges *e, const struct way &way, int u, int pixel)
{
	if (!EDGES)
		return 0;
	const uint32_t cut = e->p2_table[abs(e->next[u] - e->before)];

	e->before = e->next[u];
	e->next[u] = grey_at(way, pixel + way.sign * QUAD);
	return cut;
}

/*
 * Place on the way, from which costs are fetched. cost: of the next pixel in the lane's first slot. slots:
 * N.
 */
struct place {
	struct sx_pyramid_list list, following;
	const struct sx_pyramid_list *at;
	const uint8_t *cost;
	int slots;
};

__device__ __forceinline__ struct sx_pyramid_list list_on(const struct way &way,
							  const struct sx_pyramid_list *at)
{
	return way.live ? sx_pyramid_list_of(at) : (struct sx_pyramid_list){};
}

/* Returns N of the tiles of a warp. */
template <int G> __device__ __forceinline__ int slots_of(uint64_t tile)
{
	const int most = (int)sx_warp_max((uint32_t)sx_pyramid_tile_count(tile));

	return most == 0 ? 1 : (most + G - 1) / G;
}

/* Returns the lane's first slot in a tile, bytes from the beginning of a volume. */
__device__ __forceinline__ size_t lane_cells(const struct place &p, int g)
{
	return (size_t)(p.list.first + (uint32_t)(g * p.slots)) * SX_PYRAMID_SLOT_BYTES;
}

/* Goes to the next tile. left: tiles that follow it. */
template <int G>
__device__ __forceinline__ void go_on(struct place *p, const struct way &way, int g, int left)
{
	p->list = p->following;
	p->at += way.lists_step;
	if (left > 0)
		p->following = list_on(way, p->at + way.lists_step);
	p->slots = slots_of<G>(p->list.tile);
	p->cost = way.cost + lane_cells(*p, g);
}

/*
 * Makes the costs of a lane's slot in a span, if the scale is crowded. pixel: the one of the span that is
 * walked first. block: of disparities, -1 for costs of 0. to: words of the slot in the first piece.
 */
template <int G>
__device__ __forceinline__ void make_span(const struct path_work &w, const struct way &way, int pixel,
					  int block, uint32_t *to)
{
	const int lane = (int)threadIdx.x % 32;

#pragma unroll 1
	for (int u = 0; u < SPAN; u++) {
		const int at = pixel + way.sign * u, x = way.vertical ? way.across : at,
			  y = way.vertical ? at : way.across;
		const int half = way.vertical && way.sign < 0 ? 1 - u % PIECE : u % PIECE;
		uint32_t *const words = to + u / PIECE * piece_words<G>() +
					(way.vertical ? 4 * lane + 2 * half : 64 * half + 2 * lane);

		*reinterpret_cast<uint2 *>(words) = block < 0 ? make_uint2(0, 0) : match_of(w, x, y, block);
	}
}

/*
 * Starts copying cell rows to shared memory, or zeroes if they do not exist. As sx_words_copy(), but without a
 * branch.
 */
template <int BYTES>
__device__ __forceinline__ void copy_cells(uint32_t *shared, const uint8_t *from, bool exist)
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	const uint32_t to = (uint32_t)__cvta_generic_to_shared(shared), bytes = exist ? BYTES : 0;

	if (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
			     : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes)
			     : "memory");
#else
	for (int i = 0; i < BYTES / SX_PYRAMID_ROW_BYTES; i++)
		reinterpret_cast<uint2 *>(shared)[i] =
			exist ? reinterpret_cast<const uint2 *>(from)[i] : make_uint2(0, 0);
#endif
}

/*
 * Fetches the costs of a span. pixel: the first pixel of the walk. to: the span's words in shared memory. The
 * slots of a piece lie side by side. In each slot every lane has one cell row for each pixel, after the cell
 * rows of the lanes before it.
 */
template <int G>
__device__ __forceinline__ void fetch_span(const struct path_work &w, const struct way &way, struct place *p,
					   int g, int pixel, uint32_t *to)
{
	const int lane = (int)threadIdx.x % 32, count = sx_pyramid_tile_count(p->list.tile) - g * p->slots;
	const uint8_t *const from = p->cost;
	uint32_t *const own = to + (way.vertical ? 4 : 2) * lane;

	p->cost += SPAN * way.cost_step;
	if (way.crowded) {
#pragma unroll 1
		for (int i = 0; i < p->slots; i++)
			make_span<G>(w, way, pixel,
				     i < count ? sx_pyramid_tile_block(p->list.tile, g * p->slots + i) : -1,
				     to + i * SLOT_WORDS);
		return;
	}
#pragma unroll
	for (int i = 0; i < sx_pyramid_lane_slots<G>(); i++) {
		if (i >= p->slots)
			break;
		const bool exists = i < count;
		const uint8_t *at = from + i * SX_PYRAMID_SLOT_BYTES;

		if (way.vertical) {
#pragma unroll
			for (int k = 0; k < SPAN / PIECE; k++, at += PIECE * way.cost_step)
				copy_cells<16>(own + k * piece_words<G>() + i * SLOT_WORDS, at, exists);
		} else {
#pragma unroll
			for (int u = 0; u < SPAN; u++, at += way.cost_step)
				copy_cells<8>(own + u / PIECE * piece_words<G>() + i * SLOT_WORDS +
						      u % PIECE * 64,
					      at, exists);
		}
	}
}

/*
 * Place of a span. match: costs of the first two pixels. to: cell row of the first pixel in the lane's first
 * slot. pixel: the first pixel of the walk. count: number of the lane's blocks.
 */
struct span {
	const uint32_t *match[PIECE];
	uint8_t *to;
	int pixel, count;
	bool entered;
};

/* Writes V of a slot, or adds it. The bytes of a sum do not overflow, so all are added at once. */
template <bool ADDS> __device__ __forceinline__ void put(uint8_t *to, uint2 words)
{
	if (ADDS)
		atomicAdd(reinterpret_cast<unsigned long long *>(to),
			  words.x | (unsigned long long)words.y << 32);
	else
		*reinterpret_cast<uint2 *>(to) = words;
}

/*
 * Walks a span. It may have pixels beyond the image, where M is 0. A way back begins there: V is P2 in all
 * cells until the first pixel of the image, which so has V = P2 + M, as at the start of a path.
 */
template <int G, int N, bool EDGES, bool ADDS>
__device__ __forceinline__ void walk_span(struct sx_pyramid_state<G> *s, const struct sx_pyramid_lane &lane,
					  struct edges *e, const struct way &way, const struct span &span)
{
	struct span q = span;

#pragma unroll 1
	for (int quad = 0; quad < SPAN / QUAD; quad++) {
#pragma unroll
		for (int u = 0; u < QUAD; u++) {
			const uint32_t cut = cut_of<EDGES>(e, way, u, q.pixel + way.sign * u);
			uint2 match[N];

#pragma unroll
			for (int i = 0; i < N; i++)
				match[i] = *reinterpret_cast<const uint2 *>(
					q.match[u % PIECE] + u / PIECE * piece_words<G>() + i * SLOT_WORDS);
			if (u > 0 || !q.entered)
				sx_pyramid_stay<G, N>(s, lane);
			sx_pyramid_step<G, N, EDGES>(s, lane, match, cut);
#pragma unroll
			for (int i = 0; i < N; i++)
				if (i < q.count)
					put<ADDS>(q.to + i * SX_PYRAMID_SLOT_BYTES, match[i]);
			q.to += way.path_step;
		}
		q.match[0] += QUAD / PIECE * piece_words<G>();
		q.match[1] += QUAD / PIECE * piece_words<G>();
		q.pixel += way.sign * QUAD;
		q.entered = false;
	}
}

/* N above the slots of a lane never occurs; its code is that of the most slots. */
template <int G, int N> __host__ __device__ constexpr int slots_at_most()
{
	return N < sx_pyramid_lane_slots<G>() ? N : sx_pyramid_lane_slots<G>();
}

template <int G, bool EDGES, bool ADDS>
__device__ __forceinline__ void walk_slots(struct sx_pyramid_state<G> *s, const struct sx_pyramid_lane &lane,
					   struct edges *e, const struct way &way, const struct span &q)
{
	if (s->slots == 1)
		walk_span<G, 1, EDGES, ADDS>(s, lane, e, way, q);
	else if (s->slots == 2 || G == 4)
		walk_span<G, slots_at_most<G, 2>(), EDGES, ADDS>(s, lane, e, way, q);
	else
		walk_span<G, slots_at_most<G, 3>(), EDGES, ADDS>(s, lane, e, way, q);
}

/* Walks the paths of a warp. ring: words of two spans. */
template <int G, bool EDGES>
__device__ __forceinline__ void walk(const struct path_work &w, const struct way &way,
				     const struct sx_pyramid_lane &lane, uint32_t *ring,
				     const uint32_t *p2_table)
{
	const int me = (int)threadIdx.x % 32, in_tile = way.length / SPAN;
	const int all = (way.pixels + SPAN - 1) / SPAN, begin = way.sign > 0 ? 0 : all - 1;
	const int match = way.vertical ? 4 * me : 2 * me, second = way.vertical ? 2 : 64;
	const bool swapped = way.vertical && way.sign < 0;
	int tiles = (way.pixels - 1) / way.length; /* that follow */
	int left = in_tile - way.skipped / SPAN;   /* spans of the tile that are not fetched yet */
	struct sx_pyramid_state<G> s;
	struct edges e;
	struct place p;
	struct span q;
	uint64_t last_tile;
	bool came = false; /* the span is the first one of its tile, but not of the way */

	p.at = way.lists;
	p.list = list_on(way, p.at);
	p.following = tiles > 0 ? list_on(way, p.at + way.lists_step) : p.list;
	p.slots = slots_of<G>(p.list.tile);
	p.cost = way.cost + lane_cells(p, lane.g) + way.skipped * way.cost_step;
	sx_pyramid_start<G>(&s, lane, p.list, p.slots);
	last_tile = p.list.tile;
	q.pixel = begin * SPAN + (way.sign > 0 ? 0 : SPAN - 1);
	q.to = way.path + lane_cells(p, lane.g) + way.skipped * way.path_step;
	q.count = sx_pyramid_tile_count(p.list.tile) - lane.g * p.slots;
	if (EDGES) {
		e.p2_table = p2_table;
#pragma unroll
		for (int u = 0; u < QUAD; u++)
			e.next[u] = grey_at(way, q.pixel + way.sign * u);
		e.before = e.next[0];
	}
	fetch_span<G>(w, way, &p, lane.g, q.pixel, ring);
	sx_words_commit();
#pragma unroll 1
	for (int n = 0, part = 0; part < 2; part++) {
		const bool adds = part && w.v.sums;

#pragma unroll 1
		for (; n < (part ? all : way.meets); n++) {
			const uint32_t *const words = ring + (n & 1) * span_words<G>() + match;

			q.match[0] = words + (swapped ? second : 0);
			q.match[1] = words + (swapped ? 0 : second);
			q.entered = false;
			if (came) {
				q.to = way.path + lane_cells(p, lane.g);
				q.count = sx_pyramid_tile_count(p.list.tile) - lane.g * p.slots;
				q.entered = __any_sync(SX_WARP_ALL_LANES, p.list.tile != last_tile);
				last_tile = p.list.tile;
				if (q.entered)
					sx_pyramid_enter<G>(&s, lane, p.list, p.slots);
				came = false;
			}
			if (n + 1 < all) {
				if (--left == 0) {
					go_on<G>(&p, way, lane.g, --tiles);
					left = in_tile;
					came = true;
				}
				fetch_span<G>(w, way, &p, lane.g, q.pixel + way.sign * SPAN,
					      ring + (~n & 1) * span_words<G>());
			}
			sx_words_commit();
			sx_words_wait<1>();
			if (adds)
				walk_slots<G, EDGES, true>(&s, lane, &e, way, q);
			else
				walk_slots<G, EDGES, false>(&s, lane, &e, way, q);
			q.pixel += way.sign * SPAN;
			q.to += SPAN * way.path_step;
		}
		/* the opposite way has written all pixels behind this point */
		__syncthreads();
	}
	sx_words_wait<0>();
}

template <int G, bool EDGES> __global__ void __launch_bounds__(THREADS) path_kernel(const struct path_work w)
{
	__shared__ __align__(16) uint32_t ring[WARPS][2 * span_words<G>()];
	__shared__ __align__(16) uint32_t turn[WARPS][sx_pyramid_turn_words<G>()];
	__shared__ uint32_t p2_table[2][EDGES ? SX_P2_TABLE_LEVELS : 1];
	const int warp = (int)threadIdx.x / 32, block = (int)blockIdx.x;
	const bool vertical = block >= w.along; /* the longest paths begin first */

	if (EDGES) {
		sx_p2_table_copy(p2_table[0], w.p2_table, 0, THREADS);
		sx_p2_table_copy(p2_table[1], w.p2_table, 1, THREADS);
	}
	const struct way way = find_way<G>(w, vertical ? block - w.along : block, vertical, warp > 0);
	struct sx_pyramid_lane lane;

	sx_pyramid_lane_init<G>(&lane, w.p1[!vertical], w.p2[!vertical], turn[warp]);
	walk<G, EDGES>(w, way, lane, ring[warp], p2_table[!vertical]);
}

/* Place of a lane on a diagonal. cost is NULL if the scale is crowded. to is NULL behind the end of the path. */
struct diagonal_step {
	const uint8_t *cost;
	uint8_t *to;
	uint64_t tile;
	int x, y;
	bool enters;
};

/* Steps of a diagonal, where each lane may enter another tile. */
template <int N, bool EDGES>
__device__ __forceinline__ void step_diagonal(struct sx_pyramid_state<1> *s,
					      const struct sx_pyramid_lane &lane, const struct path_work &w,
					      const struct diagonal_step &d, uint32_t cut)
{
	const int count = sx_pyramid_tile_count(d.tile);
	uint2 match[N];

#pragma unroll
	for (int i = 0; i < N; i++)
		match[i] = i >= count ? make_uint2(0, 0)
			   : d.cost   ? *reinterpret_cast<const uint2 *>(d.cost + i * SX_PYRAMID_SLOT_BYTES)
				      : match_of(w, d.x, d.y, sx_pyramid_tile_block(d.tile, i));
	if (!d.enters)
		sx_pyramid_stay<1, N>(s, lane);
	sx_pyramid_step<1, N, EDGES>(s, lane, match, cut);
#pragma unroll
	for (int i = 0; i < N; i++)
		if (d.to && i < count)
			put<false>(d.to + i * SX_PYRAMID_SLOT_BYTES, match[i]);
}

/* Walks diagonals: directions 4 to 7, right or left and down or up. */
template <bool EDGES> __global__ void __launch_bounds__(THREADS) diagonal_kernel(const struct path_work w)
{
	__shared__ __align__(16) uint32_t turn[WARPS][sx_pyramid_turn_words<1>()];
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
	const struct sx_pyramid_volumes volumes = sx_pyramid_volumes_of(w.v);
	int x = dx > 0 ? left : width - 1 - left, y = dy > 0 ? upper : height - 1 - upper;
	struct sx_pyramid_lane lane;
	struct sx_pyramid_state<1> s;
	uint64_t last = 0;
	int before = 0;

	if (EDGES)
		sx_p2_table_copy(p2_table, w.p2_table, 0, THREADS);
	if (direction >= 4)
		return;
	sx_pyramid_lane_init<1>(&lane, w.p1[0], w.p2[0], turn[threadIdx.x / 32]);
	uint8_t *const path = volumes.path + (size_t)sx_pyramid_volume(w.v, 4 + direction) * volumes.bytes;
	const int steps = (int)sx_warp_max((uint32_t)length);

#pragma unroll 1
	for (int i = 0; i < steps; i++) {
		const int q = x / SX_SEARCH_TILE_WIDTH, j = y / SX_SEARCH_TILE_HEIGHT;
		const struct sx_pyramid_list list =
			i < length ? sx_pyramid_list_at(w.v, q, j) : (struct sx_pyramid_list){};
		const int most =
			sx_warp_max((uint32_t)sx_pyramid_tile_count(list.tile)) <= 2 ? 2 : SX_PYRAMID_SLOTS;
		const int pixel = sx_pyramid_pixel(x % SX_SEARCH_TILE_WIDTH, y % SX_SEARCH_TILE_HEIGHT);
		const size_t at = sx_pyramid_cells(list) + (size_t)(pixel * SX_PYRAMID_ROW_BYTES);
		const int grey = EDGES ? w.v.grey[0][(size_t)y * w.v.grey_pitch[0] + (size_t)x] : 0;
		const uint32_t cut = EDGES && i > 0 ? p2_table[abs(grey - before)] : 0;
		const bool enters = __any_sync(SX_WARP_ALL_LANES, list.tile != last) && i > 0;
		const struct diagonal_step d = {volumes.cost ? volumes.cost + at : NULL,
						i < length ? path + at : NULL,
						list.tile,
						x,
						y,
						enters};

		before = grey;
		last = list.tile;
		if (i == 0)
			sx_pyramid_start<1>(&s, lane, list, most);
		if (enters)
			sx_pyramid_enter<1>(&s, lane, list, most);
		if (most == 2)
			step_diagonal<2, EDGES>(&s, lane, w, d, cut);
		else
			step_diagonal<SX_PYRAMID_SLOTS, EDGES>(&s, lane, w, d, cut);
		x += i + 1 < length ? dx : 0;
		y += i + 1 < length ? dy : 0;
	}
}

/* Lays out the paths of warps with this number of paths. Returns the number of blocks. */
int lay_out(struct path_work *w, int paths)
{
	const int rows = w->v.tiles_y * SX_SEARCH_TILE_HEIGHT, columns = w->v.tiles_x * SX_SEARCH_TILE_WIDTH;

	w->along = (rows + paths - 1) / paths;
	w->down = w->v.paths > 2 ? (columns + paths - 1) / paths : 0;
	w->diagonal = w->v.paths > 4 ? (w->v.width + w->v.height - 1 + 31) / 32 : 0;
	return w->along + w->down;
}

template <bool EDGES> void launch(struct path_work w, int sms, cudaStream_t stream)
{
	const int blocks = lay_out(&w, sx_pyramid_warp_paths<2>());

	if (w.v.slots <= SX_SEARCH_TILE_BLOCKS && WARPS * blocks >= BUSY_WARPS * sms) {
		SX_LAUNCH((path_kernel<2, EDGES>), (unsigned)blocks, THREADS, 0, stream, w);
	} else {
		const int more = lay_out(&w, sx_pyramid_warp_paths<4>());

		SX_LAUNCH((path_kernel<4, EDGES>), (unsigned)more, THREADS, 0, stream, w);
	}
	if (w.diagonal)
		SX_LAUNCH((diagonal_kernel<EDGES>), (unsigned)(4 * w.diagonal + WARPS - 1) / WARPS, THREADS,
			  0, stream, w);
}

} // namespace

extern "C" bool sx_pyramid_has_sums(const struct sx_stereo_params *p)
{
	return sx_winner_two_fit(p);
}

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
	w.largest = sx_cost_max(p->cost);
	w.no_view = p->out_of_view == SX_OUT_OF_VIEW_MAX;
	if (p2_table)
		launch<true>(w, sms, stream);
	else
		launch<false>(w, sms, stream);
	return SX_LAUNCHED();
}
