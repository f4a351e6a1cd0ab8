/*
 * Loads the rest of a device: kernels that take memory bandwidth and cache away from the slice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_LOAD_H
#define SX_TESTS_LAB_TWIN_LOAD_H

#include <stdbool.h>

#include "base/why.h"
#include "gpu/host/green_context.h"
#include "tests/lab/twin/kernels.h"

#define TWIN_BLOCKS_MAX 4096
#define TWIN_KEEPERS 16 /* number of blocks that hold the cache */

/*
 * Result of a load. blocks: number of blocks that ran. gbs: what they moved, GB/s. lasted: the load ran until
 * the host stopped it.
 */
struct twin_load_told {
	int blocks;
	double gbs;
	bool lasted;
};

/*
 * The load on the rest of the device. sms: multiprocessors of the rest. kept_bytes: cache that is set aside
 * and held while a load runs; 0: the device permits none. far_bytes: memory of TWIN_PAGES. `told`, block,
 * keeper: pinned memory. given_device, block_device, keeper_device: its addresses on the device. A value
 * other than 0 in element 0 of `told` ends the load, in element 1 the keepers. word: two pairs of words in
 * device memory, used as twin_work.stop.
 */
struct twin_load {
	struct sx_green *rest;
	int sms;
	size_t kept_bytes, bytes, far_bytes, cache_bytes, window_bytes;
	cudaStream_t stream, keep_stream;
	cudaEvent_t ended;
	void *memory, *kept;
	uint32_t *told, *given_device, *word;
	struct twin_block *block, *block_device, *keeper, *keeper_device;
	int blocks; /* blocks of the running load */
	enum twin_kind kind;
	bool runs, keeps;
};

const char *twin_kind_name(enum twin_kind kind);

/*
 * Prepares loads beside a slice of `slice` multiprocessors of device 0. Warms up every kernel, because no
 * kernel may be loaded while a load runs. Returns the errors of sx_green_create(), with its sentence in
 * `why`. Failing CUDA calls end the program.
 */
int twin_load_init(struct twin_load *l, int slice, struct sx_why *why);
/* Stops the loads and waits for them, at most until their time limit. Accepts a zeroed struct. */
void twin_load_finish(struct twin_load *l);
/* Returns how many blocks of a kind can run at once, with keepers beside them. */
int twin_load_most(const struct twin_load *l, enum twin_kind kind);

/* Holds the cache that was set aside until twin_load_release(), at most for `seconds`. */
void twin_load_keep(struct twin_load *l, double seconds);
void twin_load_release(struct twin_load *l);
/* Starts a load for at most `seconds`. Returns when its blocks run. blocks 0: no load, which is no error. */
void twin_load_start(struct twin_load *l, enum twin_kind kind, int blocks, double seconds);
/* Stops the load. */
void twin_load_stop(struct twin_load *l, struct twin_load_told *ret);
/* Stops every load of this program soon. May be called anywhere, also in a signal handler. */
void twin_load_end_all(void);

/* Marks the multiprocessors that compute for the rest in seen, like twin_where_run(), but in host memory. */
void twin_load_where(struct twin_load *l, uint32_t *seen);

#endif
