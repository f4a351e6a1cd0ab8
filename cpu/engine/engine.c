/*
 * Device and contexts of the CPU engine: memory, workers, submission.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/engine/engine.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stixel.h>

#include "cpu/engine/engine_priv.h"
#include "cpu/sky.h"
#include "cpu/stretch.h"
#include "stages/context.h"
#include "stages/stereo/flat.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/compact.h"
#include "stages/stixels/reduce.h"
#include "stages/taps.h"

#define HUGE_PAGE ((size_t)2 << 20)

static int complain(struct sx_why *why, int r, const char *what)
{
	return sx_why_fail(r, why, "engine cpu: %s: %s", what, strerror(-r));
}

static void engine_describe(struct sx_device *d)
{
	int threads = sx_pool_threads(d->pool), n;

	n = snprintf(d->describe, sizeof(d->describe), "%s, %d thread%s", d->kernels->name, threads,
		     threads == 1 ? "" : "s");
	for (int i = 0; i < n && d->describe[i] != ','; i++)
		if (strcmp(d->kernels->name, "plain") != 0)
			d->describe[i] = (char)toupper((unsigned char)d->describe[i]);
}

static void cpu_close(struct sx_device *d)
{
	if (!d)
		return;
	sx_pool_destroy(d->pool);
	free(d->volume.data);
	free(d->maps.data);
	free(d->costs.data);
	free(d->planes.data);
	for (int i = 0; i < SX_POOL_THREADS_MAX; i++)
		free(d->scratch[i].data);
	free(d);
}

static int cpu_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why)
{
	const char *simd;
	struct sx_device *d;
	int r;

	if (p->threads < 0 || p->threads > SX_POOL_THREADS_MAX)
		return sx_why_fail(-EINVAL, why, "engine cpu: %d threads, allowed are 0 to %d", p->threads,
				   SX_POOL_THREADS_MAX);
	d = calloc(1, sizeof(*d));
	if (!d)
		return complain(why, -ENOMEM, "device");
	d->kernels = sx_kernels_wanted(&simd);
	if (!d->kernels) {
		sx_why_set(why, "engine cpu: SX_SIMD=%s is unknown, or not for this machine", simd);
		r = -EINVAL;
		goto fail;
	}
	r = sx_pool_create(&d->pool, p->threads ? p->threads : sx_pool_available_cpus());
	if (r < 0) {
		complain(why, r, "worker threads");
		goto fail;
	}
	engine_describe(d);
	*ret = d;
	return 0;
fail:
	cpu_close(d);
	return r;
}

static const char *cpu_describe(const struct sx_device *d)
{
	return d->describe;
}

/*
 * Shared memory that must grow for a new context. All new memory is allocated before any old memory is freed.
 * The pool's leader swaps it between two frames, because contexts may compute meanwhile.
 */
struct growth {
	struct sx_device *device;
	struct {
		struct sx_shared_memory *place, memory;
	} part[4 + SX_POOL_THREADS_MAX];
	int count;
	sem_t done;
};

/* Allocates memory, in huge pages if the system has them, and touches every page. */
static int growth_take(struct growth *g, struct sx_shared_memory *place, size_t bytes)
{
	size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
	uint8_t *data;

	if (bytes <= place->bytes)
		return 0;
	bytes = (bytes + align - 1) / align * align;
	data = aligned_alloc(align, bytes);
	if (!data)
		return -ENOMEM;
	if (align == HUGE_PAGE)
		madvise(data, bytes, MADV_HUGEPAGE);
	memset(data, 0, bytes);
	g->part[g->count].place = place;
	g->part[g->count++].memory = (struct sx_shared_memory){data, bytes};
	return 0;
}

