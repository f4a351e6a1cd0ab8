/*
 * Ingest and census of the CUDA engine, separate and combined, against the reference, byte for byte.
 * SX_TEST_LARGE=1 in the environment: also sizes that are quick only on a real device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/stages_cuda.h"
#include "stages/stereo/census.h"
#include "stages/stereo/ingest.h"
#include "tests/gpu/stereo/image_case.h"

/* A pair in device memory as a camera may leave it: odd address, odd pitch, no byte after its last row. */
struct source {
	uint8_t *memory[2];
	struct sx_cuda_input *in;
	struct sx_image host[2];
};

static void source_init(struct source *s, enum sx_pixel pixel, struct image_size size, int offset,
			int padding)
{
	image_must(cudaMalloc((void **)&s->in, sizeof(*s->in)), "input block");
	for (int i = 0; i < 2; i++) {
		size_t row = (size_t)size.width * sx_pixel_bytes(pixel), pitch = row + (size_t)padding;
		size_t bytes = (size_t)offset + pitch * (size_t)(size.height - 1) + row;

		image_must(cudaMalloc((void **)&s->memory[i], bytes), "source");
		/* NV12: with room for U and V, which are never sent */
		s->host[i] = (struct sx_image){malloc(2 * pitch * (size_t)size.height), size.width,
					       size.height, pitch, pixel};
		if (!s->host[i].data)
			abort();
	}
}

static void source_fill(struct source *s, int offset, enum check_fill how, struct check_rng *rng)
{
	struct sx_cuda_input in = {0};

	for (int i = 0; i < 2; i++) {
		const struct sx_image *h = &s->host[i];
		size_t row = (size_t)h->width * sx_pixel_bytes(h->pixel),
		       bytes = h->pitch * (size_t)(h->height - 1) + row;
		uint8_t *data = h->data;

		for (size_t k = 0; k < bytes; k++)
			data[k] = (uint8_t)check_random(rng);
		check_fill(h, how, rng);
		image_must(cudaMemcpy(s->memory[i] + offset, data, bytes, cudaMemcpyHostToDevice), "source");
		in.image[i] = s->memory[i] + offset;
		in.pitch[i] = h->pitch;
	}
	image_must(cudaMemcpy(s->in, &in, sizeof(in), cudaMemcpyHostToDevice), "input block");
}

static void source_finish(struct source *s)
{
	for (int i = 0; i < 2; i++) {
		cudaFree(s->memory[i]);
		free(s->host[i].data);
	}
	cudaFree(s->in);
}

struct matcher_case {
	enum sx_pixel pixel;
	enum sx_cost cost;
	struct image_size size;
	int offset, padding;
	enum check_fill how;
	uint64_t seed;
};

static bool census_is(const struct sx_image device[2], const struct sx_image grey[2], enum sx_cost cost,
		      const char *what, uint64_t seed)
{
	bool good = true;

	for (int i = 0; i < 2; i++) {
		struct sx_image want;

		image_take_host(&want, sx_census_pixel(cost), grey[i].width, grey[i].height);
		sx_census(&grey[i], &want, cost);
		good &= image_is(&device[i], &want, what, seed);
		sx_image_finish(&want);
	}
	return good;
}

