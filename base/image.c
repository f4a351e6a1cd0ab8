/*
 * Image views: sizes, names, allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	size_t bytes;
} pixels[] = {
	[SX_PIXEL_U8] = {"grey8", 1},  [SX_PIXEL_U16] = {"u16", 2},   [SX_PIXEL_U32] = {"u32", 4},
	[SX_PIXEL_U64] = {"u64", 8},   [SX_PIXEL_Y16] = {"y16", 2},   [SX_PIXEL_YUYV] = {"yuyv", 2},
	[SX_PIXEL_UYVY] = {"uyvy", 2}, [SX_PIXEL_NV12] = {"nv12", 1}, [SX_PIXEL_RGB24] = {"rgb24", 3},
};

size_t sx_pixel_bytes(enum sx_pixel pixel)
{
	return pixels[pixel].bytes;
}

const char *sx_pixel_name(enum sx_pixel pixel)
{
	return pixels[pixel].name;
}

size_t sx_image_layout(struct sx_image *img, enum sx_pixel pixel, int width, int height)
{
	size_t rows;

	if (width < 1 || height < 1 || width > 65535 || height > 65535)
		return 0;
	*img = (struct sx_image){.width = width, .height = height, .pixel = pixel};
	img->pitch = ((size_t)width * sx_pixel_bytes(pixel) + 63) & ~(size_t)63;
	rows = pixel == SX_PIXEL_NV12 ? (size_t)height + ((size_t)height + 1) / 2 : (size_t)height;
	return img->pitch * rows;
}

int sx_image_init(struct sx_image *img, enum sx_pixel pixel, int width, int height)
{
	struct sx_image view;
	size_t bytes = sx_image_layout(&view, pixel, width, height);

	if (bytes == 0)
		return -EINVAL;
	view.data = aligned_alloc(64, bytes);
	if (!view.data)
		return -ENOMEM;
	memset(view.data, 0, bytes);
	*img = view;
	return 0;
}

void sx_image_finish(struct sx_image *img)
{
	free(img->data);
	*img = (struct sx_image){0};
}

void sx_image_copy(const struct sx_image *to, const struct sx_image *from)
{
	const size_t row = (size_t)from->width * sx_pixel_bytes(from->pixel);

	for (int y = 0; y < from->height; y++)
		memcpy(sx_image_row(to, y), sx_image_row(from, y), row);
}
