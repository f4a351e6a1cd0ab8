/*
 * The matcher of the CPU engine: parameters and buffers of its kernels (cpu/kernel_sets.h). Results equal
 * the results of stages/stereo/census.h, sgm.h, winner.h, median.h and left_right.h, byte for byte.
 *
 * How S is computed. The excess cost of a path is E = L - C, 0..P2, so S = paths * C + sum of E.
 *   1. sgm_band(): runs the vertical (and diagonal) paths down, then up. It works in bands of a few columns,
 *      whose cost and E stay in the second-level cache. The sum of E of these paths goes to the volume: one
 *      byte per cell, or two if paths * P2 exceeds a byte.
 *   2. winner_row(): computes for one row the cost again, E of the left-to-right and right-to-left paths, S
 *      and the winner, while the row is in cache. S is not stored.
 * If sums of two paths fit a byte, as with the default penalties, the kernels sum similarities instead: what
 * L falls short of a bound, see cpu/kernels/similarity_kernel.h. FastDT computes S in another way, see
 * cpu/fastdt.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MATCHER_H
#define SX_CPU_MATCHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "cpu/fastdt.h"
#include "stages/params/params.h"

#define SX_MATCHER_ALIGNMENT 64 /* bytes */
/* Bytes that vector code may read or write before and after a row. */
#define SX_MATCHER_MARGIN 128
#define SX_MATCHER_DISPARITIES_MAX 256
#define SX_MATCHER_SIMILARITY_DISPARITIES 128 /* largest number of disparities with SX_VOLUME_SIMILARITY */
#define SX_MATCHER_SIMILARITY_COLUMNS 64      /* columns of a band */
#define SX_MATCHER_SIMILARITY_ROWS 2 /* rows that are processed together, to hide each other's latency */
#define SX_MATCHER_TILE 16	     /* columns whose zncc costs are computed together */

enum sx_volume {
	SX_VOLUME_NONE,	     /* no volume: 2 paths, only horizontal */
	SX_VOLUME_BYTES,     /* [y][x][d] */
	SX_VOLUME_WORDS,     /* [y][x][d], words times weight, in vw2 order within VEC_BYTES cells */
	SX_VOLUME_SIMILARITY /* [y][x], disparities interleaved: cpu/kernels/similarity_kernel.h */
};

/* Direction of a family of bands: number of columns that a band moves to the right from row to row. */
enum sx_shear { SX_SHEAR_DOWN = 0, SX_SHEAR_RIGHT = 1, SX_SHEAR_LEFT = -1 };

struct sx_matcher_kernels;

/* Geometry and parameters; constant while a context exists. */
struct sx_matcher {
	const struct sx_matcher_kernels *kernels;
	struct sx_stereo_params p;
	int width, height;
	int cost_max;
	enum sx_volume volume_kind;
	/* words hold S << word_bits; a block has 1 << word_bits columns, whose numbers are the low bits */
	int word_bits;
	int band_columns;   /* columns of a band of sgm_band() */
	int planes;	    /* planes of a descriptor, VEC_PLANE_BITS each */
	int residues;	    /* parts of a plane: 1; for similarities: disparities / VEC_BYTES */
	size_t plane_pitch; /* pitch of a part */
	/* plane_pitch bytes: 0xff if the right column is outside the image; NULL: all zero */
	uint8_t *out_of_view;
	/* members for SGM */
	/*
	 * Limit for rivals. Indexed by S0: words below the limit are rivals. With similarities, indexed by
	 * their sum: sums above the limit are rivals.
	 */
	uint16_t *rival_limit;
	/*
	 * For similarities: largest sum of similarities and largest S. similarity_rank: 127 - d by place.
	 * similarity_place[d + 1]: place of disparity d. The entries at both ends are repeated beside them.
	 */
	int similarity_most;
	uint8_t similarity_rank[SX_MATCHER_SIMILARITY_DISPARITIES],
		similarity_place[SX_MATCHER_SIMILARITY_DISPARITIES + 2];
	/*
	 * with p2_edge: P2 by difference of grey levels, for vertical and diagonal paths and for horizontal
	 * paths
	 */
	uint8_t edge_p2[2][256];
	/* members for FastDT */
	int32_t weights[256];	     /* weights by difference of grey levels */
	uint64_t uniqueness_inverse; /* 2^40 / uniqueness, rounded up */
};

/* State of the paths up with similarities, in the row that they have reached in each column. */
struct sx_matcher_up {
	/* similarity: width x disparities; least: 255 minus the greatest similarity of each column */
	uint8_t *similarity, *least;
	struct sx_matcher_walked {
		_Atomic int columns; /* columns that a task has finished */
		char alone[60];	     /* padding to a cache line */
	} * walked;		     /* one per task: sx_matcher_row_tasks() */
};

/* Buffers of a frame. planes: right descriptors, see sx_matcher_planes_bytes(). */
struct sx_matcher_frame {
	struct sx_image grey[2], census[2];
	uint8_t *planes;
	void *volume;
	struct sx_fastdt_maps maps;
	struct sx_matcher_up up;
	/* 64-byte aligned. For zncc: costs [y][x][d]. Other methods compute costs where they need them. */
	uint8_t *costs;
	struct sx_image winner, winner_right, confidence;
	struct sx_image sum; /* data is NULL if S is not kept */
};

