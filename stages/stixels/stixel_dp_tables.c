/*
 * Tables of the stixel DP: the only place with exp, log and erf. See stixel_dp.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/stixel_dp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SQRT_2PI 2.50662827463100050242
/*
 * Largest nats of one entry. A pixel uses two entries (46), a cut at most three (62). 2160 rows stay below
 * INF.
 */
#define PIXEL_LIMIT 32.0
#define VALID_LIMIT 14.0
#define PRIOR_LIMIT 24.0
#define SIGMA_MIN (1.0 / 64.0)

static int32_t q12(double x, double limit)
{
	x = x > limit ? limit : x < -limit ? -limit : x;
	return (int32_t)floor(x * 4096.0 + 0.5);
}

/* Returns ln of a difference of disparities in Q4, at least ln of 1/16 px. */
static int32_t ln_q4(int i)
{
	return q12(log((i > 1 ? i : 1) / 16.0), PRIOR_LIMIT);
}

static double at_least(double x, double min)
{
	return x > min ? x : min;
}

/* Returns the gaussian part at its centre. The normalisation includes its mass inside the range 0..d_max. */
static double gauss_base(double f, double sigma, double outlier, double d_max)
{
	const double s = sqrt(2.0) * sigma;
	const double mass = 0.5 * (erf((d_max - f) / s) - erf((0.0 - f) / s));

	return log(at_least(mass, 1e-6)) + log(sigma * SQRT_2PI) - log(1.0 - outlier);
}

static int32_t precision_q20(double sigma)
{
	const double x = floor(1048576.0 / (2.0 * sigma * sigma) + 0.5);

	return x < 2147483647.0 ? (int32_t)x : INT32_MAX;
}

/* Returns p(invalid | class), kept away from 0 and 1. */
static double invalid_given(const struct sx_stixel_params *s, double class_given_invalid)
{
	const double p = class_given_invalid * s->p_invalid * 3.0;

	return p < 1e-6 ? 1e-6 : p > 1.0 - 1e-6 ? 1.0 - 1e-6 : p;
}

static void fill_objects(struct sx_dp_tables *t, const struct sx_stixel_params *s, double fb)
{
	const int n = t->range;
	const double p_invalid = invalid_given(s, s->p_invalid_object);
	const double outlier = at_least(s->p_outlier, 1e-12), uniform = log((double)n) - log(outlier);
	const int32_t valid = q12(-log(1.0 - p_invalid), VALID_LIMIT);

	for (int fn = 0; fn < n; fn++) {
		const double noise = fb > 0.0 ? (double)fn * fn * s->depth_noise_m / fb : 0.0;
		const double sigma =
			at_least(sqrt(s->sigma_object_px * s->sigma_object_px + noise * noise), SIGMA_MIN);
		const double base = gauss_base(fn, sigma, s->p_outlier, n);

		for (int dq = 0; dq < n; dq++) {
			const double e = dq - fn, c = base + e * e / (2.0 * sigma * sigma);

			t->object[dq * n + fn] = q12(c < uniform ? c : uniform, PIXEL_LIMIT) + valid;
		}
		t->object[n * n + fn] = q12(-log(p_invalid), VALID_LIMIT);
	}
}

static void fill_ground(struct sx_dp_tables *t, const struct sx_stixel_params *s, const struct sx_camera *c)
{
	const double hc = c->height_m > 0.0 ? c->height_m : 1.0, fb = c->fx * c->baseline_m;
	const double p_invalid = invalid_given(s, s->p_invalid_ground);
	const double of_pitch = fb / hc * s->sigma_pitch_rad;

	for (int g = 0; g <= 16 * t->range; g++) {
		const double f = g / 16.0, of_height = f / hc * s->sigma_height_m;
		const double sigma = at_least(sqrt(s->sigma_ground_px * s->sigma_ground_px +
						   of_height * of_height + of_pitch * of_pitch),
					      SIGMA_MIN);

		t->base_ground[g] = q12(gauss_base(f, sigma, s->p_outlier, t->range), PIXEL_LIMIT);
		t->precision_ground[g] = precision_q20(sigma);
	}
	t->uniform_ground = q12(log((double)t->range) - log(at_least(s->p_outlier, 1e-12)), PIXEL_LIMIT);
	t->valid_ground = q12(-log(1.0 - p_invalid), VALID_LIMIT);
	t->invalid_ground = q12(-log(p_invalid), VALID_LIMIT);
}

static void fill_sky(struct sx_dp_tables *t, const struct sx_stixel_params *s)
{
	const double sigma = at_least(s->sigma_sky_px, SIGMA_MIN);
	const double p_invalid = invalid_given(s, s->p_invalid_sky);

	t->base_sky = q12(gauss_base(0.0, sigma, s->p_outlier_sky, t->range), PIXEL_LIMIT);
	t->precision_sky = precision_q20(sigma);
	t->uniform_sky = q12(log((double)t->range) - log(at_least(s->p_outlier_sky, 1e-12)), PIXEL_LIMIT);
	t->valid_sky = q12(-log(1.0 - p_invalid), VALID_LIMIT);
	t->invalid_sky = q12(-log(p_invalid), VALID_LIMIT);
}

