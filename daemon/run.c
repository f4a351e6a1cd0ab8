/*
 * One life of the daemon: everything is made here, in the order in which it can fail with a clear word, and
 * taken down again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/log.h"
#include "base/places.h"
#include "config/config.h"
#include "daemon/run_priv.h"
#include "ipc/instance.h"

#define STATUS_MODE 0660
/* What a pipeline is made for while the camera is absent and the configuration does not say its size. */
#define ABSENT_WIDTH 640
#define ABSENT_HEIGHT 480

static int run_refuse(int code, const char *why)
{
	sx_log(DAEMON, ERROR, "%s", why);
	return code;
}

/*
 * Signals that are meant for us are read from a descriptor; SIGPIPE and the user's are of no use here. All
 * threads inherit the mask. SIGABRT stays as it is: the watchdog's way to a core dump.
 */
static int catch_signals(struct sx_run *run)
{
	sigset_t ours, all;
	char why[SX_WHY_BYTES];

	sx_must(run->signal_fd, ==, -1);
	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGHUP);
	all = ours;
	sigaddset(&all, SIGPIPE);
	sigaddset(&all, SIGUSR1);
	sigaddset(&all, SIGUSR2);
	sigprocmask(SIG_BLOCK, &all, NULL);
	run->signal_fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	run->main_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	run->live.orders.main_fd = run->main_fd;
	if (run->signal_fd >= 0 && run->main_fd >= 0 && sx_log_fd() >= 0)
		return 0;
	snprintf(why, sizeof(why), "cannot create descriptors for signals and events: %s", strerror(errno));
	return run_refuse(SX_EXIT_FAILED, why);
}

static void set_log_levels(const struct sx_settings *s)
{
	struct sx_log_levels levels;
	char why[SX_WHY_BYTES];

	if (!s->log_levels)
		return;
	if (sx_log_levels_parse(&levels, s->log_levels, why, sizeof(why)) < 0)
		sx_log(DAEMON, WARNING, "log.levels: %s", why);
	else
		sx_log_levels_set(&levels);
}

/* The folder and its lock, which is returned. */
static int claim_folder(struct sx_run *run, char *why, size_t why_bytes)
{
	const int r = sx_runtime_dir(run->options->instance, run->dir, sizeof(run->dir), why, why_bytes);

	return r < 0 ? r : sx_instance_lock(run->dir, NULL, why, why_bytes);
}

bool sx_run_holds_folder(const struct sx_run *run)
{
	char path[SX_RUN_PATH_BYTES + 8];
	struct stat held, there;

	snprintf(path, sizeof(path), "%s/lock", run->dir);
	/* a look that fails tells nothing about whose it is: once more, before our sockets are left behind */
	for (int i = 0; i < 2; i++) {
		if (fstat(run->lock_fd, &held) == 0 && stat(path, &there) == 0)
			return held.st_dev == there.st_dev && held.st_ino == there.st_ino;
		if (errno == ENOENT)
			return false;
	}
	return false;
}

int sx_run_hold_folder(struct sx_run *run, char *why, size_t why_bytes)
{
	int fd;

	sx_must(run->lock_fd, >=, 0);
	if (!sx_run_holds_folder(run)) {
		fd = claim_folder(run, why, why_bytes);
		if (fd < 0)
			return fd;
		close(run->lock_fd);
		run->lock_fd = fd;
	}
	if (!run->status_made || access(run->status_path, F_OK) == 0)
		return 0;
	fd = sx_status_listen(run->status_path, STATUS_MODE, why, why_bytes);
	if (fd < 0)
		return fd;
	fd = sx_status_move(run->pages->server, fd);
	if (fd < 0) {
		unlink(run->status_path);
		snprintf(why, why_bytes, "%s: %s", run->status_path, strerror(-fd));
	}
	return fd;
}

static int claim_instance(struct sx_run *run)
{
	char why[SX_WHY_BYTES];

	sx_must(run->lock_fd, ==, -1);
	run->lock_fd = claim_folder(run, why, sizeof(why));
	if (run->lock_fd < 0)
		return run_refuse(SX_EXIT_CREATE, why);
	if ((size_t)snprintf(run->status_path, sizeof(run->status_path), "%s/" SX_STATUS_SOCKET, run->dir) >=
		    sizeof(run->status_path) ||
	    (size_t)snprintf(run->stream_path, sizeof(run->stream_path), "%s/" SX_FRAMES_SOCKET, run->dir) >=
		    sizeof(run->stream_path))
		return run_refuse(SX_EXIT_CREATE, "the path of the runtime directory is too long");
	return 0;
}

