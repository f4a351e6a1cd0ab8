/*
 * Tests the ring with bad objects, bad neighbours and full memory: the result is an error and a message,
 * never a crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/why.h"
#include "ipc/frame.h"
#include "tests/emulated.h"
#include "tests/ipc/ring_case.h"

static struct stixel_reader *open_reader(unsigned flags)
{
	struct stixel_reader *r = NULL;

	assert_int_equal(stixel_open_path(&r, path, flags), 0);
	return r;
}

static void publish_for_ever(uint64_t epoch, int pause_us)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 8, epoch);

	if (!ring)
		_exit(1);
	for (uint64_t n = 1;; n++) {
		help_publish(ring, &small, epoch, n);
		usleep((useconds_t)pause_us);
	}
}

static void parameters_are_checked(void **state)
{
	struct sx_ring_params good = help_params(dir, 1);
	struct sx_ring_params p;
	struct sx_ring *ring = NULL;
	struct sx_why why;

#define REFUSED(error, ...)                                               \
	do {                                                              \
		p = good;                                                 \
		__VA_ARGS__;                                              \
		why.text[0] = 0;                                          \
		assert_int_equal(sx_ring_create(&ring, &p, &why), error); \
		assert_true(strlen(why.text) > 10);                       \
		assert_int_equal(help_dir_count(dir), 0);                 \
	} while (0)
	REFUSED(-EINVAL, p.slots = 0);
	REFUSED(-EINVAL, p.slots = 1);
	REFUSED(-EINVAL, p.slots = 6);
	REFUSED(-EINVAL, p.slots = 2048);
	REFUSED(-EINVAL, p.epoch = 0);
	REFUSED(-EINVAL, p.frame_bytes = 100);
	REFUSED(-EINVAL, p.frame_bytes = (size_t)1 << 30);
	REFUSED(-EINVAL, p.instance = "a/b");
	REFUSED(-EINVAL, p.instance = "..");
	REFUSED(-ENOENT, p.shm_dir = "/nowhere/at/all");
#undef REFUSED
}

static void full_memory_gives_a_sentence(void **state)
{
	struct sx_ring_params p = help_params(dir, 1);
	struct sx_ring *ring = NULL;
	struct sx_why why = {""};
	bool mounted;

	p.frame_bytes = (size_t)1 << 20;
	p.slots = 8;
	mounted = mount("none", dir, "tmpfs", 0, "size=1m") == 0;

	if (!mounted) {
		/* Without root the test cannot mount a small tmpfs: it asks for more than the machine has. */
		p.frame_bytes = (size_t)256 << 20;
		p.slots = SX_RING_SLOTS_MAX;
	}
	assert_int_equal(sx_ring_create(&ring, &p, &why), -ENOSPC);
	assert_non_null(strstr(why.text, "reserve"));
	assert_non_null(strstr(why.text, path));
	assert_int_equal(help_dir_count(dir), 0);
	if (mounted) {
		/* The refusal was for size, not for the mount: a small ring fits. */
		p.frame_bytes = 8192;
		assert_int_equal(sx_ring_create(&ring, &p, &why), 0);
		sx_ring_destroy(ring);
		assert_int_equal(umount(dir), 0);
	}
}

static void squatters(void **state)
{
	struct sx_ring *ring;
	struct sx_ring_params p = help_params(dir, 9);
	char trap[160], target[160];
	struct sx_why why = {""};
	struct stat st;
	int fd;

	/* A file or a link under the ring's name is replaced if the publisher may do so. */
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "junk", 4), 4);
	close(fd);
	ring = help_ring(dir, "a", &small, 4, 1);
	assert_non_null(ring);
	sx_ring_destroy(ring);

	snprintf(target, sizeof(target), "%s/victim", dir);
	fd = open(target, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(symlink(target, path), 0);
	ring = help_ring(dir, "a", &small, 4, 1);
	assert_non_null(ring);
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_size, 4);
	sx_ring_destroy(ring);

	/* The publisher does not follow a link at the name of the unfinished object. */
	snprintf(trap, sizeof(trap), "%s/.stixeld.a.%016x", dir, 9);
	assert_int_equal(symlink(target, trap), 0);
	assert_int_equal(sx_ring_create(&ring, &p, &why), -EEXIST);
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_size, 4);
	unlink(trap);
	assert_int_equal(help_dir_count(dir), 1);
}

