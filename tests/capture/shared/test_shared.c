/*
 * Tests source "shared" from the writer's side of the socket, without the library: right messages, and every wrong
 * one. After each test the process has as many descriptors and mapped buffers as before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/source.h"
#include "capture/v4l2/raw.h"
#include "stixel_pairs.h"
#include "tests/capture/image_files.h"
#include "tests/check.h"
#include "tests/emulated.h"

#define W 66
#define H 34
#define PITCH 192 /* pitch of one-byte pixels, bytes; other pixels have a multiple of it */
#define RIGHT 8192
#define BYTES 16384
#define BUFFERS 4
#define SLOTS 3
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* ---- the writer ---- */

struct answer {
	struct stixel_pairs_answer is;
	char text[STIXEL_PAIRS_TEXT_BYTES + 1];
};

static struct sx_pairs_socket listener;
static struct sx_why why;
static int fds_before;

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int count_buffers(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:") != NULL;
	fclose(f);
	return n;
}

static int memory_of(size_t bytes, unsigned seals, unsigned flags)
{
	int fd = memfd_create("pair", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int connect_writer(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", listener.path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Sends a message with `count` copies of a descriptor. */
static void give(int fd, const void *message, size_t bytes, int descriptor, int count)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(8 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)message, .iov_len = bytes};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	assert_true(count <= 8);
	if (count) {
		struct cmsghdr *c = (struct cmsghdr *)room;

		m.msg_control = room;
		m.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
		for (int i = 0; i < count; i++)
			memcpy(CMSG_DATA(c) + (size_t)i * sizeof(int), &descriptor, sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &m, MSG_NOSIGNAL), bytes);
}

static struct stixel_pairs_hello good_hello(void)
{
	return (struct stixel_pairs_hello){
		.magic = STIXEL_PAIRS_MAGIC,
		.kind = STIXEL_PAIRS_HELLO,
		.abi_major = STIXEL_ABI_MAJOR,
		.abi_minor = STIXEL_ABI_MINOR,
		.bytes = sizeof(struct stixel_pairs_hello),
		.buffers = BUFFERS,
		.format = {.width = W,
			   .height = H,
			   .pixel = STIXEL_PIXEL_GREY8,
			   .pitch = PITCH,
			   .clock = STIXEL_CLOCK_MONOTONIC,
			   .stamp = STIXEL_STAMP_EXPOSURE_START,
			   .fps = 25,
			   .name = "test"},
	};
}

static struct stixel_pairs_buffer good_buffer(uint32_t index, uint64_t bytes)
{
	return (struct stixel_pairs_buffer){
		.magic = STIXEL_PAIRS_MAGIC, .kind = STIXEL_PAIRS_BUFFER, .index = index, .bytes = bytes};
}

static void give_buffer(int fd, const struct stixel_pairs_buffer *b, int memory)
{
	give(fd, b, sizeof(*b), memory, 1);
}

/* Sends hello and buffers. Buffer i has bytes of `memory`, or its own memory if that is -1. */
static void introduce(int fd, const struct stixel_pairs_hello *hello, int memory, uint64_t bytes)
{
	give(fd, hello, sizeof(*hello), -1, 0);
	for (uint32_t i = 0; i < hello->buffers; i++) {
		const struct stixel_pairs_buffer b = good_buffer(i, bytes);
		int own = memory >= 0 ? memory : memory_of(bytes, F_SEAL_SHRINK, 0);

		give_buffer(fd, &b, own);
		if (own != memory)
			close(own);
	}
}

static struct stixel_pairs_pair good_pair(uint64_t number)
{
	return (struct stixel_pairs_pair){.magic = STIXEL_PAIRS_MAGIC,
					  .kind = STIXEL_PAIRS_PAIR,
					  .number = number,
					  .left_buffer = (uint32_t)(number % BUFFERS),
					  .right_buffer = (uint32_t)(number % BUFFERS),
					  .right_offset = RIGHT,
					  .left_ns = sx_now_ns() - 1000,
					  .right_ns = sx_now_ns() - 2000};
}

static void give_pair(int fd, uint64_t number)
{
	const struct stixel_pairs_pair p = good_pair(number);

	give(fd, &p, sizeof(p), -1, 0);
}

/* Takes the next answer. Returns false at the end of the connection. Fails if there is none. */
static bool take_answer(int fd, struct answer *a)
{
	char message[sizeof(a->is) + STIXEL_PAIRS_TEXT_BYTES];
	ssize_t n;

	do
		n = recv(fd, message, sizeof(message), MSG_DONTWAIT);
	while (n < 0 && errno == ECONNRESET); /* the daemon closed with messages unread */
	assert_true(n >= 0);
	if (n == 0)
		return false;
	memset(a, 0, sizeof(*a));
	memcpy(&a->is, message, sizeof(a->is));
	assert_int_equal(a->is.magic, STIXEL_PAIRS_MAGIC);
	assert_int_equal((size_t)n, sizeof(a->is) + a->is.text_bytes);
	memcpy(a->text, message + sizeof(a->is), a->is.text_bytes);
	return true;
}

static void expect_answer(int fd, uint32_t kind, uint64_t number, uint32_t fate)
{
	struct answer a;

	assert_true(take_answer(fd, &a));
	assert_int_equal(a.is.kind, kind);
	assert_int_equal(a.is.number, number);
	assert_int_equal(a.is.fate, fate);
}

static void expect_no_answer(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Expects the sentence that the source has given, after other answers, and then the end of the connection. */
static void expect_refused(int fd)
{
	struct answer a;

	do
		assert_true(take_answer(fd, &a));
	while (a.is.kind == STIXEL_PAIRS_RETURNED);
	assert_int_equal(a.is.kind, STIXEL_PAIRS_REFUSED);
	assert_string_equal(a.text, why.text);
	assert_false(take_answer(fd, &a));
}

/* ---- the source ---- */

static struct sx_source_params params(void)
{
	return (struct sx_source_params){
		.kind = SX_SOURCE_SHARED, .layout = SX_LAYOUT_TWO, .socket = &listener, .timeout_ms = 60000};
}

static void expect_not_open(const char *sentence)
{
	const struct sx_source_params p = params();
	struct sx_source *s = NULL;

	sx_why_clear(&why);
	assert_int_equal(sx_source_open(&s, &p, SLOTS, &why), -ENODEV);
	assert_null(s);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
	assert_int_equal(count_buffers(), 0);
}

static struct sx_source *open_with(const struct sx_source_params *p)
{
	struct sx_source *s = NULL;

	if (sx_source_open(&s, p, SLOTS, &why) < 0)
		fail_msg("%s", why.text);
	return s;
}

/* Connects a writer with this hello and opens the source. */
static struct sx_source *open_good(const struct stixel_pairs_hello *hello, int *fd, int memory,
				   uint64_t bytes)
{
	const struct sx_source_params p = params();
	struct sx_source *s;

	*fd = connect_writer();
	introduce(*fd, hello, memory, bytes);
	s = open_with(&p);
	expect_answer(*fd, STIXEL_PAIRS_WELCOME, SLOTS, 0);
	return s;
}

static struct sx_source *open_usual(int *fd)
{
	const struct stixel_pairs_hello hello = good_hello();

	return open_good(&hello, fd, -1, BYTES);
}

static struct sx_pair take(struct sx_source *s)
{
	struct sx_pair pair;
	int r = sx_source_next(s, &pair, &why);

	if (r != 1)
		fail_msg("%d %s", r, r < 0 ? why.text : "");
	return pair;
}

static void expect_end(struct sx_source *s, const char *sentence)
{
	struct sx_pair pair;

	sx_why_clear(&why);
	assert_int_equal(sx_source_next(s, &pair, &why), -ENODEV);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
}

static void finish(struct sx_source *s, int fd)
{
	sx_source_close(s);
	if (fd >= 0)
		close(fd);
	assert_int_equal(count_buffers(), 0);
}

static int setup(void **state)
{
	static char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	folder_setup(state);
	fds_before = count_fds();
	snprintf(path, sizeof(path), "%s", in_folder(*state, "pairs.sock"));
	listener.path = path;
	listener.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return bind(listener.fd, (struct sockaddr *)&a, sizeof(a)) | listen(listener.fd, 8);
}

static int teardown(void **state)
{
	close(listener.fd);
	if (count_fds() != fds_before)
		print_error("%d descriptors instead of %d\n", count_fds(), fds_before);
	return folder_teardown(state) | (count_fds() != fds_before);
}

/* ---- hello ---- */

static void nobody(void **state)
{
	(void)state;
	expect_not_open("no process writes pairs to ");
	assert_non_null(strstr(why.text, listener.path));
}

static void add_camera(struct stixel_pairs_hello *h)
{
	h->format.fx = h->format.fy = 40;
	h->format.cx = W / 2.0;
	h->format.cy = H / 2.0;
	h->format.baseline_m = 0.1;
}

static void add_rig(struct stixel_pairs_hello *h)
{
	add_camera(h);
	h->format.flags |= STIXEL_PAIRS_RAW;
	for (int i = 0; i < 2; i++) {
		struct stixel_raw_camera *c = &h->format.raw[i];

		c->fx = c->fy = 40;
		c->cx = W / 2.0;
		c->cy = H / 2.0;
		c->distortion[0] = -0.05;
		c->rotation[0] = c->rotation[4] = c->rotation[8] = 1;
	}
}

enum hello_of { PLAIN, GREY16, BAYER16, CAMERA, RIG };

/* A good hello of this kind, in which one field, of `bytes` bytes, has this value. */
#define BROKEN(kind, field, number)                                     \
	.of = (kind), .at = offsetof(struct stixel_pairs_hello, field), \
	.bytes = sizeof(((struct stixel_pairs_hello *)0)->field), .value = (number)

static const struct {
	enum hello_of of;
	size_t at, bytes;
	double value;
	const char *sentence;
} broken_hellos[] = {
	{BROKEN(PLAIN, magic, 1), "another message than a hello"},
	{BROKEN(PLAIN, kind, STIXEL_PAIRS_PAIR), "another message than a hello"},
	{BROKEN(PLAIN, bytes, sizeof(struct stixel_pairs_hello) - 1), "another message than a hello"},
	{BROKEN(PLAIN, abi_major, STIXEL_ABI_MAJOR + 1), "version"},
	{BROKEN(PLAIN, buffers, 0), "0 buffers, allowed are 1 to 64"},
	{BROKEN(PLAIN, buffers, 65), "65 buffers, allowed are 1 to 64"},
	{BROKEN(PLAIN, buffers, UINT32_MAX), "4294967295 buffers"},
	{BROKEN(PLAIN, format.width, 31), "31x34"},
	{BROKEN(PLAIN, format.height, 31), "66x31"},
	{BROKEN(PLAIN, format.width, 4097), "4097x34"},
	{BROKEN(PLAIN, format.height, UINT32_MAX), "66x4294967295"},
	{BROKEN(PLAIN, format.pixel, 0), "pixel format 0 is unknown"},
	{BROKEN(PLAIN, format.pixel, 24), "pixel format 24 is unknown"},
	{BROKEN(PLAIN, format.pitch, 0), "a pitch of 0 bytes"},
	{BROKEN(PLAIN, format.pitch, W - 1), "a pitch of 65 bytes"},
	{BROKEN(PLAIN, format.pitch, UINT32_MAX), "a pitch of 4294967295 bytes"},
	{BROKEN(GREY16, format.pitch, 2 * W + 1), "a pitch of 133 bytes is odd"},
	{BROKEN(BAYER16, format.pitch, 2 * W + 1), "a pitch of 133 bytes is odd"},
	{BROKEN(PLAIN, format.clock, 99), "clock 99 or"},
	{BROKEN(PLAIN, format.stamp, UINT32_MAX), "stamp 4294967295 is unknown"},
	{BROKEN(PLAIN, format.fps, -1), "-1 pairs a second"},
	{BROKEN(PLAIN, format.fps, (double)NAN), "nan pairs a second"},
	{BROKEN(PLAIN, format.fps, (double)INFINITY), "inf pairs a second"},
	{BROKEN(CAMERA, format.fx, (double)NAN), "the camera has fx nan px"},
	{BROKEN(CAMERA, format.fx, (double)INFINITY), "the camera has fx inf px"},
	{BROKEN(CAMERA, format.fy, -40), "fy -40 px"},
	{BROKEN(CAMERA, format.baseline_m, 0), "baseline 0 m"},
	{BROKEN(CAMERA, format.baseline_m, -0.1), "baseline -0.1 m"},
	{BROKEN(CAMERA, format.baseline_m, 120), "at most 100000 px and 10 m"},
	{BROKEN(CAMERA, format.cx, (double)NAN), "the principal point"},
	{BROKEN(CAMERA, format.cy, H + 1), "the principal point"},
	{BROKEN(RIG, format.fx, (double)NAN), "the camera has fx nan px"},
	{BROKEN(RIG, format.raw[1].rotation[8], 0), "right camera"},
	{BROKEN(RIG, format.raw[0].rotation[5], (double)NAN), "left camera"},
	{BROKEN(RIG, format.raw[0].rotation[0], -1), "left camera"},
	{BROKEN(RIG, format.raw[0].lens, 3), "lens model 3 is unknown"},
	{BROKEN(RIG, format.raw[1].distortion[3], (double)NAN), "distortion"},
	{BROKEN(RIG, format.raw[1].fx, (double)NAN), "fx of the right camera"},
	{BROKEN(RIG, format.rectified_width, 64), "rectified images of 64x0"},
	{BROKEN(RIG, format.rectified_height, UINT32_MAX), "rectified images of 0x4294967295"},
};

static struct stixel_pairs_hello broken_hello(int i)
{
	const double value = broken_hellos[i].value;
	struct stixel_pairs_hello h = good_hello();
	uint8_t *at = (uint8_t *)&h + broken_hellos[i].at;

	if (broken_hellos[i].of == CAMERA)
		add_camera(&h);
	if (broken_hellos[i].of == RIG)
		add_rig(&h);
	if (broken_hellos[i].of == GREY16)
		h.format.pixel = STIXEL_PIXEL_GREY16;
	if (broken_hellos[i].of == BAYER16)
		h.format.pixel = STIXEL_PIXEL_BGGR16;
	if (broken_hellos[i].bytes == 2)
		memcpy(at, &(uint16_t){(uint16_t)value}, 2);
	else if (broken_hellos[i].bytes == 4)
		memcpy(at, &(uint32_t){(uint32_t)value}, 4);
	else
		memcpy(at, &value, sizeof(value));
	return h;
}

static void hellos(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT(broken_hellos); i++) {
		const struct stixel_pairs_hello hello = broken_hello(i);
		int fd = connect_writer();

		give(fd, &hello, sizeof(hello), -1, 0);
		give_pair(fd, 1); /* unread when the connection ends */
		expect_not_open(broken_hellos[i].sentence);
		expect_refused(fd);
		close(fd);
	}
}

static void no_hello(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	const int64_t begun_ns = sx_now_ns();
	int fd = connect_writer();

	(void)state;
	expect_not_open("connected and said nothing");
	assert_in_range(sx_now_ns() - begun_ns, 400000000, 60000000000);
	expect_refused(fd);
	close(fd);

	fd = connect_writer();
	close(fd);
	expect_not_open("connected and ended");

	fd = connect_writer();
	give(fd, &hello, sizeof(hello) / 2, -1, 0);
	expect_not_open("another message than a hello");
	expect_refused(fd);
	close(fd);

	fd = connect_writer();
	give(fd, &hello, 0, -1, 0);
	expect_not_open("connected and ended");
	expect_refused(fd);
	close(fd);

	/* QEMU loses descriptors for which the caller has no room */
	for (int descriptors = 1; descriptors <= (IS_EMULATED ? 4 : 8); descriptors++) {
		fd = connect_writer();
		give(fd, &hello, sizeof(hello), listener.fd, descriptors);
		expect_not_open("another message than a hello");
		expect_refused(fd);
		close(fd);
	}
}

static void longer_hello(void **state)
{
	struct {
		struct stixel_pairs_hello hello;
		char more[64];
	} newer = {.hello = good_hello()};
	const struct sx_source_params p = params();
	const struct stixel_pairs_buffer b = good_buffer(0, BYTES);
	int fd = connect_writer(), memory = memory_of(BYTES, F_SEAL_SHRINK, 0);

	(void)state;
	newer.hello.bytes = sizeof(newer);
	newer.hello.abi_minor++;
	newer.hello.buffers = 1;
	memset(newer.hello.format.name, 'n', sizeof(newer.hello.format.name)); /* no terminating 0 */
	newer.hello.format.name[3] = '\n';
	give(fd, &newer, sizeof(newer), -1, 0);
	give_buffer(fd, &b, memory);
	close(memory);
	finish(open_with(&p), fd);
}

/* ---- buffers ---- */

enum { NO_DESCRIPTOR, TWO, UNSEALED, FILE_ON_DISK, FILE_IN_TMPFS, ZERO, PIPE, HUGE, PATH_ONLY, KINDS };

static int odd_descriptor(int kind, const char *folder)
{
	char path[64];
	int both[2], fd, memory;

	switch (kind) {
	case UNSEALED:
		return memory_of(BYTES, 0, 0);
	case FILE_ON_DISK:
		write_bytes(in_folder(folder, "buffer"), "", 0);
		fd = open(in_folder(folder, "buffer"), O_RDWR | O_CLOEXEC);
		assert_int_equal(ftruncate(fd, BYTES), 0);
		return fd;
	case FILE_IN_TMPFS:
		fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		assert_int_equal(ftruncate(fd, BYTES), 0);
		return fd;
	case ZERO:
		return open("/dev/zero", O_RDWR | O_CLOEXEC);
	case PIPE:
		assert_int_equal(pipe2(both, O_CLOEXEC), 0);
		close(both[1]);
		return both[0];
	case HUGE:
		return memfd_create("pair", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	case PATH_ONLY:
		memory = memory_of(BYTES, F_SEAL_SHRINK, 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
		fd = open(path, O_PATH | O_CLOEXEC);
		close(memory);
		return fd;
	default:
		return memory_of(BYTES, F_SEAL_SHRINK, 0);
	}
}

static void descriptors(void **state)
{
	static const char neither[] = "neither a memory file", other[] = "another message than a buffer";
	static const char *const sentence[KINDS] = {
		[NO_DESCRIPTOR] = other,
		[TWO] = other,
		[UNSEALED] = "not sealed with F_SEAL_SHRINK",
		[FILE_ON_DISK] = "a buffer is neither", /* or unsealed, if the folder is a tmpfs */
		[FILE_IN_TMPFS] = "not sealed with F_SEAL_SHRINK",
		[ZERO] = neither,
		[PIPE] = neither,
		[HUGE] = neither,
		[PATH_ONLY] = neither,
	};
	const struct stixel_pairs_hello hello = good_hello();

	for (int kind = 0; kind < KINDS; kind++) {
		int fd = connect_writer(), odd = odd_descriptor(kind, *state);
		const struct stixel_pairs_buffer first = good_buffer(0, BYTES), b = good_buffer(1, BYTES);
		int good = memory_of(BYTES, F_SEAL_SHRINK, 0);

		assert_true(odd >= 0);
		give(fd, &hello, sizeof(hello), -1, 0);
		give_buffer(fd, &first, good); /* the daemon has to unmap this buffer */
		give(fd, &b, sizeof(b), odd, kind == NO_DESCRIPTOR ? 0 : kind == TWO ? 2 : 1);
		close(good);
		close(odd);
		expect_not_open(kind == FILE_ON_DISK ? "memory file" : sentence[kind]);
		expect_refused(fd);
		close(fd);
	}
}

static void sizes(void **state)
{
	static const struct {
		uint64_t there, declared;
		const char *sentence;
	} broken[] = {
		{BYTES - 1, BYTES, "should have 16384 bytes and has 16383"},
		{BYTES, 0, "should have 0 bytes"},
		{0, BYTES, "and has 0"},
		{BYTES, UINT64_MAX, "more than 1 GB"},
		{BYTES, UINT64_MAX / 2, "more than 1 GB"},
		{BYTES, (UINT64_C(1) << 30) + 1, "more than 1 GB"},
	};
	const struct stixel_pairs_hello hello = good_hello();

	(void)state;
	for (int i = 0; i < COUNT(broken); i++) {
		int fd = connect_writer(), memory = memory_of(broken[i].there, F_SEAL_SHRINK, 0);
		const struct stixel_pairs_buffer b = good_buffer(0, broken[i].declared);

		give(fd, &hello, sizeof(hello), -1, 0);
		give_buffer(fd, &b, memory);
		close(memory);
		expect_not_open(broken[i].sentence);
		expect_refused(fd);
		close(fd);
	}
}

static void sum_of_sizes(void **state)
{
	const uint64_t large = (UINT64_C(1) << 30) - BYTES;
	const struct stixel_pairs_hello hello = good_hello();
	struct stixel_pairs_buffer b = good_buffer(0, BYTES);
	int fd = connect_writer(), memory = memory_of(BYTES, F_SEAL_SHRINK, 0);

	(void)state;
	give(fd, &hello, sizeof(hello), -1, 0);
	give_buffer(fd, &b, memory);
	b = good_buffer(1, large + 1);
	give_buffer(fd, &b, memory);
	close(memory);
	expect_not_open("more than 1 GB");
	expect_refused(fd);
	close(fd);
}

static void order_of_buffers(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	int memory = memory_of(BYTES, F_SEAL_SHRINK, 0);

	(void)state;
	for (int how = 0; how < 5; how++) {
		struct stixel_pairs_buffer b = good_buffer(how == 0, BYTES);
		int fd = connect_writer();

		b.magic += how == 1;
		b.kind += how == 2;
		give(fd, &hello, sizeof(hello), -1, 0);
		if (how < 3)
			give_buffer(fd, &b, memory);
		else if (how == 3)
			give_pair(fd, 1);
		else
			shutdown(fd, SHUT_WR);
		expect_not_open(how < 3	   ? "another message than its next buffer"
				: how == 3 ? "another message than a buffer"
					   : "has ended before it sent its buffers");
		expect_refused(fd);
		close(fd);
	}
	close(memory);
}

static void missing_buffers(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	int fd = connect_writer();

	(void)state;
	give(fd, &hello, sizeof(hello), -1, 0);
	expect_not_open("not sent all its buffers in time");
	expect_refused(fd);
	close(fd);
}

/* A writer may keep its right to write, or give it up: the daemon maps what it gets. */
static void read_only_buffers(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	char path[64];
	int fd, memory = memory_of(BYTES, F_SEAL_SHRINK, 0), read_only;
	struct sx_source *s;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(read_only >= 0);
	s = open_good(&hello, &fd, read_only, BYTES);
	finish(s, fd);
	close(read_only);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SEAL), 0);
	s = open_good(&hello, &fd, memory, BYTES);
	finish(s, fd);
	close(memory);
}

static void size_of_the_configuration(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	struct sx_source_params p = params();
	struct sx_source *s = NULL;
	int fd = connect_writer();

	(void)state;
	p.width = 64;
	p.height = 48;
	introduce(fd, &hello, -1, BYTES);
	assert_int_equal(sx_source_open(&s, &p, SLOTS, &why), -ENODEV);
	assert_string_equal(why.text, "the writer has images of 66x34, source.size is 64x48");
	expect_refused(fd);
	close(fd);
	p.socket = NULL;
	assert_int_equal(sx_source_open(&s, &p, SLOTS, &why), -EINVAL);
	assert_non_null(strstr(why.text, "only a daemon takes the pairs of another process"));
}

/* ---- pairs ---- */

static void formats(void **state)
{
	static const struct {
		enum stixel_pixel pixel;
		enum sx_pixel becomes;
		int bytes;
		struct sx_raw raw;
	} all[] = {
		{STIXEL_PIXEL_GREY8, SX_PIXEL_U8, 1, {0}},
		{STIXEL_PIXEL_GREY16, SX_PIXEL_Y16, 2, {0}},
		{STIXEL_PIXEL_RGB24, SX_PIXEL_RGB24, 3, {0}},
		{STIXEL_PIXEL_YUYV, SX_PIXEL_YUYV, 2, {0}},
		{STIXEL_PIXEL_UYVY, SX_PIXEL_UYVY, 2, {0}},
		{STIXEL_PIXEL_NV12, SX_PIXEL_NV12, 1, {0}},
		{STIXEL_PIXEL_RGGB8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8}},
		{STIXEL_PIXEL_GRBG8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8, .red_x = 1}},
		{STIXEL_PIXEL_GBRG8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8, .red_y = 1}},
		{STIXEL_PIXEL_BGGR8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8, .red_x = 1, .red_y = 1}},
		{STIXEL_PIXEL_RGGB16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16}},
		{STIXEL_PIXEL_GRBG16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16, .red_x = 1}},
		{STIXEL_PIXEL_GBRG16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16, .red_y = 1}},
		{STIXEL_PIXEL_BGGR16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16, .red_x = 1, .red_y = 1}},
	};
	struct check_rng rng = check_rng_seed(56);

	(void)state;
	for (int i = 0; i < COUNT(all); i++) {
		const size_t last =
			(size_t)(H - 1) * PITCH * (size_t)all[i].bytes + (size_t)(W * all[i].bytes);
		/* the second image ends with the buffer */
		const size_t bytes = 2 * RIGHT * (size_t)all[i].bytes;
		int memory = memory_of(bytes, F_SEAL_SHRINK, 0), fd;
		uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
		struct stixel_pairs_hello hello = good_hello();
		struct stixel_pairs_pair p = good_pair(7);
		const uint64_t offset[2] = {6, bytes - last};
		struct sx_source *s;
		struct sx_pair pair;

		hello.buffers = 1;
		hello.format.pixel = (uint32_t)all[i].pixel;
		hello.format.pitch = (uint32_t)(PITCH * all[i].bytes);
		for (size_t k = 0; k < bytes; k++)
			at[k] = (uint8_t)check_random(&rng);
		s = open_good(&hello, &fd, memory, bytes);
		assert_int_equal(sx_source_info(s)->pixel, all[i].becomes);
		assert_string_equal(sx_source_info(s)->memory, all[i].raw.packing ? "converted" : "memfd");
		p.left_buffer = p.right_buffer = 0;
		p.left_offset = offset[0];
		p.right_offset = offset[1];
		give(fd, &p, sizeof(p), -1, 0);
		pair = take(s);
		for (int side = 0; side < 2; side++) {
			const struct sx_image *is = side ? &pair.right : &pair.left;
			struct sx_raw raw = all[i].raw;
			struct check_image grey;

			assert_int_equal(is->pixel, all[i].becomes);
			assert_int_equal(is->width, W);
			assert_int_equal(is->height, H);
			check_image_init(&grey, all[i].becomes, W, H, 0);
			raw.data = at + offset[side];
			raw.pitch = hello.format.pitch;
			if (raw.packing)
				sx_raw_grey(&raw, &grey.image);
			for (int y = 0; y < H; y++)
				assert_memory_equal(sx_image_row(is, y),
						    raw.packing ? sx_image_row(&grey.image, y)
								: raw.data + (size_t)y * raw.pitch,
						    W * all[i].bytes);
			check_image_finish(&grey);
		}
		if (!all[i].raw.packing)
			expect_no_answer(fd); /* the engine reads in place */
		sx_source_release(s, &pair);
		expect_answer(fd, STIXEL_PAIRS_RETURNED, 7, STIXEL_PAIR_TAKEN);
		expect_no_answer(fd);
		munmap(at, bytes);
		close(memory);
		finish(s, fd);
	}
}

