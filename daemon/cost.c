/*
 * Work of the segmentations, and its measurement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/cost.h"

#include <stdio.h>

#include "base/contract.h"
#include "config/option.h"
#include "stages/context.h"
#include "stages/stereo/sgm.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/reduce.h"
#include "stixel.h"

/* a prediction may use 1/4 of the limit: it may be too low, and the daemon pings every 1/4 of the limit */
#define LIMIT_SHARE 4
#define MEMORY_SPARE ((size_t)6 << 20) /* bytes for stacks, arenas, pages of the kernel */
#define MOTION_CELL_BYTES 1e6	       /* features and flows of the cells of an image */
#define PIXEL_BYTES 70		       /* images, descriptors and maps of engine cpu, for each pixel */
/*
 * Bytes per second at which contexts are made. A machine with 2 cores and 13 busy processes made 100 MB a second,
 * an idle one 2 GB.
 */
#define MAKING_RATE 50e6
#define SMOOTHING 8 /* frames of the running mean, roughly */

/*
 * Time of a column on one thread, ns: for each row, each pair of rows and each triple of rows. low and high
 * are its range over kernels and images. Measured by stixel-bench at 320x240 to 1920x1080, widths 1 to 32,
 * cells of 1 to 16 rows, kernels plain to avx512 of an EPYC at 3 GHz
 * (docs/use/performance.md#what-a-segmentation-may-cost).
 */
static const struct work {
	double row, low[2], high[2];
} vector_work[] =
	{
		[SX_STIXEL_DP] = {16, {0.17, 0}, {0.4, 0}},
		[SX_STIXEL_RDP] = {12, {0, 0}, {0.1, 0}},
		[SX_STIXEL_SLANTED] = {16, {0.5, 0}, {1.9, 0}},
		[SX_STIXEL_SLANTED_EXACT] = {16, {0.5, 0.155}, {1.9, 0.31}},
},
  plain_work[] = {
	  [SX_STIXEL_DP] = {16, {6, 0}, {6.5, 0}},
	  [SX_STIXEL_RDP] = {12, {0, 0}, {0.1, 0}},
	  [SX_STIXEL_SLANTED] = {16, {22, 0}, {26, 0}},
	  [SX_STIXEL_SLANTED_EXACT] = {16, {22, 0.4}, {26, 0.7}},
};

static double segment_ns(const struct sx_frame_cost_case *c, bool high)
{
	const struct work *w = (c->plain ? plain_work : vector_work) + c->stixels->method;
	const double *more = high ? w->high : w->low;
	const double columns = sx_reduce_columns(c->width, c->stixels->width);
	const double rows = sx_cell_rows(c->stixels, c->height);

	sx_must_index(c->stixels->method, sizeof(vector_work) / sizeof(vector_work[0]));
	return columns * rows * (w->row + rows * (more[0] + rows * more[1]));
}

void sx_frame_cost_see(struct sx_frame_cost *cost, const struct sx_frame_cost_case *c, int64_t segment,
		       int64_t frame)
{
	const double share = cost->rate > 0 && cost->method == c->stixels->method ? 1.0 / SMOOTHING : 1;
	const double rate = (double)segment / segment_ns(c, false);

	if (segment <= 0 || frame < segment)
		return;
	sx_must(c->width, >, 0);
	cost->rate += share * (rate - cost->rate);
	cost->segment_ns += share * ((double)segment - cost->segment_ns);
	cost->rest_ns += share * ((double)(frame - segment) - cost->rest_ns);
	cost->method = c->stixels->method;
}

double sx_frame_cost_frame_ns(const struct sx_frame_cost *cost, const struct sx_frame_cost_case *c)
{
	sx_must(c->height, >, 0);
	if (cost->rate <= 0)
		return segment_ns(c, true);
	return cost->rest_ns + cost->rate * segment_ns(c, c->stixels->method != cost->method);
}

/* Writes "52 s", "3.2 s", "80 ms" or "more than 100 s". */
static void write_time(double ns, char *text, size_t bytes)
{
	const bool ms = ns < 1e9, many = ns >= 1e11;
	const double n = many ? 100 : ms ? ns / 1e6 : ns / 1e9;

	snprintf(text, bytes, "%s%.*f %s", many ? "more than " : "", n < 9.95, n, ms ? "ms" : "s");
}

bool sx_frame_cost_is_too_much(const struct sx_frame_cost *cost, const struct sx_frame_cost_case *now,
			       const struct sx_frame_cost_case *next, int64_t limit_ns, struct sx_why *why)
{
	const double ns = sx_frame_cost_frame_ns(cost, next), is = cost->rest_ns + cost->segment_ns;
	char would[32], does[32] = "", limit[32];

	sx_must(limit_ns, >, 0);
	if (ns * LIMIT_SHARE <= (double)limit_ns ||
	    (now &&
	     ((cost->rate > 0 && ns <= is) ||
	      segment_ns(next, next->stixels->method != now->stixels->method) <= segment_ns(now, false))))
		return false;
	write_time(ns, would, sizeof(would));
	write_time((double)limit_ns, limit, sizeof(limit));
	if (cost->rate > 0)
		write_time(is, does, sizeof(does));
	sx_why_set(why,
		   "stixels.method = %s, stixels.width = %d, cells of %d rows: a frame of %dx%d would take "
		   "%s%s%s, and after %s without one the watchdog ends the daemon: take larger cells "
		   "(stixels.cell_height), wider columns or another method",
		   sx_option_find("stixels", "method")->words[next->stixels->method], next->stixels->width,
		   sx_cell_height(next->stixels), next->width, next->height, would,
		   *does ? ", now it takes " : "", does, limit);
	return true;
}