static void orphans_are_swept(void **state)
{
	static const char *const swept[] = {".stixeld.a.0123456789abcdef", ".stixeld.a.ffffffffffffffff"};
	static const char *const kept[] = {".stixeld.b.0123456789abcdef", ".stixeld.a.0123456789abcde",
					   ".stixeld.a.0123456789abcdeg", ".stixeld.a.b.0123456789abcdef",
					   "stixeld.b"};
	char name[160];
	struct sx_ring *ring;

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, swept[i]);
		close(open(name, O_CREAT | O_WRONLY, 0600));
	}
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, kept[i]);
		close(open(name, O_CREAT | O_WRONLY, 0600));
	}
	ring = help_ring(dir, "a", &small, 4, 1);
	assert_non_null(ring);
	sx_ring_destroy(ring);
	assert_int_equal(help_dir_count(dir), 5);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, kept[i]);
		assert_int_equal(access(name, F_OK), 0);
	}
}

/* ---- bad objects ---- */

/* Writes a ring object with n bytes changed. Returns the result of opening and reading it. */
static int open_changed(const uint8_t *object, size_t bytes, size_t at, const void *with, size_t n)
{
	struct stixel_reader *r = NULL;
	const struct stixel_frame *frame;
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), e;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, object, bytes), (ssize_t)bytes);
	if (n)
		assert_int_equal(pwrite(fd, with, n, (off_t)at), (ssize_t)n);
	close(fd);
	e = stixel_open_path(&r, path, STIXEL_OPEN_LEFTOVER);
	if (e == 0) {
		/* Reading must be safe whatever the object contains. Returns what a reader gets. */
		e = stixel_next(r, &frame, NULL);
		if (e == 1)
			assert_true(help_frame_good(frame, &small));
		(void)stixel_wait(r, 0);
		(void)stixel_latest(r, &frame);
	}
	stixel_close(r);
	unlink(path);
	return e;
}

static uint8_t *object_bytes(size_t *bytes)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	uint8_t *object;
	int fd;

	assert_non_null(ring);
	for (uint64_t n = 1; n <= 6; n++)
		help_publish(ring, &small, 1, n);
	*bytes = sx_ring_bytes(ring);
	object = malloc(*bytes);
	assert_non_null(object);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, object, *bytes), (ssize_t)*bytes);
	close(fd);
	sx_ring_destroy(ring);
	return object;
}

#define CHANGED(field, type, value) \
	open_changed(object, bytes, offsetof(struct stixel_ring_header, field), &(type){value}, sizeof(type))

