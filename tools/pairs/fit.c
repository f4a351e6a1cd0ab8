/*
 * Fits models by RANSAC and least squares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/pairs/fit.h"

#include <math.h>
#include <stdint.h>

enum { SAMPLES = 500, LOOKED_AT = 500 /* number of points on which a sample is tried */, PASSES = 3 };

double sx_fit_residual(const struct sx_fit *f, const struct sx_fit_point *p, int terms)
{
	double v = p->value;

	for (int i = 0; i < terms; i++)
		v -= f->c[i] * p->term[i];
	return v;
}

/* Solves a c = b for a symmetric n x n matrix a by elimination with pivots. Overwrites a and b. */
static bool solve(double a[SX_FIT_TERMS][SX_FIT_TERMS], double b[SX_FIT_TERMS], int n, double c[SX_FIT_TERMS])
{
	for (int k = 0; k < n; k++) {
		int pivot = k;

		for (int i = k + 1; i < n; i++)
			if (fabs(a[i][k]) > fabs(a[pivot][k]))
				pivot = i;
		if (fabs(a[pivot][k]) < 1e-9)
			return false;
		for (int j = 0; j < n; j++) {
			const double t = a[k][j];

			a[k][j] = a[pivot][j];
			a[pivot][j] = t;
		}
		c[k] = b[pivot];
		b[pivot] = b[k];
		b[k] = c[k];
		for (int i = k + 1; i < n; i++) {
			const double factor = a[i][k] / a[k][k];

			for (int j = k; j < n; j++)
				a[i][j] -= factor * a[k][j];
			b[i] -= factor * b[k];
		}
	}
	for (int k = n - 1; k >= 0; k--) {
		c[k] = b[k];
		for (int j = k + 1; j < n; j++)
			c[k] -= a[k][j] * c[j];
		c[k] /= a[k][k];
	}
	return true;
}

struct sums {
	double a[SX_FIT_TERMS][SX_FIT_TERMS], b[SX_FIT_TERMS];
};

static void add(struct sums *s, const struct sx_fit_point *p, int terms)
{
	for (int i = 0; i < terms; i++) {
		for (int j = 0; j < terms; j++)
			s->a[i][j] += p->term[i] * p->term[j];
		s->b[i] += p->term[i] * p->value;
	}
}

static int count_inliers(const struct sx_fit *f, const struct sx_fit_point *p, int n, int step, int terms,
			 double tolerance)
{
	int found = 0;

	for (int i = 0; i < n; i += step)
		found += fabs(sx_fit_residual(f, &p[i], terms)) <= tolerance;
	return found;
}

/* Solves the least squares over the inliers of the previous fit. */
static bool refine(struct sx_fit *f, const struct sx_fit_point *p, int n, int terms, double tolerance)
{
	struct sx_fit better = {.inliers = 0};
	struct sums s = {0};
	int used = 0;

	for (int i = 0; i < n; i++)
		if (fabs(sx_fit_residual(f, &p[i], terms)) <= tolerance) {
			add(&s, &p[i], terms);
			used++;
		}
	if (used < 2 * terms || !solve(s.a, s.b, terms, better.c))
		return false;
	better.inliers = count_inliers(&better, p, n, 1, terms, tolerance);
	*f = better;
	return better.inliers >= 2 * terms;
}

bool sx_fit(struct sx_fit *ret, const struct sx_fit_point *p, int n, int terms, int leading, double tolerance)
{
	const int step = n / LOOKED_AT + 1;
	struct sx_fit best = {.inliers = -1}, f = {0};
	uint32_t random = 1;

	if (n < 2 * terms)
		return false;
	for (int k = 0; k < SAMPLES; k++) {
		struct sums s = {0};

		for (int i = 0; i < terms; i++) {
			random = random * 1664525u + 1013904223u;
			add(&s, &p[(random >> 8) % (uint32_t)(leading && i == 0 ? leading : n)], terms);
		}
		if (!solve(s.a, s.b, terms, f.c))
			continue;
		f.inliers = count_inliers(&f, p, n, step, terms, tolerance);
		if (f.inliers > best.inliers)
			best = f;
	}
	if (best.inliers < 0)
		return false;
	for (int i = 0; i < PASSES; i++)
		if (!refine(&best, p, n, terms, tolerance))
			return false;
	*ret = best;
	return true;
}
