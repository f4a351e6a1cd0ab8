/*
 * Finds and opens the ring of a feed, without trust.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/feed_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/read_at.h"
#include "base/why.h"
#include "ipc/check.h"
#include "ipc/feed/trust.h"

/* Adds a path. A path that does not fit is left out. */
static void add_dir(struct sx_feed_dirs *dirs, const char *folder, const char *name)
{
	char *path = dirs->path[dirs->count];
	int n;

	sx_must_index(dirs->count, SX_FEED_DIRS);
	n = snprintf(path, sizeof(dirs->path[0]), "%s/%s%s", folder, dirs->words->prefix, name);
	dirs->count += n > 0 && (size_t)n < sizeof(dirs->path[0]);
}

bool sx_feed_dirs_init(struct sx_feed_dirs *dirs, const struct sx_feed_params *p, unsigned writers)
{
	char folder[384];

	dirs->words = sx_feed_words(p->kind);
	dirs->writers = writers;
	dirs->count = 0;
	if (p->shm_dir)
		add_dir(dirs, p->shm_dir, p->name);
	else
		for (enum sx_feed_dir dir = SX_FEED_SYSTEM; dir < SX_FEED_DIRS; dir++)
			if (sx_feed_dir(dir, folder, sizeof(folder)))
				add_dir(dirs, folder, p->name);
	return dirs->count > 0;
}

/*
 * Opens a path. Returns -ENOENT if there is no object or the folder is closed to this user. Other errors come
 * with a message in why.
 */
static int open_path(const struct sx_feed_dirs *dirs, const char *path, int *fd, struct stat *st,
		     struct sx_why *why)
{
	*fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	if (*fd < 0 && errno == EACCES)
		return lstat(path, st) < 0 && path != dirs->path[0]
			       ? -ENOENT
			       : sx_feed_forbidden(path, dirs->writers, why);
	if (*fd < 0 || fstat(*fd, st) < 0)
		return sx_why_fail(-errno, why, "cannot open %s: %s", path, strerror(errno));
	if (!S_ISREG(st->st_mode))
		return sx_why_fail(-EPROTO, why, "%s is not a regular file", path);
	return sx_feed_trust(st, dirs->writers, path, why);
}

static int open_ring(const struct sx_feed_dirs *dirs, int dir, struct sx_feed_ring *ring, struct sx_why *why)
{
	const char *path = dirs->path[dir];
	struct stat st;
	int r = open_path(dirs, path, &ring->fd, &st, why);

	sx_must_index(dir, dirs->count);
	if (r < 0)
		goto fail;
	r = sx_read_whole_at(ring->fd, &ring->header, sizeof(ring->header), 0)
		    ? sx_ring_check(&ring->header, dirs->words->magic, (uint64_t)st.st_size)
		    : -EPROTO;
	if (r == 0 && ring->header.slot_count > STIXEL_SCORES_SLOTS_MAX)
		r = -EPROTO;
	if (r < 0) {
		sx_why_fail(r, why,
			    r == -EPROTO ? "%s is no ring of %s, or a damaged one"
					 : "%s, a ring of %s, is of another major version or byte order",
			    path, dirs->words->many);
		goto fail;
	}
	ring->dir = dir;
	ring->device = st.st_dev;
	ring->inode = st.st_ino;
	return 0;
fail:
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
	return r;
}

/* Writes a message to why that names the first path and the last one: no ring exists there. */
static void tell_absence(const struct sx_feed_dirs *dirs, struct sx_why *why)
{
	const char *many = dirs->words->many, *first = dirs->path[0];

	sx_must(dirs->count, >, 0);
	if (dirs->count == 1)
		sx_why_set(why, "no process writes %s: there is no %s", many, first);
	else
		sx_why_set(why, "no process writes %s: there is no %s, nor %s", many, first,
			   dirs->path[dirs->count - 1]);
}

bool sx_feed_find(const struct sx_feed_dirs *dirs, struct sx_feed_ring *ring, const char **path,
		  struct sx_why *why)
{
	struct sx_why passed;
	bool there = false;

	for (int i = 0; i < dirs->count; i++) {
		const int r = open_ring(dirs, i, ring, there ? &passed : why);

		if (r != -ENOENT && (r == 0 || !there))
			*path = dirs->path[i];
		there = there || r != -ENOENT;
		if (r == 0)
			return true;
	}
	if (!there) {
		*path = dirs->path[0];
		tell_absence(dirs, why);
	}
	return there;
}

bool sx_feed_find_other(const struct sx_feed_dirs *dirs, const struct sx_feed_ring *ring, bool gone)
{
	const int end = gone ? dirs->count : ring->dir;
	struct sx_why why;
	struct sx_feed_ring other;

	sx_must(ring->fd, >=, 0);
	for (int i = 0; i < end; i++)
		if (i != ring->dir && open_ring(dirs, i, &other, &why) == 0) {
			close(other.fd);
			return true;
		}
	return false;
}