static void bad_headers_are_refused(void **state)
{
	size_t bytes;
	uint8_t *object = object_bytes(&bytes);

	assert_int_equal(open_changed(object, bytes, 0, NULL, 0), 1);
	assert_int_equal(CHANGED(magic, uint64_t, 0), -EPROTO);
	assert_int_equal(CHANGED(abi_major, uint16_t, 2), -EPROTONOSUPPORT);
	assert_int_equal(CHANGED(endian, uint32_t, 0x04030201), -EPROTONOSUPPORT);
	assert_int_equal(CHANGED(abi_minor, uint16_t, 9), 1); /* a newer version is read as the known one */
	assert_int_equal(CHANGED(header_bytes, uint32_t, 512), 1);
	assert_int_equal(CHANGED(header_bytes, uint32_t, 100), -EPROTO);
	assert_int_equal(CHANGED(header_bytes, uint32_t, 2000), -EPROTO); /* reaches into the live part */
	assert_int_equal(CHANGED(total_bytes, uint64_t, bytes + 1), -EPROTO);
	assert_int_equal(CHANGED(total_bytes, uint64_t, 4096), -EPROTO);
	assert_int_equal(CHANGED(total_bytes, uint64_t, UINT64_MAX), -EPROTO);
	assert_int_equal(CHANGED(slot_count, uint32_t, 0), -EPROTO);
	assert_int_equal(CHANGED(slot_count, uint32_t, 3), -EPROTO);
	assert_int_equal(CHANGED(slot_count, uint32_t, 1u << 31), -EPROTO);
	assert_int_equal(CHANGED(slot_stride, uint32_t, 0), -EPROTO);
	assert_int_equal(CHANGED(slot_stride, uint32_t, 0xffffffc0), -EPROTO);
	assert_int_equal(CHANGED(slots_offset, uint32_t, 0), -EPROTO);
	assert_int_equal(CHANGED(slots_offset, uint32_t, 0xffffffc0), -EPROTO);
	assert_int_equal(CHANGED(slot_header_bytes, uint32_t, 8), -EPROTO);
	assert_int_equal(CHANGED(slot_header_bytes, uint32_t, 0xfffffff8), -EPROTO);
	assert_int_equal(CHANGED(frame_capacity, uint32_t, 0xffffffff), -EPROTO);
	assert_int_equal(CHANGED(frame_capacity, uint32_t, 16), -EPROTO);
	assert_int_equal(CHANGED(live_offset, uint32_t, 1000), -EPROTO);
	assert_int_equal(CHANGED(live_offset, uint32_t, 0xffffffc0), -EPROTO);
	assert_int_equal(CHANGED(epoch, uint64_t, 0), -EPROTO);
	assert_int_equal(CHANGED(epoch, uint64_t, 2), -EBADMSG); /* frames of another epoch */
	for (size_t n = 0; n < 4096 + 64; n += n < 400 ? 1 : 97)
		assert_int_equal(open_changed(object, n, 0, NULL, 0), -EPROTO); /* cut short */
	assert_int_equal(open_changed(object, bytes - 1, 0, NULL, 0), -EPROTO);
	free(object);
}

static void damaged_frames_are_skipped(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	int fd = open(path, O_RDWR);
	struct stixel_reader *r = open_reader(0);
	const struct stixel_frame *frame;
	struct stixel_ring_header h;
	struct stixel_status s;
	uint8_t byte;
	off_t at;

	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	for (uint64_t n = 1; n <= 3; n++)
		help_publish(ring, &small, 1, n);
	at = (off_t)(h.slots_offset + 2 * h.slot_stride + h.slot_header_bytes + 710);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	assert_int_equal(stixel_next(r, &frame, NULL), 1);
	assert_int_equal(stixel_next(r, &frame, NULL), -EBADMSG);
	assert_int_equal(stixel_next(r, &frame, NULL), 1);
	assert_int_equal(frame->header->number, 3);
	stixel_status(r, &s, sizeof(s));
	assert_int_equal(s.corrupt, 1);
	close(fd);
	stixel_close(r);
	sx_ring_destroy(ring);
}

/* The newest slot is ahead of head, which no publisher does: the reader reports it once, then waits. */
static void a_head_behind_its_slot_is_passed_over(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	const struct stixel_frame *frame;
	struct stixel_status s;
	int64_t begun_ns, first;
	int fd = open(path, O_RDWR), e = 0;

	for (int newest = 0; newest < 2; newest++) {
		struct stixel_reader *r = open_reader(0);

		first = newest ? 4 : 1;
		help_publish(ring, &small, 1, (uint64_t)first);
		help_publish(ring, &small, 1, (uint64_t)first + 1);
		assert_int_equal(newest ? stixel_latest(r, &frame) : stixel_next(r, &frame, NULL), 1);
		help_publish(ring, &small, 1, (uint64_t)first + 2);
		assert_int_equal(
			pwrite(fd, &(uint64_t){1000}, 8,
			       (off_t)(4096 + (first + 2) % 4 * (int64_t)((sx_ring_bytes(ring) - 4096) / 4))),
			8);
		begun_ns = sx_now_ns();
		do {
			assert_int_equal(stixel_wait(r, 0), 1);
			e = newest ? stixel_latest(r, &frame) : stixel_next(r, &frame, NULL);
			if (e == 1) /* the frame before the newest */
				assert_int_equal(frame->header->number, first + 1);
		} while (e >= 0 && sx_now_ns() - begun_ns < SX_NS_PER_S);
		assert_int_equal(e, -EBADMSG);
		stixel_status(r, &s, sizeof(s));
		assert_int_equal(s.corrupt, 1);
		assert_int_equal(stixel_wait(r, 0), 0);
		if (newest) { /* the end of a dead publisher is still reported */
			sx_ring_set_state(ring, STIXEL_STATE_CLOSED);
			assert_int_equal(stixel_wait(r, 1000), -EPIPE);
		}
		stixel_close(r);
	}
	close(fd);
	sx_ring_destroy(ring);
}

