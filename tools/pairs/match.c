/*
 * Finds places of one image in another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/pairs/match.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Contrast of a pixel: 128 + GAIN * (g - mean) / (deviation + FLOOR), over a square with a side of 2 AROUND +
 * 1 px.
 */
#define AROUND 7
#define GAIN 40.0f
#define FLOOR 6.0f

/* Size of a window: columns x - 8 .. x + 7, rows y - 5 .. y + 5. */
enum { LEFT = 8, WIDTH = 16, UP = 5, HEIGHT = 2 * UP + 1, AREA = WIDTH * HEIGHT, BESIDE = 2 };

#define STRUCTURE (400 * AREA) /* least sum of squared central contrast differences, each way */

static uint8_t *pixel(const struct sx_image *img, int x, int y)
{
	return (uint8_t *)sx_image_row(img, y) + x;
}

/* ---- contrast ---- */

static void reduce(const struct sx_image *small, const struct sx_image *grey, int factor)
{
	const int area = factor * factor;

	for (int y = 0; y < small->height; y++)
		for (int x = 0; x < small->width; x++) {
			int sum = area / 2;

			for (int j = 0; j < factor; j++)
				for (int i = 0; i < factor; i++)
					sum += *pixel(grey, x * factor + i, y * factor + j);
			*pixel(small, x, y) = (uint8_t)(sum / area);
		}
}

/*
 * Integral images: for each pixel the sums over all pixels above and to the left. Differences of these are
 * sums over squares.
 */
struct sums {
	int64_t *value, *square;
	int pitch;
};

static int sums_init(struct sums *s, const struct sx_image *img)
{
	const size_t n = (size_t)(img->width + 1) * (size_t)(img->height + 1);

	s->pitch = img->width + 1;
	s->value = calloc(2 * n, sizeof(*s->value));
	if (!s->value)
		return -ENOMEM;
	s->square = s->value + n;
	for (int y = 0; y < img->height; y++) {
		int64_t value = 0, square = 0;

		for (int x = 0; x < img->width; x++) {
			const int g = *pixel(img, x, y), at = (y + 1) * s->pitch + x + 1;

			value += g;
			square += g * g;
			s->value[at] = s->value[at - s->pitch] + value;
			s->square[at] = s->square[at - s->pitch] + square;
		}
	}
	return 0;
}

static float over(const int64_t *sum, int pitch, int x0, int y0, int x1, int y1)
{
	return (float)(sum[y1 * pitch + x1] - sum[y0 * pitch + x1] - sum[y1 * pitch + x0] +
		       sum[y0 * pitch + x0]);
}

static int match_clamp(int v, int least, int most)
{
	return v < least ? least : v > most ? most : v;
}

static int make_contrast(const struct sx_image *img)
{
	struct sums s;

	if (sums_init(&s, img) < 0)
		return -ENOMEM;
	for (int y = 0; y < img->height; y++) {
		const int y0 = match_clamp(y - AROUND, 0, y),
			  y1 = match_clamp(y + AROUND + 1, 0, img->height);

		for (int x = 0; x < img->width; x++) {
			const int x0 = match_clamp(x - AROUND, 0, x),
				  x1 = match_clamp(x + AROUND + 1, 0, img->width);
			const float n = (float)((x1 - x0) * (y1 - y0));
			const float mean = over(s.value, s.pitch, x0, y0, x1, y1) / n;
			const float variance = over(s.square, s.pitch, x0, y0, x1, y1) / n - mean * mean;
			uint8_t *g = pixel(img, x, y);

			*g = (uint8_t)match_clamp(
				(int)(128.5f +
				      GAIN * (*g - mean) / (sqrtf(variance > 0 ? variance : 0) + FLOOR)),
				0, 255);
		}
	}
	free(s.value);
	return 0;
}

int sx_match_factor(int width)
{
	return (width + SX_MATCH_WIDTH - 1) / SX_MATCH_WIDTH;
}

