/*
 * Tests error cases of libstixel: bad arguments and paths, and publishers that are gone, damaged, of another
 * user, or that send on their socket what no stixeld sends. Links the library's own objects, whose symbols
 * are hidden.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "include/stixel_disparity.h"
#include "ipc/client/reader.h"
#include "ipc/frame.h"
#include "ipc/listener.h"
#include "tests/ipc/help.h"

#define EPOCH 77
#define NOBODY 65534
#define NOWHERE "/nowhere/at/all"

static const struct help_shape small = {.columns = 8};
static char dir[64], ring_path[100], other_path[100], socket_path[100];
static uint8_t frame[8192];
static const struct stixel_frame *got;

static int setup(void **state)
{
	help_dir_make(dir, sizeof(dir));
	snprintf(ring_path, sizeof(ring_path), "%s/stixeld.a", dir);
	snprintf(other_path, sizeof(other_path), "%s/stixeld.b", dir);
	snprintf(socket_path, sizeof(socket_path), "%s/s", dir);
	return 0;
}

static int teardown(void **state)
{
	help_dir_remove(dir);
	return 0;
}

static struct sx_ring *ring_with(const char *stream)
{
	struct sx_ring_params p = help_params(dir, EPOCH);
	struct sx_ring *r = NULL;

	p.stream_path = stream;
	assert_int_equal(sx_ring_create(&r, &p, NULL), 0);
	help_publish(r, &small, EPOCH, 1);
	return r;
}

static struct stixel_reader *reader_of(const char *path, unsigned flags)
{
	struct stixel_reader *r = NULL;

	assert_int_equal(stixel_open_path(&r, path, flags), 0);
	return r;
}

static unsigned publisher_of(struct stixel_reader *r)
{
	struct stixel_status s;

	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	return s.publisher;
}

static void arguments(void **state)
{
	static char far[5000];
	struct stixel_reader *r = NULL;
	struct stixel_status s;

	memset(far, 'x', sizeof(far) - 1);
	assert_int_equal(stixel_open(NULL, "a", 0), -EINVAL);
	assert_int_equal(stixel_open_path(NULL, "a", 0), -EINVAL);
	assert_int_equal(stixel_open_path(&r, NULL, 0), -EINVAL);
	assert_int_equal(stixel_open_path(&r, "", 0), -EINVAL);
	assert_int_equal(stixel_open_path(&r, "a", 1u << 31), -EINVAL);
	assert_int_equal(stixel_open_path(&r, far, 0), -ENAMETOOLONG);
	far[200] = 0;
	assert_int_equal(stixel_open_path(&r, far, STIXEL_OPEN_STREAM), -ENAMETOOLONG);
	assert_int_equal(stixel_wait(NULL, 0), -EINVAL);
	assert_int_equal(stixel_fd(NULL), -EINVAL);
	assert_int_equal(stixel_reopen(NULL), -EINVAL);
	assert_int_equal(stixel_next(NULL, &got, NULL), -EINVAL);
	assert_int_equal(stixel_latest(NULL, &got), -EINVAL);
	assert_int_equal(stixel_status(NULL, &s, sizeof(s)), -EINVAL);
	r = reader_of(ring_path, STIXEL_OPEN_FOLLOW);
	assert_int_equal(stixel_next(r, NULL, NULL), -EINVAL);
	assert_int_equal(stixel_latest(r, NULL), -EINVAL);
	assert_int_equal(stixel_status(r, NULL, 0), -EINVAL);
	stixel_close(r);
	assert_string_equal(stixel_publisher_name(99), "?");
	assert_string_equal(stixel_road_name(99), "?");
}

static void what_lies_at_the_path(void **state)
{
	struct stixel_reader *r = NULL;

	assert_int_equal(stixel_open_path(&r, dir, 0), -EPROTO); /* a folder */
	assert_int_equal(symlink(ring_path, other_path), 0);
	assert_int_equal(stixel_open_path(&r, other_path, 0), -EPROTO);
	/* a following reader gives up only if waiting cannot help */
	r = reader_of(ring_path, STIXEL_OPEN_FOLLOW);
	assert_int_equal(mkdir(ring_path, 0700), 0);
	assert_int_equal(stixel_fd(r), -EPROTO);
	assert_int_equal(stixel_wait(r, 0), -EPROTO);
	stixel_close(r);
}

