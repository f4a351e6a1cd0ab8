/*
 * Compiles intrinsics.cu with the emulator's functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sx_emulate.h>

#include "tests/gpu/device/intrinsics.cu"