int sx_match_view_init(struct sx_match_view *ret, const struct sx_image *grey)
{
	struct sx_match_view v = {.factor = sx_match_factor(grey->width)};
	int r;

	if (grey->pixel != SX_PIXEL_U8 || grey->width < 64 || grey->height < 64 * v.factor)
		return -EINVAL;
	r = sx_image_init(&v.contrast, SX_PIXEL_U8, grey->width / v.factor, grey->height / v.factor);
	if (r < 0)
		return r;
	reduce(&v.contrast, grey, v.factor);
	r = make_contrast(&v.contrast);
	if (r < 0)
		sx_match_view_finish(&v);
	else
		*ret = v;
	return r;
}

void sx_match_view_finish(struct sx_match_view *v)
{
	sx_image_finish(&v->contrast);
}

/* ---- corners ---- */

/*
 * Returns the smaller of the horizontal and the vertical structure. 0 for a straight edge, or if there is too
 * little structure.
 */
static int32_t corner(const struct sx_image *img, int x, int y)
{
	int32_t xx = 0, yy = 0, xy = 0;

	for (int j = -UP; j <= UP; j++) {
		const uint8_t *g = pixel(img, x - LEFT, y + j), *above = pixel(img, x - LEFT, y + j - 1),
			      *below = pixel(img, x - LEFT, y + j + 1);

		for (int i = 0; i < WIDTH; i++) {
			const int gx = g[i + 1] - g[i - 1], gy = below[i] - above[i];

			xx += gx * gx;
			yy += gy * gy;
			xy += gx * gy;
		}
	}
	if (xx < STRUCTURE || yy < STRUCTURE || 2 * (int64_t)xy * xy > (int64_t)xx * yy)
		return 0;
	return xx < yy ? xx : yy;
}

/* Finds the best corner among nine places of a cell. Returns false if there is none. */
static bool choose(const struct sx_image *img, int column, int row, int *ret_x, int *ret_y)
{
	const int wide = img->width - WIDTH - 2, high = img->height - HEIGHT - 2;
	int32_t best = 0;

	for (int k = 0; k < 9; k++) {
		const int x = LEFT + 1 + (3 * column + k % 3) * wide / (3 * SX_MATCH_COLUMNS),
			  y = UP + 1 + (3 * row + k / 3) * high / (3 * SX_MATCH_ROWS);
		const int32_t found = corner(img, x, y);

		if (found > best) {
			best = found;
			*ret_x = x;
			*ret_y = y;
		}
	}
	return best > 0;
}

/* ---- search ---- */

static int32_t difference(const uint8_t window[AREA], const uint8_t *other, size_t pitch)
{
	int32_t sum = 0;

	for (int j = 0; j < AREA; j += WIDTH, other += pitch)
		for (int i = 0; i < WIDTH; i++)
			sum += abs(window[j + i] - other[i]);
	return sum;
}

/* Costs of all places in reach, in rows of `wide` places. first: column and row of the first place. */
struct search {
	int32_t *cost;
	int wide, high, first_x, first_y;
};

static void search_all(struct search *s, const struct sx_image *from, const struct sx_image *to, int x, int y,
		       const struct sx_match_reach *reach)
{
	const int last_x = match_clamp(x + reach->to, LEFT, to->width - WIDTH + LEFT),
		  last_y = match_clamp(y + reach->rows, UP, to->height - 1 - UP);
	_Alignas(16) uint8_t window[AREA];

	s->first_x = match_clamp(x + reach->from, LEFT, to->width - WIDTH + LEFT);
	s->first_y = match_clamp(y - reach->rows, UP, to->height - 1 - UP);
	s->wide = last_x - s->first_x + 1;
	s->high = last_y - s->first_y + 1;
	for (int j = 0; j < HEIGHT; j++)
		memcpy(window + j * WIDTH, pixel(from, x - LEFT, y + j - UP), WIDTH);
	for (int v = 0; v < s->high; v++) {
		const uint8_t *other = pixel(to, s->first_x - LEFT, s->first_y + v - UP);

		for (int u = 0; u < s->wide; u++)
			s->cost[v * s->wide + u] = difference(window, other + u, to->pitch);
	}
}

