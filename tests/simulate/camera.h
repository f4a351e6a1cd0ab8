/*
 * The simulated cameras: the drivers of tests/kit/fake_v4l2.h on the simulated machine, which do what drivers
 * do wrong at the rates of the hour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_CAMERA_H
#define SX_TESTS_SIMULATE_CAMERA_H

#include "tests/kit/fake_v4l2.h"
#include "tests/simulate/sim.h"

#define CAMERA_TAG UINT64_C(0x7a67617473696d31)
#define CAMERA_BUFFER_BYTES 16384	/* of the driver's own memory */
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

struct camera {
	struct fake_camera driver;
	int side;
	bool present, silent;
	uint64_t generation; /* counts how often it was unplugged: handles of before are dead */
	int width, height;   /* of what it offers */
	int64_t period_ns;
	uint64_t shot;
	int64_t shot_ns; /* the one that comes next */
	bool held;	 /* one is held back, to come after the next */
	uint64_t held_shot;
	int64_t held_ns;
	struct sim_timer timer;
	uint64_t taken; /* given out by DQBUF since it was opened */
	uint32_t last;	/* of these: the last number, ... */
	uint64_t gaps;	/* ... and those left out */
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
