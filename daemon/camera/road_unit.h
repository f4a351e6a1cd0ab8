/*
 * Is the baseline in metres? Where the road is no road for the camera that the configuration describes, it
 * may be one for a camera whose baseline is a tenth, a hundredth and so on. Knows no clock and no thread,
 * so that tests/daemon/camera/test_road_unit.c can try every case.
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

/* Of contexts: what their frames say. Thread: that of the frames. */
struct sx_road_unit {
	struct sx_params params;
	struct sx_road_finder *finder[SX_ROAD_UNITS]; /* NULL: there is nothing to find */
	int next;				      /* factor to try with the next frame */
	double round;	   /* height by camera.height_m of this round's best factor so far; 0: none */
	double last;	   /* and of the round before */
	int agreed, empty; /* rounds in a row that found the same, or nothing */
	int without;	   /* frames without a road */
	double ratio;	   /* of the baseline to what it should be, on which three rounds agree; 0: none */
};

/*
 * Takes all memory, 50 kB a factor; none without a camera model and with road.mode = calibrated. width,
 * height: of the maps. -EINVAL when a size is out of range, -ENOMEM. finish accepts a zeroed one.
 */
int sx_road_unit_init(struct sx_road_unit *ret, const struct sx_params *p, int width, int height);
void sx_road_unit_finish(struct sx_road_unit *u);
/*
 * Takes the road of a frame. One that was measured within 4 times camera.height_m answers the question. True:
 * without one, the frame's map is of use, of each 4th such frame, after 100 rounds in vain of each 30th.
 */
bool sx_road_unit_see(struct sx_road_unit *u, const struct sx_road *road);
/* Tries one factor on the disparity map (U16 Q4) of that frame. That takes a millisecond. */
void sx_road_unit_try(struct sx_road_unit *u, const struct sx_image *disparity);

/* One sentence on a ratio (> 0), without its end. */
void sx_road_unit_tell(double ratio, const struct sx_camera *c, char *text, size_t bytes);

#endif
