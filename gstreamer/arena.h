/*
 * Memory of one side's images: a sealed memory file, divided into slots of one image each. Elements upstream
 * write into the slots, and the daemon maps the file.
 *
 * An arena is a GstAllocator: each of its memories holds a reference to it, so that the file stays mapped until
 * the last memory is freed. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GSTREAMER_ARENA_H
#define SX_GSTREAMER_ARENA_H

#include <gst/gst.h>

G_DECLARE_FINAL_TYPE(StixelArena, sx_arena, SX, ARENA, GstAllocator)

/*
 * Makes an arena for images of image_bytes bytes. Elements upstream get up to `lent` slots; `kept` further slots
 * are for copies; 64 together at most. Negative errno if the system gives no shared memory.
 */
int sx_arena_new(StixelArena **arena, gsize image_bytes, guint lent, guint kept);
/* Returns the descriptor of the file, which belongs to the arena. */
int sx_arena_fd(const StixelArena *arena);
/* Returns the size of the file, bytes. */
guint64 sx_arena_bytes(const StixelArena *arena);
/* Returns a slot for a copy, or NULL: all are in use. */
GstMemory *sx_arena_copy(StixelArena *arena);
/* Returns true if the memory is a slot of this arena. *offset: offset of the slot in the file, bytes. */
gboolean sx_arena_has(const StixelArena *arena, const GstMemory *memory, guint64 *offset);

#endif
