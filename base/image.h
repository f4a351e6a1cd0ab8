/*
 * A view of pixels in memory: what every stage reads and writes. Says nothing about ownership.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_IMAGE_H
#define SX_BASE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

enum sx_pixel {
	SX_PIXEL_U8,   /* 8 bit: grey level, confidence, cost */
	SX_PIXEL_U16,  /* 16 bit: disparity in 1/16 px (Q4), 0xffff invalid; path-cost sums */
	SX_PIXEL_U32,  /* 32 bit: CSCT descriptor */
	SX_PIXEL_U64,  /* 64 bit: census descriptor */
	SX_PIXEL_Y16,  /* 16-bit grey, little endian, full scale unknown: stretched per pair */
	SX_PIXEL_YUYV, /* 4:2:2 packed, Y first */
	SX_PIXEL_UYVY, /* 4:2:2 packed, Y second */
	SX_PIXEL_NV12, /* 4:2:0, Y plane first; only the Y plane is read */
	SX_PIXEL_RGB24 /* R, G, B bytes */
};

#define SX_DISPARITY_INVALID 0xffffu

/* width, height in pixels; pitch: bytes from one row to the next, >= bytes of a row. */
struct sx_image {
	void *data;
	int width, height;
	size_t pitch;
	enum sx_pixel pixel;
};

/* Bytes of one pixel as it lies in a row (NV12: of the Y plane). */
size_t sx_pixel_bytes(enum sx_pixel pixel);
/* "grey8", "y16", "yuyv", ...: the word used in log and status. */
const char *sx_pixel_name(enum sx_pixel pixel);

/*
 * How an image lies in memory: rows padded to 64 bytes. Fills all of *img but data (NULL) and returns the
 * bytes it needs; 0 for a size < 1 or > 65535.
 */
size_t sx_image_layout(struct sx_image *img, enum sx_pixel pixel, int width, int height);

/*
 * Allocates a 64-byte aligned image, rows padded to 64 bytes, content zero. -EINVAL for a size < 1
 * or > 65535, -ENOMEM. *img is only written on success; sx_image_finish() frees it, accepts a zeroed
 * one and zeroes it.
 */
int sx_image_init(struct sx_image *img, enum sx_pixel pixel, int width, int height);
void sx_image_finish(struct sx_image *img);

/* Copies the pixels of an image (NV12: the Y plane) into one of the same format and size; any pitch. */
void sx_image_copy(const struct sx_image *to, const struct sx_image *from);

static inline void *sx_image_row(const struct sx_image *img, int y)
{
	return (char *)img->data + (size_t)y * img->pitch;
}

#endif
