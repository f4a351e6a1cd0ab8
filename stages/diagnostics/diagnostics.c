/*
 * Image diagnostics of a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/diagnostics/diagnostics.h"

#include <stdlib.h>
#include <string.h>

#include "stages/diagnostics/diagnostics_vote.h"

#define LAST (SX_DIAGNOSTICS_FLAT_COLUMNS - 1)

static const uint8_t *pixel(const struct sx_image *grey, int x, int y)
{
	return (const uint8_t *)sx_image_row(grey, y) + x;
}

/* Returns the start of the i-th of n shares of count. */
static int share(int count, int i, int n)
{
	return count * i / n;
}

/* ---- samples ---- */

/* Adds `count` samples from column x on: a whole area, or the rest of a row. */
static void sample_area(const struct sx_image *grey, int x, int y, int count,
			struct sx_diagnostics_image *sum)
{
	const uint8_t *g = pixel(grey, x, y), *above = pixel(grey, x, y - 1), *below = pixel(grey, x, y + 1);
	uint32_t dark = 0, bright = 0, checksum = 0, place = sx_diagnostics_place(x, y);
	int32_t laplacian = 0, half[2] = {0, 0};

	for (int i = 0; i < count; i++, place += SX_DIAGNOSTICS_NEXT_PLACE) {
		dark += g[i] <= SX_DIAGNOSTICS_DARK;
		bright += g[i] >= SX_DIAGNOSTICS_BRIGHT;
		laplacian += abs(4 * g[i] - g[i - 1] - g[i + 1] - above[i] - below[i]);
		checksum += g[i] * sx_diagnostics_weight(place);
	}
	sum->dark += dark;
	sum->bright += bright;
	sum->laplacian += (uint32_t)laplacian;
	sum->checksum += checksum;
	if (count < SX_DIAGNOSTICS_FLAT_COLUMNS)
		return;
	for (int i = 0; i < SX_DIAGNOSTICS_FLAT_COLUMNS / 2; i++) {
		const int j = i + SX_DIAGNOSTICS_FLAT_COLUMNS / 2;

		half[0] += g[i] + above[i] + below[i];
		half[1] += g[j] + above[j] + below[j];
	}
	if (sx_diagnostics_is_area(g[0] + above[0] + below[0], g[LAST] + above[LAST] + below[LAST])) {
		sum->areas++;
		sum->flat += sx_diagnostics_is_flat(half[0], half[1], laplacian);
	}
}

static void sample_row(const struct sx_image *grey, int y, struct sx_diagnostics_image *sum)
{
	const int areas = sx_diagnostics_areas(grey->width), rest = 1 + areas * SX_DIAGNOSTICS_FLAT_COLUMNS;

	for (int i = 0; i < areas; i++)
		sample_area(grey, 1 + i * SX_DIAGNOSTICS_FLAT_COLUMNS, y, SX_DIAGNOSTICS_FLAT_COLUMNS, sum);
	sample_area(grey, rest, y, grey->width - 1 - rest, sum);
}

static void sample(const struct sx_image grey[2], int i, struct sx_diagnostics_part *ret)
{
	const int rows = sx_diagnostics_sample_rows(grey->height);
	const int first = share(rows, i, SX_DIAGNOSTICS_ROWS), end = share(rows, i + 1, SX_DIAGNOSTICS_ROWS);

	for (int row = first; row < end; row++)
		for (int side = 0; side < 2; side++)
			sample_row(&grey[side],
				   SX_DIAGNOSTICS_SAMPLE_ROWS * row + SX_DIAGNOSTICS_SAMPLE_ROWS / 2,
				   &ret->image[side]);
	ret->samples += (uint32_t)((end - first) * (grey->width - 2));
}

/* ---- density ---- */

static void count_map(const struct sx_image *disparity, int i, struct sx_diagnostics_part *ret)
{
	const int first = share(disparity->height, i, SX_DIAGNOSTICS_ROWS),
		  end = share(disparity->height, i + 1, SX_DIAGNOSTICS_ROWS);

	for (int y = first; y < end; y++) {
		const uint16_t *d = sx_image_row(disparity, y);
		/* 16 bits, as the map has, so that vectors have equal lanes; the counts of a row fit */
		uint16_t measured = 0, near = 0;

		for (int x = 0; x < disparity->width; x++) {
			measured = (uint16_t)(measured + (d[x] != SX_DISPARITY_INVALID));
			near = (uint16_t)(near + (d[x] < SX_DIAGNOSTICS_NEAR));
		}
		ret->measured += measured;
		ret->near += near;
	}
}

static bool is_blind(const uint16_t *cells, int count)
{
	for (int v = 0; v < count; v++)
		if (cells[v] != SX_DISPARITY_INVALID)
			return false;
	return true;
}

static void count_columns(const struct sx_image *columns, int i, struct sx_diagnostics_part *ret)
{
	const int first = share(columns->height, i, SX_DIAGNOSTICS_ROWS),
		  end = share(columns->height, i + 1, SX_DIAGNOSTICS_ROWS);

	for (int u = first; u < end; u++)
		ret->blind += is_blind(sx_image_row(columns, u), columns->width);
}

/* ---- rows ---- */

/*
 * Returns true if the window at (x, y) is a corner. Computes the differences of the whole window first, so
 * that compilers can vectorise both halves.
 */
