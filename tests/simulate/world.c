/*
 * Lives of the daemon, one after the other, and the phases of a history: calm ones, and those with faults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/simulate/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "daemon/run.h"
#include "tests/simulate/wrap.h"

#define SLOTS 8
#define STILL_LOOKS 16
#define DAY_NS (86400 * SIM_S)

struct world *world;

/* ---- configuration ---- */

static const char *const live_lines[] = {
	"[road]\nmax_age = 5\n",
	"[model]\np_order = 0.2\n",
	"[source]\ngain = 17\n",
	"[source]\ngain = 3\n[road]\nmax_age = 7\n",
	"[log]\nlevels = info\n",
	"[stixels]\nwidth = 8\n",
	"",
};
static const char *const bad_lines[] = {
	"[stereo]\ndisparities = many\n", "[nonsense]\n",	    "stixels = 3\n[",
	"[source]\ngain = 500\n",	  "[stixels]\nwidth = 1\n",
};

static void write_config(const char *more, int slots, int contexts)
{
	FILE *f = fopen(world->config, "w");

	if (!f)
		sim_fail("simulation: cannot write %s", world->config);
	fprintf(f,
		"[source]\nkind = v4l2\nleft = %s\nright = %s\nfps = %g\ntimeout_ms = %d\nformat = GREY\n"
		"[camera]\nfx = 60\nfy = 60\ncx = 32\ncy = 24\nbaseline_m = 0.2\nheight_m = 1.5\n"
		"[stereo]\ndisparities = 32\n[engine]\nbackend = cpu\ncontexts = %d\n[power]\nsource = none\n"
		"[output]\nslots = %d\n%s%s",
		world->camera[0].driver.path, world->camera[1].driver.path,
		(double)SIM_S / (double)world->period_ns, (int)(world->timeout_ns / SIM_MS), contexts, slots,
		world->narrow && !strstr(more, "[stixels]") ? "[stixels]\nwidth = 16\n" : "", more);
	fclose(f);
	sim_files_changed();
}

static void write_some_config(void)
{
	const size_t live = sizeof(live_lines) / sizeof(live_lines[0]),
		     bad = sizeof(bad_lines) / sizeof(bad_lines[0]);

	switch (sim_below(4)) {
	case 0:
		write_config(bad_lines[sim_below(bad)], SLOTS, world->contexts);
		break;
	case 1:
		/* keys that take effect only after a restart */
		write_config("", 4 << sim_below(3), (int)sim_between(1, 4));
		break;
	default:
		write_config(live_lines[sim_below(live)], SLOTS, world->contexts);
	}
}

/* ---- lives ---- */

static void *daemon_main(void *user)
{
	struct sx_errors errors = {0};
	int r = sx_settings_load_origins(&world->settings, &world->origins, world->config, NULL, 0, true,
					 &errors);

	if (r < 0)
		sim_fail("simulation: the configuration is refused: %s", errors.count ? errors.text[0] : "?");
	world->options = (struct sx_options){.file = world->config, .instance = "simulated"};
	r = sx_run(&world->options, &world->settings, &world->origins, NULL);
	sx_settings_finish(&world->settings);
	world_exit(r, false);
}

static void begin_life(void *user)
{
	sim_mark("birth", (int64_t)world->lives);
	sim_fresh_data();
	world->lives++;
	world->daemon = sim_process_create("stixeld", true);
	world->daemon->random_faults = world->faulty_calls ? 50 : 0;
	world->run = NULL;
	world->pipeline = NULL;
	memset(world->reading, 0, sizeof(world->reading));
	world->lent = 0;
	world->source = NULL;
	world->failure_is_due = false;
	world->readies = world->reloadings = world->stoppings = world->signals = 0;
	world->published = world->pinged_published = world->main_saw[0] = world->main_saw[1] = 0;
	world->next_pair = world->returns_with = 0;
	world->aged = age_frames();
	world->counts_aged = world->durations_aged = false;
	world->engine_sum_ns = 0;
	world->epoch = world->number = 0;
	world->at.began = sim->now;
	world->at.ready = world->at.stop = world->at.hurry = world->at.reload = world->at.pinged =
		world->at.running = 0;
	world->at.published = world->at.progress = world->at.long_frame = 0;
	if (world->at.disturbed < sim->now)
		world->at.disturbed = sim->now;
	world->watchdog_ns = sim_once_in(3) ? 0 : sim_between(4, 20) * SIM_S * (sim->lasting ? 10 : 1);
	write_config("", SLOTS, world->contexts);
	check_life_begins();
	world->main = sim_task_create(world->daemon, "main", daemon_main, NULL);
}

