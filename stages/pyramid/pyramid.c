/*
 * Pyramid search: scales, hits, and the order of the steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/pyramid/pyramid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stages/pyramid/pyramid_tiles.h"
#include "stages/stereo/sgm.h"

/* The memory of a scale above 0, or the pair itself. */
struct level {
	struct sx_pyramid_scale scale;
	struct sx_stereo_params p;
	struct sx_cost_input in;
};

struct sx_pyramid {
	int scales;
	struct level level[SX_PYRAMID_SCALES_MAX];
	struct sx_image sum; /* S of the scale above 0 that was searched last */
	void *tiles_scratch, *sgm_scratch;
};

static int half_up(int n)
{
	return (n + 1) / 2;
}

/* Returns the disparities of the next coarser scale: half of them, as whole blocks. */
static int half_blocks(int disparities)
{
	return half_up(disparities / SX_SEARCH_BLOCK) * SX_SEARCH_BLOCK;
}

int sx_pyramid_scales(int disparities)
{
	int n = 1;

	for (; disparities / 2 >= SX_PYRAMID_COARSEST; disparities = half_blocks(disparities))
		n++;
	return n;
}

static int half_down(int n)
{
	return n < 0 ? -((1 - n) / 2) : n / 2;
}

struct sx_pyramid_scale sx_pyramid_scale(const struct sx_stereo_params *p, int width, int height, int k)
{
	struct sx_pyramid_scale s = {.width = width,
				     .height = height,
				     .disparities = p->disparities,
				     .min_disparity = p->min_disparity};

	for (int i = 0; i < k; i++) {
		s.first_row += SX_SEARCH_TILES_Y(s.height);
		s.width = half_up(s.width);
		s.height = half_up(s.height);
		s.disparities = half_blocks(s.disparities);
		s.min_disparity = half_down(s.min_disparity);
	}
	s.tiles_x = SX_SEARCH_TILES_X(s.width);
	s.tiles_y = SX_SEARCH_TILES_Y(s.height);
	return s;
}

struct sx_stereo_params sx_pyramid_params(const struct sx_stereo_params *p, const struct sx_pyramid_scale *s)
{
	struct sx_stereo_params of = *p;

	of.disparities = s->disparities;
	of.min_disparity = s->min_disparity;
	return of;
}

void sx_pyramid_halve(const struct sx_image *from, const struct sx_image *to)
{
	for (int y = 0; y < to->height; y++) {
		const uint8_t *a = sx_image_row(from, 2 * y);
		const uint8_t *b = 2 * y + 1 < from->height ? sx_image_row(from, 2 * y + 1) : a;
		uint8_t *out = sx_image_row(to, y);

		for (int x = 0; x < to->width; x++) {
			int l = 2 * x, r = l + 1 < from->width ? l + 1 : l;

			out[x] = (uint8_t)((a[l] + a[r] + b[l] + b[r] + 2) / 4);
		}
	}
}

static int take(void **memory, size_t bytes, size_t *sum)
{
	bytes = (bytes + 63) / 64 * 64;
	*memory = aligned_alloc(64, bytes);
	if (!*memory)
		return -ENOMEM;
	*sum += bytes;
	return 0;
}

static int take_image(struct sx_image *img, enum sx_pixel pixel, int width, int height, size_t *sum)
{
	*img = (struct sx_image){NULL, width, height, (size_t)width * sx_pixel_bytes(pixel), pixel};
	return take(&img->data, img->pitch * (size_t)height, sum);
}

static int take_level(struct level *l, enum sx_pixel descriptor, size_t *sum)
{
	int r = 0;

	for (int side = 0; side < 2 && r == 0; side++) {
		r = take_image(&l->in.grey[side], SX_PIXEL_U8, l->scale.width, l->scale.height, sum);
		if (r == 0)
			r = take_image(&l->in.descriptor[side], descriptor, l->scale.width, l->scale.height,
				       sum);
	}
	return r;
}

static int take_all(struct sx_pyramid *own, const struct sx_stereo_params *p, size_t *sum)
{
	const struct sx_pyramid_scale *full = &own->level[0].scale;
	const struct sx_pyramid_scale *half = &own->level[own->scales > 1].scale;
	int r = take(&own->sgm_scratch, sx_sgm_scratch_bytes(full->width, p), sum);

	for (int k = 1; k < own->scales && r == 0; k++)
		r = take_level(&own->level[k], sx_descriptor_pixel(p->cost), sum);
	if (r == 0)
		r = take_image(&own->sum, SX_PIXEL_U16, half->width * half->disparities, half->height, sum);
	if (r == 0)
		r = take(&own->tiles_scratch, sx_pyramid_tiles_scratch_bytes(full, half), sum);
	return r;
}

