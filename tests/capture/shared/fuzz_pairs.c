/*
 * Fuzz target for pairs.sock: a writer that sends anything, in any order, and changes or cuts its memory meanwhile.
 * The first byte selects what the writer does right by itself: without that hardly any input would come as far as a
 * pair. Each step is a byte and its arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/source.h"
#include "include/stixel_pairs.h"
#include "tests/fuzz/fails_call.h"

const unsigned fails_kinds = 1u << FAILS_MEMORY | 1u << FAILS_SYSTEM;

enum {
	SLOTS = 3,
	STEPS_MOST = 40,
	PACKET_MOST = 600,
	BUFFERS_MOST = 6,
	BYTES = 16384,
	WIDTH = 34,
	HEIGHT = 32
};
/* Parts that the writer sends correctly: hello, except for fields that the input changes, buffers, camera. */
enum { HELLO = 1, BUFFERS = 2, CAMERA = 4, RIG = 8 };

static int64_t passed_ns; /* time added to the clock */
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	const int r = __real_clock_gettime(id, t);

	t->tv_sec += passed_ns / SX_NS_PER_S;
	return r;
}

FAILS_CALL(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
FAILS_CALL(int, timerfd_settime, (int fd, int flags, const struct itimerspec *t, struct itimerspec *was),
	   (fd, flags, t, was))

void *__real_mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	return fails_now(FAILS_SYSTEM) ? MAP_FAILED : __real_mmap64(at, bytes, rights, flags, fd, offset);
}

