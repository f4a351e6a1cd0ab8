/*
 * A USB camera made of software. The kernel's real driver, uvcvideo, sees a device with MJPEG and YUYV that
 * plays image files. Needs the modules vhci_hcd and uvcvideo.
 *
 *	uvc-camera PORT SERIAL WIDTHxHEIGHT FPS FILE.jpg FILE.yuyv [FILE.jpg FILE.yuyv]...
 *
 * Frame n starts at n periods of the system's clock and shows pair n of the files, modulo their number. Two
 * cameras are thus synchronous without communication. A line on stdin takes effect at the next frame:
 *
 *	short	half of one frame is sent
 *	error	one frame has the error bit
 *	hang	no more frames, but the camera still answers
 *	go	frames again
 *
 * The end of stdin, or of the process, disconnects the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/vm/uvc_function.h"

#define QUEUE_MAX 64
#define FILES_MAX 32
#define HEADER_BYTES 2
#define PRODUCT "Camera of the tests"

struct file {
	uint8_t *data;
	size_t bytes;
};

struct camera {
	int fd, fps, pairs;
	struct uvc_function function;
	struct file files[FILES_MAX][2]; /* index: format */
	struct usbip_request *queue;	 /* stream reads that wait for data, oldest first */
	int queued;
	int64_t number; /* number of the frame that is being sent, or is next */
	bool sending;
	const struct file *frame;
	size_t sent, bytes;
	uint8_t flags; /* flags of all payloads of this frame */
	bool make_short, make_error, hang;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t period_ns(const struct camera *c)
{
	return 1000000000LL / c->fps;
}

static int load(struct file *f, const char *path)
{
	FILE *in = fopen(path, "rb");
	struct stat s;

	if (!in || fstat(fileno(in), &s) < 0)
		return -errno;
	f->bytes = (size_t)s.st_size;
	f->data = malloc(f->bytes);
	if (!f->data || fread(f->data, 1, f->bytes, in) != f->bytes)
		return -EIO;
	fclose(in);
	return 0;
}

static void begin_frame(struct camera *c)
{
	c->frame = &c->files[c->number % c->pairs][c->function.stream.bFormatIndex - 1];
	c->bytes = c->make_short ? c->frame->bytes / 2 : c->frame->bytes;
	c->flags = (uint8_t)(UVC_STREAM_EOH | (c->number % 2 ? UVC_STREAM_FID : 0) |
			     (c->make_error ? UVC_STREAM_ERR : 0));
	c->make_short = c->make_error = false;
	c->sent = 0;
	c->sending = true;
}

static void next_frame(struct camera *c)
{
	c->sending = false;
	c->number = now_ns() / period_ns(c) + 1;
}

/* Answers the oldest waiting read with the next payload of the frame. */
static int send_payload(struct camera *c)
{
	static uint8_t payload[UVC_PAYLOAD_BYTES];
	const struct usbip_request *r = &c->queue[0];
	size_t room = (r->length < UVC_PAYLOAD_BYTES ? (size_t)r->length : UVC_PAYLOAD_BYTES) - HEADER_BYTES;
	size_t n = c->bytes - c->sent < room ? c->bytes - c->sent : room;
	bool last = c->sent + n == c->bytes;
	int e;

	payload[0] = HEADER_BYTES;
	payload[1] = (uint8_t)(c->flags | (last ? UVC_STREAM_EOF : 0));
	memcpy(payload + HEADER_BYTES, c->frame->data + c->sent, n);
	e = usbip_answer(c->fd, r, 0, payload, n + HEADER_BYTES);
	c->sent += n;
	c->queued--;
	memmove(c->queue, c->queue + 1, sizeof(c->queue[0]) * (size_t)c->queued);
	if (last)
		next_frame(c);
	return e;
}

static int send_what_is_due(struct camera *c)
{
	int e = 0;

	if (!c->sending && c->queued > 0 && !c->hang && now_ns() >= c->number * period_ns(c)) {
		/* the host did not read this frame in its period */
		if (now_ns() >= (c->number + 1) * period_ns(c))
			next_frame(c);
		else
			begin_frame(c);
	}
	while (e == 0 && c->sending && c->queued > 0)
		e = send_payload(c);
	return e;
}

