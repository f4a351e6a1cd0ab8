/*
 * Computes statistics of some pairs of one rig.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/pairs/pair_stats.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/statistics/quantile.h"
#include "stages/diagnostics/diagnostics.h"
#include "tools/pairs/fit.h"
#include "tools/pairs/match.h"

enum {
	CONTRAST = 40,	/* grey levels; least contrast of a window whose steps count */
	AROUND = 8,	/* px, half the side of such a window */
	STEPS = 200,	/* bins of the histogram of sharpness */
	LEAST = 40,	/* least number of matches from which a statistic is computed */
	LATE_LEAST = 16 /* the same for matches that move */
};

#define DEGREES (180 / 3.14159265358979323846)
#define FAR 1.0	     /* px of disparity; a smaller one may be infinity */
#define STILL 0.25   /* px; positions in both images that differ less count as equal */
#define MOVES 0.75   /* px of the view; a larger shift is motion and not a matching error */
#define PER_MS 100.0 /* the motion term is in px in 100 ms, so that it has the magnitude of the other terms */

/* A place of the left image found in the right one. up_down: its vertical motion, px per ms; NAN: unknown. */
struct place {
	struct sx_match m;
	double up_down;
	bool moves;
};

struct sx_pairs {
	int width, height, min_disparity, disparities;
	int pairs, count, factor;
	struct place *place;
	double grey[2], difference; /* sums over the pixels of all pairs */
	uint64_t levels[256];	    /* number of pixels of each grey level */
	uint32_t last[2];	    /* checksums of the images of the last pair */
	double samples;		    /* samples of all pairs; the members below are sums over these, too */
	double dark[2], saturated[2], areas[2], flat[2];
	int frozen[2];
	unsigned steps[2][STEPS + 1];
};

void sx_pair_stats_init(struct sx_pair_stats *f)
{
	const double unknown = (double)NAN;

	*f = (struct sx_pair_stats){
		.density = unknown,
		.exchanged = unknown,
		.dark = {unknown, unknown},
		.saturated = {unknown, unknown},
		.flat = {unknown, unknown},
		.frozen = {unknown, unknown},
		.grey = {unknown, unknown},
		.least = unknown,
		.most = unknown,
		.sharp = {unknown, unknown},
		.laplacian = {unknown, unknown},
		.difference = unknown,
		.still = unknown,
		.agree = unknown,
		.behind = unknown,
		.disparity = unknown,
		.rows = unknown,
		.turn = unknown,
		.stretch = unknown,
		.off = unknown,
		.bent = unknown,
		.late_ms = unknown,
		.late_miss = unknown,
		.late_px = unknown,
		.skew_ms = unknown,
	};
}

void sx_pair_rows_of_thirds(struct sx_pair_stats *f, const double rows[4])
{
	double mean, turned;

	f->off = fmax(fmax(fabs(rows[0]), fabs(rows[1])), fmax(fabs(rows[2]), fabs(rows[3])));
	f->turn = 0;
	mean = (rows[0] + rows[1] + rows[2]) / 3;
	turned = (rows[2] - rows[0]) / 2;
	if (f->width > 0 && fabs(mean) + fabs(turned) >= f->off / 2) {
		f->rows = mean;
		f->turn = atan(3 * turned / f->width) * DEGREES;
		return;
	}
	/* take the row error of the whole image; if it hides the error of a third, take that third's */
	f->rows = rows[3];
	for (int i = 0; i < 3; i++)
		if (!(fabs(f->rows) >= f->off / 2) && !isnan(rows[i]))
			f->rows = rows[i];
}

int sx_pairs_create(struct sx_pairs **ret, int width, int height, int min_disparity, int disparities)
{
	struct sx_pairs *p;

	if (width < 64 || height < 64 * sx_match_factor(width))
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->width = width;
	p->factor = sx_match_factor(width);
	p->height = height;
	p->min_disparity = min_disparity;
	p->disparities = disparities;
	*ret = p;
	return 0;
}

void sx_pairs_destroy(struct sx_pairs *p)
{
	if (p)
		free(p->place);
	free(p);
}

/* ---- pixels ---- */

static void add_pixels(struct sx_pairs *p, const struct sx_image image[2])
{
	for (int y = 0; y < p->height; y++) {
		const uint8_t *row[2] = {sx_image_row(&image[0], y), sx_image_row(&image[1], y)};
		unsigned sum[2] = {0}, difference = 0;

		for (int x = 0; x < p->width; x++) {
			for (int side = 0; side < 2; side++) {
				sum[side] += row[side][x];
				p->levels[row[side][x]]++;
			}
			difference += (unsigned)abs(row[0][x] - row[1][x]);
		}
		for (int side = 0; side < 2; side++)
			p->grey[side] += sum[side];
		p->difference += difference;
	}
}

