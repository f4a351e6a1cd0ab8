/*
 * The simulated cameras: two V4L2 drivers that keep an eye on who uses them, and do what drivers do wrong at
 * the rates of the hour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_CAMERA_H
#define SX_TESTS_SIMULATE_CAMERA_H

#include "tests/simulate/sim.h"

#define CAMERA_TAG UINT64_C(0x7a67617473696d31)
#define CAMERA_BUFFERS 32
#define CAMERA_TRANSFER_NS (4 * SIM_MS) /* from the shutter to the filled buffer */

/* The first bytes of each image: which one it is. */
struct camera_tag {
	uint64_t magic, side, shot;
	int64_t ns; /* when it was really taken */
	uint64_t sum;
};

/* Once in so many images; 0: never. */
struct camera_rates {
	unsigned lost, late, very_late, duplicated, swapped, jumped, damaged, shortened, refused;
};

struct camera_buffer {
	enum { CAMERA_OURS, CAMERA_QUEUED, CAMERA_FILLED } state; /* OURS: the daemon's */
	void *user;
	int mapped;
	uint32_t bytes, flags;
	uint64_t sequence; /* a driver tells the lower half */
	int64_t stamp_ns;
};

struct camera {
	const char *path;
	int side;
	bool present, streaming, silent, event;
	uint64_t generation; /* counts how often it was unplugged: handles of before are dead */
	int width, height;   /* of what it offers */
	int64_t period_ns;
	uint32_t memory, count;
	uint64_t sequence;
	int owner; /* descriptor that has the buffers; -1 */
	struct camera_buffer buffers[CAMERA_BUFFERS];
	uint32_t queue[CAMERA_BUFFERS], filled[CAMERA_BUFFERS];
	int queued, filled_count;
	uint64_t shot;
	int64_t shot_ns; /* the one that comes next */
	bool held;	 /* one is held back, to come after the next */
	uint64_t held_shot;
	int64_t held_ns;
	struct sim_timer timer;
	uint64_t taken;	     /* given out by DQBUF since it was opened */
	uint64_t last, gaps; /* of these: the last number, and those left out */
};

void camera_init(struct camera camera[2], int64_t period_ns);
void camera_plug(struct camera *c, bool present, int width, int height);
int camera_open(const char *path);
void camera_close(const struct sim_fd *f, int fd);
uint32_t camera_events(const struct sim_fd *f);
/* A positive errno, or 0. */
int camera_ioctl(struct sim_fd *f, int fd, unsigned long request, void *argument);
void *camera_map(struct sim_fd *f, size_t bytes, unsigned offset);
bool camera_unmap(const void *at);
uint64_t camera_tag_sum(const struct camera_tag *t);

#endif