static int open_engine(struct sx_run *run)
{
	char why[SX_WHY_BYTES];
	int r = sx_engine_open(&run->engine, &run->settings->engine, why, sizeof(why));
	struct sx_transfers transfers;
	struct sx_report *report;

	if (r == -ENODEV)
		return run_refuse(SX_EXIT_GPU, why);
	if (r < 0)
		return run_refuse(r == -EINVAL ? SX_EXIT_CONFIG : SX_EXIT_FAILED, why);
	report = sx_pages_edit(run->pages);
	report->engine.backend = run->engine.backend->name;
	report->engine.device = run->engine.backend->describe(run->engine.device);
	report->engine.reason = run->engine.reason;
	sx_engine_transfers(&run->engine, &transfers);
	report->engine.input = transfers.path;
	sx_report_count(report, SX_FIG_ENGINE_CONTEXTS, run->settings->engine.contexts);
	sx_log(DAEMON, INFO, "engine %s (%s)%s%s", report->engine.backend, report->engine.device,
	       run->engine.no_module ? "; " : ": ",
	       run->engine.no_module ? "no CUDA engine installed" : report->engine.reason);
	sx_pages_done(run->pages);
	return 0;
}

/* Before the camera: that it is missing must be seen by those who ask. */
static int serve_status(struct sx_run *run)
{
	struct sx_report *report = sx_pages_edit(run->pages);
	char why[SX_WHY_BYTES];
	int fd = sx_service_listen_fd("status");

	report->instance = run->options->instance;
	report->version = SX_VERSION;
	report->pid = getpid();
	sx_pages_set_feeds(run->pages, run->settings);
	report->config.folder = getcwd(run->folder, sizeof(run->folder)) ? run->folder : "";
	report->config.overrides = run->options->overrides;
	report->config.override_count = run->options->override_count;
	sx_pages_set_files(run->pages, run->settings);
	sx_pages_done(run->pages);
	sx_live_note_configured(run);
	sx_live_tell_pages(run);
	sx_must_be(!run->status_made);
	if (fd < 0) {
		fd = sx_status_listen(run->status_path, STATUS_MODE, why, sizeof(why));
		if (fd < 0)
			return run_refuse(SX_EXIT_CREATE, why);
		run->status_made = true;
	}
	run->stream_fd = sx_service_listen_fd("frames");
	if (sx_pages_serve(run->pages, fd, why, sizeof(why)) < 0)
		return run_refuse(SX_EXIT_CREATE, why);
	return 0;
}

bool sx_exit_is_shortage(int r)
{
	switch (-r) {
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case EAGAIN:
	case EIO:
	case ENOSPC:
		return true;
	default:
		return false;
	}
}

/* Opens the source. A camera that is missing is no error: *ret stays NULL. */
static int open_source(struct sx_run *run, struct sx_source **ret)
{
	const struct sx_source_params *params = &run->settings->source;
	char why[SX_WHY_BYTES];
	int r = sx_source_open(ret, params, sx_pipeline_slots(run->settings), why, sizeof(why));

	if (r >= 0)
		return 0;
	sx_must_be(!*ret);
	if (r == -ENODEV || (r == -ENOENT && params->kind == SX_SOURCE_V4L2)) {
		sx_log(CAPTURE, WARNING, "camera absent: %s", why);
		sx_telemetry_absent(run->telemetry, why);
		return 0;
	}
	if (sx_exit_is_shortage(r))
		return run_refuse(SX_EXIT_FAILED, why);
	if (params->kind == SX_SOURCE_FILES)
		return run_refuse(SX_EXIT_DATA, why);
	return run_refuse(SX_EXIT_CONFIG, why);
}

static int build_failed(int r, const char *why)
{
	if (r == -ENODEV)
		return run_refuse(SX_EXIT_GPU, why);
	return run_refuse(r == -EINVAL || r == -ENOTSUP ? SX_EXIT_CONFIG : SX_EXIT_FAILED, why);
}

/* What became of engine.volume; empty: the engine has no choice. */
static const char *volume_of(const struct sx_run *run)
{
	const struct sx_backend *backend = run->engine.backend;

	sx_must(run->pipeline->newest->count, >, 0);
	return backend->volume ? backend->volume(run->pipeline->newest->context[0]) : "";
}

