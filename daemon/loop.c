/*
 * Main loop: signals, ticks, heartbeats, the watchdog's pings and the frame socket. Makes a new pipeline when the
 * camera or a ring has changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "base/wake.h"
#include "daemon/run_priv.h"

#define STATUS_TICKS 20		   /* ticks between two STATUS= messages */
#define BEAT_TICKS 2		   /* ticks between two heartbeats */
#define STOP_NS (10 * SX_NS_PER_S) /* time for the frame in flight at the end */
#define HURRY_NS (SX_NS_PER_S / 5) /* the same time after a second signal */

/* Takes the image statistics of the newest frame, checks them for faults, and feeds the row control. */
static void look_at_images(struct sx_image_health *images, const struct sx_core *core)
{
	const struct sx_settings *settings = core->settings;
	struct sx_image_stats image_stats;

	if (!sx_telemetry_newest_image_stats(core->telemetry, &image_stats))
		return;
	sx_image_watch(&images->image_watch, &image_stats);
	if (sx_corrects_rows(settings, &core->pipeline->info)) {
		sx_row_control_see(&images->row_control, &image_stats,
				   (int)core->pipeline->header.image_width);
	} else if (settings->rectification.row_correction == SX_ROW_CORRECTION_AUTO &&
		   !images->row_correction_logged) {
		images->row_correction_logged = true;
		sx_log(DAEMON, NOTICE, "rows are not corrected: %s",
		       settings->params.stereo.matcher == SX_MATCH_EXTERNAL
			       ? "another process matches (stereo.matcher), from its own images"
			       : "camera.row_correction needs a camera model (fx, fy, baseline_m)");
	}
}

/*
 * Ends the pipeline so that a new ring is made, but only if this daemon still holds the folder of the
 * instance, which may have been removed with the name.
 */
static void lose_name(struct sx_core *core, struct sx_run_folder *folder, struct sx_health_watch *h,
		      const char *lost)
{
	struct sx_why why;

	if (sx_run_folder_hold(folder, core->pages->server, &why) < 0) {
		sx_why_set(&h->names_why, "%s, and cannot be created again: %s", lost, why.text);
		return;
	}
	sx_why_clear(&h->names_why);
	sx_pipeline_end(core->pipeline, SX_END_LOST, lost);
}

/* Checks that the socket of writers still has its name: without it no writer can connect. */
static void look_at_pairs(const struct sx_run_folder *folder, struct sx_health_watch *h)
{
	struct sx_why why;

	if (sx_run_folder_hold_pairs(folder, &why) < 0)
		sx_condition_hit(&h->pairs_lost, sx_now_ns(), SX_LOG_DAEMON, SX_LOG_WARNING,
				 "no writer of pairs can connect: %s", why.text);
	else
		sx_condition_clear(&h->pairs_lost, sx_now_ns(), SX_LOG_DAEMON,
				   "writers of pairs can connect again");
}

/*
 * Checks that each ring still has its name. Without its name a ring gets no new readers, whatever state it
 * shows.
 */
static void look_at_names(struct sx_core *core, struct sx_run_folder *folder, struct sx_health_watch *h)
{
	const struct sx_ring *const rings[] = {core->pipeline->ring,
					       core->pipeline->feeds.pair_publisher.ring};
	struct sx_why why;

	look_at_pairs(folder, h);
	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		enum sx_ring_name name = rings[i] ? sx_ring_look(rings[i], &why) : SX_RING_NAMED;

		if (name == SX_RING_TAKEN)
			sx_pipeline_end(core->pipeline, SX_END_TAKEN, why.text);
		if (name == SX_RING_LOST)
			lose_name(core, folder, h, why.text);
	}
}

/*
 * Runs all periodic work of a tick. Beats the heartbeat of the rings only while no frame is overdue, so that
 * readers see a hung engine as a hung publisher.
 */