static bool is_corner(const struct sx_image *left, int x, int y)
{
	int16_t gx[SX_DIAGNOSTICS_AREA], gy[SX_DIAGNOSTICS_AREA];
	int32_t xx = 0, yy = 0, xy = 0;

	for (int j = 0; j < SX_DIAGNOSTICS_AREA; j += SX_DIAGNOSTICS_WIDTH) {
		const uint8_t *g = pixel(left, x - SX_DIAGNOSTICS_LEFT,
					 y - SX_DIAGNOSTICS_UP + j / SX_DIAGNOSTICS_WIDTH);

		for (int i = 0; i < SX_DIAGNOSTICS_WIDTH; i++)
			gx[j + i] = (int16_t)(g[i + 1] - g[i - 1]);
		for (int i = 0; i < SX_DIAGNOSTICS_WIDTH; i++)
			gy[j + i] = (int16_t)((g + left->pitch)[i] - (g - left->pitch)[i]);
	}
	for (int i = 0; i < SX_DIAGNOSTICS_AREA; i++) {
		xx += gx[i] * gx[i];
		yy += gy[i] * gy[i];
		xy += gx[i] * gy[i];
	}
	return sx_diagnostics_is_corner(xx, yy, xy);
}

/* Returns the sum of absolute differences. right: first pixel of a window. */
static int32_t difference(const uint8_t left[SX_DIAGNOSTICS_AREA], const uint8_t *right, size_t pitch)
{
	int32_t sum = 0;

	for (int j = 0; j < SX_DIAGNOSTICS_AREA; j += SX_DIAGNOSTICS_WIDTH, right += pitch)
		for (int i = 0; i < SX_DIAGNOSTICS_WIDTH; i++)
			sum += abs(left[j + i] - right[i]);
	return sum;
}

static int look(const struct sx_image grey[2], int x, int y, int d_q4)
{
	const int u = x - ((d_q4 + 8) >> 4);
	_Alignas(16) uint8_t left[SX_DIAGNOSTICS_AREA]; /* window of the left image, row after row */
	int32_t cost[SX_DIAGNOSTICS_TRIED];

	for (int j = 0; j < 2 * SX_DIAGNOSTICS_UP + 1; j++)
		memcpy(left + j * SX_DIAGNOSTICS_WIDTH,
		       pixel(&grey[0], x - SX_DIAGNOSTICS_LEFT, y + j - SX_DIAGNOSTICS_UP),
		       SX_DIAGNOSTICS_WIDTH);
	for (int k = -SX_DIAGNOSTICS_REACH; k <= SX_DIAGNOSTICS_REACH; k++) {
		const uint8_t *right = pixel(&grey[1], u - SX_DIAGNOSTICS_LEFT, y + k - SX_DIAGNOSTICS_UP);
		int32_t least = INT32_MAX;

		for (int s = -SX_DIAGNOSTICS_SLACK; s <= SX_DIAGNOSTICS_SLACK; s++) {
			const int32_t sum = difference(left, right - s, grey[1].pitch);

			least = sum < least ? sum : least;
		}
		cost[k + SX_DIAGNOSTICS_REACH] = least;
	}
	return sx_diagnostics_vote(cost);
}

static void vote_row(const struct sx_diagnostics_input *in, int row, int16_t vote[SX_DIAGNOSTICS_COLUMNS])
{
	const int width = in->grey->width, y = sx_diagnostics_y(row, in->grey->height);
	const uint16_t *d = sx_image_row(in->left_right, y);

	for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++) {
		const int x = sx_diagnostics_x(i, width);

		vote[i] = SX_DIAGNOSTICS_NO_VOTE;
		if (sx_diagnostics_asks(i, width) && sx_diagnostics_sees(x, d[x], width) &&
		    is_corner(&in->grey[0], x, y))
			vote[i] = (int16_t)look(in->grey, x, y, d[x]);
	}
}

void sx_diagnostics_part(const struct sx_diagnostics_input *in, int i, struct sx_diagnostics_part *ret,
			 int16_t vote[SX_DIAGNOSTICS_COLUMNS])
{
	*ret = (struct sx_diagnostics_part){0};
	sample(in->grey, i, ret);
	count_map(in->disparity, i, ret);
	count_columns(in->columns, i, ret);
	vote_row(in, i, vote);
}

void sx_diagnostics_join(const struct sx_diagnostics_part part[SX_DIAGNOSTICS_ROWS],
			 struct sx_diagnostics *ret)
{
	ret->samples = ret->measured = ret->near = ret->blind = 0;
	memset(ret->image, 0, sizeof(ret->image));
	for (int i = 0; i < SX_DIAGNOSTICS_ROWS; i++) {
		ret->samples += part[i].samples;
		ret->measured += part[i].measured;
		ret->near += part[i].near;
		ret->blind += part[i].blind;
		for (int side = 0; side < 2; side++) {
			ret->image[side].dark += part[i].image[side].dark;
			ret->image[side].bright += part[i].image[side].bright;
			ret->image[side].laplacian += part[i].image[side].laplacian;
			ret->image[side].areas += part[i].image[side].areas;
			ret->image[side].flat += part[i].image[side].flat;
			ret->image[side].checksum += part[i].image[side].checksum;
		}
	}
}

void sx_diagnostics_images(const struct sx_image grey[2], struct sx_diagnostics *ret)
{
	struct sx_diagnostics_part all = {0};

	for (int i = 0; i < SX_DIAGNOSTICS_ROWS; i++)
		sample(grey, i, &all);
	ret->samples = all.samples;
	memcpy(ret->image, all.image, sizeof(all.image));
}

void sx_diagnostics(const struct sx_diagnostics_input *in, struct sx_diagnostics *ret)
{
	struct sx_diagnostics_part part[SX_DIAGNOSTICS_ROWS];

	for (int i = 0; i < SX_DIAGNOSTICS_ROWS; i++)
		sx_diagnostics_part(in, i, &part[i], ret->vote[i]);
	sx_diagnostics_join(part, ret);
}
