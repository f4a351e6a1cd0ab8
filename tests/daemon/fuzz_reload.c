/*
 * Fuzz target: any sequence of changes of a running configuration. The input has a configuration to start
 * with, a calibration file, and then requests ("SECTION.KEY=VALUE" lines, as of stixelctl set), files (as of
 * SIGHUP) and row corrections. The calibration file may change, too. A refused change has no effect on
 * the running settings. Accepted settings can run. If memory has failed, no change is accepted. A source that
 * draws its pictures knows their camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/text/file.h"
#include "daemon/change.h"
#include "daemon/health.h"
#include "ipc/frame.h"
#include "ipc/http/status.h"
#include "stages/params_check.h"
#include "stages/stixels/reduce.h"
#include "tests/fuzz/fails.h"

const unsigned fails_kinds = 1u << FAILS_MEMORY;

enum { CHANGES = 8, WIDTH = 320, HEIGHT = 160 };
enum {
	FILES,
	ORDER,
	ROWS,
	CALIBRATION = 4
}; /* kinds of changes, by their first byte; CALIBRATION takes effect with another change */

static const char configuration[] = "/nowhere/front.conf";
static const char *config_text, *calibration_text, *order_text;

int __wrap_sx_file_read(const char *path, size_t max, char **text, size_t *size, struct sx_why *why);
int __wrap_sx_file_read(const char *path, size_t max, char **text, size_t *size, struct sx_why *why)
{
	const char *content = strcmp(path, configuration) == 0 ? config_text : calibration_text;

	if (!content || strlen(content) > max) {
		sx_why_set(why, "%s", strerror(content ? EFBIG : ENOENT));
		return content ? -EFBIG : -ENOENT;
	}
	*size = strlen(content);
	*text = malloc(*size + 2);
	if (!*text)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	memcpy(*text, content, *size + 1);
	return 0;
}

/*
 * Returns the content of the request. In the daemon, requests come from the status socket, which this test
 * does not link.
 */
const char *sx_status_request_body(const struct sx_status_request *request)
{
	return order_text;
}

/* Computes the size as daemon/pipeline.c does for frames without images. */
size_t sx_pipeline_frame_bytes(const struct sx_pipeline *p, const struct sx_stixel_params *s)
{
	const uint32_t columns = (uint32_t)sx_reduce_columns((int)p->header.image_width, s->width);
	const uint32_t most = (uint32_t)s->max_per_column;

	return sx_frame_bytes_most(columns, columns * (most < HEIGHT ? most : HEIGHT), 0);
}

struct sx_frame_cost_case sx_pipeline_cost_case(const struct sx_pipeline *p, const struct sx_settings *s)
{
	return (struct sx_frame_cost_case){.stixels = &s->params.stixels,
					   .width = (int)p->header.image_width,
					   .height = (int)p->header.image_height};
}

/* What runs, and the change that is read. */
struct world {
	struct sx_settings settings;
	struct sx_origins origins;
	struct sx_pipeline pipeline;
	struct sx_contexts contexts;
	struct sx_row_control rows;
	struct sx_frame_cost cost;
	struct sx_change change;
};

/* Checks that accepted settings can run: the parameters are valid, and the frame has room. */
static void check_accepted(const struct world *w)
{
	const struct sx_change *c = &w->change;
	const struct sx_context_config config = sx_settings_context(&c->settings, &w->pipeline.info);
	struct sx_why why;

	if (!c->builds)
		return;
	if (sx_params_check(&c->settings.params, WIDTH, HEIGHT, &why) < 0)
		fuzz_fail("accepted: %s", why.text);
	if (config.width != (int)w->pipeline.header.image_width ||
	    config.height != (int)w->pipeline.header.image_height)
		fuzz_fail("accepted: contexts for %dx%d", config.width, config.height);
	if (sx_pipeline_frame_bytes(&w->pipeline, &c->settings.params.stixels) > w->pipeline.frame_bytes)
		fuzz_fail("accepted: frames that the ring has no room for");
}

/* Sets the source of a change and its text. */
static void set_up(struct world *w, const char *text, int what)
{
	w->change.from = what == ORDER	? SX_FROM_REQUEST
			 : what == ROWS ? SX_FROM_ROW_CORRECTION
					: SX_FROM_FILES;
	/* any pointer other than NULL means that there is a request */
	w->change.request = what == ORDER ? (struct sx_status_request *)w : NULL;
	w->rows.wants = what == ROWS;
	if (what == ROWS)
		w->rows.wanted = (struct sx_row_correction){0.25 * *text, 0.01 * (*text & 7)};
	else
		*(what == ORDER ? &order_text : &config_text) = text;
}

