/*
 * Writes image files of every kind for tests, with the libraries themselves. Manages a temporary folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_IMAGE_FILES_H
#define SX_TESTS_CAPTURE_IMAGE_FILES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Creates a new folder under $TMPDIR or /tmp. Aborts if that fails. folder_remove deletes the folder with its
 * content.
 */
void folder_make(char path[256]);
void folder_remove(const char *path);
/* Setup and teardown of a test, which do the same. The test's state is the folder's path. */
int folder_setup(void **state);
int folder_teardown(void **state);
/* Returns "folder/name" in one of 8 static buffers that are used in turn. Creates the folders in name. */
const char *in_folder(const char *folder, const char *name);

void write_bytes(const char *path, const void *data, size_t bytes);

/*
 * type: PNG_COLOR_TYPE_*. pixels: 8-bit samples as libpng wants them, or 16-bit in host order, rows without
 * padding.
 * palette: 256 RGB entries with PNG_COLOR_TYPE_PALETTE. Aborts when it cannot.
 */
void write_png(const char *path, int width, int height, int bits, int type, int interlaced,
	       const void *pixels, const uint8_t *palette);

/* Writes an 8-bit grey PNG with the values (x + 3y + start) & 255. */
void write_ramp(const char *path, int width, int height, int start);

/* Writes the ramp that starts at 0 as a PNG with these EXIF data. */
void write_png_exif(const char *path, int width, int height, const uint8_t *exif, size_t bytes);

#endif
