/*
 * SIGHUP: what can change live does, what cannot is named, and a wrong file changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/run_priv.h"

char *sx_run_config_json(const struct sx_settings *s)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	sx_config_json(s, to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

static void log_errors(const struct sx_errors *errors)
{
	for (int i = 0; i < errors->count; i++)
		sx_log(CONFIG, ERROR, "%s", errors->text[i]);
	if (errors->more > 0)
		sx_log(CONFIG, ERROR, "and %d more", errors->more);
	sx_log(CONFIG, ERROR, "reload refused: the settings stay as they were");
}

static void apply(struct sx_run *run, const struct sx_settings *new)
{
	struct sx_settings_diff diff;
	struct sx_log_levels levels;
	char why[SX_WHY_BYTES];

	sx_settings_diff(run->settings, new, &diff);
	if (sx_settings_take_live(run->settings, new) < 0) {
		sx_log(CONFIG, ERROR, "reload refused: out of memory");
		return;
	}
	if (run->settings->log_levels &&
	    sx_log_levels_parse(&levels, run->settings->log_levels, why, sizeof(why)) == 0)
		sx_log_levels_set(&levels);
	sx_pages_edit(run->pages);
	sx_pages_set_config(run->pages, sx_run_config_json(run->settings));
	sx_pages_set_files(run->pages, new);
	sx_pages_done(run->pages);
	if (diff.changed > diff.restart)
		sx_log(CONFIG, NOTICE, "reloaded, changed: %s", diff.live_keys);
	else
		sx_log(CONFIG, NOTICE, "reloaded, nothing changed that can change live");
	if (diff.restart > 0)
		sx_log(CONFIG, WARNING, "not applied, needs a restart: %s", diff.restart_keys);
}

void sx_run_reload(struct sx_run *run)
{
	struct sx_settings new = {0};
	struct sx_errors errors = {0};
	int r;

	/* Type=notify-reload wants the time; older managers ignore it. */
	sx_service_send(&run->service, "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=rereading the configuration",
			(long long)(sx_now_ns() / 1000));
	r = sx_settings_load(&new, run->options->file, run->options->overrides, run->options->override_count,
			     true, &errors);
	if (r < 0) {
		log_errors(&errors);
	} else {
		apply(run, &new);
		sx_settings_finish(&new);
	}
	sx_errors_finish(&errors);
	sx_service_ready(&run->service, NULL);
}
