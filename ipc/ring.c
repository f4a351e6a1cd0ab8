/*
 * The ring's writer: creates the object, publishes frames, removes the object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/wake.h"
#include "base/why.h"
#include "ipc/instance.h"
#include "ipc/process.h"
#include "ipc/stale_ring.h"

/* Atomics must be lock-free: a reader cannot take a lock on a page that it may not write. */
_Static_assert(__GCC_ATOMIC_LLONG_LOCK_FREE == 2, "64-bit loads and stores must be lock-free");
_Static_assert(sizeof(struct stixel_ring_header) <= STIXEL_RING_LIVE_OFFSET,
	       "header runs into the live part");

#define LOOK_US 20000	  /* time between two checks of the previous owner of the name, us */
#define FEW 8		  /* most readers woken in one call */
#define SLOW_NS 100000	  /* a wake of up to FEW readers that takes longer is slow, ns */
#define CALM SX_RING_CALM /* after this many calm wakes the publisher wakes the readers itself */

struct sx_ring {
	char path[512], temporary[512];
	const char *dir, *prefix;
	uint64_t magic;
	int fd;
	uint8_t *map;
	size_t bytes;
	struct stixel_ring_live *live;
	uint64_t epoch, head, slot_mask;
	uint32_t slot_stride, frame_capacity;
	bool named; /* path is our object; the temporary name is gone */
	bool begun; /* a frame was begun; kept here because other processes may write to the map */
	bool quiet;
	bool owed;     /* the helper thread has to wake readers that still sleep: sx_ring_pass_wake() */
	int waker_fd;  /* eventfd of the helper thread; -1: the publisher wakes all readers itself */
	unsigned calm; /* number of wakes in a row that were few and quick, at most CALM */
	dev_t device;
	ino_t inode;
};

int sx_ring_wake(struct sx_ring *r, int most)
{
	sx_must_or(return 0, most, >, 0);
	/* Without FUTEX_PRIVATE_FLAG, because the waiters are other processes. */
	return (int)syscall(SYS_futex, &r->live->bell, FUTEX_WAKE, most, NULL, NULL, 0);
}

bool sx_ring_wake_few(struct sx_ring *r)
{
	const int64_t begun_ns = sx_now_ns();
	const bool more = sx_ring_wake(r, FEW) == FEW;
	const unsigned calm = __atomic_load_n(&r->calm, __ATOMIC_RELAXED);

	sx_must_or(return more, calm, <=, CALM);
	/*
	 * A wake of few readers can be slow, too: waiters on another futex may be in the same list of the
	 * kernel.
	 */
	if (more || sx_now_ns() - begun_ns > SLOW_NS)
		__atomic_store_n(&r->calm, 0, __ATOMIC_RELAXED);
	else if (calm < CALM)
		__atomic_store_n(&r->calm, calm + 1, __ATOMIC_RELAXED);
	return more;
}

/*
 * Changes the bell. If the last wakes were few and quick, also wakes a few readers; without a helper thread,
 * all readers. Returns true if the helper thread has to wake the readers, or the rest of them.
 */
static bool change_bell(struct sx_ring *r)
{
	__atomic_fetch_add(&r->live->bell, 1, __ATOMIC_RELEASE);
	if (r->quiet)
		return false;
	if (r->waker_fd >= 0)
		return __atomic_load_n(&r->calm, __ATOMIC_RELAXED) < CALM || sx_ring_wake_few(r);
	sx_ring_wake(r, INT_MAX);
	return false;
}

static void ask_waker(const struct sx_ring *r)
{
	sx_wake(r->waker_fd);
}

/* ---- making the object ---- */

static int check_params(const struct sx_ring_params *p, struct sx_why *why)
{
	int r = sx_instance_check(p->instance, why);

	if (r < 0)
		return r;
	if (p->slots < 2 || p->slots > SX_RING_SLOTS_MAX || (p->slots & (p->slots - 1)))
		return sx_why_fail(-EINVAL, why,
				   "the ring has %d slots, allowed are powers of two from 2 to %d", p->slots,
				   SX_RING_SLOTS_MAX);
	if (p->frame_bytes < sizeof(struct stixel_frame_header) || p->frame_bytes > STIXEL_FRAME_BYTES_MAX)
		return sx_why_fail(-EINVAL, why,
				   "a frame of %zu bytes does not fit into the ring, %u are allowed",
				   p->frame_bytes, STIXEL_FRAME_BYTES_MAX);
	if (!p->epoch)
		return sx_why_fail(-EINVAL, why, "the ring has no epoch");
	if (p->stream_path && strlen(p->stream_path) >= sizeof(((struct stixel_ring_header *)0)->stream_path))
		return sx_why_fail(-ENAMETOOLONG, why, "the path %s is too long for the ring's header",
				   p->stream_path);
	return 0;
}

