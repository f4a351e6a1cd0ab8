/*
 * The CUDA engine. After every stage it has the same bytes as the reference.
 *
 * A context is one stream and one captured graph. Kernels read pairs in place, or pairs are copied once from
 * pinned memory. The last kernel writes the record into pinned memory, where the host reads it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_ENGINE_H
#define SX_GPU_HOST_ENGINE_H

#include "stages/context.h"

/*
 * Bits of enum sx_ability. The engine has neither FastDT in float and int32 nor slanted-exact, because these
 * are not used at a camera's frame rate, and no pyramid search with zncc, whose costs are computed as a whole
 * volume. It also refuses motion.mode = filter, see sx_cuda_chain_create().
 */
#define SX_CUDA_ABILITIES 0

extern const struct sx_backend sx_backend_cuda;

#endif
