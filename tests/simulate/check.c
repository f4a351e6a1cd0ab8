/*
 * Checks the invariants after every step, at every frame, four times a second, and at the end of a life.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/v4l2/v4l2_priv.h"
#include "daemon/run_priv.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

typedef unsigned long long ull;

/* Returns the allocated heap without the readers' part, bytes. */
static int64_t heap(void)
{
#if __GLIBC_PREREQ(2, 33)
	const struct mallinfo2 m = mallinfo2();
#else
	const struct mallinfo m = mallinfo();
#endif
	int64_t bytes = (int64_t)m.uordblks + (int64_t)m.hblkhd;

	for (size_t i = 0; i < sizeof(sim->process) / sizeof(sim->process[0]); i++)
		bytes -= sim->process[i].heap;
	return bytes - sim->dead_heap;
}

void check_life_begins(void)
{
	world->heap_before = heap();
}

static uint64_t count(enum sx_metric figure)
{
	return atomic_load_explicit(&world->run->core.telemetry->count[figure], memory_order_relaxed);
}

/* ---- images ---- */

void world_engine_reads(const void *memory, bool begins)
{
	const size_t room = sizeof(world->reading) / sizeof(world->reading[0]);

	for (size_t i = 0; i < room; i++)
		if (world->reading[i] == (begins ? NULL : memory)) {
			world->reading[i] = begins ? memory : NULL;
			return;
		}
	sim_fail("simulation: images that are read");
}

void world_buffer_queued(const void *memory)
{
	for (size_t i = 0; memory && i < sizeof(world->reading) / sizeof(world->reading[0]); i++)
		SIM_MUST(world->reading[i] != memory,
			 "a buffer is given to its driver while the engine reads it");
}

/* Fails with a text that names each holder of a buffer that does not have exactly one. */
static void fail_buffers(const struct sx_v4l2 *v, int side)
{
	const struct sx_v4l2_queue *q = &v->cameras[side].queue;

	for (int i = 0; i < q->count; i++) {
		unsigned held = 0;

		for (int k = 0; k < v->pairing.side[side].count; k++)
			held += v->pairing.side[side].images[k].index == i;
		for (int k = 0; k < v->lease_count && v->direct; k++)
			held += v->leases[k].state != SX_LEASE_FREE && v->leases[k].index[side] == i;
		SIM_MUST(held + q->buffers[i].queued == 1,
			 "buffer %d of side %d is held by %u, the driver %s it", i, side, held,
			 q->buffers[i].queued ? "has" : "has not");
	}
	sim_fail("a buffer of side %d is held by nobody or by two", side);
}

/* Checks that each buffer is with the driver, waits for its partner, or is in one pair. Buffers are bits. */
static void check_buffers(const struct sx_v4l2 *v, int side)
{
	const struct sx_v4l2_queue *q = &v->cameras[side].queue;
	const uint64_t all = (UINT64_C(1) << q->count) - 1;
	uint64_t held = 0, twice = 0, bit;

	for (int i = 0; i < v->pairing.side[side].count; i++) {
		bit = UINT64_C(1) << v->pairing.side[side].images[i].index;
		twice |= held & bit;
		held |= bit;
	}
	for (int k = 0; k < v->lease_count && v->direct; k++) {
		if (atomic_load_explicit(&v->leases[k].state, memory_order_relaxed) == SX_LEASE_FREE)
			continue;
		bit = UINT64_C(1) << v->leases[k].index[side];
		twice |= held & bit;
		held |= bit;
	}
	for (int i = 0; i < q->count; i++) {
		bit = (uint64_t)q->buffers[i].queued << i;
		twice |= held & bit;
		held |= bit;
	}
	if (held != all || twice)
		fail_buffers(v, side);
}

