/*
 * An opened GPU: what it is, its part that is used, errors, counters. Inside of gpu/, host side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_DEVICE_H
#define SX_GPU_HOST_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/host/green_context.h"
#include "gpu/stages_cuda.h"
#include "predict/boards.h"
#include "stages/engine.h"

#define SX_CUDA_RANGES_MAX 256

/* Pinned host memory. device: its address there; NULL: copies only. */
struct sx_cuda_range {
	const uint8_t *host, *device;
	size_t bytes;
};

/* Counters are read by other threads while frames are in flight. */
struct sx_device {
	int index, contexts;
	char name[96];
	char bus_id[24]; /* PCI address; empty: part of another chip */
	int capability;	 /* 90: sm_90 */
	int sms, all_sms;
	int priority; /* of streams */
	int spin_us;  /* engine.spin_us */
	bool integrated, can_map, can_register;
	bool mapped;			  /* input path: kernels read pairs where they lie; else copy */
	enum sx_volume_choice volume;	  /* as it was asked for; contexts choose (volume.c) */
	struct sx_predict_device figures; /* for predictions; clock_hz 0: there are none; sms: not set */
	struct sx_green *green;		  /* NULL: the whole device */
	char description[192];
	char failure[256];
	cudaError_t lost;				/* of a frame: nothing works after it */
	struct sx_cuda_range range[SX_CUDA_RANGES_MAX]; /* by address */
	int ranges;
	atomic_size_t bytes; /* of all contexts */
	_Atomic uint64_t frames, copies_in, copied_bytes, staged, peeks;
};

int sx_cuda_open(struct sx_device **ret, const struct sx_engine_params *p, char *why, size_t why_bytes);
void sx_cuda_close(struct sx_device *d);

void sx_cuda_facts(const struct sx_device *d, struct sx_device_facts *f);

/* Makes d what the calling thread's CUDA calls mean. */
cudaError_t sx_cuda_enter(const struct sx_device *d);
/* A stream in d's part of the device: waits for no other, before others where the device knows priorities. */
cudaError_t sx_cuda_stream(const struct sx_device *d, cudaStream_t *ret);
/* Bytes that can be taken now; SIZE_MAX when nobody knows. */
size_t sx_cuda_free_bytes(const struct sx_device *d);

/*
 * The one place where CUDA's codes become errno: -ENOMEM, -ENODEV (no device, none that can be used, driver
 * too old, no code for it), -EIO everything else.
 */
int sx_cuda_errno(cudaError_t e);
/* The same, with "engine cuda: WHAT: CUDA's words (CUDA's name)" in why. */
int sx_cuda_complain(char *why, size_t why_bytes, cudaError_t e, const char *what);
/* The same into d->failure; a device that failed in a frame is lost. */
int sx_cuda_fail(struct sx_device *d, cudaError_t e, const char *what);

#endif
