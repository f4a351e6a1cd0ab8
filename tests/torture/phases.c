/*
 * The phases of the daemon's life: when calls begin to fail, which requests the test makes meanwhile, and
 * whether the daemon works afterwards. All runs in the daemon's process, and counts frames instead of time,
 * so that a life takes a few milliseconds.
 *
 *	start	until the first frame
 *	steady	frames go on, with a client of frames.sock and requests to status.sock
 *	reload	SIGHUP with another configuration ($TORTURE_NEXT replaces $TORTURE_CONFIG)
 *	order	POST /settings
 *	camera	the cameras are unplugged, and plugged in again
 *	stop	SIGTERM
 *
 * Afterwards no call fails any more: the test makes a change, requests a status, and waits for frames. The
 * report has the answer of the status. It also has marks: both frames of "start" came, and the daemon was
 * asked to end. A daemon that ends with 0 without these marks did so by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/option.h"
#include "daemon/live.h"
#include "daemon/pipeline.h"
#include "daemon/telemetry/telemetry.h"
#include "tests/torture/cameras.h"
#include "tests/torture/client.h"
#include "tests/torture/torture.h"

#define FIRST_FRAMES 3	 /* frames before a phase begins */
#define STEADY_FRAMES 12 /* frames of a phase that has no other end */
#define AFTER_FRAMES 3	 /* frames that must come after the failures have ended */
#define TIMEOUT_MS 4000	 /* limit of each wait */
#define CLOSED_MS 500	 /* time for another thread to close descriptors */

static _Atomic uint64_t frames;
static atomic_int changes, refusals, absences, returns, stopping;
static atomic_bool begun;

/* ---- the daemon's actions, seen by the test ---- */

void __real_sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h,
				   int64_t head_ns);
void __wrap_sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h,
				   int64_t head_ns);
void __real_sx_telemetry_absent(struct sx_telemetry *t, const char *why);
void __wrap_sx_telemetry_absent(struct sx_telemetry *t, const char *why);
void __real_sx_live_tell_done(const struct sx_change *c, uint64_t frame, const char *text);
void __wrap_sx_live_tell_done(const struct sx_change *c, uint64_t frame, const char *text);
void __real_sx_live_tell_refused(const struct sx_change *c, int r, const struct sx_errors *errors);
void __wrap_sx_live_tell_refused(const struct sx_change *c, int r, const struct sx_errors *errors);
void __real_sx_pipeline_stop(struct sx_pipeline *p);
void __wrap_sx_pipeline_stop(struct sx_pipeline *p);
void __real_sx_source_close(struct sx_source *s);
void __wrap_sx_source_close(struct sx_source *s);
int __real_sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots,
			  struct sx_why *why);
int __wrap_sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots,
			  struct sx_why *why);

static bool phase_is(const char *name)
{
	const char *phase = getenv("TORTURE_PHASE");

	return phase && strcmp(phase, name) == 0;
}

void __wrap_sx_telemetry_absent(struct sx_telemetry *t, const char *why)
{
	__real_sx_telemetry_absent(t, why);
	atomic_fetch_add(why ? &absences : &returns, 1);
}

void __wrap_sx_live_tell_done(const struct sx_change *c, uint64_t frame, const char *text)
{
	__real_sx_live_tell_done(c, frame, text);
	atomic_fetch_add(&changes, 1);
}

void __wrap_sx_live_tell_refused(const struct sx_change *c, int r, const struct sx_errors *errors)
{
	__real_sx_live_tell_refused(c, r, errors);
	atomic_fetch_add(&refusals, 1);
}

void __wrap_sx_pipeline_stop(struct sx_pipeline *p)
{
	torture_allow_allocation();
	atomic_store(&stopping, 1);
	__real_sx_pipeline_stop(p);
}

/* Exempts the capture thread, which opens a source while it has none, and may allocate for it. */
void __wrap_sx_source_close(struct sx_source *s)
{
	torture_exempt_thread(true);
	__real_sx_source_close(s);
}

int __wrap_sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots,
			  struct sx_why *why)
{
	const int r = __real_sx_source_open(ret, p, slots, why);

	torture_exempt_thread(r < 0);
	return r;
}

/* ---- actions of the test ---- */

static void terminate(void)
{
	if (!atomic_load(&stopping))
		torture_note("mark terminated");
	kill(getpid(), SIGTERM);
}