static uint64_t number_of(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

/* Checks that each buffer has a holder, and that each image is counted. */
static void check_cameras(const struct sx_source *s)
{
	const struct sx_v4l2 *v = s->own;

	for (int side = 0; side < v->count; side++) {
		const uint64_t captured = number_of(&s->captured[side]);
		uint64_t sum = s->number + (uint64_t)v->pairing.side[side].count;

		check_buffers(v, side);
		for (int i = 0; i < SX_DROP_COUNT; i++)
			sum += number_of(&s->dropped[side][i]);
		SIM_MUST(captured == sum, "side %d: %llu images captured, %llu accounted for", side,
			 (ull)captured, (ull)sum);
		SIM_MUST(world->camera[side].driver.owner < 0 ||
				 number_of(&s->gaps[side]) == world->camera[side].gaps,
			 "side %d: %llu images are missing by their numbers, the driver lost %llu", side,
			 (ull)number_of(&s->gaps[side]), (ull)world->camera[side].gaps);
		SIM_MUST(world->camera[side].driver.owner < 0 || captured == world->camera[side].taken,
			 "side %d: %llu images captured, the driver gave %llu", side, (ull)captured,
			 (ull)world->camera[side].taken);
	}
	SIM_MUST(number_of(&s->dropped[0][SX_DROP_OVERLOAD]) == number_of(&s->dropped[1][SX_DROP_OVERLOAD]),
		 "overload differs between sides");
}

/* Does the same as sx_mailbox_used(), but without points at which the simulation may switch threads. */
static int pairs_held(const struct sx_mailbox *h)
{
	int held = 0;

	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++)
		held += (atomic_load_explicit(&h->pairs[i].in_use, memory_order_relaxed) &
			 SX_QUEUED_PAIR_FRAME) != 0;
	return held;
}

/*
 * Checks that no wake-up was lost: each thread that sleeps on the bell fell asleep after the bell rang last.
 */
static void check_sleepers(uint64_t epoch)
{
	for (uint64_t all = sim->futexes; all; all &= all - 1) {
		const struct sim_task *t = &sim->task[__builtin_ctzll(all)];
		const volatile uint32_t *bell = t->futex;
		const struct stixel_ring_header *h;

		if (!bell || t->state != SIM_BLOCKED || *bell == t->futex_seen ||
		    t->futex_offset != STIXEL_RING_LIVE_OFFSET + offsetof(struct stixel_ring_live, bell))
			continue;
		h = (const void *)((uintptr_t)bell - t->futex_offset);
		SIM_MUST(h->epoch != epoch, "a reader sleeps on, and the bell has rung %u times",
			 *bell - t->futex_seen);
	}
}

/* Runs while all threads sleep: no queued pair is between two counters. */
void check_quiet(void)
{
	const struct sx_pipeline *p = world->pipeline;
	uint64_t captured, sum;
	int held;

	if (!p || !world->run)
		return;
	captured = count(SX_METRIC_FRAMES_CAPTURED);
	held = pairs_held(&p->mailbox);
	sum = count(SX_METRIC_FRAMES_PUBLISHED) + count(SX_METRIC_DROPPED_OVERLOAD) +
	      count(SX_METRIC_DROPPED_NO_MAP) + count(SX_METRIC_DROPPED_TEARDOWN) + (uint64_t)held;
	SIM_MUST(captured == sum, "%llu pairs captured; published %llu, overload %llu, held %d",
		 (ull)captured, (ull)count(SX_METRIC_FRAMES_PUBLISHED),
		 (ull)count(SX_METRIC_DROPPED_OVERLOAD), held);
	SIM_MUST(p->collected <= p->submitted && p->submitted - p->collected <= (uint64_t)p->context_count,
		 "%llu submitted, %llu collected", (ull)p->submitted, (ull)p->collected);
	age_check_sums();
	check_sleepers(p->epoch);
	/* images of a lost camera are already counted as lost */
	if (p->source && p->source->ops == &sx_v4l2_ops &&
	    !atomic_load_explicit(&world->run->core.telemetry->absent, memory_order_relaxed))
		check_cameras(p->source);
}

/* ---- frames ---- */

