/*
 * Check that the baseline is in metres. If the map shows no road for the camera that the configuration
 * describes, it may show one for a camera whose baseline is a tenth, a hundredth and so on. The code knows no
 * clock and no thread, so that tests/daemon/camera/test_road_unit.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CAMERA_ROAD_UNIT_H
#define SX_DAEMON_CAMERA_ROAD_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"

#define SX_ROAD_UNITS 9

/* State of the check, one for each set of contexts. Thread: frame. */
struct sx_road_unit {
	struct sx_params params;
	struct sx_road_finder *finder[SX_ROAD_UNITS]; /* NULL: no check is possible */
	int next;				      /* index of the factor for the next frame */
	double round;	   /* road height / camera.height_m of this round's best factor so far; 0: none */
	double last;	   /* result of the previous round */
	int agreed, empty; /* successive rounds with the same result, and without a result */
	int without;	   /* number of successive frames without a road */
	double ratio;	   /* configured baseline / true baseline, as three rounds agree; 0: unknown */
};

/*
 * Allocates all memory, 50 kB per factor, but none without a camera model or with road.mode = calibrated.
 * width, height: size of the maps. Errors: -EINVAL if a size is out of range, -ENOMEM. finish accepts a
 * zeroed struct.
 */
int sx_road_unit_init(struct sx_road_unit *ret, const struct sx_params *p, int width, int height);
void sx_road_unit_finish(struct sx_road_unit *u);
/*
 * Takes the road of a frame. A road that was measured within 4 times camera.height_m shows that the unit is
 * right, and all rounds so far are discarded. Returns true if the caller should pass the frame's map to
 * sx_road_unit_try(): for each 4th frame without a road, and after 100 rounds without a result for each 30th.
 */
bool sx_road_unit_see(struct sx_road_unit *u, const struct sx_road *road);
/* Tries one factor on the disparity map (U16 Q4) of that frame. Takes a millisecond. */
void sx_road_unit_try(struct sx_road_unit *u, const struct sx_image *disparity);

/* Writes one sentence on a ratio (> 0), without its full stop. */
void sx_road_unit_tell(double ratio, const struct sx_camera *c, char *text, size_t bytes);

#endif