static void run_tick(struct sx_run *run)
{
	struct sx_core *core = &run->core;
	const bool beats = run->loop.ticks % BEAT_TICKS == 0;

	look_at_images(&run->images, core);
	sx_run_watch_unit(core, run->health.unit_why);
	sx_live_see_cost(&run->live, core);
	sx_run_judge(run, true);
	sx_power_tell(&run->power, core->settings->power.source);
	sx_status_tick(core->pages->server);
	if (beats && !run->stop.ordered)
		look_at_names(core, &run->folder, &run->health);
	if (beats && run->health.now.progress) {
		if (core->pipeline->ring)
			sx_ring_beat(core->pipeline->ring);
		sx_pair_publisher_beat(&core->pipeline->feeds.pair_publisher);
	}
	if (run->loop.ticks % STATUS_TICKS == STATUS_TICKS - 1)
		sx_run_tell_manager(&run->service, &run->health.now, core->telemetry);
	run->loop.ticks++;
}

static void run_ping(struct sx_run *run)
{
	if (sx_run_may_ping(run))
		sx_service_ping(&run->service);
}

static void request_stop(struct sx_run *run)
{
	struct sx_stop *stop = &run->stop;

	if (stop->ordered)
		return;
	sx_must(stop->by_ns, ==, 0);
	stop->ordered = true;
	stop->by_ns = sx_now_ns() + STOP_NS;
	sx_service_stopping(&run->service);
	sx_run_judge(run, false);
	sx_pipeline_stop(run->core.pipeline);
}

/* A second order: the frame in flight gets less time. */
static void hurry(struct sx_stop *stop)
{
	const int64_t by = sx_now_ns() + HURRY_NS;

	sx_must_be(stop->ordered);
	stop->hurry = true;
	stop->by_ns = by < stop->by_ns ? by : stop->by_ns;
}

/* Reads the orders of the supervisor, which has the signals of a process with several instances. */
static void read_orders(struct sx_run *run)
{
	struct sx_member *m = run->service.member;

	sx_wake_clear(m->order_fd);
	run->live.reload |= atomic_exchange(&m->reload, false);
	if (atomic_load(&m->stop))
		request_stop(run);
	if (atomic_load(&m->hurry) && !run->stop.hurry)
		hurry(&run->stop);
}

static void read_signals(struct sx_run *run)
{
	struct sx_stop *stop = &run->stop;
	struct signalfd_siginfo s;
	ssize_t n;

	while ((n = read(run->loop.signal_fd, &s, sizeof(s))) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGHUP) {
			run->live.reload = true;
			continue;
		}
		if (stop->ordered) {
			hurry(stop);
			continue;
		}
		sx_log(DAEMON, INFO, "%s: finishing the frame in flight, then exiting",
		       s.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
		request_stop(run);
	}
	/* no signal can end the daemon any more, so it ends itself */
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		sx_log(DAEMON, ERROR, "signals cannot be read: %s: ending", strerror(errno));
		stop->deaf = true;
		request_stop(run);
	}
}

static int poll_timeout_ms(const struct sx_loop *loop, bool pings)
{
	int64_t due = loop->next_tick_ns, left;

	if (pings && loop->next_ping_ns < due)
		due = loop->next_ping_ns;
	left = due - sx_now_ns();
	sx_must(left, <=, SX_HEALTH_TICK_NS);
	return left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

static void keep_time(struct sx_run *run)
{
	const int64_t now = sx_now_ns(), watchdog_ns = run->service.watchdog_ns;
	struct sx_loop *loop = &run->loop;

	if (now >= loop->next_tick_ns) {
		/* after a suspend or a stop signal: one tick instead of all missed ones */
		loop->next_tick_ns += SX_HEALTH_TICK_NS;
		if (loop->next_tick_ns < now)
			loop->next_tick_ns = now + SX_HEALTH_TICK_NS;
		run_tick(run);
	}
	if (watchdog_ns && now >= loop->next_ping_ns) {
		loop->next_ping_ns = now + watchdog_ns / 4;
		run_ping(run);
	}
}

static void serve_once(struct sx_run *run)
{
	struct sx_stream *stream = run->core.pipeline->stream;
	struct sx_member *member = run->service.member;
	struct pollfd fds[] = {
		{.fd = member		? member->order_fd
		       : run->stop.deaf ? -1
					: run->loop.signal_fd,
		 .events = POLLIN},
		{.fd = run->loop.main_fd, .events = POLLIN},
		{.fd = member ? -1 : sx_log_fd(), .events = POLLIN},
		{.fd = stream ? sx_stream_fd(stream) : -1, .events = POLLIN},
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]),
		 poll_timeout_ms(&run->loop, run->service.watchdog_ns > 0)) > 0) {
		if (fds[1].revents) {
			sx_wake_clear(run->loop.main_fd);
			sx_run_judge(run, false);
		}
		if (fds[2].revents)
			sx_log_drain();
		if (fds[3].revents)
			sx_stream_dispatch(stream);
		if (fds[0].revents && member)
			read_orders(run);
		else if (fds[0].revents)
			read_signals(run);
	}
	sx_service_alive(&run->service);
	sx_live_look(run);
	keep_time(run);
}

