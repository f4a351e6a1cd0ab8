/*
 * Converts camera pixels to grey inside a kernel, four at a time, for ingest and census.
 * stages/stereo/ingest.h defines the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_INGEST_GREY_CUH
#define SX_GPU_INGEST_GREY_CUH

#include <stddef.h>

#include "base/image.h"
#include "gpu/cuda.cuh"
#include "gpu/frame.h"

/* One image of the frame's input, at any address, with any pitch. end: first byte after the last row. */
struct sx_source {
	const uint8_t *data, *end;
	size_t pitch;
};

template <enum sx_pixel PIXEL> __device__ inline int sx_source_bytes()
{
	return PIXEL == SX_PIXEL_RGB24 ? 3 : PIXEL == SX_PIXEL_U8 || PIXEL == SX_PIXEL_NV12 ? 1 : 2;
}

template <enum sx_pixel PIXEL>
__device__ inline struct sx_source sx_source_of(const struct sx_cuda_input *in, int image, int width,
						int height)
{
	struct sx_source s;

	s.data = in->image[image];
	s.pitch = (size_t)in->pitch[image];
	s.end = s.data + s.pitch * (size_t)(height - 1) + (size_t)width * sx_source_bytes<PIXEL>();
	return s;
}

/* Returns the aligned word at p. Bytes outside the image are not read; they are 0 in the result. */
__device__ inline uint32_t sx_source_word(const struct sx_source *s, const uint8_t *p)
{
	uint32_t word = 0;

	if (p >= s->data && p + 4 <= s->end)
		return *reinterpret_cast<const uint32_t *>(p);
	for (int i = 0; i < 4; i++)
		if (p + i >= s->data && p + i < s->end)
			word |= (uint32_t)p[i] << (8 * i);
	return word;
}

/* Loads N words from p on, for every alignment. Each byte of the image is fetched once, by aligned loads. */
template <int N>
__device__ inline void sx_source_words(const struct sx_source *s, const uint8_t *p, uint32_t *out)
{
	unsigned odd = (unsigned)(reinterpret_cast<uintptr_t>(p) & 3);
	const uint8_t *at = p - odd;

	if (N == 2 && (reinterpret_cast<uintptr_t>(p) & 7) == 0 && p + 8 <= s->end) {
		uint2 both = *reinterpret_cast<const uint2 *>(p);

		out[0] = both.x;
		out[1] = both.y;
		return;
	}
	for (int i = 0; i < N; i++)
		out[i] = sx_source_word(s, at + 4 * i);
	if (odd) {
		uint32_t last = sx_source_word(s, at + 4 * N);

		for (int i = 0; i < N; i++)
			out[i] = __funnelshift_r(out[i], i + 1 < N ? out[i + 1] : last, 8 * odd);
	}
}

__device__ inline uint32_t sx_grey_of_rgb(uint32_t r, uint32_t g, uint32_t b)
{
	return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

/* Returns the grey level of pixel x of a row, read byte by byte. Not for Y16. */
template <enum sx_pixel PIXEL> __device__ inline uint32_t sx_grey1(const uint8_t *row, uint32_t x)
{
	if (PIXEL == SX_PIXEL_YUYV)
		return row[2 * x];
	if (PIXEL == SX_PIXEL_UYVY)
		return row[2 * x + 1];
	if (PIXEL == SX_PIXEL_RGB24)
		return sx_grey_of_rgb(row[3 * x], row[3 * x + 1], row[3 * x + 2]);
	return row[x];
}

/*
 * Returns the grey levels of pixels x .. x + 3 of row y, lowest byte first. x is a multiple of 4 inside the
 * image. Levels beyond the row's end are undefined. Not for Y16, whose grey depends on the whole pair.
 */
template <enum sx_pixel PIXEL> __device__ inline uint32_t sx_grey4(const struct sx_source *s, int x, int y)
{
	const int bytes = PIXEL == SX_PIXEL_RGB24			   ? 3
			  : PIXEL == SX_PIXEL_U8 || PIXEL == SX_PIXEL_NV12 ? 1
									   : 2;
	const uint8_t *p = s->data + (size_t)y * s->pitch + (size_t)x * bytes;
	uint32_t w[bytes];

	sx_source_words<bytes>(s, p, w);
	if (PIXEL == SX_PIXEL_YUYV)
		return __byte_perm(w[0], w[bytes - 1], 0x6420);
	if (PIXEL == SX_PIXEL_UYVY)
		return __byte_perm(w[0], w[bytes - 1], 0x7531);
	if (PIXEL == SX_PIXEL_RGB24) {
		uint32_t w1 = w[bytes / 2], w2 = w[bytes - 1]; /* w[1], w[2] if there are three words */

		return sx_grey_of_rgb(w[0] & 255, w[0] >> 8 & 255, w[0] >> 16 & 255) |
		       sx_grey_of_rgb(w[0] >> 24, w1 & 255, w1 >> 8 & 255) << 8 |
		       sx_grey_of_rgb(w1 >> 16 & 255, w1 >> 24, w2 & 255) << 16 |
		       sx_grey_of_rgb(w2 >> 8 & 255, w2 >> 16 & 255, w2 >> 24) << 24;
	}
	return w[0];
}

#endif
