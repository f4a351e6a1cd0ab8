/*
 * Filters of the CUDA engine against the reference, byte for byte. SX_TEST_LARGE=1 in the environment: also
 * sizes that are quick only on a real device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/stages_cuda.h"
#include "stages/stereo/confidence.h"
#include "stages/stereo/flat.h"
#include "stages/stereo/left_right.h"
#include "stages/stereo/median.h"
#include "stages/stereo/smooth.h"
#include "stages/stereo/speckle.h"
#include "tests/gpu/stereo/image_case.h"

struct filter_case {
	struct image_size size;
	struct sx_filter_params filters;
	enum sx_cost cost;
	int min_disparity, limit, invalid_percent;
	bool noise;
	uint64_t seed;
};

enum {
	WINNER,
	WINNER_RIGHT,
	MEDIAN,
	MEDIAN_RIGHT,
	LEFT_RIGHT,
	SPECKLE,
	DISPARITY,
	CONFIDENCE,
	LEFT_FLAT,
	RIGHT_FLAT,
	MAPS
};

static void fill_maps(struct sx_image *map, const struct filter_case *c, struct check_rng *rng)
{
	check_fill_disparity(&map[WINNER], c->limit, c->invalid_percent, rng);
	check_fill(&map[CONFIDENCE], CHECK_NOISE, rng);
	for (int side = LEFT_FLAT; side <= RIGHT_FLAT; side++) /* marks one tile in eight */
		for (int y = 0; y < map[side].height; y++)
			for (int x = 0; x < map[side].width; x++)
				((uint8_t *)sx_image_row(&map[side], y))[x] = check_below(rng, 8) == 0;
	for (int y = 0; y < c->size.height; y++) {
		uint16_t *l = sx_image_row(&map[WINNER], y), *r = sx_image_row(&map[WINNER_RIGHT], y);

		for (int x = 0; x < c->size.width; x++) {
			if (c->noise && check_below(rng, 4))
				l[x] = check_below(rng, 8) ? (uint16_t)check_below(rng, 16 * c->limit)
							   : 0xffff;
			r[x] = check_below(rng, 6) ? 0xffff : (uint16_t)check_below(rng, c->limit);
		}
		/* set matching partners for most pixels */
		for (int x = 0; x < c->size.width; x++)
			if (l[x] != 0xffff && x >= l[x] >> 4 && check_below(rng, 8))
				r[x - (l[x] >> 4)] = (uint16_t)(l[x] >> 4);
	}
}

/* Calls the filters like the reference engine does. */
static void filter_reference(struct sx_image *map, const struct filter_case *c)
{
	const struct sx_filter_params *f = &c->filters;
	const struct sx_stereo_params p = {.cost = c->cost, .min_disparity = c->min_disparity};
	void *scratch = malloc(sx_speckle_scratch_bytes(c->size.width, c->size.height));

	if (!scratch)
		abort();
	if (f->median) {
		sx_median(&map[WINNER], &map[MEDIAN], f->median_border);
		sx_median(&map[WINNER_RIGHT], &map[MEDIAN_RIGHT], f->median_border);
	} else {
		check_copy(&map[WINNER], &map[MEDIAN]);
		check_copy(&map[WINNER_RIGHT], &map[MEDIAN_RIGHT]);
	}
	sx_left_right(&map[MEDIAN], &map[MEDIAN_RIGHT], &map[LEFT_RIGHT], f, &p);
	if (c->noise)
		sx_left_right_hide_flat(&map[MEDIAN], &map[LEFT_FLAT], &map[LEFT_RIGHT], c->min_disparity, 0,
					c->size.height);
	check_copy(&map[LEFT_RIGHT], &map[SPECKLE]);
	sx_speckle(&map[SPECKLE], f, scratch);
	if (f->smooth)
		sx_smooth(&map[SPECKLE], &map[DISPARITY]);
	else
		check_copy(&map[SPECKLE], &map[DISPARITY]);
	sx_confidence(&map[DISPARITY], &map[CONFIDENCE]);
	free(scratch);
}

static void take_maps(struct sx_cuda_memory *m, struct sx_image *host, struct sx_image *device,
		      const struct filter_case *c)
{
	for (int i = 0; i < MAPS; i++) {
		const bool tiles = i >= LEFT_FLAT;
		const enum sx_pixel pixel = i >= CONFIDENCE ? SX_PIXEL_U8 : SX_PIXEL_U16;
		const int width = tiles ? SX_FLAT_TILES(c->size.width) : c->size.width;
		const int height = tiles ? SX_FLAT_TILES(c->size.height) : c->size.height;

		image_take_host(&host[i], pixel, width, height);
		image_take(m, &device[i], pixel, width, height);
	}
	if (!c->filters.median)
		memcpy(&device[MEDIAN], &device[WINNER], 2 * sizeof(device[0]));
	if (!c->filters.smooth)
		device[SPECKLE] = device[DISPARITY];
	if (!c->filters.speckle_size)
		device[LEFT_RIGHT] = device[SPECKLE];
}

