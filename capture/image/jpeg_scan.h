/*
 * Checks the bytes between the last pixels of a part of a JPEG scan and the next marker.
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
 * Returns true if all bytes are padding: all equal to 0 or 0xff, or many bytes of any one value. If the
 * decoder lost its bit position, data are left here instead. In data a 0 follows each 0xff, and the two count
 * as one byte.
 */
bool sx_jpeg_is_fill(const uint8_t *begin, const uint8_t *end);

/*
 * Returns true if sx_jpeg_scan_is_whole() can read this kind of scan: the only scan of its image, with
 * Huffman codes.
 */
bool sx_jpeg_scan_is_plain(const struct jpeg_decompress_struct *c);

/*
 * Decodes the lengths of all codes of a scan (sx_jpeg_scan_is_plain()), from its first byte on, and so finds
 * the bytes that lie between the last code of a part and the next marker. libjpeg only counts these bytes,
 * and reports them late. Returns true if they are padding everywhere, and sets the kinds of padding in notes.
 */
bool sx_jpeg_scan_is_whole(const struct jpeg_decompress_struct *c, const uint8_t *begin, const uint8_t *end,
			   struct sx_image_notes *notes);

#endif
