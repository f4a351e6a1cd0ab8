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

int64_t sx_run_limit_ns(const struct sx_run *run)
{
	return run->service.watchdog_ns ? run->service.watchdog_ns : SX_HEALTH_LIMIT_NS;
}

void sx_run_tell_manager(struct sx_run *run)
{
	const struct sx_health *h = &run->health;
	const char *state = sx_health_name(h->state);
	uint64_t published = sx_telemetry_count(run->telemetry, SX_FIG_FRAMES_PUBLISHED);

	if (*h->reason && strcmp(h->reason, state) != 0)
		sx_service_send(&run->service, "STATUS=%s: %s", state, h->reason);
	else if (h->state == STIXEL_STATE_RUNNING && published > 1)
		sx_service_send(
			&run->service, "STATUS=%s, %.1f fps, %llu frames, %llu dropped", state,
			sx_rate_get(&run->telemetry->rate, 10, sx_now_ns()), (unsigned long long)published,
			(unsigned long long)sx_telemetry_count(run->telemetry, SX_FIG_DROPPED_OVERLOAD));
	else
		sx_service_send(&run->service, "STATUS=%s", state);
}

/* Returns the engine's sentence on engine.volume; empty: the engine has no choice. */
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
