/*
 * Tests the ring: writer against reader, in one process and in two. Damaged rings are tested in
 * test_ring_bad.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/why.h"
#include "ipc/frame.h"
#include "tests/emulated.h"
#include "tests/ipc/ring_case.h"

static const struct help_shape pictured = {.columns = 40, .plane_width = 97, .plane_height = 31};

static struct stixel_reader *open_reader(unsigned flags)
{
	struct stixel_reader *r = NULL;

	assert_int_equal(stixel_open_path(&r, path, flags), 0);
	return r;
}

static void a_frame_arrives_as_it_was(void **state)
{
	const struct help_shape *shapes[] = {&small, &pictured};
	const struct stixel_frame *frame = NULL;
	struct stixel_reader *r;
	struct sx_ring *ring;

	for (int i = 0; i < 2; i++) {
		ring = help_ring(dir, "a", shapes[i], 4, 77);
		assert_non_null(ring);
		r = open_reader(0);
		assert_int_equal(stixel_latest(r, &frame), 0);
		assert_int_equal(stixel_wait(r, 0), 0);
		for (uint64_t n = 1; n <= 20; n++) {
			help_publish(ring, shapes[i], 77, n);
			assert_int_equal(stixel_wait(r, 0), 1);
			assert_int_equal(stixel_next(r, &frame, NULL), 1);
			assert_int_equal(frame->header->number, n);
			assert_true(help_frame_good(frame, shapes[i]));
			assert_int_equal(frame->plane != NULL, i);
		}
		assert_int_equal(stixel_next(r, &frame, NULL), 0);
		stixel_close(r);
		sx_ring_destroy(ring);
	}
	assert_int_equal(help_dir_count(dir), 0);
}

static void a_frame_of_an_older_publisher_arrives(void **state)
{
	const size_t room = help_frame_bytes(&pictured);
	struct sx_ring *ring = help_ring(dir, "a", &pictured, 4, 77);
	const struct stixel_frame *frame = NULL;
	uint64_t *bytes = malloc(room);
	struct stixel_reader *r;

	assert_non_null(ring);
	r = open_reader(0);
	for (uint64_t n = 1; n <= 20; n++) {
		size_t length;

		help_frame(bytes, &pictured, 77, n);
		length = help_frame_of_1_2(bytes);
		assert_int_equal(sx_ring_publish(ring, bytes, length), 0);
		assert_int_equal(stixel_next(r, &frame, NULL), 1);
		assert_int_equal(frame->header->header_bytes, STIXEL_HEADER_BYTES_LEAST);
		assert_int_equal(frame->header->frame_bytes, length);
		assert_memory_equal(frame->bytes, bytes, length);
		assert_float_equal(stixel_ground_of(frame->header).cross, 0, 0);
	}
	free(bytes);
	stixel_close(r);
	sx_ring_destroy(ring);
}

static void frames_that_were_missed_are_counted(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 8, 5);
	struct stixel_reader *r = open_reader(0);
	const struct stixel_frame *frame;
	struct stixel_status s;
	uint64_t lost, n;

	for (n = 1; n <= 100; n++)
		help_publish(ring, &small, 5, n);
	/* 8 slots: the writer may be writing frame 101, so 7 frames are safe. */
	assert_int_equal(stixel_next(r, &frame, &lost), 1);
	assert_int_equal(frame->header->number, 94);
	assert_int_equal(lost, 93);
	for (n = 95; n <= 100; n++) {
		assert_int_equal(stixel_next(r, &frame, &lost), 1);
		assert_int_equal(frame->header->number, n);
		assert_int_equal(lost, 0);
	}
	help_publish(ring, &small, 5, 101);
	help_publish(ring, &small, 5, 102);
	help_publish(ring, &small, 5, 103);
	assert_int_equal(stixel_latest(r, &frame), 1);
	assert_int_equal(frame->header->number, 103);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.lost, 93);
	assert_int_equal(s.skipped, 2);
	assert_int_equal(s.taken, 8);
	assert_int_equal(s.head, 103);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ALIVE);
	assert_int_equal(s.pid, getpid());
	assert_string_equal(s.version, stixel_version());
	stixel_close(r);
	/* A reader that opens the ring now gets the newest frame at once, and has lost none. */
	r = open_reader(0);
	assert_int_equal(stixel_next(r, &frame, &lost), 1);
	assert_int_equal(frame->header->number, 103);
	assert_int_equal(lost, 0);
	stixel_close(r);
	sx_ring_destroy(ring);
}

