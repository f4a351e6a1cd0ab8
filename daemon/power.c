/*
 * Power: starts the measurement, logs it and writes it to the pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/power.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "power/board.h"

_Static_assert(sizeof(((struct sx_report_power *)NULL)->reason) ==
		       sizeof(((struct sx_sampler_look *)NULL)->reason),
	       "the report has room for every reason");

/*
 * Returns the number of published frames, so that the sampler knows which frames fall into a time span.
 * Energy is reported per frame.
 */
static uint64_t published(const void *user)
{
	const struct sx_telemetry *t = user;

	return sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED);
}

void sx_power_start(struct sx_power_watch *w, struct sx_core *core)
{
	const struct sx_power_params *p = &core->settings->power;
	const struct sx_backend *backend = core->engine.backend;
	struct sx_power_engine engine = {.gpu = strcmp(backend->name, "cuda") == 0};
	const char *bus_id = backend->bus_id ? backend->bus_id(core->engine.device) : NULL;
	int r;

	sx_must_be(!w->sampler);
	core->pages->root = p->root;
	if (p->source == SX_POWER_NONE)
		return;
	snprintf(engine.bus_id, sizeof(engine.bus_id), "%s", bus_id ? bus_id : "");
	r = sx_sampler_start(&w->sampler, p, &engine, published, core->telemetry);
	if (r < 0)
		sx_log(DAEMON, WARNING, "power is not measured: %s", strerror(-r));
	core->pages->power = w->sampler;
}

void sx_power_tell(struct sx_power_watch *w, enum sx_power_choice configured)
{
	struct sx_sampler_look look;

	if (!w->sampler)
		return;
	sx_sampler_look(w->sampler, sx_now_ns(), &look);
	if (look.others > 0 && !w->others_logged)
		sx_log(DAEMON, NOTICE,
		       "%d other process%s on the card: watts and joules per frame are those of all together",
		       look.others, look.others == 1 ? " computes" : "es compute");
	w->others_logged |= look.others > 0;
	if (look.changes == w->changes_logged)
		return;
	if (*look.source)
		sx_log(DAEMON, INFO, "power by %s: %s, %s", look.source, look.scope, look.device);
	else if (w->changes_logged)
		sx_log(DAEMON, WARNING, "the power sensor is lost: %s", look.reason);
	else if (configured != SX_POWER_AUTO)
		sx_log(DAEMON, WARNING, "power is not measured: %s", look.reason);
	else /* most computers have no readable sensor, which is no fault */
		sx_log(DAEMON, INFO, "power is not measured: %s", look.reason);
	w->changes_logged = look.changes;
}

void sx_pages_read_power(struct sx_report *r, struct sx_sampler *power, int64_t now_ns)
{
	struct sx_report_power *to = &r->power;
	struct sx_sampler_look look;
	const struct sx_meter_readings *f = &look.readings;

	if (!power) {
		snprintf(to->reason, sizeof(to->reason), "power.source = none");
		return;
	}
	sx_sampler_look(power, now_ns, &look);
	memcpy(to->source, look.source, sizeof(to->source));
	snprintf(to->scope, sizeof(to->scope), "%.39s%s", look.scope,
		 look.others > 0 ? " with other processes" : "");
	memcpy(to->device, look.device, sizeof(to->device));
	memcpy(to->reason, look.reason, sizeof(to->reason));
	sx_report_real(r, SX_METRIC_POWER_WATTS, f->watts);
	sx_report_real(r, SX_METRIC_POWER_WATTS_10S, f->watts_10s);
	sx_report_real(r, SX_METRIC_POWER_JOULES_PER_FRAME, f->joules_per_frame);
	sx_report_real(r, SX_METRIC_POWER_FPS_PER_WATT, f->fps_per_watt);
	sx_report_count(r, SX_METRIC_POWER_INTERVAL, look.interval_ms);
	if (f->age_ns < 0)
		return;
	to->stale = f->stale;
	sx_report_count(r, SX_METRIC_POWER_AGE, f->age_ns / 1000000);
	sx_report_real(r, SX_METRIC_ENERGY_JOULES, f->joules);
	sx_report_real(r, SX_METRIC_ENERGY_SECONDS, f->seconds);
	sx_report_count(r, SX_METRIC_ENERGY_FRAMES, (int64_t)f->frames);
	/* a discrete GPU has its own clocks, which replace the board's */
	if (look.gpu_hz >= 0)
		sx_report_count(r, SX_METRIC_BOARD_GPU, look.gpu_hz);
	if (look.gpu_max_hz >= 0)
		sx_report_count(r, SX_METRIC_BOARD_GPU_MAX, look.gpu_max_hz);
	if (look.memory_hz >= 0)
		sx_report_count(r, SX_METRIC_BOARD_MEMORY, look.memory_hz);
}

void sx_pages_read_board(struct sx_report *r, const char *root)
{
	struct sx_report_board *to = &r->board;
	struct sx_board board;

	sx_board_read(&board, root);
	memcpy(to->model, board.model, sizeof(to->model));
	memcpy(to->mode, board.mode, sizeof(to->mode));
	memcpy(to->governor, board.governor, sizeof(to->governor));
	sx_report_count(r, SX_METRIC_BOARD_MODE, board.mode_id);
	sx_report_count(r, SX_METRIC_BOARD_CPU, board.cpu_hz);
	sx_report_count(r, SX_METRIC_BOARD_CPU_MAX, board.cpu_max_hz);
	sx_report_count(r, SX_METRIC_BOARD_GPU, board.gpu_hz);
	sx_report_count(r, SX_METRIC_BOARD_GPU_MAX, board.gpu_max_hz);
	sx_report_count(r, SX_METRIC_BOARD_MEMORY, board.memory_hz);
}
