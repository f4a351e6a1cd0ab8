/*
 * Simulates the cameras of the phase "camera" in the capture thread's poll(), and fails calls to their
 * driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/torture/cameras.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/v4l2/v4l2_io.h"
#include "tests/capture/v4l2/v4l2_case.h"
#include "tests/kit/fake_v4l2.h"
#include "tests/torture/torture.h"

#define PERIOD_US 2000
#define SOON_MS 5 /* longest wait, ms */

static struct fake_camera *cameras[2];
static atomic_bool wanted_gone;
static _Atomic int64_t ahead_ns; /* how far the program's clock is ahead of the real one */
static _Thread_local bool is_capture;

void cameras_unplug(void)
{
	atomic_store(&wanted_gone, true);
}

void cameras_plug(void)
{
	atomic_store(&wanted_gone, false);
}

__attribute__((constructor)) static void cameras_add(void)
{
	case_grey(cameras);
}

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	const int r = __real_clock_gettime(id, t);
	const int64_t ns = (int64_t)t->tv_sec * SX_NS_PER_S + t->tv_nsec + atomic_load(&ahead_ns);

	*t = (struct timespec){.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S};
	return r;
}

/*
 * Marks the capture thread. Its name is no help, because its creator sets the name, perhaps after the
 * thread's first poll().
 */
void *__real_sx_capture_thread(void *pipeline);
void *__wrap_sx_capture_thread(void *pipeline);
void *__wrap_sx_capture_thread(void *pipeline)
{
	is_capture = true;
	return __real_sx_capture_thread(pipeline);
}

/* Never fails here, because allocations of the capture thread are recognised by its name. */
int __real_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
	return __real_pthread_setname_np(thread, name);
}

static void play(int timeout_ms)
{
	static int picture;
	const bool gone = atomic_load(&wanted_gone);
	const struct fake_frame f = {.pattern = picture, .ns = sx_now_ns()};

	for (int i = 0; i < 2; i++) {
		if (gone && !cameras[i]->gone)
			fake_unplug(cameras[i]);
		else if (!gone && cameras[i]->gone)
			fake_plug(cameras[i]);
		else if (!gone && cameras[i]->streaming)
			fake_fill(cameras[i], &f);
	}
	picture++;
	/* attempts to find cameras are seconds apart */
	if (timeout_ms > SOON_MS)
		atomic_fetch_add(&ahead_ns, (timeout_ms - SOON_MS) * INT64_C(1000000));
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	static const int errors[] = {EINTR, ENOMEM, 0};
	const int error = torture_call(TORTURE_WAIT, "poll", errors, __builtin_return_address(0));

	if (is_capture) {
		torture_begin_own();
		usleep(PERIOD_US);
		play(timeout_ms);
		torture_end_own();
		if (timeout_ms < 0 || timeout_ms > SOON_MS)
			timeout_ms = SOON_MS;
	}
	if (error) {
		errno = error;
		return -1;
	}
	return __real_poll(fds, count, timeout_ms);
}

/* The driver belongs to the test: its own calls do not fail, but calls to it do. */
int __real_sx_v4l2_open(const char *path);
int __wrap_sx_v4l2_open(const char *path);
int __wrap_sx_v4l2_open(const char *path)
{
	static const int errors[] = {ENODEV, EMFILE, EBUSY, 0};
	const int error = torture_call(TORTURE_OPEN, "sx_v4l2_open", errors, __builtin_return_address(0));
	int r = -error;

	torture_begin_own();
	if (!error)
		r = __real_sx_v4l2_open(path);
	torture_end_own();
	return r;
}

/*
 * True if the request ends streaming or releases buffers. Closing the device does so at the latest, whatever
 * the answer is.
 */
static bool ioctl_undoes(unsigned long request, const void *argument)
{
	const struct v4l2_requestbuffers *buffers = argument;

	return request == VIDIOC_STREAMOFF || (request == VIDIOC_REQBUFS && !buffers->count);
}

int __real_sx_v4l2_ioctl(int fd, unsigned long request, void *argument);
int __wrap_sx_v4l2_ioctl(int fd, unsigned long request, void *argument);
int __wrap_sx_v4l2_ioctl(int fd, unsigned long request, void *argument)
{
	static const int errors[] = {EIO, ENODEV, EINVAL, ENOMEM, 0};
	const int error = torture_call(TORTURE_IOCTL, "sx_v4l2_ioctl", errors, __builtin_return_address(0));
	int r = 0;

	torture_begin_own();
	if (!error || ioctl_undoes(request, argument))
		r = __real_sx_v4l2_ioctl(fd, request, argument);
	torture_end_own();
	return error ? -error : r;
}

void *__real_sx_v4l2_mmap(int fd, size_t bytes, unsigned offset);
void *__wrap_sx_v4l2_mmap(int fd, size_t bytes, unsigned offset);
void *__wrap_sx_v4l2_mmap(int fd, size_t bytes, unsigned offset)
{
	static const int errors[] = {ENOMEM, 0};
	const int error = torture_call(TORTURE_MMAP, "sx_v4l2_mmap", errors, __builtin_return_address(0));
	void *p = NULL;

	torture_begin_own();
	if (!error)
		p = __real_sx_v4l2_mmap(fd, bytes, offset);
	torture_end_own();
	errno = error ? error : errno;
	return p;
}
