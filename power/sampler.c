/*
 * Reads a sensor repeatedly in its own thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/why.h"

#define LOST_NS (2 * SX_NS_PER_S)	  /* a sensor that fails for this long is searched for again */
#define SEARCH_MOST_NS (60 * SX_NS_PER_S) /* longest time between two searches; the first is one second */
#define STOP_NS (2 * SX_NS_PER_S)
#define TEXT_BYTES 512

struct sx_sampler {
	struct sx_power_params params; /* texts point to the three buffers below */
	char rails[TEXT_BYTES], gpu[TEXT_BYTES], root[TEXT_BYTES];
	struct sx_power_engine engine;
	sx_sampler_frames_fn *frames;
	const void *user;
	pthread_t thread;

	/* only the thread uses the following fields */
	struct sx_power_sensor *sensor;
	int64_t failing_since_ns; /* start of the failing reads; 0: the last read succeeded */
	int64_t search_ns, search_after_ns;

	/* Protects the fields below. It is not held while a sensor is read. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool quit;
	bool present, searched;
	char source[16], scope[64], device[160], why[SX_SAMPLER_WHY_BYTES];
	struct sx_power_reading reading;
	int interval_ms;
	unsigned changes;
	struct sx_meter meter;
};

static void copy_text(const char **field, char *own, const char *text)
{
	*field = NULL;
	if (!text || !*text)
		return;
	snprintf(own, TEXT_BYTES, "%s", text);
	*field = own;
}

static bool quitting(struct sx_sampler *s)
{
	bool quit;

	pthread_mutex_lock(&s->lock);
	quit = s->quit;
	pthread_mutex_unlock(&s->lock);
	return quit;
}

/*
 * Notes a sensor that was found. If it is the same sensor as before, its sums continue. Energies of different
 * sensors are not added up, so the sums of another sensor begin at 0.
 */
static void note_found(struct sx_sampler *s)
{
	const struct sx_power_sensor *sensor = s->sensor;
	int interval_ms = sensor->least_ms > s->params.interval_ms ? sensor->least_ms : s->params.interval_ms;

	pthread_mutex_lock(&s->lock);
	if (strcmp(s->source, sensor->source) != 0 || strcmp(s->scope, sensor->scope) != 0 ||
	    strcmp(s->device, sensor->device) != 0)
		sx_meter_init(&s->meter, interval_ms * INT64_C(1000000));
	memcpy(s->source, sensor->source, sizeof(s->source));
	memcpy(s->scope, sensor->scope, sizeof(s->scope));
	memcpy(s->device, sensor->device, sizeof(s->device));
	*s->why = '\0';
	s->interval_ms = interval_ms;
	s->present = s->searched = true;
	s->changes++;
	pthread_mutex_unlock(&s->lock);
	s->failing_since_ns = 0;
	s->search_after_ns = 0;
}

static void search(struct sx_sampler *s)
{
	struct sx_why why = {""};
	int64_t now = sx_now_ns();

	if (now < s->search_ns)
		return;
	if (sx_power_open(&s->sensor, &s->params, &s->engine, &why) == 0) {
		note_found(s);
		return;
	}
	s->sensor = NULL;
	s->search_after_ns = s->search_after_ns ? 2 * s->search_after_ns : SX_NS_PER_S;
	if (s->search_after_ns > SEARCH_MOST_NS)
		s->search_after_ns = SEARCH_MOST_NS;
	s->search_ns = now + s->search_after_ns;
	pthread_mutex_lock(&s->lock);
	snprintf(s->why, sizeof(s->why), "%.319s", why.text);
	s->changes += !s->searched;
	s->searched = true;
	pthread_mutex_unlock(&s->lock);
}

static void note_failure(struct sx_sampler *s, const char *why)
{
	int64_t now = sx_now_ns();
	bool lost;

	if (!s->failing_since_ns)
		s->failing_since_ns = now;
	lost = now - s->failing_since_ns > LOST_NS;
	if (lost) {
		sx_power_close(s->sensor);
		s->sensor = NULL;
		s->search_ns = 0;
	}
	pthread_mutex_lock(&s->lock);
	snprintf(s->why, sizeof(s->why), "%.319s", why);
	if (lost) {
		s->present = false;
		s->changes++;
	}
	pthread_mutex_unlock(&s->lock);
}

static void take_reading(struct sx_sampler *s)
{
	struct sx_why why = {""};
	struct sx_power_reading r;
	uint64_t frames;
	int64_t now;

	if (sx_power_read(s->sensor, &r, &why) < 0) {
		note_failure(s, why.text);
		return;
	}
	now = sx_now_ns();
	/*
	 * sx_sampler_stop() may have stopped waiting for this thread. Then the object at user does not exist
	 * any more.
	 */
	if (quitting(s))
		return;
	frames = s->frames(s->user);
	s->failing_since_ns = 0;
	pthread_mutex_lock(&s->lock);
	*s->why = '\0';
	s->reading = r;
	sx_meter_add(&s->meter, now, &r, frames);
	pthread_mutex_unlock(&s->lock);
}

/* Waits until a time. True: the thread must end. */
static bool wait_until(struct sx_sampler *s, int64_t ns)
{
	const struct timespec t = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S};
	bool quit;

