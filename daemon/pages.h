/*
 * The pages of the status socket: /status, /metrics, /healthz, /config, /settings.
 *
 * Once a tick main stores its metrics in a report. The HTTP thread copies the report under a lock that the
 * pipeline never takes, and adds the atomics of the telemetry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_PAGES_H
#define SX_DAEMON_PAGES_H

#include <pthread.h>

#include "base/why.h"
#include "capture/source.h"
#include "config/settings.h"
#include "daemon/channels/requests.h"
#include "daemon/telemetry/telemetry.h"
#include "ipc/http/status.h"
#include "ipc/report.h"
#include "power/sampler.h"

struct sx_pages {
	pthread_mutex_t lock; /* protects everything but telemetry */
	struct sx_report report;
	int64_t started_ns;
	bool serving;
	char folder[4096];	 /* working directory at the start; report.config.folder points here */
	char *config, *settings; /* JSON; owned by this struct */
	const struct sx_telemetry *telemetry;
	struct sx_stereo_params stereo; /* parameters that decide the names of the stages */
	struct sx_requests *requests;	/* queue for the bodies that clients POST to /settings */
	struct sx_sampler *power;	/* set before sx_pages_serve(); NULL: power is not measured */
	const char *root;		/* root of the file system with the board's files; NULL: / */
	struct sx_status_server *server;
};

void sx_pages_init(struct sx_pages *p, const struct sx_telemetry *telemetry,
		   const struct sx_stereo_params *stereo, struct sx_requests *requests);
/* Takes over listen_fd and serves on it. Errors as sx_status_start(). */
int sx_pages_serve(struct sx_pages *p, int listen_fd, struct sx_why *why);
/* Stops the server, if it was started. */
void sx_pages_finish(struct sx_pages *p);

/* Thread: main. Locks and returns the report, which main may change until sx_pages_done(). */
struct sx_report *sx_pages_edit(struct sx_pages *p);
void sx_pages_done(struct sx_pages *p);
/* Thread: main, inside an edit. Copies the properties of a source to the report. */
void sx_pages_set_source(struct sx_pages *p, const struct sx_source_params *params,
			 const struct sx_source_info *info);
/*
 * Thread: main, inside an edit. Sets which class scores and disparity maps are expected, and their sources.
 */
void sx_pages_set_feeds(struct sx_pages *p, const struct sx_settings *settings);
/*
 * Thread: main, inside an edit. Sets which configuration files were read. Relative names are relative to the
 * report's config.folder.
 */
void sx_pages_set_files(struct sx_pages *p, const struct sx_settings *settings);
/* Sets motion.mode. Thread: main, inside an edit. */
void sx_pages_set_motion(struct sx_pages *p, const struct sx_settings *settings);
/* Thread: HTTP. Writes the measurements of power/ to the report; power may be NULL. */
void sx_pages_read_power(struct sx_report *r, struct sx_sampler *power, int64_t now_ns);
void sx_pages_read_board(struct sx_report *r, const char *root);
/*
 * Thread: main, inside an edit. Sets the texts of /config and /settings. Takes over both; each may be NULL.
 */
void sx_pages_set_config(struct sx_pages *p, char *config, char *settings);

#endif
