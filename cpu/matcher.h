/*
 * The matcher of the cpu engine: what its kernels (cpu/kernel_sets.h) compute with, and on. Results equal
 * stages/stereo/census.h, sgm.h, winner.h, median.h and left_right.h byte for byte.
 *
 * How S is made. The excess cost of a path is E = L - C, 0..P2, so that S = paths * C + sum of E.
 *   1. sgm_band(): the vertical (and diagonal) paths, in bands of a few columns whose cost and E stay in the
 *      second-level cache: down, then up; sum of E of these paths goes to the volume, one byte a cell, or two
 *      when paths * P2 exceeds a byte.
 *   2. winner_row(): cost again, E of the left-to-right and right-to-left paths, S and the winner of one row,
 *      all while the row is in cache. S is kept nowhere.
 * Where sums of two paths fit a byte, as with the default penalties, L itself is summed, as what it falls
 * short of a bound: cpu/kernels/gain_kernel.h. fastdt makes S otherwise: cpu/fastdt.h.
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
/* Bytes that vector code may touch before and after a row. */
#define SX_MATCHER_MARGIN 128
#define SX_MATCHER_DISPARITIES_MAX 256
#define SX_MATCHER_GAIN_DISPARITIES 128 /* at most, of SX_VOLUME_GAINS */
#define SX_MATCHER_GAIN_COLUMNS 64	/* of a band */
#define SX_MATCHER_GAIN_ROWS 2		/* that are in work together, to hide each other's latency */
#define SX_MATCHER_TILE 16		/* columns whose costs of zncc are made together */

enum sx_volume {
	SX_VOLUME_NONE,	 /* 2 paths: only horizontal ones */
	SX_VOLUME_BYTES, /* [y][x][d] */
	SX_VOLUME_WORDS, /* [y][x][d], words times weight, in vw2 order within VEC_BYTES cells */
	SX_VOLUME_GAINS	 /* [y][x], disparities interleaved: cpu/kernels/gain_kernel.h */
};

/* Direction of a family of bands: how many columns a band moves to the right from row to row. */
enum sx_shear { SX_SHEAR_DOWN = 0, SX_SHEAR_RIGHT = 1, SX_SHEAR_LEFT = -1 };

struct sx_matcher_kernels;

/* Geometry and parameters; fixed while a context lives. */
struct sx_matcher {
	const struct sx_matcher_kernels *kernels;
	struct sx_stereo_params p;
	int width, height;
	int cost_max;
	enum sx_volume volume_kind;
	int word_bits; /* words hold S << word_bits; a block of 1 << word_bits columns shares its low bits */
	int band_columns;     /* columns of a band of sgm_band() */
	int planes;	      /* planes of a descriptor, VEC_PLANE_BITS each */
	int residues;	      /* parts that a plane lies in: 1; gains: disparities / VEC_BYTES */
	size_t plane_pitch;   /* of a part */
	uint8_t *out_of_view; /* plane_pitch bytes: 0xff where the right column is outside; NULL for zero */
	/* sgm */
	uint16_t *rival_limit; /* by S0: words below this are rivals; gains: by their sum, sums above it */
	/* gains: sum of gains and S, 127 - d by place, and places of d - 1, the ends' own beside them */
	int gain_most;
	uint8_t gain_rank[SX_MATCHER_GAIN_DISPARITIES], gain_place[SX_MATCHER_GAIN_DISPARITIES + 2];
	/* with p2_edge: P2 by difference of grey levels, of vertical and diagonal and of horizontal paths */
	uint8_t edge_p2[2][256];
	/* fastdt */
	int32_t weights[256];	     /* by difference of grey levels */
	uint64_t uniqueness_inverse; /* 2^40 / uniqueness, rounded up */
};

/* gains: the way up, of the row that it has reached in each column. */
struct sx_matcher_up {
	uint8_t *gain, *least; /* width x disparities; 255 less the greatest, by column */
	struct sx_matcher_walked {
		_Atomic int columns; /* that a task has left behind */
		char alone[60];	     /* in its line */
	} * walked;		     /* sx_matcher_row_tasks() */
};

/* Buffers of a frame; planes: right descriptors, see sx_matcher_planes_bytes(). */
struct sx_matcher_frame {
	struct sx_image grey[2], census[2];
	uint8_t *planes;
	void *volume;
	struct sx_fastdt_maps maps;
	struct sx_matcher_up up;
	/* 64-byte aligned. zncc: costs [y][x][d]; the others make them where they need them */
	uint8_t *costs;
	struct sx_image winner, winner_right, confidence;
	struct sx_image sum; /* data NULL: S is not kept */
};

