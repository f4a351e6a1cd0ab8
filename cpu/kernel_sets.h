/*
 * Kernel sets: one set for each instruction set, and the function that chooses one. Kernel bodies are written
 * once (cpu/kernels/) on vectors of a common interface (cpu/vec/). They are compiled once per instruction set
 * (matcher_*.c, segment_*.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNEL_SETS_H
#define SX_CPU_KERNEL_SETS_H

#include "cpu/matcher.h"
#include "cpu/slanted.h"
#include "cpu/stixel_dp.h"
#include "stages/motion/by.h"
#include "stages/stereo/chance.h"
#include "stages/stixels/reduce.h"

/* Kernels from images to the disparity map. */
struct sx_matcher_kernels {
	int bytes, plane_bits; /* bytes: of a vector; plane_bits: of a piece of a descriptor (vec_*.h) */
	/* Computes the descriptors of rows [y0, y1) of side 0 (left) or 1 (right). */
	void (*census_rows)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int side, int y0,
			    int y1, struct sx_matcher_scratch *s);
	/*
	 * For zncc costs: zncc_words_rows computes the words of sx_zncc_windows() in rows [y0, y1) of a side.
	 * zncc_rows then computes the costs of rows from both sides.
	 */
	void (*zncc_words_rows)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int side,
				int y0, int y1, struct sx_matcher_scratch *s);
	void (*zncc_rows)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y0, int y1,
			  struct sx_matcher_scratch *s);
	/*
	 * sgm_band processes band i of 0 .. sx_matcher_bands()-1; first: it writes the volume, else it adds
	 * to it. winner_row finds the winners of row y.
	 */
	void (*sgm_band)(const struct sx_matcher *m, const struct sx_matcher_frame *f, enum sx_shear shear,
			 int i, bool first, struct sx_matcher_scratch *s);
	void (*winner_row)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			   struct sx_matcher_scratch *s);
	/*
	 * Replace sgm_band and winner_row with SX_VOLUME_SIMILARITY. similarity_band processes band i.
	 * similarity_rows finds the winners of group i of SX_MATCHER_SIMILARITY_ROWS rows, counted from the
	 * image's lower end.
	 */
	void (*similarity_band)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
				struct sx_matcher_scratch *s);
	void (*similarity_rows)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
				struct sx_matcher_scratch *s);
	/*
	 * FastDT, see cpu/fastdt.h: computes row y; the columns of task i; band i; the winners of row y from
	 * the results of all workers.
	 */
	void (*fastdt_row)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			   struct sx_matcher_scratch *s);
	void (*fastdt_planes)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i);
	void (*fastdt_band)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
			    struct sx_matcher_scratch *s);
	void (*fastdt_winners)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			       const struct sx_matcher_scratch *workers, int count);
	/* computes the same as sx_chance_sum_row() (stages/stereo/chance.h) */
	void (*chance_sum_row)(const struct sx_image *winner, const struct sx_image descriptor[2],
			       int min_disparity, int row, struct sx_chance_sums *sums);
	/* Filters of rows [y0, y1). No output image may be an input image. */
	void (*median_rows)(const struct sx_image *src, const struct sx_image *dst,
			    enum sx_median_border border, int y0, int y1);
	void (*left_right_rows)(const struct sx_image *left, const struct sx_image *right,
				const struct sx_image *dst, const struct sx_filter_params *f,
				const struct sx_stereo_params *p, int y0, int y1);
	void (*smooth_rows)(const struct sx_image *src, const struct sx_image *dst, int y0, int y1);
	/* Sets flags[x] to 1 if a[x] and b[x] are valid and differ by at most limit, else to 0. */
	void (*connected_row)(const uint16_t *a, const uint16_t *b, int n, int limit, uint8_t *flags);
	void (*confidence_rows)(const struct sx_image *disparity, const struct sx_image *confidence, int y0,
				int y1);
};

struct sx_search_level;
struct sx_search_scratch;

/* Kernels of the pyramid search, see cpu/search.h. */
struct sx_search_kernels {
	/*
	 * cost_row computes the costs of row y, not of zncc. search_costs computes the costs of the cells of
	 * tile row j. search_columns sums what the paths down and up add to the cells of the i-th
	 * SX_COLUMNS_TOGETHER tile columns, search_diagonal adds one diagonal path to all cells. search_rows
	 * finds the winners, or hits, of tile row j. search_groups sums the costs of row y of groups.
	 * search_strip sums four groups over n disparities; it returns the lowest disparity of the least sum.
	 */
	void (*cost_row)(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y, uint8_t *cost);
	void (*search_costs)(const struct sx_search_level *l, int j, struct sx_search_scratch *s);
	void (*search_columns)(const struct sx_search_level *l, int i, struct sx_search_scratch *s);
	void (*search_diagonal)(const struct sx_search_level *l, int dx, int dy, uint8_t *const states[2],
				struct sx_search_scratch *s);
	void (*search_rows)(const struct sx_search_level *l, int j, struct sx_search_scratch *s);
	void (*search_groups)(const struct sx_search_level *l, int y, struct sx_search_scratch *s);
	int (*search_strip)(const uint16_t *const groups[4], int n, uint16_t *strip, int *least, int *rival);
};

