/*
 * The pages of the status socket: /status, /metrics, /healthz, /config, /settings.
 *
 * Main stores what it knows once a tick; the HTTP thread copies that under a lock which the pipeline never
 * takes, and adds what the telemetry's atomics say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_PAGES_H
#define SX_DAEMON_PAGES_H

#include <pthread.h>

#include "capture/source.h"
#include "config/settings.h"
#include "daemon/exchange/orders.h"
#include "daemon/telemetry/telemetry.h"
#include "ipc/http/status.h"
#include "ipc/report.h"
#include "power/sampler.h"

struct sx_pages {
	pthread_mutex_t lock; /* over everything but telemetry */
	struct sx_report report;
	int64_t started_ns;
	bool serving;
	char *config, *settings; /* JSON, own */
	const struct sx_telemetry *telemetry;
	struct sx_stereo_params stereo; /* names the stages */
	struct sx_orders *orders;	/* take what is posted to /settings */
	struct sx_sampler *power;	/* set before it serves; NULL: not measured */
	const char *root;		/* where the board's files are; NULL: / */
	struct sx_status_server *server;
};

void sx_pages_init(struct sx_pages *p, const struct sx_telemetry *telemetry,
		   const struct sx_stereo_params *stereo, struct sx_orders *orders);
/* Serves on listen_fd, which is taken over; as sx_status_start(). */
int sx_pages_serve(struct sx_pages *p, int listen_fd, char *why, size_t why_bytes);
/* Stops the server; accepts one that was never started. */
void sx_pages_finish(struct sx_pages *p);

/* Thread: main. Between the two the report may be changed. */
struct sx_report *sx_pages_edit(struct sx_pages *p);
void sx_pages_done(struct sx_pages *p);
/* Thread: main, inside an edit. Copies what is to be told about a source. */
void sx_pages_set_source(struct sx_pages *p, const struct sx_source_params *params,
			 const struct sx_source_info *info);
/* Thread: main, inside an edit. What class scores and disparity maps are to come, and from where. */
void sx_pages_set_feeds(struct sx_pages *p, const struct sx_settings *settings);
/* Thread: main, inside an edit. Which files were read; relative names begin at the report's config.folder. */
void sx_pages_set_files(struct sx_pages *p, const struct sx_settings *settings);
/* Thread: HTTP. What power/ knows, as the report tells it; power may be NULL. */
void sx_pages_read_power(struct sx_report *r, struct sx_sampler *power, int64_t now_ns);
void sx_pages_read_board(struct sx_report *r, const char *root);
/* Thread: main, inside an edit. What /config and /settings say; both are taken over, and may be NULL. */
void sx_pages_set_config(struct sx_pages *p, char *config, char *settings);

#endif