static void the_writer_refuses_wrong_frames(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 2, 5);
	size_t room = help_frame_bytes(&pictured);
	void *bytes = calloc(1, room);
	size_t n = help_frame(bytes, &small, 5, 2);

	assert_int_equal(sx_ring_publish(ring, bytes, n), -EINVAL); /* the first number must be 1 */
	sx_frame_restamp(bytes, 6, 1);
	assert_int_equal(sx_ring_publish(ring, bytes, n), -EINVAL);
	sx_frame_restamp(bytes, 5, 1);
	assert_int_equal(sx_ring_publish(ring, bytes, n - 8), -EINVAL);
	assert_int_equal(sx_ring_publish(ring, bytes, sx_ring_bytes(ring)), -ENOBUFS);
	assert_int_equal(sx_ring_publish(ring, bytes, n), 0);
	free(bytes);
	sx_ring_destroy(ring);
}

static void mode_is_as_asked(void **state)
{
	struct sx_ring_params p = help_params(dir, 9);
	struct sx_ring *ring;
	struct sx_why why;
	struct stat st;
	mode_t old = umask(0077);

	assert_int_equal(sx_ring_create(&ring, &p, &why), 0);
	assert_int_equal(stat(sx_ring_path(ring), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_size, sx_ring_bytes(ring));
	sx_ring_destroy(ring);
	p.mode = 0604;
	p.group = getgid();
	assert_int_equal(sx_ring_create(&ring, &p, &why), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	sx_ring_destroy(ring);
	umask(old);
}

static void a_publisher_that_ends_is_told_from_one_that_is_replaced(void **state)
{
	struct sx_ring *first = help_ring(dir, "a", &small, 4, 1), *second;
	struct stixel_reader *plain = open_reader(0), *follower = open_reader(STIXEL_OPEN_FOLLOW);
	const struct stixel_frame *frame;
	struct stixel_status s;
	uint64_t lost;

	help_publish(first, &small, 1, 1);
	help_publish(first, &small, 1, 2);
	second = help_ring(dir, "a", &small, 4, 2);
	assert_non_null(second);
	/* Frames published before the restart are still delivered, then the restart is reported. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stixel_wait(plain, 0), 1);
		assert_int_equal(stixel_next(plain, &frame, NULL), 1);
		assert_int_equal(stixel_next(follower, &frame, NULL), 1);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stixel_wait(plain, 0), -ESTALE);
		assert_int_equal(stixel_next(plain, &frame, NULL), -ESTALE);
		assert_int_equal(stixel_latest(plain, &frame), -ESTALE);
	}
	assert_int_equal(stixel_status(plain, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_REPLACED);
	assert_int_equal(stixel_reopen(plain), 0);
	assert_int_equal(stixel_next(plain, &frame, NULL), 0);
	assert_int_equal(stixel_next(follower, &frame, NULL), 0);
	for (uint64_t n = 1; n <= 5; n++)
		help_publish(second, &small, 2, n);
	/* Both readers were open before frame 1, so overwritten frames count as lost. */
	assert_int_equal(stixel_next(follower, &frame, &lost), 1);
	assert_int_equal(frame->header->epoch, 2);
	assert_int_equal(frame->header->number, 3);
	assert_int_equal(lost, 2);
	assert_int_equal(stixel_latest(plain, &frame), 1);
	assert_int_equal(frame->header->number, 5);
	assert_int_equal(stixel_status(follower, &s, sizeof(s)), 0);
	assert_int_equal(s.restarts, 1);

	/* The old publisher must not remove the name of the new one when it ends. */
	sx_ring_destroy(first);
	assert_int_equal(access(path, F_OK), 0);
	sx_ring_destroy(second);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(stixel_wait(plain, 0), -EPIPE);
	assert_int_equal(stixel_status(plain, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ENDED);
	assert_int_equal(stixel_reopen(plain), -ENOENT);
	assert_int_equal(stixel_next(follower, &frame, NULL), 1);
	assert_int_equal(stixel_next(follower, &frame, NULL), 1);
	assert_int_equal(stixel_wait(follower, 60), 0);
	assert_int_equal(stixel_status(follower, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ABSENT);
	stixel_close(plain);
	stixel_close(follower);
}

static void no_publisher(void **state)
{
	struct stixel_reader *r = NULL;
	const struct stixel_frame *frame;
	struct sx_ring *ring;
	int64_t t;

	assert_int_equal(stixel_open_path(&r, path, 0), -ENOENT);
	assert_null(r);
	assert_int_equal(stixel_open(&r, "no-such-instance-here", 0), -ENOENT);
	assert_int_equal(stixel_open(&r, "a/b", 0), -EINVAL);
	assert_int_equal(stixel_open(&r, "", 0), -EINVAL);
	assert_int_equal(stixel_open(&r, NULL, 0), -EINVAL);
	assert_int_equal(stixel_open(&r, "a", 1u << 30), -EINVAL);
	assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_STREAM), -ENOENT);
	assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_FOLLOW), 0);
	t = sx_now_ns();
	assert_int_equal(stixel_wait(r, 150), 0);
	t = sx_now_ns() - t;
	assert_in_range(t, 150000000, 3000000000);
	/* The reader waited for this publisher, so it gets all of its first frames. */
	ring = help_ring(dir, "a", &small, 8, 3);
	for (uint64_t n = 1; n <= 4; n++)
		help_publish(ring, &small, 3, n);
	assert_int_equal(stixel_wait(r, 1000), 1);
	assert_int_equal(stixel_next(r, &frame, NULL), 1);
	assert_int_equal(frame->header->number, 1);
	stixel_close(r);
	sx_ring_destroy(ring);
	stixel_close(NULL);
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

static void a_killed_publisher_is_noticed(void **state)
{
	struct stixel_reader *r = NULL, *late = NULL;
	const struct stixel_frame *frame;
	struct stixel_status s;
	int64_t t;
	pid_t pid;
	int e;

	if (EMULATED("its /proc/PID/stat has another start time than that of the kernel"))
		return;
	CHILD(pid, publish_for_ever(11, 500));
	while (stixel_open_path(&r, path, 0) < 0)
		usleep(1000);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(stixel_wait(r, 2000), 1);
		assert_int_equal(stixel_next(r, &frame, NULL), 1);
		assert_true(help_frame_good(frame, &small));
	}
	kill(pid, SIGKILL); /* not reaped: a zombie counts as dead, too */
	t = sx_now_ns();
	while ((e = stixel_wait(r, 2000)) == 1)
		assert_true(stixel_latest(r, &frame) >= 0);
	t = sx_now_ns() - t;
	assert_int_equal(e, -EPIPE);
	assert_in_range(t, 0, 1800000000);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_DIED);
	waitpid(pid, NULL, 0);
	/* The dead publisher's ring still exists. A reader gets its frames only with STIXEL_OPEN_LEFTOVER. */
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(stixel_open_path(&late, path, 0), -ENOENT);
	assert_int_equal(stixel_open_path(&late, path, STIXEL_OPEN_LEFTOVER), 0);
	assert_int_equal(stixel_latest(late, &frame), 1);
	assert_true(help_frame_good(frame, &small));
	assert_int_equal(stixel_wait(late, 1000), -EPIPE);
	stixel_close(late);
	stixel_close(r);
}

