/*
 * Tests the writer of pairs against a daemon that this file plays, in the same thread. Time is simulated: the
 * clock advances only while the writer sleeps in poll(), and the daemon acts there (`turn`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "include/stixel_pairs.h"
#include "tests/ipc/help.h"

#define MS INT64_C(1000000)
#define WIDTH 100u /* px; rows of 128 bytes for 8 bits, 256 for 16 bits, 320 for RGB */
#define HEIGHT 40u

/* ---- the system that the writer sees ---- */

static int64_t now_ns;
static void (*turn)(void); /* the daemon's turn, when the writer sleeps */
static bool signalled;	   /* the next sleep is interrupted */
static int polls;
static int send_fails, send_error; /* the next calls of sendmsg() fail */
static bool old_kernel, no_memfd;

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	*t = (struct timespec){now_ns / (1000 * MS), now_ns % (1000 * MS)};
	return 0;
}

int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	int r;

	polls++;
	if (turn)
		turn();
	if (signalled) {
		signalled = false;
		errno = EINTR;
		return -1;
	}
	r = __real_poll(p, n, 0);
	if (r == 0)
		now_ns += ms * MS;
	return r;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	assert_true(flags & MSG_NOSIGNAL);
	if (send_fails > 0) {
		send_fails--;
		errno = send_error;
		return -1;
	}
	return __real_sendmsg(fd, m, flags);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
	if (no_memfd || (old_kernel && flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING))) {
		errno = no_memfd ? EMFILE : EINVAL;
		return -1;
	}
	return __real_memfd_create(name, flags);
}

/* ---- the daemon ---- */

static char dir[64], path[96];
static int fds_before;
static int listener, peer; /* peer: the connection that was accepted last */
static struct stixel_pairs_hello hello;
static int buffer_fd[STIXEL_PAIRS_BUFFERS_MAX];
static struct stixel_pairs_buffer buffer[STIXEL_PAIRS_BUFFERS_MAX];
static uint32_t buffers;
static struct stixel_pairs_pair last; /* pair that was received last */

static void daemon_start(const char *at)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at);
	unlink(at);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 4), 0);
}

static void hang_up(void)
{
	for (uint32_t i = 0; i < buffers; i++)
		close(buffer_fd[i]);
	buffers = 0;
	if (peer >= 0)
		close(peer);
	peer = -1;
}

/* Ends as a killed daemon does: the socket's file stays. */
static void daemon_die(void)
{
	hang_up();
	if (listener >= 0)
		close(listener);
	listener = -1;
}

static bool daemon_accept(void)
{
	assert_int_equal(peer, -1);
	peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return peer >= 0;
}

