/*
 * Scores the result that the reader of a small robot gets in a drawn room: the free space of each column
 * (stixel_free_space()), and the kind of each pixel of the floor.
 *
 * The first obstacle of a column is the nearest surface that reaches between the heights of the vehicle, or
 * the edge of a step down. The obstacle is found if the free space ends within 30 % of its distance. The
 * column is too near if an obstacle or a drop ends the free space earlier, and too far if the free space goes
 * on farther. Distances up to 5 m are scored. Surfaces seen through glass are left out, and columns whose
 * obstacle the right camera does not see. Each figure is a share of wrong columns or pixels, percent:
 *
 *   near    columns with a plain wall first, if their free space does not end unseen: too near. Rooms with a
 *           ramp are left out
 *   sure    as near, without columns that end at a filled object (stixel_is_filled())
 *   paper   as near, with a textured wall first
 *   plain   pixels of plain floor in object stixels
 *   floor   pixels of textured floor (boards, carpet, tiles) in object stixels
 *   lost    pixels of textured floor in neither ground nor object
 *   dark    pixels of floor in object stixels, in dark rooms, which the other figures of pixels leave out
 *   ramp    pixels of a ramp of up to 10 degrees in object stixels
 *   kerb    columns with a kerb of 5 cm first, up to 2 m, on a textured floor, not in the dark: not found
 *   missed  pixels of things in ground, sky or unknown
 *   beyond  columns with a wall, a door or a thing of 8 cm or more first: too far
 *   down    columns with the edge of a step down first, up to 2 m: too far
 *   gap     columns whose free space passes 40 rows of pixels without any disparity
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_ROOM_FIGURES_H
#define SX_TESTS_QUALITY_ROOM_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/engine.h"
#include "tests/quality/metrics.h"
#include "tests/quality/published.h"

enum {
	ROOM_NEAR,
	ROOM_SURE,
	ROOM_PAPER,
	ROOM_PLAIN,
	ROOM_FLOOR,
	ROOM_LOST,
	ROOM_DARK,
	ROOM_RAMP,
	ROOM_KERB,
	ROOM_MISSED,
	ROOM_BEYOND,
	ROOM_DOWN,
	ROOM_GAP,
	ROOM_FIGURES
};

/* Kind of the first obstacle of a column. */
enum room_first {
	FIRST_NOTHING,
	FIRST_PLAIN_WALL,
	FIRST_WALL,
	FIRST_DOOR,
	FIRST_THING,
	FIRST_LOW,
	FIRST_KERB,
	FIRST_FAR_KERB,
	FIRST_DOWN,
	FIRST_FAR_DOWN,
	FIRSTS
};

enum room_verdict { ROOM_FOUND, ROOM_TOO_NEAR, ROOM_TOO_FAR, ROOM_UNSEEN, ROOM_VERDICTS };

struct room_figures {
	uint64_t bad[ROOM_FIGURES], all[ROOM_FIGURES];
	uint64_t columns[FIRSTS][ROOM_VERDICTS];
};

/* A scored pair: its settings and the engine's results. */
struct room_result {
	const struct sx_params *params;
	const struct sx_result *result;
	const struct sx_image *q4; /* disparity map */
};

/* Scores a pair. Scenes other than rooms are not scored. Returns 0 or -ENOMEM. */
int score_room(struct room_figures *s, const struct sx_scene *scene, const struct sx_scene_truth *t,
	       const struct room_result *r);
/* Prints the figures, or no line if there were no rooms. */
void print_room(const struct room_figures *s);
/* Returns false and prints a line for each figure that is larger than its max, percent. */
bool judge_room(const struct room_figures *s, const double max[ROOM_FIGURES]);

#endif
