/*
 * 3x3 matrices, row by row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_MAT3_H
#define SX_STAGES_RECTIFY_MAT3_H

/* ret = a b, a^T, m v. ret must be none of the arguments. */
void sx_mat3_multiply(double ret[9], const double a[9], const double b[9]);
void sx_mat3_transpose(double ret[9], const double a[9]);
void sx_mat3_apply(double ret[3], const double m[9], const double v[3]);

/* ret = m^-1. sx_mat3_fault() must accept m. */
void sx_mat3_invert(double ret[9], const double m[9]);

/*
 * Returns why m is no rotation (within 1e-3), as the end of a sentence that begins with the name of m. NULL:
 * m is a rotation.
 */
const char *sx_mat3_fault(const double m[9]);

#endif
