/*
 * The grey range of a Y16 pair.
 *
 * Work:   two rounds over both images (stages/stereo/stretch.h), with rows shared among the workers. Each
 *         worker has its own counts; the leader adds them up. The medians of a row are computed first, in
 *         vectors by the compiler, and then counted one by one.
 * Ranges: counts are below 2^25.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/stretch.h"

#include <string.h>

#define ROWS 16 /* image rows per task */
#define WIDTH_MAX 4096

struct finder {
	struct sx_image image[2];
	uint32_t *counts; /* [thread][SX_STRETCH_COARSE]; in the second round both classes are at the front */
	uint32_t class[2];
	bool fine;
};

size_t sx_stretch_count_bytes(int threads)
{
	return (size_t)threads * SX_STRETCH_COARSE * sizeof(uint32_t);
}

static void medians_of(const uint8_t *row, int places, uint16_t *median)
{
	uint16_t p[WIDTH_MAX];

	memcpy(p, row, (size_t)(places + SX_STRETCH_REACH) * sizeof(*p));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (int x = 0; x < places + SX_STRETCH_REACH; x++)
		p[x] = (uint16_t)(p[x] << 8 | p[x] >> 8);
#endif
	for (int x = 0; x < places; x++)
		median[x] =
			(uint16_t)sx_stretch_median(p[x], p[x + SX_STRETCH_APART], p[x + SX_STRETCH_REACH]);
}

static void count_coarse(const uint16_t *median, int places, uint32_t *counts)
{
	for (int x = 0; x < places; x++)
		counts[median[x] >> SX_STRETCH_FINE_BITS]++;
}

static void count_fine(const uint16_t *median, int places, const uint32_t class[2], uint32_t *counts)
{
	for (int x = 0; x < places; x++) {
		const uint32_t of = median[x] >> SX_STRETCH_FINE_BITS, low = median[x] % SX_STRETCH_FINE;

		counts[low] += of == class[0];
		counts[SX_STRETCH_FINE + low] += of == class[1];
	}
}

/*
 * Counts the rows of one task. Tasks count from the top of the left image to the bottom of the right image.
 */
static void count_task(void *arg, int index, int worker)
{
	const struct finder *f = arg;
	const int height = f->image[0].height, tasks = (height + ROWS - 1) / ROWS, side = index >= tasks;
	const int first = (index - side * tasks) * ROWS, places = f->image[0].width - SX_STRETCH_REACH;
	uint32_t *counts = f->counts + (size_t)worker * SX_STRETCH_COARSE;
	uint16_t median[WIDTH_MAX];

	for (int y = first; y < first + ROWS && y < height; y++) {
		medians_of(sx_image_row(&f->image[side], y), places, median);
		if (f->fine)
			count_fine(median, places, f->class, counts);
		else
			count_coarse(median, places, counts);
	}
}

/* Counts, and adds all workers' counts to the first worker's counts. */
static void count(struct finder *f, struct sx_pool *pool)
{
	const int threads = sx_pool_threads(pool);

	memset(f->counts, 0, sx_stretch_count_bytes(threads));
	sx_pool_for(pool, 2 * ((f->image[0].height + ROWS - 1) / ROWS), count_task, f);
	for (int t = 1; t < threads; t++)
		for (int i = 0; i < SX_STRETCH_COARSE; i++)
			f->counts[i] += f->counts[t * SX_STRETCH_COARSE + i];
}

/*
 * Returns the class of the median of this rank in the second round. It may have fewer medians than the first one:
 * another process may change the images meanwhile (source.kind = shared). The range is then any range.
 */
static uint32_t find_fine(const uint32_t *counts, uint32_t rank)
{
	uint32_t sum = 0;

	for (int i = 0; i < SX_STRETCH_FINE; i++)
		sum += counts[i];
	if (!sum)
		return 0;
	rank = rank < sum ? rank : sum - 1;
	return sx_stretch_class(counts, &rank);
}

struct sx_stretch sx_stretch_find(struct sx_pool *pool, const struct sx_image *left,
				  const struct sx_image *right, uint32_t *counts)
{
	const uint32_t places = sx_stretch_places(left->width, left->height), tail = sx_stretch_tail(places);
	struct finder f = {.image = {*left, *right}, .counts = counts};
	uint32_t rank[2] = {tail, places - 1 - tail}, value[2];

	count(&f, pool);
	for (int i = 0; i < 2; i++)
		f.class[i] = sx_stretch_class(counts, &rank[i]);
	f.fine = true;
	count(&f, pool);
	for (int i = 0; i < 2; i++)
		value[i] =
			f.class[i] << SX_STRETCH_FINE_BITS | find_fine(counts + i * SX_STRETCH_FINE, rank[i]);
	return sx_stretch_between(value[0], value[0] < value[1] ? value[1] : value[0]);
}