int __real_sx_ring_publish(struct sx_ring *r, const void *frame, size_t bytes);
int __wrap_sx_ring_publish(struct sx_ring *r, const void *frame, size_t bytes);
void __real_sx_ring_pass_wake(struct sx_ring *r);
void __wrap_sx_ring_pass_wake(struct sx_ring *r);
struct sx_queued_pair *__real_sx_mailbox_put(struct sx_queued_pair *queued);
struct sx_queued_pair *__wrap_sx_mailbox_put(struct sx_queued_pair *queued);
struct sx_queued_pair *__real_sx_mailbox_take(struct sx_mailbox *h);
struct sx_queued_pair *__wrap_sx_mailbox_take(struct sx_mailbox *h);
void __real_sx_source_close(struct sx_source *s);
void __wrap_sx_source_close(struct sx_source *s);
int __real_sx_run_loop(struct sx_run *run);
int __wrap_sx_run_loop(struct sx_run *run);
int __real_sx_pipeline_start(struct sx_pipeline *p, struct sx_why *why);
int __wrap_sx_pipeline_start(struct sx_pipeline *p, struct sx_why *why);
void __real_sx_pipeline_destroy(struct sx_pipeline *p, struct sx_source **source);
void __wrap_sx_pipeline_destroy(struct sx_pipeline *p, struct sx_source **source);

void __wrap_sx_source_close(struct sx_source *s)
{
	if (s && s == world->source)
		world->source = NULL;
	if (s && world->run)
		world->next_pair = count(SX_METRIC_FRAMES_CAPTURED) + 1;
	__real_sx_source_close(s);
}

int __wrap_sx_run_loop(struct sx_run *run)
{
	world->run = run;
	return __real_sx_run_loop(run);
}

int __wrap_sx_pipeline_start(struct sx_pipeline *p, struct sx_why *why)
{
	int r;

	if (!p->source)
		world->next_pair = sx_telemetry_count(p->c.telemetry, SX_METRIC_FRAMES_CAPTURED) + 1;
	r = __real_sx_pipeline_start(p, why);
	world->pipeline = r == 0 ? p : NULL;
	return r;
}

void __wrap_sx_pipeline_destroy(struct sx_pipeline *p, struct sx_source **source)
{
	world->pipeline = NULL;
	__real_sx_pipeline_destroy(p, source);
}

struct sx_queued_pair *__wrap_sx_mailbox_put(struct sx_queued_pair *queued)
{
	const uint64_t number = queued->pair.number;
	struct sx_queued_pair *old;

	if (queued->source != world->source) {
		world->source = queued->source;
		world->put_number = world->taken_number = 0;
	}
	world->pairs_in_all++;
	SIM_MUST(number > world->put_number, "pair %llu comes after %llu", (ull)number,
		 (ull)world->put_number);
	old = __real_sx_mailbox_put(queued);
	if (old && sim_breaks(BREAK_OLDEST))
		old = __real_sx_mailbox_put(old);
	if (old && sim_breaks(BREAK_REPLACED))
		return NULL;
	world->put_number = number;
	SIM_MUST(old != queued || sim_breaks(BREAK_OLDEST), "a pair replaces itself");
	world->dropped_in_all += old != NULL;
	return old;
}

struct sx_queued_pair *__wrap_sx_mailbox_take(struct sx_mailbox *h)
{
	const uint64_t newest = world->put_number;
	const void *source = world->source;
	struct sx_queued_pair *queued = __real_sx_mailbox_take(h);

	/* the first pair of another source may have come meanwhile */
	if (!queued || queued->source != world->source || queued->source != source)
		return queued;
	SIM_MUST(queued->pair.number > world->taken_number, "pair %llu is taken after %llu",
		 (ull)queued->pair.number, (ull)world->taken_number);
	SIM_MUST(queued->pair.number >= newest, "pair %llu is taken, and %llu is newer",
		 (ull)queued->pair.number, (ull)newest);
	world->taken_number = queued->pair.number;
	return queued;
}

/* Checks that in a calm phase a frame is published once the engine has had its time. */
static void check_latency(const struct stixel_frame_header *h)
{
	const int64_t calm = world_calm_since(), limit = CAMERA_TRANSFER_NS + world->engine.frame_ns +
							 world->engine.jitter_ns + 2 * SIM_MS;
	const int64_t first =
		h->capture_left_ns < h->capture_right_ns ? h->capture_left_ns : h->capture_right_ns;

	if (calm == SIM_NEVER || sim->now - calm < world->settle_ns)
		return;
	SIM_MUST(sim->now - first <= limit, "frame %llu is %.3f ms old, by right %.3f", (ull)h->number,
		 (double)(sim->now - first) / 1e6, (double)limit / 1e6);
}

