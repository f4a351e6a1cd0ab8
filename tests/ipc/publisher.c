/*
 * Publishes frames without cameras, for tests of programs that read frames. Ring, frame socket and lock are
 * as in the daemon, and a test can verify the frames.
 *
 *	ipc-publisher INSTANCE FRAMES FPS [held]
 *
 * Prints "ready" when a reader can open the ring, publishes FRAMES frames, and ends normally. FPS 0: without
 * a pause. held: waits for a byte on standard input before the first frame, so that a reader can open the
 * ring in time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/frame.h"
#include "ipc/instance.h"
#include "ipc/stream.h"
#include "tests/ipc/help.h"

static const struct help_shape shape = {.columns = 60};

static int fail(const char *why)
{
	fprintf(stderr, "ipc-publisher: %s\n", why);
	return 73;
}

static void serve_until(struct sx_stream *stream, int64_t until_ns)
{
	struct pollfd p = {.fd = sx_stream_fd(stream), .events = POLLIN};

	for (int64_t now_ns = sx_now_ns(); now_ns < until_ns; now_ns = sx_now_ns())
		if (poll(&p, 1, (int)((until_ns - now_ns) / 1000000) + 1) == 1)
			sx_stream_dispatch(stream);
}

static void publish(struct sx_ring *ring, struct sx_stream *stream, uint64_t epoch, uint64_t frames,
		    double fps)
{
	size_t room = help_frame_bytes(&shape);
	void *bytes = malloc(room);
	int64_t due_ns = sx_now_ns();

	sx_ring_set_state(ring, STIXEL_STATE_RUNNING);
	sx_stream_set_state(stream, STIXEL_STATE_RUNNING);
	for (uint64_t n = 1; bytes && n <= frames; n++) {
		if (fps > 0) {
			due_ns += (int64_t)(1e9 / fps);
			serve_until(stream, due_ns);
		}
		sx_ring_publish(ring, bytes, help_frame(bytes, &shape, epoch, n));
		sx_stream_publish(stream, bytes);
	}
	serve_until(stream, sx_now_ns() + 20000000);
	free(bytes);
}

int main(int argc, char **argv)
{
	struct sx_ring_params rp = help_params(NULL, sx_epoch_new());
	struct sx_stream_params sp = {.listen_fd = -1, .epoch = rp.epoch, .group = (gid_t)-1};
	char dir[96], path[108];
	struct sx_why why;
	struct sx_stream *stream;
	struct sx_ring *ring;

	if (argc != 4 && argc != 5)
		return 64;
	if (sx_runtime_dir(argv[1], dir, sizeof(dir), &why) < 0 || sx_instance_lock(dir, NULL, &why) < 0)
		return fail(why.text);
	snprintf(path, sizeof(path), "%s/frames.sock", dir);
	rp.instance = argv[1];
	rp.stream_path = sp.path = path;
	rp.frame_bytes = sp.frame_bytes = help_frame_bytes(&shape);
	rp.slots = 8;
	if (sx_ring_create(&ring, &rp, &why) < 0)
		return fail(why.text);
	if (sx_stream_create(&stream, &sp, &why) < 0) {
		sx_ring_destroy(ring);
		return fail(why.text);
	}
	puts("ready");
	fflush(stdout);
	if (argc == 5 && getchar() == EOF)
		return 74;
	publish(ring, stream, rp.epoch, strtoull(argv[2], NULL, 10), strtod(argv[3], NULL));
	sx_ring_destroy(ring);
	sx_stream_destroy(stream);
	return 0;
}