/* Receives a packet of exactly this size, and a descriptor (-1: none). False: there is none. */
static bool receive(void *to, size_t bytes, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {to, bytes};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	const ssize_t n = recvmsg(peer, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	*fd = -1;
	if (n <= 0)
		return false;
	assert_int_equal(n, bytes);
	assert_int_equal(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC), 0);
	if (c)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

static void read_hello(void)
{
	int fd;

	assert_true(receive(&hello, sizeof(hello), &fd));
	assert_int_equal(fd, -1);
	assert_int_equal(hello.magic, STIXEL_PAIRS_MAGIC);
	assert_int_equal(hello.kind, STIXEL_PAIRS_HELLO);
	assert_int_equal(hello.abi_major, STIXEL_ABI_MAJOR);
	assert_int_equal(hello.bytes, sizeof(hello));
}

static void read_buffers(uint32_t count)
{
	while (buffers < count) {
		struct stixel_pairs_buffer *b = &buffer[buffers];

		assert_true(receive(b, sizeof(*b), &buffer_fd[buffers]));
		assert_true(buffer_fd[buffers] >= 0);
		assert_int_equal(b->kind, STIXEL_PAIRS_BUFFER);
		assert_int_equal(b->index, buffers);
		buffers++;
	}
}

static void answer(uint32_t kind, uint64_t number, uint32_t fate, const char *text)
{
	struct stixel_pairs_answer a = {STIXEL_PAIRS_MAGIC, kind, number, fate, (uint32_t)strlen(text)};
	char packet[sizeof(a) + STIXEL_PAIRS_TEXT_BYTES];

	memcpy(packet, &a, sizeof(a));
	memcpy(packet + sizeof(a), text, a.text_bytes);
	assert_int_equal(send(peer, packet, sizeof(a) + a.text_bytes, MSG_NOSIGNAL),
			 sizeof(a) + a.text_bytes);
}

static void welcome(void)
{
	assert_true(daemon_accept());
	read_hello();
	read_buffers(hello.buffers);
	answer(STIXEL_PAIRS_WELCOME, 4, 0, "");
}

static bool read_pair(void)
{
	int fd;

	if (!receive(&last, sizeof(last), &fd))
		return false;
	assert_int_equal(last.magic, STIXEL_PAIRS_MAGIC);
	assert_int_equal(last.kind, STIXEL_PAIRS_PAIR);
	return true;
}

static void give_back(uint64_t number, uint32_t fate)
{
	answer(STIXEL_PAIRS_RETURNED, number, fate, "");
}

/* ---- help ---- */

static int setup(void **state)
{
	fds_before = help_fd_count();
	help_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/pairs.sock", dir);
	now_ns = 1000 * 1000 * MS;
	turn = NULL;
	signalled = old_kernel = no_memfd = false;
	polls = send_fails = 0;
	listener = peer = -1;
	buffers = 0;
	return 0;
}

static int teardown(void **state)
{
	daemon_die();
	help_dir_remove(dir);
	assert_int_equal(help_fd_count(), fds_before); /* neither the writer nor this daemon leaks any */
	return 0;
}

static struct stixel_pairs_format format(uint32_t pixel)
{
	return (struct stixel_pairs_format){.width = WIDTH, .height = HEIGHT, .pixel = pixel, .fps = 30};
}

static struct stixel_pairs *writer_of(struct stixel_pairs_format f)
{
	struct stixel_pairs *w = NULL;

	assert_int_equal(stixel_pairs_create_path(&w, path, &f, sizeof(f)), 0);
	return w;
}

static struct stixel_pairs *writer(void)
{
	return writer_of(format(STIXEL_PIXEL_GREY8));
}

static struct stixel_pairs *own_writer(void)
{
	struct stixel_pairs_format f = format(STIXEL_PIXEL_GREY8);

	f.flags = STIXEL_PAIRS_OWN_BUFFERS;
	return writer_of(f);
}

/* Connects the writer to a daemon that was started. */
static void join(struct stixel_pairs *w)
{
	assert_int_equal(stixel_pairs_connect(w, 0), 0);
	welcome();
	assert_int_equal(stixel_pairs_connect(w, 0), 1);
	assert_string_equal(stixel_pairs_why(w), "");
}

static int write_pair(struct stixel_pairs *w, int64_t ns)
{
	struct stixel_pairs_images to;

	assert_int_equal(stixel_pairs_begin(w, &to, 0), 1);
	return stixel_pairs_commit(w, &to, ns, ns + 1);
}

static struct stixel_pairs_counters counters(const struct stixel_pairs *w)
{
	struct stixel_pairs_counters c;

	assert_int_equal(stixel_pairs_counters(w, &c, sizeof(c)), 0);
	return c;
}

static void assert_why(const struct stixel_pairs *w, const char *part)
{
	if (!strstr(stixel_pairs_why(w), part))
		fail_msg("'%s' is not in '%s'", part, stixel_pairs_why(w));
}

/* ---- formats and buffers ---- */

static uint8_t content(uint32_t pixel, uint32_t side, uint32_t y, uint32_t x)
{
	return (uint8_t)(pixel + 100 * side + 7 * y + 3 * x);
}

static void fill(const struct stixel_pairs_images *to, uint32_t pixel, uint32_t row)
{
	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < row; x++) {
			to->left[y * to->pitch + x] = content(pixel, 0, y, x);
			to->right[y * to->pitch + x] = content(pixel, 1, y, x);
		}
}

/* The daemon sees the pixels through the descriptor that it was given, within the size that was declared. */
static void assert_images(uint32_t pixel, uint32_t row)
{
	const uint64_t bytes = buffer[last.left_buffer].bytes;
	const uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, buffer_fd[last.left_buffer], 0);
	bool same = true;

	assert_true(map != MAP_FAILED);
	assert_true(last.right_offset % 4096 == 0 && last.left_offset == 0);
	assert_true(last.right_offset + hello.format.pitch * HEIGHT <= bytes);
	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < row; x++)
			same = same &&
			       map[last.left_offset + y * hello.format.pitch + x] ==
				       content(pixel, 0, y, x) &&
			       map[last.right_offset + y * hello.format.pitch + x] == content(pixel, 1, y, x);
	assert_true(same);
	munmap((void *)map, bytes);
}

static void assert_sealed(uint32_t i)
{
	const int seals = fcntl(buffer_fd[i], F_GET_SEALS);
	struct stat st;

	assert_int_equal(seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_WRITE),
			 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	assert_int_equal(ftruncate(buffer_fd[i], 0), -1);
	assert_int_equal(fstat(buffer_fd[i], &st), 0);
	assert_int_equal(st.st_size, buffer[i].bytes);
}