/* Gives one broken pair and a good one after it. */
static void expect_bad(struct sx_source *s, int fd, const struct stixel_pairs_pair *bad, const char *sentence)
{
	struct stixel_pairs_pair good = good_pair(99);
	struct sx_source_counters c;
	struct sx_pair pair;
	uint64_t corrupt;

	sx_source_counters(s, &c);
	corrupt = c.corrupt;
	give(fd, bad, sizeof(*bad), -1, 0);
	sx_why_clear(&why);
	if (sx_source_next(s, &pair, &why) != -EBADMSG || !strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, bad->number, STIXEL_PAIR_BAD);
	sx_source_counters(s, &c);
	assert_int_equal(c.corrupt, corrupt + 1);
	good.left_ns = good.right_ns = 0; /* possible with every clock */
	give(fd, &good, sizeof(good), -1, 0);
	pair = take(s);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 99, STIXEL_PAIR_TAKEN);
}

static void places(void **state)
{
	const uint64_t last = (uint64_t)(H - 1) * PITCH + W, end = BYTES - last;
	static const uint32_t buffers[] = {BUFFERS, 63, 64, INT32_MAX, UINT32_MAX};
	const uint64_t offsets[] = {end + 1,
				    BYTES - 1,
				    BYTES,
				    BYTES + 1,
				    UINT64_MAX,
				    UINT64_MAX - last,
				    UINT64_MAX - last + 1,
				    UINT64_MAX - BYTES,
				    INT64_MAX,
				    1 + (uint64_t)INT64_MAX};
	struct stixel_pairs_pair p = good_pair(5);
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	s = open_usual(&fd);
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < COUNT(buffers); i++) {
			p = good_pair(5);
			*(side ? &p.right_buffer : &p.left_buffer) = buffers[i];
			expect_bad(s, fd, &p,
				   side ? "right image of pair 5 lies outside" : "left image of pair 5");
		}
		for (int i = 0; i < COUNT(offsets); i++) {
			p = good_pair(5);
			*(side ? &p.right_offset : &p.left_offset) = offsets[i];
			expect_bad(s, fd, &p,
				   side ? "right image of pair 5 lies outside" : "left image of pair 5");
		}
	}
	/* both images in one place, at the very end, and a number that came before */
	p = good_pair(99);
	p.left_offset = p.right_offset = end;
	give(fd, &p, sizeof(p), -1, 0);
	pair = take(s);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 99, STIXEL_PAIR_TAKEN);
	finish(s, fd);
}

