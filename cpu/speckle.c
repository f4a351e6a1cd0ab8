/*
 * Speckle filter on many threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/speckle.h"

#include <string.h>

#include "cpu/kernel_sets.h"

#define WIDTH_MAX 4096
#define CONNECTED_MAX 8191 /* above every difference of valid disparities */

/*
 * A set of pixels of a row. Bit x of word x / 64: pixel x is connected to its left neighbour or to the pixel
 * above.
 */
struct bits {
	uint64_t word[WIDTH_MAX / 64];
};

size_t sx_speckle_bytes(int width, int height)
{
	size_t rows = (size_t)height;

	/* room for the largest possible number of runs; a real map has one run per ten pixels */
	return rows * (size_t)width * sizeof(struct sx_speckle_run) + 2 * rows * sizeof(uint32_t);
}

void sx_speckle_init(struct sx_speckle *s, const struct sx_matcher_kernels *k,
		     const struct sx_filter_params *p, int width, int height, void *memory)
{
	int range = p->speckle_range;

	*s = (struct sx_speckle){.kernels = k, .width = width, .height = height, .runs = memory};
	s->size_limit = (uint32_t)p->speckle_size;
	s->connected = range > CONNECTED_MAX / 16 ? CONNECTED_MAX : 16 * range;
	s->row = (uint32_t *)(s->runs + (size_t)width * (size_t)height);
	s->row_end = s->row + height;
}