struct head_writer {
	struct sx_ring *ring;
	_Atomic uint64_t *head; /* a second mapping of the ring */
	_Atomic bool stop;
};

/* Publishes frames. After each it moves head back to the frame before the last, and forward again. */
static void *write_heads(void *arg)
{
	struct head_writer *w = arg;

	for (uint64_t n = 3; !w->stop; n++) {
		help_publish(w->ring, &small, 1, n);
		for (int i = 0; i < 1000; i++) {
			*w->head = n - 2;
			*w->head = n;
		}
	}
	return NULL;
}

/* Skipped frames are counted, the count never goes below 0, and no frame is delivered after a newer one. */
static void a_head_that_goes_back_gives_no_older_frame(void **state)
{
	struct head_writer w = {.ring = help_ring(dir, "a", &small, 8, 1)};
	struct stixel_reader *r;
	const struct stixel_frame *frame;
	const int64_t until_ns = sx_now_ns() + SX_NS_PER_S / 4;
	struct stixel_status s;
	uint64_t last = 0;
	pthread_t thread;
	const size_t bytes = sx_ring_bytes(w.ring);
	const int fd = open(path, O_RDWR);
	uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	close(fd);
	w.head = (_Atomic uint64_t *)(at + ((struct stixel_ring_header *)at)->live_offset +
				      offsetof(struct stixel_ring_live, head));
	help_publish(w.ring, &small, 1, 1);
	help_publish(w.ring, &small, 1, 2);
	r = open_reader(0);
	assert_int_equal(pthread_create(&thread, NULL, write_heads, &w), 0);
	while (sx_now_ns() < until_ns || last < 10) {
		if (stixel_latest(r, &frame) != 1)
			continue;
		assert_true(frame->header->number > last);
		last = frame->header->number;
		stixel_status(r, &s, sizeof(s));
		assert_true(s.taken + s.skipped <= last);
	}
	w.stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	stixel_close(r);
	munmap(at, bytes);
	sx_ring_destroy(w.ring);
}

static int open_with(off_t at, const void *value, size_t n)
{
	struct stixel_reader *r = NULL;
	int fd = open(path, O_RDWR), e;

	assert_int_equal(pwrite(fd, value, n, at), (ssize_t)n);
	close(fd);
	e = stixel_open_path(&r, path, 0);
	stixel_close(r);
	return e;
}

static void a_pid_that_is_used_again_does_not_deceive(void **state)
{
	const off_t start = offsetof(struct stixel_ring_header, pid_start_ticks),
		    pid = offsetof(struct stixel_ring_header, pid),
		    beat = STIXEL_RING_LIVE_OFFSET + offsetof(struct stixel_ring_live, heartbeat_ns);
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);

	/*
	 * A wrong start time of the process: as long as the heartbeat goes on, the publisher counts as alive
	 * in a strange sandbox.
	 */
	assert_int_equal(open_with(start, &(uint64_t){1}, 8), 0);
	assert_int_equal(open_with(beat, &(int64_t){1}, 8), -ENOENT);
	sx_ring_beat(ring);
	assert_int_equal(open_with(pid, &(uint32_t){1 << 30}, 4), -ENOENT);
	/* A pid of another namespace proves nothing: the publisher is stalled, but not dead. */
	assert_int_equal(open_with(offsetof(struct stixel_ring_header, pid_namespace), &(uint64_t){1}, 8), 0);
	assert_int_equal(open_with(beat, &(int64_t){1}, 8), 0);
	sx_ring_destroy(ring);
}

