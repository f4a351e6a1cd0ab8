/*
 * Fuzz target for packets of frames.sock in both directions: clients that send anything to the daemon's side,
 * and a publisher that sends anything to the library. The first byte selects the direction. Each step is a
 * byte and its arguments. If the input ends with FAILS_PEER (fails.h), one byte selects the unusual
 * conditions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "include/stixel.h"
#include "ipc/check.h"
#include "ipc/client/reader.h"
#include "ipc/frame.h"
#include "ipc/stream.h"
#include "tests/fuzz/fails.h"
#include "tests/fuzz/frame_input.h"

const unsigned fails_kinds = 1u << FAILS_MEMORY | 1u << FAILS_SYSTEM | 1u << FAILS_PEER;

enum { CLIENTS = 4, PLACES = 3, STEPS_MOST = 40, PACKET_MOST = 4096, FRAME_ROOM = 8192 };

/*
 * Unusual conditions. SMALL: frames are larger than packets. LARGE: packets have the maximum size. STALL:
 * clients do not read for a long time. TICKS: the timer fires. BELL: the library's connection is the bell of a
 * ring.
 */
enum { SMALL = 1, LARGE = 2, STALL = 4, TICKS = 8, BELL = 16 };
#define STALL_NS (20 * SX_NS_PER_S)
static unsigned unusual;

static int64_t passed_ns; /* time added to the clock */
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	const int r = __real_clock_gettime(id, t);

	t->tv_sec += passed_ns / SX_NS_PER_S;
	return r;
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *was);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *was);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *was)
{
	const struct itimerspec at_once = {.it_value.tv_nsec = 1};

	return fails_now(FAILS_SYSTEM)
		       ? -1
		       : __real_timerfd_settime(fd, flags, unusual & TICKS ? &at_once : t, was);
}

static struct sockaddr_un address; /* abstract address of the listening socket */
static socklen_t address_bytes;

/* File name of the socket for the library. connect() leads it to the listening socket. */
#define SOCKET_PATH "/fuzz/frames.sock"
int __real_connect(int fd, const struct sockaddr *to, socklen_t bytes);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	if (to->sa_family == AF_UNIX && strcmp(((const struct sockaddr_un *)to)->sun_path, SOCKET_PATH) == 0)
		return __real_connect(fd, (const struct sockaddr *)&address, address_bytes);
	return __real_connect(fd, to, bytes);
}

static int listen_somewhere(void)
{
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	address_bytes = sizeof(address);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) < 0 ||
	    listen(fd, CLIENTS) < 0 || getsockname(fd, (struct sockaddr *)&address, &address_bytes) < 0)
		fuzz_fail("no socket: %s", strerror(errno));
	return fd;
}

/* ---- the daemon's side ---- */

