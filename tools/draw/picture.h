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
 * Writes img (RGB24, U8 or U16) to f, which stays open. U16 values are unchanged, in PNG's byte order.
 * Returns 0; -EINVAL: another pixel format; -ENOMEM, -EIO or the file's own errno.
 */
int sx_picture_write(FILE *f, const struct sx_image *img);
/* Writes img as JPEG; only RGB24. -ENOTSUP: built without libjpeg. Otherwise works as sx_picture_write(). */
int sx_picture_write_jpeg(FILE *f, const struct sx_image *img);

#endif