static int unlink_request(struct camera *c, const struct usbip_request *r)
{
	for (int i = 0; i < c->queued; i++) {
		if (c->queue[i].sequence != r->sequence)
			continue;
		c->queued--;
		memmove(c->queue + i, c->queue + i + 1, sizeof(c->queue[0]) * (size_t)(c->queued - i));
		if (c->queued == 0)
			c->sending = false; /* the stream ends */
		return usbip_answer_unlink(c->fd, r, -ECONNRESET);
	}
	return usbip_answer_unlink(c->fd, r, 0); /* the request was already answered */
}

static int obey_host(struct camera *c)
{
	struct usbip_request r;
	int e = usbip_receive(c->fd, &r);

	if (e < 0)
		return e;
	if (r.unlink)
		return unlink_request(c, &r);
	if (r.endpoint == 0)
		return uvc_function_control(&c->function, c->fd, &r);
	if (!r.in || r.length <= HEADER_BYTES || c->queued == QUEUE_MAX)
		return usbip_answer(c->fd, &r, -EPIPE, NULL, 0);
	c->queue[c->queued++] = r;
	return 0;
}

static int obey_user(struct camera *c)
{
	static const char *const words[] = {"short", "error", "hang", "go"};
	char text[64] = "";
	ssize_t n = read(STDIN_FILENO, text, sizeof(text) - 1);

	if (n <= 0)
		return -ENODEV;
	for (const char *at = text; *at; at += strspn(at, "\n")) {
		size_t length = strcspn(at, "\n"), i = 0;

		while (i < 4 && (strlen(words[i]) != length || strncmp(at, words[i], length) != 0))
			i++;
		c->make_short |= i == 0;
		c->make_error |= i == 1;
		c->hang = i == 2 || (c->hang && i != 3);
		if (i == 4)
			fprintf(stderr, "uvc-camera: what is '%.*s'?\n", (int)length, at);
		at += length;
	}
	return 0;
}

static int run(struct camera *c)
{
	int e = 0;

	next_frame(c);
	while (e == 0) {
		struct pollfd p[] = {{.fd = c->fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
		int64_t left_ns = c->number * period_ns(c) - now_ns();
		struct timespec t = {.tv_nsec = left_ns > 0 ? left_ns : 0};

		if (ppoll(p, 2, c->queued && !c->hang ? &t : NULL, NULL) < 0)
			return -errno;
		if (p[1].revents)
			e = obey_user(c);
		if (e == 0 && p[0].revents)
			e = obey_host(c);
		if (e == 0)
			e = send_what_is_due(c);
	}
	return e;
}

static int usage(void)
{
	fputs("usage: uvc-camera PORT SERIAL WIDTHxHEIGHT FPS FILE.jpg FILE.yuyv [FILE.jpg FILE.yuyv]...\n",
	      stderr);
	return 64;
}

int main(int argc, char **argv)
{
	static struct camera c;
	int width, height, e;

	if (argc < 7 || argc % 2 == 0 || argc > 5 + 2 * FILES_MAX ||
	    sscanf(argv[3], "%dx%d", &width, &height) != 2)
		return usage();
	c.fps = (int)strtol(argv[4], NULL, 10);
	c.pairs = (argc - 5) / 2;
	c.queue = calloc(QUEUE_MAX, sizeof(*c.queue));
	if (c.fps < 2 || c.fps > 1000 || !c.queue)
		return usage();
	for (int i = 0; i < 2 * c.pairs; i++) {
		e = load(&c.files[i / 2][i % 2], argv[5 + i]);
		if (e < 0) {
			fprintf(stderr, "uvc-camera: %s: %s\n", argv[5 + i], strerror(-e));
			return 1;
		}
	}
	uvc_function_init(&c.function, width, height, c.fps, PRODUCT, argv[2]);
	c.fd = usbip_attach((int)strtol(argv[1], NULL, 10));
	if (c.fd < 0) {
		fprintf(stderr, "uvc-camera: port %s: %s\n", argv[1], strerror(-c.fd));
		return 1;
	}
	e = run(&c);
	return e == -ENODEV ? 0 : 1;
}