static void next_life(void)
{
	world->daemon = NULL;
	world->main = NULL;
	world->run = NULL;
	world->pipeline = NULL;
	world->at.exited = sim->now;
	sim_arm(&world->birth, sim->now + sim_between(SIM_S / 10, 3 * SIM_S));
}

void world_exit(int code, bool hard)
{
	struct sim_process *p = world->daemon;

	sim_mark(hard ? "_exit" : "exit", code);
	check_exit(code, hard);
	sim->current->joined = true;
	sim_process_kill(p);
	next_life();
	sim_task_end(NULL);
}

/* Kills the daemon with SIGKILL. */
static void kill_daemon(void)
{
	if (!world->daemon)
		return;
	sim_mark("kill", world->daemon->pid);
	SIM_MUST(!sim->lasting, "the one life of this history ends");
	world->kills++;
	sim_process_kill(world->daemon);
	next_life();
}

static void stop_daemon(void)
{
	if (!world->daemon || !world->at.ready) {
		kill_daemon();
		return;
	}
	sim_mark("stop", world->signals++);
	/* the same signal was still pending, so it is not a second one */
	if (!sim_fd_signal(world->daemon, sim_once_in(2) ? SIGTERM : SIGINT))
		return;
	if (!world->at.stop)
		world->at.stop = sim->now;
	else if (!world->at.hurry)
		world->at.hurry = sim->now;
}

/* ---- phases ---- */

static void plug_all(bool another)
{
	static const int sizes[][2] = {{64, 48}, {80, 64}, {64, 64}};
	const int at = another ? (int)sim_below(3) : 0;

	for (int side = 0; side < 2; side++) {
		struct camera *c = &world->camera[side];
		const int width = another || !c->width ? sizes[at][0] : c->width,
			  height = another || !c->width ? sizes[at][1] : c->height;

		c->silent = false;
		if (!c->present || c->width != width || c->height != height)
			camera_plug(c, true, width, height);
	}
	world->at.lacking = SIM_NEVER;
	world->at.returned = sim->now;
}

static void lack(void)
{
	if (world->at.lacking == SIM_NEVER)
		world->at.lacking = sim->now;
}

static void be_noisy(unsigned mildness)
{
	const unsigned m = mildness;

	world->rates = (struct camera_rates){
		.lost = sim_once_in(2) ? (unsigned)sim_between(m, 40 * m) : 0,
		.late = sim_once_in(2) ? (unsigned)sim_between(m, 20 * m) : 0,
		.very_late = sim_once_in(3) ? (unsigned)sim_between(5 * m, 40 * m) : 0,
		.duplicated = sim_once_in(2) ? (unsigned)sim_between(m, 40 * m) : 0,
		.swapped = sim_once_in(2) ? (unsigned)sim_between(m, 40 * m) : 0,
		.jumped = sim_once_in(2) ? (unsigned)sim_between(m, 40 * m) : 0,
		.damaged = sim_once_in(2) ? (unsigned)sim_between(m, 40 * m) : 0,
		.shortened = sim_once_in(2) ? (unsigned)sim_between(m, 40 * m) : 0,
		.refused = sim_once_in(3) ? 3 : 0,
	};
}

