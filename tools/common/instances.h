/*
 * Finds the instances of this machine, and the programs beside them. base/runtime_dirs.h defines the runtime
 * directories and their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_INSTANCES_H
#define SX_TOOLS_COMMON_INSTANCES_H

#include <stdbool.h>

/* Folder of the rings, and prefix of their names. */
#define SX_SHM_DIR "/dev/shm"
#define SX_RING_PREFIX "stixeld."

/*
 * Calls take() with the name of every folder that has a status socket. Visits the runtime directories in
 * order, and the folders of one directory in no order. A name in two directories is reported twice. Names are
 * unchecked.
 */
void sx_instances_find(void (*take)(void *user, const char *name), void *user);

/*
 * Finds the processes of another program that has its own folders in these directories. Otherwise works as
 * sx_instances_find(). program: SX_RUNTIME_DIR_BRIDGE or SX_RUNTIME_DIR_SEGMENT.
 */
void sx_programs_find(const char *program, void (*take)(void *user, const char *name), void *user);

/*
 * Calls take() with the name of every ring in shared memory, in no order. Skips rings of offered pairs
 * (NAME.pairs if NAME has a ring). Names are unchecked. trusted: the ring is a regular file whose owner is
 * trusted with this name (base/runtime_dirs.h). Any user may create other rings.
 */
void sx_instances_find_rings(void (*take)(void *user, const char *name, bool trusted), void *user);

#endif