/* zncc_words_rows and zncc_rows; what is in them: cpu/kernels/zncc_kernel.h. */
struct sx_matcher_zncc {
	int32_t *column_sum, *column_square; /* by column, window / 2 more at both ends */
	int32_t *sum, *variance;
	int32_t *left, *right; /* rows of left_pitch and right_pitch values */
	size_t left_pitch, right_pitch;
	int32_t *left_sum, *right_sum, *left_inverse, *right_inverse;
	int32_t *products, *window;
	uint8_t *tile;
};

/* One per worker. Vector code may run past the ends by SX_MATCHER_MARGIN. */
struct sx_matcher_scratch {
	uint8_t *memory; /* what is allocated */
	/* census_rows: byte planes of one row */
	uint8_t *bytes;
	uint8_t *turned; /* gains: a plane before it is parted */
	/* sgm_band */
	uint8_t *cost, *down; /* band_columns x height x disparities; gains: cost of 4 columns */
	uint8_t *state;	      /* two rows of band_columns x (disparities + 2 margins) */
	/* winner_row */
	uint8_t *row_cost, *row_right; /* cost, E of the left-to-right path: width x disparities */
	uint8_t *block_left;	       /* E of the right-to-left path: two blocks x disparities */
	uint16_t *block_sum;	       /* words of two blocks, rows of sum_pitch words with margins */
	uint16_t *right_sum, *right_x; /* least S and its column by right column, from right to left */
	uint16_t *s0, *side_low, *side_high, *d0; /* by column; bit 15 of d0: not unique */
	struct sx_fastdt_scratch fastdt;
	struct sx_matcher_zncc zncc;
};

/* p: checked parameters. -ENOMEM. finish accepts a zeroed one. */
int sx_matcher_init(struct sx_matcher *m, const struct sx_matcher_kernels *k,
		    const struct sx_stereo_params *p, int width, int height);
void sx_matcher_finish(struct sx_matcher *m);
size_t sx_matcher_bytes(const struct sx_matcher *m); /* what init took */

size_t sx_matcher_volume_bytes(const struct sx_matcher *m);
size_t sx_matcher_costs_bytes(const struct sx_matcher *m); /* of frame's costs */
size_t sx_matcher_planes_bytes(const struct sx_matcher *m);
size_t sx_matcher_scratch_bytes(const struct sx_matcher *m);
/* Lays s out in memory of that size, 64-byte aligned, and fills what the kernels expect there. */
void sx_matcher_scratch_init(struct sx_matcher_scratch *s, const struct sx_matcher *m, uint8_t *memory);

size_t sx_matcher_maps_bytes(const struct sx_matcher *m); /* of maps or up */
void sx_matcher_maps_init(struct sx_matcher_frame *f, const struct sx_matcher *m, uint8_t *memory);

/* Bytes of a block, so that the next one is aligned. */
static inline size_t sx_matcher_padded(size_t bytes)
{
	return (bytes + SX_MATCHER_ALIGNMENT - 1) / SX_MATCHER_ALIGNMENT * SX_MATCHER_ALIGNMENT;
}

/* Takes bytes of memory at *used, or only counts when memory is NULL. */
static inline void *sx_matcher_take(uint8_t *memory, size_t *used, size_t bytes)
{
	void *p = memory ? memory + *used : NULL;

	*used += sx_matcher_padded(bytes);
	return p;
}

/*
 * sgm: a frame is sx_matcher_band(), i below sx_matcher_bands(), for each family of paths, the first of which
 * writes the volume; then sx_matcher_rows_begin() and sx_matcher_rows(), i below sx_matcher_row_tasks(), in
 * this order.
 */
int sx_matcher_bands(const struct sx_matcher *m, enum sx_shear shear);
void sx_matcher_band(const struct sx_matcher *m, const struct sx_matcher_frame *f, enum sx_shear shear, int i,
		     bool first, struct sx_matcher_scratch *s);
int sx_matcher_row_tasks(const struct sx_matcher *m);
void sx_matcher_rows_begin(const struct sx_matcher *m, const struct sx_matcher_frame *f);
void sx_matcher_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
		     struct sx_matcher_scratch *s);

/* Words of a row of block_sum: room for windows that start before or end after the disparities. */
static inline size_t sx_matcher_sum_pitch(const struct sx_matcher *m)
{
	return (size_t)m->p.disparities + 2 * SX_MATCHER_MARGIN / sizeof(uint16_t);
}

static inline size_t sx_matcher_state_pitch(const struct sx_matcher *m)
{
	return (size_t)m->p.disparities + 2 * SX_MATCHER_MARGIN;
}

#endif
