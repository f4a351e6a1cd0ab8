/*
 * Reader's side of the ring. Maps an object read-only, or reads it through its descriptor if another user may
 * cut it short. Trusts none of its content. Copies frames under the seqlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/read_at.h"
#include "base/runtime_dirs.h"
#include "ipc/check.h"
#include "ipc/client/reader.h"
#include "ipc/process.h"

/* Atomics must be lock-free: a reader cannot take a lock on a page that it may not write. */
_Static_assert(__GCC_ATOMIC_LLONG_LOCK_FREE == 2, "64-bit loads and stores must be lock-free");

int sx_buffer_reserve(struct sx_buffer *b, size_t bytes)
{
	uint8_t *p;

	sx_must_or(return -EINVAL, bytes, >, 0);
	if (bytes <= b->room)
		return 0;
	p = malloc(bytes);
	if (!p)
		return -ENOMEM;
	if (b->bytes)
		memcpy(p, b->bytes, b->room);
	free(b->bytes);
	b->bytes = p;
	b->room = bytes;
	return 0;
}

/* ---- attaching ---- */

static bool owner_trusted(uid_t uid, const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return sx_runtime_dir_trusts(uid, strncmp(name, "stixeld.", 8) == 0 ? name + 8 : "");
}

static int map_object(struct sx_map *m, const char *path, unsigned flags)
{
	struct stat st;
	bool trusted;
	size_t bytes;
	void *base;
	ssize_t n;
	int r;

	sx_must_or(return -EINVAL, m->fd, ==, -1);
	m->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (m->fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EPROTO : -errno; /* a link or a socket */
	if (fstat(m->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EPROTO;
	trusted = owner_trusted(st.st_uid, path);
	if (!trusted && !(flags & STIXEL_OPEN_ANY_OWNER))
		return -EPERM;
	/*
	 * Another user with write permission may cut the object short. The kernel sends SIGBUS to a process that
	 * accesses a mapped page beyond the new end.
	 */
	m->foreign = !trusted || st.st_mode & (S_IWGRP | S_IWOTH);
	/* The header is read and not mapped: if the file shrinks meanwhile, the read fails without a SIGBUS. */
	n = sx_read_at(m->fd, &m->header, sizeof(m->header), 0);
	if (n != (ssize_t)sizeof(m->header))
		return n < 0 ? (int)n : -EPROTO;
	r = sx_ring_check(&m->header, STIXEL_RING_MAGIC, (uint64_t)st.st_size);
	if (r < 0)
		return r;
	m->header.version[sizeof(m->header.version) - 1] = 0;
	m->header.stream_path[sizeof(m->header.stream_path) - 1] = 0;
	bytes = m->foreign ? m->header.live_offset + sizeof(*m->live) : (size_t)m->header.total_bytes;
	base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, m->fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	m->base = base;
	m->bytes = bytes;
	m->live = (const struct stixel_ring_live *)(m->base + m->header.live_offset);
	return 0;
}

/* A pidfd of the publisher's process reports its death at once, and is safe against a reused pid. */
static void watch_process(struct sx_map *m)
{
	pid_t pid = (pid_t)m->header.pid;
	uint64_t start;

	sx_must_or(return, m->pid_fd, ==, -1);
	m->same_namespace =
		pid > 0 && m->header.pid_namespace && m->header.pid_namespace == sx_process_namespace();
	if (!m->same_namespace)
		return;
#ifdef SYS_pidfd_open
	m->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (m->pid_fd < 0 && errno == ESRCH)
		m->died = true;
#endif
	/* After the pidfd was opened: what is read now stays valid for it. */
	start = sx_process_start(pid);
	if (start && m->header.pid_start_ticks && start != m->header.pid_start_ticks) {
		/*
		 * Most likely another process has the pid. In a sandbox with a separate /proc it may still be
		 * the publisher: the heartbeat decides.
		 */
		m->same_namespace = false;
		m->stranger = true;
	}
}

int sx_map_attach(struct sx_map *m, const char *path, unsigned flags)
{
	enum stixel_publisher health;
	int r;

	memset(m, 0, sizeof(*m));
	m->fd = m->pid_fd = -1;
	r = map_object(m, path, flags);
	if (r < 0)
		goto fail;
	watch_process(m);
	health = sx_map_health(m, path, sx_now_ns());
	if (health != STIXEL_PUBLISHER_ALIVE && health != STIXEL_PUBLISHER_STALLED &&
	    !(flags & STIXEL_OPEN_LEFTOVER)) {
		r = -EPIPE;
		goto fail;
	}
	return 0;
fail:
	sx_map_detach(m);
	return r;
}

void sx_map_detach(struct sx_map *m)
{
	if (m->base)
		munmap((void *)(uintptr_t)m->base, m->bytes);
	if (m->fd >= 0)
		close(m->fd);
	if (m->pid_fd >= 0)
		close(m->pid_fd);
	memset(m, 0, sizeof(*m));
	m->fd = m->pid_fd = -1;
}

/* ---- the live part ---- */

bool sx_map_cut(const struct sx_map *m)
{
	struct stat st = {0};

	if (!m->foreign)
		return false;
	fstat(m->fd, &st);
	return (uint64_t)st.st_size < m->header.total_bytes;
}

/* Reads the live part of a foreign ring. All zero if it was cut off. */
static struct stixel_ring_live map_read_live(const struct sx_map *m)
{
	struct stixel_ring_live live;

	if (!sx_read_whole_at(m->fd, &live, sizeof(live), m->header.live_offset))
		memset(&live, 0, sizeof(live));
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* same order as the loads below */
	return live;
}

uint64_t sx_map_head(const struct sx_map *m)
{
	return m->foreign ? map_read_live(m).head : __atomic_load_n(&m->live->head, __ATOMIC_ACQUIRE);
}

uint32_t sx_map_state(const struct sx_map *m)
{
	return m->foreign ? map_read_live(m).state : __atomic_load_n(&m->live->state, __ATOMIC_ACQUIRE);
}

int64_t sx_map_beat_ns(const struct sx_map *m)
{
	return m->foreign ? map_read_live(m).heartbeat_ns
			  : __atomic_load_n(&m->live->heartbeat_ns, __ATOMIC_ACQUIRE);
}

uint32_t sx_map_bell(const struct sx_map *m)
{
	return m->foreign ? map_read_live(m).bell : __atomic_load_n(&m->live->bell, __ATOMIC_ACQUIRE);
}

uint64_t sx_map_oldest(const struct sx_map *m, uint64_t head)
{
	/* The writer may be storing frame head + 1 into its slot now. */
	uint64_t kept = m->header.slot_count - 1;

	sx_must_or(return head, kept, >, 0);
	return head > kept ? head - kept + 1 : 1;
}

/* ---- reading slots, addressed by their offset in the object ---- */

/* Returns the header of a slot. Only for a ring that is mapped whole. */
static const struct stixel_ring_slot *slot_at(const struct sx_map *m, uint64_t at)
{
	return (const struct stixel_ring_slot *)(m->base + at);
}

/*
 * Reads the slot header of frame n. Returns 0, -EAGAIN (a newer frame has overwritten it), -EBADMSG (damaged)
 * or -EPROTO (cut short).
 */
static int slot_load(const struct sx_map *m, uint64_t at, uint64_t n, struct stixel_ring_slot *ret)
{
	if (!m->foreign)
		ret->sequence = __atomic_load_n(&slot_at(m, at)->sequence, __ATOMIC_ACQUIRE);
	else if (!sx_read_whole_at(m->fd, ret, sizeof(*ret), at))
		return -EPROTO;
	if (ret->sequence > 2 * n)
		return -EAGAIN;
	if (ret->sequence < 2 * n) /* although head says that frame n is complete */
		return -EBADMSG;
	if (m->foreign)
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* same order as the load above */
	else
		ret->frame_bytes = __atomic_load_n(&slot_at(m, at)->frame_bytes, __ATOMIC_RELAXED);
	return 0;
}

/*
 * Copies with relaxed atomic loads. The writer may be storing the same words; the reader then discards the
 * copy.
 */
static void map_load_words(uint8_t *to, const uint64_t *from, size_t bytes)
{
	uint64_t word;

	sx_must_or(return, bytes % 8, ==, 0);
	for (size_t i = 0; i < bytes / 8; i++) {
		word = __atomic_load_n(from + i, __ATOMIC_RELAXED);
		memcpy(to + 8 * i, &word, 8);
	}
}

static int slot_copy(const struct sx_map *m, uint64_t at, uint8_t *to, size_t bytes)
{
	at += m->header.slot_header_bytes;
	if (m->foreign)
		return sx_read_whole_at(m->fd, to, bytes, at) ? 0 : -EPROTO;
	map_load_words(to, (const uint64_t *)(m->base + at), bytes);
	return 0;
}

/* False: since the sequence was loaded, the writer has replaced the slot's frame or is replacing it. */
static bool slot_still(const struct sx_map *m, uint64_t at, uint64_t sequence)
{
#ifdef STIXEL_TEST_NO_RECHECK
	/* Positive control of the kill test: without the second check the test must see damage. */
	(void)m;
	(void)at;
	(void)sequence;
	return true;
#else
	uint64_t now = 0;

	/* Orders the copy before this load. Acquire on the load would order only later accesses. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!m->foreign)
		now = __atomic_load_n(&slot_at(m, at)->sequence, __ATOMIC_RELAXED);
	else if (!sx_read_whole_at(m->fd, &now, sizeof(now), at))
		return false;
	return now == sequence;
#endif
}

int sx_map_read(const struct sx_map *m, uint64_t n, struct sx_buffer *to, struct stixel_frame *frame)
{
	const struct stixel_ring_header *h = &m->header;
	const uint64_t at = h->slots_offset + (n & (h->slot_count - 1)) * h->slot_stride;
	struct stixel_ring_slot slot;
	size_t bytes;
	int r;

	sx_must_or(return -EINVAL, at + h->slot_stride, <=, h->total_bytes);
	r = slot_load(m, at, n, &slot);
	if (r < 0)
		return r;
	if (slot.frame_bytes > h->frame_capacity || slot.frame_bytes < STIXEL_HEADER_BYTES_LEAST ||
	    slot.frame_bytes % 8)
		return slot_still(m, at, slot.sequence) ? -EBADMSG : -EAGAIN;
	bytes = (size_t)slot.frame_bytes;
	r = sx_buffer_reserve(to, bytes);
	if (r < 0)
		return r;
	r = slot_copy(m, at, to->bytes, bytes);
	if (r < 0)
		return r;
	if (!slot_still(m, at, slot.sequence))
		return -EAGAIN;
	r = sx_frame_check(frame, to->bytes, bytes);
	if (r == 0 && (frame->header->number != n || frame->header->epoch != h->epoch))
		r = -EBADMSG;
	return r < 0 ? -EBADMSG : 0;
}

/* ---- the publisher's health, and sleeping ---- */

static bool process_gone(struct sx_map *m)
{
	struct pollfd p = {.fd = m->pid_fd, .events = POLLIN};

	if (m->died || !m->same_namespace)
		return m->died;
	if (m->pid_fd >= 0)
		m->died = poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
	else
		m->died = kill((pid_t)m->header.pid, 0) < 0 && errno == ESRCH;
	return m->died;
}

/*
 * True if the name leads to another object now. A removed name without a successor is ignored: a clean-up may
 * have removed it.
 */
static bool replaced(const struct sx_map *m, const char *path)
{
	struct stat mine, named;

	return fstat(m->fd, &mine) == 0 && mine.st_nlink == 0 && stat(path, &named) == 0 &&
	       (named.st_ino != mine.st_ino || named.st_dev != mine.st_dev);
}

enum stixel_publisher sx_map_health(struct sx_map *m, const char *path, int64_t now_ns)
{
	uint32_t state = sx_map_state(m);
	int64_t beat_ns = sx_map_beat_ns(m);
	int64_t period_ns = (int64_t)m->header.heartbeat_period_ms * 1000000;

	sx_must_or(return STIXEL_PUBLISHER_DIED, m->fd, >=, 0);
	if (state == STIXEL_STATE_REPLACED)
		return STIXEL_PUBLISHER_REPLACED;
	if (state == STIXEL_STATE_CLOSED)
		return STIXEL_PUBLISHER_ENDED;
	if (replaced(m, path))
		return STIXEL_PUBLISHER_REPLACED;
	if (process_gone(m) || sx_map_cut(m))
		return STIXEL_PUBLISHER_DIED;
	/* Compares without a difference: a damaged heartbeat may hold any number. */
	if (beat_ns >= now_ns - 3 * period_ns)
		return STIXEL_PUBLISHER_ALIVE;
	return m->stranger ? STIXEL_PUBLISHER_DIED : STIXEL_PUBLISHER_STALLED;
}

int sx_map_sleep(const struct sx_map *m, uint32_t seen, int64_t until_ns)
{
	struct timespec until = {until_ns / SX_NS_PER_S, until_ns % SX_NS_PER_S};
	struct timespec moment = {0, 1000000};

	sx_must_or(return 0, until_ns, >, 0);
	if (syscall(SYS_futex, &m->live->bell, FUTEX_WAIT_BITSET, seen, &until, NULL,
		    FUTEX_BITSET_MATCH_ANY) == 0 ||
	    errno == EAGAIN || errno == ETIMEDOUT)
		return 0;
	if (errno == EINTR)
		return -EINTR;
	/* The sandbox has no futex on shared pages, or the page was cut off: check every millisecond. */
	return nanosleep(&moment, NULL) < 0 ? -EINTR : 0;
}
