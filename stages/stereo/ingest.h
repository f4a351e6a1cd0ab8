/*
 * Ingest: converts camera pixels to the 8-bit grey images that the matcher reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_INGEST_H
#define SX_STAGES_STEREO_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/stereo/stretch.h"

/* Returns true for pixel formats that sx_ingest() reads: U8, Y16, YUYV, UYVY, NV12, RGB24. */
bool sx_ingest_supports(enum sx_pixel pixel);
/* Returns true for formats whose first bytes are the grey levels. */
static inline bool sx_ingest_is_grey(enum sx_pixel pixel)
{
	return pixel == SX_PIXEL_U8 || pixel == SX_PIXEL_NV12;
}

/*
 * Returns the common range of both images by stretch.h, so that equal radiance becomes equal grey in both. (A
 * separate range for each image would not ensure this.) Both images have the same size, more than
 * SX_STRETCH_REACH wide. Y16 only; {0, 0} for the other formats, which need no range.
 */
struct sx_stretch sx_ingest_stretch(const struct sx_image *left, const struct sx_image *right);

/*
 * Converts an image. src: any supported format, any pitch and alignment (Y16 is read by bytes, little
 * endian). grey: U8, same width and height.
 * U8, YUYV, UYVY, NV12: the luma byte, unchanged. RGB24: (77 R + 150 G + 29 B + 128) >> 8.
 * Y16: floor((2 * 255 (p - min) + (max - min)) / (2 (max - min))), that is 255 (p - min) / (max - min)
 * rounded half up. A p outside the range counts as its nearer end. If max == min, the result is 0.
 */
void sx_ingest(const struct sx_image *src, const struct sx_image *grey, struct sx_stretch stretch);

#endif