static void whose_ring_it_is(void **state)
{
	char relative[] = "stixeld.a", elsewhere[100];
	struct stixel_reader *r = NULL;
	struct sx_ring *ring = ring_with(NULL);
	const int here = open(".", O_RDONLY | O_DIRECTORY);

	if (geteuid() != 0) {
		sx_ring_destroy(ring);
		skip();
	}
	assert_int_equal(chown(ring_path, 4711, (gid_t)-1), 0);
	assert_int_equal(stixel_open_path(&r, ring_path, 0), -EPERM);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(stixel_open_path(&r, relative, 0), -EPERM);
	assert_int_equal(fchdir(here), 0);
	close(here);
	snprintf(elsewhere, sizeof(elsewhere), "%s/other", dir);
	assert_int_equal(rename(ring_path, elsewhere), 0);
	assert_int_equal(stixel_open_path(&r, elsewhere, 0), -EPERM);
	r = reader_of(elsewhere, STIXEL_OPEN_ANY_OWNER);
	stixel_close(r);
	sx_ring_destroy(ring);
}

static void a_publisher_that_has_ended(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_reader *r = reader_of(ring_path, 0), *follower;

	assert_int_equal(link(ring_path, other_path), 0); /* this name stays when the ring is removed */
	follower = reader_of(other_path, STIXEL_OPEN_FOLLOW);
	stixel_close(r);
	r = reader_of(other_path, 0);
	assert_int_equal(stixel_want_images(follower, 1u << STIXEL_PLANE_LEFT), 0);
	sx_ring_destroy(ring);

	assert_int_equal(stixel_reopen(r), -ENOENT);
	assert_int_equal(stixel_next(r, &got, NULL), -EPIPE);
	assert_int_equal(stixel_wait(r, 0), -EPIPE);
	assert_int_equal(stixel_fd(r), -ENOTCONN);
	assert_int_equal(stixel_want_images(r, 0), 0);
	assert_int_equal(stixel_want_images(r, 1u << STIXEL_PLANE_LEFT), -ENOTCONN);
	assert_int_equal(publisher_of(r), STIXEL_PUBLISHER_ABSENT);
	stixel_close(r);

	assert_int_equal(stixel_reopen(follower), 0);
	assert_int_equal(stixel_want_images(follower, 1u << STIXEL_PLANE_LEFT), 0);
	assert_int_equal(stixel_next(follower, &got, NULL), 0);
	stixel_close(follower);
}

static void a_name_that_leads_elsewhere(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_reader *r = reader_of(ring_path, 0);

	assert_int_equal(unlink(ring_path), 0);
	assert_int_equal(publisher_of(r), STIXEL_PUBLISHER_ALIVE); /* only the name was removed */
	close(open(ring_path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(publisher_of(r), STIXEL_PUBLISHER_REPLACED);
	stixel_close(r);
	sx_ring_destroy(ring);
}

static void write_at(off_t at, uint64_t value, size_t bytes)
{
	const int fd = open(ring_path, O_RDWR);

	assert_int_equal(pwrite(fd, &value, bytes, at), bytes);
	close(fd);
}

#define WRITE(field, value)                                                \
	write_at((off_t)offsetof(struct stixel_ring_header, field), value, \
		 sizeof(((struct stixel_ring_header *)0)->field))
#define WRITE_LIVE(field, value)                                                            \
	write_at(STIXEL_RING_LIVE_OFFSET + (off_t)offsetof(struct stixel_ring_live, field), \
		 (uint64_t)(value), sizeof(((struct stixel_ring_live *)0)->field))

/* If a publisher does not report its process, the reader judges it by its heartbeat. */
static void unknown_processes(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_reader *r;
	struct stixel_status s;

	WRITE(pid_start_ticks, 0);
	r = reader_of(ring_path, 0);
	assert_int_equal(publisher_of(r), STIXEL_PUBLISHER_ALIVE);
	stixel_close(r);
	WRITE(pid_namespace, 0);
	r = reader_of(ring_path, 0);
	assert_int_equal(publisher_of(r), STIXEL_PUBLISHER_ALIVE);
	WRITE_LIVE(heartbeat_ns, -5);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.heartbeat_age_ns, 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_STALLED);
	WRITE_LIVE(heartbeat_ns, INT64_MAX);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.heartbeat_age_ns, 0);
	stixel_close(r);
	sx_ring_destroy(ring);
}