static void small_buffer_and_odd_offset(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	struct stixel_pairs_pair p = good_pair(5);
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	hello.format.pixel = STIXEL_PIXEL_GREY16;
	hello.format.pitch = 2 * PITCH;
	s = open_good(&hello, &fd, -1, (uint64_t)2 * PITCH * H);
	p.right_offset = 1;
	give(fd, &p, sizeof(p), -1, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "at an odd offset"));
	finish(s, fd);
	s = open_good(&hello, &fd, -1, (uint64_t)2 * PITCH * (H - 1)); /* no image fits */
	p = good_pair(5);
	p.right_offset = 0;
	give(fd, &p, sizeof(p), -1, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	finish(s, fd);
}

static void times(void **state)
{
	const int64_t now = sx_now_ns(), s1 = SX_NS_PER_S;
	const struct {
		int64_t left, right;
		const char *sentence; /* NULL: good */
	} all[] = {
		{now + 60 * s1, now, "lie in the future"},
		{now, now + 60 * s1, "lie in the future"},
		{now - 120 * s1, now, "more than 60 s old"},
		{now, now - 120 * s1, "more than 60 s old"},
		{INT64_MIN, now, "more than 60 s old"},
		{now, INT64_MIN, "more than 60 s old"},
		{INT64_MAX, now, "lie in the future"},
		{now, INT64_MAX, "lie in the future"},
		{INT64_MIN, INT64_MAX, "pair 5"},
		{INT64_MIN, INT64_MIN, "pair 5"},
		{0, now, "more than 60 s old"},
		{now, now - 11 * s1, "more than 10 s apart"},
		{now - 11 * s1, now, "more than 10 s apart"},
		{now - 9 * s1, now, NULL},
		{now - 30 * s1, now - 31 * s1, NULL},
		{now + s1 / 2, now, NULL},
	};
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	s = open_usual(&fd);
	for (int i = 0; i < COUNT(all); i++) {
		struct stixel_pairs_pair p = good_pair(5);

		p.left_ns = all[i].left;
		p.right_ns = all[i].right;
		if (all[i].sentence) {
			expect_bad(s, fd, &p, all[i].sentence);
			continue;
		}
		give(fd, &p, sizeof(p), -1, 0);
		pair = take(s);
		assert_int_equal(pair.left_ns, all[i].left);
		assert_int_equal(pair.right_ns, all[i].right);
		assert_int_equal(pair.clock, STIXEL_CLOCK_MONOTONIC);
		assert_int_equal(pair.stamp, STIXEL_STAMP_EXPOSURE_START);
		sx_source_release(s, &pair);
		expect_answer(fd, STIXEL_PAIRS_RETURNED, 5, STIXEL_PAIR_TAKEN);
	}
	finish(s, fd);
}