/*
 * Returns the position of the minimum between three costs, relative to the middle one, which is the least.
 * Fits two lines of equal steepness, because sums of absolute differences have this shape. A parabola would
 * bias the position toward the middle.
 */
static float vertex(int32_t before, int32_t least, int32_t after)
{
	const float a = (float)(before - least), b = (float)(after - least), most = a > b ? a : b;

	return most > 0 ? 0.5f * (a - b) / most : 0;
}

/* Returns the least cost of a row near column u. A leaning edge has its minimum in another column there. */
static int32_t beside(const struct search *s, int u, int v)
{
	int32_t least = INT32_MAX;

	for (int i = match_clamp(u - 1, 0, u); i <= match_clamp(u + 1, u, s->wide - 1); i++)
		least = s->cost[v * s->wide + i] < least ? s->cost[v * s->wide + i] : least;
	return least;
}

/*
 * Returns whether the best place lies inside of the reach and is 15 % better than any place that is not
 * beside it.
 */
static bool is_clear(const struct search *s, int u, int v, int32_t least)
{
	if (u == 0 || v == 0 || u == s->wide - 1 || v == s->high - 1 || least > 25 * AREA)
		return false;
	for (int j = 0; j < s->high; j++)
		for (int i = 0; i < s->wide; i++)
			if ((abs(i - u) > BESIDE || abs(j - v) > BESIDE) &&
			    20 * (int64_t)s->cost[j * s->wide + i] < 23 * (int64_t)least)
				return false;
	return true;
}

static bool search_place(struct search *s, const struct sx_image *from, const struct sx_image *to, int x,
			 int y, const struct sx_match_reach *reach, struct sx_match *ret)
{
	int best = 0, u, v;

	search_all(s, from, to, x, y, reach);
	if (s->wide < 3 || s->high < 3)
		return false;
	for (int i = 1; i < s->wide * s->high; i++)
		if (s->cost[i] < s->cost[best])
			best = i;
	u = best % s->wide;
	v = best / s->wide;
	if (!is_clear(s, u, v, s->cost[best]))
		return false;
	ret->x = (float)x;
	ret->y = (float)y;
	ret->dx = (float)(s->first_x + u - x) + vertex(s->cost[best - 1], s->cost[best], s->cost[best + 1]);
	ret->dy =
		(float)(s->first_y + v - y) + vertex(beside(s, u, v - 1), s->cost[best], beside(s, u, v + 1));
	return true;
}

int sx_match(const struct sx_match_view *from, const struct sx_match_view *to,
	     const struct sx_match_reach *reach, struct sx_match ret[SX_MATCH_MOST])
{
	const struct sx_image *img = &from->contrast;
	const int k = from->factor;
	const struct sx_match_reach r = {(reach->from - k + 1) / k - BESIDE, (reach->to + k - 1) / k + BESIDE,
					 (reach->rows + k - 1) / k};
	struct search s = {
		.cost = calloc((size_t)(r.to - r.from + 1) * (size_t)(2 * r.rows + 1), sizeof(*s.cost))};
	int n = 0, x = 0, y = 0;

	if (!s.cost)
		return -ENOMEM;
	for (int cell = 0; cell < SX_MATCH_MOST; cell++) {
		struct sx_match *m = &ret[n];

		if (!choose(img, cell % SX_MATCH_COLUMNS, cell / SX_MATCH_COLUMNS, &x, &y) ||
		    !search_place(&s, img, &to->contrast, x, y, &r, m))
			continue;
		*m = (struct sx_match){(float)k * m->x + (float)(k - 1) / 2,
				       (float)k * m->y + (float)(k - 1) / 2, (float)k * m->dx,
				       (float)k * m->dy};
		n++;
	}
	free(s.cost);
	return n;
}
