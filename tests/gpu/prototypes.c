/*
 * The emulator's prototypes after those of the toolkit: they compile together only if they are the same.
 * There is nothing to run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "tests/gpu/emulate/cuda_functions.h"