static void be_slow(void)
{
	world->engine.frame_ns = sim_between(world->period_ns / 3, 4 * world->period_ns);
	world->engine.jitter_ns = sim_between(0, 2 * world->period_ns);
	world->engine.slow = !sim->lasting && sim_once_in(2) ? (unsigned)sim_between(5, 200) : 0;
	world->engine.fails = !sim->lasting && sim_once_in(8) ? (unsigned)sim_between(20, 300) : 0;
}

static void bounce(void *user)
{
	struct camera *c = &world->camera[sim_below(2)];

	if (world->phase_kind != BOUNCE)
		return;
	camera_plug(c, !c->present, c->width, c->height);
	lack();
	sim_arm(&world->bounce, sim->now + sim_between(SIM_MS, 2 * SIM_S));
}

static void begin_phase(int kind)
{
	struct camera *c = &world->camera[sim_below(2)];

	world->phase_kind = kind;
	world->at.phase = sim->now;
	sim_mark("phase", kind);
	switch (kind) {
	case NOISE:
		be_noisy(2);
		break;
	case SLOW:
		be_slow();
		break;
	case HANG:
		world->engine.hangs = true;
		break;
	case GONE:
		camera_plug(c, false, c->width, c->height);
		if (sim_once_in(2))
			camera_plug(&world->camera[1 - c->side], false, c->width, c->height);
		lack();
		break;
	case SILENT:
		c->silent = true;
		lack();
		break;
	case STARVED:
		world->starve = (unsigned)sim_between(1, 8);
		break;
	case RELOADS:
		world->reload_storm = (unsigned)sim_between(1, 12);
		break;
	case CALLS:
		world->faulty_calls = true;
		break;
	case STOP:
		/* if a frame hangs, accident() sends the signals later */
		world->engine.hangs = sim_once_in(4);
		if (sim_once_in(4))
			kill_daemon();
		else if (!world->engine.hangs)
			stop_daemon();
		break;
	case BOUNCE:
		bounce(NULL);
		break;
	case MIXED:
		be_noisy(10);
		be_slow();
		world->starve = 8;
		world->reload_storm = 8;
		world->faulty_calls = sim_once_in(2);
		world->signal_storm = sim_once_in(3) ? 20 : 0;
		break;
	case CLOCK:
		world->engine.jitter_ns = world->period_ns / 4;
		break;
	}
	if (world->daemon)
		world->daemon->random_faults = world->faulty_calls ? (unsigned)sim_between(10, 200) : 0;
}

static void end_phase(void)
{
	if (world->phase_kind != CALM)
		world->at.disturbed = sim->now;
	if (world->engine.hangs || world->engine.fails)
		world->at.hung = sim->now;
	if (world->rates.refused)
		world->at.refused = sim->now;
	world->rates = (struct camera_rates){0};
	world->engine.hangs = false;
	world->engine.slow = world->engine.fails = 0;
	world->engine.frame_ns = sim_between(world->period_ns / 20, world->period_ns / 2);
	world->engine.jitter_ns = sim_between(0, world->period_ns / 4);
	world->starve = world->reload_storm = world->signal_storm = 0;
	world->faulty_calls = false;
	if (world->daemon)
		world->daemon->random_faults = 0;
	sim_disarm(&world->bounce);
	if (world->at.lacking != SIM_NEVER)
		plug_all(sim_once_in(4));
}

/* True in a calm phase of a history of --lasting. Checks are rare then. In other phases they run all the time. */
static bool is_still(void)
{
	return sim->lasting && world->phase_kind == CALM && sim->now - world->at.phase > 30 * SIM_S;
}

static void look_again(void)
{
	sim_arm(&world->accident, sim->now + sim_between(SIM_MS, 200 * SIM_MS));
	sim_arm(&world->tick, sim->now + 250 * SIM_MS);
}