int sx_dp_depth_span_q4(const struct sx_params *p, int mean_q4)
{
	const double fb = p->camera.fx * p->camera.baseline_m, m = mean_q4 / 16.0;

	if (mean_q4 == 0 || !(fb > 0.0))
		return 0;
	return (int)floor(16.0 * (m - fb / (fb / m + p->stixels.depth_order_m)) + 0.5);
}

static void fill_priors(struct sx_dp_tables *t, const struct sx_params *p)
{
	const struct sx_stixel_params *s = &p->stixels;
	const int n = 16 * t->range, eps = t->epsilon_q4;
	const double ln_h = log((double)t->height), ln_d = log((double)t->range);
	const int32_t above = q12(-log(s->p_gravity), PRIOR_LIMIT);
	const int32_t below = q12(-log(s->p_below_ground), PRIOR_LIMIT);
	const int32_t order = q12(-log(s->p_order), PRIOR_LIMIT);
	const int32_t against_order = q12(-log(1.0 - s->p_order), PRIOR_LIMIT);

	for (int v = 0; v < t->height; v++)
		t->length[v] = q12(log((double)(t->height - v)), PRIOR_LIMIT);
	for (int m = 0; m < n; m++) {
		const int r = sx_dp_depth_span_q4(p, m);

		t->order[m] = (struct sx_dp_order){m + r, m - r, order + ln_q4(n - m - r),
						   against_order + ln_q4(m - r)};
	}
	for (int g = 0; g <= n; g++) {
		t->gravity_above[g] = above + ln_q4(n - g - eps);
		t->gravity_below[g] = below + ln_q4(g - eps);
	}
	t->gravity_on = q12(-log(1.0 - s->p_gravity - s->p_below_ground), PRIOR_LIMIT) + ln_q4(2 * eps);
	t->object_on_sky = ln_q4(n - eps);
	t->ground_next = q12(-log(0.3), PRIOR_LIMIT);
	t->object_next = q12(-log(0.7), PRIOR_LIMIT);
	t->ln2 = q12(log(2.0), PRIOR_LIMIT);
	t->first_ground = q12(ln_h + log(2.0), PRIOR_LIMIT);
	t->first_object = q12(ln_h + ln_d, PRIOR_LIMIT);
	t->first_object_low = q12(ln_h + log(2.0) + ln_d, PRIOR_LIMIT);
}

int sx_dp_tables_create(struct sx_dp_tables **ret, const struct sx_params *p, int height, int range)
{
	const size_t n = (size_t)(range > 0 ? range : 0);
	struct sx_dp_tables *t;

	if (height < 1 || height > 2160 || range < 1 || range > SX_RANGE_MAX)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->height = height;
	t->range = range;
	t->width = p->stixels.width;
	t->epsilon_q4 = (int)floor(16.0 * p->stixels.epsilon_px + 0.5);
	t->object = calloc((n + 1) * n, sizeof(*t->object));
	t->base_ground = calloc(16 * n + 1, sizeof(*t->base_ground));
	t->precision_ground = calloc(16 * n + 1, sizeof(*t->precision_ground));
	t->length = calloc((size_t)height, sizeof(*t->length));
	t->order = calloc(16 * n, sizeof(*t->order));
	t->gravity_above = calloc(16 * n + 1, sizeof(*t->gravity_above));
	t->gravity_below = calloc(16 * n + 1, sizeof(*t->gravity_below));
	if (!t->object || !t->base_ground || !t->precision_ground || !t->length || !t->order ||
	    !t->gravity_above || !t->gravity_below) {
		sx_dp_tables_destroy(t);
		return -ENOMEM;
	}
	fill_objects(t, &p->stixels, p->camera.fx * p->camera.baseline_m);
	fill_ground(t, &p->stixels, &p->camera);
	fill_sky(t, &p->stixels);
	fill_priors(t, p);
	*ret = t;
	return 0;
}

void sx_dp_tables_destroy(struct sx_dp_tables *t)
{
	if (!t)
		return;
	free(t->object);
	free(t->base_ground);
	free(t->precision_ground);
	free(t->length);
	free(t->order);
	free(t->gravity_above);
	free(t->gravity_below);
	free(t);
}

size_t sx_dp_tables_bytes(const struct sx_dp_tables *t)
{
	const size_t n = (size_t)t->range, by_ground = 16 * n + 1;

	return sizeof(*t) + (n + 1) * n * sizeof(*t->object) +
	       by_ground * (sizeof(*t->base_ground) + sizeof(*t->precision_ground)) +
	       (size_t)t->height * sizeof(*t->length) + 16 * n * sizeof(*t->order) +
	       by_ground * (sizeof(*t->gravity_above) + sizeof(*t->gravity_below));
}