	pthread_mutex_lock(&s->lock);
	while (!s->quit && pthread_cond_timedwait(&s->wake, &s->lock, &t) == 0)
		;
	quit = s->quit;
	pthread_mutex_unlock(&s->lock);
	return quit;
}

static void *sampler_run(void *arg)
{
	struct sx_sampler *s = arg;
	int64_t due = sx_now_ns(), now;

	pthread_setname_np(pthread_self(), "power");
	do {
		if (s->sensor)
			take_reading(s);
		else
			search(s);
		/* After a delay, skip the missed readings and take the next one at its time. */
		due += s->interval_ms * INT64_C(1000000);
		now = sx_now_ns();
		if (due < now)
			due = now;
	} while (!wait_until(s, due));
	sx_power_close(s->sensor);
	s->sensor = NULL;
	return NULL;
}

static void sampler_finish(struct sx_sampler *s)
{
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int sx_sampler_start(struct sx_sampler **ret, const struct sx_power_params *p,
		     const struct sx_power_engine *engine, sx_sampler_frames_fn *frames, const void *user)
{
	struct sx_sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->params = *p;
	copy_text(&s->params.rails, s->rails, p->rails);
	copy_text(&s->params.gpu, s->gpu, p->gpu);
	copy_text(&s->params.root, s->root, p->root);
	s->engine = *engine;
	s->frames = frames;
	s->user = user;
	s->interval_ms = p->interval_ms;
	s->reading = (struct sx_power_reading){.gpu_hz = -1, .gpu_max_hz = -1, .memory_hz = -1, .others = -1};
	snprintf(s->why, sizeof(s->why), "searching for a sensor");
	sx_meter_init(&s->meter, p->interval_ms * INT64_C(1000000));
	pthread_mutex_init(&s->lock, NULL);
	sx_cond_init(&s->wake);
	r = sx_thread_start(&s->thread, sampler_run, s);
	if (r < 0) {
		sampler_finish(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_sampler_stop(struct sx_sampler *s)
{
	struct timespec by;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	clock_gettime(CLOCK_REALTIME, &by);
	by.tv_sec += STOP_NS / SX_NS_PER_S;
	if (pthread_timedjoin_np(s->thread, NULL, &by) == 0)
		sampler_finish(s);
}

void sx_sampler_look(struct sx_sampler *s, int64_t now_ns, struct sx_sampler_look *ret)
{
	memset(ret, 0, sizeof(*ret));
	pthread_mutex_lock(&s->lock);
	if (s->present) {
		memcpy(ret->source, s->source, sizeof(ret->source));
		memcpy(ret->scope, s->scope, sizeof(ret->scope));
		memcpy(ret->device, s->device, sizeof(ret->device));
	}
	sx_meter_get(&s->meter, now_ns, &ret->readings);
	if (!s->present || ret->readings.stale)
		memcpy(ret->reason, s->why, sizeof(ret->reason));
	ret->gpu_hz = s->reading.gpu_hz;
	ret->gpu_max_hz = s->reading.gpu_max_hz;
	ret->memory_hz = s->reading.memory_hz;
	ret->others = s->reading.others;
	ret->interval_ms = s->interval_ms;
	ret->changes = s->changes;
	pthread_mutex_unlock(&s->lock);
	if (ret->readings.stale && !*ret->reason)
		snprintf(ret->reason, sizeof(ret->reason),
			 ret->readings.age_ns < 0 ? "it has not been read yet"
						  : "its energy counter has stood still for %.1f s",
			 (double)ret->readings.age_ns / 1e9);
}
