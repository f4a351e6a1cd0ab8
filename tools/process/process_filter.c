/*
 * stixel-process: velocities filtered over a sequence, see process_filter.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/process/process_filter.h"

#include <errno.h>
#include <string.h>

#include "stages/engine.h"
#include "stages/motion/chain.h"
#include "stages/motion/filter/ahead.h"
#include "stages/motion/view.h"
#include "tools/process/process.h"

void process_filter_close(struct process_filter *f)
{
	for (int i = 0; i < PROCESS_FILTER_VIEWS; i++)
		sx_motion_view_finish(&f->views[i]);
	sx_motion_pair_finish(&f->pair);
	sx_motion_filter_finish(&f->filter);
	*f = (struct process_filter){0};
}

/* Takes the memory for images of a size. Identities go on counting where it changes. */
static int open_memory(struct process *p, int width, int height, uint32_t most)
{
	struct process_filter *f = &p->filter;
	const uint32_t last_id = f->filter.objects.last_id;
	int r;

	if (f->seen && f->pair.width == width && f->pair.height == height)
		return 0;
	process_filter_close(f);
	r = sx_motion_pair_init(&f->pair, &p->config.params.camera, width, height, most);
	if (r == 0)
		r = sx_motion_filter_init(&f->filter, &p->config.params.camera, width, height, most);
	f->filter.objects.last_id = last_id;
	return r;
}

static void copy_rows(const struct sx_image *tap, void *to)
{
	const size_t bytes = (size_t)tap->width * sizeof(uint32_t);

	for (int y = 0; y < tap->height; y++)
		memcpy((char *)to + (size_t)y * bytes, sx_image_row(tap, y), bytes);
}

/* Takes what the engine found in the pair, and a view of its images behind the kept ones. */
static int take_pair(struct process *p)
{
	const struct sx_result *result = p->engine.backend->result(p->context);
	static const enum sx_tap taps[] = {SX_TAP_LEFT, SX_TAP_DISPARITY, SX_TAP_FEATURES, SX_TAP_FLOWS};
	struct process_filter *f = &p->filter;
	struct sx_motion_view *view;
	struct sx_image images[4];
	int r = 0;

	for (int i = 0; i < 4 && r == 0; i++)
		r = p->engine.backend->peek(p->context, taps[i], &images[i]);
	if (r == 0)
		r = open_memory(p, images[0].width, images[0].height,
				result->columns * (uint32_t)images[0].height);
	if (r < 0)
		return r;
	view = &f->views[f->kept % PROCESS_FILTER_VIEWS];
	sx_motion_view_finish(view);
	r = sx_motion_view_init(view, &images[0], &images[1]);
	if (r < 0)
		return r;
	copy_rows(&images[2], f->pair.features);
	copy_rows(&images[3], f->pair.flows);
	f->pair.ego = *result->ego;
	f->pair.span_ns = result->motion_span_ns;
	memcpy(f->pair.velocities, result->velocities, result->count * sizeof(*result->velocities));
	return 0;
}

/* Returns the view that the engine measured this pair against, or NULL. */
static const struct sx_motion_view *find_before(const struct process_filter *f, int64_t captured_ns)
{
	for (int i = 1; i < PROCESS_FILTER_VIEWS && i <= f->kept && f->pair.span_ns > 0; i++) {
		const int place = (f->kept - i) % PROCESS_FILTER_VIEWS;

		if (f->captured_ns[place] == captured_ns - f->pair.span_ns)
			return &f->views[place];
	}
	return NULL;
}

int process_filter_next(struct process *p, const char *name, struct sx_why *why)
{
	const struct sx_result *result = p->engine.backend->result(p->context);
	struct process_filter *f = &p->filter;
	const int64_t now_ns = p->motion.captured_ns;
	struct sx_motion_frame frame = {.stixels = result->stixels,
					.stixel_count = result->count,
					.stixel_width = p->config.params.stixels.width,
					.road = &result->road};
	const int r = take_pair(p);

	if (r < 0)
		return sx_why_fail(r, why, "%s: motion: %s", name, strerror(-r));
	frame.view = &f->views[f->kept % PROCESS_FILTER_VIEWS];
	frame.seconds = (double)f->pair.span_ns / 1e9;
	sx_motion_filter_next(&f->filter, &frame, find_before(f, now_ns), &f->pair,
			      f->seen ? (double)(now_ns - f->last_ns) / 1e9 : 0.0);
	/* the rule of the engine's chain: a pair is measured against one of these */
	if (!f->kept || now_ns - f->captured_ns[(f->kept - 1) % PROCESS_FILTER_VIEWS] >= SX_MOTION_KEEP_NS)
		f->captured_ns[f->kept++ % PROCESS_FILTER_VIEWS] = now_ns;
	f->seen = true;
	f->last_ns = now_ns;
	return 0;
}

uint32_t process_filter_object(const struct process_filter *f, uint32_t i)
{
	const struct sx_motion_object *o =
		sx_motion_objects_shown(&f->filter.objects, f->filter.beliefs[i].object);

	return o ? o->id : 0;
}

void process_filter_write(const struct process_filter *filter, FILE *f)
{
	const struct sx_motion_objects *os = &filter->filter.objects;

	fputs("object,state,x,y,z,pxx,pxz,pzz,vx,vz,sxx,sxz,szz,width,height,left,right,top,bottom,age,unseen,"
	      "stixels,ahead_x,ahead_z,axx,axz,azz\n",
	      f);
	for (uint32_t i = 0; i < os->count; i++) {
		const struct sx_motion_object *o = &os->objects[i];
		const struct sx_motion_estimate *e = &o->estimate;
		const struct sx_motion_place_m place = {o->x, o->z, o->pxx, o->pxz, o->pzz};
		struct sx_motion_place_m a;

		if (!o->shown)
			continue;
		sx_motion_ahead(&place, e, PROCESS_AHEAD_S, &a);
		fprintf(f, "%u,%u,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f,%.3f,%.3f,%.4f,%.4f,%.4f,%.2f,%.2f,", o->id,
			o->state, o->x, o->y, o->z, o->pxx, o->pxz, o->pzz, e->vx, e->vz, e->sxx, e->sxz,
			e->szz, o->width, o->height);
		fprintf(f, "%d,%d,%d,%d,%.2f,%.2f,%u,%.3f,%.3f,%.4f,%.4f,%.4f\n", o->left, o->right, o->top,
			o->bottom, o->age, o->unseen, o->stixels, a.x, a.z, a.sxx, a.sxz, a.szz);
	}
}
