/*
 * The orientation tag of EXIF data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_EXIF_H
#define SX_CAPTURE_IMAGE_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* Returns the orientation, 1 to 8, from EXIF data that begin with their TIFF header; 0: none. */
int sx_exif_orientation(const uint8_t *data, size_t bytes);

#endif
