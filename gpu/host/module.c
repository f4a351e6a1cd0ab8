/*
 * Identity of the module's build. Compiled into the module, as gpu/host/engine.c is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/module.h"

const struct sx_module sx_module_cuda = SX_MODULE_OF_THIS_BUILD;
