/*
 * Texts about a live change: pages, log, and the answer to a request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/log.h"
#include "daemon/live.h"

static char *config_text(const struct sx_live *l, const struct sx_settings *settings)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	sx_config_json(settings, l->origins, to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/*
 * Returns the absolute path of the main file, or NULL. Resolves links in its folder but not the file itself,
 * because its folder of drop-ins has the name of the link. The caller frees the path.
 */
static char *whole_path(const char *file)
{
	const char *slash = strrchr(file, '/');
	char folder[PATH_MAX], *real, *path = NULL;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
	real = realpath(folder, NULL);
	if (real &&
	    asprintf(&path, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? slash + 1 : file) < 0)
		path = NULL;
	free(real);
	return path;
}

static void json_file(const struct sx_options *o, FILE *to)
{
	char *path = o->file ? whole_path(o->file) : NULL;

	fputs("{\"file\":", to);
	if (o->file)
		sx_config_json_string(path ? path : o->file, to);
	else
		fputs("null", to);
	fputs(",\"overrides\":[", to);
	for (int i = 0; i < o->override_count; i++) {
		fputs(i ? "," : "", to);
		sx_config_json_string(o->overrides[i], to);
	}
	fputc(']', to);
	free(path);
}

/* Writes the keys that were set live, with the values that a reload would restore. */
static void json_configured(const struct sx_live *l, FILE *to)
{
	const char *section;
	int count = 0;

	fputc('{', to);
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		for (int name = 0; sx_origin_is_live(l->origins, o) && (section = sx_option_section(o, name));
		     name++) {
			fprintf(to, "%s\"%s.%s\":", count++ ? "," : "", section, o->key);
			sx_config_json_string(l->configured[i], to);
		}
	}
	fputc('}', to);
}

/*
 * Returns the text of GET /settings: the main file, the values of -s, number and first frame of changes, all
 * keys, the configured values of keys that were set live, and the option table. The caller frees it.
 */
