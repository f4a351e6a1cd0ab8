/*
 * Asks for the status and reads the process once per interval, for stixelctl endurance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/process.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/endurance/endurance.h"
#include "tools/ctl/ring_look.h"

/* Longest time for an answer, ms. A daemon that needs longer hangs or gets no CPU time. */
#define ANSWER_MS 1000

static double real(json_t *j, const char *path)
{
	json_t *v = sx_answer_find(j, path);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void keep_text(char *to, size_t bytes, json_t *j, const char *path)
{
	snprintf(to, bytes, "%s", sx_answer_text(j, path));
	endurance_cut(to);
}

static void look_at_counts(struct endurance_status *s, json_t *j, int64_t now_ns, bool again)
{
	if (again) {
		s->no_map[0] = endurance_whole(j, "frames.dropped.no_map");
		s->lines_first_ns = now_ns;
		s->lines[0] = endurance_whole(j, "log.lines");
		s->lost_lines[0] = endurance_whole(j, "log.lost");
	}
	s->no_map[1] = endurance_whole(j, "frames.dropped.no_map");
	s->lines_ns = now_ns;
	s->lines[1] = endurance_whole(j, "log.lines");
	s->lost_lines[1] = endurance_whole(j, "log.lost");
}

/* Reads which process owns the ring. False: this cannot be read now. */
static bool look_at_owner(struct endurance *e)
{
	struct endurance_status *s = &e->status;
	struct ctl_ring ring;

	if (s->owner && s->owner == (uint64_t)s->pid)
		return true;
	if (ctl_ring_look(&ring, e->c->instance) < 0)
		return false;
	s->owner = ring.header.pid;
	s->owner_namespace = ring.header.pid_namespace;
	s->owner_ticks = ring.header.pid_start_ticks;
	return true;
}

/*
 * Finds the daemon's process. A pid is valid only in its own PID namespace (a container may share /dev/shm),
 * and the kernel reuses pids. So only the process that the ring's header describes is judged. Returns 0, or
 * writes a sentence to not_seen and returns a negative value.
 */
static int find_process(struct endurance *e, struct endurance_process *p)
{
	struct endurance_status *s = &e->status;

	sx_why_clear(&s->not_seen);
	if (!look_at_owner(e))
		sx_why_set(&s->not_seen, "the ring does not say whose process it is");
	else if (s->owner != (uint64_t)s->pid)
		sx_why_set(&s->not_seen, "the status is of process %" PRId64 ", the ring of %" PRIu64, s->pid,
			   s->owner);
	else if (!s->owner_namespace || s->owner_namespace != sx_process_namespace())
		sx_why_set(&s->not_seen, "its process is of another PID namespace");
	else if (endurance_process_look(p, s->pid, &s->not_seen) == 0 && p->started_ticks != s->owner_ticks)
		sx_why_set(&s->not_seen, "another process has its number %" PRId64, s->pid);
	return sx_why_is_empty(&s->not_seen) ? 0 : -ESRCH;
}

static void look_at_process(struct endurance *e, json_t *j, int64_t now_ns, bool again)
{
	struct endurance_status *s = &e->status;
	struct endurance_process p = {.memory = -1, .descriptors = -1};
	int64_t clients = endurance_whole(j, "stream.clients");
	int third = now_ns < e->warm_ns + (e->began_ns + e->planned_ns - e->warm_ns) / 3 ? 0 : 1;

	if (find_process(e, &p) < 0)
		return;
	if (now_ns < e->warm_ns && !atomic_load(&e->done))
		return;
	if (again || !s->first_ns) {
		s->first_ns = now_ns;
		s->first = p;
		s->memory = (struct endurance_line){0};
		s->least[0] = s->least[1] = -1;
	}
	s->last_ns = now_ns;
	s->last = p;
	if (p.memory >= 0)
		endurance_line_add(&s->memory, (double)(now_ns - s->first_ns) / 1e9, (double)p.memory);
	if (p.descriptors < 0)
		return;
	p.descriptors -= clients > 0 ? (int)clients : 0;
	if (s->least[third] < 0 || p.descriptors < s->least[third])
		s->least[third] = p.descriptors;
}

static void take_answer(struct endurance *e, json_t *j, int64_t now_ns)
{
	struct endurance_status *s = &e->status;
	const char *state = sx_answer_text(j, "state");
	const int64_t pid = endurance_whole(j, "pid"), rest = endurance_unbalanced(j);
	const bool again = pid != s->pid;

	s->pid = pid;
	s->first_frame_s = real(j, "first_frame_s");
	if (again) {
		s->uptime_s = real(j, "uptime_s");
		s->camera_late = false;
	}
	if (isnan(s->first_frame_s) && strcmp(state, stixel_state_name(STIXEL_STATE_NO_CAMERA)) == 0)
		s->camera_late = true;
	if (strcmp(state, "running") == 0) {
		s->running++;
	} else if (!*s->state) {
		snprintf(s->state, sizeof(s->state), "%s", state);
		keep_text(s->reason, sizeof(s->reason), j, "reason");
	}
	if (llabs(rest) > llabs(s->unbalanced))
		s->unbalanced = rest;
	look_at_counts(s, j, now_ns, again || s->lines_first_ns == 0);
	look_at_process(e, j, now_ns, again);
}

static void ask_once(struct endurance *e)
{
	struct endurance_status *s = &e->status;
	const int64_t asked_ns = sx_now_ns();
	struct sx_reply reply;
	json_t *j = ctl_ask_status(e->c->instance, ANSWER_MS, &reply);
	const int64_t now_ns = sx_now_ns();

	s->asked++;
	if (now_ns - asked_ns > s->slowest_ns)
		s->slowest_ns = now_ns - asked_ns;
	if (j) {
		s->answered++;
		take_answer(e, j, now_ns);
	} else if (!*s->unanswered) {
		snprintf(s->unanswered, sizeof(s->unanswered), "%.255s", reply.why);
	}
	json_decref(j);
	sx_reply_finish(&reply);
}

static void *ask_always(void *user)
{
	struct endurance *e = user;
	struct pollfd wake = {.fd = e->wake_fd, .events = POLLIN};

	while (!atomic_load(&e->done)) {
		ask_once(e);
		poll(&wake, 1, e->c->interval_ms);
	}
	ask_once(e);
	return NULL;
}

/* Returns source.fps of the daemon's configuration. For cameras it is the requested rate. */
static double configured_fps(const struct ctl *c)
{
	const struct sx_question q = {
		.name = c->instance, .target = "/settings", .timeout_ms = CTL_ANSWER_MS};
	struct sx_reply reply;
	json_t *j = ctl_ask_object(&q, &reply);
	json_t *value = json_object_get(json_object_get(json_object_get(j, "keys"), "source.fps"), "value");
	const double fps = json_is_string(value) ? strtod(json_string_value(value), NULL) : (double)NAN;

	json_decref(j);
	sx_reply_finish(&reply);
	return fps;
}

int endurance_meet(struct endurance *e)
{
	struct endurance_status *s = &e->status;
	struct sx_reply reply;
	json_t *j = ctl_ask_status(e->c->instance, CTL_ANSWER_MS, &reply);
	int code = j ? 0 : ctl_ask_failed(e->c, &reply);

	if (j) {
		s->pid = endurance_whole(j, "pid");
		s->cores = sysconf(_SC_NPROCESSORS_ONLN);
		s->first_frame_s = NAN;
		s->uptime_s = real(j, "uptime_s");
		keep_text(s->backend, sizeof(s->backend), j, "engine.backend");
		keep_text(s->source, sizeof(s->source), j, "source.kind");
		keep_text(s->version, sizeof(s->version), j, "version");
		s->fps = configured_fps(e->c);
		s->least[0] = s->least[1] = -1;
	}
	json_decref(j);
	sx_reply_finish(&reply);
	return code;
}

int endurance_ask_begin(struct endurance *e)
{
	sigset_t all, before;
	int r;

	e->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (e->wake_fd < 0)
		return -errno;
	/* only the thread that waits for frames takes signals */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&e->asker, NULL, ask_always, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		close(e->wake_fd);
	return -r;
}

void endurance_ask_end(struct endurance *e)
{
	const uint64_t one = 1;

	atomic_store(&e->done, true);
	while (write(e->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(e->asker, NULL);
	close(e->wake_fd);
}