static void other_clocks(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	struct stixel_pairs_pair p = good_pair(5);
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	hello.format.clock = STIXEL_CLOCK_REALTIME;
	s = open_good(&hello, &fd, -1, BYTES);
	p.left_ns = p.right_ns = sx_clock_ns(CLOCK_REALTIME);
	give(fd, &p, sizeof(p), -1, 0);
	pair = take(s);
	assert_in_range(sx_now_ns() - pair.left_ns + SX_NS_PER_S, 0, 20 * SX_NS_PER_S);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 5, STIXEL_PAIR_TAKEN);
	p.left_ns = INT64_MIN;
	expect_bad(s, fd, &p, "old");
	p.left_ns = INT64_MAX;
	expect_bad(s, fd, &p, "future");
	p.left_ns = p.right_ns = 0; /* unknown: the daemon's own time */
	give(fd, &p, sizeof(p), -1, 0);
	pair = take(s);
	assert_in_range(sx_now_ns() - pair.left_ns, 0, 20 * SX_NS_PER_S);
	assert_int_equal(pair.clock, STIXEL_CLOCK_MONOTONIC);
	assert_int_equal(pair.stamp, STIXEL_STAMP_SOFTWARE);
	sx_source_release(s, &pair);
	finish(s, fd);

	hello.format.clock = STIXEL_CLOCK_UNKNOWN;
	s = open_good(&hello, &fd, -1, BYTES);
	p.left_ns = p.right_ns = 5; /* times of a clock that began now */
	give(fd, &p, sizeof(p), -1, 0);
	pair = take(s);
	assert_int_equal(pair.left_ns, 5);
	assert_int_equal(pair.clock, STIXEL_CLOCK_UNKNOWN);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 5, STIXEL_PAIR_TAKEN);
	finish(s, fd);
}

