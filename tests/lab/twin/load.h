/*
 * The load on the rest of a device: kernels that take memory and cache away from the slice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_LOAD_H
#define SX_TESTS_LAB_TWIN_LOAD_H

#include <stdbool.h>

#include "gpu/host/green_context.h"
#include "tests/lab/twin/kernels.h"

#define TWIN_BLOCKS_MAX 4096
#define TWIN_KEEPERS 16 /* blocks that hold the cache */

/* One load as it was: blocks that ran, what they moved, whether it lasted until it was told to end. */
struct twin_load_told {
	int blocks;
	double gbs;
	bool lasted;
};

/*
 * sms: of the rest. kept_bytes: of the cache, set aside and held while a load runs; 0: none could be.
 * far_bytes: of TWIN_PAGES. told, block, keeper: pinned memory, *_device as the device sees it; told[0] ends
 * the load, told[1] keepers. word: two pairs of device memory, as twin_work.stop.
 */
struct twin_load {
	struct sx_green *rest;
	int sms;
	size_t kept_bytes, bytes, far_bytes, cache_bytes, window_bytes;
	cudaStream_t stream, keep_stream;
	cudaEvent_t ended;
	void *memory, *kept;
	uint32_t *told, *told_device, *word;
	struct twin_block *block, *block_device, *keeper, *keeper_device;
	int blocks; /* of the load that runs */
	enum twin_kind kind;
	bool runs, keeps;
};

const char *twin_kind_name(enum twin_kind kind);

/*
 * Beside a slice that asked for slice multiprocessors of device 0. Warms up every kernel, since none may be
 * loaded while a load runs. Errors of sx_green_create(), with its sentence in why; failing CUDA calls end the
 * program.
 */
int twin_load_init(struct twin_load *l, int slice, char *why, size_t why_bytes);
/* Tells loads to end and waits for them; at most their limit. Accepts a zeroed one. */
void twin_load_finish(struct twin_load *l);
/* Blocks of a kind that all run at once, keepers beside them. */
int twin_load_most(const struct twin_load *l, enum twin_kind kind);

/* Holds the cache that has been set aside until twin_load_release(), at most for seconds. */
void twin_load_keep(struct twin_load *l, double seconds);
void twin_load_release(struct twin_load *l);
/* Runs a load, at most for seconds; returns once its blocks run. blocks 0: none, which is no error. */
void twin_load_start(struct twin_load *l, enum twin_kind kind, int blocks, double seconds);
/* Ends it. */
void twin_load_stop(struct twin_load *l, struct twin_load_told *ret);
/* From anywhere, a signal's handler too: every load of this program ends soon. */
void twin_load_end_all(void);

/* Which multiprocessors compute for the rest: seen as of twin_where_run(), host memory. */
void twin_load_where(struct twin_load *l, uint32_t *seen);

#endif
