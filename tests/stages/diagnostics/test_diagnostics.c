/*
 * Image diagnostics: comparison with a second implementation of the definition, and pairs with known row
 * errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/diagnostics/diagnostics_vote.h"
#include "stages/diagnostics/row_error.h"
#include "tests/diagnostics_case.h"
#include "tests/emulated.h"

#define W 768 /* every position is sampled */
#define H 110
#define SHIFT 12 /* disparity of the drawn pairs */

static uint16_t at(const struct sx_image *img, int x, int y)
{
	return ((const uint16_t *)sx_image_row(img, y))[x];
}

static void put(const struct sx_image *img, int x, int y, uint16_t v)
{
	((uint16_t *)sx_image_row(img, y))[x] = v;
}

static int grey_at(const struct sx_image *img, int x, int y)
{
	assert_true(x >= 0 && y >= 0 && x < img->width && y < img->height);
	return ((const uint8_t *)sx_image_row(img, y))[x];
}

/* ---- second implementation of the definition ---- */

static bool plain_corner(const struct sx_image *left, int x, int y)
{
	double xx = 0, yy = 0, xy = 0;

	for (int v = y - 3; v <= y + 3; v++)
		for (int u = x - 8; u <= x + 7; u++) {
			const double gx = grey_at(left, u + 1, v) - grey_at(left, u - 1, v),
				     gy = grey_at(left, u, v + 1) - grey_at(left, u, v - 1);

			xx += gx * gx;
			yy += gy * gy;
			xy += gx * gy;
		}
	return xx / 112 >= 36 && yy / 112 >= 36 && xy * xy * 4 <= xx * yy;
}

static double plain_cost(const struct sx_image pair[2], int x, int y, int d, int k)
{
	double least = 1e9;

	for (int s = -3; s <= 3; s++) {
		double sum = 0;

		for (int v = y - 3; v <= y + 3; v++)
			for (int u = x - 8; u <= x + 7; u++)
				sum += abs(grey_at(&pair[0], u, v) - grey_at(&pair[1], u - d - s, v + k));
		least = fmin(least, sum);
	}
	return least;
}

static int plain_vote(const struct sx_diagnostics_input *in, int x, int y)
{
	static const int order[] = {0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6, -7, 7, -8, 8};
	const int q4 = at(in->left_right, x, y), d = (int)floor(q4 / 16.0 + 0.5);
	double cost[17], curvature;
	int best = 0;

	if (q4 == 0xffff || x - d - 11 < 0 || x - d + 10 >= in->grey->width || !plain_corner(in->grey, x, y))
		return SX_DIAGNOSTICS_NO_VOTE;
	for (int k = -8; k <= 8; k++)
		cost[k + 8] = plain_cost(in->grey, x, y, d, k);
	for (int i = 16; i >= 0; i--)
		best = cost[order[i] + 8] <= cost[best + 8] ? order[i] : best;
	if (abs(best) == 8)
		return SX_DIAGNOSTICS_NO_VOTE;
	curvature = cost[best + 7] + cost[best + 9] - 2 * cost[best + 8];
	if (curvature < 224 || curvature < cost[best + 8] / 4)
		return SX_DIAGNOSTICS_NO_VOTE;
	for (int k = -8; k <= 8; k++)
		if (abs(k - best) > 1 && cost[k + 8] - cost[best + 8] < curvature / 4)
			return SX_DIAGNOSTICS_NO_VOTE;
	return 16 * best + (int)floor(8 * (cost[best + 7] - cost[best + 9]) / curvature + 0.5);
}

static int plain_laplacian(const struct sx_image *g, int x, int y)
{
	const int v = grey_at(g, x, y);

	return abs(grey_at(g, x - 1, y) - v + grey_at(g, x + 1, y) - v + grey_at(g, x, y - 1) - v +
		   grey_at(g, x, y + 1) - v);
}

static uint32_t plain_weight(int x, int y)
{
	const uint64_t h = (65536u * (uint64_t)y + (uint64_t)x) * 2654435761u % (UINT64_C(1) << 32);

	return (uint32_t)(h ^ h / 32768);
}

static bool plain_flat(const struct sx_image *g, int x0, int y)
{
	double mean[2] = {0}, laplacian = 0;

	for (int x = x0; x < x0 + 32; x++) {
		for (int v = y - 1; v <= y + 1; v++)
			mean[x >= x0 + 16] += grey_at(g, x, v) / 48.0;
		laplacian += plain_laplacian(g, x, y) / 32.0;
	}
	return fabs(mean[0] - mean[1]) < 2 + 1e-6 && laplacian < 16 + 1e-6;
}

