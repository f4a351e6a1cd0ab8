/*
 * The reference engine: calls the stages one after the other inside submit, on the caller's thread, and keeps
 * the output of each. It is slow. The results of the other engines are compared with its results.
 *
 * Memory: S takes 2 * width * height * disparities bytes (120 MB for 1242x375 and 128 disparities, 4.5 GB at
 * the limits).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <stixel.h>

#include "base/clock.h"
#include "stages/context.h"
#include "stages/engine.h"
#include "stages/motion/filter/chain.h"
#include "stages/pyramid/pyramid.h"
#include "stages/road/road.h"
#include "stages/stereo/chance.h"
#include "stages/stereo/confidence.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/external.h"
#include "stages/stereo/fastdt.h"
#include "stages/stereo/flat.h"
#include "stages/stereo/ingest.h"
#include "stages/stereo/left_right.h"
#include "stages/stereo/median.h"
#include "stages/stereo/sgm.h"
#include "stages/stereo/smooth.h"
#include "stages/stereo/speckle.h"
#include "stages/stereo/winner.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/class_cut.h"
#include "stages/stixels/compact.h"
#include "stages/stixels/evidence.h"
#include "stages/stixels/rdp.h"
#include "stages/stixels/reach.h"
#include "stages/stixels/reduce.h"
#include "stages/stixels/segment.h"
#include "stages/stixels/slanted.h"
#include "stages/stixels/stixel_dp.h"
#include "stages/stixels/unmeasured_part.h"
#include "stages/taps.h"

struct sx_device {
	size_t bytes; /* memory of all contexts and chains */
};

struct sx_chain {
	struct sx_device *device;
	struct sx_motion_chain motion;
	size_t bytes;
};

struct sx_context {
	struct sx_device *device;
	struct sx_context_config config;
	struct sx_image taps[SX_TAP_COUNT]; /* every output has its own buffer */
	struct sx_pyramid *pyramid;	    /* NULL: full search */
	void *aggregation_scratch, *speckle_scratch, *flat_scratch;
	struct sx_chance_sums *chance_sums;
	struct sx_road_finder *road;
	struct sx_dp_tables *dp_tables; /* method dp */
	struct sx_dp *dp;
	struct sx_rdp_tables *rdp_tables; /* method rdp */
	struct sx_rdp *rdp;
	struct sx_slanted_tables *slanted_tables; /* slanted methods */
	struct sx_slanted *slanted;
	struct sx_rectify_map map[2];
	struct sx_image cells, cells_confidence; /* outputs of sx_evidence() */
	struct sx_image scores;			 /* class scores of cells */
	struct sx_class_cut class_cut;
	struct sx_segments segments;
	struct stixel *stixels;
	uint32_t *offsets;
	struct sx_motion_found motion; /* results of motion, with a chain */
	size_t bytes;
	int event;
	bool busy; /* a frame was submitted, and the caller has not yet waited for it */
	struct sx_result result;
};

static int reference_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why)
{
	struct sx_device *d = calloc(1, sizeof(*d));

	if (!d)
		return sx_why_fail(-ENOMEM, why, "engine reference: out of memory");
	*ret = d;
	return 0;
}

static void reference_close(struct sx_device *d)
{
	free(d);
}

static const char *reference_describe(const struct sx_device *d)
{
	return "plain C, 1 thread";
}

static void *reference_take(struct sx_context *x, size_t bytes)
{
	void *memory;

	bytes = (bytes + 63) & ~(size_t)63;
	memory = aligned_alloc(64, bytes);
	if (memory)
		x->bytes += bytes;
	return memory;
}

static int take_taps(struct sx_context *x)
{
	for (int i = 0; i < SX_TAP_COUNT; i++) {
		const struct sx_tap_shape s = sx_tap_shape(&x->config, (enum sx_tap)i);
		size_t pitch = ((size_t)s.width * sx_pixel_bytes(s.pixel) + 63) & ~(size_t)63;
		void *data;

		if (!sx_tap_exists(&x->config, (enum sx_tap)i))
			continue;
		data = reference_take(x, pitch * (size_t)s.height);
		if (!data)
			return -ENOMEM;
		x->taps[i] = (struct sx_image){data, s.width, s.height, pitch, s.pixel};
	}
	return 0;
}