/* Seeded noise in the live part, the slots and the header. The sanitizers detect bad accesses. */
static void noise_in_the_object_is_survived(void **state)
{
	size_t bytes;
	uint8_t *object = object_bytes(&bytes), *copy = malloc(bytes);
	uint32_t seed = 1, accepted = 0;

	for (int round = 0; round < 3000; round++) {
		/*
		 * Three regions in turn: the whole object, header and live part, the first 300 bytes of a
		 * slot.
		 */
		size_t from = round % 3 == 2 ? 4096 : 0, to = round % 3 == 0   ? bytes
							      : round % 3 == 1 ? 1100
									       : 4400;
		int changes = 1 + round % 7;

		memcpy(copy, object, bytes);
		while (changes--) {
			seed = seed * 1664525 + 1013904223;
			copy[from + (seed >> 4) % (to - from)] = (uint8_t)(seed >> 24);
		}
		accepted += open_changed(copy, bytes, 0, NULL, 0) == 1;
	}
	/* Noise outside the parts that the newest frame needs must not matter, and all other noise must. */
	assert_in_range(accepted, 300, 2900);
	free(copy);
	free(object);
}

/* The object changes under a reader that has mapped it: any word takes any value at any time. */
static void noise_under_a_mapped_reader_is_survived(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	int fd = open(path, O_RDWR);
	size_t bytes = sx_ring_bytes(ring);
	uint8_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *clean = malloc(bytes);
	const struct stixel_frame *frame;
	struct stixel_reader *r;
	uint64_t x = 88172645463325252u;
	int e;

	assert_true(map != MAP_FAILED);
	for (uint64_t n = 1; n <= 6; n++)
		help_publish(ring, &small, 1, n);
	memcpy(clean, map, bytes);
	r = open_reader(0);
	for (int round = 0; round < 20000; round++) {
		size_t at;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at = round % 2 ? 1024 + (x >> 20) % 24 : 4096 + (x >> 20) % (bytes - 4096);
		map[at] = (uint8_t)x;
		e = round % 3 ? stixel_next(r, &frame, NULL) : stixel_latest(r, &frame);
		assert_true(e != 1 || help_frame_good(frame, &small));
		if (round % 8 == 7) {
			memcpy(map + 1024, clean + 1024, bytes - 1024);
			stixel_close(r);
			r = open_reader(0);
		}
	}
	stixel_close(r);
	munmap(map, bytes);
	close(fd);
	free(clean);
	sx_ring_destroy(ring);
}

/* Writes one word of the object at path, which other processes map. */
static void set_word(size_t at, const void *value, size_t bytes)
{
	int fd = open(path, O_RDWR);

	assert_int_equal(pwrite(fd, value, bytes, (off_t)at), (ssize_t)bytes);
	close(fd);
}

#define LIVE(field) (STIXEL_RING_LIVE_OFFSET + offsetof(struct stixel_ring_live, field))

/*
 * Creates root's ring under the same name. Returns the error, whose text must contain `word`, or 0 if root
 * took the name.
 */
static int take_from(const char *word)
{
	struct sx_ring_params p = help_params(dir, 9);
	struct sx_ring *mine = NULL;
	struct sx_why why = {""};
	int e = sx_ring_create(&mine, &p, &why);

	assert_true(e == 0 || strstr(why.text, word));
	sx_ring_destroy(mine);
	return e;
}

static pid_t user_publishes(void)
{
	pid_t pid;

	assert_int_equal(chmod(dir, 01777), 0);
	CHILD(pid, {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		publish_for_ever(1, 1000);
	});
	while (access(path, F_OK) < 0)
		usleep(1000);
	return pid;
}