static void change_phase(void *user)
{
	static const int seconds[KINDS][2] = {
		[CALM] = {12, 40}, [NOISE] = {4, 20},  [SLOW] = {4, 20},    [HANG] = {1, 20},
		[GONE] = {1, 14},  [SILENT] = {1, 12}, [STARVED] = {2, 15}, [RELOADS] = {2, 12},
		[CALLS] = {3, 15}, [STOP] = {1, 3},    [BOUNCE] = {1, 12},  [MIXED] = {5, 30},
		[CLOCK] = {2, 8},
	};
	/* phases that do not end a life */
	static const int mild[] = {NOISE, SLOW, GONE, SILENT, STARVED, RELOADS, CALLS, BOUNCE, CLOCK};
	const bool was_calm = world->phase_kind == CALM;
	int64_t lasts;
	int kind;

	end_phase();
	world->phases++;
	kind = was_calm || sim_once_in(3) ? (int)sim_between(1, KINDS - 1) : CALM;
	if (sim->lasting && kind != CALM)
		kind = mild[sim_below(sizeof(mild) / sizeof(mild[0]))];
	begin_phase(kind);
	look_again();
	lasts = sim_between(seconds[kind][0] * SIM_S, seconds[kind][1] * SIM_S);
	/* quiet histories: mostly minutes, sometimes an hour */
	if (kind == CALM && sim->lasting)
		lasts = sim_between(SIM_S * 3600, 20 * DAY_NS);
	else if (kind == CALM && sim->quiet)
		lasts *= 4 << sim_below(6);
	/* lets the life go on until a second signal must end it, or ten seconds have passed */
	if (kind == STOP && world->engine.hangs)
		lasts = sim_between(3 * SIM_S, 14 * SIM_S);
	/* without a watchdog, which would kill the daemon before: until the hang also stops the heartbeat */
	if (kind == HANG && !world->watchdog_ns && sim_once_in(2))
		lasts = sim_between(14 * SIM_S, 20 * SIM_S);
	sim_arm(&world->phase, sim->now + lasts);
}

static void starve_someone(void)
{
	static const char *const names[] = {"main", "frame", "capture", "engine", "contexts", "http"};
	struct sim_task *t = world->daemon ? sim_task_named(world->daemon, names[sim_below(6)]) : NULL;
	const int64_t most = sim_once_in(6) ? 4 * SIM_S : sim_once_in(2) ? 300 * SIM_MS : 10 * SIM_MS;

	if (!t)
		return;
	sim_mark("starved", t - sim->task);
	sim_starve(t, sim->now + sim_between(1000, most));
	world->at.starved = t->starvation.at > world->at.starved ? t->starvation.at : world->at.starved;
}

/* Steps CLOCK_REALTIME. Linux knows no time before 1970. */
static void step_clock(int64_t by)
{
	if (sim->now + sim->realtime_offset + by > 0)
		sim->realtime_offset += by;
}

static void accident(void *user)
{
	const bool busy = world->phase_kind == STARVED || world->phase_kind == MIXED;

	sim_arm(&world->accident, sim->now + (is_still() ? sim_between(60 * SIM_S, 1200 * SIM_S)
							 : sim_between(SIM_MS, 200 * SIM_MS)));
	/* the mean quantum changes all the time: mostly long, sometimes a switch at every access */
	sim->quantum_mean = sim_once_in(8) ? 2 : sim_once_in(4) ? 20 : 200;
	/* in quiet histories the same few readers read for a long time */
	if (sim_once_in(busy ? 5 : is_still() ? 4000 : sim->quiet && world->phase_kind == CALM ? 400 : 60))
		readers_churn();
	if (sim_once_in(world->starve))
		starve_someone();
	if (world->phase_kind == CLOCK && sim_once_in(4))
		step_clock(sim_between(-3600 * SIM_S, 3600 * SIM_S));
	if (world->daemon && world->at.ready && sim_once_in(world->reload_storm)) {
		write_some_config();
		sim_mark("hangup", 0);
		world->at.reload = sim->now;
		sim_fd_signal(world->daemon, SIGHUP);
	}
	if (sim_once_in(world->signal_storm) ||
	    (world->phase_kind == STOP && (world->at.stop || world->engine.hangs) && sim_once_in(12)))
		stop_daemon();
}

