/*
 * Pyramid search on the device against stages/pyramid/: the paths of one scale over drawn tiles, with and
 * without a volume of costs, and the whole search with tiles for which there is room or not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/pyramid/pyramid_cuda.h"
#include "gpu/pyramid/pyramid_kernels.h"
#include "stages/pyramid/pyramid.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/gpu/on_device.h"
#include "tests/gpu/stereo/aggregation_case.h"

#define SEED_CHAIN 8000

/* Multiprocessors of a device on which two lanes walk a path, and of one on which four do. */
static const int small_and_large[] = {1, 999};

/* One scale, and its S by sx_sgm(). A tile has at most `most` blocks. */
struct scale {
	struct sx_stereo_params p;
	struct aggregation_case a;
	struct check_image tiles;
	int width, height, most, slots; /* slots: of all tiles */
	uint64_t seed;
};

/* Draws 1 to `most` blocks for each tile. */
static void draw_tiles(struct scale *s, struct check_rng *r)
{
	const int blocks = s->p.disparities / SX_SEARCH_BLOCK;

	s->slots = 0;
	for (int j = 0; j < s->tiles.image.height; j++) {
		struct sx_search_tile *row = sx_image_row(&s->tiles.image, j);

		for (int q = 0; q < s->tiles.image.width; q++) {
			uint16_t strength[SX_PYRAMID_BLOCKS_MAX] = {0};
			const int count = 1 + check_below(r, s->most), first = check_below(r, blocks);

			/* neighbours in half of the tiles */
			for (int i = 0; i < count; i++)
				strength[check_below(r, 2) ? (first + i) % blocks : check_below(r, blocks)] =
					1;
			row[q] = sx_pyramid_choose(strength, blocks);
			s->slots += row[q].count;
		}
	}
}

static void scale_init(struct scale *s)
{
	struct check_rng r = check_rng_seed(s->seed);
	void *scratch;

	aggregation_case_init(&s->a, &s->p, s->width, s->height);
	check_fill_pair(&s->a.in.grey[0], &s->a.in.grey[1], CHECK_NOISE, 5, 9, &r);
	for (int i = 0; i < 2; i++)
		sx_describe(&s->a.in.grey[i], &s->a.in.descriptor[i], &s->p);
	check_image_init(&s->tiles, SX_PIXEL_U64, SX_SEARCH_TILES_X(s->width), SX_SEARCH_TILES_Y(s->height),
			 0);
	draw_tiles(s, &r);
	scratch = aligned_alloc(64, (sx_sgm_scratch_bytes(s->width, &s->p) + 63) / 64 * 64);
	assert_non_null(scratch);
	sx_sgm(&s->a.in, &s->a.want[3], &s->p, &s->tiles.image, scratch);
	free(scratch);
}

static void scale_finish(struct scale *s)
{
	check_image_finish(&s->tiles);
	aggregation_case_finish(&s->a);
}

/* Returns the lists of all tiles, whose slots follow one another from the last tile on. */
static struct sx_pyramid_list *lists_of(const struct scale *s)
{
	const int tiles_x = s->tiles.image.width, count = tiles_x * s->tiles.image.height;
	struct sx_pyramid_list *lists = calloc((size_t)count, sizeof(*lists));
	uint32_t used = 0;

	assert_non_null(lists);
	for (int i = count - 1; i >= 0; i--) {
		const struct sx_search_tile *tile =
			(const struct sx_search_tile *)sx_image_row(&s->tiles.image, i / tiles_x) +
			i % tiles_x;

		lists[i].tile = tile->count;
		lists[i].first = used;
		for (int k = 0; k < tile->count; k++) {
			lists[i].tile |= (uint64_t)tile->block[k] << 8 * (k + 1);
			lists[i].blocks |= UINT64_C(1) << tile->block[k];
			if (k > 0 && tile->block[k] == tile->block[k - 1] + 1)
				lists[i].joined |= UINT32_C(1) << k;
		}
		used += tile->count;
	}
	return lists;
}

/* Returns the scale on the device, in no more memory than it needs. */
static struct sx_pyramid_view view_of(struct on_device *d, const struct scale *s, bool crowded)
{
	const size_t count = (size_t)(s->tiles.image.width * s->tiles.image.height);
	struct sx_pyramid_list *lists = lists_of(s);
	const uint32_t used = (uint32_t)s->slots;
	struct sx_pyramid_view v = {
		.width = s->width,
		.height = s->height,
		.disparities = s->p.disparities,
		.min_disparity = s->p.min_disparity,
		.tiles_x = s->tiles.image.width,
		.tiles_y = s->tiles.image.height,
		.slots = SX_SEARCH_TILE_BLOCKS,
		.paths = s->p.paths,
		.sums = sx_pyramid_has_sums(&s->p),
		.wide = sx_descriptor_pixel(s->p.cost) == SX_PIXEL_U64,
		.capacity = used - crowded,
	};
	size_t slots;

