/*
 * The CUDA engine: the same bytes as the reference after every stage.
 *
 * A context is one stream and one captured graph; pairs are read where they lie, or copied once from pinned
 * memory; the record is written by the last kernel into pinned memory that the host reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_ENGINE_H
#define SX_GPU_HOST_ENGINE_H

#include "stages/context.h"

/*
 * Of enum sx_ability: neither FastDT in float and int32 nor slanted-exact, which nobody runs
 * at the rate of a camera.
 */
#define SX_CUDA_ABILITIES 0

extern const struct sx_backend sx_backend_cuda;

#endif