static void tick(void *user)
{
	sim_arm(&world->tick, sim->now + (is_still() ? 10 * SIM_S : 250 * SIM_MS));
	if (world->phase_kind != CALM)
		world->at.disturbed = sim->now;
	if (world->engine.hangs || world->engine.fails || world->engine.slow)
		world->at.hung = sim->now;
	check_tick();
	age_tick();
	/* the service manager has received no ping for the watchdog's time */
	if (world->daemon && world->watchdog_ns && world->at.ready && !world->at.stop &&
	    sim->now - (world->at.pinged ? world->at.pinged : world->at.ready) > world->watchdog_ns)
		kill_daemon();
}

int64_t world_calm_since(void)
{
	return world->phase_kind == CALM && world->daemon && world->at.ready && !world->at.stop
		       ? world->at.disturbed
		       : SIM_NEVER;
}

bool world_troubled_since(int64_t ns)
{
	return world->at.starved > ns || world->at.hung > ns;
}

bool world_lacks_since(int64_t more_ns)
{
	const int64_t since = world->at.lacking > world->at.ready ? world->at.lacking : world->at.ready,
		      noticed_ns = world->timeout_ns + world->timeout_ns / 4 + 8 * world->period_ns + more_ns;

	return world->at.lacking != SIM_NEVER && (world->phase_kind == GONE || world->phase_kind == SILENT) &&
	       world->daemon && world->at.ready && !world->at.stop && sim->now - since > noticed_ns &&
	       !world_troubled_since(since - 3 * SIM_S);
}

void world_quiet(void)
{
	/*
	 * in calm phases of quiet histories only one moment in STILL_LOOKS is checked, because a wrong state
	 * lasts
	 */
	if (sim->quiet && world->phase_kind == CALM && ++world->stillness % STILL_LOOKS != 0)
		return;
	if (!(sim->ready & sim->starved))
		check_quiet();
}

void world_init(void)
{
	world = __real_mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(world->config, sizeof(world->config), "%s/stixeld.conf", sim->folder);
	snprintf(world->ring, sizeof(world->ring), "%s/stixeld.simulated", sim->folder);
	snprintf(world->stream, sizeof(world->stream), "%s/simulated/frames.sock", sim->folder);
	world->period_ns = SIM_S / (int64_t[]){30, 15, 60}[sim_below(3)];
	if (sim->lasting)
		world->period_ns = SIM_S << sim_below(4);
	world->settle_ns = 8 * SIM_S + (sim->lasting ? 8 * world->period_ns : 0);
	world->look_ms = sim->lasting ? 2 * (int)(world->period_ns / SIM_MS) + 700 : 700;
	world->timeout_ns = sim_between(2, 5) * 500 * SIM_MS;
	if (sim->lasting)
		world->timeout_ns = 20 * SIM_S;
	world->contexts = (int)sim_between(1, 3);
	world->userptr = !sim_once_in(3);
	world->narrow = sim->quiet && !sim_once_in(3);
	world->engine.reads_early = sim_once_in(2);
	world->engine.reported_late = sim_once_in(4);
	world->engine.spin_ns = sim_once_in(6) ? 60000 : 0;
	world->at.lacking = SIM_NEVER;
	camera_init(world->camera, world->period_ns);
	plug_all(false);
	localtime_r(&(time_t){0}, &(struct tm){0}); /* from now on libc keeps the time zone */
	world->phase = (struct sim_timer){SIM_NEVER, change_phase, NULL, 0};
	world->tick = (struct sim_timer){SIM_NEVER, tick, NULL, 0};
	world->birth = (struct sim_timer){SIM_NEVER, begin_life, NULL, 0};
	world->accident = (struct sim_timer){SIM_NEVER, accident, NULL, 0};
	world->bounce = (struct sim_timer){SIM_NEVER, bounce, NULL, 0};
	end_phase();
	sim_arm(&world->phase, sim->now + 20 * SIM_S);
	sim_arm(&world->tick, sim->now + 250 * SIM_MS);
	sim_arm(&world->accident, sim->now + SIM_S);
	sim_arm(&world->birth, sim->now + SIM_MS);
}
