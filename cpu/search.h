/*
 * Pyramid search in the CPU engine: the scales of a context, their memory, and the order of their steps. The
 * results equal those of stages/pyramid/pyramid.h, byte for byte. Only cells that are searched have memory.
 *
 * Cells: a tile of a scale has a list of blocks. The matching costs of a tile are bytes [block][y][x][d], and
 * so is what the vertical and diagonal paths add to them. Tiles lie one after the other in order of reading.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_SEARCH_H
#define SX_CPU_SEARCH_H

#include "cpu/matcher.h"
#include "cpu/pool.h"
#include "stages/pyramid/pyramid.h"

#define SX_LIST_BLOCKS_MAX 7  /* blocks of a coarsest scale of 56 disparities; 6 on finer ones */
#define SX_COLUMNS_TOGETHER 2 /* columns of tiles of a task */
#define SX_TILE_ROW_BYTES (SX_SEARCH_TILE_WIDTH * SX_SEARCH_BLOCK)
#define SX_TILE_COLUMN_BYTES (SX_SEARCH_TILE_HEIGHT * SX_SEARCH_BLOCK)
#define SX_SUM_MARGIN 8 /* columns beside a tile in its sums */
#define SX_SUM_ROW ((SX_SEARCH_TILE_WIDTH + 2 * SX_SUM_MARGIN) * SX_SEARCH_TILE_HEIGHT) /* words */
#define SX_BLOCK_CELLS (SX_SEARCH_TILE_WIDTH * SX_SEARCH_TILE_HEIGHT * SX_SEARCH_BLOCK)

/* Blocks that a tile searches, in ascending order. at: number of blocks before its first one. */
struct sx_search_list {
	uint32_t at;
	uint8_t count, block[SX_LIST_BLOCKS_MAX];
};

struct sx_search_kernels;

/* A scale. */
struct sx_search_level {
	struct sx_pyramid_scale scale;
	const struct sx_search_kernels *kernels;
	struct sx_matcher
		m; /* matcher of its images; p.disparities: rounded up to whole vectors of every set */
	struct sx_matcher_frame f;
	int blocks;	 /* number of blocks of 8 disparities */
	int most_blocks; /* most blocks of a tile */
	bool is_coarsest;
	bool is_small;	/* the kernels of descriptors and costs need larger images */
	bool is_wide;	/* sums of excess costs of vertical and diagonal paths are words, not bytes */
	uint16_t *near; /* sx_pyramid_near(); NULL: scale 0 */
	struct sx_search_list *lists; /* the list of each tile */
	uint64_t *hits; /* bit b of a pixel: it hits block b of the next finer scale; NULL: scale 0 */
	/* bit i of a cell of block B: it hits block 2 B + i - 1 */
	uint8_t hit_pattern[SX_SEARCH_BLOCK];
	uint8_t *cost, *volume; /* bytes of the cells */
	struct sx_image tiles;	/* rows of this scale in SX_TAP_TILES */
};

/* Scratch of one worker. */
struct sx_search_scratch {
	struct sx_matcher_scratch matcher;
	int dense_rows;	  /* rows that sx_search_dense() computes at a time */
	uint8_t *turned;  /* costs of a row of tiles, [tile][block][x][y][d] */
	uint8_t *right;	  /* sums of the path to the right, or of both paths of rows; order as in turned */
	uint8_t *left;	  /* sums of the path to the left, unless right has them, too */
	uint8_t *turn[2]; /* cells of a block */
	uint8_t *state[SX_COLUMNS_TOGETHER]; /* [block] rows of a path */
	uint16_t *sum;			     /* S of one tile, see rows_kernel.h */
	/* least S of right columns and its column, [right column + disparities][y]; right_words each */
	uint16_t *best, *best_x;
	size_t right_words;
	uint16_t *groups[4]; /* sums of costs over groups: row Y is groups[Y % 4], [X][d] */
	uint16_t *none;	     /* a group of zeroes */
	uint16_t *strip;     /* sums over a strip, by disparity */
	uint8_t *votes[2];   /* votes of two rows of squares: row g is votes[g % 2], [square][block] */
	uint16_t *strength;  /* strength of the blocks of a row of tiles: [tile][block] */
};

struct sx_searcher {
	struct sx_pool *pool;
	int scales;
	struct sx_search_level level[SX_PYRAMID_SCALES_MAX];
	uint8_t *diagonal[2]; /* states of a diagonal path in a row: [tile][block] rows */
	size_t bytes;	      /* memory that the context owns */
	struct sx_search_scratch scratch[SX_POOL_THREADS_MAX];
};

/*
 * Creates the scales of a context. m: matcher of scale 0, sx_search_params(); it lives longer. p: resolved.
 * Returns 0 or -ENOMEM. sx_search_destroy() accepts NULL.
 */
int sx_search_create(struct sx_searcher **ret, struct sx_pool *pool, const struct sx_search_kernels *kernels,
		     const struct sx_matcher *m, const struct sx_stereo_params *p);
void sx_search_destroy(struct sx_searcher *s);

/* Returns the parameters of the matcher of a scale: disparities are whole vectors of every kernel set. */
struct sx_stereo_params sx_search_params(const struct sx_stereo_params *p);

/* Return the bytes of memory that contexts share: of cells, and of each worker. */
size_t sx_search_volume_bytes(const struct sx_searcher *s);
size_t sx_search_scratch_bytes(const struct sx_searcher *s);

/*
 * sx_search_begin() searches all scales but scale 0, chooses the tiles of scale 0 and sums what the vertical
 * and diagonal paths add to its cells. sx_search_finish() then finds its winners. f: images and descriptors
 * of scale 0, and the maps of the winners. tiles: SX_TAP_TILES, or data NULL. volume:
 * sx_search_volume_bytes(). scratch: memory of each worker, sx_search_scratch_bytes(). Thread: the running
 * job.
 */
void sx_search_begin(struct sx_searcher *s, const struct sx_matcher_frame *f, const struct sx_image *tiles,
		     uint8_t *volume, uint8_t *const scratch[]);
void sx_search_finish(struct sx_searcher *s);

/* Chooses the lists of scale k from the hits of the next coarser one (search_choose.c). */
void sx_search_choose(struct sx_searcher *s, int k);
/* Computes the costs of image rows y0 .. y1 - 1, at most dense_rows, of all disparities: [y][x][d]. */
const uint8_t *sx_search_dense(const struct sx_search_level *l, int y0, int y1, struct sx_search_scratch *s);

static inline int sx_search_tiles(const struct sx_search_level *l)
{
	return l->scale.tiles_x * l->scale.tiles_y;
}

static inline const struct sx_search_list *sx_search_list_at(const struct sx_search_level *l, int q, int j)
{
	return &l->lists[j * l->scale.tiles_x + q];
}

#endif