/* Swaps the new memory in; the old memory goes to g and its contents are lost. Thread: the pool's leader. */
static void growth_put(void *arg)
{
	struct growth *g = arg;

	for (int i = 0; i < g->count; i++) {
		struct sx_shared_memory old = *g->part[i].place;

		*g->part[i].place = g->part[i].memory;
		g->part[i].memory = old;
	}
	g->device->layout = (struct sx_matcher){0};
	sem_post(&g->done);
}

static void growth_wait(struct growth *g)
{
	struct sx_pool_job job = {.run = growth_put, .arg = g};

	sem_init(&g->done, 0, 0);
	sx_pool_submit(g->device->pool, &job);
	while (sem_wait(&g->done) < 0)
		; /* interrupted by a signal */
	sem_destroy(&g->done);
}

/* search: NULL: the matcher searches all cells. */
static int share_memory(struct sx_device *d, const struct sx_matcher *m, const struct sx_searcher *search)
{
	const size_t scratch = search ? sx_search_scratch_bytes(search) : sx_matcher_scratch_bytes(m);
	struct growth g = {.device = d};
	int r = growth_take(&g, &d->volume,
			    search ? sx_search_volume_bytes(search) : sx_matcher_volume_bytes(m));

	if (r == 0)
		r = growth_take(&g, &d->maps, sx_matcher_maps_bytes(m));
	if (r == 0 && !search)
		r = growth_take(&g, &d->costs, sx_matcher_costs_bytes(m));
	if (r == 0)
		r = growth_take(&g, &d->planes, SX_MATCHER_MARGIN + sx_matcher_planes_bytes(m));
	for (int i = 0; i < sx_pool_threads(d->pool) && r == 0; i++)
		r = growth_take(&g, &d->scratch[i], scratch);
	if (r == 0 && g.count > 0)
		growth_wait(&g);
	for (int i = 0; i < g.count; i++)
		free(g.part[i].memory.data);
	return r;
}

static void *context_take(struct sx_context *x, size_t bytes)
{
	void *memory;

	bytes = (bytes + 63) & ~(size_t)63;
	memory = aligned_alloc(64, bytes);
	if (!memory)
		return NULL;
	memset(memory, 0, bytes); /* also touches the pages */
	x->bytes += bytes;
	return memory;
}

/* Allocates a tap with a margin at both ends, where vector loads may read. */
static int context_take_tap(struct sx_context *x, enum sx_tap tap)
{
	const struct sx_tap_shape s = sx_tap_shape(&x->config, tap);
	size_t pitch = ((size_t)s.width * sx_pixel_bytes(s.pixel) + 63) & ~(size_t)63;
	uint8_t *data = context_take(x, pitch * (size_t)s.height + 2 * SX_MATCHER_MARGIN);

	if (!data)
		return -ENOMEM;
	x->owned[tap] = data;
	x->taps[tap] = (struct sx_image){data + SX_MATCHER_MARGIN, s.width, s.height, pitch, s.pixel};
	return 0;
}

static int context_take_taps(struct sx_context *x)
{
	for (int side = 0; sx_tap_exists(&x->config, SX_TAP_LEFT_FLAT) && side < 2; side++) {
		x->flat_scratch[side] =
			context_take(x, sx_flat_scratch_bytes(x->config.width, x->config.height));
		if (!x->flat_scratch[side])
			return -ENOMEM;
	}
	if (sx_chance_looks(&x->config.params.stereo)) {
		x->chance_sums =
			context_take(x, sizeof(*x->chance_sums) * (size_t)SX_FLAT_TILES(x->config.width) *
						(size_t)SX_FLAT_TILES(x->config.height));
		if (!x->chance_sums)
			return -ENOMEM;
	}
	for (int i = 0; i < SX_TAP_COUNT; i++)
		if (sx_tap_is_kept(&x->config, (enum sx_tap)i) && context_take_tap(x, (enum sx_tap)i) < 0)
			return -ENOMEM;
	sx_taps_share(&x->config, x->taps);
	return 0;
}

