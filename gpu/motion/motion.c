/*
 * Motion on the GPU, host side: memory of a chain, and the launches of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/motion/motion_kernels.h"
#include "stixel.h"

struct sx_motion_cuda {
	struct motion_work work;
	struct sx_motion_view views[SX_MOTION_CHAIN_VIEWS];
};

static void take_view(struct sx_cuda_memory *m, int width, int height, struct sx_motion_view *v)
{
	const int half_width = (width + 1) / 2, half_height = (height + 1) / 2;

	sx_cuda_take_image(m, &v->grey, SX_PIXEL_U8, width, height);
	sx_cuda_take_image(m, &v->disparity, SX_PIXEL_U16, width, height);
	sx_cuda_take_image(m, &v->half, SX_PIXEL_U8, half_width, half_height);
	sx_cuda_take_image(m, &v->census, SX_PIXEL_U32, width, height);
	sx_cuda_take_image(m, &v->half_census, SX_PIXEL_U32, half_width, half_height);
}

/* Makes the state of a chain that has seen no frame. */
static struct motion_state *take_state(struct sx_cuda_memory *m)
{
	struct motion_state *fresh = calloc(1, sizeof(*fresh)), *state = NULL;

	if (!fresh)
		return NULL;
	fresh->learned = sx_motion_nothing_learned();
	state = sx_cuda_upload(m, fresh, sizeof(*fresh));
	free(fresh);
	return state;
}

int sx_motion_cuda_create(struct sx_motion_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_motion_cuda_size *size)
{
	struct sx_motion_cuda *s = calloc(1, sizeof(*s));
	const size_t most = (size_t)size->most + 1;
	struct motion_work *w;
	size_t cells;

	if (!s)
		return -ENOMEM;
	w = &s->work;
	w->size = *size;
	w->cells = sx_motion_cells(size->image_width, size->image_height);
	cells = (size_t)(w->cells.columns * w->cells.rows);
	for (int i = 0; i < SX_MOTION_CHAIN_VIEWS; i++)
		take_view(m, size->image_width, size->image_height, &s->views[i]);
	w->views = sx_cuda_upload(m, s->views, sizeof(s->views));
	w->state = take_state(m);
	w->stixels = sx_cuda_take(m, most * sizeof(*w->stixels));
	w->offsets = sx_cuda_take(m, ((size_t)size->columns + 1) * sizeof(*w->offsets));
	w->velocities = sx_cuda_take(m, most * sizeof(*w->velocities));
	w->list = sx_cuda_take(m, cells * sizeof(*w->list));
	w->parent = sx_cuda_take(m, 2 * most * sizeof(*w->parent));
	if (m->error || !w->state) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void sx_motion_cuda_destroy(struct sx_motion_cuda *s)
{
	free(s);
}

const struct sx_motion_view *sx_motion_cuda_view(const struct sx_motion_cuda *s, int i)
{
	return &s->views[i];
}

cudaError_t sx_motion_cuda_run(const struct sx_motion_cuda *s, const struct sx_motion_cuda_frame *frame,
			       cudaStream_t stream)
{
	const struct motion_frame f = {*frame, *frame->left, *frame->disparity};
	const struct motion_work *w = &s->work;
	cudaError_t e;

	if ((e = sx_motion_cuda_plan(w, &f, stream)) || (e = sx_motion_cuda_fill_view(w, &f, stream)) ||
	    (e = sx_motion_cuda_corners(w, &f, stream)))
		return e;
	for (int pass = MOTION_EXPECTED; pass <= MOTION_AGAIN; pass++) {
		if (pass == MOTION_VOTED && (e = sx_motion_cuda_votes(w, &f, stream)))
			return e;
		if ((e = sx_motion_cuda_search(w, &f, pass, stream)) ||
		    (e = sx_motion_cuda_ego(w, &f, pass, stream)))
			return e;
	}
	if ((e = sx_motion_cuda_movers(w, &f, stream)) || (e = sx_motion_cuda_group(w, &f, stream)))
		return e;
	return sx_motion_cuda_finish(w, &f, stream);
}