static bool plain_area(const struct sx_image *g, int x, int y)
{
	int ends[2] = {0};

	for (int v = y - 1; v <= y + 1; v++)
		for (int i = 0; i < 2; i++)
			ends[i] += grey_at(g, x + 31 * i, v);
	return !ends[0] == !ends[1];
}

static void plain_samples(const struct sx_image *g, uint32_t *samples, struct sx_diagnostics_image *ret)
{
	*ret = (struct sx_diagnostics_image){0};
	*samples = 0;
	for (int y = 1; y < g->height - 1; y++)
		for (int x = 1; x < g->width - 1 && y % 16 == 8; x++) {
			const int v = grey_at(g, x, y);

			++*samples;
			ret->dark += v < 9;
			ret->bright += v > 249;
			ret->laplacian += (uint32_t)plain_laplacian(g, x, y);
			ret->checksum += (uint32_t)v * plain_weight(x, y);
		}
	for (int y = 8; y < g->height - 1; y += 16)
		for (int x = 1; x + 31 < g->width - 1; x += 32) {
			ret->areas += plain_area(g, x, y);
			ret->flat += plain_area(g, x, y) && plain_flat(g, x, y);
		}
}

/* Compares one pair. Returns how many positions voted. */
static int compare(const struct sx_diagnostics_input *in)
{
	struct sx_diagnostics got, want = {0};
	int votes = 0;

	memset(&got, 0x5a, sizeof(got));
	sx_diagnostics(in, &got);
	for (int side = 0; side < 2; side++)
		plain_samples(&in->grey[side], &want.samples, &want.image[side]);
	for (int y = 0; y < in->disparity->height; y++)
		for (int x = 0; x < in->disparity->width; x++) {
			want.measured += at(in->disparity, x, y) != 0xffff;
			want.near += at(in->disparity, x, y) < 16;
		}
	for (int u = 0; u < in->columns->height; u++) {
		bool blind = true;

		for (int v = 0; v < in->columns->width; v++)
			blind = blind && at(in->columns, v, u) == 0xffff;
		want.blind += blind;
	}
	for (int j = 0; j < 16; j++)
		for (int i = 0; i < 48; i++) {
			const int step = (int)ceil(768.0 / in->grey->width);
			const int vote = i % step != step / 2
						 ? SX_DIAGNOSTICS_NO_VOTE
						 : plain_vote(in, sx_diagnostics_x(i, in->grey->width),
							      sx_diagnostics_y(j, in->grey->height));

			want.vote[j][i] = (int16_t)vote;
			votes += vote != SX_DIAGNOSTICS_NO_VOTE;
		}
	assert_memory_equal(&want, &got, sizeof(want));
	return votes;
}

static void sums_and_votes(void **state)
{
	static const int sizes[][2] = {{32, 32}, {33, 47}, {97, 35}, {35, 97}, {48, 40}, {211, 120}};

	int votes = 0;

	for (uint64_t seed = 0; seed < 36; seed++) {
		const int *size = sizes[seed % 6];
		struct check_rng r = check_rng_seed(seed);
		struct diagnostics_case c;

		diagnostics_case_init(&c, size[0], size[1], (int)seed % 5);
		diagnostics_case_fill(&c, (enum check_fill)(seed / 6), &r);
		votes += compare(&c.in);
		assert_true(diagnostics_case_finish(&c));
	}
	assert_true(votes > 400);
}

/* ---- covers ---- */

/* Draws the noise of a covered sensor, sigma in grey levels. */
static void draw_cover(const struct sx_image *img, double mean, double sigma, struct check_rng *r)
{
	for (int y = 0; y < img->height; y++)
		for (int x = 0; x < img->width; x++) {
			double v = mean - 6 * sigma;

			for (int i = 0; i < 12; i++)
				v += sigma * check_below(r, 10001) / 10000;
			((uint8_t *)sx_image_row(img, y))[x] = (uint8_t)fmin(fmax(floor(v + 0.5), 0), 255);
		}
}

/*
 * A rectified image of a covered camera is black outside of a curve. The curve itself must not count as
 * structure.
 */