static char *settings_text(const struct sx_live *l, const struct sx_settings *settings,
			   const struct sx_options *options)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	json_file(options, to);
	fprintf(to, ",\"changes\":%lu,\"frame\":%llu,\"keys\":", l->history.changes,
		(unsigned long long)l->history.frame);
	sx_config_json_texts(settings, l->origins, to);
	fputs(",\"configured\":", to);
	json_configured(l, to);
	fputs(",\"sections\":", to);
	sx_config_json_sections(true, to);
	fputs(",\"options\":", to);
	sx_config_json_options(true, to);
	fputs("}\n", to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

void sx_live_tell_pages(const struct sx_live *l, const struct sx_settings *settings,
			const struct sx_options *options, struct sx_pages *pages)
{
	sx_pages_edit(pages);
	sx_pages_set_config(pages, config_text(l, settings), settings_text(l, settings, options));
	sx_pages_set_files(pages, settings);
	sx_pages_set_motion(pages, settings);
	sx_pages_done(pages);
}

/* Writes a value for people: real numbers with six digits, an empty text as a word. */
static void say_value(const struct sx_option *o, const struct sx_settings *s, char text[SX_OPTION_TEXT_BYTES])
{
	sx_option_write(o, s, text);
	if (o->kind == SX_OPTION_REAL)
		snprintf(text, SX_OPTION_TEXT_BYTES, "%.6g", strtod(text, NULL));
	else if (!*text)
		snprintf(text, SX_OPTION_TEXT_BYTES, "empty");
}

char *sx_live_done_text(const struct sx_change *c, const struct sx_settings *now, uint64_t frame)
{
	char was[SX_OPTION_TEXT_BYTES], is[SX_OPTION_TEXT_BYTES], *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	for (int i = 0; to && i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (sx_option_equal(o, now, &c->settings))
			continue;
		say_value(o, now, was);
		say_value(o, &c->settings, is);
		fprintf(to, "%s.%s = %s (was %s)\n", o->section, o->key, is, was);
	}
	if (to && c->recalibrates && sx_change_same_file(c, now))
		fprintf(to, "%s was read again\n", c->settings.calibration);
	if (to && c->builds && frame)
		fprintf(to, "from frame %llu on\n", (unsigned long long)frame);
	if (to && c->diff.changed == 0)
		fputs("nothing changed: so it was already\n", to);
	if (to && fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

void sx_live_tell_done(const struct sx_change *c, uint64_t frame, const char *text)
{
	const char *how = c->request ? "set live" : "reloaded";
	char from[48] = "";

	sx_must(c->diff.changed, >=, c->diff.restart);
	if (c->builds)
		snprintf(from, sizeof(from), ", from frame %llu on", (unsigned long long)frame);
	if (c->diff.changed > c->diff.restart)
		sx_log(CONFIG, NOTICE, "%s, changed: %s%s", how, c->diff.live_keys, from);
	else
		sx_log(CONFIG, NOTICE, "%s, nothing changed that can change live", how);
	if (c->diff.restart > 0)
		sx_log(CONFIG, WARNING, "not applied, needs a restart: %s", c->diff.restart_keys);
	if (c->request)
		sx_status_request_answer(c->request, 200, text ? text : "changed\n");
}

/*
 * Returns the HTTP status of a refusal. 422: wrong values, or keys that need a restart; 409: values that need
 * a restart; 507: no memory; 503: not now; 500: the engine failed.
 */
static unsigned http_status(int r)
{
	switch (r) {
	case -EINVAL:
	case -ENOTSUP:
		return 422;
	case -EBUSY:
		return 409;
	case -ENOMEM:
		return 507;
	case -ENODEV:
	case -ESHUTDOWN:
	case -EAGAIN:
		return 503;
	default:
		return 500;
	}
}

static void answer_refused(struct sx_status_request *request, int r, const struct sx_errors *errors)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (to)
		sx_errors_print(errors, to);
	if (to && fclose(to) != 0) {
		free(text);
		text = NULL;
	}
	sx_status_request_answer(request, http_status(r), text ? text : "refused, and out of memory\n");
	free(text);
}

/*
 * Reports a refused change. The client of a request gets every error, and the log gets one line, so that a
 * client cannot fill the log. Errors in files are all logged.
 */
void sx_live_tell_refused(const struct sx_change *c, int r, const struct sx_errors *errors)
{
	sx_must(r, <, 0);
	if (c->request) {
		sx_log(CONFIG, NOTICE, "set refused: %s",
		       errors->count > 0 ? errors->text[0] : "out of memory");
		answer_refused(c->request, r, errors);
		return;
	}
	for (int i = 0; i < errors->count; i++)
		sx_log(CONFIG, ERROR, "%s", errors->text[i]);
	if (errors->more > 0)
		sx_log(CONFIG, ERROR, "and %d more", errors->more);
	sx_log(CONFIG, ERROR, "reload refused: the settings stay as they were");
}

void sx_live_log_row_correction(const struct sx_change *c, const struct sx_row_control *now, uint64_t frame)
{
	const struct sx_row_correction *was = &now->applied, *is = &c->correction;
	char found[80] = "";

	sx_must(frame, >, 0);
	if (c->recalibrates)
		snprintf(found, sizeof(found), "; those of another calibration begin at 0");
	if (c->from == SX_FROM_ROW_CORRECTION)
		snprintf(found, sizeof(found), "; left third was %+.2f px out of line, right %+.2f",
			 now->left, now->right);
	sx_log(DAEMON, NOTICE,
	       "rows of the right image are corrected by %+.2f px and %+.3f degrees (was %+.2f, %+.3f), from "
	       "frame %llu on%s",
	       is->shift_px, is->rotation_deg, was->shift_px, was->rotation_deg, (unsigned long long)frame,
	       found);
}