static bool filter_frame(const struct filter_case *c, const struct sx_filter_cuda *s, struct sx_image *host,
			 const struct sx_image *device, cudaStream_t stream)
{
	static const char *const names[] = {"winner",	  "right winner", "median",    "right median",
					    "left_right", "speckle",	  "disparity", "confidence",
					    "left flat",  "right flat"};
	bool good = true;

	image_send(&device[WINNER], &host[WINNER]);
	image_send(&device[WINNER_RIGHT], &host[WINNER_RIGHT]);
	image_send(&device[CONFIDENCE], &host[CONFIDENCE]);
	image_send(&device[LEFT_FLAT], &host[LEFT_FLAT]);
	image_send(&device[RIGHT_FLAT], &host[RIGHT_FLAT]);
	image_must(cudaStreamSynchronize(NULL), "sending");
	filter_reference(host, c);
	image_must(sx_filter_cuda_check(s, &device[WINNER], &device[MEDIAN],
					c->noise ? &device[LEFT_FLAT] : NULL, &device[LEFT_RIGHT],
					&device[SPECKLE], &device[CONFIDENCE], stream),
		   "filter");
	if (!sx_filter_cuda_is_done(s))
		image_must(sx_filter_cuda_finish(s, &device[SPECKLE], &device[DISPARITY], &device[CONFIDENCE],
						 stream),
			   "filter");
	image_must(cudaStreamSynchronize(stream), "filter");
	for (int i = 0; i < MAPS; i++)
		good &= image_is(&device[i], &host[i], names[i], c->seed);
	return good;
}

static bool filter_case(const struct filter_case *c)
{
	struct sx_context_config config = {.width = c->size.width, .height = c->size.height};
	struct check_rng rng = check_rng_seed(c->seed);
	struct sx_image host[MAPS], device[MAPS];
	struct sx_cuda_memory m = {0};
	struct sx_filter_cuda *s = NULL;
	cudaStream_t stream;
	bool good = true;

	config.params.filters = c->filters;
	config.params.stereo.min_disparity = c->min_disparity;
	config.params.stereo.cost = c->cost;
	image_must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
	take_maps(&m, host, device, c);
	if (sx_filter_cuda_create(&s, &m, &config, c->seed % 2 ? 1 : 100) < 0)
		abort();
	for (int frame = 0; frame < 2; frame++) {
		fill_maps(host, c, &rng);
		good &= filter_frame(c, s, host, device, stream);
	}
	for (int i = 0; i < MAPS; i++)
		sx_image_finish(&host[i]);
	sx_filter_cuda_destroy(s);
	sx_cuda_memory_finish(&m);
	cudaStreamDestroy(stream);
	return good;
}

static void test_filter(void)
{
	static const struct image_size sizes[] = {{32, 32},    {37, 33},    {131, 47},	{300, 34},
						  {1242, 375}, {1023, 441}, {2048, 97}, {2049, 101},
						  {4096, 58},  {4095, 131}};
	static const struct sx_filter_params filters[] = {
		{false, SX_MEDIAN_BORDER_COPY, 2, false, 100, 1, true}, /* the default settings */
		{true, SX_MEDIAN_BORDER_COPY, 1, false, 100, 1, false},
		{true, SX_MEDIAN_BORDER_ZERO, 1, true, 0, 1, false},
		{false, SX_MEDIAN_BORDER_COPY, -1, false, 20, 0, true},
		{true, SX_MEDIAN_BORDER_COPY, 0, false, 6, 2, false},
		{false, SX_MEDIAN_BORDER_COPY, 2, true, 0, 0, true},
		{true, SX_MEDIAN_BORDER_ZERO, -1, true, 3000, 1, true},
		{true, SX_MEDIAN_BORDER_COPY, 3, true, 40, 100000, false},
	};
	static const int min_disparities[] = {0, 0, 17, -9, 128, -128};
	uint64_t seed = 100;

	for (int i = 0; i < (image_is_large() ? IMAGE_LENGTH(sizes) : 4); i++)
		for (int k = 0; k < IMAGE_LENGTH(filters); k++) {
			struct filter_case c = {sizes[i],
						filters[k],
						k % 4 == 1 ? SX_COST_ZNCC : SX_COST_CSCT,
						min_disparities[(i + k) % IMAGE_LENGTH(min_disparities)],
						k % 3 ? 64 : 256,
						k % 2 ? 30 : 5,
						(i + k) % 3 == 0,
						++seed};
			char what[128];

			(void)snprintf(what, sizeof(what), "filters %d of %dx%d, min_disparity %d%s", k,
				       c.size.width, c.size.height, c.min_disparity,
				       c.noise ? ", noise" : "");
			image_report(filter_case(&c), what);
		}
}

int main(void)
{
	test_filter();
	return image_finish();
}
