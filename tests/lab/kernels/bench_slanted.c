/*
 * Times the kernels of slanted stixels, for tests/lab/lab-performance.md: best and median of their launches, ms.
 *
 *   bench_slanted [WIDTH HEIGHT [DISPARITIES [LAUNCHES [SMS]]]]
 *
 * Measures cells of 8 and of 4 px: scores of 19 classes at scale 1, columns of a street with them and
 * without, disparity and confidence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>

#include "gpu/slanted/slanted_cuda.h"
#include "gpu/stixels/reduce_cells_cuda.h"
#include "stages/stixels/cells.h"
#include "tests/check.h"
#include "tests/lab/kernels/bench.h"
#include "tests/stixel_case.h"

#define CLASSES 19

/* Data of one cell size. */
struct slanted {
	struct bench *b;
	int cell;
	struct sx_params p;
	struct sx_image disparity, confidence, columns, columns_confidence, scores;
	struct sx_cuda_scores *in, *none; /* in device memory */
	const struct sx_cuda_scores *given;
	struct sx_cuda_road *road;
	struct sx_slanted_cuda *segmenter;
	struct sx_segments out;
};

static cudaError_t run_cells(void *arg)
{
	const struct slanted *s = arg;

	return sx_reduce_cells_cuda_run(&s->disparity, &s->confidence, s->cell, s->cell,
					s->p.stixels.reduction, &s->columns, &s->columns_confidence,
					s->b->stream);
}

static cudaError_t run_scores(void *arg)
{
	const struct slanted *s = arg;

	return sx_reduce_cells_cuda_scores(s->in, s->b->width, s->b->height, s->cell, s->cell, CLASSES,
					   &s->scores, s->b->stream);
}

static cudaError_t run_columns(void *arg)
{
	const struct slanted *s = arg;

	const cudaError_t e = sx_slanted_cuda_set_road(s->segmenter, s->road, s->given, s->b->stream);

	return e ? e
		 : sx_slanted_cuda_run(s->segmenter, &s->columns, &s->columns_confidence, &s->scores, &s->out,
				       s->b->stream);
}

static void time_one(struct slanted *s, const char *what, cudaError_t (*run)(void *))
{
	printf("cells of %d px  %-26s", s->cell, what);
	bench_time(s->b, run, s);
	printf("\n");
}

static void upload(const struct slanted *s, const struct sx_image *host, struct sx_image *device)
{
	const size_t row = (size_t)host->width * sx_pixel_bytes(host->pixel);

	sx_cuda_take_image(&s->b->memory, device, host->pixel, host->width, host->height);
	bench_must(s->b->memory.error, "memory");
	for (int y = 0; y < host->height; y++)
		bench_must(cudaMemcpyAsync(sx_image_row(device, y), sx_image_row(host, y), row,
					   cudaMemcpyHostToDevice, s->b->stream),
			   "upload");
	bench_must(cudaStreamSynchronize(s->b->stream), "upload");
}

static void take_noise(const struct slanted *s, struct sx_image *img, enum sx_pixel pixel, int width,
		       int height)
{
	struct check_rng r = check_rng_seed(7);
	struct check_image host;

	check_image_init(&host, pixel, width, height, 0);
	if (pixel == SX_PIXEL_U16)
		check_fill_disparity(&host.image, 128, 5, &r);
	else
		check_fill(&host.image, CHECK_NOISE, &r);
	upload(s, &host.image, img);
	check_image_finish(&host);
}

/* Makes columns of a street, and the road below them. */
static void take_columns(struct slanted *s)
{
	const int rows = s->b->height / s->cell, columns = s->b->width / s->cell;
	struct sx_cuda_road road = {.road = stixel_case_road(rows, rows * 52 / 100, 90), .number = 1};
	struct check_rng r = check_rng_seed(8);
	struct check_image host;

	check_image_init(&host, SX_PIXEL_U16, rows, columns, 0);
	stixel_case_columns(CASE_SCENE, &road.road, 128, &host.image, &r);
	upload(s, &host.image, &s->columns);
	check_image_finish(&host);
	road.road.slope /= s->cell;
	s->road = sx_cuda_upload(&s->b->memory, &road, sizeof(road));
}

