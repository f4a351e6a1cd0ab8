/*
 * Scores disparity maps and stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/metrics.h"

#include <stdbool.h>
#include <string.h>

const struct stixel *stixel_at(const struct stixel_list *list, int u, int y)
{
	for (uint32_t i = list->offsets[u]; i < list->offsets[u + 1]; i++)
		if (y >= list->stixels[i].row_top && y <= list->stixels[i].row_bottom)
			return &list->stixels[i];
	return NULL;
}

static double absolute(double x)
{
	return x < 0 ? -x : x;
}

void score_disparity(struct disparity_score *s, const struct sx_scene_truth *t, const struct sx_image *q4)
{
	for (int y = 0; y < t->height; y++) {
		const uint16_t *got = sx_image_row(q4, y);

		for (int x = 0; x < t->width; x++) {
			size_t at = (size_t)y * (size_t)t->width + (size_t)x;
			double want = (double)t->disparity[at], error;
			bool given = got[x] != SX_DISPARITY_INVALID, wrong;

			if (want <= 0)
				continue;
			error = absolute(got[x] / 16.0 - want);
			wrong = given && error > 3 && error > 0.05 * want;
			for (int k = t->visible[at] ? NOC : ALL; k <= ALL; k++) {
				s->truth[k]++;
				s->given[k] += given;
				s->wrong[k] += wrong;
			}
			if (t->visible[at] && given && !wrong)
				s->error_sum += error;
		}
	}
}

/* Returns the number of rows that two stixels share. */
static int overlap(const struct stixel *a, const struct stixel *b)
{
	int top = a->row_top > b->row_top ? a->row_top : b->row_top;
	int bottom = a->row_bottom < b->row_bottom ? a->row_bottom : b->row_bottom;

	return bottom >= top ? bottom - top + 1 : 0;
}

static int object_overlap(const struct stixel *one, const struct stixel *list, uint32_t n)
{
	int rows = 0;

	for (uint32_t i = 0; i < n; i++)
		if (list[i].kind == STIXEL_OBJECT)
			rows += overlap(one, &list[i]);
	return rows;
}

/* Returns the bits of a pixel's mask: 1 << kind of free space. */
static uint8_t free_kinds(const struct sx_scene_truth *t, int x, int y, int width)
{
	const uint8_t *visible = t->visible + (size_t)y * (size_t)t->width + (size_t)x;
	double d = (double)t->ground[(size_t)y * (size_t)t->width + (size_t)(x + width / 2)];
	double aside = x + 0.5 * (width - 1) - t->camera.cx;
	int votes = 0;
	bool seen, ahead;

	for (int k = 0; k < width; k++)
		votes += visible[k];
	seen = 2 * votes > width;
	/* distance to the side, m: aside * z / fx, with z = fx * baseline / d */
	ahead = absolute(aside) * t->camera.baseline_m < 1.0 * d;
	return (uint8_t)(1 << LITERAL | seen << MEASURABLE | (seen && ahead) << CORRIDOR);
}

static void mark_free(const struct sx_scene_truth *t, int width, int columns, const struct stixel_list *truth,
		      uint8_t *mask)
{
	memset(mask, 0, (size_t)columns * (size_t)t->height);
	for (int u = 0; u < columns; u++) {
		uint32_t i = truth->offsets[u];
		int top = t->height;

		for (; i < truth->offsets[u + 1] && truth->stixels[i].kind == STIXEL_GROUND; i++)
			top = truth->stixels[i].row_top;
		for (int y = top; y < t->height; y++)
			mask[(size_t)u * (size_t)t->height + (size_t)y] = free_kinds(t, u * width, y, width);
	}
}

/* Returns the number of a stixel's pixels in free space of the given kind. */
static int free_pixels(const struct stixel *s, const uint8_t *mask, int height, int columns, int width,
		       int space)
{
	int u = s->column, rows = 0, aside = space == LITERAL ? 0 : 1;

	for (int y = s->row_top; y <= s->row_bottom; y++) {
		bool is_free = true;

		for (int k = u - aside; k <= u + aside; k++)
			if (k >= 0 && k < columns)
				is_free &= mask[(size_t)k * (size_t)height + (size_t)y] >> space & 1;
		rows += is_free;
	}
	return rows * width;
}

static void score_column(struct stixel_score *s, int width, const struct stixel *truth, uint32_t truths,
			 const struct stixel *got, uint32_t n)
{
	for (uint32_t i = 0; i < truths; i++) {
		int rows = truth[i].row_bottom - truth[i].row_top + 1;

		if (truth[i].kind != STIXEL_OBJECT || rows * width < QUALITY_SMALLEST_PX)
			continue;
		s->truth++;
		s->detected += 2 * object_overlap(&truth[i], got, n) > rows;
	}
	for (uint32_t i = 0; i < n; i++)
		s->pixels += (uint64_t)(got[i].row_bottom - got[i].row_top + 1) * (uint64_t)width;
	s->stixels += n;
}

void score_stixels(struct stixel_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		   const struct stixel_list *truth, const struct stixel_list *got, uint8_t *scratch)
{
	int columns = t->width / width;

	mark_free(t, width, columns, truth, scratch);
	for (int u = first; u <= last; u++)
		score_column(s, width, truth->stixels + truth->offsets[u],
			     truth->offsets[u + 1] - truth->offsets[u], got->stixels + got->offsets[u],
			     got->offsets[u + 1] - got->offsets[u]);
	for (int space = 0; space < SPACES; space++) {
		uint64_t before = s->false_positives[space];

		for (uint32_t i = got->offsets[first]; i < got->offsets[last + 1]; i++)
			if (got->stixels[i].kind == STIXEL_OBJECT &&
			    free_pixels(&got->stixels[i], scratch, t->height, columns, width, space) >
				    QUALITY_FALSE_PX)
				s->false_positives[space]++;
		s->pairs_with_false[space] += s->false_positives[space] > before;
	}
	s->pairs++;
}
