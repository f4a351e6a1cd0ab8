/*
 * Fuzz target: any sequence of changes of a running configuration. The input has a configuration to start
 * with, a calibration file, and then orders ("SECTION.KEY=VALUE" lines, as of stixelctl set), files (as of
 * SIGHUP) and corrections of rows. The calibration file may change, too. A refused change has no effect on
 * the running settings. Accepted settings can run. If memory has failed, no change is accepted. A source that
 * draws its pictures knows their camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/text/file.h"
#include "daemon/run_priv.h"
#include "ipc/frame.h"
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
 * Returns the content of the order. In the daemon, orders come from the status socket, which this test does
 * not link.
 */
const char *sx_status_order_body(const struct sx_status_order *order)
{
	return order_text;
}

int64_t sx_run_limit_ns(const struct sx_run *run)
{
	return SX_HEALTH_LIMIT_NS;
}

/* Computes the size as daemon/pipeline.c does for frames without images. */
size_t sx_pipeline_frame_bytes(const struct sx_pipeline *p, const struct sx_stixel_params *s)
{
	const uint32_t columns = (uint32_t)sx_reduce_columns((int)p->header.image_width, s->width);
	const uint32_t most = (uint32_t)s->max_per_column;

	return sx_frame_bytes(columns, columns * (most < HEIGHT ? most : HEIGHT), 0);
}

/* Checks that accepted settings can run: the parameters are valid, and the frame has room. */
static void check_accepted(const struct sx_run *run)
{
	const struct sx_live *l = &run->live;
	const struct sx_context_config c = sx_settings_context(&l->settings, &run->pipeline->info);
	struct sx_why why;

	if (!l->builds)
		return;
	if (sx_params_check(&l->settings.params, WIDTH, HEIGHT, &why) < 0)
		fuzz_fail("accepted: %s", why.text);
	if (c.width != (int)run->pipeline->header.image_width ||
	    c.height != (int)run->pipeline->header.image_height)
		fuzz_fail("accepted: contexts for %dx%d", c.width, c.height);
	if (sx_pipeline_frame_bytes(run->pipeline, &l->settings.params.stixels) > run->pipeline->frame_bytes)
		fuzz_fail("accepted: frames that the ring has no room for");
}

/* Sets the source of a change and its text. */
static void set_up(struct sx_run *run, const char *text, int what)
{
	struct sx_live *l = &run->live;

	l->from = what == ORDER ? SX_LIVE_ORDER : what == ROWS ? SX_LIVE_ROWS : SX_LIVE_FILES;
	/* only a non-NULL marker: there is an order */
	l->order = what == ORDER ? (struct sx_status_order *)run : NULL;
	run->rows.wants = what == ROWS;
	if (what == ROWS)
		run->rows.wanted = (struct sx_row_correction){0.25 * *text, 0.01 * (*text & 7)};
	else
		*(what == ORDER ? &order_text : &config_text) = text;
}

static void accept(struct sx_run *run, int what)
{
	struct sx_live *l = &run->live;

	check_accepted(run);
	if (what == FILES &&
	    sx_live_same_file(run) != (l->settings.calibration && run->settings->calibration &&
				       !strcmp(l->settings.calibration, run->settings->calibration)))
		fuzz_fail("the same file, or another");
	*l->origins = l->settings_origins;
	sx_settings_take_live(run->settings, &l->settings);
	run->rows.applied = l->correction;
}

static void change(struct sx_run *run, const char *text, int what)
{
	struct sx_live *l = &run->live;
	struct sx_errors errors = {0};
	struct sx_settings_diff diff;
	struct sx_settings before;
	int r;

	if (sx_settings_copy(&before, run->settings) < 0)
		fuzz_fail("out of memory");
	set_up(run, text, what);
	fails_begin();
	r = sx_live_read(run, &errors);
	if (fails_end() && r == 0)
		fuzz_fail("accepted, though there was no memory");
	sx_settings_diff(&before, run->settings, &diff);
	if (diff.changed || !sx_settings_same_camera(&before, run->settings, &run->pipeline->info))
		fuzz_fail("reading a change has changed what runs: %s %s", diff.live_keys, diff.restart_keys);
	if (r < 0 && !errors.count && !errors.more)
		fuzz_fail("refused with %d, and no sentence", r);
	if (r == 0)
		accept(run, what);
	sx_settings_finish(&l->settings);
	sx_errors_print(&errors, fuzz_null());
	sx_errors_finish(&errors);
	sx_settings_finish(&before);
}

static void live(struct sx_run *run, struct fuzz_input *in)
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
			change(run, text + 1, *text == ROWS ? ROWS : *text & 1);
		config_text = "";
		free(text);
	}
	free(calibration);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct sx_options options = {.file = configuration};
	static const struct sx_camera drawn = {
		.fx = 300, .fy = 300, .cx = WIDTH / 2, .cy = HEIGHT / 2, .baseline_m = 0.5};
	const struct sx_rig rig =
		sx_rig_of_rectified(WIDTH, HEIGHT, drawn.fx, drawn.fy, drawn.cx, drawn.cy, drawn.baseline_m);
	static struct sx_origins origins;
	struct fuzz_input in = fails_input(data, bytes);
	char *file, *calibration;
	struct sx_why why;
	struct sx_settings settings = {0};
	struct sx_errors errors = {0};
	struct sx_pipeline *pipeline = calloc(1, sizeof(*pipeline));
	struct sx_run *run = calloc(1, sizeof(*run));

	file = fuzz_text(&in);
	calibration = fuzz_text(&in);
	config_text = file ? file : "";
	calibration_text = calibration;
	memset(&origins, 0, sizeof(origins));
	if (sx_settings_load_origins(&settings, &origins, configuration, NULL, 0, true, &errors) == 0) {
		struct sx_context_config c;

		pipeline->info = (struct sx_source_info){.width = WIDTH, .height = HEIGHT};
		if (settings.source.kind == SX_SOURCE_SYNTHETIC)
			pipeline->info.camera = &drawn;
		if (pipeline->info.camera && settings.source.lenses &&
		    strcmp(settings.source.lenses, "ideal") != 0)
			pipeline->info.rig = &rig;
		c = sx_settings_context(&settings, &pipeline->info);
		pipeline->header.image_width = (uint32_t)c.width;
		pipeline->header.image_height = (uint32_t)c.height;
		pipeline->frame_bytes = sx_pipeline_frame_bytes(pipeline, &settings.params.stixels);
		run->options = &options;
		run->settings = &settings;
		run->pipeline = pipeline;
		run->live.origins = &origins;
		/* otherwise the daemon would not have started */
		if (sx_settings_check_size(&settings, WIDTH, HEIGHT, &why) == 0 && pipeline->frame_bytes)
			live(run, &in);
		sx_settings_finish(&settings);
	}
	sx_errors_finish(&errors);
	free(run);
	free(pipeline);
	free(file);
	free(calibration);
	return 0;
}
