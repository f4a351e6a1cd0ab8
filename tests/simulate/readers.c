/*
 * Readers of the simulated daemon: through the ring and the socket, quick, slow and malicious. They start,
 * end and are killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/stixel.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

#define MONTHS_NS (100 * 86400 * SIM_S)
#define HEALTH_LIMIT_NS (10 * SIM_S) /* without a watchdog a frame is overdue after this time */

struct reader {
	struct stixel_reader *reader;
	uint64_t epoch, number, lost;
	int64_t taken_ns; /* time of the last frame, or start of the wait */
	bool streams, latest, eager;
};

static const char *way(const struct reader *r)
{
	return r->streams ? "frames.sock" : "the ring";
}

static void take(struct reader *r, const struct stixel_frame *f, uint64_t lost)
{
	const struct stixel_frame_header *h = f->header;
	const char *who = way(r);

	check_frame(h->epoch, h->number, h->checksum, who);
	if (h->epoch == r->epoch)
		SIM_MUST(r->latest ? h->number > r->number : h->number == r->number + lost + 1,
			 "a reader of %s had frame %llu, then %llu, and was told of %llu lost", who,
			 (unsigned long long)r->number, (unsigned long long)h->number,
			 (unsigned long long)lost);
	else if (r->epoch && !r->latest)
		SIM_MUST(h->number == lost + 1,
			 "a reader of %s begins with frame %llu, and was told of %llu lost", who,
			 (unsigned long long)h->number, (unsigned long long)lost);
	r->epoch = h->epoch;
	r->number = h->number;
	r->taken_ns = sim->now;
	world->read_in_all++;
	world->lost_in_all += lost;
}

static void read_some(struct reader *r)
{
	const struct stixel_frame *f;
	uint64_t lost = 0;
	int e;

	while ((e = r->latest ? stixel_latest(r->reader, &f) : stixel_next(r->reader, &f, &lost)) == 1)
		take(r, f, lost);
	SIM_MUST(e == 0 || e == -EPIPE || e == -ENOENT || e == -EAGAIN || e == -EINTR, "a reader gets %s",
		 strerror(-e));
}

/*
 * Checks the daemon's state that a reader receives: it must be the true state, if that has lasted long
 * enough.
 */
static void check_told(const struct reader *r, const struct stixel_status *status)
{
	const int64_t calm = world_calm_since();

	SIM_MUST(calm == SIM_NEVER || sim->now - calm < world->settle_ns + 15 * SIM_S ||
			 status->state == STIXEL_STATE_RUNNING,
		 "all is well for %.1f s, and a reader of %s is told state %u",
		 (double)(sim->now - calm) / 1e9, way(r), status->state);
	SIM_MUST(!world_lacks_since(2 * SIM_S) || status->state == STIXEL_STATE_NO_CAMERA,
		 "a camera gives nothing for %.1f s, and a reader of %s is told state %u",
		 (double)(sim->now - world->at.lacking) / 1e9, way(r), status->state);
}

/* Checks that a reader of frames.sock is served soon, whether it has had a frame or not. */
static void check_served(const struct reader *r)
{
	const int64_t calm = world_calm_since();
	struct stixel_status status;

	/* no pid: the first frame may come before the first notice */
	if (r->epoch == world->epoch && stixel_status(r->reader, &status, sizeof(status)) == 0 &&
	    status.epoch == world->epoch && status.pid)
		check_told(r, &status);

	SIM_MUST(calm == SIM_NEVER || sim->now - calm < world->settle_ns ||
			 sim->now - r->taken_ns < world->settle_ns,
		 "a reader of frames.sock has waited for %.1f s", (double)(sim->now - r->taken_ns) / 1e9);
}

/*
 * Checks the ring's heartbeat. It goes on in calm phases and while there is no camera, and stops while a
 * frame is overdue. A frame counts as overdue from the time at which a starved thread could have passed it to
 * the engine.
 */
static void check_heart(const struct reader *r)
{
	const int64_t calm = world_calm_since(), overdue = 3 * SIM_S + HEALTH_LIMIT_NS;
	/* the daemon knows that the camera is gone, so an earlier hang is no excuse */
	const bool gone = world->phase_kind == GONE && !world->at.stop &&
			  sim->now - world->at.ready >= 8 * SIM_S &&
			  sim->now - world->at.lacking >= world->timeout_ns + 3 * SIM_S &&
			  world->at.starved <= sim->now - 2 * SIM_S;
	struct stixel_status status;

	if (r->epoch != world->epoch || stixel_status(r->reader, &status, sizeof(status)) < 0 ||
	    status.epoch != world->epoch)
		return;
	SIM_MUST(calm == SIM_NEVER || sim->now - calm < world->settle_ns ||
			 (status.publisher == STIXEL_PUBLISHER_ALIVE && status.heartbeat_age_ns < SIM_S),
		 "all is well, and a reader sees publisher %u with a heartbeat %.3f s old", status.publisher,
		 (double)status.heartbeat_age_ns / 1e9);
	check_told(r, &status);
	SIM_MUST(!(gone || world_lacks_since(2 * SIM_S)) || status.heartbeat_age_ns < SIM_S,
		 "a camera gives nothing for %.1f s, and the heartbeat is %.3f s old",
		 (double)(sim->now - world->at.lacking) / 1e9, (double)status.heartbeat_age_ns / 1e9);
	SIM_MUST(world->phase_kind != HANG || world->watchdog_ns || world->at.stop ||
			 sim->now - world->at.phase < overdue || sim->now - world->at.published < overdue ||
			 sim->now - world->at.starved < overdue || sim->now - world->at.busy < overdue ||
			 status.heartbeat_age_ns > SIM_S,
		 "no frame came for %.1f s, and the heartbeat is %.3f s old",
		 (double)(sim->now - world->at.published) / 1e9, (double)status.heartbeat_age_ns / 1e9);
}

