/*
 * Where the running program lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_PROGRAM_PLACE_H
#define SX_BASE_PROGRAM_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the top folder of the build tree that the running program lies in. False: the program is installed,
 * or path is too short; path is then unchanged.
 */
bool sx_program_build_tree(char *path, size_t bytes);

#endif