/* Allocates class scores of cells, if pairs may have scores. */
static int context_take_scores(struct sx_context *x, int columns, int rows)
{
	const struct sx_params *p = &x->config.params;

	if (p->semantics.classes == 0)
		return 0;
	sx_class_cut_set(&x->class_cut, p);
	sx_image_layout(&x->scores, SX_PIXEL_U8, rows * p->semantics.classes, columns);
	x->scores.data = context_take(x, x->scores.pitch * (size_t)columns);
	return x->scores.data ? 0 : -ENOMEM;
}

/* Allocates the cells that are segmented. */
static int context_take_cells(struct sx_context *x, int columns, int rows)
{
	const size_t sky = (size_t)rows * (size_t)sx_sky_words(columns) * sizeof(*x->sky);

	sx_image_layout(&x->cells, SX_PIXEL_U16, rows, columns);
	sx_image_layout(&x->cells_confidence, SX_PIXEL_U8, rows, columns);
	x->cells.data = context_take(x, x->cells.pitch * (size_t)columns);
	x->cells_confidence.data = context_take(x, x->cells_confidence.pitch * (size_t)columns);
	x->bright = context_take(x, (size_t)columns * (size_t)rows);
	x->blank = context_take(x, sky);
	x->sky = context_take(x, sky);
	if (!x->cells.data || !x->cells_confidence.data || !x->bright || !x->blank || !x->sky)
		return -ENOMEM;
	return context_take_scores(x, columns, rows);
}

