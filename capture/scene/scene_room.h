/*
 * Rooms as a small robot sees them (scene "room"). The robot drives 1.2 m into a room, and then is put into
 * the next one. Each room has another floor, other walls, other things, and another light.
 *
 * The floor is plain or textured. It is even, has a carpet, a kerb of 5 cm, a ramp of up to 10 degrees, or a
 * step down. Floors, carpets, ramps and all levels are ground; the front of a kerb, walls and ceiling are
 * objects. A pane of glass shows what is behind it; only its frame is an object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_ROOM_H
#define SX_CAPTURE_SCENE_SCENE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/camera.h"

struct sx_scene;
struct sx_scene_params;

enum sx_room_floor { SX_ROOM_EVEN, SX_ROOM_CARPET, SX_ROOM_KERB, SX_ROOM_RAMP, SX_ROOM_STEP_DOWN };

#define SX_ROOM_PANES_MAX 4
#define SX_ROOM_KERB_M 0.05

/*
 * Pose of the robot in a room: x to the right, z ahead of its first place, m; cosine and sine of its course.
 */
struct sx_room_pose {
	double x, z, cosine, sine;
};

struct sx_room {
	bool on;
	bool dark; /* little light, much noise */
	uint64_t seed;
	/* values of a frame */
	enum sx_room_floor floor;
	struct sx_room_pose pose;
	double light[2];	      /* direction of the light, to the right and ahead, -1..1 */
	int panes[SX_ROOM_PANES_MAX]; /* facets of the frames of glass */
	int pane_count;
};

/* Returns the nominal camera of a room. */
struct sx_camera sx_room_camera(const struct sx_scene_params *p);
void sx_room_init(struct sx_scene *s);
/* Fills facets, shadows and pose of a frame. */
void sx_room_build(struct sx_scene *s, uint32_t frame);

#endif
