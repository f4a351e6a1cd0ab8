/*
 * Census kernels. stages/stereo/census.h defines the result.
 *
 * Work:   VEC_BYTES pixels at a time, one comparison after the other; eight comparisons make a byte plane.
 * Memory: writes descriptors pixel by pixel (left operands, checks). For the right image it also writes
 *         planes of VEC_PLANE_BITS, with columns from right to left, so that ascending disparities of a left
 *         pixel are ascending bytes.
 * Shapes: any width >= 32. Reads up to SX_MATCHER_MARGIN bytes beside a row and drops their results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_CENSUS_KERNEL_H
#define SX_CPU_KERNELS_CENSUS_KERNEL_H

#include <string.h>

#include "cpu/kernels/cost_kernel.h"
#include "cpu/matcher.h"
#include "stages/stereo/census.h"

/* One comparison: I(x + ax, y + ay) > I(x + bx, y + by). */
struct comparison {
	int8_t ax, ay, bx, by;
};

static int list_csct(struct comparison *c)
{
	int n = 0;

	for (int dy = -SX_CENSUS_RADIUS_Y; dy <= 0; dy++)
		for (int dx = -SX_CENSUS_RADIUS_X; dx <= (dy ? SX_CENSUS_RADIUS_X : -1); dx++)
			c[n++] = (struct comparison){(int8_t)dx, (int8_t)dy, (int8_t)-dx, (int8_t)-dy};
	return n;
}

static int list_census(struct comparison *c, enum sx_cost cost)
{
	int n = 0;

	for (int dy = -SX_CENSUS_RADIUS_Y; dy <= SX_CENSUS_RADIUS_Y; dy++) {
		for (int dx = -SX_CENSUS_RADIUS_X; dx <= SX_CENSUS_RADIUS_X; dx++) {
			if ((cost == SX_COST_CENSUS && dx == 0 && dy == 0) ||
			    (cost == SX_COST_CENSUS48 && (dx == 0 || dy == 0)))
				continue;
			c[n++] = (struct comparison){0, 0, (int8_t)dx, (int8_t)dy};
		}
	}
	return n;
}

static int list_comparisons(struct comparison *c, enum sx_cost cost)
{
	return cost == SX_COST_CSCT ? list_csct(c) : list_census(c, cost);
}

/*
 * Computes the byte planes of row y. Plane k holds bits 8k .. 8k+7; it is 0 where the window is not inside
 * the image.
 */
static void census_planes(const struct sx_image *grey, int y, const struct comparison *c, int n,
			  uint8_t *planes, size_t pitch)
{
	const uint8_t *row = sx_image_row(grey, y);
	ptrdiff_t step = (ptrdiff_t)grey->pitch;
	ptrdiff_t a[64], b[64];

	for (int i = 0; i < n; i++) {
		a[i] = c[i].ay * step + c[i].ax;
		b[i] = c[i].by * step + c[i].bx;
	}
	for (int x = 0; x < grey->width; x += VEC_BYTES) {
		for (int i = 0, left = n; left > 0;) {
			vb bits = vb_set1(0);
			int plane = (left - 1) / 8;

			for (; left > plane * 8; left--, i++)
				bits = vb_add(vb_add(bits, bits),
					      vb_greater(vb_load(row + x + a[i]), vb_load(row + x + b[i])));
			vb_store(planes + (size_t)plane * pitch + x, bits);
		}
	}
	for (int k = 0; k < (n + 7) / 8; k++) {
		memset(planes + (size_t)k * pitch, 0, SX_CENSUS_RADIUS_X);
		memset(planes + (size_t)k * pitch + grey->width - SX_CENSUS_RADIUS_X, 0, SX_CENSUS_RADIUS_X);
	}
}

static void join_planes_32(const uint8_t *planes, size_t pitch, int width, uint32_t *out)
{
	const uint8_t *p0 = planes, *p1 = p0 + pitch, *p2 = p1 + pitch, *p3 = p2 + pitch;

	for (int x = 0; x < width; x++)
		out[x] = p0[x] | (uint32_t)p1[x] << 8 | (uint32_t)p2[x] << 16 | (uint32_t)p3[x] << 24;
}

/* Exchanges the bits of mask << shift in a with the bits of mask in b. */
static ALWAYS_INLINE void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask)
{
	uint64_t t = (*a >> shift ^ *b) & mask;

	*b ^= t;
	*a ^= t << shift;
}