/* Finds the grey levels below which, and above which, one in 200 pixels lies. */
static void find_levels(const struct sx_pairs *p, struct sx_pair_stats *ret)
{
	const uint64_t tail = 2 * (uint64_t)p->width * (uint64_t)p->height * (uint64_t)p->pairs / 200;
	int least = 0, most = 255;

	for (uint64_t n = p->levels[0]; n <= tail; n += p->levels[++least])
		;
	for (uint64_t n = p->levels[255]; n <= tail; n += p->levels[--most])
		;
	ret->least = least;
	ret->most = most;
}

/* Counts samples of a pair. Call before the pair itself is counted. */
static void add_samples(struct sx_pairs *p, const struct sx_image image[2])
{
	struct sx_diagnostics m;
	bool again[2];

	sx_diagnostics_images(image, &m);
	p->samples += m.samples;
	for (int side = 0; side < 2; side++) {
		p->dark[side] += m.image[side].dark;
		p->saturated[side] += m.image[side].bright;
		p->areas[side] += m.image[side].areas;
		p->flat[side] += m.image[side].flat;
		again[side] = p->pairs && m.image[side].checksum == p->last[side];
	}
	for (int side = 0; side < 2; side++) {
		p->frozen[side] += again[side] && !again[!side];
		p->last[side] = m.image[side].checksum;
	}
}

/* Adds the sharpness of the window around x, y to the histogram, if the window has contrast. */
static void add_step(unsigned steps[STEPS + 1], const struct sx_image *img, int x, int y)
{
	int least = 255, most = 0, steepest = 0;

	for (int j = -AROUND; j <= AROUND; j++) {
		const uint8_t *g = (const uint8_t *)sx_image_row(img, y + j) + x;
		const uint8_t *above = g - img->pitch, *below = g + img->pitch;

		for (int i = -AROUND; i <= AROUND; i++) {
			const int across = abs(g[i + 1] - g[i - 1]), down = abs(below[i] - above[i]);

			least = g[i] < least ? g[i] : least;
			most = g[i] > most ? g[i] : most;
			steepest = across > steepest ? across : steepest;
			steepest = down > steepest ? down : steepest;
		}
	}
	if (most - least >= CONTRAST)
		steps[steepest * STEPS / 2 / (most - least) < STEPS ? steepest * STEPS / 2 / (most - least)
								    : STEPS]++;
}

static void add_steps(unsigned steps[STEPS + 1], const struct sx_image *img)
{
	for (int y = AROUND + 1; y < img->height - AROUND - 1; y += AROUND)
		for (int x = AROUND + 1; x < img->width - AROUND - 1; x += AROUND)
			add_step(steps, img, x, y);
}

static double upper_quartile(const unsigned steps[STEPS + 1])
{
	unsigned n = 0, above = 0;

	for (int i = 0; i <= STEPS; i++)
		n += steps[i];
	if (n < LEAST)
		return (double)NAN;
	for (int i = STEPS;; i--) {
		above += steps[i];
		if (4 * above >= n)
			return (double)i / STEPS;
	}
}

/* ---- places ---- */

static struct place *make_room(struct sx_pairs *p)
{
	const int room = p->count + SX_MATCH_MOST;
	struct place *more = realloc(p->place, (size_t)room * sizeof(*more));

	if (more)
		p->place = more;
	return more;
}

/*
 * Joins the matches in the right image with those in the later one. Both lists belong to the same view and
 * have the order of its cells.
 */
static void join_places(struct sx_pairs *p, const struct sx_match *right, int count,
			const struct sx_match *later, int later_count, double later_ms)
{
	int j = 0;

	for (int i = 0; i < count; i++) {
		struct place *at = &p->place[p->count++];

		*at = (struct place){right[i], (double)NAN, false};
		for (int k = j; k < later_count; k++)
			if (later[k].x == right[i].x && later[k].y == right[i].y) {
				at->up_down = later[k].dy / later_ms;
				at->moves = fabs((double)later[k].dy) >= MOVES * p->factor;
				j = k + 1;
				break;
			}
	}
}