static int name_paths(struct sx_ring *r, const struct sx_ring_params *p, struct sx_why *why)
{
	int a = snprintf(r->path, sizeof(r->path), "%s/%s%s", r->dir, r->prefix, p->instance);
	int b = snprintf(r->temporary, sizeof(r->temporary), "%s/.%s%s.%016llx", r->dir, r->prefix,
			 p->instance, (unsigned long long)p->epoch);

	if ((size_t)a >= sizeof(r->path) || (size_t)b >= sizeof(r->temporary)) {
		r->temporary[0] = 0;
		return sx_why_fail(-ENAMETOOLONG, why, "the path of the ring is too long");
	}
	return 0;
}

/* Removes unfinished objects of earlier lives that were killed between creating an object and naming it. */
static void sweep(const struct sx_ring *r, const char *instance)
{
	char prefix[96];
	size_t n = (size_t)snprintf(prefix, sizeof(prefix), ".%s%s.", r->prefix, instance);
	struct dirent *entry;
	struct stat st;
	DIR *d = opendir(r->dir);

	while (d && (entry = readdir(d))) {
		const char *rest = entry->d_name + n;

		if (strncmp(entry->d_name, prefix, n) != 0 || strlen(rest) != 16 ||
		    strspn(rest, "0123456789abcdef") != 16)
			continue;
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    st.st_uid == geteuid())
			unlinkat(dirfd(d), entry->d_name, 0);
	}
	if (d)
		closedir(d);
}

static int make_object(struct sx_ring *r, const struct sx_ring_params *p, struct sx_why *why)
{
	struct stat st;
	int e;

	sx_must_or(return -EINVAL, r->fd, ==, -1);
	r->fd = open(r->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (r->fd < 0) {
		e = -errno;
		r->temporary[0] = 0;
		return sx_why_fail(e, why, "cannot create %s: %s", r->path, strerror(-e));
	}
	/* ftruncate() would succeed on a full tmpfs, and the first access to a page would be a SIGBUS. */
	do
		e = posix_fallocate(r->fd, 0, (off_t)r->bytes);
	while (e == EINTR);
	if (e)
		return sx_why_fail(-e, why, "cannot reserve %zu bytes of shared memory for %s: %s", r->bytes,
				   r->path, strerror(e));
	if (p->group != (gid_t)-1 && fchown(r->fd, (uid_t)-1, p->group) < 0)
		return sx_why_fail(-errno, why, "cannot give %s to group %u: %s", r->path, (unsigned)p->group,
				   strerror(errno));
	if (fchmod(r->fd, p->mode ? p->mode : 0640) < 0 || fstat(r->fd, &st) < 0)
		return sx_why_fail(-errno, why, "cannot set the mode of %s: %s", r->path, strerror(errno));
	r->device = st.st_dev;
	r->inode = st.st_ino;
	r->map = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, 0);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return sx_why_fail(-errno, why, "cannot map %s: %s", r->path, strerror(errno));
	}
	/*
	 * A page fault while publishing would cost time, not correctness. So mlock() may fail: the limit on
	 * locked memory may be small.
	 */
	(void)!mlock(r->map, r->bytes);
	return 0;
}

static void fill_header(struct sx_ring *r, const struct sx_ring_params *p)
{
	struct stixel_ring_header h = {
		.abi_major = STIXEL_ABI_MAJOR,
		.abi_minor = STIXEL_ABI_MINOR,
		.header_bytes = sizeof(h),
		.total_bytes = r->bytes,
		.slot_count = (uint32_t)p->slots,
		.slot_stride = r->slot_stride,
		.slots_offset = STIXEL_RING_SLOTS_OFFSET,
		.slot_header_bytes = sizeof(struct stixel_ring_slot),
		.frame_capacity = r->frame_capacity,
		.live_offset = STIXEL_RING_LIVE_OFFSET,
		.endian = STIXEL_ENDIAN,
		.pid = (uint32_t)getpid(),
		.epoch = p->epoch,
		.pid_namespace = sx_process_namespace(),
		.pid_start_ticks = sx_process_start(getpid()),
		.started_ns = sx_now_ns(),
		.anchor_monotonic_ns = sx_now_ns(),
		.anchor_realtime_ns = sx_clock_ns(CLOCK_REALTIME),
		.flags = p->flags,
		.heartbeat_period_ms = p->heartbeat_period_ms > 0 ? (uint32_t)p->heartbeat_period_ms : 1000,
	};

	sx_must_or(return, STIXEL_RING_SLOTS_OFFSET + (uint64_t)p->slots * r->slot_stride, <=, r->bytes);
	snprintf(h.instance, sizeof(h.instance), "%s", p->instance);
	snprintf(h.version, sizeof(h.version), "%s", SX_VERSION);
	snprintf(h.stream_path, sizeof(h.stream_path), "%s", p->stream_path ? p->stream_path : "");
	h.magic = r->magic;
	memcpy(r->map, &h, sizeof(h));
	r->live = (struct stixel_ring_live *)(r->map + STIXEL_RING_LIVE_OFFSET);
	r->live->heartbeat_ns = h.started_ns;
}