/* Transposes bytes: byte i of word k goes to byte k of word i. */
static ALWAYS_INLINE void transpose_bytes(uint64_t v[8])
{
	for (int i = 0; i < 4; i++)
		exchange(&v[i], &v[i + 4], 32, UINT64_C(0x00000000ffffffff));
	for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1)
		exchange(&v[i], &v[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
	for (int i = 0; i < 8; i += 2)
		exchange(&v[i], &v[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
}

/*
 * Joins byte planes into descriptors, eight pixels at a time. The planes have room after the last pixel; out
 * may have none.
 */
static void join_planes_64(const uint8_t *planes, size_t pitch, int count, int width, uint64_t *out)
{
	for (int x = 0; x < width; x += 8) {
		uint64_t v[8] = {0};

		for (int k = 0; k < count; k++) {
			memcpy(&v[k], planes + (size_t)k * pitch + x, sizeof(v[k]));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
			v[k] = __builtin_bswap64(v[k]);
#endif
		}
		transpose_bytes(v);
		memcpy(out + x, v, (size_t)(width - x < 8 ? width - x : 8) * sizeof(*out));
	}
}

/*
 * Copies byte planes of a right row into the planes that the cost reads. Byte j belongs to right column width
 * - 1 - min_disparity - j. Bytes whose column is outside the image stay 0, as when memory was taken.
 */
static void turn_plane(const struct sx_matcher *m, const uint8_t *bytes, size_t pitch, int plane,
		       uint8_t *out)
{
	int width = m->width, first = -m->p.min_disparity; /* j of the last column */
	int room = width + m->p.disparities - 1;
	int from = first < 0 ? -first : 0, to = width < room - first ? width : room - first;
	const uint8_t *in = bytes + (size_t)(plane * VEC_PLANE_BITS / 8) * pitch + width - VEC_BYTES;
	uint8_t *p = out + first;
	int high = plane * VEC_PLANE_BITS % 8 ? 1 : 0, i = from;

	for (; i + VEC_BYTES <= to; i += VEC_BYTES)
		vb_store(p + i, vb_plane(vb_reverse(vb_load(in - i)), high));
	for (; i < to; i++)
		p[i] = (uint8_t)(VEC_PLANE_BITS == 8 ? in[VEC_BYTES - 1 - i]
				 : high		     ? in[VEC_BYTES - 1 - i] >> 4
						     : in[VEC_BYTES - 1 - i] & 15);
}

/*
 * Splits a plane by residues: byte n j + r goes, inverted, to byte j of row r. The n rows are pitch bytes
 * apart. Splitting a sequence log n times into its even and odd bytes leaves the residues in order.
 */
static ALWAYS_INLINE void part_plane(const uint8_t *in, size_t bytes, int n, uint8_t *out, size_t pitch)
{
	vb ones = vb_set1((1 << VEC_PLANE_BITS) - 1);

	for (size_t j = 0; j < bytes; j += VEC_BYTES) {
		vb v[8], t[8];

		for (int r = 0; r < n; r++)
			v[r] = vb_sub(ones, vb_load(in + (size_t)n * j + (size_t)(r * VEC_BYTES)));
		for (int stage = 1; stage < n; stage *= 2) {
			for (int r = 0; r < n / 2; r++) {
				t[r] = vb_even(v[2 * r], v[2 * r + 1]);
				t[n / 2 + r] = vb_odd(v[2 * r], v[2 * r + 1]);
			}
			for (int r = 0; r < n; r++)
				v[r] = t[r];
		}
		for (int r = 0; r < n; r++)
			vb_store(out + (size_t)r * pitch + j, v[r]);
	}
}

static void part_plane_any(const uint8_t *in, size_t bytes, int n, uint8_t *out, size_t pitch)
{
	for (int r = 0; r < n; r++)
		for (size_t j = 0; j < bytes; j++)
			out[(size_t)r * pitch + j] =
				(uint8_t)((1 << VEC_PLANE_BITS) - 1 - in[(size_t)n * j + (size_t)r]);
}

static void part_planes(const struct sx_matcher *m, const uint8_t *in, uint8_t *out)
{
	size_t apart = (size_t)m->planes * m->plane_pitch;

	if (m->residues == 1)
		part_plane(in, m->plane_pitch, 1, out, apart);
	else if (m->residues == 2)
		part_plane(in, m->plane_pitch, 2, out, apart);
	else if (m->residues == 4)
		part_plane(in, m->plane_pitch, 4, out, apart);
	else if (m->residues == 8)
		part_plane(in, m->plane_pitch, 8, out, apart);
	else
		part_plane_any(in, m->plane_pitch, m->residues, out, apart);
}

/* Makes the planes of a row; with similarities in the order [residue][plane]. */
static void turn_planes(const struct sx_matcher *m, const uint8_t *bytes, size_t pitch, uint8_t *out,
			struct sx_matcher_scratch *s)
{
	for (int plane = 0; plane < m->planes; plane++, out += m->plane_pitch) {
		if (m->volume_kind != SX_VOLUME_SIMILARITY) {
			turn_plane(m, bytes, pitch, plane, out);
			continue;
		}
		turn_plane(m, bytes, pitch, plane, s->turned);
		part_planes(m, s->turned, out);
	}
}

static void census_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int side, int y0,
			int y1, struct sx_matcher_scratch *s)
{
	size_t pitch = (size_t)m->width + SX_MATCHER_MARGIN;
	struct comparison c[64];
	int n = list_comparisons(c, m->p.cost), bytes = (n + 7) / 8;

	for (int y = y0; y < y1; y++) {
		void *out = sx_image_row(&f->census[side], y);

		if (y < SX_CENSUS_RADIUS_Y || y >= m->height - SX_CENSUS_RADIUS_Y)
			memset(s->bytes, 0, (size_t)bytes * pitch);
		else
			census_planes(&f->grey[side], y, c, n, s->bytes, pitch);
		if (m->p.cost == SX_COST_CSCT)
			join_planes_32(s->bytes, pitch, m->width, out);
		else
			join_planes_64(s->bytes, pitch, bytes, m->width, out);
		if (side == 1)
			turn_planes(m, s->bytes, pitch,
				    f->planes +
					    (size_t)y * (size_t)(m->residues * m->planes) * m->plane_pitch,
				    s);
	}
}

#endif
