/*
 * The fast CPU engine: threads and vectors. After every stage it has the same bytes as the reference.
 *
 * open() starts the workers (engine.threads; 0: one per CPU that the process may use) and chooses the widest
 * vectors of the machine. The environment variable SX_SIMD (plain, sse4, avx2, avx512, neon) chooses others,
 * for tests and comparisons. One frame computes at a time, on all workers. Frames of other contexts wait in
 * order of submission. FastDT is available in int16 and int8 only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_ENGINE_ENGINE_H
#define SX_CPU_ENGINE_ENGINE_H

#include "stages/engine.h"

extern const struct sx_backend sx_backend_cpu;

#endif
