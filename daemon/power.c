/*
 * Power: starting to measure, what the log says of it, and what the pages do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/run_priv.h"
#include "power/board.h"

_Static_assert(sizeof(((struct sx_report_power *)NULL)->reason) ==
		       sizeof(((struct sx_sampler_look *)NULL)->reason),
	       "the report has room for every reason");

/* Energy is told by frame, so it must be known which frames fell into a span of time. */
static uint64_t published(const void *user)
{
	const struct sx_telemetry *t = user;

	return atomic_load_explicit(&t->published, memory_order_relaxed);
}

void sx_run_power_start(struct sx_run *run)
{
	const struct sx_power_params *p = &run->settings->power;
	const struct sx_backend *backend = run->engine.backend;
	struct sx_power_engine engine = {.gpu = strcmp(backend->name, "cuda") == 0};
	const char *bus_id = backend->bus_id ? backend->bus_id(run->engine.device) : NULL;
	int r;

	run->pages->root = p->root;
	if (p->source == SX_POWER_NONE)
		return;
	snprintf(engine.bus_id, sizeof(engine.bus_id), "%s", bus_id ? bus_id : "");
	r = sx_sampler_start(&run->power, p, &engine, published, run->telemetry);
	if (r < 0)
		sx_log(DAEMON, WARNING, "power is not measured: %s", strerror(-r));
	run->pages->power = run->power;
}

void sx_run_power_tell(struct sx_run *run)
{
	struct sx_sampler_look look;

	if (!run->power)
		return;
	sx_sampler_look(run->power, sx_now_ns(), &look);
	if (look.changes == run->power_told)
		return;
	if (*look.source)
		sx_log(DAEMON, INFO, "power by %s: %s, %s", look.source, look.scope, look.device);
	else if (run->power_told)
		sx_log(DAEMON, WARNING, "the power sensor is lost: %s", look.reason);
	else if (run->settings->power.source != SX_POWER_AUTO)
		sx_log(DAEMON, WARNING, "power is not measured: %s", look.reason);
	else /* most computers have none that may be read; it is no fault */
		sx_log(DAEMON, INFO, "power is not measured: %s", look.reason);
	run->power_told = look.changes;
}

void sx_pages_read_power(struct sx_report *r, struct sx_sampler *power, int64_t now_ns)
{
	struct sx_report_power *to = &r->power;
	struct sx_sampler_look look;
	const struct sx_meter_figures *f = &look.figures;

	if (!power) {
		snprintf(to->reason, sizeof(to->reason), "power.source = none");
		return;
	}
	sx_sampler_look(power, now_ns, &look);
	memcpy(to->source, look.source, sizeof(to->source));
	memcpy(to->scope, look.scope, sizeof(to->scope));
	memcpy(to->device, look.device, sizeof(to->device));
	memcpy(to->reason, look.reason, sizeof(to->reason));
	to->watts = f->watts;
	to->watts_10s = f->watts_10s;
	to->joules_per_frame = f->joules_per_frame;
	to->fps_per_watt = f->fps_per_watt;
	to->interval_ms = look.interval_ms;
	if (f->age_ns < 0)
		return;
	to->stale = f->stale;
	to->age_ms = f->age_ns / 1000000;
	to->start_joules = f->joules;
	to->start_seconds = f->seconds;
	to->start_frames = (int64_t)f->frames;
	/* a card has clocks of its own */
	if (look.gpu_hz >= 0)
		r->board.gpu_hz = look.gpu_hz;
	if (look.gpu_max_hz >= 0)
		r->board.gpu_max_hz = look.gpu_max_hz;
	if (look.memory_hz >= 0)
		r->board.memory_hz = look.memory_hz;
}

void sx_pages_read_board(struct sx_report *r, const char *root)
{
	struct sx_report_board *to = &r->board;
	struct sx_board board;

	sx_board_read(&board, root);
	memcpy(to->model, board.model, sizeof(to->model));
	memcpy(to->mode, board.mode, sizeof(to->mode));
	memcpy(to->governor, board.governor, sizeof(to->governor));
	to->mode_id = board.mode_id;
	to->cpu_hz = board.cpu_hz;
	to->cpu_max_hz = board.cpu_max_hz;
	to->gpu_hz = board.gpu_hz;
	to->gpu_max_hz = board.gpu_max_hz;
	to->memory_hz = board.memory_hz;
}
