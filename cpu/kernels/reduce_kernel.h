/*
 * Column reduction on lanes. stages/stixels/reduce.h defines the result.
 *
 * Work:   16 rows of one stixel column at a time. Their pixels are transposed into one array per pixel
 *         column, so that lanes are rows. Then follow a sorting network and a choice by the number of valid
 *         pixels. The compiler vectorises loops over lanes; it has the instructions (16-bit minimum and
 *         maximum).
 * Ranges: sums of 32 pixels: confidence < 2^13, disparity < 2^21. Quotients: see divide_confidence(), mean().
 * Shapes: any width, height and pitch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_REDUCE_KERNEL_H
#define SX_CPU_KERNELS_REDUCE_KERNEL_H

#include "cpu/vec/vec_inline.h"
#include "stages/stixels/reduce.h"

#define RD_INLINE static ALWAYS_INLINE
#define RD_LANES 16
#define RD_MAX 32 /* largest width of a stixel column, px */

struct reduce_block {
	uint16_t d[RD_MAX][RD_LANES];
	uint16_t c[RD_MAX][RD_LANES];
	uint16_t valid[RD_LANES], out[RD_LANES], confidence[RD_LANES];
};

/*
 * Loads rows v .. v + rows - 1 (counted up from the bottom) of the pixels from x on. Lanes beyond rows repeat
 * the last row.
 */
RD_INLINE void load_block(struct reduce_block *b, const struct sx_image *disparity,
			  const struct sx_image *confidence, int x, int v, int rows, int width)
{
	for (int lane = 0; lane < RD_LANES; lane++) {
		const int y = disparity->height - 1 - (v + (lane < rows ? lane : rows - 1));
		const uint16_t *d = (const uint16_t *)sx_image_row(disparity, y) + x;

		for (int i = 0; i < width; i++)
			b->d[i][lane] = d[i];
		if (confidence) {
			const uint8_t *c = (const uint8_t *)sx_image_row(confidence, y) + x;

			for (int i = 0; i < width; i++)
				b->c[i][lane] = c[i];
		}
	}
}

RD_INLINE void count_valid(struct reduce_block *b, int width)
{
	for (int l = 0; l < RD_LANES; l++)
		b->valid[l] = 0;
	for (int i = 0; i < width; i++)
		for (int l = 0; l < RD_LANES; l++)
			b->valid[l] = (uint16_t)(b->valid[l] + (b->d[i][l] != SX_DISPARITY_INVALID));
}

/*
 * Computes (2 s + w) / (2 w) by multiplication. 2 s + w < 2^14, so the error stays below 2^-7 < 1 / 64 <= 1 /
 * (2 w).
 */
RD_INLINE void divide_confidence(struct reduce_block *b, int width)
{
	const uint32_t reciprocal = ((1u << 21) + 2 * (uint32_t)width - 1) / (2 * (uint32_t)width);
	uint16_t sum[RD_LANES] = {0};

	for (int i = 0; i < width; i++)
		for (int l = 0; l < RD_LANES; l++)
			sum[l] = (uint16_t)(sum[l] + (b->d[i][l] != SX_DISPARITY_INVALID ? b->c[i][l] : 0));
	for (int l = 0; l < RD_LANES; l++)
		b->confidence[l] = (uint16_t)(((2u * sum[l] + (uint32_t)width) * reciprocal) >> 21);
}

RD_INLINE void exchange(uint16_t *low, uint16_t *high)
{
	for (int l = 0; l < RD_LANES; l++) {
		const uint16_t a = low[l], b = high[l];

		low[l] = a < b ? a : b;
		high[l] = a < b ? b : a;
	}
}

/* Sorts the pixels of each lane (invalid ones last) by odd-even transposition, and takes the upper median. */
RD_INLINE void median(struct reduce_block *b, int width)
{
	for (int round = 0; round < width; round++)
		for (int i = round & 1; i + 1 < width; i += 2)
			exchange(b->d[i], b->d[i + 1]);
	for (int l = 0; l < RD_LANES; l++)
		b->out[l] = b->d[0][l];
	/* the median has at most width / 2 valid pixels before it, so its index is at most width / 2 */
	for (int i = 1; i <= width / 2; i++)
		for (int l = 0; l < RD_LANES; l++)
			b->out[l] = b->valid[l] / 2 == i ? b->d[i < width ? i : 0][l] : b->out[l];
}

/*
 * Computes (2 s + n) / (2 n) in float. The quotient is below 2^16 and 2 n <= 64, so a rounded quotient cannot
 * reach the next integer.
 */
RD_INLINE void mean(struct reduce_block *b, int width)
{
	uint32_t sum[RD_LANES] = {0};

	for (int i = 0; i < width; i++)
		for (int l = 0; l < RD_LANES; l++)
			sum[l] += b->d[i][l] != SX_DISPARITY_INVALID ? b->d[i][l] : 0u;
	for (int l = 0; l < RD_LANES; l++) {
		const int n = b->valid[l] ? b->valid[l] : 1;

		b->out[l] = (uint16_t)(int)((float)(int)(2 * sum[l] + (uint32_t)n) / (float)(2 * n));
	}
}

RD_INLINE void reduce_block(struct reduce_block *b, int width, enum sx_reduction how, bool confidence)
{
	count_valid(b, width);
	if (confidence)
		divide_confidence(b, width);
	if (how == SX_REDUCTION_MEDIAN)
		median(b, width);
	else
		mean(b, width);
	for (int l = 0; l < RD_LANES; l++)
		b->out[l] = 2 * b->valid[l] < width ? SX_DISPARITY_INVALID : b->out[l];
}

RD_INLINE void reduce_width(const struct sx_image *disparity, const struct sx_image *confidence, int width,
			    enum sx_reduction how, struct sx_image *columns,
			    struct sx_image *columns_confidence)
{
	const int h = disparity->height, w = sx_reduce_columns(disparity->width, width);
	struct reduce_block b;

	for (int v = 0; v < h; v += RD_LANES) {
		const int rows = h - v < RD_LANES ? h - v : RD_LANES;

		for (int u = 0; u < w; u++) {
			uint16_t *out = (uint16_t *)sx_image_row(columns, u) + v;

			load_block(&b, disparity, confidence, u * width, v, rows, width);
			reduce_block(&b, width, how, confidence != NULL);
			for (int l = 0; l < rows; l++)
				out[l] = b.out[l];
			if (confidence) {
				uint8_t *c = (uint8_t *)sx_image_row(columns_confidence, u) + v;

				for (int l = 0; l < rows; l++)
					c[l] = (uint8_t)b.confidence[l];
			}
		}
	}
}

static void reduce(const struct sx_image *disparity, const struct sx_image *confidence, int width,
		   enum sx_reduction how, struct sx_image *columns, struct sx_image *columns_confidence)
{
	/* passes the usual width as a constant, so that loops unroll */
	if (width == 5)
		reduce_width(disparity, confidence, 5, how, columns, columns_confidence);
	else
		reduce_width(disparity, confidence, width, how, columns, columns_confidence);
}

#endif
