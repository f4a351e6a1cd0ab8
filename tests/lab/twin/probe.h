/*
 * What memory gives a slice: plain kernels on the slice's own multiprocessors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_LAB_TWIN_PROBE_H
#define SX_TESTS_LAB_TWIN_PROBE_H

#include "gpu/host/device.h"
#include "tests/lab/twin/kernels.h"

#define TWIN_CACHE_BYTES ((size_t)4 << 20) /* what an Orin has of second-level cache */

/* GB/s (10^9 bytes); copy: read and written together. cache: reads of TWIN_CACHE_BYTES again and again. */
struct twin_probe_told {
	double read, write, copy, cache, latency_ns;
};

/* stream, from, to: of the slice that is attached. at: where the next probe begins: none finds lines. */
struct twin_probe {
	void *memory, *chain;
	size_t at;
	uint32_t line;
	uint64_t *ns, *ns_device;
	cudaStream_t stream;
	cudaEvent_t from, to;
	int blocks;
};

/* Failing CUDA calls end the program. finish accepts a zeroed one. Slices are attached in between. */
void twin_probe_init(struct twin_probe *p);
void twin_probe_finish(struct twin_probe *p);
/* Enters d; warms up. detach: before d is closed. */
void twin_probe_attach(struct twin_probe *p, const struct sx_device *d);
void twin_probe_detach(struct twin_probe *p);

/* Below: the calling thread is in d. */
void twin_probe_all(struct twin_probe *p, struct twin_probe_told *ret);
double twin_probe_copy(struct twin_probe *p);
/* Reads of so many bytes again and again. */
double twin_probe_cache(struct twin_probe *p, size_t bytes);
/* ms of kernels that move so many bytes one way; median of three. */
double twin_probe_stream_ms(struct twin_probe *p, enum twin_way way, double bytes);
/* Which multiprocessors compute for the slice: as of twin_where_run(), host memory. */
void twin_probe_where(struct twin_probe *p, uint32_t *seen);

#endif