/* Without process descriptors, the reader judges the publisher by its process number. */
static void processes_by_number(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct sx_map m;
	pid_t pid;
	int status;

	assert_int_equal(sx_map_attach(&m, ring_path, 0), 0);
	close(m.pid_fd);
	m.pid_fd = -1;
	CHILD(pid, _exit(0));
	waitpid(pid, &status, 0);
	m.header.pid = (uint32_t)pid;
	assert_int_equal(sx_map_health(&m, ring_path, sx_now_ns()), STIXEL_PUBLISHER_DIED);
	assert_int_equal(sx_map_health(&m, ring_path, sx_now_ns()), STIXEL_PUBLISHER_DIED);
	if (geteuid() == 0) {
		m.died = false;
		m.header.pid = 1; /* process 1 runs, but this user may not signal it */
		CHILD(pid, {
			if (setuid(NOBODY) < 0)
				_exit(2);
			_exit(sx_map_health(&m, ring_path, sx_now_ns()) == STIXEL_PUBLISHER_ALIVE ? 0 : 1);
		});
		waitpid(pid, &status, 0);
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	sx_map_detach(&m);
	sx_ring_destroy(ring);
}

static void damaged_slots(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_reader *r = reader_of(ring_path, 0);
	static const uint64_t bytes[] = {8, STIXEL_HEADER_BYTES_LEAST + 1, UINT64_MAX};
	uint64_t number = 2;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++, number++) {
		const struct stixel_ring_header *h = &r->map.header;

		help_publish(ring, &small, EPOCH, number);
		write_at((off_t)(h->slots_offset + (number & (h->slot_count - 1)) * h->slot_stride +
				 offsetof(struct stixel_ring_slot, frame_bytes)),
			 bytes[i], sizeof(bytes[i]));
		assert_int_equal(stixel_latest(r, &got), -EBADMSG);
	}
	stixel_close(r);
	sx_ring_destroy(ring);
}

/* ---- rings that a user other than the trusted owner may cut short ---- */

/*
 * Makes the ring untrusted: gives it to another user if the test is root, otherwise makes it writable by all.
 */
static void give_away(const char *path)
{
	assert_int_equal(geteuid() == 0 ? chown(path, NOBODY, (gid_t)-1) : chmod(path, 0666), 0);
}

/*
 * Copies the ring to a file that is not mapped, because the process that cuts it will not map it either.
 * Returns its bytes.
 */
static off_t copy_away(void)
{
	static uint8_t bytes[1 << 20];
	const int from = open(ring_path, O_RDONLY), to = open(other_path, O_CREAT | O_WRONLY, 0600);
	const ssize_t n = read(from, bytes, sizeof(bytes));

	assert_in_range(n, 1, sizeof(bytes) - 1);
	assert_int_equal(write(to, bytes, (size_t)n), n);
	close(from);
	close(to);
	give_away(other_path);
	return n;
}

static void a_foreign_ring_is_read(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_status s;
	struct stixel_reader *r;
	uint64_t lost;
	uint32_t bell;

	give_away(ring_path);
	r = reader_of(ring_path, STIXEL_OPEN_ANY_OWNER);
	assert_true(r->map.foreign);
	assert_int_equal(stixel_latest(r, &got), 1);
	assert_true(help_frame_good(got, &small));
	assert_int_equal(stixel_latest(r, &got), 0);
	assert_int_equal(stixel_wait(r, 1), 0);
	bell = sx_map_bell(&r->map);
	help_publish(ring, &small, EPOCH, 2);
	assert_true(sx_map_bell(&r->map) != bell);
	/* this call returns only because the kernel compares the bell word */
	assert_int_equal(sx_map_sleep(&r->map, bell, INT64_MAX), 0);
	assert_int_equal(stixel_wait(r, -1), 1);
	assert_int_equal(stixel_next(r, &got, &lost), 1);
	assert_int_equal(lost, 0);
	for (uint64_t n = 3; n <= 20; n++)
		help_publish(ring, &small, EPOCH, n);
	assert_int_equal(stixel_next(r, &got, &lost), 1);
	assert_int_equal(got->header->number, 3 + lost);
	assert_true(lost > 0 && help_frame_good(got, &small));
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ALIVE);
	assert_int_equal(s.head, 20);
	assert_true(s.heartbeat_age_ns < SX_NS_PER_S * 60);
	sx_ring_destroy(ring);
	assert_int_equal(stixel_latest(r, &got), 1); /* the frame that was published before the end */
	assert_int_equal(stixel_latest(r, &got), -EPIPE);
	stixel_close(r);
}