static void a_stopped_publisher_is_stalled(void **state)
{
	struct sx_ring_params p = help_params(dir, 4);
	struct stixel_reader *r;
	struct stixel_status s;
	struct sx_ring *ring;
	struct sx_why why;

	p.heartbeat_period_ms = 20;
	assert_int_equal(sx_ring_create(&ring, &p, &why), 0);
	r = open_reader(0);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ALIVE);
	assert_int_equal(stixel_wait(r, 100), 0);
	stixel_status(r, &s, sizeof(s));
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_STALLED);
	assert_true(s.heartbeat_age_ns >= 60000000);
	sx_ring_beat(ring);
	stixel_status(r, &s, sizeof(s));
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ALIVE);
	sx_ring_set_state(ring, STIXEL_STATE_NO_CAMERA);
	stixel_status(r, &s, sizeof(s));
	assert_int_equal(s.state, STIXEL_STATE_NO_CAMERA);
	/* A caller compiled long ago passes half of the status struct. */
	memset(&s, 0xee, sizeof(s));
	assert_int_equal(stixel_status(r, &s, 16), 0);
	assert_int_equal(s.epoch, 4);
	assert_int_equal(((uint8_t *)&s)[16], 0xee);
	stixel_close(r);
	sx_ring_destroy(ring);
}

