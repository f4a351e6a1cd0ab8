/*
 * Plays image files into v4l2loopback devices. Each file is one frame, and all devices get their frames at
 * the same time.
 *
 *	feeder FOURCC WIDTHxHEIGHT FPS DEVICE FILE... [-- DEVICE FILE...]...
 *
 * Each device plays its files in an endless loop, starting with the first. On SIGHUP the feeder reads the
 * files again and starts again with the first. A test may kill the feeder, or stop it by a signal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEVICES_MAX 4
#define FILES_MAX 32

struct frame {
	const char *path;
	void *data;
	size_t bytes;
};

struct device {
	const char *path;
	int fd, count;
	struct frame frames[FILES_MAX];
};

static volatile sig_atomic_t again; /* set by a signal: read the files again */

static void on_hangup(int number)
{
	(void)number;
	again = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "feeder: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void load(struct frame *f)
{
	struct stat s;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &s) < 0)
		fail(f->path);
	free(f->data);
	f->bytes = (size_t)s.st_size;
	f->data = malloc(f->bytes);
	if (!f->data || read(fd, f->data, f->bytes) != s.st_size)
		fail(f->path);
	close(fd);
}

static void load_all(struct device *devices, int count)
{
	for (int i = 0; i < count; i++)
		for (int n = 0; n < devices[i].count; n++)
			load(&devices[i].frames[n]);
}

static void set_format(struct device *d, const char *fourcc, unsigned width, unsigned height)
{
	struct v4l2_format f = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
	uint32_t wanted = v4l2_fourcc(fourcc[0], fourcc[1], fourcc[2], fourcc[3]);

	d->fd = open(d->path, O_RDWR | O_CLOEXEC);
	if (d->fd < 0)
		fail(d->path);
	f.fmt.pix.width = width;
	f.fmt.pix.height = height;
	f.fmt.pix.pixelformat = wanted;
	f.fmt.pix.field = V4L2_FIELD_NONE;
	/* needed for compressed images; the driver computes it for others */
	f.fmt.pix.sizeimage = width * height * 2;
	if (ioctl(d->fd, VIDIOC_S_FMT, &f) < 0)
		fail(d->path);
	errno = EINVAL;
	if (f.fmt.pix.pixelformat != wanted || f.fmt.pix.width != width || f.fmt.pix.height != height)
		fail(d->path);
	/* write() works without this call. With it, the driver notices when its writer has gone. */
	if (ioctl(d->fd, VIDIOC_STREAMON, &f.type) < 0)
		fail(d->path);
}

static int parse_devices(struct device *devices, char **words)
{
	int count = 0;

	for (; *words && count < DEVICES_MAX; count++) {
		struct device *d = &devices[count];

		d->path = *words++;
		for (; *words && strcmp(*words, "--") != 0; words++) {
			if (d->count == FILES_MAX)
				return 0;
			d->frames[d->count++].path = *words;
		}
		if (d->count == 0)
			return 0;
		words += *words != NULL;
	}
	return *words ? 0 : count;
}

int main(int argc, char **argv)
{
	static struct device devices[DEVICES_MAX];
	struct sigaction hangup = {.sa_handler = on_hangup, .sa_flags = SA_RESTART};
	struct timespec next;
	unsigned width, height;
	long fps = argc > 5 ? strtol(argv[3], NULL, 10) : 0;
	int count = fps > 0 ? parse_devices(devices, argv + 4) : 0;

	if (count == 0 || strlen(argv[1]) != 4 || sscanf(argv[2], "%ux%u", &width, &height) != 2) {
		fputs("usage: feeder FOURCC WIDTHxHEIGHT FPS DEVICE FILE... [-- DEVICE FILE...]...\n",
		      stderr);
		return 64;
	}
	load_all(devices, count); /* before any camera appears that the daemon could wait for */
	sigaction(SIGHUP, &hangup, NULL);
	for (int i = 0; i < count; i++)
		set_format(&devices[i], argv[1], width, height);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned n = 0;; n++) {
		struct timespec now;

		if (again) {
			again = 0;
			n = 0;
			load_all(devices, count);
		}
		for (int i = 0; i < count; i++) {
			const struct frame *f = &devices[i].frames[n % (unsigned)devices[i].count];

			if (write(devices[i].fd, f->data, f->bytes) != (ssize_t)f->bytes)
				fail(devices[i].path);
		}
		/* a late camera skips pictures, it does not catch up */
		clock_gettime(CLOCK_MONOTONIC, &now);
		do {
			next.tv_nsec += 1000000000 / fps;
			next.tv_sec += next.tv_nsec / 1000000000;
			next.tv_nsec %= 1000000000;
		} while (next.tv_sec < now.tv_sec ||
			 (next.tv_sec == now.tv_sec && next.tv_nsec <= now.tv_nsec));
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
