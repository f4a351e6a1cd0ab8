/*
 * Areas matched by chance: the CUDA engine against the reference, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"
#include "stages/stereo/chance.h"
#include "stages/stereo/cost.h"
#include "tests/chance_case.h"
#include "tests/gpu/stereo/image_case.h"

enum { WINNER, LEFT, RIGHT, SEARCH, IMAGES };

static bool chance_case(struct image_size size, enum sx_cost cost, uint64_t seed)
{
	const int width = SX_FLAT_TILES(size.width), height = SX_FLAT_TILES(size.height);
	struct check_rng rng = check_rng_seed(seed);
	const struct sx_stereo_params p = {.cost = cost,
					   .min_disparity = seed % 3 ? 0 : check_below(&rng, 40) - 20};
	struct sx_chance_sums *sums = calloc((size_t)width * (size_t)height, sizeof(*sums));
	struct sx_image host[IMAGES], device[IMAGES], want, flat, none = {0};
	struct sx_cuda_memory m = {0};
	bool good;

	if (!sums)
		abort();
	for (int i = 0; i < IMAGES; i++) {
		const enum sx_pixel pixel = i == WINNER	  ? SX_PIXEL_U16
					    : i == SEARCH ? SX_PIXEL_U64
							  : sx_census_pixel(cost);
		const int w = i == SEARCH ? SX_SEARCH_TILES_X(size.width) : size.width;
		const int h = i == SEARCH ? SX_SEARCH_TILES_Y(size.height) : size.height;

		image_take_host(&host[i], pixel, w, h);
		image_take(&m, &device[i], pixel, w, h);
	}
	image_take_host(&want, SX_PIXEL_U8, width, height);
	image_take(&m, &flat, SX_PIXEL_U8, width, height);
	chance_case_fill(&host[WINNER], &host[LEFT], sx_cost_max(cost), p.min_disparity, &rng);
	chance_case_tiles(&want, &rng);
	chance_case_search(&host[SEARCH], &rng);
	for (int i = 0; i < IMAGES; i++)
		image_send(&device[i], &host[i]);
	image_send(&flat, &want);
	image_must(sx_chance_cuda_run(&device[WINNER], &device[LEFT], &flat,
				      seed % 2 ? &device[SEARCH] : &none, &p, NULL),
		   "chance");
	image_must(cudaStreamSynchronize(NULL), "chance");
	sx_chance(&host[WINNER], &host[LEFT], &want, seed % 2 ? &host[SEARCH] : &none, &p, sums);
	good = image_is(&flat, &want, "flat", seed);
	for (int i = 0; i < IMAGES; i++)
		sx_image_finish(&host[i]);
	sx_image_finish(&want);
	free(sums);
	sx_cuda_memory_finish(&m);
	return good;
}

int main(void)
{
	static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48,
					     SX_COST_CENSUS63};
	static const struct image_size sizes[] = {{32, 32},    {33, 35},   {127, 66},  {150, 97},
						  {1242, 375}, {640, 480}, {2048, 97}, {4095, 131}};
	const int n = image_is_large() ? IMAGE_LENGTH(sizes) : 4;

	for (uint64_t seed = 0; seed < 24; seed++) {
		const struct image_size size = sizes[seed % (uint64_t)n];
		char what[64];

		(void)snprintf(what, sizeof(what), "areas matched by chance of %dx%d", size.width,
			       size.height);
		image_report(chance_case(size, costs[seed / 4 % 4], seed), what);
	}
	return image_finish();
}