static int take_match_memory(struct sx_context *x)
{
	int w = x->config.width, h = x->config.height;

	const struct sx_stereo_params *p = &x->config.params.stereo;
	size_t bytes = p->aggregation == SX_AGGREGATION_FASTDT ? sx_fastdt_scratch_bytes(w, h, p)
							       : sx_sgm_scratch_bytes(w, p);

	x->speckle_scratch = reference_take(x, sx_speckle_scratch_bytes(w, h));
	if (!x->speckle_scratch)
		return -ENOMEM;
	if (p->matcher == SX_MATCH_EXTERNAL)
		return take_taps(x);
	if (sx_is_pyramid(p) && sx_pyramid_create(&x->pyramid, p, w, h, &x->bytes) < 0)
		return -ENOMEM;
	x->aggregation_scratch = reference_take(x, bytes);
	x->flat_scratch = reference_take(x, sx_flat_scratch_bytes(w, h));
	x->chance_sums = reference_take(x, sizeof(*x->chance_sums) * (size_t)SX_FLAT_TILES(w) *
						   (size_t)SX_FLAT_TILES(h));
	return x->aggregation_scratch && x->flat_scratch && x->chance_sums ? take_taps(x) : -ENOMEM;
}

static int create_segmenter(struct sx_context *x)
{
	const struct sx_params *p = &x->config.params;
	int h = x->config.height, range = sx_disparity_range(&p->stereo), r;

	if (p->stixels.method == SX_STIXEL_RDP) {
		r = sx_rdp_tables_create(&x->rdp_tables, p, h, range);
		return r < 0 ? r : sx_rdp_create(&x->rdp, x->rdp_tables);
	}
	if (sx_is_slanted(&p->stixels)) {
		r = sx_slanted_tables_create(&x->slanted_tables, p, h, range);
		return r < 0 ? r : sx_slanted_create(&x->slanted, x->slanted_tables);
	}
	r = sx_dp_tables_create(&x->dp_tables, p, h, range);
	return r < 0 ? r : sx_dp_create(&x->dp, x->dp_tables);
}

static int take_stixel_memory(struct sx_context *x)
{
	const struct sx_params *p = &x->config.params;
	int w = x->config.width, h = x->config.height, r;
	int columns = sx_reduce_columns(w, p->stixels.width), rows = sx_cell_rows(&p->stixels, h);

	x->stixels = reference_take(x, sizeof(*x->stixels) * sx_context_stixels(&x->config));
	x->offsets = reference_take(x, sizeof(*x->offsets) * ((size_t)columns + 1));
	if (!x->stixels || !x->offsets)
		return -ENOMEM;
	x->offsets[0] = 0;
	r = sx_segments_init(&x->segments, columns, rows);
	if (r < 0)
		return r;
	x->segments.image_height = h;
	x->segments.cell_height = sx_cell_height(&p->stixels);
	x->bytes += sizeof(*x->segments.list) * (size_t)columns * (size_t)rows;
	sx_image_layout(&x->cells, SX_PIXEL_U16, rows, columns);
	sx_image_layout(&x->cells_confidence, SX_PIXEL_U8, rows, columns);
	x->cells.data = reference_take(x, x->cells.pitch * (size_t)columns);
	x->cells_confidence.data = reference_take(x, x->cells_confidence.pitch * (size_t)columns);
	if (!x->cells.data || !x->cells_confidence.data)
		return -ENOMEM;
	sx_class_cut_set(&x->class_cut, p);
	if (sx_is_slanted(&p->stixels) && p->semantics.classes > 0) {
		sx_image_layout(&x->scores, SX_PIXEL_U8, rows * p->semantics.classes, columns);
		x->scores.data = reference_take(x, x->scores.pitch * (size_t)columns);
		if (!x->scores.data)
			return -ENOMEM;
	}
	r = sx_road_finder_create(&x->road, p, w, h, sx_disparity_range(&p->stereo));
	return r < 0 ? r : create_segmenter(x);
}