/*
 * Checks the object that has the name. A process that was just killed may still exist for a moment, with a
 * heartbeat that no longer changes. The function waits for its end, so that a start right after SIGKILL
 * succeeds.
 */
static int look_at_stale_ring(const struct sx_ring *r, struct sx_stale_ring *e, bool exclusive,
			      struct sx_why *why)
{
	int64_t beat_ns, until_ns;
	int err;

	sx_must_or(return -EINVAL, r->named, ==, false);
	sx_stale_ring_open(e, r->path, r->magic);
	beat_ns = e->live.heartbeat_ns;
	until_ns = sx_stale_ring_wait_ns(e);
	for (;;) {
		err = sx_stale_ring_check(e, exclusive, r->path, why);
		if (err == 0 || e->live.heartbeat_ns != beat_ns || sx_now_ns() >= until_ns)
			return err;
		usleep(LOOK_US);
		sx_stale_ring_close(e);
		sx_stale_ring_open(e, r->path, r->magic);
	}
}

/* Renames our object over the name. Also replaces an empty folder there. */
static int rename_over(const struct sx_ring *r)
{
	sx_must_or(return -EINVAL, r->named, ==, false);
	if (rename(r->temporary, r->path) == 0)
		return 0;
	if (errno != EISDIR)
		return -errno;
	if (rmdir(r->path) < 0)
		return -EISDIR;
	return rename(r->temporary, r->path) == 0 ? 0 : -errno;
}

static int take_name(struct sx_ring *r, bool exclusive, struct sx_why *why)
{
	struct sx_stale_ring e;
	int err = look_at_stale_ring(r, &e, exclusive, why), renamed;

	renamed = err == 0 ? rename_over(r) : 0;
	if (renamed < 0)
		err = sx_stale_ring_keeps(&e, r->path, renamed, why);
	if (err == 0) {
		r->named = true;
		/* after the rename, so that readers that wake up find the new object at once */
		sx_stale_ring_retire(&e);
	}
	sx_stale_ring_close(&e);
	return err;
}

int sx_ring_create(struct sx_ring **ret, const struct sx_ring_params *p, struct sx_why *why)
{
	struct sx_ring *r;
	int e = check_params(p, why);

	if (e < 0)
		return e;
	r = calloc(1, sizeof(*r));
	if (!r)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	r->fd = r->waker_fd = -1;
	r->quiet = p->quiet;
	r->dir = p->shm_dir ? p->shm_dir : "/dev/shm";
	r->prefix = p->prefix ? p->prefix : "stixeld.";
	r->magic = p->magic ? p->magic : STIXEL_RING_MAGIC;
	r->epoch = p->epoch;
	r->slot_mask = (uint64_t)p->slots - 1;
	r->frame_capacity = (uint32_t)((p->frame_bytes + 63) & ~(size_t)63);
	r->slot_stride = r->frame_capacity + (uint32_t)sizeof(struct stixel_ring_slot);
	r->bytes = STIXEL_RING_SLOTS_OFFSET + (size_t)p->slots * r->slot_stride;
	e = name_paths(r, p, why);
	if (e < 0)
		goto fail;
	sweep(r, p->instance);
	e = make_object(r, p, why);
	if (e < 0)
		goto fail;
	fill_header(r, p);
	e = take_name(r, p->exclusive, why);
	if (e < 0)
		goto fail;
	*ret = r;
	return 0;
fail:
	sx_ring_destroy(r);
	return e;
}

/* True if the object at the name is ours. st: of the object at the name. */
static bool is_ours(const struct sx_ring *r, const struct stat *st)
{
	return st->st_ino == r->inode && st->st_dev == r->device;
}

enum sx_ring_name sx_ring_look(const struct sx_ring *r, struct sx_why *why)
{
	struct sx_stale_ring other;
	struct stat st;

	if (lstat(r->path, &st) < 0) {
		if (errno != ENOENT)
			return SX_RING_NAMED;
		sx_why_set(why, "%s was removed", r->path);
		return SX_RING_LOST;
	}
	if (is_ours(r, &st))
		return SX_RING_NAMED;
	sx_stale_ring_open(&other, r->path, r->magic);
	sx_stale_ring_tell(&other, r->path, why);
	sx_stale_ring_close(&other);
	return SX_RING_TAKEN;
}

