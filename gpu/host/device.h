/*
 * An opened GPU: its properties, the part of it that is used, errors and counters. Internal header of gpu/,
 * host side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_DEVICE_H
#define SX_GPU_HOST_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "gpu/host/green_context.h"
#include "gpu/stages_cuda.h"
#include "predict/boards.h"
#include "stages/engine.h"

#define SX_CUDA_RANGES_MAX 256

/*
 * Pinned host memory. device: the device's address of it. If NULL, kernels cannot read it and it is copied.
 */
struct sx_cuda_range {
	const uint8_t *host, *device;
	size_t bytes;
};

/* An opened GPU. Other threads read the counters while frames are in flight. */
struct sx_device {
	int index, contexts;
	char name[96];
	char bus_id[24]; /* PCI address; empty if the GPU is part of another chip */
	int capability;	 /* 90: sm_90 */
	int sms, all_sms;
	int priority; /* priority of streams */
	int spin_us;  /* engine.spin_us */
	bool integrated, can_map, can_register;
	/* input path: true: kernels read pairs in place; false: pairs are copied */
	bool mapped;
	enum sx_volume_choice volume; /* engine.volume as configured; volume.c chooses for each context */
	/* figures for predictions; clock_hz is 0 if unknown; sms is not set */
	struct sx_predict_device figures;
	struct sx_green *green; /* NULL: the whole device is used */
	char description[192];
	struct sx_why failure;
	cudaError_t lost;				/* error of a frame; after it every call fails */
	struct sx_cuda_range range[SX_CUDA_RANGES_MAX]; /* sorted by address */
	int ranges;
	atomic_size_t bytes; /* memory of all contexts */
	_Atomic uint64_t frames, copies_in, copied_bytes, staged, peeks;
};

int sx_cuda_open(struct sx_device **ret, const struct sx_engine_params *p, struct sx_why *why);
void sx_cuda_close(struct sx_device *d);

void sx_cuda_facts(const struct sx_device *d, struct sx_device_facts *f);

/* Makes d the device of the calling thread's CUDA calls. */
cudaError_t sx_cuda_enter(const struct sx_device *d);
/*
 * Creates a stream in d's part of the device. It does not wait for other streams. If the device has
 * priorities, it gets the highest.
 */
cudaError_t sx_cuda_stream(const struct sx_device *d, cudaStream_t *ret);
/* Returns the bytes that can be taken now, or SIZE_MAX if unknown. */
size_t sx_cuda_free_bytes(const struct sx_device *d);

/*
 * Maps CUDA errors to errno; all code uses this function. -ENOMEM: out of memory. -ENODEV: no usable device,
 * driver too old, or no code for the device. -EIO: every other error.
 */
int sx_cuda_errno(cudaError_t e);
/* Returns sx_cuda_errno(e) and writes "engine cuda: WHAT: CUDA's words (CUDA's name)" to why. */
int sx_cuda_complain(struct sx_why *why, cudaError_t e, const char *what);
/* Marks the device as lost, because a frame failed. Writes the same text to d->failure. */
int sx_cuda_fail(struct sx_device *d, cudaError_t e, const char *what);

#endif
