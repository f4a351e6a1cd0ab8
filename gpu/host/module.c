/*
 * Says what build the module belongs to. Compiled into the module, like gpu/host/engine.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/module.h"

const struct sx_module sx_module_cuda = SX_MODULE_OF_THIS_BUILD;
