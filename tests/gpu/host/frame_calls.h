/*
 * CUDA runtime calls that a frame may make: a graph, an event, copies of the pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_GPU_HOST_FRAME_CALLS_H
#define TESTS_GPU_HOST_FRAME_CALLS_H

#include <stddef.h>

/* Allowed names for sx_emulate_other_than(). */
static const char *const calls_of_a_frame[] = {
	"cudaSetDevice",
	"cudaGraphLaunch",
	"cudaEventRecord",
	"cudaEventRecordWithFlags",
	"cudaEventSynchronize",
	"kernel",
	"copy",
	"cudaMemcpyAsync",
	NULL,
};

#endif
