/*
 * Pyramid search: memory of the scales, and the order of the kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/pyramid/pyramid_cuda.h"
#include "gpu/pyramid/pyramid_kernels.h"
#include "gpu/stages_cuda.h"
#include "stages/pyramid/pyramid.h"

/* A scale. grey, descriptor: of scales above 0, whose images belong to the pyramid. */
struct level {
	struct sx_pyramid_view view;
	struct sx_stereo_params p;
	struct sx_image grey[2], descriptor[2];
};

struct sx_pyramid_cuda {
	int scales, sms;
	struct level level[SX_PYRAMID_SCALES_MAX];
	const uint8_t *p2_table; /* NULL: penalties do not depend on edges */
};

static size_t tiles_of(const struct sx_pyramid_view *v)
{
	return (size_t)v->tiles_x * (size_t)v->tiles_y;
}

static void set_image(struct sx_pyramid_view *v, const struct sx_image *grey,
		      const struct sx_image *descriptor)
{
	for (int side = 0; side < 2; side++) {
		v->grey[side] = grey[side].data;
		v->grey_pitch[side] = grey[side].pitch;
		v->descriptor[side] = descriptor[side].data;
		v->descriptor_pitch[side] = descriptor[side].pitch;
	}
}

static void lay_out_level(struct level *l, const struct sx_context_config *c, int k, int scales)
{
	const struct sx_stereo_params *p = &c->params.stereo;
	const struct sx_pyramid_scale s = sx_pyramid_scale(p, c->width, c->height, k);

	l->p = sx_pyramid_params(p, &s);
	l->view = (struct sx_pyramid_view){
		.width = s.width,
		.height = s.height,
		.disparities = s.disparities,
		.min_disparity = s.min_disparity,
		.tiles_x = s.tiles_x,
		.tiles_y = s.tiles_y,
		.slots = k + 1 < scales ? SX_SEARCH_TILE_BLOCKS : s.disparities / SX_SEARCH_BLOCK,
		.paths = p->paths,
		.sums = sx_pyramid_has_sums(p),
		.wide = sx_descriptor_pixel(p->cost) == SX_PIXEL_U64,
	};
	l->view.volumes = sx_pyramid_volumes(p->paths, l->view.sums);
}

/* Takes the images of a scale above 0. */
static void take_images(struct level *l, struct sx_cuda_memory *m)
{
	for (int side = 0; side < 2; side++) {
		sx_cuda_take_image(m, &l->grey[side], SX_PIXEL_U8, l->view.width, l->view.height);
		sx_cuda_take_image(m, &l->descriptor[side], sx_descriptor_pixel(l->p.cost), l->view.width,
				   l->view.height);
	}
	set_image(&l->view, l->grey, l->descriptor);
}

/* Uploads the lists of the coarsest scale, whose tiles search all blocks. */
static int upload_full_lists(struct sx_pyramid_view *v, struct sx_cuda_memory *m)
{
	const size_t count = tiles_of(v);
	struct sx_pyramid_list all = {.tile = (uint64_t)v->slots}, *lists = malloc(count * sizeof(*lists));

	if (!lists)
		return -ENOMEM;
	for (int s = 0; s < v->slots; s++) {
		all.tile |= (uint64_t)s << 8 * (s + 1);
		all.blocks |= UINT64_C(1) << s;
		all.joined |= s > 0 ? UINT32_C(1) << s : 0;
	}
	for (size_t i = 0; i < count; i++) {
		lists[i] = all;
		lists[i].first = (uint32_t)i * (uint32_t)v->slots;
	}
	v->lists = sx_cuda_upload(m, lists, count * sizeof(*lists));
	free(lists);
	return 0;
}

/* Returns the slots that a scale may need in all volumes together. */
static size_t room_of(const struct level *l, bool coarsest)
{
	const struct sx_pyramid_view *v = &l->view;
	const int slots = coarsest ? (v->volumes + 1) * v->slots : sx_pyramid_room_slots(v->volumes);

	return tiles_of(v) * (size_t)slots;
}

/* Takes the lists of a scale whose tiles are chosen. */
static void take_lists(struct sx_pyramid_view *v, struct sx_cuda_memory *m)
{
	v->kept = sx_cuda_take(m, tiles_of(v) * sizeof(*v->kept));
	v->lists = sx_cuda_take(m, tiles_of(v) * sizeof(*v->lists));
	v->used = sx_cuda_take(m, sizeof(*v->used));
}