/* Returns the bytes of a context that depend on the settings, rounded up from the memory of engine cpu. */
static double context_bytes(const struct sx_context_config *c)
{
	const struct sx_stixel_params *s = &c->params.stixels;
	const struct sx_filter_params *f = &c->params.filters;
	const double pixels = (double)c->width * c->height;
	const double columns = sx_reduce_columns(c->width, s->width), rows = sx_cell_rows(s, c->height);
	const double most = s->max_per_column < c->height ? s->max_per_column : c->height;
	double bytes = columns * (most * 2 * sizeof(struct stixel) + rows * 8);

	if (!sx_is_slanted(s))
		bytes += 8 * rows * rows; /* cost tables */
	if (f->median)
		bytes += 6 * pixels;
	if (f->speckle_size > 0)
		bytes += 16 * pixels;
	if (f->smooth)
		bytes += 4 * pixels;
	if (f->left_right >= 0)
		bytes += 4 * pixels;
	if (c->params.motion.mode != SX_MOTION_MODE_OFF)
		bytes += 4 * pixels + MOTION_CELL_BYTES + 96.0 * sx_context_stixels(c);
	return bytes + (c->rectify ? 2 * 16 * pixels : 0);
}

/* Returns the bytes that all contexts share for motion: views, the filter, and what frames say about stixels. */
static double chain_bytes(const struct sx_context_config *c)
{
	const double pixels = (double)c->width * c->height, stixels = sx_context_stixels(c);

	switch (c->params.motion.mode) {
	case SX_MOTION_MODE_PAIR:
		return 34 * pixels + 25 * stixels;
	case SX_MOTION_MODE_FILTER:
		return 42 * pixels + MOTION_CELL_BYTES + 376 * stixels;
	default:
		return 0;
	}
}

size_t sx_frame_cost_memory(size_t held, int count, const struct sx_context_config *now,
			    const struct sx_context_config *next)
{
	/* a chain that does not go on is made beside the old one */
	const double more = count * (context_bytes(next) - context_bytes(now)) +
			    (sx_chain_fits(now, next) ? 0 : chain_bytes(next));

	sx_must(count, >, 0);
	if (held == 0)
		return 0;
	/* Count no memory as freed, and add a reserve of one eighth, because not all memory is known. */
	return held + held / 8 + (size_t)(more > 0 ? more : 0) + MEMORY_SPARE;
}

/*
 * Returns the bytes for each pixel that all contexts of engine cpu share for path costs. Measured on images of
 * KITTI with 64 to 512 disparities (resident memory of stixel-process). Pyramid search has room for as many
 * cells as a tile may search, and stores their costs.
 */
static int volume_bytes(const struct sx_stereo_params *s)
{
	const bool sums = s->paths > 2 || s->aggregation == SX_AGGREGATION_FASTDT;
	const bool wide = s->paths > 4 || s->cost != SX_COST_CSCT || s->aggregation == SX_AGGREGATION_FASTDT;
	const int cell = sums * (1 + wide);

	if (sx_is_pyramid(s))
		return (cell + 1) * SX_SEARCH_TILE_BLOCKS * SX_SEARCH_BLOCK;
	return (cell + (s->cost == SX_COST_ZNCC)) * s->disparities;
}

/* Returns the bytes of count contexts of engine cpu. */
static double engine_bytes(const struct sx_context_config *c, int count)
{
	const struct sx_stereo_params *s = &c->params.stereo;
	const double pixels = (double)c->width * c->height;

	return pixels * (PIXEL_BYTES + volume_bytes(s)) + chain_bytes(c) + count * context_bytes(c);
}

int64_t sx_frame_cost_making_ns(const struct sx_context_config *c, int count)
{
	sx_must(count, >, 0);
	return (int64_t)(engine_bytes(c, count) / MAKING_RATE * 1e9);
}

bool sx_frame_cost_is_too_large(const struct sx_context_config *c, int count, int64_t room, const char *what,
				struct sx_why *why)
{
	const struct sx_stereo_params *s = &c->params.stereo;
	const double bytes = engine_bytes(c, count);

	if (bytes <= (double)room)
		return false;
	sx_why_set(
		why,
		"images of %dx%d with stereo.disparities = %d need about %.0f MB, and %s has %lld MB left: "
		"fewer disparities, stereo.paths = 2 or smaller images need less",
		c->width, c->height, s->disparities, bytes / (1 << 20), what, (long long)(room >> 20));
	return true;
}
