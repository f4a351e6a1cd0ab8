/*
 * Internal header of the CPU engine: device, context, and the chain of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_ENGINE_ENGINE_PRIV_H
#define SX_CPU_ENGINE_ENGINE_PRIV_H

#include <stdatomic.h>

#include "cpu/kernel_sets.h"
#include "cpu/matcher.h"
#include "cpu/motion/motion.h"
#include "cpu/pool.h"
#include "cpu/search.h"
#include "cpu/segment.h"
#include "cpu/speckle.h"
#include "stages/engine.h"
#include "stages/motion/filter/chain.h"
#include "stages/rectify/rectify.h"
#include "stages/road/road_finder.h"
#include "stages/stixels/class_cut.h"
#include "stages/stixels/reach.h"
#include "stages/stixels/segment.h"

/*
 * Memory that all contexts share, because only one frame computes at a time. It grows when a context is
 * created.
 */
struct sx_shared_memory {
	uint8_t *data;
	size_t bytes;
};

struct sx_device {
	struct sx_pool *pool;
	const struct sx_kernels *kernels;
	char describe[64];
	struct sx_shared_memory volume, maps, costs, planes, scratch[SX_POOL_THREADS_MAX];
	struct sx_matcher_scratch laid_out[SX_POOL_THREADS_MAX];
	/* matcher whose geometry the planes and scratch are laid out for; width 0: not laid out yet */
	struct sx_matcher layout;
	size_t context_bytes; /* memory of all contexts and chains, bytes */
};

/* Used by the pool's leader: frames compute one at a time, in the order of submit. */
struct sx_chain {
	struct sx_device *device;
	struct sx_motion_chain motion;
	struct sx_cpu_motion *twin;
	size_t bytes;
};

struct sx_context {
	struct sx_device *device;
	struct sx_context_config config;
	struct sx_matcher matcher;
	struct sx_searcher *search;	    /* NULL: full search */
	struct sx_image taps[SX_TAP_COUNT]; /* some share memory: see sx_taps_share() */
	void *owned[SX_TAP_COUNT];
	struct sx_rectify_map map[2]; /* if pairs come raw: rectification maps */
	/* grey images before rectification, if pairs come raw and are not grey */
	struct sx_image raw_grey[2];
	uint32_t *stretch_counts;	    /* counts of Y16 pairs, for sx_stretch_find() */
	bool hides;			    /* some pixels are seen by only one camera */
	uint8_t *flat_scratch[2];	    /* scratch of sx_flat(), by side */
	struct sx_chance_sums *chance_sums; /* sums per tile; NULL: sx_chance() is off */
	struct sx_speckle speckle;
	void *speckle_memory;
	struct sx_road_finder *road_finder;
	int32_t road_scores[SX_ROAD_CANDIDATES];
	struct sx_segmenter *segmenter;
	struct sx_segments segments;
	struct sx_image cells, cells_confidence; /* output of sx_evidence(), for slanted methods */
	uint8_t *bright;			 /* enum sx_cell_pixels of each cell: [row][column] */
	uint32_t *blank, *sky;			 /* [row][sx_sky_words()], see cpu/sky.h */
	_Atomic uint32_t reach[SX_REACH_BINS];	 /* counts of all columns, see sx_reach_count() */
	/* scores of cells: U8, [column][row][class]; data is NULL if pairs never have scores */
	struct sx_image scores;
	struct sx_class_cut class_cut;
	uint32_t *offsets;
	struct stixel *stixels;
	struct sx_motion_found motion; /* results of motion, with a chain */
	size_t bytes;
	int event;
	bool busy; /* a frame was submitted and not yet waited for; used by the client's thread */

	/* the frame in flight: owned by the pool's leader from submit until the event */
	struct sx_pool_job job;
	const struct sx_pair *pair;
	sx_images_read_fn *images_read;
	void *user; /* argument of images_read */
	struct sx_road previous;
	bool has_previous;
	bool scored; /* scores holds the scores of the pair */
	struct sx_diagnostics_part monitored[SX_DIAGNOSTICS_ROWS];
	struct sx_result result;
};

/* Computes the frame of x on the pool's leader. arg: struct sx_context. */
void sx_frame_run(void *arg);
/*
 * Computes the cells from the taps of columns as sx_evidence() does, on all workers. Returns the reach of the
 * frame, 1/128 px (stages/stixels/reach.h).
 */
int32_t sx_evidence_run(struct sx_context *x);

#endif
