/*
 * Symbols that the CUDA engine's module (stixel-cuda.so) exports to the program that loads it:
 * sx_backend_cuda (stages/engine.h) and sx_module_cuda, which names the build of the module. The module
 * exports no other symbol.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_MODULE_H
#define SX_GPU_MODULE_H

#include <stdint.h>

#include "stages/engine.h"
#include "stixel.h"

#define SX_MODULE_SIZES 8

/*
 * Identity of a build. version must stay first and keep its length for ever, because programs of other builds
 * read it.
 */
struct sx_module {
	char version[64];
	uint32_t sizes[SX_MODULE_SIZES]; /* sizes of the structs that both sides read and write */
};

/*
 * Identity of this build. Program and module have the same one exactly if they were compiled from the same
 * headers.
 */
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