static void foreign_owners_are_refused(void **state)
{
	struct stixel_reader *r = NULL;
	pid_t pid = user_publishes();

	assert_int_equal(stixel_open_path(&r, path, 0), -EPERM);
	assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_ANY_OWNER), 0);
	stixel_close(r);
	/* Root does not take the name of another user's running daemon. */
	if (!EMULATED("its /proc/PID/stat has another start time than that of the kernel"))
		assert_int_equal(take_from("process"), -EADDRINUSE);
	assert_int_equal(help_dir_count(dir), 1);
	set_word(LIVE(state), &(uint32_t){STIXEL_STATE_CLOSED}, 4);
	assert_int_equal(take_from(""), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A file that claims to be a running daemon's does not stop a publisher that may replace it. */
static void what_a_squatter_says_is_not_believed(void **state)
{
	const size_t pid_at = offsetof(struct stixel_ring_header, pid),
		     start_at = offsetof(struct stixel_ring_header, pid_start_ticks);
	const int64_t beats[] = {INT64_MAX, INT64_MIN, INT64_MAX};
	size_t bytes;
	uint8_t *object = object_bytes(&bytes);
	int fd;

	for (int i = 0; i < 6; i++) {
		fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
		assert_int_equal(write(fd, object, i == 5 ? 1100 : bytes), i == 5 ? 1100 : (ssize_t)bytes);
		close(fd);
		set_word(LIVE(state), &(uint32_t){STIXEL_STATE_RUNNING}, 4);
		if (i != 3)
			/* a process of root that started at another time */
			set_word(pid_at, &(uint32_t){1}, 4);
		if (i == 4)
			set_word(start_at, &(uint64_t){0}, 8);
		set_word(LIVE(heartbeat_ns), i < 3 ? &beats[i] : &(int64_t){sx_now_ns()}, 8);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(take_from(""), 0);
		assert_int_equal(help_dir_count(dir), 0);
	}
	free(object);
}

/* The owner is alive and holds the name by right, in a folder where other users cannot rename over it. */
static void a_squatter_that_stays_is_named(void **state)
{
	pid_t pid;
	int status;

	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(chmod(dir, 01777), 0);
	CHILD(pid, {
		struct sx_ring_params p = help_params(dir, 9);
		struct sx_ring *ring = NULL;
		struct sx_why why = {""};

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		if (sx_ring_create(&ring, &p, &why) != -EPERM || !strstr(why.text, path) ||
		    !strstr(why.text, "(uid 0)") || !strstr(why.text, "has to remove it"))
			_exit(4);
	});
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void an_ordinary_user_can_do_it(void **state)
{
	pid_t pid;
	int status;

	/* A folder like /dev/shm: open to all, sticky. */
	assert_int_equal(chmod(dir, 01777), 0);
	CHILD(pid, {
		struct stixel_reader *r = NULL;
		const struct stixel_frame *frame;
		struct sx_ring *ring;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		ring = help_ring(dir, "a", &small, 4, 1);
		if (!ring)
			_exit(3);
		help_publish(ring, &small, 1, 1);
		if (stixel_open_path(&r, path, 0) < 0 || stixel_latest(r, &frame) != 1)
			_exit(4);
		sx_ring_destroy(ring);
	});
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(help_dir_count(dir), 0);
	/* In a sticky folder root's object stays root's. A user without permission to read it gets -EACCES. */
	CHILD(pid, publish_for_ever(5, 1000));
	while (access(path, F_OK) < 0)
		usleep(1000);
	{
		pid_t user;

		CHILD(user, {
			struct sx_ring_params p = help_params(dir, 9);
			struct stixel_reader *r = NULL;
			struct sx_ring *ring = NULL;
			struct sx_why why = {""};

			if (setgid(65534) < 0 || setuid(65534) < 0)
				_exit(2);
			if (stixel_open_path(&r, path, 0) != -EACCES)
				_exit(3);
			if (sx_ring_create(&ring, &p, &why) != -EPERM || !strstr(why.text, "another user"))
				_exit(4);
		});
		waitpid(user, &status, 0);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(status, 0);
	assert_int_equal(help_dir_count(dir), 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	/*
	 * Only root can act as another user. Entries without a name do not count, whereas skipped tests count
	 * as failed.
	 */
	const bool root = geteuid() == 0;
	const struct CMUnitTest none = {0};
	const struct CMUnitTest tests[] = {
		T(parameters_are_checked),
		T(full_memory_gives_a_sentence),
		T(squatters),
		T(orphans_are_swept),
		T(bad_headers_are_refused),
		T(damaged_frames_are_skipped),
		T(a_head_behind_its_slot_is_passed_over),
		T(a_head_that_goes_back_gives_no_older_frame),
		T(a_pid_that_is_used_again_does_not_deceive),
		T(noise_in_the_object_is_survived),
		T(noise_under_a_mapped_reader_is_survived),
		root ? (struct CMUnitTest)T(foreign_owners_are_refused) : none,
		root ? (struct CMUnitTest)T(what_a_squatter_says_is_not_believed) : none,
		root ? (struct CMUnitTest)T(a_squatter_that_stays_is_named) : none,
		root ? (struct CMUnitTest)T(an_ordinary_user_can_do_it) : none,
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
