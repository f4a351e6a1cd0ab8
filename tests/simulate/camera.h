/*
 * The simulated cameras: the drivers of tests/kit/fake_v4l2.h on the simulated machine. They make the errors
 * that real drivers make, at rates that change during a history.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SIMULATE_CAMERA_H
#define SX_TESTS_SIMULATE_CAMERA_H

#include "tests/kit/fake_v4l2.h"
#include "tests/simulate/sim.h"

#define CAMERA_TAG UINT64_C(0x7a67617473696d31)
#define CAMERA_BUFFER_BYTES 16384	/* size of each buffer of the driver's memory */
#define CAMERA_TRANSFER_NS (4 * SIM_MS) /* from exposure to the filled buffer */

/* First bytes of each image, which identify it. */
struct camera_tag {
	uint64_t magic, side, shot;
	int64_t ns; /* true capture time */
	uint64_t sum;
};

/* Rates of errors: each happens once in this number of images; 0: never. */
struct camera_rates {
	unsigned lost, late, very_late, duplicated, swapped, jumped, damaged, shortened, refused;
};

struct camera {
	struct fake_camera driver;
	int side;
	bool present, silent;
	/* number of times the camera was unplugged; handles of earlier generations are dead */
	uint64_t generation;
	int width, height; /* size of the images, px */
	int64_t period_ns;
	uint64_t shot;
	int64_t shot_ns; /* time of the next image */
	bool held;	 /* true: an image is held back and comes after the next one */
	uint64_t held_shot;
	int64_t held_ns;
	struct sim_timer timer;
	uint64_t taken; /* buffers returned by DQBUF since the camera was opened */
	uint32_t last;	/* sequence number of the last buffer */
	uint64_t gaps;	/* images that are missing by their sequence numbers */
};

void camera_init(struct camera camera[2], int64_t period_ns);
void camera_plug(struct camera *c, bool present, int width, int height);
int camera_open(const char *path);
void camera_close(const struct sim_fd *f, int fd);
uint32_t camera_events(const struct sim_fd *f);
/* Returns a positive errno, or 0. */
int camera_ioctl(struct sim_fd *f, int fd, unsigned long request, void *argument);
void *camera_map(struct sim_fd *f, size_t bytes, unsigned offset);
bool camera_unmap(const void *at);
uint64_t camera_tag_sum(const struct camera_tag *t);

#endif
