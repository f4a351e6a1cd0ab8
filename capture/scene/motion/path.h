/*
 * Ways over the ground: pieces that are straight or turn. Curvature is 0 at both ends of a piece, so that
 * course and curvature are continuous, as of a steered vehicle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_MOTION_PATH_H
#define SX_CAPTURE_SCENE_MOTION_PATH_H

#define SX_PATH_PIECES 14

/*
 * A piece begins at x, z, m, with a course, rad to the right of z, after `from` m of the path. turn: change of
 * the course over its length, rad, to the right.
 */
struct sx_path_piece {
	double length, turn;
	double from, x, z, course;
};

/* A path is straight beyond both ends. */
struct sx_path {
	int count;
	double length;					/* sum of the pieces, m */
	struct sx_path_piece piece[SX_PATH_PIECES + 1]; /* piece[count]: the straight part after the end */
};

/* A place on a path. curve: change of the course per m of the path, rad/m. */
struct sx_place {
	double x, z, course, curve;
};

void sx_path_begin(struct sx_path *p, double x, double z, double course);
/* Appends a piece. Pieces after the last possible one are left out. */
void sx_path_add(struct sx_path *p, double length, double turn);
/* Returns the place after `way` m of the path, and `aside` m to the right of it. */
struct sx_place sx_path_at(const struct sx_path *p, double way, double aside);
/*
 * Returns the length of a piece that turns by 90 degrees, and thereby goes as far aside as ahead: `reach` m.
 */
double sx_path_corner(double reach);

#endif
