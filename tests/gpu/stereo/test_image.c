/*
 * Ingest, census and filters of the CUDA engine against the reference, byte for byte. SX_TEST_LARGE=1 in the
 * environment: also sizes that only a real device does quickly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/stages_cuda.h"
#include "stages/stereo/census.h"
#include "stages/stereo/confidence.h"
#include "stages/stereo/ingest.h"
#include "stages/stereo/left_right.h"
#include "stages/stereo/median.h"
#include "stages/stereo/speckle.h"
#include "tests/gpu/stereo/image_case.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

struct size {
	int width, height;
};

static int test_count, failures;

static void report(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++test_count, what);
	failures += !good;
}

static bool is_large(void)
{
	return getenv("SX_TEST_LARGE") != NULL;
}

static void take_host(struct sx_image *img, enum sx_pixel pixel, int width, int height)
{
	if (sx_image_init(img, pixel, width, height) < 0)
		abort();
}

/* ---- ingest, census ---- */

/* A pair in device memory as a camera may leave it: odd address, odd pitch, not a byte more than its rows. */
struct source {
	uint8_t *memory[2];
	struct sx_cuda_input *in;
	struct sx_image host[2];
};

static void source_init(struct source *s, enum sx_pixel pixel, struct size size, int offset, int padding)
{
	image_must(cudaMalloc((void **)&s->in, sizeof(*s->in)), "input block");
	for (int i = 0; i < 2; i++) {
		size_t row = (size_t)size.width * sx_pixel_bytes(pixel), pitch = row + (size_t)padding;
		size_t bytes = (size_t)offset + pitch * (size_t)(size.height - 1) + row;

		image_must(cudaMalloc((void **)&s->memory[i], bytes), "source");
		/* NV12: with room for U and V, which nobody sends */
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
	struct size size;
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

		take_host(&want, sx_census_pixel(cost), grey[i].width, grey[i].height);
		sx_census(&grey[i], &want, cost);
		good &= image_is(&device[i], &want, what, seed);
		sx_image_finish(&want);
	}
	return good;
}

/* A frame: ingest and census apart, then, where there is such a thing, both at once. */
static bool matcher_frame(const struct matcher_case *c, struct source *s, const struct sx_ingest_cuda *ingest,
			  const struct sx_image grey[2], const struct sx_image census[2], cudaStream_t stream)
{
	struct sx_stretch stretch = sx_ingest_stretch(&s->host[0], &s->host[1]);
	struct sx_image want[2];
	bool good = true;

	for (int i = 0; i < 2; i++) {
		take_host(&want[i], SX_PIXEL_U8, c->size.width, c->size.height);
		sx_ingest(&s->host[i], &want[i], stretch);
	}
	image_must(sx_ingest_cuda_run(ingest, s->in, grey, stream), "ingest");
	image_must(sx_census_cuda_run(grey, census, c->cost, stream), "census");
	image_must(cudaStreamSynchronize(stream), "ingest, census");
	for (int i = 0; i < 2; i++)
		good &= image_is(&grey[i], &want[i], "ingest", c->seed);
	good &= census_is(census, want, c->cost, "census", c->seed);
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
	/* the second frame finds what the first one has left */
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
	static const struct size sizes[] = {{32, 32},	 {131, 37},   {260, 70}, {1242, 375},
					    {1023, 441}, {2048, 100}, {4096, 33}};
	struct check_rng rng = check_rng_seed(1);
	uint64_t seed = 0;

	for (int p = 0; p < LENGTH(pixels); p++)
		for (int i = 0; i < (is_large() ? LENGTH(sizes) : 3); i++)
			for (int k = 0; k < (is_large() ? 4 : 2); k++) {
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
				report(matcher_case(&c), what);
			}
}

/* ---- filters ---- */

struct filter_case {
	struct size size;
	struct sx_filter_params filters;
	int min_disparity, limit, invalid_percent;
	bool noise;
	uint64_t seed;
};

enum { WINNER, WINNER_RIGHT, MEDIAN, MEDIAN_RIGHT, LEFT_RIGHT, DISPARITY, CONFIDENCE, MAPS };