/* Any user can cut short a ring that all users may write to, regardless of its owner. */
static void a_ring_that_all_may_write_to(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_reader *r = reader_of(ring_path, 0);

	assert_false(r->map.foreign);
	stixel_close(r);
	assert_int_equal(chmod(ring_path, 0666), 0);
	r = reader_of(ring_path, 0);
	assert_true(r->map.foreign);
	stixel_close(r);
	sx_ring_destroy(ring);
}

/*
 * Cuts the ring to `bytes` under two readers that have taken frame 1 (taken) or nothing. One of the readers
 * follows.
 */
static void cut_to(off_t bytes, bool taken)
{
	struct stixel_reader *r = reader_of(other_path, STIXEL_OPEN_ANY_OWNER);
	struct stixel_reader *follower = reader_of(other_path, STIXEL_OPEN_ANY_OWNER | STIXEL_OPEN_FOLLOW);
	int e;

	if (taken) {
		assert_int_equal(stixel_latest(r, &got), 1);
		assert_int_equal(stixel_latest(follower, &got), 1);
	}
	assert_int_equal(truncate(other_path, bytes), 0);
	e = stixel_wait(r, 5000);
	assert_int_equal(e == 1 ? stixel_next(r, &got, NULL) : e, -EPROTO);
	assert_int_equal(stixel_latest(r, &got), -EPROTO);
	assert_int_equal(publisher_of(r), STIXEL_PUBLISHER_DIED);
	stixel_close(r);
	e = stixel_wait(follower, 5000);
	assert_int_equal(e == 1 ? stixel_latest(follower, &got) : e, -EPROTO);
	unlink(other_path);
	copy_away();
	assert_int_equal(stixel_latest(follower, &got), taken ? 0 : 1);
	assert_true(sx_reader_attached(follower));
	stixel_close(follower);
}

/*
 * A reader that maps the ring would die of SIGBUS: at the live part, at a slot, or in the middle of a frame.
 */
static void a_ring_that_is_cut_short(void **state)
{
	struct sx_ring *ring = ring_with(NULL);
	struct stixel_ring_header h;
	off_t slot;
	int fd;

	copy_away();
	fd = open(other_path, O_RDONLY);
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	close(fd);
	slot = (off_t)(h.slots_offset + h.slot_stride); /* slot of frame 1 */
	cut_to(0, true);
	cut_to(0, false);
	cut_to((off_t)h.live_offset, true);
	cut_to((off_t)h.live_offset, false);
	cut_to((off_t)h.slots_offset, false);
	cut_to(slot + 8, false);
	cut_to(slot + (off_t)h.slot_header_bytes + 100, false);
	sx_ring_destroy(ring);
}

/* ---- the socket ---- */

static int listen_at(const char *path)
{
	const int fd = sx_listener_make(path, 0600, (gid_t)-1, NULL);

	assert_true(fd >= 0);
	return fd;
}

static struct stixel_notice notice(void)
{
	return (struct stixel_notice){.magic = STIXEL_NOTICE_MAGIC,
				      .bytes = sizeof(struct stixel_notice),
				      .epoch = EPOCH,
				      .head = 9,
				      .heartbeat_ns = sx_now_ns(),
				      .state = STIXEL_STATE_RUNNING};
}

static void send_frame_to(int fd, uint64_t number)
{
	const size_t n = help_frame(frame, &small, EPOCH, number);

	assert_int_equal(send(fd, frame, n, 0), n);
}

