/*
 * Packets of frames.sock, both ways: clients that send the daemon's side whatever they like, and a
 * publisher that does so to the library. The first byte says which; each step then is a byte and what it
 * takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/stixel.h"
#include "ipc/check.h"
#include "ipc/stream.h"
#include "tests/fuzz/frame_input.h"

enum { CLIENTS = 4, PLACES = 3, STEPS_MOST = 40, PACKET_MOST = 4096, FRAME_ROOM = 8192 };

static struct sockaddr_un address; /* of the socket that listens; its name lies in no file system */
static socklen_t address_bytes;

/* The library knows names of files: this one leads there. */
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

/* True when it is out, and no greeting as include/stixel.h has it. */
static bool send_hello(struct fuzz_input *in, int fd)
{
	uint8_t packet[64] = {0};
	struct stixel_hello hello = {STIXEL_HELLO_MAGIC, (uint32_t)fuzz_number(in, 1)};
	size_t bytes = sizeof(hello);

	if ((hello.want & 0xc0) == 0xc0) { /* right, but for its length */
		hello.want &= 0x3f;
		memcpy(packet, &hello, sizeof(hello));
		bytes = fuzz_choice(in, sizeof(packet));
	} else {
		memcpy(packet, &hello, sizeof(hello));
		if (hello.want & 0x80) /* whatever it likes */
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

/* However much waits before it, a bad greeting is heard in its turn, and its client let go. */
static void check_let_go(struct sx_stream *s, int fd)
{
	for (int i = 0; i < STEPS_MOST + 2 && !is_closed(fd); i++)
		sx_stream_dispatch(s);
	if (!is_closed(fd))
		fuzz_fail("a client stays that does not keep to the protocol");
}

/* What came is a frame that is whole, or a notice. */
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
	sx_stream_publish(s, h);
	free(h);
}

static void serve(struct fuzz_input *in)
{
	const struct sx_stream_params p = {
		.listen_fd = listen_somewhere(), .epoch = 1, .frame_bytes = FRAME_ROOM, .clients = PLACES};
	int client[CLIENTS] = {-1, -1, -1, -1};
	struct sx_stream_counters count;
	struct sx_stream_client seen[PLACES];
	struct sx_stream *s;
	char why[256];
	uint64_t number = 0;

	if (sx_stream_create(&s, &p, why, sizeof(why)) < 0)
		fuzz_fail("%s", why);
	for (int i = 0; i < STEPS_MOST && in->left; i++) {
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
			publish(in, s, ++number);
		} else if (step % 8 == 4) {
			sx_stream_set_state(s, step >> 6);
		} else {
			hear_packet(*fd);
		}
		if (step & 8)
			sx_stream_dispatch(s);
		sx_stream_counters(s, &count);
		if (count.clients < 0 || count.clients > PLACES)
			fuzz_fail("%d clients", count.clients);
		if (sx_stream_clients(s, seen, PLACES) != count.clients || sx_stream_fd(s) < 0)
			fuzz_fail("%d clients, and as many are not listed", count.clients);
		fuzz_touch(seen, (size_t)count.clients * sizeof(*seen));
	}
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

	if ((next ? stixel_next(r, &frame, &lost) : stixel_latest(r, &frame)) == 1)
		frame_input_touch(frame);
}

static void listen_to(struct fuzz_input *in)
{
	const unsigned bits = (unsigned)fuzz_number(in, 1);
	int fd = listen_somewhere(), peer;
	struct stixel_reader *r;
	struct stixel_status status;

	if (stixel_open_path(&r, SOCKET_PATH, STIXEL_OPEN_STREAM | (bits & 1 ? STIXEL_OPEN_FOLLOW : 0)) < 0)
		fuzz_fail("no reader");
	peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	for (int i = 0; i < STEPS_MOST && in->left; i++) {
		const unsigned step = fuzz_choice(in, 10);

		if (step < 4) {
			send_anything(in, peer);
		} else if (step < 8) {
			take(r, step & 1);
		} else if (step == 8) {
			stixel_wait(r, 0);
		} else { /* another publisher */
			close(peer);
			stixel_reopen(r);
			peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		}
	}
	stixel_status(r, &status, sizeof(status));
	fuzz_touch(&status, sizeof(status));
	stixel_close(r);
	if (peer >= 0)
		close(peer);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = {data, bytes};

	if (fuzz_choice(&in, 2))
		serve(&in);
	else
		listen_to(&in);
	return 0;
}
