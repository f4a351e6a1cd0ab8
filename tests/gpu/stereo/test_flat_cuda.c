/*
 * Flat areas: the CUDA engine against the reference, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/stages_cuda.h"
#include "stages/stereo/flat.h"
#include "tests/flat_case.h"
#include "tests/gpu/stereo/image_case.h"

static bool flat_case(struct image_size size, uint64_t seed)
{
	const int width = SX_FLAT_TILES(size.width), height = SX_FLAT_TILES(size.height);
	struct check_rng rng = check_rng_seed(seed);
	struct sx_image grey[2], flat[2], host, want;
	void *scratch = malloc(sx_flat_scratch_bytes(size.width, size.height));
	struct sx_cuda_memory m = {0};
	bool good = true;

	if (!scratch)
		abort();
	image_take_host(&host, SX_PIXEL_U8, size.width, size.height);
	image_take_host(&want, SX_PIXEL_U8, width, height);
	for (int side = 0; side < 2; side++) {
		image_take(&m, &grey[side], SX_PIXEL_U8, size.width, size.height);
		image_take(&m, &flat[side], SX_PIXEL_U8, width, height);
	}
	for (int side = 0; side < 2; side++) {
		struct check_rng own = rng;

		own.state += (uint64_t)side;
		flat_case_fill(&host, &own);
		image_send(&grey[side], &host);
	}
	image_must(sx_flat_cuda_run(grey, flat, NULL), "flat");
	image_must(cudaStreamSynchronize(NULL), "flat");
	for (int side = 0; side < 2; side++) {
		struct check_rng own = rng;

		own.state += (uint64_t)side;
		flat_case_fill(&host, &own);
		sx_flat(&host, &want, scratch);
		good &= image_is(&flat[side], &want, side ? "right flat" : "left flat", seed);
	}
	sx_image_finish(&host);
	sx_image_finish(&want);
	free(scratch);
	sx_cuda_memory_finish(&m);
	return good;
}

int main(void)
{
	static const struct image_size sizes[] = {{32, 32},    {33, 35},   {127, 66},  {130, 33},
						  {1242, 375}, {640, 480}, {2048, 97}, {4095, 131}};
	const int n = image_is_large() ? IMAGE_LENGTH(sizes) : 5;

	for (uint64_t seed = 0; seed < 20; seed++) {
		const struct image_size size = sizes[seed % (uint64_t)n];
		char what[64];

		(void)snprintf(what, sizeof(what), "flat areas of %dx%d", size.width, size.height);
		image_report(flat_case(size, seed), what);
	}
	return image_finish();
}
