/*
 * What tests of the whole CUDA engine share: a device for each flow of data, one of the reference, and a
 * frame on them. A test program has one set of these, between open_devices() and close_devices().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_GPU_HOST_ENGINE_FLOWS_H
#define TESTS_GPU_HOST_ENGINE_FLOWS_H

#include "gpu/module.h"
#include "tests/engine_case.h"

#define ENGINE_FLOWS 5
#ifdef SX_EMULATE
#define REPEAT 4
#else
#define REPEAT 100
#endif

/* How data flows, see stages/engine.h. */
struct engine_flow {
	const char *name;
	enum sx_volume_choice volume;
	enum sx_input_choice input;
};
extern const struct engine_flow engine_flows[ENGINE_FLOWS];

extern const struct sx_backend *const cuda;
extern struct sx_device *reference, *devices[ENGINE_FLOWS]; /* by flow */
extern bool full;					    /* every size and flow */
extern int repeat;
extern unsigned long checks; /* comparisons with the reference so far */

/* Of a group of tests. close: fails where a context has left something. */
int open_devices(void **state);
int close_devices(void **state);
/* --full, --repeat N; returns where other arguments begin. */
int read_arguments(int argc, char **argv);

/* The caller destroys it. */
struct sx_context *context_of(const struct sx_backend *backend, struct sx_device *device,
			      const struct engine_case *t, bool keep_volume);
void run_frame(const struct sx_backend *backend, struct sx_context *x, const struct engine_frame *f,
	       const struct sx_road *previous);
/* want: of the reference, got: of cuda. volume: path sums too. */
bool same(const struct engine_case *t, const struct sx_context *want, const struct sx_context *got,
	  const char *how, bool volume);
struct engine_case small_one(uint64_t seed);

#endif