void sx_run_tell_engine(struct sx_run *run)
{
	const char *volume = volume_of(run);
	struct sx_report *report = sx_pages_edit(run->pages);
	const bool news = strcmp(report->engine.volume, volume) != 0;

	snprintf(report->engine.volume, sizeof(report->engine.volume), "%s", volume);
	sx_report_count(report, SX_FIG_ENGINE_MEMORY,
			(int64_t)run->engine.backend->memory(run->engine.device));
	sx_pages_done(run->pages);
	if (*volume && news)
		sx_log(DAEMON, INFO, "%s", volume);
}

static void tell_pipeline(struct sx_run *run)
{
	struct sx_pipeline *p = run->pipeline;
	struct sx_report *report = sx_pages_edit(run->pages);

	sx_pages_set_source(run->pages, &run->settings->source, &p->info);
	report->epoch = p->epoch;
	snprintf(report->ring_path, sizeof(report->ring_path), "%s", p->ring ? sx_ring_path(p->ring) : "");
	sx_report_count(report, SX_FIG_RING_BYTES, p->ring ? (int64_t)sx_ring_bytes(p->ring) : -1);
	sx_report_count(report, SX_FIG_RING_SLOTS, p->ring ? run->settings->output.slots : -1);
	sx_pages_done(run->pages);
	sx_run_tell_engine(run);
}

/* The search goes to the left by the number of disparities: near the left border it ends early. */
static void warn_of_search(const struct sx_settings *s, int width)
{
	const int half = width / 64 * 32;

	if (s->params.stereo.matcher == SX_MATCH_EXTERNAL || 2 * s->params.stereo.disparities <= width)
		return;
	sx_log(CONFIG, WARNING,
	       "stereo.disparities = %d, and images are %d px wide: the search leaves the image in more than "
	       "half of the columns; %d would do",
	       s->params.stereo.disparities, width, half > 32 ? half : 32);
}

/* What runs from the start on is taken as it is: but a restart of it comes every few seconds. */
static void tell_cost(const struct sx_run *run)
{
	const struct sx_frame_cost_case c = sx_live_cost_case(run, run->settings);
	char why[SX_WHY_BYTES + 256];

	if (sx_frame_cost_is_too_much(&run->live.cost, NULL, &c, sx_run_limit_ns(run), why, sizeof(why)))
		sx_log(CONFIG, WARNING, "%s", why);
}

int sx_run_build(struct sx_run *run, struct sx_source *source)
{
	const struct sx_settings *s = run->settings;
	const uint64_t frames = run->options->frames;
	const struct sx_pipeline_config config = {
		.settings = s,
		.start = run->start,
		.engine = &run->engine,
		.telemetry = run->telemetry,
		.instance = run->options->instance,
		.shm_dir = getenv("STIXELD_SHM_DIR"),
		.stream_path = run->stream_path,
		.stream_fd = run->stream_fd,
		.frames = frames ? frames - sx_telemetry_count(run->telemetry, SX_FIG_FRAMES_PUBLISHED) : 0,
		.main_fd = run->main_fd,
	};
	struct sx_source_info info = {
		.width = s->rectify	   ? s->rig.raw_width
			 : s->source.width ? s->source.width
					   : ABSENT_WIDTH,
		.height = s->rectify	     ? s->rig.raw_height
			  : s->source.height ? s->source.height
					     : ABSENT_HEIGHT,
		.cameras = s->source.layout == SX_LAYOUT_TWO ? 2 : 1,
		.path = {s->source.left, s->source.right},
		.paced = true,
	};
	char why[SX_WHY_BYTES];
	int r;

	sx_must_be(!run->pipeline);
	if (source)
		info = *sx_source_info(source);
	r = source || s->rectify ? sx_settings_check_size(s, info.width, info.height, why, sizeof(why))
				 : sx_params_check(&s->params, info.width, info.height, why, sizeof(why));
	if (r == 0)
		r = sx_pipeline_create(&run->pipeline, &config, source, &info, why, sizeof(why));
	if (r < 0) {
		sx_source_close(source);
		return build_failed(r, why);
	}
	r = sx_pipeline_open_output(run->pipeline, why, sizeof(why));
	if (r < 0)
		return run_refuse(SX_EXIT_CREATE, why);
	tell_pipeline(run);
	if (s->realtime.lock_memory && mlockall(MCL_CURRENT) < 0)
		sx_log(DAEMON, WARNING, "realtime.lock_memory is not permitted: %s (LimitMEMLOCK?)",
		       strerror(errno));
	r = sx_pipeline_start(run->pipeline, why, sizeof(why));
	if (r < 0)
		return build_failed(r, why);
	if (sx_settings_tell_rectified(s, &info, why, sizeof(why)))
		sx_log(CONFIG, INFO, "%s", why);
	sx_run_tell_camera(run, source != NULL);
	tell_cost(run);
	if (!source)
		return 0; /* what the pairs will be is told when there is a camera */
	sx_log(DAEMON, INFO, "pairs of %dx%d %s, %s, %d in flight", info.width, info.height,
	       info.format ? info.format : sx_pixel_name(info.pixel),
	       info.paced ? "paced" : "as fast as they are taken", s->engine.contexts);
	if (*info.note)
		sx_log(CAPTURE, INFO, "%s", info.note);
	warn_of_search(s, (int)run->pipeline->header.image_width);
	return 0;
}