static void a_stopped_reader_does_not_delay_the_writer(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	pid_t pid[8];
	int64_t t, worst = 0;

	for (int i = 0; i < 8; i++)
		CHILD(pid[i], {
			struct stixel_reader *r = open_reader(0);
			const struct stixel_frame *frame;

			for (;;)
				if (stixel_wait(r, 1000) == 1)
					stixel_latest(r, &frame);
		});
	for (uint64_t n = 1; n <= 400; n++) {
		if (n == 100)
			for (int i = 0; i < 8; i++)
				kill(pid[i], SIGSTOP);
		if (n == 300)
			for (int i = 0; i < 8; i++)
				kill(pid[i], SIGKILL);
		t = sx_now_ns();
		help_publish(ring, &small, 1, n);
		t = sx_now_ns() - t;
		if (n > 110 && n < 300 && t > worst)
			worst = t;
		usleep(200);
	}
	/*
	 * A lock held by a stopped process would cost a second. The limit is generous, for a loaded machine.
	 */
	assert_in_range(worst, 0, 200000000);
	for (int i = 0; i < 8; i++)
		waitpid(pid[i], NULL, 0);
	sx_ring_destroy(ring);
}

static bool sleeps(pid_t pid)
{
	char name[64], text[256] = "";
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	fd = open(name, O_RDONLY);
	assert_true(fd >= 0);
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return strstr(text, ") S ") != NULL;
}

/*
 * With a wake-up eventfd, the frame thread's part of waking costs the same for no reader and for thousands.
 */
static void with_a_bell_publishing_wakes_nobody_itself(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	const int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), fd = open(path, O_RDONLY), sleepers = 3;
	uint8_t *page = mmap(NULL, STIXEL_RING_SLOTS_OFFSET, PROT_READ, MAP_SHARED, fd, 0);
	const struct stixel_ring_live *live = (struct stixel_ring_live *)(page + STIXEL_RING_LIVE_OFFSET);
	pid_t pid[3];
	uint64_t wakes;
	int status;

	assert_true(page != MAP_FAILED);
	sx_ring_set_waker(ring, bell);
	for (int i = 0; i < sleepers; i++)
		CHILD(pid[i],
		      _exit(syscall(SYS_futex, &live->bell, FUTEX_WAIT, live->bell, NULL, NULL, 0) != 0));
	for (int i = 0; i < sleepers; i++)
		while (!sleeps(pid[i]))
			usleep(1000);
	assert_int_equal(read(bell, &wakes, sizeof(wakes)), -1);
	help_publish(ring, &small, 1, 1);
	assert_int_equal(read(bell, &wakes, sizeof(wakes)), -1); /* not before the wake-up is passed on */
	sx_ring_pass_wake(ring);
	sx_ring_pass_wake(ring);
	assert_int_equal(read(bell, &wakes, sizeof(wakes)), sizeof(wakes));
	assert_int_equal(wakes, 1);
	/* called by another thread, which has no frame to finish first */
	sx_ring_set_state(ring, STIXEL_STATE_RUNNING);
	assert_int_equal(read(bell, &wakes, sizeof(wakes)), sizeof(wakes));
	assert_int_equal(wakes, 1);
	usleep(20000);
	for (int i = 0; i < sleepers; i++)
		assert_int_equal(waitpid(pid[i], &status, WNOHANG), 0);
	assert_int_equal(sx_ring_wake(ring, 2), 2);
	assert_int_equal(sx_ring_wake(ring, 2), 1);
	for (int i = 0; i < sleepers; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	/*
	 * If readers were few and quick to wake for long enough, also on a busy machine, the publisher wakes
	 * them itself.
	 */
	for (uint64_t n = 2; n == 2 || read(bell, &wakes, sizeof(wakes)) > 0; n++) {
		for (int i = 0; i < SX_RING_CALM; i++)
			assert_false(sx_ring_wake_few(ring));
		help_publish(ring, &small, 1, n);
		sx_ring_pass_wake(ring);
	}
	munmap(page, STIXEL_RING_SLOTS_OFFSET);
	close(fd);
	close(bell);
	sx_ring_destroy(ring);
}

static void on_alarm(int signal)
{
}

