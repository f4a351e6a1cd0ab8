/*
 * Instances and bridges of this machine as programs find them, and what one of them says of itself. Where
 * they are looked for, and in which order: base/places.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_INSTANCES_H
#define SX_TOOLS_COMMON_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>

/* Where rings lie, and how their names begin. */
#define SX_SHM_DIR "/dev/shm"
#define SX_RING_PREFIX "stixeld."

/*
 * GET target ("/status") at the status socket of an instance, in the first of its places that answers.
 * Returns the HTTP status code and the body, malloc'ed, for the caller to free; or negative errno and a
 * sentence in why: as sx_http_get(), -ENOENT where nobody runs, -EACCES where only a place that is not open
 * to this user may have it. code other than 200: why has a sentence as well. The name is checked by the
 * caller.
 */
int sx_instance_get(const char *instance, const char *target, int timeout_ms, char **body, char *why,
		    size_t why_bytes);

/* The same; post: the body of a POST, a string; NULL: a GET. */
int sx_instance_ask(const char *instance, const char *target, const char *post, int timeout_ms, char **body,
		    char *why, size_t why_bytes);

/*
 * Calls take() with the name of every folder that has a status socket, place by place, in no order within
 * one; a name that lies in two places comes twice. Names are as they lie on disk, unchecked.
 */
void sx_instances_find(void (*take)(void *user, const char *name), void *user);

/* The same for bridges (stixel-bridge), which have folders of their own in these places. */
void sx_bridges_find(void (*take)(void *user, const char *name), void *user);
int sx_bridge_get(const char *bridge, const char *target, int timeout_ms, char **body, char *why,
		  size_t why_bytes);

/*
 * Calls take() with the name of every ring in shared memory, in no order, but not with those that an instance
 * offers beside its own (NAME.pairs where NAME has one). Names as above. trusted: a regular file whose owner
 * is trusted with that name (base/places.h); any user may make others.
 */
void sx_instances_find_rings(void (*take)(void *user, const char *name, bool trusted), void *user);

#endif