static void every_kind_of_pixels(void **state)
{
	static const struct {
		uint32_t pixel, row;
	} kinds[] = {{STIXEL_PIXEL_GREY8, WIDTH},      {STIXEL_PIXEL_GREY16, 2 * WIDTH},
		     {STIXEL_PIXEL_RGB24, 3 * WIDTH},  {STIXEL_PIXEL_YUYV, 2 * WIDTH},
		     {STIXEL_PIXEL_UYVY, 2 * WIDTH},   {STIXEL_PIXEL_NV12, WIDTH},
		     {STIXEL_PIXEL_RGGB8, WIDTH},      {STIXEL_PIXEL_GRBG8, WIDTH},
		     {STIXEL_PIXEL_GBRG8, WIDTH},      {STIXEL_PIXEL_BGGR8, WIDTH},
		     {STIXEL_PIXEL_RGGB16, 2 * WIDTH}, {STIXEL_PIXEL_GRBG16, 2 * WIDTH},
		     {STIXEL_PIXEL_GBRG16, 2 * WIDTH}, {STIXEL_PIXEL_BGGR16, 2 * WIDTH}};

	daemon_start(path);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct stixel_pairs *w = writer_of(format(kinds[i].pixel));
		struct stixel_pairs_images to;

		join(w);
		assert_int_equal(hello.format.pixel, kinds[i].pixel);
		assert_int_equal(hello.format.pitch, (kinds[i].row + 63) / 64 * 64);
		assert_true(hello.format.fps == 30);
		assert_int_equal(hello.buffers, STIXEL_PAIRS_BUFFERS);
		for (uint32_t b = 0; b < buffers; b++)
			assert_sealed(b);
		assert_int_equal(stixel_pairs_begin(w, &to, 0), 1);
		assert_int_equal(to.pitch, hello.format.pitch);
		fill(&to, kinds[i].pixel, kinds[i].row);
		assert_int_equal(stixel_pairs_commit(w, &to, 5, 6), 0);
		assert_true(read_pair());
		assert_true(last.number == 1 && last.left_ns == 5 && last.right_ns == 6);
		assert_images(kinds[i].pixel, kinds[i].row);
		stixel_pairs_close(w);
		hang_up();
	}
}

static void formats_that_are_refused(void **state)
{
	struct stixel_pairs_format good = format(STIXEL_PIXEL_GREY16), f;
	struct stixel_pairs *w = NULL;
	char longer[109];

#define BAD(field, number)                                                                    \
	do {                                                                                  \
		f = good;                                                                     \
		f.field = (number);                                                           \
		assert_int_equal(stixel_pairs_create_path(&w, path, &f, sizeof(f)), -EINVAL); \
	} while (0)
	BAD(width, 31);
	BAD(width, 4097);
	BAD(height, 0);
	BAD(height, 2161);
	BAD(pixel, 0);
	BAD(pixel, 7);
	BAD(pixel, 24);
	BAD(pitch, 199);
	BAD(pitch, 201); /* odd */
	BAD(pitch, 65538);
	BAD(buffers, 1);
	BAD(buffers, 65);
	BAD(flags, 8);
	f = good;
	memset(f.name, 'x', sizeof(f.name));
	assert_int_equal(stixel_pairs_create_path(&w, path, &f, sizeof(f)), -EINVAL);
	assert_int_equal(stixel_pairs_create(&w, "../a", &good, sizeof(good)), -EINVAL);
	assert_int_equal(stixel_pairs_create(&w, "a", &good, 4), -EINVAL);
	assert_int_equal(stixel_pairs_create(NULL, "a", &good, sizeof(good)), -EINVAL);
	assert_int_equal(stixel_pairs_create(&w, "a", NULL, 0), -EINVAL);
	memset(longer, 'a', sizeof(longer));
	longer[108] = 0;
	assert_int_equal(stixel_pairs_create_path(&w, longer, &good, sizeof(good)), -ENAMETOOLONG);
	longer[107] = 0;
	assert_int_equal(stixel_pairs_create_path(&w, longer, &good, sizeof(good)), 0);
	stixel_pairs_close(w);
}

static void calls_out_of_order(void **state)
{
	struct stixel_pairs *w = writer();
	struct stixel_pairs_images to = {0};
	struct stixel_pairs_pair pair = {0};
	struct stixel_pairs_counters c;

	assert_int_equal(stixel_pairs_commit(w, &to, 0, 0), -EINVAL); /* the caller has not called begin */
	assert_int_equal(stixel_pairs_begin(w, &to, 0), 1);
	to.buffer++;
	assert_int_equal(stixel_pairs_commit(w, &to, 0, 0), -EINVAL);
	assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), -EINVAL);
	assert_int_equal(stixel_pairs_returned(w, NULL, NULL, 0), -EINVAL);
	assert_int_equal(stixel_pairs_add_buffer(w, 0, 4096), -EINVAL);
	assert_int_equal(stixel_pairs_fd(w), -ENOTCONN);
	assert_int_equal(counters(w).dropped, 0);
	stixel_pairs_close(w);
	assert_int_equal(stixel_pairs_begin(NULL, &to, 0), -EINVAL);
	assert_int_equal(stixel_pairs_commit(NULL, &to, 0, 0), -EINVAL);
	assert_int_equal(stixel_pairs_connect(NULL, 0), -EINVAL);
	assert_int_equal(stixel_pairs_counters(NULL, &c, sizeof(c)), -EINVAL);
	assert_int_equal(stixel_pairs_fd(NULL), -ENOTCONN);
	assert_non_null(stixel_pairs_why(NULL));
	stixel_pairs_close(NULL);
}

