/*
 * Helpers shared by the tests of the whole CUDA engine: a device for each flow of data, a device of the
 * reference, and a frame on them. A test program has one set of devices between open_devices() and
 * close_devices().
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

/* Flow of data, see stages/engine.h. */
struct engine_flow {
	const char *name;
	enum sx_volume_choice volume;
	enum sx_input_choice input;
};
extern const struct engine_flow engine_flows[ENGINE_FLOWS];

extern const struct sx_backend *const cuda;
extern struct sx_device *reference, *devices[ENGINE_FLOWS]; /* devices by flow */
extern bool full;					    /* run every size and flow */
extern int repeat;
extern unsigned long checks; /* number of comparisons with the reference */

/* Setup and teardown of a group of tests. close_devices() fails if a context has left resources. */
int open_devices(void **state);
int close_devices(void **state);
/* Reads --full and --repeat N. Returns the index of the first other argument. */
int read_arguments(int argc, char **argv);

/* Creates a context. The caller destroys it. */
struct sx_context *context_of(const struct sx_backend *backend, struct sx_device *device,
			      const struct engine_case *t, bool keep_volume);
void run_frame(const struct sx_backend *backend, struct sx_context *x, const struct engine_frame *f,
	       const struct sx_road *previous);
/* Compares two contexts. want: of the reference, got: of cuda. volume: compares the path sums too. */
bool same(const struct engine_case *t, const struct sx_context *want, const struct sx_context *got,
	  const char *how, bool volume);
struct engine_case small_one(uint64_t seed);

#endif