static int add_places(struct sx_pairs *p, const struct sx_match_view view[3], bool has_later, double later_ms)
{
	struct sx_match right[SX_MATCH_MOST], later[SX_MATCH_MOST];
	const int ahead = p->min_disparity + p->disparities, behind = -p->min_disparity, wide = p->width / 2;
	const int most = ahead > behind ? ahead : behind, reach = most < wide ? most : wide;
	const struct sx_match_reach to_right = {-reach, reach, p->height / 8},
				    to_later = {-p->width / 16, p->width / 16, p->width / 16};
	int n = sx_match(&view[0], &view[1], &to_right, right), k = 0;

	if (n > 0 && has_later)
		k = sx_match(&view[0], &view[2], &to_later, later);
	if (n < 0 || k < 0 || !make_room(p))
		return -ENOMEM;
	join_places(p, right, n, later, k, later_ms);
	return 0;
}

int sx_pairs_add(struct sx_pairs *p, const struct sx_image *left, const struct sx_image *right,
		 const struct sx_image *later, double later_ms)
{
	const struct sx_image image[3] = {*left, *right, later ? *later : *left};
	struct sx_match_view view[3] = {0};
	int r = 0;

	for (int i = 0; i < 3; i++)
		if (image[i].width != p->width || image[i].height != p->height ||
		    image[i].pixel != SX_PIXEL_U8)
			return -EINVAL;
	for (int i = 0; r == 0 && i < (later ? 3 : 2); i++)
		r = sx_match_view_init(&view[i], &image[i]);
	if (r == 0)
		r = add_places(p, view, later != NULL, later_ms);
	if (r == 0) {
		add_pixels(p, image);
		add_samples(p, image);
		for (int side = 0; side < 2; side++)
			add_steps(p->steps[side], &image[side]);
		p->pairs++;
	}
	for (int i = 0; i < 3; i++)
		sx_match_view_finish(&view[i]);
	return r;
}

/* ---- statistics ---- */

/*
 * Returns the terms of the rows' model at a place: 1, x, y, in half widths. The other terms are motion, or
 * the terms of the bent model: x y, x^2, y^2.
 */
static struct sx_fit_point point_of(const struct sx_pairs *p, const struct place *at, bool motion)
{
	const double half = p->width / 2.0;
	const double x = (at->m.x + at->m.dx - half) / half, y = (at->m.y - p->height / 2.0) / half;
	struct sx_fit_point t = {{1, x, y, x * y, x * x, y * y}, at->m.dy};

	if (motion)
		t.term[3] = at->up_down * PER_MS;
	return t;
}

enum { LEVEL = 3, BENT = 6, MOVING = 4 }; /* number of terms of each model */

static double level_at(const struct sx_fit *f, const struct sx_fit_point *p)
{
	return p->value - sx_fit_residual(f, p, LEVEL);
}

/*
 * Returns how far a bent model deviates from a level one, px, 95th percentile. scratch has room for n values.
 */
static double find_bend(const struct sx_fit_point *p, int n, double tolerance, double *scratch)
{
	struct sx_fit bent, level;
	struct sx_fit_point *of = malloc((size_t)n * sizeof(*of));
	double bend = (double)NAN;
	int kept = 0;

	if (!of || !sx_fit(&bent, p, n, BENT, 0, tolerance)) {
		free(of);
		return bend;
	}
	for (int i = 0; i < n; i++)
		if (fabs(sx_fit_residual(&bent, &p[i], BENT)) <= tolerance) {
			of[kept] = p[i];
			of[kept++].value = p[i].value - sx_fit_residual(&bent, &p[i], BENT);
		}
	if (sx_fit(&level, of, kept, LEVEL, 0, HUGE_VAL)) {
		for (int i = 0; i < kept; i++)
			scratch[i] = fabs(of[i].value - level_at(&level, &of[i]));
		bend = sx_quantile(scratch, (size_t)kept, 0.95);
	}
	free(of);
	return bend;
}

/* Computes the statistics over the places that fit the model of the rows. */
static void find_explained(const struct sx_pairs *p, const struct sx_fit *f, const struct sx_fit_point *point,
			   double tolerance, double *scratch, struct sx_pair_stats *ret)
{
	const double least = (p->min_disparity < 0 ? p->min_disparity : 0) - FAR;
	int n = 0, behind = 0, ahead = 0;

	for (int i = 0; i < p->count; i++)
		if (fabs(sx_fit_residual(f, &point[i], LEVEL)) <= tolerance) {
			scratch[n++] = -(double)p->place[i].m.dx;
			behind += -p->place[i].m.dx < least;
			ahead += -p->place[i].m.dx > FAR;
		}
	if (behind + ahead >= LEAST / 2)
		ret->behind = (double)behind / (behind + ahead);
	ret->disparity = sx_quantile(scratch, (size_t)n, 0.5);
	n = 0;
	for (int i = 0; i < p->count; i++)
		if (fabs(sx_fit_residual(f, &point[i], LEVEL)) <= tolerance)
			scratch[n++] = fabs(level_at(f, &point[i]));
	ret->off = sx_quantile(scratch, (size_t)n, 0.95);
}

