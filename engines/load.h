/*
 * Loading the CUDA engine. It lies in a module, so that the same programs run on machines without CUDA;
 * nothing of CUDA is linked into a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_ENGINES_LOAD_H
#define SX_ENGINES_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "stages/engine.h"

/*
 * Loads stixel-cuda.so: the file that the environment's STIXEL_MODULE_PATH names, else that of the build
 * tree which the program runs from, else the installed one. The module stays until the process ends.
 * Thread: main. -ENOENT: not installed; -ENOEXEC: it cannot be loaded, or belongs to another build; why
 * says which file and what.
 */
int sx_cuda_load(const struct sx_backend **ret, char *why, size_t why_bytes);
/* Is a module named by STIXEL_MODULE_PATH, or does one lie where it is looked for? */
bool sx_cuda_installed(void);

#endif
