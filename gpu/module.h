/*
 * What the CUDA engine's module (stixel-cuda.so) shows to the program that loads it: sx_backend_cuda
 * (stages/engine.h) and sx_module_cuda, which says what build it belongs to. Nothing else is visible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MODULE_H
#define SX_GPU_MODULE_H

#include <stdint.h>

#include "stages/engine.h"
#include "stixel.h"

#define SX_MODULE_SIZES 8

/* version first, and as long for ever: it is what a program of another build can read. */
struct sx_module {
	char version[64];
	uint32_t sizes[SX_MODULE_SIZES]; /* of what both sides read and write */
};

/* The same on both sides exactly when they were compiled from the same headers. */
#define SX_MODULE_OF_THIS_BUILD                                                                             \
	{                                                                                                   \
		SX_VERSION,                                                                                 \
		{                                                                                           \
			sizeof(struct sx_backend), sizeof(struct sx_engine_params),                         \
				sizeof(struct sx_context_config), sizeof(struct sx_result),                 \
				sizeof(struct sx_pair), sizeof(struct sx_transfers), sizeof(struct stixel), \
				(unsigned)SX_STAGE_COUNT << 8 | SX_TAP_COUNT                                \
		}                                                                                           \
	}

#define SX_MODULE_SYMBOL "sx_module_cuda"
#define SX_MODULE_BACKEND_SYMBOL "sx_backend_cuda"

extern const struct sx_module sx_module_cuda;
extern const struct sx_backend sx_backend_cuda;

#endif