/* Buffers of zncc_words_rows and zncc_rows. Their content: cpu/kernels/zncc_kernel.h. */
struct sx_matcher_zncc {
	int32_t *column_sum, *column_square; /* sums by column, with window / 2 more columns at both ends */
	int32_t *sum, *variance;
	int32_t *left, *right; /* rows of left_pitch and right_pitch values */
	size_t left_pitch, right_pitch;
	int32_t *left_sum, *right_sum, *left_inverse, *right_inverse;
	int32_t *products, *window;
	uint8_t *tile;
};

/* Scratch of one worker. Vector code may access up to SX_MATCHER_MARGIN bytes past the ends. */
struct sx_matcher_scratch {
	uint8_t *memory; /* the allocated memory */
	/* byte planes of one row, for census_rows */
	uint8_t *bytes;
	uint8_t *turned; /* plane before it is split into parts; used with similarities */
	/* members for sgm_band */
	uint8_t *cost, *down; /* band_columns x height x disparities; for similarities: cost of 4 columns */
	uint8_t *state;	      /* two rows of band_columns x (disparities + 2 margins) */
	/* members for winner_row */
	uint8_t *row_cost, *row_right; /* cost, and E of the left-to-right path: width x disparities */
	uint8_t *block_left;	       /* E of the right-to-left path: two blocks x disparities */
	uint16_t *block_sum;	       /* words of two blocks, rows of sum_pitch words with margins */
	uint16_t *right_sum, *right_x; /* least S and its column by right column, from right to left */
	uint16_t *s0, *side_low, *side_high, *d0; /* values by column; bit 15 of d0: not unique */
	struct sx_fastdt_scratch fastdt;
	struct sx_matcher_zncc zncc;
};

/* Initialises m. p: checked parameters. Returns 0 or -ENOMEM. finish accepts a zeroed struct. */
int sx_matcher_init(struct sx_matcher *m, const struct sx_matcher_kernels *k,
		    const struct sx_stereo_params *p, int width, int height);
void sx_matcher_finish(struct sx_matcher *m);
size_t sx_matcher_bytes(const struct sx_matcher *m); /* bytes that init allocated */

size_t sx_matcher_volume_bytes(const struct sx_matcher *m);
size_t sx_matcher_costs_bytes(const struct sx_matcher *m); /* bytes of the frame's costs */
size_t sx_matcher_planes_bytes(const struct sx_matcher *m);
size_t sx_matcher_scratch_bytes(const struct sx_matcher *m);
/*
 * Lays s out in memory of that size, 64-byte aligned, and writes the constants that the kernels expect there.
 */
void sx_matcher_scratch_init(struct sx_matcher_scratch *s, const struct sx_matcher *m, uint8_t *memory);

/* Returns the rows that row_cost holds with pyramid search; zncc sums the windows of rows one after another. */
int sx_matcher_dense_rows(const struct sx_matcher *m);

size_t sx_matcher_maps_bytes(const struct sx_matcher *m); /* bytes of maps or up */
void sx_matcher_maps_init(struct sx_matcher_frame *f, const struct sx_matcher *m, uint8_t *memory);

/* Rounds the bytes of a block up, so that the next block is aligned. */
static inline size_t sx_matcher_padded(size_t bytes)
{
	return (bytes + SX_MATCHER_ALIGNMENT - 1) / SX_MATCHER_ALIGNMENT * SX_MATCHER_ALIGNMENT;
}

/* Takes bytes of memory at *used. If memory is NULL, only counts. */
static inline void *sx_matcher_take(uint8_t *memory, size_t *used, size_t bytes)
{
	void *p = memory ? memory + *used : NULL;

	*used += sx_matcher_padded(bytes);
	return p;
}

/*
 * SGM. A frame calls, in this order: sx_matcher_band() for each family of paths, with i below
 * sx_matcher_bands() (the first family writes the volume); sx_matcher_rows_begin(); sx_matcher_rows() with i
 * below sx_matcher_row_tasks().
 */
int sx_matcher_bands(const struct sx_matcher *m, enum sx_shear shear);
void sx_matcher_band(const struct sx_matcher *m, const struct sx_matcher_frame *f, enum sx_shear shear, int i,
		     bool first, struct sx_matcher_scratch *s);
int sx_matcher_row_tasks(const struct sx_matcher *m);
void sx_matcher_rows_begin(const struct sx_matcher *m, const struct sx_matcher_frame *f);
void sx_matcher_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
		     struct sx_matcher_scratch *s);

/*
 * Returns the words of a row of block_sum. It includes room for windows that start before or end after the
 * disparities.
 */
static inline size_t sx_matcher_sum_pitch(const struct sx_matcher *m)
{
	return (size_t)m->p.disparities + 2 * SX_MATCHER_MARGIN / sizeof(uint16_t);
}

static inline size_t sx_matcher_state_pitch(const struct sx_matcher *m)
{
	return (size_t)m->p.disparities + 2 * SX_MATCHER_MARGIN;
}

#endif
