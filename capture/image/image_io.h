/*
 * Reads image files as grey images: PNG, PGM/PPM and JPEG.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_IMAGE_IO_H
#define SX_CAPTURE_IMAGE_IMAGE_IO_H

#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "base/why.h"
#include "capture/image/notes.h"

/* Largest size that is read: two images of 4096x2160 px, side by side or one above the other. */
#define SX_IMAGE_FILE_WIDTH_MAX 8192
#define SX_IMAGE_FILE_HEIGHT_MAX 4320
#define SX_IMAGE_FILE_BYTES_MAX (256u << 20)

/*
 * Memory for the bytes of a file, which a thread keeps from one file to the next: memory that is taken for
 * each file costs more than copying a PGM. A zeroed object is empty. Up to SX_FILE_BYTES_KEPT are kept.
 */
struct sx_file_bytes {
	uint8_t *data;
	size_t room;
};
#define SX_FILE_BYTES_KEPT (16u << 20)
void sx_file_bytes_finish(struct sx_file_bytes *b);

/*
 * Reads an image as U8, or as Y16 if it has 16 bits per sample. Colour becomes grey by (77 R + 150 G + 29 B +
 * 128) >> 8; a JPEG's own luminance is used. The content, not the name, decides the format. Alpha is ignored.
 *
 * sx_image_read: allocates the image; *ret is set on success only. sx_image_read_into: the file must have the
 * size and pixel format of dst. bytes: NULL, or memory of this thread. notes: NULL, or set on success.
 * Errors, with a message that starts with the
 * path: -ENOENT, -EACCES, ... as open(2); -EBADMSG: not an image, broken, cut short, too large, or different
 * from dst; -ENOTSUP: a format that this build cannot read; -ENOMEM. Any thread. Files are not trusted: sizes
 * are checked before memory is allocated.
 */
int sx_image_read(const char *path, struct sx_image *ret, struct sx_why *why);
int sx_image_read_noted(const char *path, struct sx_image *ret, struct sx_image_notes *notes,
			struct sx_why *why);
int sx_image_read_into(const char *path, const struct sx_image *dst, struct sx_file_bytes *bytes,
		       struct sx_image_notes *notes, struct sx_why *why);

/*
 * Recognises an image file of a format that is not read, from its first bytes: "a BMP file", ... NULL: no
 * such format.
 */
const char *sx_image_other_format(const char *path);

/*
 * Reads a map of class numbers: a PNG of up to 8 bits, grey or with a palette. The result is U8 with the
 * stored numbers (indices of the palette, not its colours). Otherwise as sx_image_read().
 */
int sx_label_map_read(const char *path, struct sx_image *ret, struct sx_why *why);

#endif
