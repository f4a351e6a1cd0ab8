/*
 * 3x3 matrices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/rectify/mat3.h"

#include <math.h>
#include <stddef.h>

#define ROTATION_TOLERANCE 1e-3

void sx_mat3_multiply(double ret[9], const double a[9], const double b[9])
{
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			ret[3 * i + k] = a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k] + a[3 * i + 2] * b[6 + k];
}

void sx_mat3_transpose(double ret[9], const double a[9])
{
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			ret[3 * i + k] = a[3 * k + i];
}

void sx_mat3_apply(double ret[3], const double m[9], const double v[3])
{
	for (int i = 0; i < 3; i++)
		ret[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

/* Returns the cofactor of the element in row i and column k, with its sign. */
static double cofactor(const double m[9], int i, int k)
{
	int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;

	return m[3 * i1 + k1] * m[3 * i2 + k2] - m[3 * i1 + k2] * m[3 * i2 + k1];
}

static double determinant(const double m[9])
{
	return m[0] * cofactor(m, 0, 0) + m[1] * cofactor(m, 0, 1) + m[2] * cofactor(m, 0, 2);
}

void sx_mat3_invert(double ret[9], const double m[9])
{
	double d = determinant(m);

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			ret[3 * i + k] = cofactor(m, k, i) / d;
}

const char *sx_mat3_fault(const double m[9])
{
	double transposed[9], product[9];

	for (int i = 0; i < 9; i++)
		if (!isfinite(m[i]))
			return "holds what is no number";
	sx_mat3_transpose(transposed, m);
	sx_mat3_multiply(product, m, transposed);
	for (int i = 0; i < 9; i++)
		if (!(fabs(product[i] - (i % 4 == 0)) <= ROTATION_TOLERANCE))
			return "is no rotation: its rows are not of length 1 and at right angles";
	return determinant(m) > 0 ? NULL : "is no rotation: it mirrors";
}