static void find_rows(const struct sx_pairs *p, struct sx_pair_stats *ret)
{
	struct sx_fit_point *point = malloc((size_t)p->count * sizeof(*point));
	double *scratch = malloc((size_t)p->count * sizeof(*scratch));
	const double tolerance = p->factor, half = p->width / 2.0;
	struct sx_fit level;

	for (int i = 0; point && i < p->count; i++)
		point[i] = point_of(p, &p->place[i], false);
	if (point && scratch && sx_fit(&level, point, p->count, LEVEL, 0, tolerance)) {
		ret->agree = (double)level.inliers / p->count;
		ret->rows = level.c[0];
		ret->turn = atan(level.c[1] / half) * DEGREES;
		ret->stretch = level.c[2] / half;
		ret->bent = find_bend(point, p->count, tolerance, scratch);
		find_explained(p, &level, point, tolerance, scratch, ret);
	}
	free(point);
	free(scratch);
}

/* Returns the sum of squared residuals. Each residual is clamped to the tolerance. */
static double miss_of(const struct sx_fit *f, const struct sx_fit_point *p, int n, int terms,
		      double tolerance)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		const double r = fmin(fabs(sx_fit_residual(f, &p[i], terms)), tolerance);

		sum += r * r;
	}
	return sum;
}

/* Fills the points, moving ones first. Returns their number. */
static int points_with_motion(const struct sx_pairs *p, struct sx_fit_point *point, int *moving)
{
	int n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < p->count; i++)
			if (!isnan(p->place[i].up_down) && p->place[i].moves == !pass)
				point[n++] = point_of(p, &p->place[i], true);
		if (!pass)
			*moving = n;
	}
	return n;
}

static void find_late(const struct sx_pairs *p, struct sx_pair_stats *ret)
{
	struct sx_fit_point *point = malloc((size_t)p->count * sizeof(*point));
	double *scratch = malloc((size_t)p->count * sizeof(*scratch));
	const double tolerance = 2 * p->factor; /* larger, because motion is not uniform */
	struct sx_fit with, without;
	int n = 0, moving = 0, used = 0;

	if (point && scratch)
		n = points_with_motion(p, point, &moving);
	if (moving >= LATE_LEAST && sx_fit(&with, point, n, MOVING, moving, tolerance) &&
	    sx_fit(&without, point, n, LEVEL, 0, tolerance)) {
		for (int i = 0; i < moving; i++)
			if (fabs(sx_fit_residual(&with, &point[i], MOVING)) <= tolerance)
				scratch[used++] = fabs(with.c[3] * point[i].term[3]);
		ret->late_places = used;
		ret->late_ms = with.c[3] * PER_MS;
		/* compare over the moving places alone, because the others fit both models */
		ret->late_miss = miss_of(&with, point, moving, MOVING, tolerance) /
				 fmax(miss_of(&without, point, moving, LEVEL, tolerance), 1e-9);
		ret->late_px = used ? sx_quantile(scratch, (size_t)used, 0.5) : (double)NAN;
	}
	free(point);
	free(scratch);
}

void sx_pairs_stats(const struct sx_pairs *p, struct sx_pair_stats *ret)
{
	const double pixels = (double)p->pairs * p->width * p->height;
	int still = 0;

	sx_pair_stats_init(ret);
	ret->pairs = p->pairs;
	ret->width = p->width;
	ret->height = p->height;
	ret->factor = p->factor;
	if (!p->pairs)
		return;
	for (int side = 0; side < 2; side++) {
		ret->dark[side] = p->dark[side] / p->samples;
		ret->saturated[side] = p->saturated[side] / p->samples;
		ret->flat[side] = p->flat[side] / p->areas[side];
		if (p->pairs > 1)
			ret->frozen[side] = p->frozen[side] / (p->pairs - 1.0);
		ret->grey[side] = p->grey[side] / pixels;
		ret->sharp[side] = upper_quartile(p->steps[side]);
	}
	find_levels(p, ret);
	ret->difference = p->difference / pixels;
	ret->matches = p->count;
	if (p->count < LEAST)
		return;
	for (int i = 0; i < p->count; i++)
		still += fabs((double)p->place[i].m.dx) < STILL && fabs((double)p->place[i].m.dy) < STILL;
	ret->still = (double)still / p->count;
	find_rows(p, ret);
	find_late(p, ret);
}