int __wrap_sx_ring_publish(struct sx_ring *r, const void *frame, size_t bytes)
{
	struct stixel_frame_header h;
	int e;

	memcpy(&h, frame, sizeof(h));
	if (h.epoch != world->epoch)
		world->number = world->aged;
	SIM_MUST(h.number == world->number + 1, "frame %llu follows %llu", (ull)h.number, (ull)world->number);
	SIM_MUST(h.captured >= h.published + h.dropped_overload,
		 "frame %llu: captured %llu, published %llu, overload %llu", (ull)h.number, (ull)h.captured,
		 (ull)h.published, (ull)h.dropped_overload);
	SIM_MUST(h.published == world->published + 1,
		 "frame %llu says that it is the %lluth, and is the %lluth", (ull)h.number, (ull)h.published,
		 (ull)world->published + 1);
	SIM_MUST(h.submitted_ns <= h.published_ns && h.published_ns <= sim->now,
		 "frame %llu: its timeline goes back", (ull)h.number);
	world->epoch = h.epoch;
	world->number = h.number;
	world->frame[h.number % WORLD_FRAMES].epoch = h.epoch;
	world->frame[h.number % WORLD_FRAMES].number = h.number;
	world->frame[h.number % WORLD_FRAMES].checksum = h.checksum;
	if (sim_once_in(2))
		readers_come();
	e = __real_sx_ring_publish(r, frame, bytes);
	SIM_MUST(e == 0, "frame %llu cannot be published: %s", (ull)h.number, strerror(-e));
	world->published++;
	world->frames_in_all++;
	world->at.published = sim->now;
	world->at.progress = world->at.progress ? world->at.progress : sim->now;
	world->engine_sum_ns += h.published_ns - h.submitted_ns;
	sim_note("frame", (int64_t)h.number);
	check_latency(&h);
	return e;
}

void __wrap_sx_ring_pass_wake(struct sx_ring *r)
{
	SIM_MUST(count(SX_METRIC_FRAMES_PUBLISHED) == world->published,
		 "readers are woken, and frame %llu is not counted yet", (ull)world->number);
	__real_sx_ring_pass_wake(r);
}

void check_frame(uint64_t epoch, uint64_t number, uint32_t checksum, const char *who)
{
	const size_t at = number % WORLD_FRAMES;

	/* a frame of an earlier life, whose entry a frame of this life may have overwritten */
	if (epoch != world->epoch && world->frame[at].epoch != epoch)
		return;
	SIM_MUST(world->frame[at].epoch == epoch && world->frame[at].number == number,
		 "a reader of %s got frame %llu, which was not published", who, (ull)number);
	SIM_MUST(world->frame[at].checksum == checksum,
		 "a reader of %s got another frame %llu than was published", who, (ull)number);
}

/* ---- the service manager ---- */

/*
 * Called when main reads the clock, after it has read the counters. The last ping surely covers the frames of
 * the call before, and no frames after this call.
 */
void check_main_looks(void)
{
	world->main_saw[1] = world->main_saw[0];
	world->main_saw[0] = world->run ? count(SX_METRIC_FRAMES_PUBLISHED) : 0;
}

static bool has_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	return at && (at == text || at[-1] == '\n');
}

static void check_ping(void)
{
	const struct sx_run *run = world->run;
	const struct sx_telemetry *t = run->core.telemetry;
	/* the camera is absent now, or was when main judged a moment ago */
	const bool absent = atomic_load_explicit(&t->absent, memory_order_relaxed) ||
			    run->health.now.state == STIXEL_STATE_NO_CAMERA;

	SIM_MUST(count(SX_METRIC_FRAMES_PUBLISHED) > world->pinged_published || absent,
		 "the watchdog is pinged, and nothing was published since the ping before");
	world->pinged_published = world->main_saw[1];
	world->at.pinged = sim->now;
	/* a frame that came while main judged may already be in this ping and needs no other */
	world->at.progress = count(SX_METRIC_FRAMES_PUBLISHED) > world->main_saw[0] ? sim->now : 0;
}

/* Checks that a camera counts as returned only after a new pair, not when its device appears. */
static void check_return(const char *text)
{
	if (has_line(text, "STATUS=no_camera"))
		world->returns_with = world->next_pair;
	SIM_MUST(!has_line(text, "STATUS=running") || count(SX_METRIC_FRAMES_CAPTURED) >= world->returns_with,
		 "it says that it is running, and no pair came since it had no camera");
}

