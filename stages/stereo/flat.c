/*
 * Flat areas of an image. The loops run over rows of bytes, which compilers turn into vectors. So the cpu
 * engine uses this implementation, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/flat.h"

#include <string.h>

#define PAD 1			   /* tiles beyond each edge of the image */
#define LAST (SX_FLAT_SQUARE - 1)  /* tiles from the first to the last tile of a square */
#define INNER (SX_FLAT_SQUARE - 2) /* tiles in a row of a square that are not at its edge */

/*
 * Grey levels by rows of tiles. Each entry is for SX_FLAT_SQUARE tiles of a row, from its own tile on. Rows
 * lie pitch bytes apart.
 */
struct squares {
	uint8_t *least, *most, *along; /* lowest and highest levels; widest range of a row of pixels */
	size_t pitch;
	int width, height; /* tiles, with PAD */
};

/*
 * Scratch for one row of pixels. grey: the row, with PAD. least_of_four, most_of_four: lowest and highest
 * level of each pixel and the next three, one byte per pixel. least, most: these levels for each tile.
 */
struct line {
	uint32_t *least_of_four, *most_of_four;
	uint8_t *grey, *least, *most;
	int width; /* px, with PAD */
};

static uint8_t least_of(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static uint8_t most_of(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* Lays out squares and line in memory of sx_flat_scratch_bytes(). With NULL it only computes their sizes. */
static struct squares squares_of(int width, int height, uint8_t *memory, struct line *line)
{
	struct squares s = {.width = SX_FLAT_TILES(width) + 2 * PAD,
			    .height = SX_FLAT_TILES(height) + 2 * PAD};
	size_t plane;

	s.pitch = ((size_t)s.width + 63) / 64 * 64;
	plane = s.pitch * (size_t)s.height;
	*line = (struct line){.width = s.width * SX_FLAT_TILE};
	if (!memory)
		return s;
	s.least = memory;
	s.most = s.least + plane;
	s.along = s.most + plane;
	line->least = s.along + plane;
	line->most = line->least + s.pitch;
	line->grey = line->most + s.pitch;
	line->least_of_four = (uint32_t *)(line->grey + s.pitch * SX_FLAT_TILE);
	line->most_of_four = line->least_of_four + s.pitch;
	return s;
}

size_t sx_flat_scratch_bytes(int width, int height)
{
	struct line line;
	const struct squares s = squares_of(width, height, NULL, &line);

	return 3 * s.pitch * (size_t)s.height + (2 + 3 * SX_FLAT_TILE) * s.pitch;
}

/* Finds the lowest and highest level of each pixel and the next three pixels of a row. */
static void four_of(const uint8_t *restrict grey, uint8_t *restrict least, uint8_t *restrict most, int n)
{
	for (int x = 0; x < n; x++) {
		least[x] = least_of(least_of(grey[x], grey[x + 1]), least_of(grey[x + 2], grey[x + 3]));
		most[x] = most_of(most_of(grey[x], grey[x + 1]), most_of(grey[x + 2], grey[x + 3]));
	}
}

/* Takes the first byte of each word, which belongs to the first pixel of a tile. */
static void tiles_of(const uint32_t *restrict words, uint8_t *restrict tiles, int n)
{
	for (int i = 0; i < n; i++)
		tiles[i] = (uint8_t)words[i];
}

/* Adds the levels of a row of pixels, given by tile, to the levels of a row of tiles. */
static void join_row(const uint8_t *restrict low, const uint8_t *restrict high, uint8_t *restrict least,
		     uint8_t *restrict most, uint8_t *restrict along, int n)
{
	for (int i = 0; i < n; i++) {
		uint8_t a = least_of(least_of(low[i], low[i + 1]), least_of(low[i + 2], low[i + 3]));
		uint8_t b = most_of(most_of(high[i], high[i + 1]), most_of(high[i + 2], high[i + 3]));

		a = least_of(a, low[i + 4]);
		b = most_of(b, high[i + 4]);
		least[i] = least_of(least[i], a);
		most[i] = most_of(most[i], b);
		along[i] = most_of(along[i], sx_flat_along(a, b));
	}
}

/* Computes the levels of a row of tiles. */
static void tile_row(const struct sx_image *grey, const struct squares *s, const struct line *l, int row)
{
	const size_t place = (size_t)(row + PAD) * s->pitch, width = (size_t)grey->width;
	const size_t before = PAD * SX_FLAT_TILE, after = (size_t)l->width - before - width;

	memset(s->least + place, 255, (size_t)s->width);
	memset(s->most + place, 0, (size_t)s->width);
	memset(s->along + place, 0, (size_t)s->width);
	for (int y = row * SX_FLAT_TILE; y < (row + 1) * SX_FLAT_TILE && y < grey->height; y++) {
		const uint8_t *g = sx_image_row(grey, y);

		memset(l->grey, g[0], before);
		memcpy(l->grey + before, g, width);
		memset(l->grey + before + width, g[width - 1], after);
		four_of(l->grey, (uint8_t *)l->least_of_four, (uint8_t *)l->most_of_four,
			l->width - SX_FLAT_TILE + 1);
		tiles_of(l->least_of_four, l->least, s->width);
		tiles_of(l->most_of_four, l->most, s->width);
		join_row(l->least, l->most, s->least + place, s->most + place, s->along + place,
			 s->width - LAST);
	}
}

static void join_least(uint8_t *restrict a, const uint8_t *restrict b, int n)
{
	for (int i = 0; i < n; i++)
		a[i] = least_of(a[i], b[i]);
}

static void join_most(uint8_t *restrict a, const uint8_t *restrict b, int n)
{
	for (int i = 0; i < n; i++)
		a[i] = most_of(a[i], b[i]);
}

/* Joins each row of tiles with the next rows, SX_FLAT_SQUARE in all. */
static void widen_down(const struct squares *s)
{
	static const int steps[] = {1, 2, 1}; /* each row then covers 1, 2, 4 and at last 5 rows of tiles */

	for (int i = 0; i < 3; i++)
		for (int row = 0; row < s->height - steps[i]; row++) {
			const size_t place = (size_t)row * s->pitch,
				     below = place + (size_t)steps[i] * s->pitch;

			join_least(s->least + place, s->least + below, s->width);
			join_most(s->most + place, s->most + below, s->width);
			join_most(s->along + place, s->along + below, s->width);
		}
}

/* Writes the bits of the square that begins at each tile of a row to `most`. */
static void square_row(const struct squares *s, int row)
{
	const size_t place = (size_t)row * s->pitch;
	const int width = s->width - LAST;

	for (int i = 0; i < width; i++)
		s->most[place + (size_t)i] = sx_flat_bits(
			s->least[place + (size_t)i], s->most[place + (size_t)i], s->along[place + (size_t)i]);
	memset(s->most + place + width, 0, LAST);
}

/*
 * Marks the tiles of a row that lie inside flat squares. These squares begin up to INNER rows before the row.
 */
static void mark_row(const struct squares *s, int row, uint8_t *flat)
{
	const int end = s->height - LAST, first = row + PAD - INNER, last = row + PAD - 1;

	memset(flat, 0, (size_t)(s->width - 2 * PAD));
	for (int y = first > 0 ? first : 0; y <= last && y < end; y++) {
		const uint8_t *square = s->most + (size_t)y * s->pitch;

		for (int before = 1; before <= INNER; before++)
			for (int i = before > PAD ? before - PAD : 0; i < s->width - 2 * PAD; i++)
				flat[i] |= square[i + PAD - before];
	}
}

void sx_flat(const struct sx_image *grey, const struct sx_image *flat, void *scratch)
{
	struct line line;
	const struct squares s = squares_of(grey->width, grey->height, scratch, &line);
	const size_t last = (size_t)(s.height - 1) * s.pitch, bytes = (size_t)s.width;
	uint8_t *const planes[] = {s.least, s.most, s.along};

	for (int row = 0; row < flat->height; row++)
		tile_row(grey, &s, &line, row);
	for (int i = 0; i < 3; i++) {
		memcpy(planes[i], planes[i] + s.pitch, bytes);
		memcpy(planes[i] + last, planes[i] + last - s.pitch, bytes);
	}
	widen_down(&s);
	for (int row = 0; row < s.height - LAST; row++)
		square_row(&s, row);
	for (int row = 0; row < flat->height; row++)
		mark_row(&s, row, sx_image_row(flat, row));
}
