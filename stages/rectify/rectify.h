/*
 * Rectification: raw images of two cameras to a pair in which a point lies in the same row of both.
 *
 * A map says for each pixel of a rectified image where in the raw one it is seen. It is made once, in double
 * precision, on the host (sx_rectify_map_init()), and read by all engines: what is computed for each frame is
 * integers, so that all give the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_RECTIFY_H
#define SX_STAGES_RECTIFY_RECTIFY_H

#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "base/rig.h"
#include "stages/rectify/views.h"
#include "stages/stereo/ingest.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_RECTIFY_OUTSIDE UINT32_MAX /* a place: the raw image does not show this pixel */
#define SX_RECTIFY_STRIDE 32	      /* entries: rows of a map begin at a multiple */

/*
 * Of one camera. Row y of a map begins at entry y * stride; entries behind the row's end are outside.
 * A raw position (X, Y) is rounded to 1/256 px, halves upwards: X = 256 x + a, Y = 256 y + b. Inside is
 * 0 <= X <= 256 (raw_width - 1), and likewise Y; at the upper end itself, where x + 1 would be no pixel,
 * 1/256 px less is taken.
 */
struct sx_rectify_map {
	int width, height, stride; /* of the rectified image, px */
	int raw_width, raw_height;
	uint32_t *place;	  /* y << 16 | x, or SX_RECTIFY_OUTSIDE */
	uint16_t *part;		  /* b << 8 | a; 0 outside */
	struct sx_row_view *view; /* of each row */
};

/*
 * The map of a side (0 left, 1 right) of a rig that sx_rig_check() accepts. radius: columns, rows by which
 * the descriptor of a rectified pixel looks beyond it: a pixel can be matched where everything so near to it
 * that is in the rectified image is inside; of a row with several runs of such pixels the longest, the first
 * of equals, is its view. -ENOMEM. *ret is only written on success; sx_rectify_map_finish() accepts a zeroed
 * one.
 */
int sx_rectify_map_init(struct sx_rectify_map *ret, const struct sx_rig *rig, int side, const int radius[2]);
void sx_rectify_map_finish(struct sx_rectify_map *map);
/* Of memory. */
size_t sx_rectify_map_bytes(const struct sx_rectify_map *map);

/*
 * src: raw, any format of sx_ingest_supports(), of the map's raw size. grey: U8, the map's size. With
 * g(x, y) = what sx_ingest() makes of a raw pixel:
 *   ((256-b) ((256-a) g(x,y) + a g(x+1,y)) + b ((256-a) g(x,y+1) + a g(x+1,y+1)) + 32768) >> 16, outside: 0.
 */
void sx_rectify(const struct sx_image *src, const struct sx_image *grey, const struct sx_rectify_map *map,
		struct sx_stretch stretch);

#ifdef __cplusplus
}
#endif

#endif
