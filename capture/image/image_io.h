/*
 * Image files in and out: PNG, PGM/PPM and JPEG to grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_IMAGE_IO_H
#define SX_CAPTURE_IMAGE_IMAGE_IO_H

#include <stddef.h>

#include "base/image.h"
#include "capture/image/notes.h"

/* Largest image that is read: two of 4096x2160, beside or above each other. */
#define SX_IMAGE_FILE_WIDTH_MAX 8192
#define SX_IMAGE_FILE_HEIGHT_MAX 4320
#define SX_IMAGE_FILE_BYTES_MAX (256u << 20)

/*
 * Reads an image as U8, or Y16 if it has 16 bits a sample; colour becomes grey by (77 R + 150 G + 29 B + 128)
 * >> 8 (JPEG: its own luminance). The format is told by the content, not by the name. Alpha is ignored.
 *
 * sx_image_read: allocates, *ret only on success. sx_image_read_into: the file must have dst's size and
 * pixel. notes: NULL, or set on success. Errors, with a sentence that starts with the path: -ENOENT, -EACCES,
 * ... as open(2); -EBADMSG not an image, broken, cut short, too large, or other than dst; -ENOTSUP a format
 * that this build cannot read; -ENOMEM. Any thread. A file is never trusted: sizes are checked before memory
 * is taken.
 */
int sx_image_read(const char *path, struct sx_image *ret, char *why, size_t why_bytes);
int sx_image_read_noted(const char *path, struct sx_image *ret, struct sx_image_notes *notes, char *why,
			size_t why_bytes);
int sx_image_read_into(const char *path, const struct sx_image *dst, struct sx_image_notes *notes, char *why,
		       size_t why_bytes);

/* "a BMP file", ...: an image file of a format that is not read, by how it begins. NULL: it is none. */
const char *sx_image_other_format(const char *path);

/*
 * Reads a map of class numbers: a PNG of up to 8 bits, grey or with a palette, as U8 with the stored numbers
 * (those of the palette's entries, not their colours). Otherwise as sx_image_read().
 */
int sx_label_map_read(const char *path, struct sx_image *ret, char *why, size_t why_bytes);

#endif
