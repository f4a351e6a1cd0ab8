/*
 * Compares values of a calibration file that describe the same thing: P, Q, T, R and the rectifying
 * rotations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "config/calibration/calibration_priv.h"

#define AGREE 0.01 /* tolerance: of lengths as a share, of directions in radians */

static bool differ(double a, double b)
{
	return fabs(a - b) > AGREE * fmax(fabs(a), fabs(b));
}

/* Returns a hint on the unit in which the two baselines would agree, or "". */
static const char *unit_between(double a, double b)
{
	static const struct {
		double factor;
		const char *text;
	} units[] = {{1000, " (mm against m?)"}, {100, " (cm against m?)"}, {39.37, " (inches against m?)"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!differ(a, b * units[i].factor) || !differ(b, a * units[i].factor))
			return units[i].text;
	return "";
}

static int two_baselines(const struct sx_calibration_raw *raw, const char *first, double a,
			 const char *second, double b, struct sx_why *why)
{
	return sx_calibration_refuse(
		why, "%s: the baseline is %.6g m by %s and %.6g m by %s%s: which one is meant?", raw->format,
		a, first, b, second, unit_between(a, b));
}

int sx_calibration_agree_q(const struct sx_calibration *p, const struct sx_calibration *q,
			   const struct sx_calibration_raw *raw, const struct sx_calibration_wish *wish,
			   struct sx_why *why)
{
	const double near = AGREE * p->fx;

	if (differ(p->fx, q->fx) || differ(p->fy, q->fy) || fabs(p->cx - q->cx) > near ||
	    fabs(p->cy - q->cy) > near)
		return sx_calibration_refuse(
			why,
			"%s: %s (fx %g, fy %g, cx %g, cy %g) and Q (fx %g, fy %g, cx %g, cy %g) differ: "
			"which one is meant?",
			raw->format, raw->left_name, p->fx, p->fy, p->cx, p->cy, q->fx, q->fy, q->cx, q->cy);
	if (!wish->baseline_overrides && p->baseline_m > 0 && q->baseline_m > 0 &&
	    differ(p->baseline_m, q->baseline_m))
		return two_baselines(raw, raw->right_name, p->baseline_m, "Q", q->baseline_m, why);
	return 0;
}

static double length_of(const double t[3])
{
	return sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
}

/* Returns (a b')[i][j]: row i of a times column j of the transposed b. */
static double times_transposed(const double *a, const double *b, int i, int j)
{
	return a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
}

/* Checks that R2 R and R1 turn the left camera's rays into the same rays: R2 R R1' is the identity. */
static int agree_turns(const struct sx_calibration_raw *raw, struct sx_why *why)
{
	const double *r1 = raw->camera[0].r, *r2 = raw->camera[1].r;
	double r2_r[9];

	if (!raw->camera[0].have_r || !raw->camera[1].have_r || raw->cameras != 2)
		return 0;
	for (int i = 0; i < 9; i++)
		r2_r[i] = r2[3 * (i / 3)] * raw->r[i % 3] + r2[3 * (i / 3) + 1] * raw->r[3 + i % 3] +
			  r2[3 * (i / 3) + 2] * raw->r[6 + i % 3];
	for (int i = 0; i < 9 && raw->have_r; i++)
		if (!(fabs(times_transposed(r2_r, r1, i / 3, i % 3) - (i % 4 == 0)) <= AGREE))
			return sx_calibration_refuse(
				why,
				"%s: R1 and R2 do not rectify cameras that stand as R says: "
				"R2 R differs from R1 by %.2g in [%d][%d]",
				raw->format, fabs(times_transposed(r2_r, r1, i / 3, i % 3) - (i % 4 == 0)),
				i / 3, i % 3);
	return 0;
}

int sx_calibration_agree(const struct sx_calibration *c, const struct sx_calibration_raw *raw,
			 const struct sx_calibration_wish *wish, struct sx_why *why)
{
	const double length = length_of(raw->t);
	const char *name = raw->have_left && raw->have_right ? raw->right_name : "Q";

	if (!sx_why_is_empty(&raw->fault) || !raw->have_t || !(length > 0) || !(c->baseline_m > 0))
		return 0; /* this fault is reported where T is needed */
	if (raw->t[0] > AGREE * length)
		return sx_calibration_refuse(
			why,
			"%s: T[0] is %g, as of exchanged cameras, but the baseline of %s is %g m, as of "
			"cameras that are not: which one is meant?",
			raw->format, raw->t[0], name, c->baseline_m);
	if (!wish->baseline_overrides && differ(length, c->baseline_m))
		return two_baselines(raw, name, c->baseline_m, "T", length, why);
	return agree_turns(raw, why);
}