static void what_no_publisher_says(void **state)
{
	int listener = listen_at(socket_path), fd;
	struct stixel_reader *r = reader_of(socket_path, STIXEL_OPEN_STREAM);
	struct stixel_notice n = notice();
	struct stixel_status s;

	fd = accept(listener, NULL, NULL);
	assert_int_equal(send(fd, "x", 1, 0), 1);
	n.magic = 5;
	assert_int_equal(send(fd, &n, sizeof(n), 0), sizeof(n));
	n = notice();
	n.bytes = 8;
	assert_int_equal(send(fd, &n, sizeof(n), 0), sizeof(n));
	assert_int_equal(stixel_next(r, &got, NULL), 0);
	assert_int_equal(r->link.notice.magic, 0); /* the reader accepted none of the notices */
	help_frame(frame, &small, EPOCH, 1);
	frame[100] ^= 1;
	assert_int_equal(send(fd, frame, 1024, 0), 1024);
	assert_int_equal(stixel_next(r, &got, NULL), -EBADMSG);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.corrupt, 1);

	/* a notice without a period means one second */
	n = notice();
	assert_int_equal(send(fd, &n, sizeof(n), 0), sizeof(n));
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_ALIVE);
	assert_int_equal(s.head, 9);
	n.heartbeat_period_ms = 1;
	assert_int_equal(send(fd, &n, sizeof(n), 0), sizeof(n));
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0); /* reads the notice */
	usleep(10000);
	assert_int_equal(stixel_status(r, &s, sizeof(s)), 0);
	assert_int_equal(s.publisher, STIXEL_PUBLISHER_STALLED);
	assert_int_equal(stixel_want_images(r, 0), 0);
	assert_int_equal(stixel_want_images(r, 1u << STIXEL_PLANE_LEFT), -ENOTSUP);
	stixel_close(r);
	close(fd);
	close(listener);
}

/* A publisher that sends a frame and ends, without any notice. */
static void a_publisher_of_few_words(void **state)
{
	int listener = listen_at(socket_path), fd;
	struct stixel_reader *r = reader_of(socket_path, STIXEL_OPEN_STREAM);

	fd = accept(listener, NULL, NULL);
	assert_int_equal(recv(fd, frame, sizeof(frame), 0), sizeof(struct stixel_hello));
	send_frame_to(fd, 1);
	close(fd);
	assert_int_equal(stixel_next(r, &got, NULL), 1);
	assert_int_equal(stixel_next(r, &got, NULL), -EPIPE);
	stixel_close(r);
	close(listener);
}

/* A publisher that sends more frames than one call takes. */
static void a_publisher_without_a_pause(void **state)
{
	int listener = listen_at(socket_path), fd, bytes = 1 << 20, most = 0;
	struct stixel_reader *r = reader_of(socket_path, STIXEL_OPEN_STREAM);

	fd = accept(listener, NULL, NULL);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	for (uint64_t n = 1; n <= 70; n++) {
		const size_t b = help_frame(frame, &small, EPOCH, n);

		most += send(fd, frame, b, MSG_DONTWAIT) == (ssize_t)b;
	}
	assert_int_equal(stixel_latest(r, &got), 1);
	if (most == 70) /* a small socket buffer takes fewer */
		assert_int_equal(got->header->number, 64);
	stixel_close(r);
	close(fd);
	close(listener);
}

/*
 * The path of the ring's socket leads to a socket of another type, or to a peer that sends unexpected
 * packets.
 */
static void bells(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct sx_ring *ring = ring_with(socket_path);
	struct stixel_reader *r = reader_of(ring_path, 0);
	struct sx_link link;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd;
	char far[112];

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", socket_path);
	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(sx_link_connect(&link, socket_path, STIXEL_WANT_BELL), -EPROTO);
	assert_int_equal(stixel_fd(r), -ENOTCONN);
	assert_int_equal(stixel_want_images(r, 1u << STIXEL_PLANE_LEFT), -ENOTCONN);
	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = 0;
	assert_int_equal(sx_link_connect(&link, far, STIXEL_WANT_BELL), -ENAMETOOLONG);
	close(listener);
	unlink(socket_path);

	listener = listen_at(socket_path);
	assert_true(stixel_fd(r) >= 0);
	fd = accept(listener, NULL, NULL);
	assert_int_equal(stixel_next(r, &got, NULL), 1);
	send_frame_to(fd, 1); /* the reader discards this frame */
	assert_int_equal(stixel_wait(r, 0), 0);
	usleep(250000); /* longer than the pause before a reader asks again for images */
	assert_int_equal(stixel_want_images(r, 1u << STIXEL_PLANE_LEFT), 0);
	r->bell_ns = 0;
	help_publish(ring, &small, EPOCH, 2);
	assert_int_equal(stixel_next(r, &got, NULL), 1);
	assert_true(r->bell.fd >= 0);
	close(fd);
	close(listener);
	/* a reader that asks for another image over a connection that has ended */
	unlink(socket_path);
	assert_int_equal(stixel_want_images(r, 1u << STIXEL_PLANE_RIGHT), -ENOTCONN);
	stixel_close(r);
	sx_ring_destroy(ring);
}

/*
 * Without a descriptor of the publisher's process, the reader checks for its end, but does not wait for it.
 */
