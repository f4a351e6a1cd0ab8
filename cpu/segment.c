/*
 * Segmentation on many threads: tables of a context, scratch per worker, kernels by instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernel_sets.h"
#include "cpu/pool.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/rdp.h"

struct sx_segmenter {
	const struct sx_segment_kernels *kernels;
	struct sx_dp_tables *dp_tables;
	struct sx_dp_cpu_tables *dp_cpu_tables;
	struct sx_dp_frame dp_frame;
	struct sx_dp_cpu_place place[SX_POOL_THREADS_MAX];
	struct sx_dp_work dp[SX_POOL_THREADS_MAX];
	struct sx_rdp_tables *rdp_tables;
	struct sx_rdp *rdp[SX_POOL_THREADS_MAX];
	struct sx_slanted_tables *slanted_tables;
	struct sx_slanted_cpu *slanted_cpu;
	struct sx_slanted_frame slanted_frame;
	struct sx_slanted_work slanted[SX_POOL_THREADS_MAX];
	const struct sx_image *confidence, *scores; /* images of the frame, for slanted methods */
	struct sx_road road;
	size_t bytes;
};

static int create_dp(struct sx_segmenter *s, const struct sx_params *p, int height, int range, int threads)
{
	int r;

	if ((r = sx_dp_tables_create(&s->dp_tables, p, height, range)) < 0 ||
	    (r = sx_dp_cpu_tables_create(&s->dp_cpu_tables, s->dp_tables)) < 0 ||
	    (r = sx_dp_frame_init(&s->dp_frame, height)) < 0)
		return r;
	for (int i = 0; i < threads && r == 0; i++)
		if ((r = sx_dp_cpu_place_init(&s->place[i], height)) == 0)
			r = sx_dp_work_init(&s->dp[i], s->dp_cpu_tables);
	s->bytes = sx_dp_tables_bytes(s->dp_tables) + sx_dp_cpu_tables_bytes(s->dp_cpu_tables) +
		   sx_dp_frame_bytes(height) +
		   (size_t)threads * (sx_dp_cpu_place_bytes(height) + sx_dp_work_bytes(s->dp_cpu_tables));
	return r;
}

static int create_rdp(struct sx_segmenter *s, const struct sx_params *p, int height, int range, int threads)
{
	int r = sx_rdp_tables_create(&s->rdp_tables, p, height, range);

	if (r < 0)
		return r;
	for (int i = 0; i < threads && r == 0; i++)
		r = sx_rdp_create(&s->rdp[i], s->rdp_tables);
	s->bytes = sx_rdp_tables_bytes(s->rdp_tables) + (size_t)threads * sx_rdp_bytes(s->rdp_tables);
	return r;
}

static int create_slanted(struct sx_segmenter *s, const struct sx_params *p, int height, int range,
			  int threads)
{
	int r;

	if ((r = sx_slanted_tables_create(&s->slanted_tables, p, height, range)) < 0 ||
	    (r = sx_slanted_cpu_create(&s->slanted_cpu, s->slanted_tables)) < 0)
		return r;
	s->slanted_frame.row = calloc((size_t)s->slanted_tables->rows, sizeof(*s->slanted_frame.row));
	if (!s->slanted_frame.row)
		return -ENOMEM;
	for (int i = 0; i < threads && r == 0; i++)
		r = sx_slanted_work_init(&s->slanted[i], s->slanted_tables);
	s->bytes = sizeof(*s->slanted_tables) + sx_slanted_cpu_bytes(s->slanted_tables) +
		   (size_t)s->slanted_tables->rows * sizeof(*s->slanted_frame.row) +
		   (size_t)threads * sx_slanted_work_bytes(s->slanted_tables);
	return r;
}