static bool is_rebuilt(enum sx_end end)
{
	return end == SX_END_CHANGED || end == SX_END_LOST;
}

/*
 * Returns true if the requested frames are complete. The last ones may be published while the pipeline stops
 * for a rebuild.
 */
static bool has_all_frames(uint64_t frames, const struct sx_telemetry *t)
{
	return frames && sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED) >= frames;
}

/* Makes a new pipeline, because the camera came back as another one or a ring has lost its name. */
static int rebuild(struct sx_run *run)
{
	struct sx_core *core = &run->core;
	const bool lost = atomic_load(&core->pipeline->end) == SX_END_LOST;
	struct sx_source *source = NULL;
	int code;

	sx_log(DAEMON, NOTICE, "%s: rebuilding the pipeline", core->pipeline->why.text);
	sx_live_abandon(run, lost ? "the pipeline was created again: nothing was changed"
				  : "the camera came back as another one: nothing was changed");
	sx_must(run->live.step, ==, SX_LIVE_IDLE);
	sx_pipeline_destroy(core->pipeline, &source);
	core->pipeline = NULL;
	/*
	 * The threads of the pipeline have ended, so main may write the image statistics. The old camera's
	 * statistics are invalid.
	 */
	sx_telemetry_image_stats(core->telemetry, &(struct sx_image_stats){0});
	run->images.image_watch = (struct sx_image_watch){0};
	if (!sx_row_correction_equal(&run->images.row_control.applied, &(struct sx_row_correction){0}))
		sx_log(DAEMON, NOTICE, "rows are corrected no longer: %s",
		       lost ? "they are measured again" : "they are another camera's");
	run->images.row_control = (struct sx_row_control){0};
	sx_health_forget(&run->health.now);
	code = sx_run_build(run, source);
	run->health.logged.state = STIXEL_STATE_STARTING;
	return code;
}

/* Serves until both threads of the pipeline have ended. Returns 0, or the exit code if they were given up. */
static int serve(struct sx_run *run)
{
	for (;;) {
		bool ended = atomic_load(&run->core.pipeline->end) != SX_END_NONE;

		if (ended && !is_rebuilt(atomic_load(&run->core.pipeline->end)))
			request_stop(run);
		if ((ended || run->stop.ordered) && sx_pipeline_join(run->core.pipeline, 2))
			return 0;
		if (run->stop.ordered && sx_now_ns() > run->stop.by_ns)
			return sx_run_give_up(run);
		serve_once(run);
	}
}

int sx_run_loop(struct sx_run *run)
{
	int code;

	run->loop.next_tick_ns = run->loop.next_ping_ns = sx_now_ns();
	sx_service_ready(&run->service, "starting");
	for (;;) {
		code = serve(run);
		if (run->stop.given_up)
			return code;
		sx_run_drain_log(run);
		if (run->stop.ordered || !is_rebuilt(atomic_load(&run->core.pipeline->end)) ||
		    has_all_frames(run->options->frames, run->core.telemetry))
			break;
		code = rebuild(run);
		if (code)
			return code;
	}
	return sx_run_end(run);
}
