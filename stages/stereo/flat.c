/*
 * Flat areas of an image. Loops over rows of bytes, which compilers turn into vectors, so that the cpu engine
 * takes this one, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/flat.h"

#include <string.h>

#define PAD 1			   /* tiles beyond each edge of the image */
#define LAST (SX_FLAT_SQUARE - 1)  /* from the first to the last tile of a square */
#define INNER (SX_FLAT_SQUARE - 2) /* tiles of a row of a square that are not at its edge */

/* Least and largest level of each tile, with PAD around; bytes lie pitch apart from row to row. */
struct tiles {
	uint8_t *least, *most;
	size_t pitch;
	int width, height; /* with PAD */
};

static uint8_t least_of(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static uint8_t most_of(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

static struct tiles tiles_of(int width, int height, uint8_t *memory)
{
	struct tiles t = {.width = SX_FLAT_TILES(width) + 2 * PAD, .height = SX_FLAT_TILES(height) + 2 * PAD};

	/* a row of pixels, before it becomes tiles, lies in the place of tiles */
	t.pitch = (size_t)(t.width * SX_FLAT_TILE + 63) / 64 * 64;
	t.least = memory;
	t.most = memory ? memory + t.pitch * (size_t)t.height : NULL;
	return t;
}

size_t sx_flat_scratch_bytes(int width, int height)
{
	const struct tiles t = tiles_of(width, height, NULL);

	return 2 * t.pitch * (size_t)t.height;
}

/* The levels of four rows of pixels become those of a row of tiles. */
static void tile_row(const struct sx_image *grey, const struct tiles *t, int row)
{
	uint8_t *least = t->least + (size_t)(row + PAD) * t->pitch,
		*most = t->most + (size_t)(row + PAD) * t->pitch;
	const int width = grey->width, inside = (t->width - 2 * PAD) * SX_FLAT_TILE;

	memcpy(least, sx_image_row(grey, row * SX_FLAT_TILE), (size_t)width);
	memcpy(most, least, (size_t)width);
	for (int y = row * SX_FLAT_TILE + 1; y < (row + 1) * SX_FLAT_TILE && y < grey->height; y++) {
		const uint8_t *g = sx_image_row(grey, y);

		for (int x = 0; x < width; x++) {
			least[x] = least_of(least[x], g[x]);
			most[x] = most_of(most[x], g[x]);
		}
	}
	memset(least + width, least[width - 1], (size_t)(inside - width));
	memset(most + width, most[width - 1], (size_t)(inside - width));
	for (int i = 0; i < inside / SX_FLAT_TILE; i++) {
		const uint8_t *l = least + i * SX_FLAT_TILE, *m = most + i * SX_FLAT_TILE;

		least[i] = least_of(least_of(l[0], l[1]), least_of(l[2], l[3]));
		most[i] = most_of(most_of(m[0], m[1]), most_of(m[2], m[3]));
	}
	memmove(least + PAD, least, (size_t)(t->width - 2 * PAD));
	memmove(most + PAD, most, (size_t)(t->width - 2 * PAD));
	least[0] = least[PAD], least[t->width - 1] = least[t->width - 2];
	most[0] = most[PAD], most[t->width - 1] = most[t->width - 2];
}

/* Of each tile and the next ones of its row, as many as a square has: the levels of all of them. */
static void widen_row(const struct tiles *t, int row)
{
	uint8_t *least = t->least + (size_t)row * t->pitch, *most = t->most + (size_t)row * t->pitch;

	for (int step = 1; step <= LAST; step++) /* in place: what is read lies behind what is written */
		for (int i = 0; i < t->width - step; i++) {
			least[i] = least_of(least[i], least[i + 1]);
			most[i] = most_of(most[i], most[i + 1]);
		}
}

/* Into `most` of its first row: the bits of the square that begins at each tile of a row. */
static void square_row(const struct tiles *t, int row)
{
	uint8_t *least = t->least + (size_t)row * t->pitch, *most = t->most + (size_t)row * t->pitch;

	for (int next = 1; next <= LAST; next++) {
		const uint8_t *l = least + (size_t)next * t->pitch, *m = most + (size_t)next * t->pitch;

		for (int i = 0; i < t->width - LAST; i++) {
			least[i] = least_of(least[i], l[i]);
			most[i] = most_of(most[i], m[i]);
		}
	}
	for (int i = 0; i < t->width - LAST; i++)
		most[i] = sx_flat_bits(least[i], most[i]);
	memset(most + t->width - LAST, 0, LAST);
}

/* The tiles inside of flat squares. Those of a row belong to squares that begin up to INNER rows before. */
static void mark_row(const struct tiles *t, int row, uint8_t *flat)
{
	const int end = t->height - LAST, first = row + PAD - INNER, last = row + PAD - 1;

	memset(flat, 0, (size_t)(t->width - 2 * PAD));
	for (int y = first > 0 ? first : 0; y <= last && y < end; y++) {
		const uint8_t *square = t->most + (size_t)y * t->pitch;

		for (int before = 1; before <= INNER; before++)
			for (int i = before > PAD ? before - PAD : 0; i < t->width - 2 * PAD; i++)
				flat[i] |= square[i + PAD - before];
	}
}

void sx_flat(const struct sx_image *grey, const struct sx_image *flat, void *scratch)
{
	const struct tiles t = tiles_of(grey->width, grey->height, scratch);
	const size_t last = (size_t)(t.height - 1) * t.pitch, bytes = (size_t)t.width;

	for (int row = 0; row < flat->height; row++)
		tile_row(grey, &t, row);
	memcpy(t.least, t.least + t.pitch, bytes);
	memcpy(t.most, t.most + t.pitch, bytes);
	memcpy(t.least + last, t.least + last - t.pitch, bytes);
	memcpy(t.most + last, t.most + last - t.pitch, bytes);
	for (int row = 0; row < t.height; row++)
		widen_row(&t, row);
	for (int row = 0; row < t.height - LAST; row++)
		square_row(&t, row);
	for (int row = 0; row < flat->height; row++)
		mark_row(&t, row, sx_image_row(flat, row));
}
