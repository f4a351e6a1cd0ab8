/*
 * The images of a case of aggregation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/stereo/aggregation_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SUMS (AGGREGATION_OUT - 1)

/* Creates a host image. Rows of sums are wider than sx_image_init() allows. */
static struct sx_image host_image(enum sx_pixel pixel, int width, int height)
{
	const size_t pitch = (size_t)width * sx_pixel_bytes(pixel);
	const struct sx_image img = {test_calloc((size_t)height, pitch), width, height, pitch, pixel};

	return img;
}

struct sx_stereo_params aggregation_case_params(int disparities, int paths)
{
	struct sx_stereo_params p;

	memset(&p, 0, sizeof(p));
	p.cost = SX_COST_CSCT;
	p.paths = paths;
	p.disparities = disparities;
	p.uniqueness = 95;
	p.subpixel = SX_SUBPIXEL_TRUNC;
	sx_stereo_resolve(&p);
	return p;
}

void aggregation_case_init(struct aggregation_case *a, const struct sx_stereo_params *p, int width,
			   int height)
{
	for (int i = 0; i < 2; i++) {
		a->in.grey[i] = host_image(SX_PIXEL_U8, width, height);
		a->in.descriptor[i] = host_image(sx_descriptor_pixel(p->cost), width, height);
		a->want[i] = host_image(SX_PIXEL_U16, width, height);
	}
	a->want[2] = host_image(SX_PIXEL_U8, width, height);
	a->want[SUMS] = host_image(SX_PIXEL_U16, width * p->disparities, height);
}

void aggregation_case_finish(struct aggregation_case *a)
{
	for (int i = 0; i < 2; i++) {
		test_free(a->in.grey[i].data);
		test_free(a->in.descriptor[i].data);
	}
	for (int i = 0; i < AGGREGATION_OUT; i++)
		test_free(a->want[i].data);
}

void aggregation_take(struct on_device *d, const struct sx_image want[AGGREGATION_OUT],
		      struct sx_image got[AGGREGATION_OUT])
{
	for (int i = 0; i < SUMS; i++)
		got[i] = on_device_image(d, want[i].pixel, want[i].width, want[i].height);
	got[SUMS] = want[SUMS];
	got[SUMS].data = sx_cuda_take(&d->memory, want[SUMS].pitch * (size_t)want[SUMS].height);
}

void aggregation_compare(struct on_device *d, const char *what, uint64_t seed,
			 const struct sx_image want[AGGREGATION_OUT],
			 const struct sx_image got[AGGREGATION_OUT], int disparities)
{
	if (disparities)
		on_device_compare(d, what, seed, &want[SUMS], &got[SUMS], disparities);
	for (int i = 0; i < SUMS; i++)
		on_device_compare(d, what, seed, &want[i], &got[i], 0);
}
