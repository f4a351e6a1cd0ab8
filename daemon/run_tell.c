/*
 * Reports of a run to status and service manager, and the time limit of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "daemon/run_priv.h"

int64_t sx_run_limit_ns(const struct sx_service *service)
{
	return service->watchdog_ns ? service->watchdog_ns : SX_HEALTH_LIMIT_NS;
}

void sx_run_tell_manager(struct sx_service *service, const struct sx_health *h, struct sx_telemetry *t)
{
	const char *state = sx_health_name(h->state);
	uint64_t published = sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED);

	if (*h->reason && strcmp(h->reason, state) != 0)
		sx_service_send(service, "STATUS=%s: %s", state, h->reason);
	else if (h->state == STIXEL_STATE_RUNNING && published > 1)
		sx_service_send(service, "STATUS=%s, %.1f fps, %llu frames, %llu dropped", state,
				sx_rate_get(&t->rate, 10, sx_now_ns()), (unsigned long long)published,
				(unsigned long long)sx_telemetry_count(t, SX_METRIC_DROPPED_OVERLOAD));
	else
		sx_service_send(service, "STATUS=%s", state);
}

/* Returns the engine's sentence on engine.volume; empty: the engine has no choice. */
static const char *volume_of(const struct sx_contexts *newest)
{
	sx_must(newest->count, >, 0);
	return newest->backend->volume ? newest->backend->volume(newest->context[0]) : "";
}

void sx_run_tell_engine(struct sx_core *core)
{
	const char *volume = volume_of(core->pipeline->newest);
	struct sx_report *report = sx_pages_edit(core->pages);
	const bool changed = strcmp(report->engine.volume, volume) != 0;

	snprintf(report->engine.volume, sizeof(report->engine.volume), "%s", volume);
	sx_report_count(report, SX_METRIC_ENGINE_MEMORY,
			(int64_t)core->engine.backend->memory(core->engine.device));
	sx_pages_done(core->pages);
	if (*volume && changed)
		sx_log(DAEMON, INFO, "%s", volume);
}
