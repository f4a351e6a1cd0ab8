/*
 * Slanted stixels on the GPU: a group of warps (a block) takes a column, if there are too few columns to give
 * every scheduler several warps. This file has the group's shared data and the work before the recurrence.
 *
 * Work:    one warp, the leader, processes the triangle of a block. Meanwhile the others, its next workers,
 *          process the next block: they share its squares, except for the tile that the leader has not
 *          finished, and fit the rows of its triangle, so that its leader only has to choose. Afterwards they
 *          share the missing tile. The best results of all of them are merged in one worker, which leads
 *          next. All warps synchronise twice per block. At last each warp describes some of the stixels.
 * Memory:  all tiles of the column in shared memory, with the scores. Sums over the rows below every
 *          SLANTED_MARK-th row, so that a worker can begin anywhere. Fits of two triangles. 30 KB and 102
 *          bytes per row, 96 bytes more with scores. The outcome of each row is in global scratch, as with
 *          one warp.
 * Ranges:  as SLANTED_SMALL_SUMS: the rows that a worker skips add exactly, so its sums equal the sums of
 *          one warp.
 * Shapes:  1 to SLANTED_SMALL rows, without classes or SLANTED_FEW.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_GROUP_CUH
#define SX_GPU_SLANTED_SLANTED_GROUP_CUH

#include "gpu/slanted/slanted_step.cuh"

#define SLANTED_WORKERS 4		    /* must divide SLANTED_ROWS */
#define SLANTED_GROUP (SLANTED_WORKERS + 1) /* warps */
#define SLANTED_MARK (SLANTED_ROWS / SLANTED_WORKERS)
#define SLANTED_TILES_MAX ((SLANTED_SMALL + SLANTED_ROWS - 1) / SLANTED_ROWS)

/*
 * Results of the workers for a block's triangle: fits with holes and scores. After them the rows need only
 * the costs of the segments below. Row r has entries for lanes r .. 31.
 */
#define SLANTED_FITS (SLANTED_ROWS * (SLANTED_ROWS + 1) / 2)
struct slanted_fits {
	float ground_a[SLANTED_FITS], ground_b[SLANTED_FITS], ground[SLANTED_FITS];
	float object_a[SLANTED_FITS], object[SLANTED_FITS], sky[SLANTED_FITS];
};

/* Data for going back: the outcome of every row, and the stixels of the column from the top. */
struct slanted_stixel {
	uint16_t v_bottom, v_top;
	int kind;
};

struct slanted_back {
	struct slanted_final final[SLANTED_SMALL];
	struct slanted_stixel stixel[SLANTED_SMALL];
	int stixels;
};

/* Shared memory of a warp group. Marks, tiles and the sums of slots follow it. */
struct __align__(16) slanted_meeting
{
	struct slanted_column_place place;
	union {
		struct {
			/* results of the workers that do not lead next */
			struct slanted_best best[SLANTED_WORKERS - 1][SLANTED_ROWS];
			struct slanted_fits fits[2]; /* fits of two blocks, alternating */
		} blocks;
		float scores[SLANTED_TILES_MAX][SLANTED_FEW_SLOTS]; /* used first: sums over each tile */
		struct slanted_back back;			    /* used last */
	};
};

struct slanted_group {
	struct slanted_meeting *meeting;
	struct slanted_carry *mark; /* [tiles * SLANTED_WORKERS + 1]: sums over the rows below */
	struct slanted_tile *tile;
	float4 *sums; /* [tiles * SLANTED_ROWS + 1][slots / 4] */
	int warp, tiles;
};

static __host__ __device__ int slanted_tiles(int rows)
{
	return (rows + SLANTED_ROWS - 1) / SLANTED_ROWS;
}

static __host__ __device__ size_t slanted_marks_bytes(int tiles)
{
	return ((size_t)(tiles * SLANTED_WORKERS + 1) * sizeof(struct slanted_carry) + 15) / 16 * 16;
}

static __host__ __device__ size_t slanted_group_bytes(int rows, int slots)
{
	const int tiles = slanted_tiles(rows);

	return sizeof(struct slanted_meeting) + slanted_marks_bytes(tiles) +
	       (size_t)tiles * sizeof(struct slanted_tile) +
	       (size_t)(tiles * SLANTED_ROWS + 1) * (size_t)slots * sizeof(float);
}

SLANTED_INLINE struct slanted_group slanted_group_in(unsigned char *shared, int rows, int warp)
{
	struct slanted_group t;

	t.tiles = slanted_tiles(rows);
	t.warp = warp;
	t.meeting = (struct slanted_meeting *)shared;
	t.mark = (struct slanted_carry *)(t.meeting + 1);
	t.tile = (struct slanted_tile *)((unsigned char *)t.mark + slanted_marks_bytes(t.tiles));
	t.sums = (float4 *)(t.tile + t.tiles);
	return t;
}

template <enum slanted_classes CLASSES>
SLANTED_INLINE struct slanted_column slanted_at_tile(const struct slanted_arguments &a,
						     const struct slanted_column &c,
						     const struct slanted_group &t, int tile)
{
	struct slanted_column r = c;

	r.tile = t.tile + tile;
	r.tile_sums = t.sums + tile * SLANTED_ROWS * slanted_words<CLASSES>(a.slots);
	return r;
}

/* ---- before the recurrence: all tiles, marks and sums of scores ---------------------------------------- */

