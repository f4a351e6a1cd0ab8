/*
 * Writes PNG files (RGB, 8-bit grey, 16-bit grey) and JPEG files (RGB).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_PICTURE_H
#define SX_TOOLS_DRAW_PICTURE_H

#include <stdio.h>

#include "base/image.h"

/*
 * Writes img (RGB24, U8 or U16; U16 as stored, in PNG's byte order) to f, which stays open.
 * -EINVAL for another pixel format, -ENOMEM, -EIO or the file's own errno.
 */
int sx_picture_write(FILE *f, const struct sx_image *img);
/* The same for JPEG and RGB24 alone; -ENOTSUP where it was built without libjpeg. */
int sx_picture_write_jpeg(FILE *f, const struct sx_image *img);

#endif
