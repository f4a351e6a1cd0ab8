/*
 * The fast CPU engine: threads and vectors, the same bytes as the reference after every stage.
 *
 * open() starts the workers (engine.threads, 0: one per CPU that the process may use) and picks the widest
 * vectors of the machine; the environment variable SX_SIMD (plain, sse4, avx2, avx512, neon) picks others,
 * for tests and comparisons. One frame computes at a time, on all workers; frames of other contexts wait in
 * order of submission. FastDT in int16 and int8 only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_ENGINE_H
#define SX_CPU_ENGINE_H

#include "stages/engine.h"

extern const struct sx_backend sx_backend_cpu;

#endif
