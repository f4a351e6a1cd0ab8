/*
 * Road and segments in device memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/gpu/stixels/segments_case.h"

struct sx_cuda_road *segments_case_road(struct on_device *x, const struct sx_road *road, int height)
{
	int32_t *ground = calloc((size_t)height, sizeof(*ground));
	struct sx_cuda_road r = {.road = *road, .number = SEGMENTS_CASE_NUMBER};
	struct sx_cuda_road *ret;

	assert_non_null(ground);
	sx_road_ground(road, height, ground);
	r.ground_q4 = sx_cuda_upload(&x->memory, ground, (size_t)height * sizeof(*ground));
	ret = sx_cuda_upload(&x->memory, &r, sizeof(r));
	ON_DEVICE(x->memory.error);
	free(ground);
	return ret;
}

struct sx_segments segments_case_upload(struct on_device *x, const struct sx_segments *like)
{
	const size_t n = (size_t)like->columns;
	struct sx_segments s = *like;

	s.list = sx_cuda_upload(&x->memory, like->list, n * (size_t)like->capacity * sizeof(*s.list));
	s.count = sx_cuda_upload(&x->memory, like->count, n * sizeof(*s.count));
	s.total = sx_cuda_upload(&x->memory, like->total, n * sizeof(*s.total));
	ON_DEVICE(x->memory.error);
	return s;
}