static void newest_wins(void **state)
{
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair[SLOTS], none;
	int fd;

	(void)state;
	s = open_usual(&fd);
	for (uint64_t n = 1; n <= 5; n++)
		give_pair(fd, n);
	pair[0] = take(s);
	for (uint64_t n = 1; n <= 4; n++)
		expect_answer(fd, STIXEL_PAIRS_RETURNED, n, STIXEL_PAIR_OVERLOAD);
	expect_no_answer(fd);
	sx_source_counters(s, &c);
	assert_int_equal(c.captured[0], 5);
	assert_int_equal(c.dropped[0][SX_DROP_OVERLOAD], 4);
	assert_int_equal(c.dropped[1][SX_DROP_OVERLOAD], 4);
	/* the engine uses every slot */
	for (int i = 1; i < SLOTS; i++) {
		give_pair(fd, (uint64_t)(5 + i));
		pair[i] = take(s);
	}
	give_pair(fd, 100);
	assert_int_equal(sx_source_next(s, &none, &why), 0);
	expect_no_answer(fd);
	for (int i = SLOTS - 1; i >= 0; i--) {
		sx_source_release(s, &pair[i]);
		expect_answer(fd, STIXEL_PAIRS_RETURNED, (uint64_t)(5 + i), STIXEL_PAIR_TAKEN);
	}
	pair[0] = take(s);
	sx_source_release(s, &pair[0]);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 100, STIXEL_PAIR_TAKEN);
	finish(s, fd);
}

