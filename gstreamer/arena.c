/*
 * Memory of one side's images: a sealed memory file with a bit for each slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gstreamer/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u /* slots begin at a page, so that any alignment that an element wants is met */

struct _StixelArena {
	GstAllocator parent;
	GMutex lock; /* for `used` */
	guint64 used;
	guint lent, slots; /* slots 0..lent-1 are for elements upstream, lent..slots-1 for copies */
	gsize slot_bytes;
	int fd;
	guint8 *map;
};

struct arena_memory {
	GstMemory memory;
	guint slot;
};

G_DEFINE_TYPE(StixelArena, sx_arena, GST_TYPE_ALLOCATOR)

/* Takes the lowest free slot, so that only as many pages are in use as there are images at once. */
static GstMemory *arena_take(StixelArena *a, guint from, guint to, gsize bytes, GstMemoryFlags flags)
{
	struct arena_memory *m;
	guint slot = from;

	g_mutex_lock(&a->lock);
	while (slot < to && a->used >> slot & 1)
		slot++;
	if (slot < to)
		a->used |= G_GUINT64_CONSTANT(1) << slot;
	g_mutex_unlock(&a->lock);
	if (slot == to)
		return NULL;
	m = g_new0(struct arena_memory, 1);
	m->slot = slot;
	gst_memory_init(&m->memory, flags | GST_MEMORY_FLAG_NO_SHARE, GST_ALLOCATOR(a), NULL, a->slot_bytes,
			PAGE - 1, 0, bytes);
	return &m->memory;
}

/* An element that needs more memory gets the system's: it must not wait, and its images are copied. */
static GstMemory *arena_alloc(GstAllocator *allocator, gsize bytes, GstAllocationParams *params)
{
	StixelArena *a = SX_ARENA(allocator);
	GstMemory *m = NULL;

	if (params->prefix == 0 && params->align < PAGE && bytes + params->padding <= a->slot_bytes)
		m = arena_take(a, 0, a->lent, bytes, params->flags);
	return m ? m : gst_allocator_alloc(NULL, bytes, params);
}

static void arena_free(GstAllocator *allocator, GstMemory *memory)
{
	StixelArena *a = SX_ARENA(allocator);
	struct arena_memory *m = (struct arena_memory *)memory;

	g_mutex_lock(&a->lock);
	a->used &= ~(G_GUINT64_CONSTANT(1) << m->slot);
	g_mutex_unlock(&a->lock);
	g_free(m);
}

static gpointer arena_map(GstMemory *memory, gsize bytes, GstMapFlags flags)
{
	StixelArena *a = SX_ARENA(memory->allocator);

	return a->map + ((struct arena_memory *)memory)->slot * a->slot_bytes;
}

static void arena_unmap(GstMemory *memory)
{
}

static void arena_finalize(GObject *object)
{
	StixelArena *a = SX_ARENA(object);

	if (a->map)
		munmap(a->map, sx_arena_bytes(a));
	if (a->fd >= 0)
		close(a->fd);
	g_mutex_clear(&a->lock);
	G_OBJECT_CLASS(sx_arena_parent_class)->finalize(object);
}

static void sx_arena_class_init(StixelArenaClass *class)
{
	G_OBJECT_CLASS(class)->finalize = arena_finalize;
	GST_ALLOCATOR_CLASS(class)->alloc = arena_alloc;
	GST_ALLOCATOR_CLASS(class)->free = arena_free;
}

static void sx_arena_init(StixelArena *a)
{
	GstAllocator *allocator = GST_ALLOCATOR(a);

	allocator->mem_type = "StixelArena";
	allocator->mem_map = arena_map;
	allocator->mem_unmap = arena_unmap;
	g_mutex_init(&a->lock);
	a->fd = -1;
}

/* Makes the file. The daemon accepts a size that is final. Returns 0 or negative errno. */
static int arena_open(StixelArena *a)
{
	void *map;

	a->fd = memfd_create("stixelsink", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (a->fd < 0 || ftruncate(a->fd, (off_t)sx_arena_bytes(a)) < 0 ||
	    fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	map = mmap(NULL, sx_arena_bytes(a), PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	a->map = map;
	return 0;
}

int sx_arena_new(StixelArena **ret, gsize image_bytes, guint lent, guint kept)
{
	StixelArena *a = g_object_new(sx_arena_get_type(), NULL);
	int r;

	gst_object_ref_sink(a);
	a->slot_bytes = (image_bytes + PAGE - 1) / PAGE * PAGE;
	a->lent = lent;
	a->slots = lent + kept;
	r = arena_open(a);
	if (r < 0)
		gst_object_unref(a);
	else
		*ret = a;
	return r;
}

int sx_arena_fd(const StixelArena *a)
{
	return a->fd;
}

guint64 sx_arena_bytes(const StixelArena *a)
{
	return (guint64)a->slot_bytes * a->slots;
}

GstMemory *sx_arena_copy(StixelArena *a)
{
	return arena_take(a, a->lent, a->slots, a->slot_bytes, 0);
}

gboolean sx_arena_has(const StixelArena *a, const GstMemory *memory, guint64 *offset)
{
	if (memory->allocator != &a->parent)
		return FALSE;
	*offset = ((const struct arena_memory *)memory)->slot * (guint64)a->slot_bytes + memory->offset;
	return TRUE;
}