static void covers_that_are_rectified(void **state)
{
	struct check_rng r = check_rng_seed(8);
	struct diagnostics_case c;
	struct sx_diagnostics m;

	diagnostics_case_init(&c, W, H, 0);
	for (int sigma = 0; sigma <= 3; sigma++) {
		draw_cover(&c.pair[0], 100, sigma, &r);
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				const double u = 2.0 * x / W - 1, v = 2.0 * y / H - 1;

				if (fabs(u) * (1.05 + 0.1 * v * v) > 1)
					((uint8_t *)sx_image_row(&c.pair[0], y))[x] = 0;
			}
		sx_diagnostics_images(c.pair, &m);
		assert_in_range(m.image[0].areas, 7 * 20, 7 * 22);
		if (m.image[0].flat < 0.98 * m.image[0].areas)
			fail_msg("sigma %d: %u of %u areas are flat", sigma, m.image[0].flat,
				 m.image[0].areas);
	}
	assert_true(diagnostics_case_finish(&c));
}

static void covers_are_flat(void **state)
{
	static const double means[] = {0, 4, 20, 128, 255};
	struct check_rng r = check_rng_seed(5);
	struct diagnostics_case c;
	struct sx_diagnostics m;

	diagnostics_case_init(&c, W, H, 0);
	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		for (int sigma = 0; sigma <= 3; sigma++) {
			draw_cover(&c.pair[0], means[i], sigma, &r);
			sx_diagnostics_images(c.pair, &m);
			if (m.image[0].flat < 0.98 * m.image[0].areas)
				fail_msg("mean %.0f sigma %d: %u of %u areas are flat", means[i], sigma,
					 m.image[0].flat, m.image[0].areas);
		}
	assert_int_equal(m.image[0].areas, 7 * 23);
	draw_cover(&c.pair[1], 128, 6, &r);
	sx_diagnostics_images(c.pair, &m);
	/* up to half of the areas may count as texture */
	assert_true(m.image[1].flat < m.image[1].areas / 2);
	assert_true(diagnostics_case_finish(&c));
}

/* ---- pairs with known row errors ---- */

/* Smooth blobs everywhere that never repeat. */
static double texture(double x, double y)
{
	return 128 + 40 * sin(0.43 * x + 0.2 * y + 2 * sin(0.071 * y)) +
	       40 * sin(0.51 * y - 0.13 * x + 2 * sin(0.053 * x)) +
	       25 * sin(0.29 * x) * sin(0.31 * y + 0.01 * x);
}

static double stripes(double x, double y)
{
	return 128 + 100 * sin(0.3 * y + 0.1 * x);
}

static double bars(double x, double y)
{
	(void)y;
	return 128 + 100 * sin(0.4 * x);
}

static double tiles(double x, double y)
{
	return 128 + 100 * sin(0.7 * x) * sin(2 * M_PI / 5 * y);
}

static double grain(double x, double y)
{
	struct check_rng r = check_rng_seed((uint64_t)floor(x) * 7919 + (uint64_t)floor(y));

	return check_below(&r, 256);
}

static double flat(double x, double y)
{
	(void)x;
	(void)y;
	return 90;
}

/*
 * Draws a pair. Row y of the left image appears in row y + down + turn * (column - W / 2) of the right one.
 */
static void draw(struct diagnostics_case *c, double (*of)(double x, double y), double down, double turn)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			const double shown = y - down - turn * (x - W / 2);

			((uint8_t *)sx_image_row(&c->pair[0], y))[x] = (uint8_t)floor(of(x, y) + 0.5);
			((uint8_t *)sx_image_row(&c->pair[1], y))[x] =
				(uint8_t)floor(of(x + SHIFT, shown) + 0.5);
			put(&c->checked.image, x, y, 16 * SHIFT);
		}
}

static void measure(struct diagnostics_case *c, double (*of)(double x, double y), double down, double turn,
		    struct sx_row_error error[SX_ROW_ERROR_PARTS])
{
	struct sx_diagnostics m;

	draw(c, of, down, turn);
	sx_diagnostics(&c->in, &m);
	sx_row_error(&m, error);
}

static void assert_near(const struct sx_row_error *e, double want)
{
	const double got = e->median / 16.0;

	if (e->votes < 20 || fabs(got - want) > 0.13)
		fail_msg("%u votes say %.3f rows instead of %.3f", e->votes, got, want);
	assert_in_range(e->spread, 0, 8);
}