	v.volumes = sx_pyramid_volumes(v.paths, v.sums);
	slots = crowded ? count * SX_SEARCH_TILE_BLOCKS * (size_t)v.volumes : used * (size_t)(v.volumes + 1);
	for (int i = 0; i < 2; i++) {
		const struct sx_image grey = on_device_copy(d, &s->a.in.grey[i]),
				      descriptor = on_device_copy(d, &s->a.in.descriptor[i]);

		v.grey[i] = grey.data;
		v.grey_pitch[i] = grey.pitch;
		v.descriptor[i] = descriptor.data;
		v.descriptor_pitch[i] = descriptor.pitch;
	}
	v.lists = sx_cuda_upload(&d->memory, lists, count * sizeof(*lists));
	v.used = sx_cuda_upload(&d->memory, &used, sizeof(used));
	v.room = sx_cuda_take(&d->memory, slots * SX_PYRAMID_SLOT_BYTES);
	ON_DEVICE(d->memory.error);
	free(lists);
	return v;
}

static void check_paths(const struct scale *s, bool crowded, int sms)
{
	struct on_device d;
	struct sx_pyramid_view v;
	struct sx_image got[AGGREGATION_OUT];
	const uint8_t *p2_table;
	char what[160];

	on_device_init(&d);
	v = view_of(&d, s, crowded);
	p2_table = sx_pyramid_p2_table(&d.memory, &s->p);
	aggregation_take(&d, s->a.want, got);
	/* twice: the second run must not depend on the first */
	for (int i = 0; i < 2; i++) {
		ON_DEVICE(sx_pyramid_costs_launch(&v, &s->p, d.stream));
		ON_DEVICE(sx_pyramid_paths_launch(&v, &s->p, p2_table, sms, d.stream));
	}
	ON_DEVICE(sx_pyramid_sum_launch(&v, &s->p, &got[3], d.stream));
	snprintf(what, sizeof(what), "%dx%d D %d, %d blocks at most, paths %d cost %d edge %d%s%s, %d SMs",
		 s->width, s->height, s->p.disparities, s->most, s->p.paths, s->p.cost, s->p.p2_edge,
		 v.sums ? ", sums" : "", crowded ? ", crowded" : "", sms);
	on_device_compare(&d, what, s->seed, &s->a.want[3], &got[3], s->p.disparities);
	on_device_finish(&d);
}

/* Checks a scale of these parameters with room for costs and without, on a small and a large device. */
static void check_scale(const struct sx_stereo_params *p, int width, int height, int most, uint64_t seed)
{
	struct scale s = {.p = *p, .width = width, .height = height, .most = most, .seed = seed};

	scale_init(&s);
	for (int i = 0; i < 4; i++)
		check_paths(&s, i % 2, small_and_large[i / 2]);
	scale_finish(&s);
}

static struct sx_stereo_params params_of(int disparities, int paths)
{
	struct sx_stereo_params p = aggregation_case_params(disparities, paths);

	p.search = SX_SEARCH_PYRAMID;
	return p;
}

/*
 * Paths right and left meet in the middle of a row, at a span of eight pixels. Widths and heights from one
 * pixel to five spans and one pixel: one way may walk no pixel before they meet, or none afterwards.
 */
static void test_meeting(void **state)
{
	for (int n = 1; n <= 41; n += n % 8 < 2 ? 1 : 6) {
		const struct sx_stereo_params p = params_of(64, 4);

		check_scale(&p, n, 42 - n, 1 + n % 6, (uint64_t)n);
		check_scale(&p, n, 1 + n % 3 * 8, 6 - n % 6, 100 + (uint64_t)n);
		check_scale(&p, 1 + n % 2 * 16, n, 1 + n % 6, 200 + (uint64_t)n);
	}
}

/* Draws costs of 32 and of 64 bits, and penalties with which the sum of two V fits a byte or does not. */
static void test_variants(void **state)
{
	static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48,
					     SX_COST_CENSUS63};

	for (int i = 0; i < ENOUGH_OF(48); i++) {
		struct check_rng r = check_rng_seed(300 + (uint64_t)i);
		struct sx_stereo_params p = params_of(32 << i % 5, 2 << i % 3);

		p.cost = costs[check_below(&r, 4)];
		p.min_disparity = check_below(&r, 41) - 20;
		p.out_of_view = check_below(&r, 2) ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		p.p2_edge = check_below(&r, 2) ? 1 + check_below(&r, 60) : 0;
		p.p2 = i / 3 % 2 ? 60 : 140;
		p.p2_vertical = i / 3 % 2 ? 50 : 120;
		check_scale(&p, 1 + check_below(&r, 90), 1 + check_below(&r, 50), 1 + i % 6,
			    300 + (uint64_t)i);
	}
}