static void reference_chain_destroy(struct sx_chain *chain)
{
	if (!chain)
		return;
	sx_motion_chain_finish(&chain->motion);
	chain->device->bytes -= chain->bytes;
	free(chain);
}

static int reference_chain_create(struct sx_chain **ret, struct sx_device *d,
				  const struct sx_context_config *c, struct sx_why *why)
{
	struct sx_chain *chain = calloc(1, sizeof(*chain));
	int r = chain ? sx_motion_chain_init(&chain->motion, &c->params.camera, c->width, c->height,
					     (uint32_t)sx_context_stixels(c),
					     c->params.motion.mode == SX_MOTION_MODE_FILTER)
		      : -ENOMEM;

	if (r < 0) {
		free(chain);
		return sx_why_fail(r, why, "engine reference: motion: %s", strerror(-r));
	}
	chain->device = d;
	chain->bytes = sizeof(*chain) + sx_motion_chain_bytes(&chain->motion);
	d->bytes += chain->bytes;
	*ret = chain;
	return 0;
}

static void reference_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	for (int i = 0; i < SX_TAP_COUNT; i++)
		if (!sx_tap_is_motion((enum sx_tap)i))
			free(x->taps[i].data);
	sx_motion_found_finish(&x->motion);
	free(x->cells.data);
	free(x->cells_confidence.data);
	sx_pyramid_destroy(x->pyramid);
	free(x->aggregation_scratch);
	free(x->speckle_scratch);
	free(x->flat_scratch);
	free(x->chance_sums);
	free(x->stixels);
	free(x->offsets);
	sx_segments_finish(&x->segments);
	sx_road_finder_destroy(x->road);
	sx_dp_destroy(x->dp);
	sx_dp_tables_destroy(x->dp_tables);
	sx_rdp_destroy(x->rdp);
	sx_rdp_tables_destroy(x->rdp_tables);
	sx_slanted_destroy(x->slanted);
	sx_slanted_tables_destroy(x->slanted_tables);
	free(x->scores.data);
	for (int side = 0; side < 2; side++)
		sx_rectify_map_finish(&x->map[side]);
	if (x->event >= 0)
		close(x->event);
	x->device->bytes -= x->bytes;
	free(x);
}

static int reference_context_create(struct sx_context **ret, struct sx_device *d,
				    const struct sx_context_config *c, struct sx_why *why)
{
	struct sx_context *x;
	int r = sx_context_check(c, sx_backend_reference.name,
				 SX_CAN_FASTDT_WIDE | SX_CAN_SLANTED_EXACT | SX_CAN_PYRAMID_ZNCC, why);

	if (r < 0)
		return r;
	x = calloc(1, sizeof(*x));
	if (!x)
		return sx_why_fail(-ENOMEM, why, "engine reference: out of memory");
	x->device = d;
	x->config = *c;
	sx_context_resolve(&x->config.params);
	x->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (x->event < 0) {
		r = -errno;
		sx_why_set(why, "engine reference: no eventfd: %s", strerror(errno));
		goto fail;
	}
	r = sx_context_maps_init(x->map, &x->config);
	if (r == 0)
		r = take_match_memory(x);
	if (r == 0)
		r = take_stixel_memory(x);
	if (r == 0)
		r = sx_taps_take_motion(&x->motion, c, x->taps, &x->result, &x->bytes);
	d->bytes += x->bytes;
	if (r < 0) {
		sx_why_set(why, "engine reference: context for %dx%d and %d disparities: %s", c->width,
			   c->height, c->params.stereo.disparities, strerror(-r));
		goto fail;
	}
	x->result.stixels = x->stixels;
	x->result.offsets = x->offsets;
	x->result.columns = (uint32_t)sx_reduce_columns(c->width, c->params.stixels.width);
	*ret = x;
	return 0;
fail:
	reference_context_destroy(x);
	return r;
}

/* Adds the time since the last call to a stage. */
static void book(struct sx_context *x, enum sx_stage stage, int64_t *since)
{
	int64_t now = sx_now_ns();

	x->result.stage_ns[stage] = now - *since;
	*since = now;
}