/* A writer that does not wait for its buffers: each pair comes back once, in order. */
static void a_thousand_pairs(void **state)
{
	uint64_t given = 0, back = 0;
	struct sx_source *s;
	struct sx_pair pair;
	struct answer a;
	int fd;

	(void)state;
	s = open_usual(&fd);
	while (given < 1000) {
		for (int i = 0; i < 100; i++)
			give_pair(fd, ++given);
		while (sx_source_next(s, &pair, &why) == 1)
			sx_source_release(s, &pair);
		while (back < given) {
			assert_true(take_answer(fd, &a));
			assert_int_equal(a.is.number, ++back);
		}
	}
	finish(s, fd);
}

static void a_writer_that_takes_nothing_back(void **state)
{
	struct stixel_pairs_pair p = good_pair(0);
	struct sx_source *s;
	struct sx_pair pair;
	int fd, r = 1;

	(void)state;
	s = open_usual(&fd);
	while (r > 0 && p.number++ < 5000 && send(fd, &p, sizeof(p), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
		r = sx_source_next(s, &pair, &why);
		if (r > 0)
			sx_source_release(s, &pair);
	}
	assert_in_range(p.number, 10, 4999);
	expect_end(s, "the writer test (process ");
	assert_non_null(strstr(why.text, "does not take its pairs back"));
	finish(s, fd);
}

static void ends_while_pairs_are_read(void **state)
{
	struct sx_source *s;
	struct sx_pair pair[2];
	int fd;

	(void)state;
	s = open_usual(&fd);
	give_pair(fd, 1);
	pair[0] = take(s);
	give_pair(fd, 2); /* the writer's last pair */
	close(fd);
	pair[1] = take(s);
	for (int i = 0; i < 2; i++) /* the memory of both pairs stays mapped */
		assert_int_equal(((const uint8_t *)pair[i].right.data)[W - 1 + PITCH * (H - 1)], 0);
	expect_end(s, "has ended");
	expect_end(s, "has ended");
	sx_source_release(s, &pair[0]);
	sx_source_release(s, &pair[1]);
	finish(s, -1);
}

static void other_messages(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();

	(void)state;
	for (int how = 0; how < 6; how++) {
		struct stixel_pairs_pair p = good_pair(2);
		struct sx_source *s;
		struct sx_pair pair;
		int fd;

		s = open_usual(&fd);
		give_pair(fd, 1);
		p.magic += how == 0;
		p.kind = how == 1 ? STIXEL_PAIRS_RETURNED : p.kind;
		if (how < 3) /* 2: with a descriptor */
			give(fd, &p, sizeof(p), listener.fd, how == 2);
		else if (how == 3)
			give(fd, &p, sizeof(p) - 1, -1, 0);
		else if (how == 4)
			give(fd, &p, 0, -1, 0);
		else
			give(fd, &hello, sizeof(hello), -1, 0);
		give_pair(fd, 3);
		pair = take(s); /* pair 1 was good */
		expect_end(s, how == 4 ? "has ended" : "another message than a pair");
		sx_source_release(s, &pair);
		expect_refused(fd);
		finish(s, fd);
	}
}

static void silence(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	struct sx_source_params p = params();
	struct sx_source *s;
	struct sx_pair pair;
	int fd = connect_writer();

	(void)state;
	p.timeout_ms = 100;
	introduce(fd, &hello, -1, BYTES);
	s = open_with(&p);
	expect_answer(fd, STIXEL_PAIRS_WELCOME, SLOTS, 0);
	give_pair(fd, 1);
	pair = take(s);
	usleep(150000);
	assert_int_equal(sx_source_next(s, &pair, &why), 0); /* the engine has the writer's buffers */
	finish(s, fd);

	fd = connect_writer();
	introduce(fd, &hello, -1, BYTES);
	s = open_with(&p);
	expect_answer(fd, STIXEL_PAIRS_WELCOME, SLOTS, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = sx_source_fd(s), .events = POLLIN}, 1, 10000), 1);
	usleep(150000);
	expect_end(s, "has given no pair for 0.");
	expect_refused(fd);
	finish(s, fd);
}