/* Takes the memory of all scales. They share volumes and hits, which hold those of the scale walked last. */
static int pyramid_take(struct sx_pyramid_cuda *s, struct sx_cuda_memory *m,
			const struct sx_context_config *c)
{
	struct level *coarsest = &s->level[s->scales - 1];
	size_t slots = 0;
	uint8_t *room;
	uint64_t *hits;
	int r;

	for (int k = 0; k < s->scales; k++) {
		const bool last = k + 1 == s->scales;

		lay_out_level(&s->level[k], c, k, s->scales);
		if (room_of(&s->level[k], last) > slots)
			slots = room_of(&s->level[k], last);
		if (k > 0)
			take_images(&s->level[k], m);
		if (!last)
			take_lists(&s->level[k].view, m);
	}
	r = upload_full_lists(&coarsest->view, m);
	if (r < 0)
		return r;
	hits = sx_cuda_take(m, tiles_of(&s->level[1].view) * SX_PYRAMID_TILE_PIXELS * sizeof(*hits));
	room = sx_cuda_take(m, slots * SX_PYRAMID_SLOT_BYTES);
	for (int k = 0; k < s->scales; k++) {
		struct sx_pyramid_view *v = &s->level[k].view;

		v->hits = k > 0 ? hits : NULL;
		v->room = room;
		v->capacity = (uint32_t)(slots / (size_t)(v->volumes + 1));
	}
	s->p2_table = sx_pyramid_p2_table(m, &c->params.stereo);
	if (!c->keep_volume)
		sx_cuda_lend(m, room, slots * SX_PYRAMID_SLOT_BYTES);
	return 0;
}

int sx_pyramid_cuda_create(struct sx_pyramid_cuda **ret, struct sx_cuda_memory *m,
			   const struct sx_context_config *c, int sms)
{
	struct sx_pyramid_cuda *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->scales = sx_pyramid_scales(c->params.stereo.disparities);
	s->sms = sms;
	r = pyramid_take(s, m, c);
	if (r == 0 && m->error)
		r = -ENOMEM;
	if (r < 0) {
		sx_pyramid_cuda_destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_pyramid_cuda_destroy(struct sx_pyramid_cuda *s)
{
	free(s);
}

/* Returns a scale with the images of the pair. */
static struct sx_pyramid_view view_of(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				      int k)
{
	struct sx_pyramid_view v = s->level[k].view;

	if (k == 0)
		set_image(&v, i->grey, i->descriptor);
	if (k + 1 < s->scales) {
		const struct sx_pyramid_scale scale =
			sx_pyramid_scale(&s->level[0].p, s->level[0].view.width, s->level[0].view.height, k);

		v.tiles = sx_image_row(i->tiles, scale.first_row);
		v.tiles_pitch = i->tiles->pitch;
	}
	return v;
}

static cudaError_t describe(const struct sx_pyramid_cuda *s, int k, cudaStream_t stream)
{
	const struct level *l = &s->level[k];

	return sx_census_cuda_run(l->grey, l->descriptor, l->p.cost, stream);
}

cudaError_t sx_pyramid_cuda_halve(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				  cudaStream_t stream)
{
	cudaError_t e = cudaSuccess;

	for (int k = 0; k + 1 < s->scales && !e; k++) {
		const struct sx_pyramid_view v = view_of(s, i, k), half = view_of(s, i, k + 1);

		e = sx_pyramid_halve_launch(&v, &half, stream);
	}
	return e;
}

cudaError_t sx_pyramid_cuda_evidence(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				     cudaStream_t stream)
{
	cudaError_t e = cudaSuccess;

	for (int k = s->scales - 2; k >= 0 && !e; k--) {
		const struct sx_pyramid_view v = view_of(s, i, k);

		if (k > 0)
			e = describe(s, k, stream);
		if (!e)
			e = sx_pyramid_evidence_launch(&v, &s->level[k].p, s->sms, stream);
	}
	return e;
}

/* Computes the path costs of the cells that a scale searches. */
static cudaError_t walk(const struct sx_pyramid_cuda *s, const struct sx_pyramid_view *v, int k,
			cudaStream_t stream)
{
	const struct sx_stereo_params *p = &s->level[k].p;
	const cudaError_t e = sx_pyramid_costs_launch(v, p, stream);

	return e ? e : sx_pyramid_paths_launch(v, p, s->p2_table, s->sms, stream);
}

cudaError_t sx_pyramid_cuda_coarsest(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				     cudaStream_t stream)
{
	const int k = s->scales - 1;
	const struct sx_pyramid_view v = view_of(s, i, k);
	const cudaError_t e = describe(s, k, stream);

	return e ? e : walk(s, &v, k, stream);
}

cudaError_t sx_pyramid_cuda_finer(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				  cudaStream_t stream)
{
	cudaError_t e = cudaSuccess;

	for (int k = s->scales - 2; k >= 0 && !e; k--) {
		const struct sx_pyramid_view v = view_of(s, i, k), coarse = view_of(s, i, k + 1);

		if ((e = sx_pyramid_hits_launch(&coarse, &v, &s->level[k + 1].p, stream)) ||
		    (e = sx_pyramid_choose_launch(&v, &coarse, stream)))
			return e;
		e = walk(s, &v, k, stream);
	}
	return e;
}

cudaError_t sx_pyramid_cuda_winner(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				   cudaStream_t stream)
{
	const struct sx_pyramid_view v = view_of(s, i, 0);

	return sx_pyramid_winner_launch(&v, &s->level[0].p, i->left, i->right, i->confidence, s->sms, stream);
}

cudaError_t sx_pyramid_cuda_sum(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				const struct sx_image *sum, cudaStream_t stream)
{
	const struct sx_pyramid_view v = view_of(s, i, 0);

	return sx_pyramid_sum_launch(&v, &s->level[0].p, sum, stream);
}
