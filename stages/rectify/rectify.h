/*
 * Rectification: turns raw images of two cameras into a pair in which each point lies in the same row of both
 * images.
 *
 * A map gives the raw position of each pixel of a rectified image. sx_rectify_map_init() makes it once, in
 * double precision, on the host. All engines read it. The computation for each frame uses integers alone, so
 * that all engines give the same bytes.
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

#define SX_RECTIFY_OUTSIDE UINT32_MAX /* a value of place: the raw image does not show this pixel */
#define SX_RECTIFY_STRIDE 32	      /* entries: rows of a map begin at a multiple of this number */

/*
 * Map of one camera. Row y of a map begins at entry y * stride. Entries after the end of the row are outside.
 * A raw position (X, Y) is rounded to 1/256 px, halves upwards: X = 256 x + a, Y = 256 y + b. Inside is 0 <=
 * X <= 256 (raw_width - 1), and 0 <= Y <= 256 (raw_height - 1). At the upper end itself, where x + 1 or y + 1
 * would be no pixel, the map has 1/256 px less.
 */
struct sx_rectify_map {
	int width, height, stride; /* size of the rectified image, px */
	int raw_width, raw_height;
	uint32_t *place;	  /* y << 16 | x, or SX_RECTIFY_OUTSIDE */
	uint16_t *part;		  /* b << 8 | a; 0 outside */
	struct sx_row_view *view; /* one for each row */
};

/*
 * Creates the map of a side (0 left, 1 right) of a rig that sx_rig_check() accepts.
 *
 * radius: columns and rows that the descriptor of a rectified pixel reaches to each side. A pixel can be
 * matched if all pixels within the radius that are in the rectified image are inside. The view of a row is
 * its longest run of such pixels, the first one of equal length.
 *
 * Returns 0 or -ENOMEM. Writes *ret only on success. sx_rectify_map_finish() accepts a zeroed map.
 */
int sx_rectify_map_init(struct sx_rectify_map *ret, const struct sx_rig *rig, int side, const int radius[2]);
void sx_rectify_map_finish(struct sx_rectify_map *map);
/* Returns the memory of a map, bytes. */
size_t sx_rectify_map_bytes(const struct sx_rectify_map *map);

/*
 * Rectifies an image. src: raw, any format of sx_ingest_supports(), of the map's raw size. grey: U8, the
 * map's size. With g(x, y), the grey level that sx_ingest() makes of a raw pixel:
 *   ((256-b) ((256-a) g(x,y) + a g(x+1,y)) + b ((256-a) g(x,y+1) + a g(x+1,y+1)) + 32768) >> 16, outside: 0.
 */
void sx_rectify(const struct sx_image *src, const struct sx_image *grey, const struct sx_rectify_map *map,
		struct sx_stretch stretch);

#ifdef __cplusplus
}
#endif

#endif