/* Computes a frame: ingest and census separately, then both combined if the engine can. */
static bool matcher_frame(const struct matcher_case *c, struct source *s, const struct sx_ingest_cuda *ingest,
			  const struct sx_image grey[2], const struct sx_image census[2], cudaStream_t stream)
{
	const struct sx_stretch stretch = sx_ingest_stretch(&s->host[0], &s->host[1]);
	struct sx_stretch *found = NULL;
	struct sx_image want[2];
	bool good = true;

	for (int i = 0; i < 2; i++) {
		image_take_host(&want[i], SX_PIXEL_U8, c->size.width, c->size.height);
		sx_ingest(&s->host[i], &want[i], stretch);
	}
	image_must(cudaMallocHost((void **)&found, sizeof(*found)), "range");
	*found = (struct sx_stretch){0, 0};
	image_must(sx_ingest_cuda_run(ingest, s->in, grey, found, stream), "ingest");
	image_must(sx_census_cuda_run(grey, census, c->cost, stream), "census");
	image_must(cudaStreamSynchronize(stream), "ingest, census");
	for (int i = 0; i < 2; i++)
		good &= image_is(&grey[i], &want[i], "ingest", c->seed);
	good &= census_is(census, want, c->cost, "census", c->seed);
	good &= found->min == stretch.min && found->max == stretch.max;
	image_must(cudaFreeHost(found), "range");
	if (c->pixel == SX_PIXEL_Y16) {
		good &= sx_ingest_census_cuda_run(s->in, c->pixel, grey, census, c->cost, stream) !=
			cudaSuccess;
		goto out;
	}
	for (int i = 0; i < 2; i++) {
		image_must(cudaMemset(grey[i].data, 0x5a, grey[i].pitch * (size_t)grey[i].height), "grey");
		image_must(cudaMemset(census[i].data, 0x5a, census[i].pitch * (size_t)census[i].height),
			   "census");
	}
	image_must(cudaStreamSynchronize(NULL), "clearing");
	image_must(sx_ingest_census_cuda_run(s->in, c->pixel, grey, census, c->cost, stream),
		   "ingest and census");
	image_must(cudaStreamSynchronize(stream), "ingest and census");
	for (int i = 0; i < 2; i++)
		good &= image_is(&grey[i], &want[i], "fused ingest", c->seed);
	good &= census_is(census, want, c->cost, "fused census", c->seed);
out:
	for (int i = 0; i < 2; i++)
		sx_image_finish(&want[i]);
	return good;
}

static bool matcher_case(const struct matcher_case *c)
{
	struct sx_context_config config = {
		.width = c->size.width, .height = c->size.height, .pixel = c->pixel};
	struct check_rng rng = check_rng_seed(c->seed);
	struct sx_cuda_memory m = {0};
	struct sx_ingest_cuda *ingest = NULL;
	struct sx_image grey[2], census[2];
	struct source s;
	cudaStream_t stream;
	bool good = true;

	image_must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
	for (int i = 0; i < 2; i++) {
		image_take(&m, &grey[i], SX_PIXEL_U8, c->size.width, c->size.height);
		image_take(&m, &census[i], sx_census_pixel(c->cost), c->size.width, c->size.height);
	}
	if (sx_ingest_cuda_create(&ingest, &m, &config) < 0)
		abort();
	source_init(&s, c->pixel, c->size, c->offset, c->padding);
	/* the second frame finds the memory content of the first */
	for (int frame = 0; frame < 2; frame++) {
		source_fill(&s, c->offset, frame ? CHECK_NEAR_0 : c->how, &rng);
		good &= matcher_frame(c, &s, ingest, grey, census, stream);
	}
	source_finish(&s);
	sx_ingest_cuda_destroy(ingest);
	sx_cuda_memory_finish(&m);
	cudaStreamDestroy(stream);
	return good;
}

static void test_matcher(void)
{
	static const enum sx_pixel pixels[] = {SX_PIXEL_U8,   SX_PIXEL_Y16,  SX_PIXEL_YUYV,
					       SX_PIXEL_UYVY, SX_PIXEL_NV12, SX_PIXEL_RGB24};
	static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48,
					     SX_COST_CENSUS63};
	static const struct image_size sizes[] = {{32, 32},    {131, 37},   {260, 70}, {1242, 375},
						  {1023, 441}, {2048, 100}, {4096, 33}};
	struct check_rng rng = check_rng_seed(1);
	uint64_t seed = 0;

	for (int p = 0; p < IMAGE_LENGTH(pixels); p++)
		for (int i = 0; i < (image_is_large() ? IMAGE_LENGTH(sizes) : 3); i++)
			for (int k = 0; k < (image_is_large() ? 4 : 2); k++) {
				struct matcher_case c = {
					pixels[p],
					costs[(p + i + k) % 4],
					sizes[i],
					k ? check_below(&rng, 9) : 0,
					k ? check_below(&rng, 40) : (i & 1 ? 0 : 32),
					(enum check_fill)((p + i + 2 * k) % CHECK_FILL_COUNT),
					++seed,
				};
				char what[128];

				(void)snprintf(what, sizeof(what),
					       "%s %dx%d, offset %d, padding %d, cost %d, %s",
					       sx_pixel_name(c.pixel), c.size.width, c.size.height, c.offset,
					       c.padding, (int)c.cost, check_fill_name(c.how));
				image_report(matcher_case(&c), what);
			}
}

int main(void)
{
	test_matcher();
	return image_finish();
}