/* The whole search, and what the reference says of it. */
struct chain {
	struct sx_context_config c;
	struct aggregation_case a;
	struct check_image tiles;
	int slots; /* slots of all tiles of scale 0 */
};

static void chain_init(struct chain *t, enum check_fill fill, uint64_t seed)
{
	const struct sx_stereo_params *p = &t->c.params.stereo;
	const int scales = sx_pyramid_scales(p->disparities);
	const struct sx_pyramid_scale full = sx_pyramid_scale(p, t->c.width, t->c.height, 0);
	struct check_rng r = check_rng_seed(seed);
	struct sx_pyramid *own = NULL;
	size_t bytes = 0;

	aggregation_case_init(&t->a, p, t->c.width, t->c.height);
	check_fill_pair(&t->a.in.grey[0], &t->a.in.grey[1], fill, 9, 0, &r);
	for (int i = 0; i < 2; i++)
		sx_describe(&t->a.in.grey[i], &t->a.in.descriptor[i], p);
	check_image_init(&t->tiles, SX_PIXEL_U64, full.tiles_x,
			 sx_pyramid_scale(p, t->c.width, t->c.height, scales - 1).first_row, 0);
	assert_int_equal(sx_pyramid_create(&own, p, t->c.width, t->c.height, &bytes), 0);
	sx_pyramid_sgm(own, &t->a.in, &t->a.want[3], &t->tiles.image);
	sx_pyramid_destroy(own);
	t->slots = 0;
	for (int j = 0; j < full.tiles_y; j++)
		for (int q = 0; q < full.tiles_x; q++)
			t->slots += ((struct sx_search_tile *)sx_image_row(&t->tiles.image, j))[q].count;
}

static void chain_check(const struct chain *t, int sms, uint64_t seed)
{
	struct on_device d;
	struct sx_pyramid_cuda *s = NULL;
	struct sx_image grey[2], descriptor[2], got[AGGREGATION_OUT], tiles;

	on_device_init(&d);
	for (int i = 0; i < 2; i++) {
		grey[i] = on_device_copy(&d, &t->a.in.grey[i]);
		descriptor[i] = on_device_copy(&d, &t->a.in.descriptor[i]);
	}
	tiles = on_device_image(&d, SX_PIXEL_U64, t->tiles.image.width, t->tiles.image.height);
	aggregation_take(&d, t->a.want, got);
	assert_int_equal(sx_pyramid_cuda_create(&s, &d.memory, &t->c, sms), 0);
	for (int i = 0; i < 2; i++) {
		const struct sx_pyramid_images images = {grey, descriptor, &tiles, &got[0], &got[1], &got[2]};

		ON_DEVICE(sx_pyramid_cuda_halve(s, &images, d.stream));
		ON_DEVICE(sx_pyramid_cuda_evidence(s, &images, d.stream));
		ON_DEVICE(sx_pyramid_cuda_coarsest(s, &images, d.stream));
		ON_DEVICE(sx_pyramid_cuda_finer(s, &images, d.stream));
		ON_DEVICE(sx_pyramid_cuda_sum(s, &images, &got[3], d.stream));
	}
	on_device_compare(&d, "tiles", seed, &t->tiles.image, &tiles, 0);
	on_device_compare(&d, "sums", seed, &t->a.want[3], &got[3], t->c.params.stereo.disparities);
	sx_pyramid_cuda_destroy(s);
	on_device_finish(&d);
}

/*
 * A tile has room for four blocks on average. Noise needs more of them, a moved picture fewer. The test fails
 * if its pictures do not show both.
 */
static void test_room(void **state)
{
	for (int crowded = 0; crowded < 2; crowded++) {
		const uint64_t seed = SEED_CHAIN + (uint64_t)crowded;
		struct chain t;
		int tiles;

		memset(&t, 0, sizeof(t));
		t.c.width = 150;
		t.c.height = 70;
		t.c.keep_volume = true;
		t.c.params.stereo = params_of(256, 4);
		chain_init(&t, crowded ? CHECK_CHECKERBOARD : CHECK_NOISE, seed);
		tiles = SX_SEARCH_TILES_X(t.c.width) * SX_SEARCH_TILES_Y(t.c.height);
		if (crowded)
			assert_true(t.slots > SX_PYRAMID_ROOM * tiles);
		else
			assert_true(t.slots < SX_PYRAMID_ROOM * tiles);
		for (int i = 0; i < 2; i++)
			chain_check(&t, small_and_large[i], seed);
		check_image_finish(&t.tiles);
		aggregation_case_finish(&t.a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meeting),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_room),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