static int set_up(struct sx_run *run)
{
	const enum sx_stixel_method method = run->settings->params.stixels.method;
	struct sx_source *source = NULL;
	char why[SX_WHY_BYTES];
	int code;

	set_log_levels(run->settings);
	if (sx_service_init(&run->service, why, sizeof(why)) < 0)
		sx_log(DAEMON, WARNING, "%s", why);
	if (sx_telemetry_create(&run->telemetry) < 0)
		return run_refuse(SX_EXIT_FAILED, "not enough memory");
	sx_pages_init(run->pages, run->telemetry, &run->settings->params.stereo, &run->live.orders);
	if ((code = catch_signals(run)) || (code = claim_instance(run)) || (code = open_engine(run)))
		return code;
	if (run->settings->external.source && run->settings->params.stereo.matcher != SX_MATCH_EXTERNAL)
		sx_log(DAEMON, NOTICE,
		       "stereo.matcher = internal: disparity maps of external.source are not read");
	if (run->settings->semantics.source && (method == SX_STIXEL_DP || method == SX_STIXEL_RDP))
		sx_log(DAEMON, NOTICE,
		       "class scores are matched and counted, but stixels.method = %s does not read them",
		       method == SX_STIXEL_DP ? "dp" : "rdp");
	sx_run_power_start(run);
	if ((code = serve_status(run)) || (code = open_source(run, &source)))
		return code;
	return sx_run_build(run, source);
}

/* Takes down whatever was set up, the newest first. The lock goes last. */
static void take_down(struct sx_run *run)
{
	if (run->pipeline)
		sx_live_abandon(run, "the daemon ends: nothing was changed");
	sx_must(run->live.step, ==, SX_LIVE_IDLE);
	sx_orders_close(&run->live.orders);
	if (!sx_run_holds_folder(run)) {
		run->status_made = false;
		if (run->pipeline && run->pipeline->stream)
			sx_stream_disown(run->pipeline->stream);
	}
	sx_pipeline_destroy(run->pipeline, NULL);
	if (run->telemetry)
		sx_pages_finish(run->pages);
	sx_orders_finish(&run->live.orders);
	sx_sampler_stop(run->power);
	sx_engine_close(&run->engine);
	sx_telemetry_destroy(run->telemetry);
	if (run->status_made)
		unlink(run->status_path);
	sx_log_drain();
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	if (run->main_fd >= 0)
		close(run->main_fd);
	if (run->stream_fd >= 0)
		close(run->stream_fd);
	if (run->lock_fd >= 0)
		close(run->lock_fd);
}

int sx_run(const struct sx_options *options, struct sx_settings *settings, struct sx_origins *origins)
{
	struct sx_pages *pages = calloc(1, sizeof(*pages));
	struct sx_run *run = calloc(1, sizeof(*run));
	int code = SX_EXIT_FAILED;

	if (run && pages) {
		run->options = options;
		run->settings = settings;
		run->start = settings->params.stixels;
		run->pages = pages;
		run->live.origins = origins;
		sx_orders_init(&run->live.orders, -1);
		run->lock_fd = run->signal_fd = run->main_fd = run->stream_fd = -1;
		code = set_up(run);
		if (code == 0)
			code = sx_run_loop(run);
		take_down(run);
	} else {
		fprintf(stderr, "stixeld: not enough memory\n");
	}
	free(run);
	free(pages);
	return code;
}
