/*
 * Decides whether the object at a ring's name may be replaced, and informs its readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/stale_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/read_at.h"
#include "base/why.h"
#include "ipc/process.h"

#define GOING_NS SX_NS_PER_S /* a large process may need this time to end after SIGKILL */
/* 3.5 heartbeats, if the heartbeat is the only information about the publisher */
#define BEATS_NS (SX_NS_PER_S * 7 / 2)

void sx_stale_ring_open(struct sx_stale_ring *e, const char *path, uint64_t magic)
{
	struct stat st;
	int fd;

	*e = (struct sx_stale_ring){.fd = -1};
	if (lstat(path, &st) < 0)
		return;
	e->exists = true;
	e->user = st.st_uid;
	e->other_user = st.st_uid != geteuid();
	fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    sx_read_whole_at(fd, &e->header, sizeof(e->header), 0) && e->header.magic == magic &&
	    e->header.abi_major == STIXEL_ABI_MAJOR && e->header.live_offset == STIXEL_RING_LIVE_OFFSET &&
	    sx_read_whole_at(fd, &e->live, sizeof(e->live), STIXEL_RING_LIVE_OFFSET)) {
		e->fd = fd;
		e->is_ring = true;
		e->unseen = e->header.pid_namespace && e->header.pid_namespace != sx_process_namespace();
		e->user = st.st_uid;
		e->other_user = st.st_uid != geteuid();
	} else {
		close(fd);
	}
}

void sx_stale_ring_close(struct sx_stale_ring *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

/*
 * True if the publisher that the ring names runs: a process of the ring's owner with the ring's start time.
 */
static bool process_runs(const struct sx_stale_ring *e)
{
	const struct stixel_ring_header *h = &e->header;
	uid_t user;

	sx_must_or(return false, e->is_ring, ==, true);
	if (e->unseen) /* the publisher is in another container, which shares the folder of the rings */
		return !e->other_user;
	if (!h->pid || h->pid > INT_MAX || (pid_t)h->pid == getpid() ||
	    h->pid_namespace != sx_process_namespace())
		return false;
	return sx_process_user((pid_t)h->pid, &user) && user == e->user && h->pid_start_ticks &&
	       sx_process_start((pid_t)h->pid) == h->pid_start_ticks;
}

static bool publishes(const struct sx_stale_ring *e)
{
	const int64_t now_ns = sx_now_ns(), beat_ns = e->live.heartbeat_ns;

	if (!e->is_ring || e->live.state == STIXEL_STATE_CLOSED || e->live.state == STIXEL_STATE_REPLACED)
		return false;
	/*
	 * Compared without a difference, as a heartbeat may hold any number. A heartbeat in the future is
	 * invalid.
	 */
	return beat_ns <= now_ns &&
	       beat_ns >= now_ns - 3 * (int64_t)e->header.heartbeat_period_ms * 1000000 && process_runs(e);
}

int sx_stale_ring_check(const struct sx_stale_ring *e, bool exclusive, const char *path, struct sx_why *why)
{
	if (!(e->other_user || exclusive) || !publishes(e))
		return 0;
	/*
	 * Daemons with different runtime folders have different locks but share the name: none may take it
	 * from another.
	 */
	return sx_why_fail(-EADDRINUSE, why, "%s belongs to process %u%s, which is running", path,
			   e->header.pid,
			   e->other_user ? " of another user"
			   : e->unseen	 ? " of another pid namespace"
					 : "");
}

int64_t sx_stale_ring_wait_ns(const struct sx_stale_ring *first)
{
	const int64_t now_ns = sx_now_ns();

	if (!first->is_ring || first->other_user)
		return now_ns;
	return now_ns + (first->unseen ? BEATS_NS : GOING_NS);
}

static const char *user_name(uid_t user, char *text, size_t bytes)
{
	struct passwd entry, *found = NULL;

	return getpwuid_r(user, &entry, text, bytes, &found) == 0 && found ? entry.pw_name : "unknown";
}

int sx_stale_ring_keeps(const struct sx_stale_ring *e, const char *path, int error, struct sx_why *why)
{
	char text[1024];

	if (!e->other_user)
		return sx_why_fail(error, why, "cannot name %s: %s", path, strerror(-error));
	return sx_why_fail(
		error, why,
		"%s belongs to another user, %s (uid %u), and cannot be replaced: %s; root or that user has "
		"to remove it",
		path, user_name(e->user, text, sizeof(text)), (unsigned)e->user, strerror(-error));
}

void sx_stale_ring_retire(const struct sx_stale_ring *e)
{
	const off_t at = STIXEL_RING_LIVE_OFFSET;
	const uint32_t state = STIXEL_STATE_REPLACED;
	uint32_t bell;
	uint8_t *page;

	if (e->fd < 0 || !sx_read_whole_at(e->fd, &bell, sizeof(bell),
					   (uint64_t)at + offsetof(struct stixel_ring_live, bell)))
		return;
	bell++;
	(void)!pwrite(e->fd, &state, sizeof(state), at + (off_t)offsetof(struct stixel_ring_live, state));
	(void)!pwrite(e->fd, &bell, sizeof(bell), at + (off_t)offsetof(struct stixel_ring_live, bell));
	/* Mapped only for its address, by which the kernel identifies the waiters. */
	page = mmap(NULL, STIXEL_RING_SLOTS_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd, 0);
	if (page == MAP_FAILED)
		return;
	syscall(SYS_futex, page + at + offsetof(struct stixel_ring_live, bell), FUTEX_WAKE, INT_MAX, NULL,
		NULL, 0);
	munmap(page, STIXEL_RING_SLOTS_OFFSET);
}

void sx_stale_ring_tell(const struct sx_stale_ring *e, const char *path, struct sx_why *why)
{
	char text[1024];

	if (e->is_ring)
		sx_why_set(why, "%s was taken by process %u", path, e->header.pid);
	else
		sx_why_set(why, "%s was replaced by something else, of user %s (uid %u)", path,
			   user_name(e->user, text, sizeof(text)), (unsigned)e->user);
}