void readers_come(void)
{
	for (uint64_t e = world->eager; e; e &= e - 1) {
		struct sim_task *t = &sim->task[__builtin_ctzll(e)];

		if (t->eager) /* the task was not killed meanwhile */
			sim_task_wake(t);
	}
	world->eager = 0;
}

/*
 * Waits as stixel_wait() does. An eager reader mostly does not wait, but looks while a frame is being
 * published.
 */
static int wait_for_frame(const struct reader *r)
{
	struct sim_task *self = sim->current;

	if (!r->eager || sim_once_in(4))
		return stixel_wait(r->reader, world->look_ms);
	self->eager = true;
	world->eager |= UINT64_C(1) << (self - sim->task);
	sim_block(sim->now + (world->look_ms - 400) * SIM_MS);
	self->eager = false;
	return 1;
}

static void *read_frames(void *kind)
{
	const uintptr_t bits = (uintptr_t)kind;
	struct reader r = {.streams = bits & 1, .latest = bits & 2, .taken_ns = sim->now};
	const int64_t slow = bits & 4 ? sim_between(SIM_MS, 800 * SIM_MS) : 0,
		      end = sim->now + sim_between(SIM_S, sim->lasting ? MONTHS_NS : 120 * SIM_S);
	struct stixel_status status;
	int e = stixel_open_path(&r.reader, r.streams ? world->stream : world->ring,
				 STIXEL_OPEN_FOLLOW | (r.streams ? STIXEL_OPEN_STREAM : 0));

	r.eager = !r.streams && sim_once_in(3);
	if (e < 0) /* no folder yet, or its sockets are full */
		return NULL;
	while (sim->now < end) {
		const uint64_t before = world->published, epoch = world->epoch;

		e = wait_for_frame(&r);
		SIM_MUST(e >= 0 || e == -EINTR || e == -EAGAIN || e == -EPIPE || e == -ENOENT,
			 "stixel_wait(): %s", strerror(-e));
		if (e == 0 && !r.streams && epoch && r.epoch == epoch && world->epoch == epoch)
			SIM_MUST(world->published <= before + 1, "a reader slept through %llu frames",
				 (unsigned long long)(world->published - before));
		if (e == 0 && r.streams && r.epoch && r.epoch == world->epoch &&
		    world_calm_since() != SIM_NEVER)
			SIM_MUST(sim->now - world_calm_since() < world->settle_ns,
				 "a reader of frames.sock got nothing for %d ms", world->look_ms);
		if (e == 1)
			read_some(&r);
		else if (e < 0)
			sim_sleep(50 * SIM_MS);
		if (r.streams)
			check_served(&r);
		else if (e != 1 || sim_once_in(16))
			check_heart(&r);
		if (slow)
			sim_sleep(slow);
	}
	SIM_MUST(stixel_status(r.reader, &status, sizeof(status)) == 0 && status.corrupt == 0,
		 "a reader found %llu damaged frames", (unsigned long long)status.corrupt);
	stixel_close(r.reader);
	return NULL;
}

/* Connects, sends garbage or nothing, and does not read. */
static void *be_rude(void *kind)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char text[96] = "GET / HTTP/1.1";
	const uint32_t hello[2] = {STIXEL_HELLO_MAGIC,
				   STIXEL_WANT_FRAMES | STIXEL_WANT_NOTICES | STIXEL_WANT_BELL};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, world->stream, strlen(world->stream) + 1);
	if (fd < 0)
		return NULL;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		if (sim_once_in(2))
			(void)!send(fd, hello, sizeof(hello), MSG_NOSIGNAL);
		if (sim_once_in(3))
			(void)!send(fd, text, sim_below(sizeof(text)), MSG_NOSIGNAL);
		sim_sleep(sim_between(SIM_MS, 30 * SIM_S));
	}
	close(fd);
	return NULL;
}

static void *reader_main(void *user)
{
	struct sim_process *p = sim->current->process;

	if ((uintptr_t)user & 8)
		be_rude(NULL);
	else
		read_frames(user);
	SIM_MUST(p->heap == 0 && p->maps == 0 && p->files == 0 && sim_fds_of(p) == 0,
		 "a reader leaves %lld bytes, %d mappings, %d files, %d descriptors", (long long)p->heap,
		 p->maps, p->files, sim_fds_of(p));
	p->alive = false;
	sim->current->joined = true;
	return NULL;
}

void readers_churn(void)
{
	const size_t at = sim_below(WORLD_READERS);
	struct sim_process *p = world->reader[at].process;

	if (p && p->alive && p->pid == world->reader[at].pid) {
		if (sim_once_in(4))
			sim_process_kill(p);
		return;
	}
	p = sim_process_create("reader", false);
	p->random_faults = sim_once_in(3) ? (unsigned)sim_between(20, 300) : 0;
	world->reader[at].process = p;
	world->reader[at].pid = p->pid;
	sim_task_create(p, "reader", reader_main, (void *)(uintptr_t)sim_below(sim_once_in(3) ? 16 : 8));
}