/* Bits that describe the pixels of a cell: sky_grey and even; saturated. */
enum sx_cell_pixels { SX_CELL_BLANK = 1, SX_CELL_SATURATED = 2 };

/* Kernels from the disparity map to lists of segments. */
struct sx_segment_kernels {
	sx_dp_column_fn *dp_column;
	sx_slanted_column_fn *slanted_column;
	/* computes the same as sx_reduce() */
	void (*reduce)(const struct sx_image *disparity, const struct sx_image *confidence, int width_px,
		       enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence);
	/* computes the same as sx_reduce_cells() */
	void (*reduce_cells)(const struct sx_image *disparity, const struct sx_image *confidence,
			     int width_px, int cell_height, enum sx_reduction how, struct sx_image *columns,
			     struct sx_image *columns_confidence);
	/* computes the same as sx_reduce_scores(), for cells v0 .. v1 - 1 of all columns */
	void (*reduce_scores)(const struct sx_scores *scores, int image_width, int image_height, int width_px,
			      int cell_height, int v0, int v1, struct sx_image *columns);
	/*
	 * Compute the same as sx_evidence() in two steps, without sky (cpu/sky.h). bright_cells classifies
	 * the pixels of row v: one byte (enum sx_cell_pixels) for each of n columns. weigh_columns then
	 * processes columns u0 .. u1 - 1, from the bytes of all rows (bright[row][column]).
	 */
	void (*bright_cells)(const struct sx_image *left, const struct sx_stixel_params *p, int v, int n,
			     uint8_t *bright);
	void (*weigh_columns)(const struct sx_image *columns, const struct sx_image *confidence,
			      const struct sx_stixel_params *p, const uint8_t *bright, int u0, int u1,
			      struct sx_image *cells, struct sx_image *cells_confidence);
};

struct sx_motion_columns;
struct sx_motion_view;

/* Kernels of motion, see cpu/motion/motion.h. Each computes the same as a function of stages/motion. */
struct sx_motion_kernels {
	/* rows [y0, y1) of sx_motion_census() */
	void (*census_rows)(const struct sx_image *grey, const struct sx_image *descriptors, int y0, int y1);
	/* sx_motion_corners() for a row of cells, without what sx_motion_kinds() sets; best: its slots */
	void (*corner_row)(const struct sx_motion_view *view, const struct sx_motion_cells *cells, int row,
			   struct sx_motion_feature *best);
	/* the vote of a judge in sx_motion_begin() */
	uint32_t (*vote)(const struct sx_motion_view *now, const struct sx_motion_view *before,
			 const struct sx_motion_feature *f, const struct sx_motion_guess *guess);
	/* sx_motion_expect() of `count` features that stand */
	void (*expect)(const struct sx_camera *c, const struct sx_motion_step *step, double offset,
		       const struct sx_motion_feature *const *features, int count,
		       struct sx_motion_guess *guesses);
	struct sx_motion_finders find;
	/* the sums of sx_motion_add() over the features first .. end - 1 of columns, multiples of 8 */
	void (*ego_sums)(const struct sx_camera *c, const struct sx_motion_round *r,
			 const struct sx_motion_columns *f, int first, int end, struct sx_motion_sums *s);
	/* the sums of sx_motion_group_add() over all features of columns */
	void (*group_sums)(const struct sx_camera *c, const struct sx_motion_round *moving,
			   const struct sx_motion_group_at *at, bool standing,
			   const struct sx_motion_columns *f, struct sx_motion_group_sums *s);
};

/* Sets of other machines are declared too, but not defined (cpu/meson.build). */
extern const struct sx_matcher_kernels sx_matcher_kernels_plain, sx_matcher_kernels_sse4,
	sx_matcher_kernels_avx2, sx_matcher_kernels_avx512, sx_matcher_kernels_neon;
extern const struct sx_search_kernels sx_search_kernels_plain, sx_search_kernels_sse4, sx_search_kernels_avx2,
	sx_search_kernels_avx512, sx_search_kernels_neon;
extern const struct sx_segment_kernels sx_segment_kernels_plain, sx_segment_kernels_sse4,
	sx_segment_kernels_avx2, sx_segment_kernels_avx512;
extern const struct sx_motion_kernels sx_motion_kernels_plain, sx_motion_kernels_sse4, sx_motion_kernels_avx2,
	sx_motion_kernels_avx512, sx_motion_kernels_neon;

/* A kernel set. name: "plain", "sse4", "avx2", "avx512" or "neon". */
struct sx_kernels {
	const char *name;
	const struct sx_matcher_kernels *matcher;
	const struct sx_search_kernels *search;
	const struct sx_segment_kernels *segment;
	const struct sx_motion_kernels *motion;
	bool (*machine_runs)(void);
};

/*
 * Returns the widest set that this machine runs, or the set called name if that is not NULL. Returns NULL if
 * the name is unknown or the machine cannot run the set.
 */
const struct sx_kernels *sx_kernels_choose(const char *name);
/*
 * Chooses as sx_kernels_choose() does, with the name that SX_SIMD has in the environment. *name is NULL if it is not set,
 * or empty.
 */
const struct sx_kernels *sx_kernels_wanted(const char **name);
/* Returns k, or the next narrower set whose matcher supports this number of disparities, a multiple of 32. */
const struct sx_kernels *sx_kernels_for(const struct sx_kernels *k, int disparities);

#endif