static void waiting_times(void **state)
{
	struct sigaction act = {.sa_handler = on_alarm}, old;
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	struct stixel_reader *r = open_reader(0);
	const struct stixel_frame *frame;
	struct stixel_status status;
	int64_t t;
	pid_t pid;

	t = sx_now_ns();
	assert_int_equal(stixel_wait(r, 0), 0);
	assert_in_range(sx_now_ns() - t, 0, 1000000000);
	t = sx_now_ns();
	assert_int_equal(stixel_wait(r, 330), 0); /* longer than one slice of the wait */
	assert_in_range(sx_now_ns() - t, 330000000, 3000000000);
	/*
	 * A frame ends the wait at once, not at the end of a slice. The best of ten counts, because the
	 * machine may be busy.
	 */
	CHILD(pid, {
		for (uint64_t n = 1; n <= 10; n++) {
			usleep(20000);
			help_publish(ring, &small, 1, n);
		}
	});
	t = INT64_MAX;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(stixel_wait(r, -1), 1);
		stixel_status(r, &status, sizeof(status));
		t = status.heartbeat_age_ns < t ? status.heartbeat_age_ns : t;
		assert_int_equal(stixel_next(r, &frame, NULL), 1);
	}
	assert_in_range(t, 0, 50000000);
	waitpid(pid, NULL, 0);
	while (stixel_latest(r, &frame) == 1)
		continue;
	/* A signal handler ends the wait, too. */
	sigaction(SIGALRM, &act, &old);
	ualarm(50000, 0);
	assert_int_equal(stixel_wait(r, -1), -EINTR);
	sigaction(SIGALRM, &old, NULL);
	stixel_close(r);
	sx_ring_destroy(ring);
}

static void hundreds_of_readers_leave_nothing(void **state)
{
	struct sx_ring *ring = help_ring(dir, "a", &small, 4, 1);
	struct stixel_reader *many[100] = {0};
	const struct stixel_frame *frame;
	int before = help_fd_count();

	help_publish(ring, &small, 1, 1);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++) {
			many[i] = open_reader(0);
			assert_int_equal(stixel_latest(many[i], &frame), 1);
			assert_true(help_frame_good(frame, &small));
		}
		for (int i = 0; i < 100; i++)
			stixel_close(many[i]);
	}
	assert_int_equal(help_fd_count(), before);
	sx_ring_destroy(ring);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Writes another sequence number into the slot of frame n. Returns the previous one. */
static uint64_t put_sequence(const struct sx_ring *ring, int fd, uint64_t n, uint64_t sequence)
{
	const off_t at = 4096 + (off_t)(n % 4 * ((sx_ring_bytes(ring) - 4096) / 4));
	uint64_t before = 0;

	assert_int_equal(pread(fd, &before, 8, at), 8);
	assert_int_equal(pwrite(fd, &sequence, 8, at), 8);
	return before;
}

/*
 * A frame that is overwritten at each attempt may be overwritten again soon after a restart, when the new
 * publisher reaches the same number. That is no damage, however long ago the first time was.
 */
static void what_was_overwritten_before_a_restart_means_nothing_after_it(void **state)
{
	const struct stixel_frame *frame;
	struct stixel_reader *r = NULL;

	for (uint64_t epoch = 1; epoch <= 2; epoch++) {
		struct sx_ring *ring = help_ring(dir, "a", &small, 4, epoch);
		int fd = open(path, O_RDWR);
		uint64_t right;

		for (uint64_t n = 1; n <= 3; n++)
			help_publish(ring, &small, epoch, n);
		if (!r)
			assert_int_equal(stixel_open_path(&r, path, STIXEL_OPEN_FOLLOW), 0);
		right = put_sequence(ring, fd, 3, 1000);
		assert_int_equal(stixel_latest(r, &frame), 0);
		put_sequence(ring, fd, 3, right);
		assert_int_equal(stixel_latest(r, &frame), 1);
		assert_int_equal(frame->header->number, 3);
		assert_int_equal(frame->header->epoch, epoch);
		close(fd);
		sx_ring_destroy(ring);
		usleep(5000); /* longer than a publisher needs for a frame */
	}
	stixel_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_frame_arrives_as_it_was),
		T(a_frame_of_an_older_publisher_arrives),
		T(frames_that_were_missed_are_counted),
		T(the_writer_refuses_wrong_frames),
		T(mode_is_as_asked),
		T(a_publisher_that_ends_is_told_from_one_that_is_replaced),
		T(no_publisher),
		T(a_killed_publisher_is_noticed),
		T(a_stopped_publisher_is_stalled),
		T(a_stopped_reader_does_not_delay_the_writer),
		T(with_a_bell_publishing_wakes_nobody_itself),
		T(waiting_times),
		T(hundreds_of_readers_leave_nothing),
		T(what_was_overwritten_before_a_restart_means_nothing_after_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