static void a_bell_that_ends(void **state)
{
	int listener = listen_at(socket_path), fd;
	struct sx_ring *ring = ring_with(socket_path);
	struct stixel_reader *r = reader_of(ring_path, 0);

	assert_int_equal(stixel_next(r, &got, NULL), 1);
	assert_true(stixel_fd(r) >= 0);
	fd = accept(listener, NULL, NULL);
	close(r->map.pid_fd);
	r->map.pid_fd = -1;
	close(fd);
	assert_int_equal(stixel_wait(r, 0), 0);
	assert_int_equal(r->bell.fd, -1);
	stixel_close(r);
	sx_ring_destroy(ring);
	close(listener);
}

/* The reader tries each place of the instance's socket, and returns the first refusal. */
static void places_of_a_socket(void **state)
{
	struct stixel_reader r = {.link.fd = -1, .bell.fd = -1};
	struct sx_link link;
	char file[100];
	int listener;

	r.bell_want = STIXEL_WANT_BELL;
	snprintf(file, sizeof(file), "%s/file", dir);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	snprintf(r.socket_path[0], sizeof(r.socket_path[0]), "%s/below", file);
	snprintf(r.socket_path[2], sizeof(r.socket_path[2]), "%s", NOWHERE);
	assert_int_equal(sx_reader_connect(&r, &link, STIXEL_WANT_BELL), -ENOTDIR);
	/* in a container the publisher's own path does not exist */
	listener = listen_at(socket_path);
	snprintf(r.socket_path[1], sizeof(r.socket_path[1]), "%s", socket_path);
	snprintf(r.map.header.stream_path, sizeof(r.map.header.stream_path), "%s", NOWHERE);
	assert_int_equal(sx_bell_want(&r, STIXEL_WANT_BELL), 0);
	sx_link_close(&r.bell);
	close(listener);
}

/* ---- writers ---- */

static void writers(void **state)
{
	struct stixel_scores_format f = {
		.classes = 2, .image_width = 8, .image_height = 8, .scale = 4, .folder = dir};
	struct stixel_disparity_format d = {.width = 8, .height = 8, .folder = dir};
	struct stixel_disparity *map = NULL, *second = NULL;
	struct stixel_scores *scores = NULL;
	struct stixel_disparity_map m;
	struct stixel_scores_planes p;
	char name[32];

	assert_int_equal(stixel_scores_begin(NULL, &p), -EINVAL);
	assert_int_equal(stixel_disparity_begin(NULL, &m), -EINVAL);
	assert_int_equal(stixel_scores_create(&scores, "a", &f, sizeof(f)), 0);
	assert_int_equal(stixel_scores_begin(scores, NULL), -EINVAL);
	stixel_scores_close(scores);
	/* without a number of slots the default is used, and a field beyond the caller's struct is 0 */
	assert_int_equal(stixel_disparity_create(&map, "a", &d, sizeof(d)), 0);
	assert_int_equal(stixel_disparity_begin(map, NULL), -EINVAL);
	assert_int_equal(stixel_disparity_create(&second, "a", &d, sizeof(d)), 0);
	assert_int_equal(stixel_disparity_begin(map, &m), -ESTALE);
	stixel_disparity_close(second);
	stixel_disparity_close(map);
	assert_int_equal(stixel_disparity_create(&map, "a", &d, 4), -EINVAL);
	d.folder = NULL; /* the system's default folder */
	snprintf(name, sizeof(name), "test-%d", (int)getpid());
	assert_int_equal(stixel_disparity_create(&map, name, &d, sizeof(d)), 0);
	stixel_disparity_close(map);
	assert_int_equal(stixel_scores_create(&scores, "a", &f, 4), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(arguments),
		TEST(what_lies_at_the_path),
		TEST(whose_ring_it_is),
		TEST(a_publisher_that_has_ended),
		TEST(a_name_that_leads_elsewhere),
		TEST(unknown_processes),
		TEST(processes_by_number),
		TEST(damaged_slots),
		TEST(a_foreign_ring_is_read),
		TEST(a_ring_that_all_may_write_to),
		TEST(a_ring_that_is_cut_short),
		TEST(what_no_publisher_says),
		TEST(a_publisher_of_few_words),
		TEST(a_publisher_without_a_pause),
		TEST(bells),
		TEST(a_bell_that_ends),
		TEST(places_of_a_socket),
		TEST(writers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