static void copy_map(const struct sx_image *from, const struct sx_image *to)
{
	memcpy(to->data, from->data, from->pitch * (size_t)from->height); /* both taps have the same shape */
}

static void reference_ingest(struct sx_context *x, const struct sx_pair *pair, int64_t *t)
{
	const struct sx_image *tap = x->taps;
	const struct sx_stretch stretch = sx_ingest_stretch(&pair->left, &pair->right);
	const struct sx_scores *scores = sx_context_scores(&x->config, pair);

	if (x->config.rectify) {
		sx_rectify(&pair->left, &tap[SX_TAP_LEFT], &x->map[0], stretch);
		sx_rectify(&pair->right, &tap[SX_TAP_RIGHT], &x->map[1], stretch);
	} else {
		sx_ingest(&pair->left, &tap[SX_TAP_LEFT], stretch);
		sx_ingest(&pair->right, &tap[SX_TAP_RIGHT], stretch);
	}
	if (scores)
		sx_reduce_scores(scores, x->config.width, x->config.height, x->config.params.stixels.width,
				 sx_cell_height(&x->config.params.stixels), &x->scores);
	x->result.stretch = stretch;
	book(x, SX_STAGE_INGEST, t);
}

/* Computes the winner of each pixel from the grey images. */
static void reference_match(struct sx_context *x, int64_t *t)
{
	const struct sx_stereo_params *p = &x->config.params.stereo;
	const struct sx_image *tap = x->taps;
	const struct sx_cost_input in = {{tap[SX_TAP_LEFT], tap[SX_TAP_RIGHT]},
					 {tap[SX_TAP_LEFT_CENSUS], tap[SX_TAP_RIGHT_CENSUS]}};

	sx_describe(&tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_CENSUS], p);
	sx_describe(&tap[SX_TAP_RIGHT], &tap[SX_TAP_RIGHT_CENSUS], p);
	sx_flat(&tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_FLAT], x->flat_scratch);
	sx_flat(&tap[SX_TAP_RIGHT], &tap[SX_TAP_RIGHT_FLAT], x->flat_scratch);
	book(x, SX_STAGE_CENSUS, t);
	if (p->aggregation == SX_AGGREGATION_FASTDT)
		sx_fastdt(&in, &tap[SX_TAP_SUM], p, x->aggregation_scratch);
	else if (x->pyramid)
		sx_pyramid_sgm(x->pyramid, &in, &tap[SX_TAP_SUM], &tap[SX_TAP_TILES]);
	else
		sx_sgm(&in, &tap[SX_TAP_SUM], p, NULL, x->aggregation_scratch);
	book(x, SX_STAGE_AGGREGATE, t);
	sx_winner(&tap[SX_TAP_SUM], &tap[SX_TAP_WINNER], &tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_CONFIDENCE],
		  p);
	if (x->pyramid)
		sx_pyramid_edges(p, &tap[SX_TAP_WINNER], &tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_CONFIDENCE]);
}

/*
 * Computes the disparity map before filters. After images_read is called, the memory of the pair is not read
 * any more.
 */
static void reference_measure(struct sx_context *x, const struct sx_pair *pair,
			      sx_images_read_fn *images_read, void *user, int64_t *t)
{
	const struct sx_stereo_params *p = &x->config.params.stereo;
	const bool external = p->matcher == SX_MATCH_EXTERNAL;
	const struct sx_image *tap = x->taps;

	reference_ingest(x, pair, t);
	if (external)
		sx_external(pair->disparity, &tap[SX_TAP_WINNER], &tap[SX_TAP_CONFIDENCE], p);
	if (images_read)
		images_read(user);
	if (!external)
		reference_match(x, t);
	if (x->config.rectify)
		sx_views_hide(&tap[SX_TAP_WINNER], x->map[0].view, x->map[1].view, p->min_disparity, 0,
			      x->config.height);
	if (sx_chance_looks(p))
		sx_chance(&tap[SX_TAP_WINNER], &tap[SX_TAP_LEFT_CENSUS], &tap[SX_TAP_LEFT_FLAT],
			  &tap[SX_TAP_TILES], p, x->chance_sums);
	book(x, SX_STAGE_WINNER, t);
}