/* Sends a hello. True if it was sent and is invalid by include/stixel.h. */
static bool send_hello(struct fuzz_input *in, int fd)
{
	uint8_t packet[64] = {0};
	struct stixel_hello hello = {STIXEL_HELLO_MAGIC, (uint32_t)fuzz_number(in, 1)};
	size_t bytes = sizeof(hello);

	if ((hello.want & 0xc0) == 0xc0) { /* a valid hello with a wrong length */
		hello.want &= 0x3f;
		memcpy(packet, &hello, sizeof(hello));
		bytes = fuzz_choice(in, sizeof(packet));
	} else {
		memcpy(packet, &hello, sizeof(hello));
		if (hello.want & 0x80) /* any bytes */
			bytes = fuzz_copy(in, packet, fuzz_choice(in, sizeof(packet)));
	}
	if (send(fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return false;
	memcpy(&hello, packet, sizeof(hello));
	return bytes != sizeof(hello) || hello.magic != STIXEL_HELLO_MAGIC || !hello.want ||
	       hello.want >= 2 * STIXEL_WANT_RIGHT;
}

static bool is_closed(int fd)
{
	uint8_t some[16];
	ssize_t n;

	do
		n = recv(fd, some, sizeof(some), MSG_DONTWAIT);
	while (n > 0);
	return n == 0 || errno == ECONNRESET || errno == ENOTCONN;
}

/* Dispatches. True if a call has failed, now or before. */
static bool dispatch(struct sx_stream *s)
{
	if (unusual & STALL)
		passed_ns += STALL_NS;
	fails_begin();
	sx_stream_dispatch(s);
	fails_end();
	return fails_done();
}

/*
 * A bad hello must be read in its turn, however many packets are before it, and its client must be
 * disconnected.
 */
static void check_let_go(struct sx_stream *s, int fd)
{
	for (int i = 0; i < STEPS_MOST + 2 && !is_closed(fd); i++)
		if (dispatch(s)) /* if a call fails, the client may stay */
			return;
	if (!is_closed(fd))
		fuzz_fail("a client stays that does not keep to the protocol");
}

/* Checks that a received packet is a whole frame or a notice. */
static void hear_packet(int fd)
{
	static uint64_t packet[FRAME_ROOM / 8];
	ssize_t n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT | MSG_TRUNC);
	struct stixel_frame frame;

	if (n <= 0 || (size_t)n > sizeof(packet))
		return;
	if (n == sizeof(struct stixel_notice) &&
	    ((const struct stixel_notice *)packet)->magic == STIXEL_NOTICE_MAGIC)
		return;
	if (sx_frame_check(&frame, packet, (size_t)n) < 0)
		fuzz_fail("a packet of %zd bytes is no frame", n);
}

static void publish(struct fuzz_input *in, struct sx_stream *s, uint64_t number)
{
	size_t bytes;
	struct stixel_frame_header *h = frame_input_make(in, &bytes);

	h->epoch = 1;
	h->number = number;
	h->checksum = sx_frame_checksum(h, h);
	fails_begin();
	sx_stream_publish(s, h);
	fails_end();
	free(h);
}

static struct sx_stream *make_stream(void)
{
	const struct sx_stream_params p = {.listen_fd = listen_somewhere(),
					   .epoch = 1,
					   .frame_bytes = unusual & SMALL   ? 1
							  : unusual & LARGE ? 1u << 30
									    : FRAME_ROOM,
					   .clients = PLACES};
	struct sx_stream *s;
	struct sx_why why = {""};
	int r;

	fails_begin();
	r = sx_stream_create(&s, &p, &why);
	if (!fails_end() && r < 0)
		fuzz_fail("%s", why.text);
	if (r == 0)
		return s;
	if (!why.text[0])
		fuzz_fail("%d, and no sentence", r);
	close(p.listen_fd);
	return NULL;
}

static void check_stream(const struct sx_stream *s)
{
	struct sx_stream_counters count;
	struct sx_stream_client seen[PLACES];

	sx_stream_counters(s, &count);
	if (count.clients < 0 || count.clients > PLACES)
		fuzz_fail("%d clients", count.clients);
	if (sx_stream_clients(s, seen, PLACES) != count.clients || sx_stream_fd(s) < 0)
		fuzz_fail("%d clients, and as many are not listed", count.clients);
	fuzz_touch(seen, (size_t)count.clients * sizeof(*seen));
	if (!count.clients && sx_stream_images(s))
		fuzz_fail("nobody is there, and images are asked for");
	if (sx_stream_packet_bytes(s) % 8 || sx_stream_packet_bytes(s) < sx_frame_bytes(0, 0, 0))
		fuzz_fail("packets of %zu bytes", sx_stream_packet_bytes(s));
}

/* Runs one step of a client or of the publisher. */
static void serve_step(struct fuzz_input *in, struct sx_stream *s, int client[CLIENTS], uint64_t *number)
{
	const unsigned step = (unsigned)fuzz_number(in, 1);
	int *fd = &client[step >> 4 & 3];

	if (*fd < 0) {
		*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(*fd, (const struct sockaddr *)&address, address_bytes);
	}
	if (step % 8 < 2) {
		if (send_hello(in, *fd) && step & 8)
			check_let_go(s, *fd);
	} else if (step % 8 == 2) {
		close(*fd);
		*fd = -1;
	} else if (step % 8 == 3) {
		publish(in, s, ++*number);
	} else if (step % 8 == 4) {
		sx_stream_set_state(s, step >> 6);
	} else {
		hear_packet(*fd);
	}
	if (step & 8)
		dispatch(s);
}

static void serve(struct fuzz_input *in)
{
	int client[CLIENTS] = {-1, -1, -1, -1};
	struct sx_stream *s = make_stream();
	uint64_t number = 0;

	for (int i = 0; s && i < STEPS_MOST && in->left; i++) {
		serve_step(in, s, client, &number);
		check_stream(s);
	}
	if (s && unusual & TICKS)
		sx_stream_disown(s);
	sx_stream_destroy(s);
	for (int i = 0; i < CLIENTS; i++)
		if (client[i] >= 0)
			close(client[i]);
}

/* ---- the library's side ---- */

static void send_anything(struct fuzz_input *in, int fd)
{
	const unsigned what = (unsigned)fuzz_number(in, 1);
	struct stixel_notice notice = {.magic = STIXEL_NOTICE_MAGIC, .bytes = sizeof(notice), .epoch = 1};
	uint8_t packet[256];
	struct stixel_frame_header *h;
	size_t bytes;

	if (what % 4 < 2) {
		h = frame_input_make(in, &bytes);
		h->epoch %= 4;
		h->number %= 16;
		h->checksum = sx_frame_checksum(h, h);
		(void)!send(fd, h, bytes - (what >> 2) % 4 * 8, MSG_NOSIGNAL | MSG_DONTWAIT);
		free(h);
		return;
	}
	memcpy(packet, &notice, sizeof(notice));
	bytes = sizeof(notice);
	if (what % 4 == 2)
		fuzz_copy(in, packet + 8, sizeof(notice) - 8);
	else
		bytes = fuzz_copy(in, packet, what >> 2);
	(void)!send(fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void take(struct stixel_reader *r, bool next)
{
	const struct stixel_frame *frame;
	uint64_t lost;

	fails_begin();
	if ((next ? stixel_next(r, &frame, &lost) : stixel_latest(r, &frame)) == 1)
		frame_input_touch(frame);
	fails_end();
}

static struct stixel_reader *open_reader(unsigned flags)
{
	struct stixel_reader *r = NULL;
	int e;

	fails_begin();
	e = stixel_open_path(&r, SOCKET_PATH, STIXEL_OPEN_STREAM | flags);
	if (!fails_end() && e < 0)
		fuzz_fail("no reader: %d", e);
	return e < 0 ? NULL : r;
}

static int next_peer(int fd)
{
	return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static void use_reader(struct fuzz_input *in, struct stixel_reader *r, int fd)
{
	int peer = next_peer(fd);
	struct stixel_status status;

	for (int i = 0; i < STEPS_MOST && in->left; i++) {
		const unsigned step = fuzz_choice(in, 10);

		if (step < 4) {
			send_anything(in, peer);
		} else if (step < 8) {
			take(r, step & 1);
		} else if (step == 8) {
			fails_begin();
			stixel_wait(r, 0);
			fails_end();
		} else { /* another publisher */
			close(peer);
			fails_begin();
			stixel_reopen(r);
			fails_end();
			peer = next_peer(fd);
		}
	}
	stixel_status(r, &status, sizeof(status));
	fuzz_touch(&status, sizeof(status));
	if (peer >= 0)
		close(peer);
}

/* Tests a connection for notices alone: the library must discard all packets. */
static void drain(struct fuzz_input *in, int fd)
{
	struct sx_link link;
	int peer, r;

	fails_begin();
	r = sx_link_connect(&link, SOCKET_PATH, STIXEL_WANT_NOTICES);
	if (!fails_end() && r < 0)
		fuzz_fail("no connection: %d", r);
	peer = next_peer(fd);
	for (int i = 0; r == 0 && i < STEPS_MOST && in->left; i++) {
		uint8_t byte;
		int e;

		send_anything(in, peer);
		fails_begin();
		e = sx_link_drain(&link);
		if (!fails_end() && e == SX_PACKET_NONE &&
		    recv(link.fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0)
			fuzz_fail("a packet is left");
	}
	if (r == 0)
		sx_link_close(&link);
	if (peer >= 0)
		close(peer);
}

static void listen_to(struct fuzz_input *in)
{
	const unsigned bits = (unsigned)fuzz_number(in, 1);
	int fd = listen_somewhere();
	struct stixel_reader *r;

	if (unusual & BELL) {
		drain(in, fd);
	} else if ((r = open_reader(bits & 1 ? STIXEL_OPEN_FOLLOW : 0))) {
		use_reader(in, r, fd);
		stixel_close(r);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = fails_input(data, bytes);

	passed_ns = 0;
	if (!fails_is(FAILS_PEER, &unusual, NULL))
		unusual = 0;
	if (fuzz_choice(&in, 2))
		serve(&in);
	else
		listen_to(&in);
	return 0;
}
