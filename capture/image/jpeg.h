/*
 * JPEG images straight to grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_JPEG_H
#define SX_CAPTURE_IMAGE_JPEG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "capture/image/notes.h"

/* Checks that libjpeg is built in: 0, or -ENOTSUP and a sentence. */
int sx_jpeg_check(char *why, size_t why_bytes);

/*
 * Decodes into a U8 image of just that size. What lies behind the end of the image is not looked at. Any
 * thread; no picture depends on one before. 0: every pixel was written and no data were missing, *notes is
 * set. -EBADMSG: damaged or cut short, another size, or nothing that can be made grey; the image may be
 * written to all the same. -ENOMEM; -ENOTSUP.
 */
int sx_jpeg_decode(const uint8_t *data, size_t bytes, const struct sx_image *to, struct sx_image_notes *notes,
		   char *why, size_t why_bytes);

#endif
