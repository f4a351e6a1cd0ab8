/*
 * What stands between the last pixels of a part of a JPEG scan and the marker behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_JPEG_SCAN_H
#define SX_CAPTURE_IMAGE_JPEG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include "capture/image/notes.h"

/*
 * Whether all bytes are padding: one value throughout, 0 or 0xff, or any other if they are many. Bits that
 * lost step leave data. In data a 0 follows each 0xff, and both are one byte.
 */
bool sx_jpeg_is_fill(const uint8_t *begin, const uint8_t *end);

/* Whether sx_jpeg_scan_is_whole() knows this kind of scan: the only one of its picture, by Huffman codes. */
bool sx_jpeg_scan_is_plain(const struct jpeg_decompress_struct *c);

/*
 * Reads the codes of a whole plain scan, from its first byte on, and looks at what is left over before each
 * marker, where libjpeg only counts, and late: true if that is padding everywhere. Then notes has where.
 */
bool sx_jpeg_scan_is_whole(const struct jpeg_decompress_struct *c, const uint8_t *begin, const uint8_t *end,
			   struct sx_image_notes *notes);

#endif