static bool wait_until(bool (*condition)(int), int argument, const char *what)
{
	for (int ms = 0; ms < TIMEOUT_MS; ms++) {
		if (condition(argument))
			return true;
		if (atomic_load(&stopping))
			return false; /* the daemon has logged why it ends */
		usleep(1000);
	}
	torture_note("wrong %s: not within %d ms", what, TIMEOUT_MS);
	return false;
}

static bool frames_came(int count)
{
	return atomic_load(&frames) >= (uint64_t)count;
}

static bool more_frames(int count)
{
	return wait_until(frames_came, (int)atomic_load(&frames) + count, "frames do not go on");
}

static bool settled(int before)
{
	return atomic_load(&changes) + atomic_load(&refusals) > before;
}

static bool was_absent(int before)
{
	return atomic_load(&absences) > before;
}

static bool came_back(int before)
{
	return atomic_load(&returns) > before;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Reloads the configuration. False: the daemon refused it. */
static bool reload(void)
{
	const int before = atomic_load(&changes) + atomic_load(&refusals);

	kill(getpid(), SIGHUP);
	return !wait_until(settled, before, "SIGHUP has no outcome") || atomic_load(&changes);
}

static void do_reload(void)
{
	if (rename(getenv("TORTURE_NEXT"), getenv("TORTURE_CONFIG")) < 0)
		torture_note("wrong test: no next configuration");
	if (reload())
		return;
	torture_disarm();
	/* a reload that was refused once must succeed later */
	if (!reload())
		torture_note("wrong reload: refused again when nothing failed");
}

static void do_order(void)
{
	int code = client_order("stixels.width = 8");

	torture_note("answer %d", code);
	torture_disarm();
	code = client_order("stixels.width = 4");
	if (code != 200 && !atomic_load(&stopping))
		torture_note("wrong order: %d when nothing failed%s", code,
			     code ? "" : ", or not within its time");
}

static void do_camera(void)
{
	cameras_unplug();
	if (!wait_until(was_absent, 0, "unplugged cameras are not missed"))
		return;
	cameras_plug();
	wait_until(came_back, 0, "cameras are not found again");
	more_frames(STEADY_FRAMES);
}

static void do_steady(void)
{
	client_stream(3);
	client_get("/status", NULL);
	client_get("/metrics", NULL);
	client_get("/healthz", NULL);
	client_stream(2);
	more_frames(STEADY_FRAMES);
}

static void check_afterwards(int before)
{
	const char *const answer = getenv("TORTURE_STATUS");
	int left = 0;

	client_hang_up();
	if (!more_frames(AFTER_FRAMES) && atomic_load(&stopping))
		return;
	/* the daemon may notice a closed connection late, and contexts are released one frame later */
	for (int ms = 0; ms < CLOSED_MS && (left = descriptors()) > before; ms++)
		usleep(1000);
	if (left > before && !atomic_load(&stopping))
		torture_note("wrong descriptors: %d before, %d after", before, left);
	if (client_get("/status", answer) != 200 && !atomic_load(&stopping))
		torture_note("wrong status: no answer");
}

static void *phase_run(void *nothing)
{
	int before;

	torture_begin_own();
	atomic_store(&begun, true);
	before = descriptors();
	if (phase_is("stop")) {
		torture_arm();
		terminate();
		return NULL;
	}
	torture_arm();
	if (phase_is("steady"))
		do_steady();
	else if (phase_is("reload"))
		do_reload();
	else if (phase_is("order"))
		do_order();
	else if (phase_is("camera"))
		do_camera();
	torture_disarm();
	check_afterwards(before);
	terminate();
	return NULL;
}

void __wrap_sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h,
				   int64_t head_ns)
{
	pthread_t thread;
	uint64_t n;

	__real_sx_telemetry_published(t, h, head_ns);
	n = atomic_fetch_add(&frames, 1) + 1;
	if (phase_is("start") && n == 1)
		torture_disarm();
	if (phase_is("start") && n == 2)
		torture_note("mark frames 2");
	if (n != FIRST_FRAMES)
		return;
	if (!phase_is("start") && getenv("TORTURE_PHASE")) {
		torture_begin_own();
		if (pthread_create(&thread, NULL, phase_run, NULL) != 0)
			abort();
		pthread_detach(thread);
		/* the thread has the frame thread's name, and sanitizers allocate for a new thread */
		while (!atomic_load(&begun))
			usleep(100);
		torture_end_own();
	}
	torture_forbid_allocation();
}
