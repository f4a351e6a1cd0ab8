/*
 * A view of pixels in memory, which every stage reads and writes. It does not define the owner of the memory.
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

/* A view of an image. width, height: px. pitch: bytes from one row to the next, >= bytes of a row. */
struct sx_image {
	void *data;
	int width, height;
	size_t pitch;
	enum sx_pixel pixel;
};

/* Returns the bytes of one pixel in a row (NV12: in a row of the Y plane). */
size_t sx_pixel_bytes(enum sx_pixel pixel);
/* Returns the name of a format for log and status: "grey8", "y16", "yuyv", ... */
const char *sx_pixel_name(enum sx_pixel pixel);

/*
 * Computes the memory layout of an image, with rows padded to 64 bytes. Sets all fields of *img, with data
 * NULL, and returns the bytes that the image needs. Returns 0 if width or height is < 1 or > 65535.
 */
size_t sx_image_layout(struct sx_image *img, enum sx_pixel pixel, int width, int height);

/*
 * Allocates a 64-byte aligned image with rows padded to 64 bytes and content zero. -EINVAL: width or height
 * is < 1 or > 65535. -ENOMEM. *img is written on success only. sx_image_finish() frees an image, accepts a
 * zeroed one, and zeroes it.
 */
int sx_image_init(struct sx_image *img, enum sx_pixel pixel, int width, int height);
void sx_image_finish(struct sx_image *img);

/*
 * Copies the pixels of an image (NV12: the Y plane) into an image of the same format and size. The pitches
 * may differ.
 */
void sx_image_copy(const struct sx_image *to, const struct sx_image *from);

static inline void *sx_image_row(const struct sx_image *img, int y)
{
	return (char *)img->data + (size_t)y * img->pitch;
}

#endif