int sx_segmenter_create(struct sx_segmenter **ret, const struct sx_params *p, int height, int range,
			int threads, const struct sx_segment_kernels *k)
{
	struct sx_segmenter *s;
	int r;

	if (threads < 1 || threads > SX_POOL_THREADS_MAX)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->kernels = k;
	if (p->stixels.method == SX_STIXEL_RDP)
		r = create_rdp(s, p, height, range, threads);
	else if (sx_is_slanted(&p->stixels))
		r = create_slanted(s, p, height, range, threads);
	else
		r = create_dp(s, p, height, range, threads);
	if (r < 0) {
		sx_segmenter_destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_segmenter_destroy(struct sx_segmenter *s)
{
	if (!s)
		return;
	for (int i = 0; i < SX_POOL_THREADS_MAX; i++) {
		sx_dp_cpu_place_finish(&s->place[i]);
		sx_dp_work_finish(&s->dp[i]);
		sx_rdp_destroy(s->rdp[i]);
		sx_slanted_work_finish(&s->slanted[i]);
	}
	sx_dp_frame_finish(&s->dp_frame);
	sx_dp_cpu_tables_destroy(s->dp_cpu_tables);
	sx_dp_tables_destroy(s->dp_tables);
	sx_rdp_tables_destroy(s->rdp_tables);
	sx_slanted_cpu_destroy(s->slanted_cpu);
	sx_slanted_tables_destroy(s->slanted_tables);
	free(s->slanted_frame.row);
	free(s);
}

size_t sx_segmenter_bytes(const struct sx_segmenter *s)
{
	return s ? sizeof(*s) + s->bytes : 0;
}

void sx_segmenter_begin(struct sx_segmenter *s, const struct sx_road *road, const struct sx_image *confidence,
			const struct sx_image *scores)
{
	s->road = *road;
	s->confidence = confidence;
	s->scores = scores;
	if (s->slanted_tables)
		sx_slanted_frame_set(&s->slanted_frame, s->slanted_tables, road);
	if (s->dp_tables)
		sx_dp_frame_set(&s->dp_frame, s->dp_tables, road);
}

static void rdp_columns(struct sx_segmenter *s, const struct sx_image *columns, int u0, int u1, int worker,
			struct sx_segments *out)
{
	struct sx_image part = *columns;
	struct sx_segments lists = *out;

	part.data = sx_image_row(columns, u0);
	part.height = u1 - u0;
	lists.list = sx_segments_column(out, u0);
	lists.count += u0;
	lists.total += u0;
	lists.columns = u1 - u0;
	sx_rdp_run(s->rdp[worker], &s->road, &part, u0, &lists);
}

/* Runs the DP on columns [u0, u1). The place is reused, because neighbours mostly have the same shift. */
static void dp_columns(struct sx_segmenter *s, const struct sx_image *columns, int u0, int u1, int worker,
		       struct sx_segments *out)
{
	struct sx_dp_cpu_place *place = &s->place[worker];

	for (int u = u0; u < u1; u++) {
		const int32_t shift = sx_dp_shift_q4(&s->dp_frame, s->dp_tables, u);

		if (u == u0 || shift != place->shift_q4)
			sx_dp_cpu_place_set(place, s->dp_tables, &s->dp_frame, shift);
		out->count[u] = (uint16_t)s->kernels->dp_column(s->dp_cpu_tables, place, &s->dp[worker], u,
								sx_image_row(columns, u),
								sx_segments_column(out, u), &out->total[u]);
	}
}

static void slanted_columns(struct sx_segmenter *s, const struct sx_image *columns, int u0, int u1,
			    int worker, struct sx_segments *out)
{
	for (int u = u0; u < u1; u++)
		out->count[u] = (uint16_t)s->kernels->slanted_column(
			s->slanted_cpu, &s->slanted_frame, &s->slanted[worker], u, sx_image_row(columns, u),
			s->confidence ? sx_image_row(s->confidence, u) : NULL,
			s->scores ? sx_image_row(s->scores, u) : NULL, sx_segments_column(out, u),
			&out->total[u]);
}

void sx_segmenter_columns(struct sx_segmenter *s, const struct sx_image *columns, int u0, int u1, int worker,
			  struct sx_segments *out)
{
	if (s->rdp_tables)
		rdp_columns(s, columns, u0, u1, worker, out);
	else if (s->slanted_tables)
		slanted_columns(s, columns, u0, u1, worker, out);
	else
		dp_columns(s, columns, u0, u1, worker, out);
}
