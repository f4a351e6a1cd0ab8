/*
 * CUDA's functions and the wrappers of gpu/ that the emulator has a body of its own for, over the same
 * operands: on the device (intrinsics.cu by nvcc), and as tests/gpu/emulate has them (the same file by the
 * C++ compiler).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_DEVICE_INTRINSICS_H
#define SX_TESTS_GPU_DEVICE_INTRINSICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INTRINSICS_THREADS 128 /* threads of a block; operands come in multiples of it */
/* Result of a function that the device does not have. */
#define INTRINSIC_ABSENT 0xab5e27ab5e27ab5eull

/* Operands of a thread: arguments are made of them. Lanes of a warp are neighbours. */
struct intrinsic_operands {
	uint32_t a, b, c;
	uint64_t la, lb;
};

/* Names in their order, NULL behind the last. */
extern const char *const intrinsic_names[];
/*
 * Function `which` over n operands; out: its result as bits, any NaN as one. Emulated: host memory. On a
 * device: device memory, the default stream; the launch's error.
 */
void intrinsic_emulated(int which, const struct intrinsic_operands *in, int n, uint64_t *out);
int intrinsic_on_device(int which, const struct intrinsic_operands *in, int n, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