static void a_second_writer(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	struct sx_source *s;
	struct sx_pair pair;
	struct answer a;
	int fd, second;

	(void)state;
	s = open_usual(&fd);
	second = connect_writer();
	introduce(second, &hello, -1, BYTES);
	assert_int_equal(sx_source_next(s, &pair, &why), 0);
	assert_true(take_answer(second, &a));
	assert_int_equal(a.is.kind, STIXEL_PAIRS_REFUSED);
	assert_non_null(strstr(a.text, "another writer has this instance: test (process "));
	assert_false(take_answer(second, &a));
	give_pair(fd, 1);
	pair = take(s);
	sx_source_release(s, &pair);
	close(second);
	finish(s, fd);
}

static void cameras(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	const struct sx_source_info *info;
	struct sx_source *s;
	int fd;

	(void)state;
	s = open_usual(&fd);
	info = sx_source_info(s);
	assert_null(info->camera);
	assert_null(info->rig);
	assert_true(info->live);
	assert_string_equal(info->path[0], listener.path);
	assert_true(info->fps == 25);
	finish(s, fd);
	add_rig(&hello);
	hello.format.flags |= STIXEL_PAIRS_SIMULATED;
	s = open_good(&hello, &fd, -1, BYTES);
	info = sx_source_info(s);
	assert_true(info->camera->baseline_m == 0.1);
	assert_true(info->rig->raw[1].distortion[0] == -0.05);
	assert_true(info->camera_yields);
	assert_false(info->live);
	finish(s, fd);
	hello.format.fx = 0; /* then nothing of it counts */
	hello.format.raw[0].fx = (double)NAN;
	s = open_good(&hello, &fd, -1, BYTES);
	assert_null(sx_source_info(s)->rig);
	finish(s, fd);
}