/* Sets the marks of a tile, at first over the tile's own rows only. */
SLANTED_INLINE void slanted_set_marks(const struct slanted_arguments &a, const struct slanted_column &c,
				      const struct slanted_group &t, int tile, bool scored)
{
	struct slanted_carry none = slanted_carry();
	struct slanted_tops tops;

	none.origin = -1;
	tops = slanted_scan_block(a, c, tile * SLANTED_ROWS, scored, none);
	if (c.lane % SLANTED_MARK == SLANTED_MARK - 1)
		t.mark[tile * SLANTED_WORKERS + (c.lane + 1) / SLANTED_MARK] = slanted_carry_of(tops);
	if (tile == 0 && c.lane == 0)
		t.mark[0] = none;
}

/* Sets the tile's sums of scores up to each row, at first over the tile's own rows only. A lane is a row. */
SLANTED_INLINE void slanted_set_sums(const struct slanted_arguments &a, const struct slanted_column &c,
				     const struct slanted_group &t, int tile)
{
	const int v = tile * SLANTED_ROWS + c.lane;
	const uint8_t *scores = a.scores + (size_t)c.u * a.scores_pitch + (v < a.rows ? v : 0) * a.classes;
	float4 *to = t.sums + (v + 1) * (SLANTED_FEW_SLOTS / 4);

#pragma unroll 2
	for (int word = 0; word < SLANTED_FEW_SLOTS / 4; word++) {
		float sum[4];

#pragma unroll
		for (int i = 0; i < 4; i++) {
			const int k = c.lookup->slots.class_of[4 * word + i];
			const uint16_t *score = slanted_score_table(c.lookup, 4 * word + i);

			sum[i] = (float)score[k == SLANTED_NO_CLASS ? 0 : scores[k]];
			sum[i] = sx_warp_prefix(sum[i], c.lane);
		}
		if (v < a.rows)
			to[word] = make_float4(sum[0], sum[1], sum[2], sum[3]);
		if (c.lane == SLANTED_ROWS - 1)
			for (int i = 0; i < 4; i++)
				t.meeting->scores[tile][4 * word + i] = sum[i];
	}
}

/* Turns sums over tiles into sums over all tiles before. */
SLANTED_INLINE void slanted_carry_sums(const struct slanted_column &c, const struct slanted_group &t)
{
	float before = 0.0f;

	if (c.lane >= SLANTED_FEW_SLOTS)
		return;
	for (int tile = 0; tile < t.tiles; tile++) {
		const float own = t.meeting->scores[tile][c.lane];

		t.meeting->scores[tile][c.lane] = before;
		before += own;
	}
}

/*
 * Adds the sums of the tiles before to the tile's sums, and stores them in global memory, where going back
 * reads them.
 */
SLANTED_INLINE void slanted_finish_sums(const struct slanted_arguments &a, const struct slanted_column &c,
					const struct slanted_group &t, int tile)
{
	const int words = SLANTED_FEW_SLOTS / 4, first = tile * SLANTED_ROWS;
	const int rows = a.rows - first < SLANTED_ROWS ? a.rows - first : SLANTED_ROWS;
	float4 *own = t.sums + (first + 1) * words, *to = (float4 *)slanted_scores_of(a, c, first + 1);

	for (int i = c.lane; i < rows * words; i += SLANTED_ROWS) {
		const float4 before = ((const float4 *)t.meeting->scores[tile])[i % words];
		float4 x = own[i];

		x = make_float4(x.x + before.x, x.y + before.y, x.z + before.z, x.w + before.w);
		own[i] = x;
		to[i] = x;
	}
	if (tile == 0 && c.lane < words)
		t.sums[c.lane] = ((float4 *)slanted_scores_of(a, c, 0))[c.lane] =
			make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

SLANTED_INLINE void slanted_add(struct slanted_totals *s, const struct slanted_totals &t, int64_t sign)
{
	s->n += sign * t.n;
	s->x += sign * t.x;
	s->xx += sign * t.xx;
	s->e += sign * t.e;
	s->xe += sign * t.xe;
	s->ee += sign * t.ee;
	s->w += sign * t.w;
	s->d += sign * t.d;
	s->dd += sign * t.dd;
	s->sky += sign * t.sky;
}

/* Returns a mark that includes the rows of all tiles before its own. */
SLANTED_INLINE struct slanted_carry slanted_whole_mark(const struct slanted_group &t, int i)
{
	struct slanted_carry r = t.mark[i];

	for (int j = SLANTED_WORKERS; j < i; j += SLANTED_WORKERS) {
		slanted_add(&r.totals, t.mark[j].totals, 1);
		r.holes += t.mark[j].holes;
		r.origin = t.mark[j].origin > r.origin ? t.mark[j].origin : r.origin;
	}
	return r;
}

template <enum slanted_classes CLASSES>
SLANTED_INLINE void slanted_group_prepare(const struct slanted_arguments &a, const struct slanted_column &c,
					  const struct slanted_group &t, bool scored)
{
	const int i = t.warp * SLANTED_ROWS + c.lane, marks = t.tiles * SLANTED_WORKERS + 1;
	struct slanted_carry mark;

	for (int tile = t.warp; tile < t.tiles; tile += SLANTED_GROUP) {
		const struct slanted_column at = slanted_at_tile<CLASSES>(a, c, t, tile);

		slanted_load_rows(a, at, tile * SLANTED_ROWS, 0, scored);
		slanted_set_marks(a, at, t, tile, scored);
		if (scored)
			slanted_set_sums(a, at, t, tile);
	}
	__syncthreads();
	if (i < marks)
		mark = slanted_whole_mark(t, i);
	if (scored && t.warp == SLANTED_WORKERS)
		slanted_carry_sums(c, t);
	__syncthreads();
	if (i < marks)
		t.mark[i] = mark;
	for (int tile = t.warp; scored && tile < t.tiles; tile += SLANTED_GROUP)
		slanted_finish_sums(a, c, t, tile);
	__syncthreads();
}

#endif