static void fill_maps(struct sx_image *map, const struct filter_case *c, struct check_rng *rng)
{
	check_fill_disparity(&map[WINNER], c->limit, c->invalid_percent, rng);
	check_fill(&map[CONFIDENCE], CHECK_NOISE, rng);
	for (int y = 0; y < c->size.height; y++) {
		uint16_t *l = sx_image_row(&map[WINNER], y), *r = sx_image_row(&map[WINNER_RIGHT], y);

		for (int x = 0; x < c->size.width; x++) {
			if (c->noise && check_below(rng, 4))
				l[x] = check_below(rng, 8) ? (uint16_t)check_below(rng, 16 * c->limit)
							   : 0xffff;
			r[x] = check_below(rng, 6) ? 0xffff : (uint16_t)check_below(rng, c->limit);
		}
		/* partners of most pixels */
		for (int x = 0; x < c->size.width; x++)
			if (l[x] != 0xffff && x >= l[x] >> 4 && check_below(rng, 8))
				r[x - (l[x] >> 4)] = (uint16_t)(l[x] >> 4);
	}
}

/* As the reference engine calls its filters. */
static void filter_reference(struct sx_image *map, const struct filter_case *c)
{
	const struct sx_filter_params *f = &c->filters;
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
	sx_left_right(&map[MEDIAN], &map[MEDIAN_RIGHT], &map[LEFT_RIGHT], f, c->min_disparity);
	check_copy(&map[LEFT_RIGHT], &map[DISPARITY]);
	sx_speckle(&map[DISPARITY], f, scratch);
	sx_confidence(&map[DISPARITY], &map[CONFIDENCE]);
	free(scratch);
}

static void take_maps(struct sx_cuda_memory *m, struct sx_image *host, struct sx_image *device,
		      const struct filter_case *c)
{
	for (int i = 0; i < MAPS; i++) {
		enum sx_pixel pixel = i == CONFIDENCE ? SX_PIXEL_U8 : SX_PIXEL_U16;

		take_host(&host[i], pixel, c->size.width, c->size.height);
		image_take(m, &device[i], pixel, c->size.width, c->size.height);
	}
	if (!c->filters.median)
		memcpy(&device[MEDIAN], &device[WINNER], 2 * sizeof(device[0]));
	if (!c->filters.speckle_size)
		device[LEFT_RIGHT] = device[DISPARITY];
}

static bool filter_frame(const struct filter_case *c, const struct sx_filter_cuda *s, struct sx_image *host,
			 const struct sx_image *device, cudaStream_t stream)
{
	static const char *const names[] = {"winner",	  "right winner", "median",    "right median",
					    "left_right", "disparity",	  "confidence"};
	bool good = true;

	image_send(&device[WINNER], &host[WINNER]);
	image_send(&device[WINNER_RIGHT], &host[WINNER_RIGHT]);
	image_send(&device[CONFIDENCE], &host[CONFIDENCE]);
	image_must(cudaStreamSynchronize(NULL), "sending");
	filter_reference(host, c);
	image_must(sx_filter_cuda_run(s, &device[WINNER], &device[MEDIAN], &device[LEFT_RIGHT],
				      &device[DISPARITY], &device[CONFIDENCE], stream),
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
	static const struct size sizes[] = {{32, 32},	 {37, 33},   {131, 47},	  {300, 34},  {1242, 375},
					    {1023, 441}, {2048, 97}, {2049, 101}, {4096, 58}, {4095, 131}};
	static const struct sx_filter_params filters[] = {
		{true, SX_MEDIAN_BORDER_COPY, 1, false, 100, 1},
		{true, SX_MEDIAN_BORDER_ZERO, 1, true, 0, 1},
		{false, SX_MEDIAN_BORDER_COPY, -1, false, 20, 0},
		{true, SX_MEDIAN_BORDER_COPY, 0, false, 6, 2},
		{false, SX_MEDIAN_BORDER_COPY, 2, true, 0, 0},
		{true, SX_MEDIAN_BORDER_ZERO, -1, true, 3000, 1},
		{true, SX_MEDIAN_BORDER_COPY, 3, true, 40, 100000},
	};
	static const int min_disparities[] = {0, 0, 17, -9, 128, -128};
	uint64_t seed = 100;

	for (int i = 0; i < (is_large() ? LENGTH(sizes) : 4); i++)
		for (int k = 0; k < LENGTH(filters); k++) {
			struct filter_case c = {sizes[i],
						filters[k],
						min_disparities[(i + k) % LENGTH(min_disparities)],
						k % 3 ? 64 : 256,
						k % 2 ? 30 : 5,
						(i + k) % 3 == 0,
						++seed};
			char what[128];

			(void)snprintf(what, sizeof(what), "filters %d of %dx%d, min_disparity %d%s", k,
				       c.size.width, c.size.height, c.min_disparity,
				       c.noise ? ", noise" : "");
			report(filter_case(&c), what);
		}
}

int main(void)
{
	test_matcher();
	test_filter();
	printf("1..%d\n", test_count);
	return failures != 0;
}