/* Memory that cannot shrink may lose its content. Then a reader finds zeros. */
static void holes(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	int fd, memory = memory_of(BYTES, F_SEAL_SHRINK, 0);
	struct sx_source *s;
	struct sx_pair pair;

	(void)state;
	assert_int_equal(pwrite(memory, "x", 1, 0), 1);
	s = open_good(&hello, &fd, memory, BYTES);
	give_pair(fd, 1);
	pair = take(s);
	assert_int_equal(*(const uint8_t *)pair.left.data, 'x');
	assert_int_equal(ftruncate(memory, BYTES - 1), -1);
	assert_int_equal(fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES), 0);
	for (size_t i = 0; i < (size_t)PITCH * H; i++)
		assert_int_equal(((const uint8_t *)pair.left.data)[i], 0);
	sx_source_release(s, &pair);
	close(memory);
	finish(s, fd);
}

static void blocks(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	struct sx_source *s;
	struct sx_block block;
	int fd, n = 0;

	(void)state;
	hello.buffers = STIXEL_PAIRS_BUFFERS_MAX;
	s = open_good(&hello, &fd, -1, BYTES - 1);
	while (sx_source_block(s, n, &block)) {
		assert_int_equal(block.bytes, BYTES); /* whole pages */
		n++;
	}
	assert_int_equal(n, STIXEL_PAIRS_BUFFERS_MAX);
	sx_source_refuse(s, "not now");
	sx_why_set(&why, "not now");
	expect_refused(fd);
	finish(s, fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody),
		TEST(hellos),
		TEST(no_hello),
		TEST(longer_hello),
		TEST(descriptors),
		TEST(sizes),
		TEST(sum_of_sizes),
		TEST(order_of_buffers),
		TEST(missing_buffers),
		TEST(read_only_buffers),
		TEST(size_of_the_configuration),
		TEST(formats),
		TEST(places),
		TEST(small_buffer_and_odd_offset),
		TEST(times),
		TEST(other_clocks),
		TEST(newest_wins),
		TEST(a_thousand_pairs),
		TEST(a_writer_that_takes_nothing_back),
		TEST(ends_while_pairs_are_read),
		TEST(other_messages),
		TEST(silence),
		TEST(a_second_writer),
		TEST(cameras),
		TEST(holes),
		TEST(blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shared source", tests, NULL, NULL);
}