int sx_pyramid_create(struct sx_pyramid **ret, const struct sx_stereo_params *p, int width, int height,
		      size_t *bytes)
{
	struct sx_pyramid *own = calloc(1, sizeof(*own));
	int r;

	if (!own)
		return -ENOMEM;
	own->scales = sx_pyramid_scales(p->disparities);
	for (int k = 0; k < own->scales; k++) {
		own->level[k].scale = sx_pyramid_scale(p, width, height, k);
		own->level[k].p = sx_pyramid_params(p, &own->level[k].scale);
	}
	r = take_all(own, p, bytes);
	if (r < 0) {
		sx_pyramid_destroy(own);
		return r;
	}
	*ret = own;
	return 0;
}

void sx_pyramid_destroy(struct sx_pyramid *own)
{
	if (!own)
		return;
	for (int k = 1; k < own->scales; k++)
		for (int side = 0; side < 2; side++) {
			free(own->level[k].in.grey[side].data);
			free(own->level[k].in.descriptor[side].data);
		}
	free(own->sum.data);
	free(own->tiles_scratch);
	free(own->sgm_scratch);
	free(own);
}

static void describe_scales(struct sx_pyramid *own)
{
	for (int k = 1; k < own->scales; k++)
		for (int side = 0; side < 2; side++) {
			sx_pyramid_halve(&own->level[k - 1].in.grey[side], &own->level[k].in.grey[side]);
			sx_describe(&own->level[k].in.grey[side], &own->level[k].in.descriptor[side],
				    &own->level[k].p);
		}
}

/* Returns the view of one scale's tiles, or of its S in the memory that all coarser scales share. */
static struct sx_image tiles_of(const struct sx_pyramid_scale *s, const struct sx_image *tiles)
{
	return (struct sx_image){sx_image_row(tiles, s->first_row), s->tiles_x, s->tiles_y, tiles->pitch,
				 tiles->pixel};
}
static struct sx_image sum_of(const struct sx_pyramid_scale *s, const struct sx_image *sum)
{
	const int width = s->width * s->disparities;

	return (struct sx_image){sum->data, width, s->height, (size_t)width * sizeof(uint16_t), sum->pixel};
}

void sx_pyramid_sgm(struct sx_pyramid *own, const struct sx_cost_input *in, const struct sx_image *sum,
		    const struct sx_image *tiles)
{
	const int coarsest = own->scales - 1;

	own->level[0].in = *in;
	describe_scales(own);
	for (int k = coarsest; k >= 0; k--) {
		const struct level *l = &own->level[k];
		const struct sx_image s = k ? sum_of(&l->scale, &own->sum) : *sum;
		struct sx_image chosen, coarse;

		if (k == coarsest) {
			sx_sgm(&l->in, &s, &l->p, NULL, own->sgm_scratch);
			continue;
		}
		chosen = tiles_of(&l->scale, tiles);
		for (int row = 0; row < chosen.height; row++)
			memset(sx_image_row(&chosen, row), 0,
			       (size_t)tiles->width * sizeof(struct sx_search_tile));
		coarse = sum_of(&l[1].scale, &own->sum);
		sx_pyramid_choose_tiles(&coarse, &l[1].scale, &l->in, &l->p, &chosen, own->tiles_scratch);
		sx_sgm(&l->in, &s, &l->p, &chosen, own->sgm_scratch);
	}
}

void sx_pyramid_edges(const struct sx_stereo_params *p, const struct sx_image *left,
		      const struct sx_image *right, const struct sx_image *confidence)
{
	const struct sx_image *const maps[] = {left, right, confidence};
	const int height = left->height;

	for (int y = 0; sx_pyramid_scales(p->disparities) > 1 && y < height; y++) {
		const int from = sx_pyramid_winner_row(y, height, p->cost);

		for (int i = 0; from != y && i < 3; i++)
			memcpy(sx_image_row(maps[i], y), sx_image_row(maps[i], from),
			       (size_t)left->width * sx_pixel_bytes(maps[i]->pixel));
	}
}
