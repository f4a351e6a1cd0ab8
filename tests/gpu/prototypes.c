/*
 * The emulator's prototypes behind those of the toolkit: they compile together only when they are the same.
 * Nothing to run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "tests/gpu/emulate/cuda_functions.h"
