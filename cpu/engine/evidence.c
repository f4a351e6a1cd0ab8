/*
 * Evidence of cells beside the matched disparity, computed on all workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/engine/engine_priv.h"
#include "cpu/sky.h"

#define PART 32 /* columns of a task that fills holes; it also reads some columns beside them */

/* Classifies the pixels of one row of cells. */
static void bright_task(void *arg, int index, int worker)
{
	struct sx_context *x = arg;
	const int n = x->cells.height;
	uint8_t *bright = x->bright + (size_t)index * (size_t)n;

	(void)worker;
	x->device->kernels->segment->bright_cells(&x->taps[SX_TAP_LEFT], &x->config.params.stixels, index, n,
						  bright);
	sx_sky_pack(bright, n, x->blank + (size_t)index * (size_t)sx_sky_words(n));
}

static void weigh_task(void *arg, int index, int worker)
{
	struct sx_context *x = arg;
	const int u0 = index * PART, u1 = u0 + PART < x->cells.height ? u0 + PART : x->cells.height;
	uint32_t count[SX_REACH_BINS] = {0};

	(void)worker;
	x->device->kernels->segment->weigh_columns(
		&x->taps[SX_TAP_COLUMNS], &x->taps[SX_TAP_COLUMNS_CONFIDENCE], &x->config.params.stixels,
		x->bright, u0, u1, &x->cells, &x->cells_confidence);
	sx_sky_weigh(x->sky, sx_sky_words(x->cells.height), &x->config.params, &x->result.road,
		     x->config.height, u0, u1, &x->cells, &x->cells_confidence);
	if (!x->taps[SX_TAP_LEFT_FLAT].data) /* the map of another process: stixels are not parted */
		return;
	sx_reach_count(&x->taps[SX_TAP_COLUMNS], u0, u1, &x->result.road, x->config.height,
		       &x->config.params.stixels, count);
	for (int i = 0; i < SX_REACH_BINS; i++)
		atomic_fetch_add_explicit(&x->reach[i], count[i], memory_order_relaxed);
}

int32_t sx_evidence_run(struct sx_context *x)
{
	struct sx_pool *pool = x->device->pool;
	uint32_t count[SX_REACH_BINS];

	for (int i = 0; i < SX_REACH_BINS; i++)
		atomic_store_explicit(&x->reach[i], 0, memory_order_relaxed);

	sx_pool_for(pool, x->cells.width, bright_task, x);
	sx_sky_spread(x->blank, x->cells.width, sx_sky_words(x->cells.height), x->sky);
	sx_pool_for(pool, (x->cells.height + PART - 1) / PART, weigh_task, x);
	for (int i = 0; i < SX_REACH_BINS; i++)
		count[i] = atomic_load_explicit(&x->reach[i], memory_order_relaxed);
	return sx_reach_of(count, x->cells.height, &x->config.params.stixels);
}
