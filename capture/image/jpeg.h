/*
 * Decodes JPEG images directly to grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_JPEG_H
#define SX_CAPTURE_IMAGE_JPEG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "base/why.h"
#include "capture/image/notes.h"

/* Checks that this build has libjpeg. Returns 0, or -ENOTSUP with a message. */
int sx_jpeg_check(struct sx_why *why);

/*
 * Decodes into a U8 image of exactly that size. Data after the end of the image are ignored. Any thread; an
 * image never depends on an earlier one. Returns 0: every pixel was written, no data were missing, and *notes
 * is set; -EBADMSG: damaged, cut short, of another size, or not convertible to grey; the image may be partly
 * written; -ENOMEM; -ENOTSUP.
 */
int sx_jpeg_decode(const uint8_t *data, size_t bytes, const struct sx_image *to, struct sx_image_notes *notes,
		   struct sx_why *why);

#endif