static void systems_that_refuse_memory(void **state)
{
	const struct stixel_pairs_format f = format(STIXEL_PIXEL_GREY8);
	struct stixel_pairs *w = NULL;

	no_memfd = true;
	assert_int_equal(stixel_pairs_create_path(&w, path, &f, sizeof(f)), -EMFILE);
	no_memfd = false;
	old_kernel = true; /* before 6.3 */
	daemon_start(path);
	w = writer();
	join(w);
	assert_sealed(0);
	stixel_pairs_close(w);
}

/* A program of the first version has a struct that ends earlier. */
static void fields_that_the_caller_does_not_have_are_0(void **state)
{
	struct stixel_pairs_format f = format(STIXEL_PIXEL_GREY8);
	struct stixel_pairs_counters c;
	struct stixel_pairs *w = NULL;

	f.fps = -1;
	assert_int_equal(stixel_pairs_create_path(&w, path, &f, offsetof(struct stixel_pairs_format, fps)),
			 0);
	daemon_start(path);
	join(w);
	assert_true(hello.format.fps == 0);
	assert_string_equal(hello.format.name, "test-ipc-pairs"); /* name of the process */
	memset(&c, 0xff, sizeof(c));
	assert_int_equal(stixel_pairs_counters(w, &c, 8), 0);
	assert_true(c.queued == 0 && c.connections == UINT64_MAX);
	stixel_pairs_close(w);
}

/* ---- the life of a pair ---- */

static void returns_the_first_pair(void)
{
	give_back(1, STIXEL_PAIR_TAKEN);
	turn = NULL;
}

static void buffers_circulate(void **state)
{
	struct stixel_pairs *w = writer();
	struct stixel_pairs_images to, again;

	daemon_start(path);
	join(w);
	assert_true(stixel_pairs_fd(w) >= 0);
	for (int i = 0; i < STIXEL_PAIRS_BUFFERS; i++) {
		assert_int_equal(write_pair(w, i), 0);
		assert_true(read_pair());
		assert_int_equal(last.left_buffer, i);
	}
	assert_int_equal(stixel_pairs_begin(w, &to, 0), 0); /* the daemon has all of them */
	assert_int_equal(polls, 0);
	assert_int_equal(stixel_pairs_begin(w, &to, 100), 0);
	assert_int_equal(now_ns, 1000 * 1000 * MS + 100 * MS);
	signalled = true;
	assert_int_equal(stixel_pairs_begin(w, &to, -1), -EINTR);
	turn = returns_the_first_pair;
	assert_int_equal(stixel_pairs_begin(w, &to, -1), 1); /* waits until the daemon returned one */
	assert_int_equal(to.buffer, 0);
	assert_int_equal(stixel_pairs_begin(w, &again, 0), 1); /* again without a commit: the same */
	assert_ptr_equal(again.left, to.left);
	give_back(3, STIXEL_PAIR_OVERLOAD);
	give_back(2, STIXEL_PAIR_BAD);
	give_back(3, STIXEL_PAIR_TAKEN); /* a second time: ignored */
	give_back(99, STIXEL_PAIR_TAKEN);
	assert_int_equal(stixel_pairs_commit(w, &to, 0, 0), 0);
	assert_int_equal(write_pair(w, 0), 0);
	assert_int_equal(counters(w).queued, 8);
	assert_int_equal(counters(w).returned[STIXEL_PAIR_TAKEN], 1);
	assert_int_equal(counters(w).returned[STIXEL_PAIR_OVERLOAD], 1);
	assert_int_equal(counters(w).returned[STIXEL_PAIR_BAD], 1);
	stixel_pairs_close(w);
}

