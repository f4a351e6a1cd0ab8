/*
 * A writer of pairs that the test controls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/shared/shared_case.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/capture/image_files.h"

/* ---- the writer ---- */

struct sx_pairs_socket listener;
struct sx_why why;
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

int memory_of(size_t bytes, unsigned seals, unsigned flags)
{
	int fd = memfd_create("pair", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

int connect_writer(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", listener.path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

void give_message(int fd, const void *message, size_t bytes, int descriptor, int count)
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

struct stixel_pairs_hello good_hello(void)
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

struct stixel_pairs_buffer good_buffer(uint32_t index, uint64_t bytes)
{
	return (struct stixel_pairs_buffer){
		.magic = STIXEL_PAIRS_MAGIC, .kind = STIXEL_PAIRS_BUFFER, .index = index, .bytes = bytes};
}

void give_buffer(int fd, const struct stixel_pairs_buffer *b, int memory)
{
	give_message(fd, b, sizeof(*b), memory, 1);
}

void introduce(int fd, const struct stixel_pairs_hello *hello, int memory, uint64_t bytes)
{
	give_message(fd, hello, sizeof(*hello), -1, 0);
	for (uint32_t i = 0; i < hello->buffers; i++) {
		const struct stixel_pairs_buffer b = good_buffer(i, bytes);
		int own = memory >= 0 ? memory : memory_of(bytes, F_SEAL_SHRINK, 0);

		give_buffer(fd, &b, own);
		if (own != memory)
			close(own);
	}
}

struct stixel_pairs_pair good_pair(uint64_t number)
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

void give_pair(int fd, uint64_t number)
{
	const struct stixel_pairs_pair p = good_pair(number);

	give_message(fd, &p, sizeof(p), -1, 0);
}

bool take_answer(int fd, struct answer *a)
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

void expect_answer(int fd, uint32_t kind, uint64_t number, uint32_t fate)
{
	struct answer a;

	assert_true(take_answer(fd, &a));
	assert_int_equal(a.is.kind, kind);
	assert_int_equal(a.is.number, number);
	assert_int_equal(a.is.fate, fate);
}

void expect_no_answer(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1);
	assert_int_equal(errno, EAGAIN);
}

void expect_refused(int fd)
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

struct sx_source_params shared_params(void)
{
	return (struct sx_source_params){
		.kind = SX_SOURCE_SHARED, .layout = SX_LAYOUT_TWO, .socket = &listener, .timeout_ms = 60000};
}

void expect_not_open(int error, const char *sentence)
{
	const struct sx_source_params p = shared_params();
	struct sx_source *s = NULL;

	sx_why_clear(&why);
	assert_int_equal(sx_source_open(&s, &p, SLOTS, &why), error);
	assert_null(s);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
	assert_int_equal(count_buffers(), 0);
}

struct sx_source *open_with(const struct sx_source_params *p)
{
	struct sx_source *s = NULL;

	if (sx_source_open(&s, p, SLOTS, &why) < 0)
		fail_msg("%s", why.text);
	return s;
}

struct sx_source *open_good(const struct stixel_pairs_hello *hello, int *fd, int memory, uint64_t bytes)
{
	const struct sx_source_params p = shared_params();
	struct sx_source *s;

	*fd = connect_writer();
	introduce(*fd, hello, memory, bytes);
	s = open_with(&p);
	expect_answer(*fd, STIXEL_PAIRS_WELCOME, SLOTS, 0);
	return s;
}

struct sx_source *open_usual(int *fd)
{
	const struct stixel_pairs_hello hello = good_hello();

	return open_good(&hello, fd, -1, BYTES);
}

struct sx_pair take_pair(struct sx_source *s)
{
	struct sx_pair pair;
	int r = sx_source_next(s, &pair, &why);

	if (r != 1)
		fail_msg("%d %s", r, r < 0 ? why.text : "");
	return pair;
}

void expect_end(struct sx_source *s, const char *sentence)
{
	struct sx_pair pair;

	sx_why_clear(&why);
	assert_int_equal(sx_source_next(s, &pair, &why), -ENODEV);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
}

void finish_source(struct sx_source *s, int fd)
{
	sx_source_close(s);
	if (fd >= 0)
		close(fd);
	assert_int_equal(count_buffers(), 0);
}

int shared_setup(void **state)
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

int shared_teardown(void **state)
{
	close(listener.fd);
	if (count_fds() != fds_before)
		print_error("%d descriptors instead of %d\n", count_fds(), fds_before);
	return folder_teardown(state) | (count_fds() != fds_before);
}
