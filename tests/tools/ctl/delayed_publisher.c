/*
 * A publisher with known latencies, for tests of programs that measure them. Frames state a capture time some
 * time before their publication, and the bell rings some time after it.
 *
 *	delayed-publisher INSTANCE FRAMES PERIOD_MS CAPTURE_MS DELAY_MS LONG_MS EVERY
 *
 * The publication time is CAPTURE_MS after the capture time. Then DELAY_MS pass, or LONG_MS in every EVERY-th
 * frame.
 * Prints "ready" when a reader can open the ring. Then it waits for a line on stdin, publishes, waits for
 * another line, and ends normally.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "ipc/frame.h"
#include "ipc/instance.h"
#include "ipc/ring.h"

static int number(char **argv, int i)
{
	return (int)strtol(argv[i], NULL, 10);
}

static void sleep_until(int64_t ns)
{
	const struct timespec t = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
}

static int64_t pack(void *bytes, size_t room, uint64_t epoch, uint64_t n, int64_t capture_ns)
{
	static const uint32_t offsets[2] = {0, 1};
	static const struct stixel stixel = {.row_bottom = 99, .disparity_q7 = 1280, .kind = STIXEL_OBJECT};
	int64_t now_ns = sx_now_ns();
	struct stixel_frame_header h = {
		.epoch = epoch,
		.number = n,
		.capture_left_ns = now_ns - capture_ns,
		.capture_right_ns = now_ns - capture_ns,
		.submitted_ns = now_ns,
		.published_ns = now_ns,
		.image_width = 100,
		.image_height = 100,
		.columns = 1,
		.column_width = 5,
		.stixel_count = 1,
	};

	return sx_frame_pack(bytes, room, &h, offsets, &stixel, NULL, NULL, 0);
}

static int publish(struct sx_ring *ring, uint64_t epoch, char **argv)
{
	const int64_t ms = 1000000;
	int64_t due_ns = sx_now_ns();
	static uint64_t bytes[1024];

	sx_ring_set_state(ring, STIXEL_STATE_RUNNING);
	for (int n = 1; n <= number(argv, 2); n++) {
		int delay_ms = n % number(argv, 7) ? number(argv, 5) : number(argv, 6);
		int64_t size;

		due_ns += number(argv, 3) * ms;
		sleep_until(due_ns);
		size = pack(bytes, sizeof(bytes), epoch, (uint64_t)n, number(argv, 4) * ms);
		sleep_until(sx_now_ns() + delay_ms * ms);
		if (size < 0 || sx_ring_publish(ring, bytes, (size_t)size) < 0)
			return 70;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sx_ring_params p = {
		.epoch = sx_epoch_new(), .frame_bytes = 8192, .slots = 64, .group = (gid_t)-1};
	char dir[96], line[16];
	struct sx_why why;
	struct sx_ring *ring;
	int code;

	if (argc != 8)
		return 64;
	p.instance = argv[1];
	if (sx_runtime_dir(argv[1], dir, sizeof(dir), &why) < 0 || sx_instance_lock(dir, NULL, &why) < 0 ||
	    sx_ring_create(&ring, &p, &why) < 0) {
		fprintf(stderr, "delayed-publisher: %s\n", why.text);
		return 73;
	}
	puts("ready");
	fflush(stdout);
	code = fgets(line, sizeof(line), stdin) ? publish(ring, p.epoch, argv) : 0;
	puts("done");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		code = code ? code : 0;
	sx_ring_destroy(ring);
	return code;
}