static void own_buffers(void **state)
{
	struct stixel_pairs *w = own_writer();
	struct stixel_pairs_pair pair = {
		.left_offset = 10, .right_buffer = 1, .right_offset = 20, .left_ns = 7};
	const uint64_t bytes = 2 * 128 * HEIGHT;
	const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stixel_pairs_images to;
	uint64_t number;
	uint32_t fate;

	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(stixel_pairs_connect(w, 0), -EINVAL); /* no buffers */
	assert_int_equal(stixel_pairs_returned(w, &number, &fate, -1), 0);
	assert_int_equal(stixel_pairs_add_buffer(w, -1, 0), -EBADF);
	assert_int_equal(stixel_pairs_add_buffer(w, fd, 0), 0);
	assert_int_equal(stixel_pairs_add_buffer(w, fd, bytes), 1);
	close(fd); /* the library has a duplicate */
	assert_int_equal(stixel_pairs_begin(w, &to, 0), -EINVAL);
	daemon_start(path);
	join(w);
	assert_int_equal(stixel_pairs_add_buffer(w, 0, bytes), -EINVAL);
	assert_true(buffers == 2 && buffer[0].bytes == bytes && buffer[1].bytes == bytes);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), 0);
		assert_int_equal(pair.number, i);
		assert_true(read_pair() && last.number == i && last.right_offset == 20 && last.left_ns == 7);
	}
	/* images that reach beyond their buffer */
	pair.right_offset = bytes - (128 * (HEIGHT - 1) + WIDTH);
	assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), 0);
	pair.right_offset++;
	assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), -EINVAL);
	pair.right_offset = UINT64_MAX;
	assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), -EINVAL);
	pair.right_offset = 0;
	pair.left_buffer = 2;
	assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), -EINVAL);

	assert_int_equal(stixel_pairs_returned(w, &number, &fate, 10), 0);
	give_back(2, STIXEL_PAIR_OVERLOAD);
	give_back(1, 77); /* a fate of a later version */
	assert_int_equal(stixel_pairs_returned(w, &number, &fate, -1), 1);
	assert_true(number == 2 && fate == STIXEL_PAIR_OVERLOAD);
	assert_int_equal(stixel_pairs_returned(w, &number, &fate, -1), 1);
	assert_true(number == 1 && fate == STIXEL_PAIR_OVERLOAD);
	daemon_die();
	assert_int_equal(stixel_pairs_returned(w, &number, &fate, -1), 1);
	assert_true(number == 3 && fate == STIXEL_PAIR_LOST);
	assert_int_equal(stixel_pairs_returned(w, NULL, NULL, -1), 1);
	assert_int_equal(stixel_pairs_returned(w, &number, &fate, -1), 0); /* the daemon has no pair */
	assert_int_equal(counters(w).lost, 2);
	stixel_pairs_close(w);
}

/* A caller that never takes what came back loses pairs, not memory. */
static void no_more_than_256_pairs_are_away(void **state)
{
	struct stixel_pairs *w = own_writer();
	struct stixel_pairs_pair pair = {0};
	const int fd = memfd_create("test", MFD_CLOEXEC);
	uint64_t number;

	for (int i = 0; i < STIXEL_PAIRS_BUFFERS_MAX; i++)
		assert_int_equal(stixel_pairs_add_buffer(w, fd, 1 << 20), i);
	assert_int_equal(stixel_pairs_add_buffer(w, fd, 1 << 20), -ENOSPC);
	close(fd);
	daemon_start(path);
	join(w);
	for (int i = 0; i < 256; i++) {
		assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), 0);
		assert_true(read_pair());
		if (i % 2)
			give_back(last.number, STIXEL_PAIR_TAKEN);
	}
	assert_int_equal(stixel_pairs_queue(w, &pair, sizeof(pair)), -EAGAIN);
	assert_int_equal(counters(w).dropped, 1);
	hang_up();
	for (int i = 0; i < 256; i++)
		assert_int_equal(stixel_pairs_returned(w, &number, NULL, 0), 1);
	assert_int_equal(stixel_pairs_returned(w, &number, NULL, 0), 0);
	assert_true(counters(w).lost == 128 && counters(w).returned[STIXEL_PAIR_TAKEN] == 128);
	stixel_pairs_close(w);
}

