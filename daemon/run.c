/*
 * One life of the daemon: sets up everything, in the order in which each step can fail with a clear message,
 * and takes it down again.
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
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/log.h"
#include "base/places.h"
#include "config/config.h"
#include "daemon/run_priv.h"

/*
 * Opens the descriptor for SIGTERM, SIGINT and SIGHUP. Also blocks SIGPIPE and the user signals, which are of
 * no use here. All threads inherit the mask. SIGABRT stays as it is, so that the watchdog can cause a core
 * dump.
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
	return sx_run_refuse(SX_EXIT_FAILED, why);
}

static void set_log_levels(const struct sx_settings *s)
{
	struct sx_log_levels levels;
	struct sx_why why;

	if (!s->log_levels)
		return;
	if (sx_log_levels_parse(&levels, s->log_levels, &why) < 0)
		sx_log(DAEMON, WARNING, "log.levels: %s", why.text);
	else
		sx_log_levels_set(&levels);
}

static int claim_instance(struct sx_run *run)
{
	struct sx_why why;

	sx_must(run->lock_fd, ==, -1);
	run->lock_fd = sx_run_claim_folder(run, &why);
	if (run->lock_fd < 0)
		return sx_run_refuse(SX_EXIT_CREATE, why.text);
	if ((size_t)snprintf(run->status_path, sizeof(run->status_path), "%s/" SX_STATUS_SOCKET, run->dir) >=
		    sizeof(run->status_path) ||
	    (size_t)snprintf(run->stream_path, sizeof(run->stream_path), "%s/" SX_FRAMES_SOCKET, run->dir) >=
		    sizeof(run->stream_path))
		return sx_run_refuse(SX_EXIT_CREATE, "the path of the runtime directory is too long");
	return 0;
}

static int open_engine(struct sx_run *run)
{
	struct sx_why why;
	int r = sx_engine_open(&run->engine, &run->settings->engine, &why);
	struct sx_transfers transfers;
	struct sx_report *report;

	if (r == -ENODEV)
		return sx_run_refuse(SX_EXIT_GPU, why.text);
	if (r < 0)
		return sx_run_refuse(r == -EINVAL ? SX_EXIT_CONFIG : SX_EXIT_FAILED, why.text);
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

/*
 * Serves the status socket. Called before the camera is opened, so that clients can see that a camera is
 * missing.
 */
static int serve_status(struct sx_run *run)
{
	struct sx_report *report = sx_pages_edit(run->pages);
	struct sx_why why;
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
		fd = sx_status_listen(run->status_path, SX_RUN_STATUS_MODE, &why);
		if (fd < 0)
			return sx_run_refuse(SX_EXIT_CREATE, why.text);
		run->status_made = true;
	}
	run->stream_fd = sx_service_listen_fd("frames");
	if (sx_pages_serve(run->pages, fd, &why) < 0)
		return sx_run_refuse(SX_EXIT_CREATE, why.text);
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

/* Opens the source. A missing camera is no error: *ret stays NULL. */
static int open_source(struct sx_run *run, struct sx_source **ret)
{
	const struct sx_source_params *params = &run->settings->source;
	struct sx_why why;
	int r = sx_source_open(ret, params, sx_pipeline_slots(run->settings), &why);

	if (r >= 0)
		return 0;
	sx_must_be(!*ret);
	if (r == -ENODEV || (r == -ENOENT && params->kind == SX_SOURCE_V4L2)) {
		sx_log(CAPTURE, WARNING, "camera absent: %s", why.text);
		sx_telemetry_absent(run->telemetry, why.text);
		return 0;
	}
	if (sx_exit_is_shortage(r))
		return sx_run_refuse(SX_EXIT_FAILED, why.text);
	if (params->kind == SX_SOURCE_FILES)
		return sx_run_refuse(SX_EXIT_DATA, why.text);
	return sx_run_refuse(SX_EXIT_CONFIG, why.text);
}

static int set_up(struct sx_run *run)
{
	const enum sx_stixel_method method = run->settings->params.stixels.method;
	struct sx_source *source = NULL;
	struct sx_why why;
	int code;

	set_log_levels(run->settings);
	if (sx_service_init(&run->service, &why) < 0)
		sx_log(DAEMON, WARNING, "%s", why.text);
	if (sx_telemetry_create(&run->telemetry) < 0)
		return sx_run_refuse(SX_EXIT_FAILED, "not enough memory");
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

/* Destroys everything that was set up, the newest first. Releases the lock last. */
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