void sx_ring_unname(struct sx_ring *r)
{
	struct stat st;

	if (lstat(r->path, &st) == 0 && is_ours(r, &st))
		unlink(r->path);
}

void sx_ring_destroy(struct sx_ring *r)
{
	if (!r)
		return;
	r->waker_fd = -1; /* write to the eventfd no more: the helper thread that reads it may have ended */
	if (r->named) {
		sx_ring_unname(r);
		/* After the unlink: a woken reader that looks for a successor must not find this object. */
		__atomic_store_n(&r->live->state, STIXEL_STATE_CLOSED, __ATOMIC_RELEASE);
		change_bell(r);
	} else if (r->temporary[0]) {
		unlink(r->temporary);
	}
	if (r->map)
		munmap(r->map, r->bytes);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

/* ---- publishing ---- */

void sx_ring_store(void *to, const void *from, size_t bytes)
{
	uint64_t *words = to, word;

	sx_must_or(return, bytes % 8, ==, 0);
	for (size_t i = 0; i < bytes / 8; i++) {
		memcpy(&word, (const uint8_t *)from + 8 * i, 8);
		__atomic_store_n(words + i, word, __ATOMIC_RELAXED);
	}
}

static struct stixel_ring_slot *slot_of(const struct sx_ring *r, uint64_t n)
{
	return (struct stixel_ring_slot *)(r->map + STIXEL_RING_SLOTS_OFFSET +
					   (n & r->slot_mask) * r->slot_stride);
}

void *sx_ring_begin(struct sx_ring *r, uint64_t *number)
{
	uint64_t n = r->head + 1;
	struct stixel_ring_slot *slot = slot_of(r, n);

	__atomic_store_n(&slot->sequence, 2 * n - 1, __ATOMIC_RELAXED);
	/*
	 * Orders the odd sequence before the payload. Release on the store itself would order only earlier
	 * accesses.
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*number = n;
	r->begun = true;
	return slot + 1;
}

void sx_ring_commit(struct sx_ring *r, size_t bytes)
{
	uint64_t n = r->head + 1;
	struct stixel_ring_slot *slot = slot_of(r, n);

	sx_must_or(return, bytes, <=, r->frame_capacity);
	sx_must_or(return, r->begun, ==, true);
	r->begun = false;
	__atomic_store_n(&slot->frame_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->sequence, 2 * n, __ATOMIC_RELEASE);
	__atomic_store_n(&r->live->head, n, __ATOMIC_RELEASE);
	r->head = n;
	sx_ring_beat(r);
	if (change_bell(r))
		r->owed = true;
}

void sx_ring_pass_wake(struct sx_ring *r)
{
	if (r->owed)
		ask_waker(r);
	r->owed = false;
}

void sx_ring_set_waker(struct sx_ring *r, int eventfd)
{
	r->waker_fd = eventfd;
}

bool sx_ring_replaced(const struct sx_ring *r)
{
	return __atomic_load_n(&r->live->state, __ATOMIC_ACQUIRE) == STIXEL_STATE_REPLACED;
}

int sx_ring_publish(struct sx_ring *r, const void *frame, size_t bytes)
{
	struct stixel_frame_header h;
	uint64_t n = r->head + 1;

	if (bytes > r->frame_capacity)
		return -ENOBUFS;
	if (bytes < STIXEL_HEADER_BYTES_LEAST || bytes % 8)
		return -EINVAL;
	memcpy(&h, frame, STIXEL_HEADER_BYTES_LEAST);
	if (h.number != n || h.epoch != r->epoch || h.frame_bytes != bytes)
		return -EINVAL;
	sx_must_or(return -EINVAL, r->begun, ==, false);
	sx_ring_store(sx_ring_begin(r, &n), frame, bytes);
	sx_ring_commit(r, bytes);
	return 0;
}

void sx_ring_set_state(struct sx_ring *r, enum stixel_state state)
{
	sx_must_or(return, state, <=, STIXEL_STATE_REPLACED);
	sx_ring_beat(r);
	if (__atomic_exchange_n(&r->live->state, (uint32_t)state, __ATOMIC_ACQ_REL) != (uint32_t)state &&
	    change_bell(r))
		ask_waker(r);
}

void sx_ring_beat(struct sx_ring *r)
{
	__atomic_store_n(&r->live->heartbeat_ns, sx_now_ns(), __ATOMIC_RELEASE);
}

const char *sx_ring_path(const struct sx_ring *r)
{
	return r->path;
}

size_t sx_ring_bytes(const struct sx_ring *r)
{
	return r->bytes;
}