static void take_scores(struct slanted *s)
{
	const struct bench *b = s->b;
	struct sx_cuda_scores in = {.scale = 1, .width = b->width, .height = b->height};
	struct sx_image planes;

	take_noise(s, &planes, SX_PIXEL_U8, b->width, b->height * CLASSES);
	in.pitch = planes.pitch;
	in.plane_bytes = planes.pitch * (size_t)b->height;
	in.data = planes.data;
	s->in = sx_cuda_upload(&s->b->memory, &in, sizeof(in));
	in.data = NULL;
	s->none = sx_cuda_upload(&s->b->memory, &in, sizeof(in));
	sx_cuda_take_image(&s->b->memory, &s->scores, SX_PIXEL_U8, b->height / s->cell * CLASSES,
			   b->width / s->cell);
}

static void fill_params(struct slanted *s)
{
	struct sx_params *p = &s->p;

	*p = stixel_case_params(s->b->height);
	p->stixels.method = SX_STIXEL_SLANTED;
	p->stixels.width = p->stixels.cell_height = s->cell;
	p->semantics.classes = CLASSES;
	for (int k = 0; k < CLASSES; k++)
		p->semantics.kind[k] = k < 2 || k == 9 ? STIXEL_GROUND : k == 10 ? STIXEL_SKY : STIXEL_OBJECT;
}

static void create(struct slanted *s)
{
	struct bench *b = s->b;
	int sms = b->sms;

	if (!sms)
		bench_must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0),
			   "multiprocessors");
	if (sx_slanted_cuda_create(&s->segmenter, &b->memory, &s->p, b->height, b->width / s->cell, sms) <
	    0) {
		fprintf(stderr, "columns: %s\n", cudaGetErrorString(b->memory.error));
		exit(1);
	}
}

static void take(struct slanted *s)
{
	struct bench *b = s->b;
	const int rows = b->height / s->cell, columns = b->width / s->cell;
	const size_t n = (size_t)columns;

	fill_params(s);
	take_noise(s, &s->disparity, SX_PIXEL_U16, b->width, b->height);
	take_noise(s, &s->confidence, SX_PIXEL_U8, b->width, b->height);
	take_scores(s);
	take_columns(s);
	take_noise(s, &s->columns_confidence, SX_PIXEL_U8, rows, columns);
	s->out.columns = columns;
	s->out.capacity = rows;
	s->out.list = sx_cuda_take(&b->memory, n * (size_t)rows * sizeof(*s->out.list));
	s->out.count = sx_cuda_take(&b->memory, n * sizeof(*s->out.count));
	s->out.total = sx_cuda_take(&b->memory, n * sizeof(*s->out.total));
	create(s);
	bench_must(b->memory.error, "memory");
}

static void time_all(struct slanted *s)
{
	time_one(s, "scores, 19 classes", run_scores);
	s->given = s->in;
	time_one(s, "columns, 19 classes", run_columns);
	s->given = s->none;
	time_one(s, "columns, no scores", run_columns);
	/* from here on the columns contain noise */
	s->p.stixels.reduction = SX_REDUCTION_MEDIAN;
	time_one(s, "disparity, median", run_cells);
	s->p.stixels.reduction = SX_REDUCTION_MEAN;
	time_one(s, "disparity, mean", run_cells);
}

int main(int argc, char **argv)
{
	struct bench b;

	bench_init(&b, argc, argv);
	for (int cell = 8; cell >= 4; cell /= 2) {
		struct slanted s = {.b = &b, .cell = cell};

		take(&s);
		time_all(&s);
		sx_slanted_cuda_destroy(s.segmenter);
	}
	bench_finish(&b);
	return 0;
}