static void a_daemon_that_does_not_read(void **state)
{
	struct stixel_pairs_format f = format(STIXEL_PIXEL_GREY8);
	struct stixel_pairs *w;
	struct stixel_pairs_images to;
	int r = 0, small = 1, given = 0;

	f.buffers = STIXEL_PAIRS_BUFFERS_MAX;
	w = writer_of(f);
	daemon_start(path);
	join(w);
	assert_int_equal(setsockopt(stixel_pairs_fd(w), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	for (; r == 0 && given < 60; given++)
		r = write_pair(w, 0);
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(counters(w).dropped, 1);
	assert_int_equal(stixel_pairs_begin(w, &to, 0), 1); /* the pair's buffer is free */
	while (read_pair())
		;
	assert_int_equal(stixel_pairs_commit(w, &to, 0, 0), 0);
	assert_int_equal(counters(w).queued, given);
	stixel_pairs_close(w);
}

/* ---- no daemon, and daemons that go wrong ---- */

static void without_a_daemon(void **state)
{
	struct stixel_pairs *w = writer();
	char sentence[256];
	int other;

	assert_why(w, "has not tried");
	assert_int_equal(write_pair(w, 1), -ENOTCONN);
	snprintf(sentence, sizeof(sentence),
		 "no daemon takes pairs at %s: is stixeld running with source.kind = shared?", path);
	assert_string_equal(stixel_pairs_why(w), sentence);
	daemon_start(path);
	assert_int_equal(write_pair(w, 2), -ENOTCONN); /* the next attempt is not due yet */
	assert_int_equal(polls, 0);
	assert_false(daemon_accept());
	assert_int_equal(stixel_pairs_connect(w, 1000), 0); /* waits until it is due, then for the answer */
	assert_why(w, "has not answered yet");
	welcome();
	assert_int_equal(write_pair(w, 3), 0);
	assert_true(counters(w).dropped == 2 && counters(w).queued == 1 && counters(w).connections == 1);
	stixel_pairs_close(w);
	daemon_die(); /* leaves the file of the socket */
	w = writer();
	assert_int_equal(stixel_pairs_connect(w, 0), 0);
	assert_string_equal(stixel_pairs_why(w), sentence);
	stixel_pairs_close(w);
	unlink(path);
	other = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	close(other);
	w = writer();
	assert_int_equal(stixel_pairs_connect(w, 300), 0);
	assert_string_equal(stixel_pairs_why(w), sentence); /* a file that is no socket has no listener */
	stixel_pairs_close(w);
}

static void a_socket_of_another_kind(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stixel_pairs *w = writer();

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(stixel_pairs_connect(w, 0), 0);
	assert_why(w, "is not a socket of stixeld");
	stixel_pairs_close(w);
}

static void users_without_permission(void **state)
{
	int status;
	pid_t pid;

	daemon_start(path);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(path, 0600), 0);
	CHILD(pid, {
		struct stixel_pairs *w;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(77);
		w = writer();
		if (stixel_pairs_connect(w, 1000) != -EACCES || !strstr(stixel_pairs_why(w), path) ||
		    !strstr(stixel_pairs_why(w), "join group stixel-feed"))
			_exit(1);
		stixel_pairs_close(w);
		daemon_die();
	});
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
}

static void the_instance_of_a_user(void **state)
{
	const struct stixel_pairs_format f = format(STIXEL_PIXEL_GREY8);
	const char *name = "test-pairs-of-nowhere";
	char folder[128], at[160];
	struct stixel_pairs *w;

	assert_int_equal(setenv("XDG_RUNTIME_DIR", dir, 1), 0);
	assert_int_equal(stixel_pairs_create(&w, name, &f, sizeof(f)), 0);
	assert_int_equal(stixel_pairs_connect(w, 0), 0);
	assert_string_equal(stixel_pairs_why(w),
			    "no daemon takes pairs at /run/stixeld/test-pairs-of-nowhere/pairs.sock: is "
			    "stixeld@test-pairs-of-nowhere running with source.kind = shared?");
	snprintf(folder, sizeof(folder), "%s/stixeld", dir);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(folder, sizeof(folder), "%s/stixeld/%s", dir, name);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(at, sizeof(at), "%s/pairs.sock", folder);
	daemon_start(at);
	now_ns += 250 * MS;
	join(w);
	stixel_pairs_close(w);
	unlink(at);
	rmdir(folder);
	snprintf(folder, sizeof(folder), "%s/stixeld", dir);
	rmdir(folder);
	unsetenv("XDG_RUNTIME_DIR");
}

static void refuses_at_hello(void)
{
	if (peer < 0 && daemon_accept()) {
		read_hello();
		answer(STIXEL_PAIRS_REFUSED, 0, 0, "images of 100x40: camera.width is 1280");
		hang_up(); /* the buffers were not read */
	}
}

static void a_refusal(void **state)
{
	struct stixel_pairs *w = writer();

	daemon_start(path);
	turn = refuses_at_hello;
	assert_int_equal(stixel_pairs_connect(w, 10000), -ECONNREFUSED);
	assert_string_equal(stixel_pairs_why(w), "images of 100x40: camera.width is 1280");
	turn = NULL;
	assert_int_equal(write_pair(w, 1), -ENOTCONN);
	now_ns += 999 * MS;
	assert_int_equal(write_pair(w, 1), -ENOTCONN);
	assert_false(daemon_accept()); /* the next attempt is due a second after the refusal */
	now_ns += MS;
	assert_int_equal(write_pair(w, 1), -ENOTCONN);
	assert_why(w, "camera.width"); /* stays until there is an answer */
	welcome();
	assert_int_equal(write_pair(w, 1), 0);
	/* a refusal of a writer that was welcome, while a pair is away */
	answer(STIXEL_PAIRS_REFUSED, 0, 0, "buffer 3 is\x1b[2J gone");
	hang_up();
	assert_int_equal(write_pair(w, 1), -ENOTCONN);
	assert_string_equal(stixel_pairs_why(w), "buffer 3 is?[2J gone");
	assert_true(counters(w).lost == 1 && counters(w).dropped == 4 && counters(w).connections == 1);
	stixel_pairs_close(w);
}

/* text_bytes beyond the packet, no text, and a text of the greatest length */
static void refusals_with_other_texts(void **state)
{
	struct stixel_pairs_answer lie = {STIXEL_PAIRS_MAGIC, STIXEL_PAIRS_REFUSED, 0, 0, UINT32_MAX};
	struct stixel_pairs *w = writer();
	char text[STIXEL_PAIRS_TEXT_BYTES + 1];

	daemon_start(path);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stixel_pairs_connect(w, 0), i ? -ECONNREFUSED : 0); /* connects again */
		assert_true(daemon_accept());
		memset(text, 'a' + i, sizeof(text) - 1);
		text[sizeof(text) - 1] = 0;
		if (i < 2)
			assert_int_equal(send(peer, &lie, sizeof(lie), 0), sizeof(lie));
		else
			answer(STIXEL_PAIRS_REFUSED, 0, 0, text);
		assert_int_equal(stixel_pairs_connect(w, 0), -ECONNREFUSED);
		hang_up();
		if (i < 2)
			assert_why(w, "gives no reason");
		else
			assert_string_equal(stixel_pairs_why(w), text);
		lie.text_bytes = 0;
		now_ns += 1000 * MS;
	}
	stixel_pairs_close(w);
}