void world_notified(const char *text)
{
	check_return(text);
	if (has_line(text, "RELOADING=1")) {
		SIM_MUST(world->readies == world->reloadings + 1,
			 "RELOADING=1 after %u READY=1 and %u of its kind", world->readies,
			 world->reloadings);
		world->reloadings++;
	}
	if (has_line(text, "READY=1")) {
		world->readies += sim->broken == BREAK_READY;
		SIM_MUST(world->readies == world->reloadings,
			 "READY=1 for the %uth time, after %u RELOADING=1", world->readies + 1,
			 world->reloadings);
		world->readies++;
		world->at.ready = world->at.ready ? world->at.ready : sim->now;
	}
	if (has_line(text, "STOPPING=1"))
		SIM_MUST(world->stoppings++ == 0, "STOPPING=1 twice");
	if (has_line(text, "WATCHDOG=1") && sim->broken != BREAK_PING)
		check_ping();
}

/* ---- four times a second ---- */

/* Checks that a daemon which has reported running for long publishes frames. */
static void check_running(void)
{
	const int64_t limit = world->watchdog_ns ? world->watchdog_ns : SX_HEALTH_LIMIT_NS;
	int64_t since;

	if (world->run->health.now.state != STIXEL_STATE_RUNNING)
		world->at.running = 0;
	else if (!world->at.running)
		world->at.running = sim->now;
	since = world->at.running > world->at.published ? world->at.running : world->at.published;
	SIM_MUST(!world->at.running || world->at.starved > since ||
			 sim->now - since < 2 * limit + 3 * world->period_ns + SIM_S,
		 "it has been running for %.1f s, and no frame came for %.1f s",
		 (double)(sim->now - world->at.running) / 1e9,
		 (double)(sim->now - world->at.published) / 1e9);
}

static void check_state(void)
{
	const struct sx_health *h = &world->run->health.now;
	const int64_t now = sim->now, calm = world_calm_since();

	SIM_MUST(h->state == STIXEL_STATE_RUNNING || *h->reason || !world->run->loop.ticks,
		 "state %d without a reason", (int)h->state);
	if (world_lacks_since(SIM_S))
		SIM_MUST(h->state == STIXEL_STATE_NO_CAMERA,
			 "a camera gives nothing for %.1f s, and the state is %s: %s",
			 (double)(now - world->at.lacking) / 1e9, sx_health_name(h->state), h->reason);
	check_running();
	if (world->at.lacking == SIM_NEVER && now - world->at.phase > 3 * SIM_S &&
	    now - world->at.refused > world->settle_ns && now - world->at.returned > world->settle_ns &&
	    now - world->at.began > world->settle_ns &&
	    (world->phase_kind == CALLS || world->phase_kind == RELOADS) &&
	    !world_troubled_since(now - world->settle_ns))
		SIM_MUST(h->state != STIXEL_STATE_NO_CAMERA,
			 "both cameras give images, and the state is no_camera: %s", h->reason);
	if (calm != SIM_NEVER && now - calm > 10 * SIM_S + world->settle_ns)
		SIM_MUST(h->state == STIXEL_STATE_RUNNING, "all is well for %.1f s, and the state is %s: %s",
			 (double)(now - calm) / 1e9, sx_health_name(h->state), h->reason);
}

/* Checks that in a calm phase no pair is lost, and frames come at the cameras' rate. */
static void check_calm(void)
{
	const int64_t calm = world_calm_since();
	const uint64_t lost = count(SX_METRIC_DROPPED_OVERLOAD) + count(SX_METRIC_DROPPED_UNPAIRED) +
			      count(SX_METRIC_DROPPED_CORRUPT);

	if (calm == SIM_NEVER || sim->now - calm < world->settle_ns) {
		world->overload_before = lost;
		return;
	}
	SIM_MUST(lost == world->overload_before, "all is well for %.1f s, and %llu pairs or images were lost",
		 (double)(sim->now - calm) / 1e9, (ull)(lost - world->overload_before));
	SIM_MUST(world->readies == world->reloadings + 1 || sim->now - calm < world->settle_ns + 10 * SIM_S,
		 "RELOADING=1 was the last word, and all is well for %.1f s",
		 (double)(sim->now - calm) / 1e9);
	SIM_MUST(sim->now - world->at.published < 3 * world->period_ns,
		 "all is well, and no frame came for %.3f s", (double)(sim->now - world->at.published) / 1e9);
}

