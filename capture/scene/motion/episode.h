/*
 * Episodes of the scenes with motion: a part of a world, the camera's way through it, and all that moves
 * there, for 24 s. Then the camera is put into the next episode, which has other things.
 *
 * Nothing passes through anything else: a mover is only added if it keeps clear of all others, and of the
 * camera's own vehicle, for the whole episode.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_MOTION_EPISODE_H
#define SX_CAPTURE_SCENE_MOTION_EPISODE_H

#include "capture/scene/motion/mover.h"

#define SX_EPISODE_S 24.0
#define SX_MOVERS_MAX 64
#define SX_SITES_MAX 12
#define SX_EPISODE_SAMPLES 241 /* times at which movers are compared: ten per second */

/* Cross section of a street, m from its middle. */
#define SX_STREET_HALF 6.6 /* distance of the kerb */
#define SX_STREET_LANE 1.75
#define SX_STREET_CYCLE 3.9
#define SX_STREET_PARKED 5.65
#define SX_STREET_HOUSES 10.2 /* distance of the houses */

/* Half the width of a yard, m. */
#define SX_YARD_HALF 7.0

enum sx_episode_kind {
	SX_EPISODE_NONE,
	SX_EPISODE_TRAFFIC,
	SX_EPISODE_CROSSING,
	SX_EPISODE_BEND,
	SX_EPISODE_YARD
};

/* The places of a mover at the times at which movers are compared. */
struct sx_track {
	float x[SX_EPISODE_SAMPLES], z[SX_EPISODE_SAMPLES], sine[SX_EPISODE_SAMPLES],
		cosine[SX_EPISODE_SAMPLES];
};

/*
 * An episode. mover[0]: the camera's own vehicle, which is not drawn; its place is the left camera's. route:
 * middle of the street. side_street: z of the middles of streets that cross a straight street. walk: z where
 * people cross the street, and where no car is parked. shake: factor on all shaking of the camera.
 */
struct sx_episode {
	enum sx_episode_kind kind;
	int64_t number;
	uint64_t seed;
	struct sx_path route;
	double side_street[SX_SITES_MAX], walk[SX_SITES_MAX];
	int side_streets, walks;
	double shake;
	int count;
	struct sx_mover mover[SX_MOVERS_MAX];
	struct sx_track track[SX_MOVERS_MAX];
};

void sx_episode_init(struct sx_episode *e, enum sx_episode_kind kind, uint64_t seed, int64_t number);
/* Adds a mover. Returns false if it would come too near to another one. */
bool sx_episode_add(struct sx_episode *e, const struct sx_mover *m);
/* Returns true if no mover ever comes nearer to the place than this radius, m. */
bool sx_episode_is_free(const struct sx_episode *e, double x, double z, double radius);

/* episode_street.c and episode_yard.c. The episode has kind, number and seed. */
void sx_episode_street(struct sx_episode *e);
void sx_episode_yard(struct sx_episode *e);

#endif