/* patience_ms: how long the writer waits for a daemon that hangs or has much to do. */
static void wait_for_an_answer(struct stixel_pairs *w, int patience_ms)
{
	const int64_t start = now_ns;

	assert_int_equal(stixel_pairs_connect(w, patience_ms - 1), 0);
	assert_why(w, "has not answered yet");
	assert_true(daemon_accept()); /* accepting it and reading is no answer */
	read_hello();
	assert_int_equal(stixel_pairs_connect(w, 1), 0);
	assert_why(w, "does not answer");
	assert_int_equal(stixel_pairs_fd(w), -ENOTCONN);
	assert_int_equal(now_ns, start + patience_ms * MS);
	assert_true(polls < 10);
	hang_up();
	join(w); /* the writer connects again at once */
	stixel_pairs_close(w);
}

static void a_daemon_that_does_not_answer(void **state)
{
	struct stixel_pairs_format large = format(STIXEL_PIXEL_GREY8);

	daemon_start(path);
	wait_for_an_answer(writer(), 5000);
	hang_up();
	/* the daemon may need long for the memory and the frames of large images */
	large.width = 4096;
	large.height = 2160;
	polls = 0;
	wait_for_an_answer(writer_of(large), 45000);
}

/* The daemon dies after each step of the greeting, and with pairs away. */
static void a_daemon_that_dies(void **state)
{
	for (int step = 0; step < 6; step++) {
		struct stixel_pairs *w = writer();
		struct stixel_pairs_images to;

		daemon_start(path);
		assert_int_equal(stixel_pairs_connect(w, 0), 0);
		if (step >= 1)
			assert_true(daemon_accept());
		if (step >= 2)
			read_hello();
		if (step >= 3)
			read_buffers(3);
		if (step >= 4) {
			read_buffers(6);
			answer(STIXEL_PAIRS_WELCOME, 4, 0, "");
			assert_int_equal(stixel_pairs_connect(w, 0), 1);
		}
		for (int i = 0; step >= 5 && i < 6; i++)
			assert_int_equal(write_pair(w, i), 0);
		daemon_die();
		if (step < 5)
			assert_int_equal(write_pair(w, 9), -ENOTCONN);
		assert_int_equal(stixel_pairs_begin(w, &to, -1), 1); /* every buffer is free again */
		assert_int_equal(counters(w).lost, step == 5 ? 6 : 0);
		assert_int_equal(counters(w).dropped, step < 5);
		assert_why(w, "has ended the connection");
		assert_int_equal(stixel_pairs_fd(w), -ENOTCONN);
		daemon_start(path);
		now_ns += 250 * MS;
		assert_int_equal(stixel_pairs_commit(w, &to, 0, 0), -ENOTCONN);
		welcome();
		assert_int_equal(write_pair(w, 9), 0);
		assert_true(read_pair() && last.left_ns == 9);
		stixel_pairs_close(w);
		daemon_die();
	}
}

/* A daemon that was connected for long and is replaced: the very next pair goes to the new one. */
static void a_daemon_that_is_replaced(void **state)
{
	struct stixel_pairs *w = writer();

	daemon_start(path);
	join(w);
	now_ns += 60 * 1000 * MS;
	daemon_die();
	daemon_start(path);
	assert_int_equal(write_pair(w, 1), -ENOTCONN); /* connects */
	welcome();
	assert_int_equal(write_pair(w, 2), 0);
	assert_int_equal(counters(w).connections, 2);
	stixel_pairs_close(w);
}

