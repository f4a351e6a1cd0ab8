/*
 * One life of the daemon: sets up everything, in the order in which each step can fail with a clear message,
 * and takes it down again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/instance/signals.h"
#include "daemon/run_priv.h"

/* Opens the descriptors of the main loop. The supervisor of several instances has the signals and the log. */
static int open_loop(struct sx_loop *loop, bool alone)
{
	struct sx_why why;

	sx_must(loop->signal_fd, ==, -1);
	if (alone)
		loop->signal_fd = sx_signals_open();
	loop->main_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if ((loop->signal_fd >= 0 || !alone) && loop->main_fd >= 0 && sx_log_fd() >= 0)
		return 0;
	sx_why_set(&why, "cannot create descriptors for signals and events: %s", strerror(errno));
	return sx_run_refuse(SX_EXIT_FAILED, why.text);
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

static int claim_folder(struct sx_run_folder *f)
{
	struct sx_why why;

	return sx_run_folder_claim(f, &why) < 0 ? sx_run_refuse(SX_EXIT_CREATE, why.text) : 0;
}

static int open_engine(struct sx_core *core)
{
	struct sx_why why;
	int r = sx_engine_open(&core->engine, &core->settings->engine, &why);
	struct sx_transfers transfers;
	struct sx_report *report;

	if (r == -ENODEV)
		return sx_run_refuse(SX_EXIT_GPU, why.text);
	if (r < 0)
		return sx_run_refuse(r == -EINVAL ? SX_EXIT_CONFIG : SX_EXIT_FAILED, why.text);
	report = sx_pages_edit(core->pages);
	report->engine.backend = core->engine.backend->name;
	report->engine.device = core->engine.backend->describe(core->engine.device);
	report->engine.reason = core->engine.reason;
	sx_engine_transfers(&core->engine, &transfers);
	report->engine.input = transfers.path;
	sx_report_count(report, SX_METRIC_ENGINE_CONTEXTS, core->settings->engine.contexts);
	sx_log(DAEMON, INFO, "engine %s (%s)%s%s", report->engine.backend, report->engine.device,
	       core->engine.no_module ? "; " : ": ",
	       core->engine.no_module ? "no CUDA engine installed" : report->engine.reason);
	sx_pages_done(core->pages);
	return 0;
}

static void fill_report(struct sx_pages *pages, const struct sx_options *options,
			const struct sx_settings *settings)
{
	struct sx_report *report = sx_pages_edit(pages);

	report->instance = options->instance;
	report->version = SX_VERSION;
	report->pid = getpid();
	sx_pages_set_feeds(pages, settings);
	report->config.folder = getcwd(pages->folder, sizeof(pages->folder)) ? pages->folder : "";
	report->config.overrides = options->overrides;
	report->config.override_count = options->override_count;
	sx_pages_set_files(pages, settings);
	sx_pages_set_motion(pages, settings);
	sx_pages_done(pages);
}

/*
 * Serves the status socket, and listens for writers of pairs if the source is shared. Called before the source
 * is opened, so that clients can see that a camera is missing, and writers can connect. alone: sockets that the
 * service manager passes are for this instance.
 */
static int serve(struct sx_run_folder *f, struct sx_pages *pages, bool shared, bool alone)
{
	struct sx_why why;
	int fd = alone ? sx_service_listen_fd("status") : -1;

	sx_must_be(!f->status_created);
	if (fd < 0) {
		fd = sx_run_folder_listen(f, &why);
		if (fd < 0)
			return sx_run_refuse(SX_EXIT_CREATE, why.text);
		f->status_created = true;
	}
	f->stream_fd = alone ? sx_service_listen_fd("frames") : -1;
	if (shared && sx_run_folder_listen_pairs(f, &why) < 0)
		return sx_run_refuse(SX_EXIT_CREATE, why.text);
	if (sx_pages_serve(pages, fd, &why) < 0)
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
static int open_source(struct sx_core *core, const struct sx_pairs_socket *pairs, struct sx_source **ret)
{
	struct sx_source_params params = core->settings->source;
	struct sx_why why;
	int r;

	params.socket = pairs;
	r = sx_source_open(ret, &params, sx_pipeline_slots(core->settings), &why);
	if (r >= 0)
		return 0;
	sx_must_be(!*ret);
	if (r == -ENODEV || (r == -ENOENT && params.kind != SX_SOURCE_FILES)) {
		sx_log(CAPTURE, WARNING, "%s: %s",
		       r == -ENODEV && params.kind == SX_SOURCE_SHARED ? "writer refused" : "camera absent",
		       why.text);
		sx_telemetry_absent(core->telemetry, why.text);
		return 0;
	}
	if (sx_exit_is_shortage(r))
		return sx_run_refuse(SX_EXIT_FAILED, why.text);
	if (params.kind == SX_SOURCE_FILES)
		return sx_run_refuse(SX_EXIT_DATA, why.text);
	return sx_run_refuse(SX_EXIT_CONFIG, why.text);
}

/* Logs external inputs that the settings make useless. */
static void tell_unread(const struct sx_settings *s)
{
	const enum sx_stixel_method method = s->params.stixels.method;

	if (s->external.source && s->params.stereo.matcher != SX_MATCH_EXTERNAL)
		sx_log(DAEMON, NOTICE,
		       "stereo.matcher = internal: disparity maps of external.source are not read");
	if (s->semantics.source && (method == SX_STIXEL_DP || method == SX_STIXEL_RDP))
		sx_log(DAEMON, NOTICE,
		       "class scores are matched and counted, but stixels.method = %s does not read them",
		       method == SX_STIXEL_DP ? "dp" : "rdp");
}

static int set_up(struct sx_run *run)
{
	struct sx_core *core = &run->core;
	struct sx_source *source = NULL;
	struct sx_why why;
	int code;

	set_log_levels(core->settings);
	if (!run->service.member && sx_service_init(&run->service, &why) < 0)
		sx_log(DAEMON, WARNING, "%s", why.text);
	if (sx_telemetry_create(&core->telemetry) < 0)
		return sx_run_refuse(SX_EXIT_FAILED, "not enough memory");
	sx_pages_init(core->pages, core->telemetry, &core->settings->params.stereo, &run->live.requests);
	if ((code = open_loop(&run->loop, !run->service.member)))
		return code;
	run->live.requests.main_fd = run->loop.main_fd;
	if ((code = claim_folder(&run->folder)) || (code = open_engine(core)))
		return code;
	tell_unread(core->settings);
	sx_power_start(&run->power, core);
	fill_report(core->pages, run->options, core->settings);
	sx_live_note_configured(&run->live, core->settings);
	sx_live_tell_pages(&run->live, core->settings, run->options, core->pages);
	if ((code = serve(&run->folder, core->pages, core->settings->source.kind == SX_SOURCE_SHARED,
			  !run->service.member)) ||
	    (code = open_source(core, &run->folder.pairs, &source)))
		return code;
	return sx_run_build(run, source);
}

/* Destroys everything that was set up, the newest first. Releases the lock last. */
static void take_down(struct sx_run *run)
{
	struct sx_core *core = &run->core;

	if (core->pipeline)
		sx_live_abandon(run, "the daemon ends: nothing was changed");
	sx_must(run->live.step, ==, SX_LIVE_IDLE);
	sx_requests_close(&run->live.requests);
	if (!sx_run_folder_holds(&run->folder)) {
		run->folder.status_created = false;
		run->folder.pairs.path = NULL;
		if (core->pipeline && core->pipeline->stream)
			sx_stream_disown(core->pipeline->stream);
	}
	sx_pipeline_destroy(core->pipeline, NULL);
	if (core->telemetry)
		sx_pages_finish(core->pages);
	sx_requests_finish(&run->live.requests);
	sx_sampler_stop(run->power.sampler);
	sx_engine_close(&core->engine);
	sx_telemetry_destroy(core->telemetry);
	sx_run_folder_unlink(&run->folder);
	sx_run_drain_log(run);
	if (run->loop.signal_fd >= 0)
		close(run->loop.signal_fd);
	if (run->loop.main_fd >= 0)
		close(run->loop.main_fd);
	sx_run_folder_finish(&run->folder);
}

int sx_run(const struct sx_options *options, struct sx_settings *settings, struct sx_origins *origins,
	   struct sx_member *member)
{
	struct sx_pages *pages = calloc(1, sizeof(*pages));
	struct sx_run *run = calloc(1, sizeof(*run));
	int code = SX_EXIT_FAILED;

	if (run && pages) {
		run->options = options;
		if (member)
			run->service = sx_service_of_member(member);
		run->core.settings = settings;
		run->core.start = settings->params.stixels;
		run->core.pages = pages;
		run->live.origins = origins;
		sx_requests_init(&run->live.requests, -1);
		run->folder = (struct sx_run_folder){
			.instance = options->instance, .stream_fd = -1, .pairs.fd = -1, .lock_fd = -1};
		run->loop.signal_fd = run->loop.main_fd = -1;
		code = set_up(run);
		if (code == 0)
			code = sx_run_loop(run);
		if (run->stop.given_up) {
			atomic_store(&member->abandoned, true);
			return code;
		}
		if (member)
			sx_member_tell_state(member, SX_MEMBER_ENDING);
		take_down(run);
	} else {
		fprintf(stderr, "stixeld: not enough memory\n");
	}
	free(run);
	free(pages);
	return code;
}
