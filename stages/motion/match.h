/*
 * Match: where a feature of this frame was in the frame before, by census blocks, first in images of half
 * size, then in full size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_MATCH_H
#define SX_STAGES_MOTION_MATCH_H

#include "stages/motion/motion.h"

/*
 * A block is SX_MOTION_SAMPLES descriptors, 3 by 3 of them, SX_MOTION_STRIDE px apart. In the image that is searched
 * they lie where the warp of a guess takes them, rounded to px, half up: what is nearer in this frame looks larger.
 */
#define SX_MOTION_STRIDE 3
#define SX_MOTION_SAMPLES 9
#define SX_MOTION_COST_NONE 0xffffu

/* Reach of a search to both sides, px of the image that is searched. */
struct sx_motion_reach {
	int x, y;
};
#define SX_MOTION_REACH_MAX 24

/* Best place of a search, and its cost: number of bits that differ, 0 .. 24 * SX_MOTION_SAMPLES. */
struct sx_motion_place {
	int x, y;
	uint32_t cost;	 /* SX_MOTION_COST_NONE: no place was inside */
	uint32_t second; /* least cost of the places more than 2 px apart in x or y; or SX_MOTION_COST_NONE */
};

/*
 * Searches the block around (x, y) of `from` in `to`, both descriptors, around (gx, gy). warp: its dx and dy have no
 * effect. Of equal costs the place in the uppermost row wins, then the leftmost. Places do not count whose block
 * has a sample nearer to the border than SX_MOTION_CENSUS_RADIUS.
 */
struct sx_motion_place sx_motion_find(const struct sx_image *from, const struct sx_image *to, int x, int y,
				      int gx, int gy, struct sx_motion_reach reach,
				      const struct sx_motion_guess *warp);

/*
 * Finds one feature again. guesses[0 .. count): where to begin, count >= 1. Sets x_q6 and y_q6 to whole pixels,
 * cost, second, guess and search (SX_MOTION_FOUND, SX_MOTION_AMBIGUOUS or SX_MOTION_UNKNOWN).
 *
 * 1. Half size, +-8 by +-5 px around the first guess. If its cost is above SX_MOTION_FAIR, around each other guess,
 *    which replaces the result if its cost is lower by more than SX_MOTION_BETTER.
 * 2. For an object (SX_MOTION_OBJECT) with a cost above SX_MOTION_POOR, again within +-22 by +-5 px of the
 *    first guess. The warp of the guess that was found goes on.
 * 3. SX_MOTION_AMBIGUOUS unless 25 second > 26 cost + 50.
 * 4. Full size, +-3 px.
 */
#define SX_MOTION_COARSE ((struct sx_motion_reach){8, 5})
#define SX_MOTION_WIDE ((struct sx_motion_reach){22, 5})
#define SX_MOTION_FINE ((struct sx_motion_reach){3, 3})
/* Around the place of a thing whose velocity is known; full size (filter/again.h). */
#define SX_MOTION_AGAIN ((struct sx_motion_reach){7, 4})
#define SX_MOTION_FAIR (5 * SX_MOTION_SAMPLES / 2)
#define SX_MOTION_BETTER 5
#define SX_MOTION_POOR (7 * SX_MOTION_SAMPLES)
void sx_motion_match(const struct sx_motion_view *now, const struct sx_motion_view *before,
		     const struct sx_motion_feature *feature, const struct sx_motion_guess *guesses,
		     int count, struct sx_motion_flow *flow);

/* A search as sx_motion_find() makes it, with one of these reaches. */
typedef struct sx_motion_place sx_motion_search_fn(const struct sx_image *from, const struct sx_image *to,
						   int x, int y, int gx, int gy,
						   const struct sx_motion_guess *warp);
/* sx_motion_find_fine() is the fine search of the reference. */
sx_motion_search_fn sx_motion_find_fine;
/* The searches of an engine. `second` of the fine one is not read. */
struct sx_motion_searches {
	sx_motion_search_fn *coarse, *wide, *fine;
};

/* Computes sx_motion_match() with the searches of an engine. */
void sx_motion_match_by(const struct sx_motion_searches *by, const struct sx_motion_view *now,
			const struct sx_motion_view *before, const struct sx_motion_feature *feature,
			const struct sx_motion_guess *guesses, int count, struct sx_motion_flow *flow);
/* Returns whether the place of a coarse search is the only good one. */
SX_MOTION_INLINE bool sx_motion_is_clear(uint32_t cost, uint32_t second)
{
	return 25 * second > 26 * cost + 50;
}

/* Returns half of a displacement, rounded to the nearest, half up. */
SX_MOTION_INLINE int sx_motion_halved(int32_t d)
{
	return (d + 1) >> 1;
}

#endif
