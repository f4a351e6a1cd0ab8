/*
 * USB/IP, version 1.1.1: Documentation/usb/usbip_protocol.rst of the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/vm/usbip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define SPEED_HIGH 3
#define DEVICE_ID 0x10001

enum { SUBMIT = 1, UNLINK = 2, SUBMIT_ANSWER = 3, UNLINK_ANSWER = 4 };

/* Numbers are big-endian, except setup, which has the byte order of USB. */
struct packet {
	uint32_t command, sequence, device, in, endpoint;
	union {
		struct {
			uint32_t flags;
			uint32_t length, start_frame, packets, interval;
			struct usb_ctrlrequest setup;
		} submit;
		struct {
			uint32_t status, length, start_frame, packets, errors;
			uint8_t unused[8];
		} answer;
		uint32_t unlink_sequence;
	};
};
_Static_assert(sizeof(struct packet) == 48, "as on the wire");

int usbip_attach(int port)
{
	static const char path[] = "/sys/devices/platform/vhci_hcd.0/attach";
	int fds[2], sys, r = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	sys = open(path, O_WRONLY | O_CLOEXEC);
	if (sys < 0 || dprintf(sys, "%d %d %d %d", port, fds[1], DEVICE_ID + port, SPEED_HIGH) < 0)
		r = -errno;
	if (sys >= 0)
		close(sys);
	close(fds[1]);
	if (r < 0)
		close(fds[0]);
	return r < 0 ? r : fds[0];
}

static int read_all(int fd, void *to, size_t bytes)
{
	ssize_t n = recv(fd, to, bytes, MSG_WAITALL);

	return n == (ssize_t)bytes ? 0 : -ENODEV;
}

int usbip_receive(int fd, struct usbip_request *r)
{
	struct packet p;
	int e = read_all(fd, &p, sizeof(p));

	if (e < 0)
		return e;
	*r = (struct usbip_request){.answer = p.sequence, .sequence = p.sequence};
	if (ntohl(p.command) == UNLINK) {
		r->unlink = true;
		r->sequence = p.unlink_sequence;
		return 0;
	}
	r->endpoint = (int)ntohl(p.endpoint);
	r->in = ntohl(p.in);
	r->length = (int)ntohl(p.submit.length);
	r->setup = p.submit.setup;
	if (ntohl(p.command) != SUBMIT || r->length < 0)
		return -EPROTO;
	if (r->in || r->length == 0)
		return 0;
	return r->length > (int)sizeof(r->data) ? -EPROTO : read_all(fd, r->data, (size_t)r->length);
}

static int send_packet(int fd, const struct packet *p, const void *data, size_t bytes)
{
	struct iovec parts[] = {{(void *)(uintptr_t)p, sizeof(*p)}, {(void *)(uintptr_t)data, bytes}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = bytes ? 2 : 1};

	return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)(sizeof(*p) + bytes) ? 0 : -ENODEV;
}

int usbip_answer(int fd, const struct usbip_request *r, int status, const void *data, size_t length)
{
	struct packet p = {.command = htonl(SUBMIT_ANSWER), .sequence = r->answer};

	p.answer.status = htonl((uint32_t)status);
	p.answer.length = htonl((uint32_t)length);
	return send_packet(fd, &p, data, r->in ? length : 0);
}

int usbip_answer_unlink(int fd, const struct usbip_request *r, int status)
{
	struct packet p = {.command = htonl(UNLINK_ANSWER), .sequence = r->answer};

	p.answer.status = htonl((uint32_t)status);
	return send_packet(fd, &p, NULL, 0);
}