static void shifts_are_found(void **state)
{
	static const double rows[] = {0, 1, -1, 2, 3, -3, 5, 7, -7, 0.25, 0.5, -0.5, 0.75, 1.3, -2.6, 6.4};
	struct sx_row_error e[SX_ROW_ERROR_PARTS];
	struct diagnostics_case c;

	diagnostics_case_init(&c, W, H, 3);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i += IS_SLOW ? 5 : 1) {
		measure(&c, texture, rows[i], 0, e);
		for (int part = 0; part < SX_ROW_ERROR_PARTS; part++)
			assert_near(&e[part], rows[i]);
	}
	assert_true(diagnostics_case_finish(&c));
}

/*
 * The columns of a third are on average W / 3 apart from the columns of the next third. Votes follow a line.
 */
static void rotation_shows_in_thirds(void **state)
{
	struct sx_row_error e[SX_ROW_ERROR_PARTS];
	struct diagnostics_case c;

	diagnostics_case_init(&c, W, H, 0);
	for (int i = -2; i <= 2; i++) {
		const double turn = tan(i * 0.4 * M_PI / 180), far = turn * W / 3;

		measure(&c, texture, 1, turn, e);
		assert_true(fabs(e[SX_ROW_ERROR_RIGHT].median / 16.0 - e[SX_ROW_ERROR_LEFT].median / 16.0 -
				 2 * far) < 0.4);
		assert_true(fabs(e[SX_ROW_ERROR_MIDDLE].median / 16.0 - (1 - turn * SHIFT)) < 0.2);
	}
	assert_true(diagnostics_case_finish(&c));
}

/* The images are exchanged and matched at 0 disparity. */
static void swapped_images_change_the_sign(void **state)
{
	struct sx_row_error there[SX_ROW_ERROR_PARTS], back[SX_ROW_ERROR_PARTS];
	struct sx_diagnostics m;
	struct diagnostics_case c;
	struct sx_image left;

	diagnostics_case_init(&c, W, H, 0);
	draw(&c, texture, 2, 0);
	for (int y = 0; y < H; y++)
		memmove((uint8_t *)sx_image_row(&c.pair[1], y) + SHIFT, sx_image_row(&c.pair[1], y),
			W - SHIFT);
	memset(c.checked.image.data, 0, c.checked.image.pitch * H);
	sx_diagnostics(&c.in, &m);
	sx_row_error(&m, there);
	left = c.pair[0];
	c.pair[0] = c.pair[1];
	c.pair[1] = left;
	sx_diagnostics(&c.in, &m);
	sx_row_error(&m, back);
	assert_near(&there[SX_ROW_ERROR_MIDDLE], 2);
	assert_near(&back[SX_ROW_ERROR_MIDDLE], -2);
	assert_true(diagnostics_case_finish(&c));
}

/*
 * Horizontal edges would match in any row, repetitions in several. Offsets larger than 8 rows are not found.
 */
static void nothing_to_go_by_gives_no_vote(void **state)
{
	struct sx_row_error e[SX_ROW_ERROR_PARTS];
	struct diagnostics_case c;

	diagnostics_case_init(&c, W, H, 1);
	for (int i = 0; i < 4; i++) {
		measure(&c, i == 0 ? flat : i == 1 ? stripes : i == 2 ? bars : tiles, i % 2, 0, e);
		for (int part = 0; part < SX_ROW_ERROR_PARTS; part++) {
			assert_int_equal(e[part].votes, 0);
			assert_int_equal(e[part].median, SX_ROW_ERROR_UNKNOWN);
			assert_int_equal(e[part].spread, SX_ROW_ERROR_UNKNOWN);
		}
	}
	measure(&c, grain, -11, 0, e);
	assert_true(e[SX_ROW_ERROR_ALL].votes < 38); /* limit: 38 of 768 positions */
	measure(&c, grain, -7, 0, e);
	assert_true(e[SX_ROW_ERROR_ALL].votes > 600);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			put(&c.checked.image, x, y, SX_DISPARITY_INVALID);
	assert_int_equal(compare(&c.in), 0);
	assert_true(diagnostics_case_finish(&c));
}

/*
 * A visible scene is not flat, even if it is dim: 1 / 20 of a contrast of 200 grey levels is left, with
 * noise.
 */
