/*
 * Measures the memory bandwidth of a slice: plain kernels on the slice's own multiprocessors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_PROBE_H
#define SX_TESTS_LAB_TWIN_PROBE_H

#include "gpu/host/device.h"
#include "tests/lab/twin/kernels.h"

#define TWIN_CACHE_BYTES ((size_t)4 << 20) /* size of an Orin's second-level cache */

/*
 * Results, GB/s (10^9 bytes). copy: sum of bytes read and written. cache: repeated reads of TWIN_CACHE_BYTES.
 */
struct twin_probe_told {
	double read, write, copy, cache, latency_ns;
};

/*
 * A probe. stream, from, to: belong to the attached slice. at: offset where the next probe begins, so that it
 * finds no lines in the cache.
 */
struct twin_probe {
	void *memory, *chain;
	size_t at;
	uint32_t line;
	uint64_t *ns, *ns_device;
	cudaStream_t stream;
	cudaEvent_t from, to;
	int blocks;
};

/*
 * Create and free the memory of a probe. Slices are attached in between. Failing CUDA calls end the program.
 * finish accepts a zeroed probe.
 */
void twin_probe_init(struct twin_probe *p);
void twin_probe_finish(struct twin_probe *p);
/* attach enters the slice d and warms up. Call detach before d is closed. */
void twin_probe_attach(struct twin_probe *p, const struct sx_device *d);
void twin_probe_detach(struct twin_probe *p);

/* For the functions below the calling thread must have entered the slice. */
void twin_probe_all(struct twin_probe *p, struct twin_probe_told *ret);
double twin_probe_copy(struct twin_probe *p);
/* Returns the rate of repeated reads of these bytes, GB/s. */
double twin_probe_cache(struct twin_probe *p, size_t bytes);
/* Returns the time of kernels that move these bytes one way, ms, median of three. */
double twin_probe_stream_ms(struct twin_probe *p, enum twin_way way, double bytes);
/* Marks the multiprocessors that compute for the slice in seen, like twin_where_run(), but in host memory. */
void twin_probe_where(struct twin_probe *p, uint32_t *seen);

#endif
