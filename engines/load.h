/*
 * Loads the CUDA engine. The engine is a module, so that the same programs run on machines without CUDA. No
 * CUDA library is linked into a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_ENGINES_LOAD_H
#define SX_ENGINES_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "stages/engine.h"

/*
 * Loads stixel-cuda.so: the file that the environment's STIXEL_MODULE_PATH names, else the one in the
 * program's build tree, else the installed one. The module stays loaded until the process ends. -ENOENT: not
 * installed. -ENOEXEC: it cannot be loaded, or belongs to another build. why names the file and the reason.
 * Thread: main.
 */
int sx_cuda_load(const struct sx_backend **ret, struct sx_why *why);
/* Returns true if STIXEL_MODULE_PATH names a module, or if the file that sx_cuda_load() would load exists. */
bool sx_cuda_installed(void);

#endif