static void dim_scenes_are_not_flat(void **state)
{
	struct check_rng r = check_rng_seed(6);
	struct diagnostics_case c;
	struct sx_diagnostics m;

	diagnostics_case_init(&c, W, H, 0);
	draw(&c, texture, 0, 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			uint8_t *v = (uint8_t *)sx_image_row(&c.pair[0], y) + x;

			*v = (uint8_t)(4 + *v / 20 + check_below(&r, 2));
		}
	sx_diagnostics_images(c.pair, &m);
	assert_true(m.image[0].flat < 0.9 * m.image[0].areas);
	assert_true(m.image[1].flat < 0.1 * m.image[1].areas);
	assert_true(diagnostics_case_finish(&c));
}

/* Only equal images have equal checksums. */
static void checksums(void **state)
{
	struct diagnostics_case c;
	struct sx_diagnostics m, n;
	uint8_t *row;

	diagnostics_case_init(&c, W, H, 2);
	draw(&c, grain, 0, 0);
	sx_image_copy(&c.pair[1], &c.pair[0]);
	sx_diagnostics_images(c.pair, &m);
	assert_int_equal(m.image[0].checksum, m.image[1].checksum);
	row = sx_image_row(&c.pair[1], 40);
	for (int x = 1; x < W - 2; x++) {
		const uint8_t here = row[x], there = row[x + 1];

		row[x] = there; /* exchange two pixels: the sum of all pixels stays the same */
		row[x + 1] = here;
		sx_diagnostics_images(c.pair, &n);
		if (here != there)
			assert_int_not_equal(n.image[1].checksum, m.image[0].checksum);
		row[x] = here;
		row[x + 1] = there;
	}
	for (int y = 8; y + 16 < H - 1; y += 16) { /* exchange rows of samples */
		uint8_t keep[W];

		memcpy(keep, sx_image_row(&c.pair[1], y), W);
		memcpy(sx_image_row(&c.pair[1], y), sx_image_row(&c.pair[1], y + 16), W);
		memcpy(sx_image_row(&c.pair[1], y + 16), keep, W);
		sx_diagnostics_images(c.pair, &n);
		assert_int_not_equal(n.image[1].checksum, m.image[1].checksum);
	}
	assert_true(diagnostics_case_finish(&c));
}

/* ---- votes to rows ---- */

static void medians_of_votes(void **state)
{
	static struct sx_diagnostics m;
	struct sx_row_error e[SX_ROW_ERROR_PARTS];

	for (int j = 0; j < SX_DIAGNOSTICS_ROWS; j++)
		for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++)
			m.vote[j][i] = SX_DIAGNOSTICS_NO_VOTE;
	/* -60, -50, .. 50: the lower middle is -10, and the distances from it are 0 to 60 */
	for (int i = 0; i < 12; i++)
		m.vote[i % SX_DIAGNOSTICS_ROWS][15 - i] = (int16_t)(10 * i - 60);
	for (int i = 0; i < 11; i++)
		m.vote[3][16 + i] = 120;
	sx_row_error(&m, e);
	assert_int_equal(e[SX_ROW_ERROR_LEFT].votes, 12);
	assert_int_equal(e[SX_ROW_ERROR_LEFT].median, -10);
	assert_int_equal(e[SX_ROW_ERROR_LEFT].spread, 30);
	assert_int_equal(e[SX_ROW_ERROR_MIDDLE].votes, 11);
	assert_int_equal(e[SX_ROW_ERROR_MIDDLE].median, SX_ROW_ERROR_UNKNOWN);
	assert_int_equal(e[SX_ROW_ERROR_RIGHT].votes, 0);
	assert_int_equal(e[SX_ROW_ERROR_ALL].votes, 23);
	assert_int_equal(e[SX_ROW_ERROR_ALL].median, 50);
	m.vote[15][47] = -120;
	m.vote[4][16] = 120;
	sx_row_error(&m, e);
	assert_int_equal(e[SX_ROW_ERROR_MIDDLE].median, 120);
	assert_int_equal(e[SX_ROW_ERROR_MIDDLE].spread, 0);
	assert_int_equal(e[SX_ROW_ERROR_RIGHT].votes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_votes),
		cmocka_unit_test(covers_are_flat),
		cmocka_unit_test(covers_that_are_rectified),
		cmocka_unit_test(dim_scenes_are_not_flat),
		cmocka_unit_test(checksums),
		cmocka_unit_test(shifts_are_found),
		cmocka_unit_test(rotation_shows_in_thirds),
		cmocka_unit_test(swapped_images_change_the_sign),
		cmocka_unit_test(nothing_to_go_by_gives_no_vote),
		cmocka_unit_test(medians_of_votes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
