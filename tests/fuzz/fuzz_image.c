/*
 * Fuzz target for image files and for JPEG images of a camera. Reads any bytes as PNG, PGM, PPM and JPEG, as
 * a label map, and as one MJPG image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "capture/image/image_io.h"
#include "capture/image/jpeg.h"
#include "tests/fuzz/fuzz.h"

enum { SIDE = 16 }; /* side of the image for readers that expect a size, px */

static void read_allocated(const char *path, int (*read)(const char *, struct sx_image *, struct sx_why *))
{
	struct sx_image image = {0};
	struct sx_why why;

	if (read(path, &image, &why) < 0)
		return;
	for (int y = 0; y < image.height; y++)
		fuzz_touch(sx_image_row(&image, y), (size_t)image.width * sx_pixel_bytes(image.pixel));
	sx_image_finish(&image);
}

/* Reads into rows without padding, so that a row that is too long is detected. */
static void read_expected(const char *path, enum sx_pixel pixel)
{
	const size_t pitch = SIDE * sx_pixel_bytes(pixel);
	struct sx_image image = {
		.data = malloc(SIDE * pitch), .width = SIDE, .height = SIDE, .pitch = pitch, .pixel = pixel};
	struct sx_why why;

	sx_image_read_into(path, &image, NULL, NULL, &why);
	free(image.data);
}

static void decode_picture(const uint8_t *data, size_t bytes)
{
	struct sx_image_notes notes;
	struct sx_image image = {.data = malloc(SIDE * SIDE),
				 .width = SIDE,
				 .height = SIDE,
				 .pitch = SIDE,
				 .pixel = SX_PIXEL_U8};
	struct sx_why why;
	int r;

	r = sx_jpeg_decode(data, bytes, &image, &notes, &why);
	if (r != 0 && r != -EBADMSG)
		fuzz_fail("%d of a picture", r);
	free(image.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *path = fuzz_file(0, data, bytes);

	read_allocated(path, sx_image_read);
	if (bytes && data[0] == 0x89)
		read_allocated(path, sx_label_map_read);
	read_expected(path, SX_PIXEL_U8);
	read_expected(path, SX_PIXEL_Y16);
	if (bytes && data[0] == 0xff)
		decode_picture(data, bytes);
	return 0;
}