static void answers_that_are_none(void **state)
{
	static const struct stixel_pairs_answer other = {0x12345678, STIXEL_PAIRS_WELCOME, 0, 0, 0};
	static const uint8_t noise[3000];

	for (int i = 0; i < 4; i++) {
		struct stixel_pairs *w = writer();

		daemon_start(path);
		assert_int_equal(stixel_pairs_connect(w, 0), 0);
		assert_true(daemon_accept());
		if (i == 0)
			assert_int_equal(send(peer, &other, sizeof(other), 0), sizeof(other));
		if (i == 1)
			assert_int_equal(send(peer, &other, 5, 0), 5);
		if (i == 2)
			assert_int_equal(send(peer, noise, sizeof(noise), 0), sizeof(noise));
		if (i == 3) { /* right magic, too short */
			struct stixel_pairs_answer a = {STIXEL_PAIRS_MAGIC, STIXEL_PAIRS_WELCOME, 0, 0, 0};

			assert_int_equal(send(peer, &a, 23, 0), 23);
		}
		assert_int_equal(stixel_pairs_connect(w, 0), 0);
		assert_why(w, "no answers to a writer of pairs");
		assert_int_equal(stixel_pairs_fd(w), -ENOTCONN);
		stixel_pairs_close(w);
		daemon_die();
	}
}

/* Kinds of a later version, and answers at the wrong time, do no harm. */
static void answers_at_the_wrong_time(void **state)
{
	struct stixel_pairs *w = writer();

	daemon_start(path);
	assert_int_equal(stixel_pairs_connect(w, 0), 0);
	assert_true(daemon_accept());
	give_back(1, STIXEL_PAIR_TAKEN);
	answer(77, 1, 0, "later");
	assert_int_equal(write_pair(w, 1), -ENOTCONN);
	answer(STIXEL_PAIRS_WELCOME, 4, 0, "");
	answer(STIXEL_PAIRS_WELCOME, 4, 0, "");
	assert_int_equal(write_pair(w, 2), 0);
	assert_int_equal(counters(w).connections, 1);
	assert_int_equal(counters(w).returned[STIXEL_PAIR_TAKEN], 0);
	stixel_pairs_close(w);
}

static void a_greeting_that_does_not_fit(void **state)
{
	static const int errors[] = {EAGAIN, ENOBUFS, ETOOMANYREFS};

	daemon_start(path);
	for (size_t i = 0; i < 3; i++) {
		struct stixel_pairs *w = writer();

		send_error = errors[i];
		send_fails = 20;
		polls = 0;
		assert_int_equal(stixel_pairs_connect(w, 0), 0);
		assert_int_equal(stixel_pairs_connect(w, 1000),
				 0); /* the writer sends it later, after pauses */
		assert_int_equal(send_fails, 0);
		assert_true(polls < 25);
		welcome();
		assert_int_equal(stixel_pairs_connect(w, 0), 1);
		stixel_pairs_close(w);
		hang_up();
	}
}

static void two_writers(void **state)
{
	struct stixel_pairs *a = writer(), *b = writer();
	int first;

	daemon_start(path);
	join(a);
	assert_int_equal(write_pair(a, 1), 0);
	first = peer;
	peer = -1;
	assert_int_equal(stixel_pairs_connect(b, 0), 0);
	assert_true(daemon_accept());
	answer(STIXEL_PAIRS_REFUSED, 0, 0, "process 7 gives pairs already");
	close(peer);
	peer = first;
	assert_int_equal(stixel_pairs_connect(b, 0), -ECONNREFUSED);
	assert_true(read_pair());
	give_back(last.number, STIXEL_PAIR_TAKEN);
	assert_int_equal(write_pair(a, 2), 0);
	assert_int_equal(counters(a).returned[STIXEL_PAIR_TAKEN], 1);
	stixel_pairs_close(a);
	hang_up();
	now_ns += 1000 * MS;
	assert_int_equal(write_pair(b, 3), -ENOTCONN);
	welcome();
	assert_int_equal(write_pair(b, 3), 0);
	stixel_pairs_close(b);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_kind_of_pixels),
		TEST(formats_that_are_refused),
		TEST(calls_out_of_order),
		TEST(systems_that_refuse_memory),
		TEST(fields_that_the_caller_does_not_have_are_0),
		TEST(buffers_circulate),
		TEST(own_buffers),
		TEST(no_more_than_256_pairs_are_away),
		TEST(a_daemon_that_does_not_read),
		TEST(without_a_daemon),
		TEST(a_socket_of_another_kind),
		TEST(users_without_permission),
		TEST(the_instance_of_a_user),
		TEST(a_refusal),
		TEST(refusals_with_other_texts),
		TEST(a_daemon_that_does_not_answer),
		TEST(a_daemon_that_dies),
		TEST(a_daemon_that_is_replaced),
		TEST(answers_that_are_none),
		TEST(answers_at_the_wrong_time),
		TEST(a_greeting_that_does_not_fit),
		TEST(two_writers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