static void reference_filter(struct sx_context *x, int64_t *t)
{
	const struct sx_filter_params *f = &x->config.params.filters;
	const bool has_right = sx_tap_exists(&x->config, SX_TAP_WINNER_RIGHT);
	struct sx_image *tap = x->taps;

	if (f->median) {
		sx_median(&tap[SX_TAP_WINNER], &tap[SX_TAP_MEDIAN], f->median_border);
		if (has_right)
			sx_median(&tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_MEDIAN_RIGHT], f->median_border);
	} else {
		copy_map(&tap[SX_TAP_WINNER], &tap[SX_TAP_MEDIAN]);
		if (has_right)
			copy_map(&tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_MEDIAN_RIGHT]);
	}
	book(x, SX_STAGE_MEDIAN, t);
	sx_left_right(&tap[SX_TAP_MEDIAN], &tap[has_right ? SX_TAP_MEDIAN_RIGHT : SX_TAP_MEDIAN],
		      &tap[SX_TAP_LEFT_RIGHT], f, &x->config.params.stereo);
	if (sx_tap_exists(&x->config, SX_TAP_LEFT_FLAT))
		sx_left_right_hide_flat(&tap[SX_TAP_MEDIAN], &tap[SX_TAP_LEFT_FLAT], &tap[SX_TAP_LEFT_RIGHT],
					x->config.params.stereo.min_disparity, 0, x->config.height);
	book(x, SX_STAGE_LEFT_RIGHT, t);
	copy_map(&tap[SX_TAP_LEFT_RIGHT], &tap[SX_TAP_SPECKLE]);
	sx_speckle(&tap[SX_TAP_SPECKLE], f, x->speckle_scratch);
	book(x, SX_STAGE_SPECKLE, t);
	if (f->smooth)
		sx_smooth(&tap[SX_TAP_SPECKLE], &tap[SX_TAP_DISPARITY]);
	else
		copy_map(&tap[SX_TAP_SPECKLE], &tap[SX_TAP_DISPARITY]);
	book(x, SX_STAGE_SMOOTH, t);
	sx_confidence(&tap[SX_TAP_DISPARITY], &tap[SX_TAP_CONFIDENCE]);
	book(x, SX_STAGE_CONFIDENCE, t);
}

/* Removes the unmeasured parts from stixels. */
static void part_unmeasured(struct sx_context *x)
{
	const struct sx_image *columns = &x->taps[SX_TAP_COLUMNS];
	const struct sx_stixel_params *p = &x->config.params.stixels;
	uint32_t count[SX_REACH_BINS] = {0};
	int32_t reach;

	sx_reach_count(columns, 0, columns->height, &x->result.road, x->config.height, p, count);
	reach = sx_reach_of(count, columns->height, p);
	for (int u = 0; u < x->segments.columns; u++) {
		const struct sx_unmeasured_column c =
			sx_taps_column(x->taps, &x->config, &x->result.road, u, reach);

		x->segments.count[u] = (uint16_t)sx_unmeasured_column(&c, sx_segments_column(&x->segments, u),
								      x->segments.count[u]);
	}
}

