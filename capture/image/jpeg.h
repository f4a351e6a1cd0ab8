/*
 * JPEG images straight to grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_JPEG_H
#define SX_CAPTURE_IMAGE_JPEG_H

#include <stdbool.h>

#include "base/image.h"

/* Whether TurboJPEG is built in. */
bool sx_jpeg_is_there(void);

struct sx_jpeg; /* a decoder; thread: one at a time */

/* -ENOTSUP: built without TurboJPEG; -ENOMEM. */
int sx_jpeg_open(struct sx_jpeg **ret, char *why, size_t why_bytes);
void sx_jpeg_close(struct sx_jpeg *j);

/*
 * Decodes into a U8 image of just that size. What lies behind the end of the image is not looked at.
 * -EBADMSG: damaged or cut short, or another size; the image may be written to all the same.
 */
int sx_jpeg_decode(struct sx_jpeg *j, const uint8_t *data, size_t bytes, const struct sx_image *to, char *why,
		   size_t why_bytes);

#endif