/* Packs 8 bytes of 0 or 1 into 8 bits, the first byte into the lowest bit. */
static uint64_t gather_bits(const uint8_t *flags)
{
	uint64_t bytes;

	memcpy(&bytes, flags, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bytes = __builtin_bswap64(bytes);
#endif
	return bytes * UINT64_C(0x0102040810204080) >> 56;
}

static int words_of(const struct sx_speckle *s)
{
	return (s->width + 63) / 64;
}

/*
 * Finds the pixels of a, n in all, that are connected to the pixels of b. A valid pixel is connected to
 * itself. Bits from n on are 0.
 */
static void find_connections(const struct sx_speckle *s, const uint16_t *a, const uint16_t *b, int n,
			     struct bits *out)
{
	uint8_t flags[WIDTH_MAX];

	s->kernels->connected_row(a, b, n, s->connected, flags);
	memset(flags + n, 0, (size_t)(words_of(s) * 64 - n));
	for (int i = 0; i < words_of(s); i++) {
		out->word[i] = 0;
		for (int k = 0; k < 8; k++)
			out->word[i] |= gather_bits(flags + i * 64 + k * 8) << (8 * k);
	}
}

static uint64_t shifted_up(const struct bits *b, int i)
{
	return b->word[i] << 1 | (i > 0 ? b->word[i - 1] >> 63 : 0);
}

static uint64_t shifted_down(const struct bits *b, int i, int words)
{
	return b->word[i] >> 1 | (i + 1 < words ? b->word[i + 1] << 63 : 0);
}

static void connect_left(const struct sx_speckle *s, const uint16_t *row, struct bits *left)
{
	struct bits right;

	find_connections(s, row, row + 1, s->width - 1, &right);
	for (int i = 0; i < words_of(s); i++)
		left->word[i] = shifted_up(&right, i);
}

/* Appends the runs of row y, each a root, from index n on. Returns the index after the last run. */
static uint32_t cut_row(struct sx_speckle *s, const uint16_t *row, const struct bits *left, uint32_t n)
{
	uint32_t end = n;
	struct bits valid;

	find_connections(s, row, row, s->width, &valid);
	for (int i = 0; i < words_of(s); i++) {
		for (uint64_t b = valid.word[i] & ~left->word[i]; b; b &= b - 1)
			s->runs[n++].first = (uint16_t)(i * 64 + __builtin_ctzll(b));
		for (uint64_t b = valid.word[i] & ~shifted_down(left, i, words_of(s)); b; b &= b - 1)
			s->runs[end++].last = (uint16_t)(i * 64 + __builtin_ctzll(b));
	}
	return end;
}

static void plant_row(struct sx_speckle *s, int y)
{
	for (uint32_t i = s->row[y]; i < s->row_end[y]; i++) {
		s->runs[i].parent = i;
		s->runs[i].size = (uint32_t)(s->runs[i].last - s->runs[i].first) + 1;
	}
}

static uint32_t find_root(struct sx_speckle_run *runs, uint32_t i)
{
	while (runs[i].parent != i) {
		/* halves the path to the root for the next search */
		runs[i].parent = runs[runs[i].parent].parent;
		i = runs[i].parent;
	}
	return i;
}

static void join_runs(struct sx_speckle_run *runs, uint32_t a, uint32_t b)
{
	a = find_root(runs, a);
	b = find_root(runs, b);
	if (a == b)
		return;
	if (runs[a].size < runs[b].size) {
		uint32_t t = a;

		a = b;
		b = t;
	}
	runs[b].parent = a;
	runs[a].size += runs[b].size;
}

/*
 * Joins the runs of row y with the runs above that they touch. If several neighbouring pixels touch between
 * the same two runs, only the first one counts.
 */
static void join_rows(struct sx_speckle *s, int y, const struct bits *touch, const struct bits *left,
		      const struct bits *left_above)
{
	uint32_t run = s->row[y], above = s->row[y - 1];

	for (int i = 0; i < words_of(s); i++) {
		uint64_t again = shifted_up(touch, i) & left->word[i] & left_above->word[i];

		for (uint64_t b = touch->word[i] & ~again; b; b &= b - 1) {
			int x = i * 64 + __builtin_ctzll(b);

			while (s->runs[run].last < x)
				run++;
			while (s->runs[above].last < x)
				above++;
			join_runs(s->runs, run, above);
		}
	}
}

void sx_speckle_stripe(struct sx_speckle *s, const struct sx_image *src, const struct sx_image *dst,
		       int stripe)
{
	int y0 = stripe * SX_SPECKLE_ROWS,
	    y1 = y0 + SX_SPECKLE_ROWS < s->height ? y0 + SX_SPECKLE_ROWS : s->height;
	uint32_t n = (uint32_t)y0 * (uint32_t)s->width;
	struct bits left[2], touch;

	for (int y = y0; y < y1; y++) {
		const uint16_t *row = sx_image_row(src, y);

		memcpy(sx_image_row(dst, y), row, (size_t)s->width * sizeof(*row));
		connect_left(s, row, &left[y & 1]);
		s->row[y] = n;
		s->row_end[y] = n = cut_row(s, row, &left[y & 1], n);
		plant_row(s, y);
		if (y == y0)
			continue;
		find_connections(s, row, sx_image_row(src, y - 1), s->width, &touch);
		join_rows(s, y, &touch, &left[y & 1], &left[~y & 1]);
	}
}

void sx_speckle_join(struct sx_speckle *s, const struct sx_image *src)
{
	struct bits left, left_above, touch;

	for (int y = SX_SPECKLE_ROWS; y < s->height; y += SX_SPECKLE_ROWS) {
		const uint16_t *row = sx_image_row(src, y), *above = sx_image_row(src, y - 1);

		connect_left(s, row, &left);
		connect_left(s, above, &left_above);
		find_connections(s, row, above, s->width, &touch);
		join_rows(s, y, &touch, &left, &left_above);
	}
}

/* Erases small components. Only reads the union-find, because other workers read it at the same time. */
void sx_speckle_erase(const struct sx_speckle *s, const struct sx_image *dst, int stripe)
{
	int y0 = stripe * SX_SPECKLE_ROWS,
	    y1 = y0 + SX_SPECKLE_ROWS < s->height ? y0 + SX_SPECKLE_ROWS : s->height;

	for (int y = y0; y < y1; y++) {
		uint16_t *row = sx_image_row(dst, y);

		for (uint32_t i = s->row[y]; i < s->row_end[y]; i++) {
			const struct sx_speckle_run *run = &s->runs[i];
			uint32_t root = i;

			while (s->runs[root].parent != root)
				root = s->runs[root].parent;
			if (s->runs[root].size <= s->size_limit)
				memset(row + run->first, 0xff,
				       (size_t)(run->last - run->first + 1) * sizeof(*row));
		}
	}
}