/* Allocates maps and images for raw pairs. */
static int context_take_maps(struct sx_context *x)
{
	const struct sx_context_config *c = &x->config;
	int r = sx_context_maps_init(x->map, c);

	if (r < 0 || !c->rectify)
		return r;
	for (int side = 0; side < 2; side++) {
		x->bytes += sx_rectify_map_bytes(&x->map[side]);
		x->hides |= !sx_views_are_whole(x->map[side].view, c->width, c->height);
		if (sx_ingest_is_grey(c->pixel))
			continue;
		x->bytes +=
			sx_image_layout(&x->raw_grey[side], SX_PIXEL_U8, c->rig.raw_width, c->rig.raw_height);
		r = sx_image_init(&x->raw_grey[side], SX_PIXEL_U8, c->rig.raw_width, c->rig.raw_height);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Creates the matcher of a pyramid search. Its costs are whole vectors of every kernel set. */
static int context_take_search(struct sx_context *x)
{
	const struct sx_stereo_params *p = &x->config.params.stereo, of = sx_search_params(p);
	int r = sx_matcher_init(&x->matcher, x->device->kernels->matcher, &of, x->config.width,
				x->config.height);

	if (r == 0)
		r = sx_search_create(&x->search, x->device->pool, x->device->kernels->search, &x->matcher, p);
	if (r < 0)
		return r;
	x->bytes += x->search->bytes;
	return share_memory(x->device, &x->matcher, x->search);
}

/* Creates the matcher. With a map of another process, only the kernels of filters are used. */
static int context_take_matcher(struct sx_context *x)
{
	const struct sx_stereo_params *p = &x->config.params.stereo;
	const struct sx_matcher_kernels *k = sx_kernels_for(x->device->kernels, p->disparities)->matcher;
	int r;

	if (p->matcher == SX_MATCH_EXTERNAL) {
		x->matcher.kernels = k;
		return 0;
	}
	if (sx_is_pyramid(p))
		return context_take_search(x);
	r = sx_matcher_init(&x->matcher, k, p, x->config.width, x->config.height);
	return r < 0 ? r : share_memory(x->device, &x->matcher, NULL);
}

static int context_take_memory(struct sx_context *x)
{
	const struct sx_params *p = &x->config.params;
	int w = x->config.width, h = x->config.height, columns = sx_reduce_columns(w, p->stixels.width);
	int rows = sx_cell_rows(&p->stixels, h);
	int range = sx_disparity_range(&p->stereo), threads = sx_pool_threads(x->device->pool), r;

	r = context_take_matcher(x);
	if (r == 0 && x->config.pixel == SX_PIXEL_Y16) {
		x->stretch_counts = context_take(x, sx_stretch_count_bytes(threads));
		r = x->stretch_counts ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = context_take_maps(x);
	if (r == 0)
		r = context_take_taps(x);
	if (r == 0)
		r = sx_road_finder_create(&x->road_finder, p, w, h, range);
	if (r == 0)
		r = sx_segmenter_create(&x->segmenter, p, h, range, threads, x->device->kernels->segment);
	if (r == 0)
		r = sx_segments_init(&x->segments, columns, rows);
	if (r < 0)
		return r;
	x->segments.image_height = h;
	x->segments.cell_height = sx_cell_height(&p->stixels);
	r = context_take_cells(x, columns, rows);
	if (r < 0)
		return r;
	if (p->filters.speckle_size > 0) {
		x->speckle_memory = context_take(x, sx_speckle_bytes(w, h));
		if (!x->speckle_memory)
			return -ENOMEM;
		sx_speckle_init(&x->speckle, x->matcher.kernels, &p->filters, w, h, x->speckle_memory);
	}
	x->offsets = context_take(x, ((size_t)columns + 1) * sizeof(*x->offsets));
	x->stixels = context_take(x, sx_context_stixels(&x->config) * sizeof(*x->stixels));
	x->bytes += sizeof(*x) + sx_matcher_bytes(&x->matcher) + sx_road_finder_bytes(x->road_finder) +
		    sx_segmenter_bytes(x->segmenter) + sx_segments_bytes(&x->segments);
	if (!x->offsets || !x->stixels)
		return -ENOMEM;
	return sx_taps_take_motion(&x->motion, &x->config, x->taps, &x->result, &x->bytes);
}

static int cpu_wait(struct sx_context *x, int timeout_ms)
{
	struct pollfd pfd = {.fd = x->event, .events = POLLIN};
	uint64_t count;
	int r;

	if (!x->busy)
		return -ENODATA;
	r = poll(&pfd, 1, timeout_ms);
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	if (r == 0)
		return 0;
	if (read(x->event, &count, sizeof(count)) != sizeof(count))
		return -errno;
	x->busy = false;
	return 1;
}

static void cpu_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	if (x->busy)
		sx_pool_drain(x->device->pool);
	for (int i = 0; i < SX_TAP_COUNT; i++)
		free(x->owned[i]);
	for (int side = 0; side < 2; side++) {
		sx_rectify_map_finish(&x->map[side]);
		sx_image_finish(&x->raw_grey[side]);
	}
	free(x->stretch_counts);
	free(x->speckle_memory);
	for (int side = 0; side < 2; side++)
		free(x->flat_scratch[side]);
	free(x->chance_sums);
	free(x->cells.data);
	free(x->cells_confidence.data);
	free(x->bright);
	free(x->blank);
	free(x->sky);
	free(x->scores.data);
	free(x->offsets);
	free(x->stixels);
	sx_motion_found_finish(&x->motion);
	sx_road_finder_destroy(x->road_finder);
	sx_segmenter_destroy(x->segmenter);
	sx_segments_finish(&x->segments);
	sx_search_destroy(x->search);
	sx_matcher_finish(&x->matcher);
	if (x->event >= 0)
		close(x->event);
	x->device->context_bytes -= x->bytes;
	free(x);
}

static int cpu_context_create(struct sx_context **ret, struct sx_device *d, const struct sx_context_config *c,
			      struct sx_why *why)
{
	struct sx_context *x;
	int r = sx_context_check(c, sx_backend_cpu.name, SX_CAN_SLANTED_EXACT | SX_CAN_PYRAMID_ZNCC, why);

	if (r < 0)
		return r;
	x = calloc(1, sizeof(*x));
	if (!x)
		return complain(why, -ENOMEM, "context");
	x->device = d;
	x->config = *c;
	sx_context_resolve(&x->config.params);
	x->job = (struct sx_pool_job){.run = sx_frame_run, .arg = x};
	x->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (x->event < 0) {
		r = complain(why, -errno, "eventfd");
		goto fail;
	}
	r = context_take_memory(x);
	d->context_bytes += x->bytes;
	if (r < 0) {
		sx_why_set(why, "engine cpu: no memory for %dx%d and %d disparities: %s", c->width, c->height,
			   c->params.stereo.disparities, strerror(-r));
		goto fail;
	}
	x->result.stixels = x->stixels;
	x->result.offsets = x->offsets;
	x->result.columns = (uint32_t)x->segments.columns;
	*ret = x;
	return 0;
fail:
	cpu_context_destroy(x);
	return r;
}

static void cpu_chain_destroy(struct sx_chain *chain)
{
	if (!chain)
		return;
	sx_cpu_motion_destroy(chain->twin);
	sx_motion_chain_finish(&chain->motion);
	chain->device->context_bytes -= chain->bytes;
	free(chain);
}

static int cpu_chain_create(struct sx_chain **ret, struct sx_device *d, const struct sx_context_config *c,
			    struct sx_why *why)
{
	struct sx_chain *chain = calloc(1, sizeof(*chain));
	int r;

	if (!chain)
		return complain(why, -ENOMEM, "motion");
	chain->device = d;
	r = sx_cpu_motion_create(&chain->twin, d->kernels, d->pool);
	if (r == 0)
		r = sx_motion_chain_init(&chain->motion, &c->params.camera, c->width, c->height,
					 (uint32_t)sx_context_stixels(c),
					 c->params.motion.mode == SX_MOTION_MODE_FILTER);
	if (r < 0) {
		cpu_chain_destroy(chain);
		return complain(why, r, "motion");
	}
	chain->bytes =
		sizeof(*chain) + sx_cpu_motion_bytes(chain->twin) + sx_motion_chain_bytes(&chain->motion);
	d->context_bytes += chain->bytes;
	*ret = chain;
	return 0;
}

static int cpu_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		      sx_images_read_fn *images_read, void *user)
{
	if (x->busy)
		return -EBUSY;
	if (sx_context_check_pair(&x->config, pair) < 0)
		return -EINVAL;
	x->pair = pair;
	x->images_read = images_read;
	x->user = user;
	x->has_previous = previous != NULL;
	if (previous)
		x->previous = *previous;
	x->busy = true;
	sx_pool_submit(x->device->pool, &x->job);
	return 0;
}

static int cpu_event_fd(const struct sx_context *x)
{
	return x->event;
}

static const struct sx_result *cpu_result(const struct sx_context *x)
{
	return &x->result;
}

static int cpu_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	if (!x->taps[tap].data)
		return -ENOENT;
	*view = x->taps[tap];
	return 0;
}

static size_t cpu_memory(const struct sx_device *d)
{
	size_t bytes = sizeof(*d) + d->volume.bytes + d->maps.bytes + d->costs.bytes + d->planes.bytes +
		       d->context_bytes;

	for (int i = 0; i < SX_POOL_THREADS_MAX; i++)
		bytes += d->scratch[i].bytes;
	return bytes;
}

static size_t cpu_context_memory(const struct sx_context *x)
{
	return x->bytes;
}

const struct sx_backend sx_backend_cpu = {
	.name = "cpu",
	.open = cpu_open,
	.close = cpu_close,
	.describe = cpu_describe,
	.context_create = cpu_context_create,
	.context_destroy = cpu_context_destroy,
	.chain_create = cpu_chain_create,
	.chain_destroy = cpu_chain_destroy,
	.submit = cpu_submit,
	.event_fd = cpu_event_fd,
	.wait = cpu_wait,
	.result = cpu_result,
	.peek = cpu_peek,
	.memory = cpu_memory,
	.context_memory = cpu_context_memory,
};
