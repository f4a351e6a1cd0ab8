/*
 * The end of the run: its exit code and the last lines of the log, with or without the frame in flight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/log.h"
#include "daemon/run_priv.h"

/* Returns the exit code for the reason why a pipeline ended; 0: no failure. */
static int failure_of(enum sx_end end)
{
	switch (end) {
	case SX_END_DATA:
		return SX_EXIT_DATA;
	case SX_END_ENGINE:
		return SX_EXIT_FAILED;
	case SX_END_TAKEN:
		return SX_EXIT_CREATE;
	default:
		return 0;
	}
}

void sx_run_drain_log(const struct sx_run *run)
{
	if (!run->service.member)
		sx_log_drain();
}

int sx_run_give_up(struct sx_run *run)
{
	const enum sx_end end = atomic_load(&run->core.pipeline->end);
	int code = failure_of(end);

	sx_must_be(run->stop.ordered);
	if (code == 0 && (run->stop.deaf || !run->stop.hurry))
		code = SX_EXIT_FAILED;
	sx_run_drain_log(run);
	/*
	 * This thread wrote why for SX_END_TAKEN. After a failure of the engine another thread may still be
	 * writing why.
	 */
	if (end == SX_END_TAKEN)
		sx_log(DAEMON, ERROR, "%s: ending", run->core.pipeline->why.text);
	sx_log(DAEMON, ERROR, "the frame in flight did not finish: exiting without it");
	if (run->core.pipeline->ring)
		sx_ring_unname(run->core.pipeline->ring);
	if (run->core.pipeline->feeds.pair_publisher.ring)
		sx_ring_unname(run->core.pipeline->feeds.pair_publisher.ring);
	if (run->core.pipeline->stream && run->folder.stream_fd < 0 && sx_run_folder_holds(&run->folder))
		unlink(run->folder.stream_path);
	if (sx_run_folder_holds(&run->folder))
		sx_run_folder_unlink(&run->folder);
	if (!run->service.member)
		_exit(code);
	run->stop.given_up = true;
	return code;
}

int sx_run_end(const struct sx_run *run)
{
	const enum sx_end end = atomic_load(&run->core.pipeline->end);
	char no_map[48] = "";
	int code = failure_of(end);

	if (code)
		sx_log(DAEMON, ERROR, end == SX_END_TAKEN ? "%s: ending" : "%s",
		       run->core.pipeline->why.text);
	else if (run->stop.deaf)
		code = SX_EXIT_FAILED;
	if (run->core.settings->params.stereo.matcher == SX_MATCH_EXTERNAL)
		snprintf(no_map, sizeof(no_map), ", %llu without a disparity map",
			 (unsigned long long)sx_telemetry_count(run->core.telemetry,
								SX_METRIC_DROPPED_NO_MAP));
	sx_log(DAEMON, INFO, "%llu frames published, %llu pairs dropped by overload, %llu unreadable%s",
	       (unsigned long long)sx_telemetry_count(run->core.telemetry, SX_METRIC_FRAMES_PUBLISHED),
	       (unsigned long long)sx_telemetry_count(run->core.telemetry, SX_METRIC_DROPPED_OVERLOAD),
	       (unsigned long long)sx_telemetry_count(run->core.telemetry, SX_METRIC_DROPPED_CORRUPT),
	       no_map);
	return code;
}
