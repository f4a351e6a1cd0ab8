/*
 * Instances and bridges of this machine as programs find them. Where they are looked for, and in which order:
 * base/places.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_INSTANCES_H
#define SX_TOOLS_COMMON_INSTANCES_H

#include <stdbool.h>

/* Where rings lie, and how their names begin. */
#define SX_SHM_DIR "/dev/shm"
#define SX_RING_PREFIX "stixeld."

/*
 * Calls take() with the name of every folder that has a status socket, place by place, in no order within
 * one; a name that lies in two places comes twice. Names are as they lie on disk, unchecked.
 */
void sx_instances_find(void (*take)(void *user, const char *name), void *user);

/* The same for bridges (stixel-bridge), which have folders of their own in these places. */
void sx_bridges_find(void (*take)(void *user, const char *name), void *user);

/*
 * Calls take() with the name of every ring in shared memory, in no order, but not with those that an instance
 * offers beside its own (NAME.pairs where NAME has one). Names as above. trusted: a regular file whose owner
 * is trusted with that name (base/places.h); any user may make others.
 */
void sx_instances_find_rings(void (*take)(void *user, const char *name, bool trusted), void *user);

#endif
