/*
 * The objects that make frames from pairs, count them and report them. They exist from the start of the
 * daemon to its end, except for the pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CORE_H
#define SX_DAEMON_CORE_H

#include "daemon/pages.h"
#include "daemon/pipeline.h"

/* Thread: main. */
struct sx_core {
	struct sx_settings *settings;  /* current settings; a live change updates them */
	struct sx_stixel_params start; /* stixel parameters at the start */
	struct sx_engine engine;
	struct sx_telemetry *telemetry;
	struct sx_pages *pages;
	struct sx_pipeline *pipeline; /* NULL: not made yet, or destroyed before another one is made */
};

#endif