/* Waiting takes no time: nothing comes while the target waits. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	(void)fds;
	(void)count;
	passed_ns += timeout_ms >= 0 ? SX_NS_PER_S : 0;
	return 0;
}

static int memory_of(struct fuzz_input *in)
{
	const unsigned how = (unsigned)fuzz_number(in, 1);
	int fd;

	if (how == 1)
		return open("/dev/zero", O_RDWR | O_CLOEXEC);
	fd = memfd_create("pair", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, how == 2 ? (off_t)fuzz_number(in, 2) : BYTES) < 0 ||
	    (how != 3 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0))
		fuzz_fail("no memory file: %s", strerror(errno));
	return fd;
}

/* Sends a message with up to three copies of a descriptor. Errors are the writer's. */
static void give(int fd, const void *message, size_t bytes, int descriptor, unsigned count)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(3 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)message, .iov_len = bytes};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	if (count && descriptor >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)room;

		m.msg_control = room;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		for (unsigned i = 0; i < count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &descriptor, sizeof(int));
	}
	if (sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

/* Changes some 4-byte words of a message. */
static void spoil(struct fuzz_input *in, void *message, size_t bytes)
{
	for (unsigned n = fuzz_choice(in, 4); n > 0; n--) {
		const size_t at = fuzz_number(in, 2) % (bytes / 4) * 4;
		const uint32_t word = (uint32_t)fuzz_number(in, 4);

		memcpy((uint8_t *)message + at, &word, sizeof(word));
	}
}

static void add_camera(struct stixel_pairs_format *f, bool raw)
{
	f->fx = f->fy = 40;
	f->cx = WIDTH / 2.0;
	f->cy = HEIGHT / 2.0;
	f->baseline_m = 0.1;
	if (!raw)
		return;
	f->flags = STIXEL_PAIRS_RAW;
	for (int i = 0; i < 2; i++) {
		struct stixel_raw_camera *c = &f->raw[i];

		c->fx = c->fy = 40;
		c->cx = WIDTH / 2.0;
		c->cy = HEIGHT / 2.0;
		c->rotation[0] = c->rotation[4] = c->rotation[8] = 1;
	}
}

static void introduce(struct fuzz_input *in, int fd, unsigned right, int *kept)
{
	static const uint8_t pixels[] = {1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20, 21, 22, 23};
	struct stixel_pairs_hello h = {.magic = STIXEL_PAIRS_MAGIC,
				       .kind = STIXEL_PAIRS_HELLO,
				       .abi_major = STIXEL_ABI_MAJOR,
				       .bytes = sizeof(h),
				       .buffers = 1 + fuzz_choice(in, BUFFERS_MOST),
				       .format = {.width = WIDTH,
						  .height = HEIGHT,
						  .pixel = pixels[fuzz_choice(in, sizeof(pixels))],
						  .pitch = 128,
						  .name = "fuzz"}};

	if (right & (CAMERA | RIG))
		add_camera(&h.format, right & RIG);
	spoil(in, &h, sizeof(h));
	give(fd, &h, sizeof(h), -1, 0);
	for (uint32_t i = 0; right & BUFFERS && i < h.buffers && i < BUFFERS_MOST; i++) {
		struct stixel_pairs_buffer b = {
			.magic = STIXEL_PAIRS_MAGIC, .kind = STIXEL_PAIRS_BUFFER, .index = i, .bytes = BYTES};
		const unsigned how = fuzz_choice(in, 4);
		int memory = memory_of(in);

		if (how == 3)
			spoil(in, &b, sizeof(b));
		give(fd, &b, sizeof(b), memory, how == 2 ? fuzz_choice(in, 4) : 1);
		if (i == 0)
			*kept = memory;
		else if (memory >= 0)
			close(memory);
	}
}

/* Takes all answers. Fails if one is malformed. */
static void hear(int fd)
{
	uint8_t message[1024];
	struct stixel_pairs_answer a;
	ssize_t n;

	while ((n = recv(fd, message, sizeof(message), MSG_DONTWAIT)) > 0) {
		memcpy(&a, message, sizeof(a));
		if ((size_t)n < sizeof(a) || a.magic != STIXEL_PAIRS_MAGIC || a.kind < STIXEL_PAIRS_WELCOME ||
		    a.kind > STIXEL_PAIRS_REFUSED || a.fate > STIXEL_PAIR_BAD ||
		    (size_t)n != sizeof(a) + a.text_bytes ||
		    (a.kind == STIXEL_PAIRS_REFUSED && !a.text_bytes))
			fuzz_fail("an answer of %zd bytes, kind %u", n, a.kind);
	}
}

static void give_pair(struct fuzz_input *in, int fd, bool odd)
{
	struct stixel_pairs_pair p = {.magic = STIXEL_PAIRS_MAGIC,
				      .kind = STIXEL_PAIRS_PAIR,
				      .number = fuzz_number(in, 1),
				      .right_buffer = fuzz_choice(in, 2),
				      .right_offset = BYTES / 2};

	if (odd)
		spoil(in, &p, sizeof(p));
	give(fd, &p, sizeof(p), fd, odd && fuzz_choice(in, 8) == 7);
}

static void read_images(const struct sx_source *s, const struct sx_pair *pair)
{
	const struct sx_source_info *info = sx_source_info(s);
	const struct sx_image *const images[2] = {&pair->left, &pair->right};

	for (int side = 0; side < 2; side++) {
		if (images[side]->width != info->width || images[side]->height != info->height)
			fuzz_fail("an image of %dx%d", images[side]->width, images[side]->height);
		for (int y = 0; y < info->height; y++)
			fuzz_touch(sx_image_row(images[side], y),
				   (size_t)info->width * sx_pixel_bytes(info->pixel));
	}
}

struct use {
	struct sx_source *source;
	struct sx_pair pairs[SLOTS];
	bool lent[SLOTS];
};

/* Takes a pair into a free place. Returns false if the source has ended. */
static bool take(struct use *u)
{
	struct sx_why why = {""};
	int r, i = 0;

	while (i < SLOTS && u->lent[i])
		i++;
	fails_begin();
	r = sx_source_next(u->source, &u->pairs[i < SLOTS ? i : 0], &why);
	fails_end();
	if (r > 0 && i == SLOTS)
		fuzz_fail("a pair without a slot");
	if (r < 0 && !why.text[0])
		fuzz_fail("%d, and no sentence", r);
	if (r < 0 && r != -EBADMSG && r != -ENODEV)
		fuzz_fail("%d: %s", r, why.text);
	if (r > 0) {
		u->lent[i] = true;
		read_images(u->source, &u->pairs[i]);
	}
	return r != -ENODEV;
}

static void release(struct use *u, int i)
{
	if (u->lent[i])
		sx_source_release(u->source, &u->pairs[i]);
	u->lent[i] = false;
}

static void use(struct fuzz_input *in, struct use *u, int fd, int memory)
{
	uint8_t packet[PACKET_MOST];
	bool there = true;

	for (int n = 0; n < STEPS_MOST && in->left && there; n++) {
		const unsigned step = (unsigned)fuzz_number(in, 1);

		if (step % 8 < 2)
			give_pair(in, fd, step & 64);
		else if (step % 8 < 4)
			there = take(u);
		else if (step % 8 == 4)
			release(u, (int)(step / 8 % SLOTS));
		else if (step % 8 == 5)
			hear(fd);
		else if (step % 8 == 6)
			passed_ns += step / 8 * (SX_NS_PER_S / 4);
		else if (step / 8 % 4 == 0)
			give(fd, packet, fuzz_copy(in, packet, fuzz_choice(in, 255)), -1, 0);
		else if (step / 8 % 4 == 1 && memory >= 0)
			(void)!fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES);
		else if (step / 8 % 4 == 2)
			shutdown(fd, step & 64 ? SHUT_RD : SHUT_WR);
		else
			sx_source_refuse(u->source, "the target has had enough");
	}
	for (int i = 0; i < SLOTS; i++)
		release(u, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = fails_input(data, bytes);
	const unsigned right = (unsigned)fuzz_number(&in, 1);
	struct sockaddr_un any = {.sun_family = AF_UNIX}, address;
	socklen_t address_bytes = sizeof(address);
	struct sx_pairs_socket listener = {
		.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
		.path = "/fuzz/pairs.sock"};
	const struct sx_source_params p = {
		.kind = SX_SOURCE_SHARED, .layout = SX_LAYOUT_TWO, .socket = &listener, .timeout_ms = 2000};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), memory = -1, r;
	struct sx_why why = {""};
	struct use u = {0};

	passed_ns = 0;
	if (listener.fd < 0 || fd < 0 ||
	    bind(listener.fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) < 0 ||
	    listen(listener.fd, 4) < 0 ||
	    getsockname(listener.fd, (struct sockaddr *)&address, &address_bytes) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, address_bytes) < 0)
		fuzz_fail("no socket: %s", strerror(errno));
	if (right & HELLO)
		introduce(&in, fd, right, &memory);
	fails_begin();
	r = sx_source_open(&u.source, &p, SLOTS, &why);
	fails_end();
	if (r < 0 && !why.text[0])
		fuzz_fail("%d, and no sentence", r);
	if (r == 0)
		use(&in, &u, fd, memory);
	sx_source_close(u.source);
	hear(fd);
	if (memory >= 0)
		close(memory);
	close(fd);
	close(listener.fd);
	return 0;
}
