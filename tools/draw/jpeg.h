/*
 * Codes images as JPEG with libjpeg.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_JPEG_H
#define SX_TOOLS_DRAW_JPEG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/image.h"

/* Returns false if the program was built without libjpeg. */
bool sx_jpeg_has(void);
/*
 * Codes img, RGB24 or U8, with full colour resolution. At half resolution the edges of stixels and the legend
 * would fray. quality: 1 .. 100. fast: use the faster of libjpeg's transforms, for pictures that come many
 * times per second. Returns *bytes for free(). NULL: out of memory, another pixel format, or built without
 * libjpeg. Any thread.
 */
unsigned char *sx_jpeg_code(const struct sx_image *img, int quality, bool fast, size_t *bytes);

#endif