/*
 * Checks that a ping comes within a quarter of the watchdog's time after the first frame since the last ping.
 */
static void check_watchdog(void)
{
	const int64_t since = world->at.progress;

	if (!world->watchdog_ns || world->at.stop || !world->pipeline || !since)
		return;
	SIM_MUST(sim->now - since < world->watchdog_ns / 4 + SIM_S || world->at.starved > since - SIM_S,
		 "a frame was published %.1f s ago, and no ping came since",
		 (double)(sim->now - since) / 1e9);
}

static void check_stop(void)
{
	const int64_t hurry = world->at.hurry ? world->at.hurry + SIM_S / 5 : SIM_NEVER,
		      by = world->at.stop + 10 * SIM_S;
	const int64_t limit = (hurry < by ? hurry : by) + SIM_S;

	if (world->at.stop && sim->now > limit && world->at.starved < world->at.stop - SIM_S)
		sim_fail("it was told to stop %.1f s ago and has not",
			 (double)(sim->now - world->at.stop) / 1e9);
}

void check_tick(void)
{
	if (!world->daemon)
		return;
	check_stop();
	SIM_MUST(world->at.ready || sim->now - world->at.began < 5 * SIM_S ||
			 world->at.starved > world->at.began,
		 "not ready %.1f s after the start", (double)(sim->now - world->at.began) / 1e9);
	if (!world->run || !world->at.ready)
		return;
	if (world->pipeline && world->run->loop.ticks > 2) {
		check_state();
		check_calm();
		check_watchdog();
	}
}

/* ---- the end of a life ---- */

static void check_leftovers(void)
{
	static const char *const kept[] = {".", "..", "lock", "stixeld.conf", "simulated"};
	char path[128];

	for (int folder = 0; folder < 2; folder++) {
		struct dirent *e;
		DIR *d;

		snprintf(path, sizeof(path), "%s%s", sim->folder, folder ? "/simulated" : "");
		d = opendir(path);
		while (d && (e = readdir(d))) {
			bool known = false;

			for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
				known = known || !strcmp(e->d_name, kept[i]);
			SIM_MUST(known, "%s/%s is left behind", path, e->d_name);
		}
		if (d)
			closedir(d);
	}
}

void check_exit(int code, bool hard)
{
	const struct sim_process *p = world->daemon;
	/* the frame in flight has ten seconds, and 0.2 s after a second signal */
	const int64_t patience = world->at.hurry ? world->at.hurry : world->at.stop + 9 * SIM_S;
	const bool troubled = world_troubled_since(world->at.stop - SIM_S) || world->at.long_frame > patience;
	int64_t kept;

	if (!world->at.stop)
		SIM_MUST(world->failure_is_due && code == SX_EXIT_FAILED, "it ends by itself with %d", code);
	if (hard)
		SIM_MUST(world->at.stop && troubled &&
				 (code == SX_EXIT_FAILED || (world->at.hurry && code == 0)),
			 "it gives up with %d", code);
	else
		SIM_MUST(code == 0 || (code == SX_EXIT_FAILED && world->failure_is_due), "it ends with %d",
			 code);
	SIM_MUST(world->readies > 0, "it has never been ready");
	check_leftovers();
	if (hard)
		return;
	SIM_MUST(sim_fds_of(p) <= 1, "%d descriptors are left at the end",
		 sim_fds_of(p)); /* one descriptor belongs to the log */
	SIM_MUST(p->maps == 0 && p->files == 0, "%d mappings and %d files are left at the end", p->maps,
		 p->files);
	for (int i = 0; i < SIM_TASKS; i++)
		SIM_MUST(sim->task[i].process != p || &sim->task[i] == sim->current ||
				 sim->task[i].state == SIM_FREE || &sim->task[i] == sim->leaving,
			 "thread %s is left at the end", sim->task[i].name);
	kept = heap() - world->heap_before;
	SIM_MUST(kept == 0, "%lld bytes of the heap are left at the end", (long long)kept);
}