static void accept(struct world *w, int what)
{
	struct sx_change *c = &w->change;

	check_accepted(w);
	if (what == FILES && sx_change_same_file(c, &w->settings) !=
				     (c->settings.calibration && w->settings.calibration &&
				      !strcmp(c->settings.calibration, w->settings.calibration)))
		fuzz_fail("the same file, or another");
	w->origins = c->origins;
	sx_settings_take_live(&w->settings, &c->settings);
	w->rows.applied = c->correction;
}

/* Decides about the change as daemon/live.c does. */
static int decide(struct world *w, struct sx_errors *errors)
{
	static const struct sx_options options = {.file = configuration};
	const struct sx_running now = {&w->settings, &w->origins, &w->pipeline,
				       &w->rows,     &w->cost,	  SX_HEALTH_LIMIT_NS};
	struct sx_context_config next;
	int r = sx_change_read(&w->change, &now, &options, errors);

	if (r < 0)
		return r;
	sx_change_classify(&w->change, &now);
	r = sx_change_check(&w->change, &now, errors);
	if (r < 0 || !w->change.builds)
		return r;
	next = sx_settings_context(&w->change.settings, &w->pipeline.info);
	return sx_change_predict(&w->change, &next, &now, errors);
}

static void change(struct world *w, const char *text, int what)
{
	struct sx_errors errors = {0};
	struct sx_settings_diff diff;
	struct sx_settings before;
	int r;

	if (sx_settings_copy(&before, &w->settings) < 0)
		fuzz_fail("out of memory");
	set_up(w, text, what);
	fails_begin();
	r = decide(w, &errors);
	if (fails_end() && r == 0)
		fuzz_fail("accepted, though there was no memory");
	sx_settings_diff(&before, &w->settings, &diff);
	if (diff.changed || !sx_settings_same_camera(&before, &w->settings, &w->pipeline.info))
		fuzz_fail("reading a change has changed what runs: %s %s", diff.live_keys, diff.restart_keys);
	if (r < 0 && !errors.count && !errors.more)
		fuzz_fail("refused with %d, and no sentence", r);
	if (r == 0)
		accept(w, what);
	sx_settings_finish(&w->change.settings);
	sx_errors_print(&errors, fuzz_null());
	sx_errors_finish(&errors);
	sx_settings_finish(&before);
}

static void live(struct world *w, struct fuzz_input *in)
{
	char *calibration = NULL;

	for (int i = 0; i < CHANGES; i++) {
		char *text = fuzz_text(in);

		if (!text)
			break;
		if (*text == CALIBRATION) {
			free(calibration);
			calibration = text;
			calibration_text = text + 1;
			continue;
		}
		/* the first byte is the kind of change; the previous file stays until another is read */
		if (*text)
			change(w, text + 1, *text == ROWS ? ROWS : *text & 1);
		config_text = "";
		free(text);
	}
	free(calibration);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct sx_camera drawn = {
		.fx = 300, .fy = 300, .cx = WIDTH / 2, .cy = HEIGHT / 2, .baseline_m = 0.5};
	const struct sx_rig rig =
		sx_rig_of_rectified(WIDTH, HEIGHT, drawn.fx, drawn.fy, drawn.cx, drawn.cy, drawn.baseline_m);
	struct fuzz_input in = fails_input(data, bytes);
	char *file, *calibration;
	struct sx_why why;
	struct sx_errors errors = {0};
	struct world *w = calloc(1, sizeof(*w));
	struct sx_pipeline *pipeline = &w->pipeline;
	struct sx_settings *settings = &w->settings;

	file = fuzz_text(&in);
	calibration = fuzz_text(&in);
	config_text = file ? file : "";
	calibration_text = calibration;
	if (sx_settings_load_origins(settings, &w->origins, configuration, NULL, 0, true, &errors) == 0) {
		struct sx_context_config c;

		pipeline->info = (struct sx_source_info){.width = WIDTH, .height = HEIGHT};
		if (settings->source.kind == SX_SOURCE_SYNTHETIC)
			pipeline->info.camera = &drawn;
		if (pipeline->info.camera && settings->source.lenses &&
		    strcmp(settings->source.lenses, "ideal") != 0)
			pipeline->info.rig = &rig;
		c = sx_settings_context(settings, &pipeline->info);
		pipeline->header.image_width = (uint32_t)c.width;
		pipeline->header.image_height = (uint32_t)c.height;
		pipeline->frame_bytes = sx_pipeline_frame_bytes(pipeline, &settings->params.stixels);
		w->contexts = (struct sx_contexts){.count = 1, .plan = {.config = c, .count = 1}};
		pipeline->newest = &w->contexts;
		/* with other settings the daemon would not have started */
		if (sx_settings_check_source(settings, &pipeline->info, &why) == 0 && pipeline->frame_bytes)
			live(w, &in);
		sx_settings_finish(settings);
	}
	sx_errors_finish(&errors);
	free(w);
	free(file);
	free(calibration);
	return 0;
}
