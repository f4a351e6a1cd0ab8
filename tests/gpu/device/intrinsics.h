/*
 * CUDA functions, and wrappers of gpu/ that the emulator implements itself, called with the same operands: on
 * the device (intrinsics.cu by nvcc), and in tests/gpu/emulate (the same file by the C++ compiler).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_DEVICE_INTRINSICS_H
#define SX_TESTS_GPU_DEVICE_INTRINSICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INTRINSICS_THREADS 128 /* threads of a block; the number of operands is a multiple of it */
/* Result of a function that the device does not have. */
#define INTRINSIC_ABSENT 0xab5e27ab5e27ab5eull

/* Operands of a thread, from which the arguments are made. Lanes of a warp use neighbouring operands. */
struct intrinsic_operands {
	uint32_t a, b, c;
	uint64_t la, lb;
};

/* Names of the functions in order. NULL ends the list. */
extern const char *const intrinsic_names[];
/*
 * Runs function `which` over n operands. out: results as bits, with one value for any NaN. The emulated
 * version uses host memory. The device version uses device memory and the default stream, and returns the
 * error of the launch.
 */
void intrinsic_emulated(int which, const struct intrinsic_operands *in, int n, uint64_t *out);
int intrinsic_on_device(int which, const struct intrinsic_operands *in, int n, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