static void segment(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		    int64_t *t)
{
	const struct sx_scores *scores = sx_context_scores(&x->config, pair);
	const struct sx_params *p = &x->config.params;
	struct sx_image *tap = x->taps;

	sx_road_find(x->road, &tap[SX_TAP_LEFT_RIGHT], previous, &x->result.road);
	book(x, SX_STAGE_ROAD, t);
	sx_reduce_cells(&tap[SX_TAP_DISPARITY], &tap[SX_TAP_CONFIDENCE], p->stixels.width,
			sx_cell_height(&p->stixels), p->stixels.reduction, &tap[SX_TAP_COLUMNS],
			&tap[SX_TAP_COLUMNS_CONFIDENCE]);
	sx_evidence(&tap[SX_TAP_LEFT], &tap[SX_TAP_COLUMNS], &tap[SX_TAP_COLUMNS_CONFIDENCE], p,
		    &x->result.road, &x->cells, &x->cells_confidence);
	book(x, SX_STAGE_REDUCE, t);
	if (x->slanted)
		sx_slanted_run(x->slanted, &x->result.road, &x->cells, &x->cells_confidence,
			       scores ? &x->scores : NULL, &x->segments);
	else if (x->rdp)
		sx_rdp_run(x->rdp, &x->result.road, &x->cells, 0, &x->segments);
	else
		sx_dp_run(x->dp, &x->result.road, &x->cells, &x->segments);
	if (sx_tap_exists(&x->config, SX_TAP_LEFT_FLAT))
		part_unmeasured(x);
	for (int u = 0; scores && u < x->segments.columns; u++)
		x->segments.count[u] = (uint16_t)sx_class_cut_column(
			&x->class_cut, sx_image_row(&tap[SX_TAP_COLUMNS], u), sx_image_row(&x->scores, u),
			sx_segments_column(&x->segments, u), x->segments.count[u]);
	book(x, SX_STAGE_SEGMENT, t);
	x->result.count = sx_compact(&x->segments, &tap[SX_TAP_COLUMNS], &tap[SX_TAP_COLUMNS_CONFIDENCE],
				     &x->result.road, p, x->offsets, x->stixels);
	book(x, SX_STAGE_COMPACT, t);
}

static void diagnostics(struct sx_context *x, int64_t *t)
{
	const struct sx_diagnostics_input in = sx_taps_diagnosed(x->taps);

	sx_diagnostics(&in, &x->result.diagnostics);
	book(x, SX_STAGE_DIAGNOSTICS, t);
}

static void measure_motion(struct sx_context *x, const struct sx_pair *pair, int64_t *t)
{
	struct sx_motion_input in;

	if (!x->config.chain)
		return;
	sx_taps_moved(x->taps, &x->config, &x->result, pair, &in);
	sx_motion_chain_run(&x->config.chain->motion, &sx_motion_by_reference, &in, &x->motion);
	x->result.motion_span_ns = x->motion.pair.span_ns;
	book(x, SX_STAGE_MOTION, t);
}

static int reference_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
			    sx_images_read_fn *images_read, void *user)
{
	const uint64_t done = 1;
	int64_t t = sx_now_ns();

	if (x->busy)
		return -EBUSY;
	if (sx_context_check_pair(&x->config, pair) < 0)
		return -EINVAL;
	x->result.started_ns = t;
	reference_measure(x, pair, images_read, user, &t);
	reference_filter(x, &t);
	segment(x, pair, previous, &t);
	diagnostics(x, &t);
	measure_motion(x, pair, &t);
	x->result.finished_ns = t;
	x->busy = true;
	return write(x->event, &done, sizeof(done)) == sizeof(done) ? 0 : -errno;
}

static int reference_event_fd(const struct sx_context *x)
{
	return x->event;
}

/* Drains the event only: submit has already done the work. */
static int reference_wait(struct sx_context *x, int timeout_ms)
{
	uint64_t count;

	if (!x->busy)
		return -ENODATA;
	if (read(x->event, &count, sizeof(count)) != sizeof(count))
		return -errno;
	x->busy = false;
	return 1;
}

static const struct sx_result *reference_result(const struct sx_context *x)
{
	return &x->result;
}

static int reference_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	if (!x->taps[tap].data)
		return -ENOENT;
	*view = x->taps[tap];
	return 0;
}

static size_t reference_memory(const struct sx_device *d)
{
	return sizeof(*d) + d->bytes;
}

static size_t reference_context_memory(const struct sx_context *x)
{
	return x->bytes;
}

const struct sx_backend sx_backend_reference = {
	.name = "reference",
	.open = reference_open,
	.close = reference_close,
	.describe = reference_describe,
	.context_create = reference_context_create,
	.context_destroy = reference_context_destroy,
	.chain_create = reference_chain_create,
	.chain_destroy = reference_chain_destroy,
	.submit = reference_submit,
	.event_fd = reference_event_fd,
	.wait = reference_wait,
	.result = reference_result,
	.peek = reference_peek,
	.memory = reference_memory,
	.context_memory = reference_context_memory,
};
