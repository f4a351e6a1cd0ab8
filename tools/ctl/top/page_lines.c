/*
 * Draws the lines of a page: frames, drops, power, classes, ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "tools/ctl/answer.h"
#include "tools/ctl/top/page_priv.h"

enum {
	LABEL = 9,
	CURVE = 54,
	SPARK = 40
}; /* columns: width of a line's name, start of its curve, largest width of the curve */

/* Place of a line: canvas, row, and end column. */
struct line {
	struct sx_canvas *c;
	const struct sx_top *t;
	json_t *j;
	int y, end;
};

static int say(const struct line *l, int x, enum sx_canvas_colour colour, const char *text)
{
	return sx_canvas_text(l->c, x, l->y, l->end, colour, "%s", text);
}

static int label(const struct line *l, const char *text)
{
	say(l, 0, SX_C_LABEL, text);
	return LABEL;
}

/*
 * Draws "words 12  ", with a warning colour if the counter is not 0. Draws nothing if the daemon does not
 * report the counter.
 */
static int counter(const struct line *l, int x, const char *path, const char *words)
{
	const char *n = sx_answer_number(l->j, path, 1, 0);

	if (strcmp(n, "-") == 0)
		return x;
	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "%s ", words);
	return say(l, x, strcmp(n, "0") != 0 ? SX_C_WARN : SX_C_PLAIN, n) + 2;
}

static double largest(const struct sx_top_history *h, int newest)
{
	double top = 0.0;

	for (int i = h->count > newest ? h->count - newest : 0; i < h->count; i++)
		if (h->value[i] > top)
			top = h->value[i];
	return top;
}

/* Draws a curve after the words if there is room. */
static void curve(const struct line *l, int x, const struct sx_top_history *h)
{
	int from = x + 2 > CURVE ? x + 2 : CURVE, width = l->end - from - 1;

	width = width > SPARK ? SPARK : width;
	if (width >= 6 && h->count > 1)
		sx_canvas_spark(l->c, from, l->y, width, h->value, h->count, largest(h, width));
}

/* ---- the lines ----------------------------------------------------------------------------------------- */

static void line_frames(const struct line *l)
{
	int x = label(l, "frames");

	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_GOOD, "%s/s",
			   sx_answer_number(l->j, "fps.last_1s", 1, 1));
	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "  10 s: %s  published %s of %s",
			   sx_answer_number(l->j, "fps.last_10s", 1, 1),
			   sx_answer_number(l->j, "frames.published", 1, 0),
			   sx_answer_number(l->j, "frames.captured", 1, 0));
	curve(l, x, &l->t->fps);
}

static void line_latency(const struct line *l)
{
	int x = label(l, "latency");

	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_GOOD, "%s ms",
			   sx_answer_number(l->j, "latency_1s_us.capture_to_publish.p50", 1e-3, 1));
	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "  p99 %s ms, 10 s: %s ms",
			   sx_answer_number(l->j, "latency_1s_us.capture_to_publish.p99", 1e-3, 1),
			   sx_answer_number(l->j, "latency_10s_us.capture_to_publish.p99", 1e-3, 1));
	curve(l, x, &l->t->p99_ms);
}

static void line_drops(const struct line *l)
{
	int x = label(l, "dropped");

	x = counter(l, x, "frames.dropped.overload", "overload");
	x = counter(l, x, "frames.dropped.unpaired", "unpaired");
	x = counter(l, x, "frames.dropped.corrupt", "corrupt");
	if (json_is_string(sx_answer_find(l->j, "external.source")))
		x = counter(l, x, "frames.dropped.no_map", "without a map");
	x = counter(l, x, "stream.dropped", "by slow clients");
	counter(l, x, "log.lost", "log lines");
}

static void line_power(const struct line *l)
{
	json_t *watts = sx_answer_find(l->j, "power.watts");
	const char *reason = json_string_value(sx_answer_find(l->j, "power.reason"));
	bool stale = json_is_true(sx_answer_find(l->j, "power.stale"));
	int x = label(l, "power");

	if (!json_is_number(watts)) {
		x = say(l, x, SX_C_DIM, stale ? "stale" : "not known");
		if (reason) {
			x = say(l, x, SX_C_DIM, ": ");
			say(l, x, SX_C_DIM, reason);
		}
		return;
	}
	x = sx_canvas_text(l->c, x, l->y, l->end, stale ? SX_C_WARN : SX_C_GOOD, "%s W",
			   sx_answer_number(l->j, "power.watts", 1, 1));
	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, " (%s%s)  %s J/frame  %s fps/W",
			   sx_answer_text(l->j, "power.scope"), stale ? ", stale" : "",
			   sx_answer_number(l->j, "power.joules_per_frame", 1, 3),
			   sx_answer_number(l->j, "power.fps_per_watt", 1, 2));
	curve(l, x, &l->t->watts);
}

/* Draws the board with its clocks in GHz, as far as they are known. */
static void line_board(const struct line *l)
{
	static const char *const clocks[3][2] = {
		{"board.cpu_hz", "cpu"}, {"board.gpu_hz", "gpu"}, {"board.memory_hz", "memory"}};
	const char *mode = json_string_value(sx_answer_find(l->j, "board.power_mode.name"));
	const char *governor = json_string_value(sx_answer_find(l->j, "board.governor"));
	int x = label(l, "board");

	x = say(l, x, SX_C_PLAIN, sx_answer_text(l->j, "board.model"));
	if (mode)
		x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, ", mode %s", mode);
	if (governor)
		x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, ", governor %s", governor);
	for (int i = 0; i < 3; i++)
		if (json_is_number(sx_answer_find(l->j, clocks[i][0])))
			x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "  %s %s GHz", clocks[i][1],
					   sx_answer_number(l->j, clocks[i][0], 1e-9, 2));
}

static void line_road(const struct line *l)
{
	bool measured = strcmp(sx_answer_text(l->j, "road.origin"), "measured") == 0;
	int x = label(l, "road");

	x = say(l, x, measured ? SX_C_PLAIN : SX_C_WARN, sx_answer_text(l->j, "road.origin"));
	sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN,
		       ", height %s m, pitch %s, roll %s deg, horizon row %s, %s frames old",
		       sx_answer_estimate(l->j, "road.height_m", "road.height_sigma_m", 2),
		       sx_answer_estimate(l->j, "road.pitch_deg", "road.pitch_sigma_deg", 2),
		       sx_answer_estimate(l->j, "road.roll_deg", "road.roll_sigma_deg", 2),
		       sx_answer_number(l->j, "road.horizon_row", 1, 1),
		       sx_answer_number(l->j, "road.age_frames", 1, 0));
}

/* Draws the motion of the camera, and what it says about distances. */
static void line_motion(const struct line *l)
{
	const bool wrong = json_is_true(sx_answer_find(l->j, "motion.range.wrong"));
	int x = label(l, "motion");

	if (json_is_number(sx_answer_find(l->j, "motion.speed_m_s")))
		x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "%s m/s, %s deg/s; ",
				   sx_answer_number(l->j, "motion.speed_m_s", 1, 1),
				   sx_answer_number(l->j, "motion.yaw_rate_deg_s", 1, 1));
	else
		x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_WARN, "unknown: %s; ",
				   sx_answer_text(l->j, "motion.state"));
	say(l, x, wrong ? SX_C_BAD : SX_C_PLAIN, sx_answer_range(l->j));
}

static void line_images(const struct line *l)
{
	say(l, label(l, "pictures"), SX_C_PLAIN, sx_answer_images(l->j));
}

static void line_rows(const struct line *l)
{
	say(l, label(l, "rows"), SX_C_PLAIN, sx_answer_rows(l->j));
}

static void line_stixels(const struct line *l)
{
	int x = label(l, "stixels");

	sx_canvas_text(
		l->c, x, l->y, l->end, SX_C_PLAIN,
		"%s a frame, %s pixels each   readers: %s on frames.sock, images left %s, disparity %s",
		sx_answer_number(l->j, "stixels.per_frame", 1, 0),
		sx_answer_number(l->j, "stixels.pixels_per_stixel", 1, 0),
		sx_answer_number(l->j, "stream.clients", 1, 0), sx_answer_text(l->j, "images.left"),
		sx_answer_text(l->j, "images.disparity"));
}

/* Draws the classes of the newest frame, with their shares of the pixels of its stixels, largest first. */
static void line_classes(const struct line *l)
{
	const struct stixel_frame *f = l->t->frame;
	json_t *classes = sx_answer_find(l->j, "semantics.classes");
	uint64_t pixels[STIXEL_CLASSES_MAX + 1] = {0}, all = 0; /* the last: without a class */
	int x = label(l, "classes");

	for (uint32_t i = 0; f && i < f->header->stixel_count; i++) {
		const struct stixel *s = &f->stixels[i];
		const unsigned of = s->label < STIXEL_CLASSES_MAX ? s->label : STIXEL_CLASSES_MAX;

		pixels[of] += s->row_bottom - s->row_top + 1u;
		all += s->row_bottom - s->row_top + 1u;
	}
	for (int most; all > 0; pixels[most] = 0) {
		const char *name;

		most = 0;
		for (int i = 1; i <= STIXEL_CLASSES_MAX; i++)
			most = pixels[i] > pixels[most] ? i : most;
		if (pixels[most] * 100 < all) /* below one percent */
			return;
		name = json_string_value(json_object_get(json_array_get(classes, (size_t)most), "name"));
		x = sx_canvas_text(l->c, x, l->y, l->end, most == STIXEL_CLASSES_MAX ? SX_C_DIM : SX_C_PLAIN,
				   "%s %d %%  ",
				   most == STIXEL_CLASSES_MAX ? "no class"
				   : name		      ? name
							      : "?",
				   (int)((pixels[most] * 100 + all / 2) / all));
	}
}

static void line_engine(const struct line *l)
{
	int x = label(l, "engine");

	sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "%s: %s, %s MB, input %s",
		       sx_answer_text(l->j, "engine.backend"), sx_answer_text(l->j, "engine.device"),
		       sx_answer_number(l->j, "engine.memory_bytes", 1e-6, 0),
		       sx_answer_text(l->j, "engine.input.path"));
}

static void line_source(const struct line *l)
{
	json_t *camera = json_array_get(sx_answer_find(l->j, "source.cameras"), 0);
	const char *writer = json_string_value(sx_answer_find(l->j, "source.writer"));
	int x = label(l, "source");

	sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN,
		       "%s%s%.40s %s x %s %s, memory %s, stamps: %s, skew p99 %s us",
		       sx_answer_text(l->j, "source.kind"), writer ? " by " : "", writer ? writer : "",
		       sx_answer_number(camera, "width", 1, 0), sx_answer_number(camera, "height", 1, 0),
		       sx_answer_text(camera, "format"), sx_answer_text(l->j, "source.memory"),
		       sx_answer_text(l->j, "source.stamp"),
		       sx_answer_number(l->j, "source.pair_skew_us.p99", 1, 0));
}

static void line_camera(const struct line *l, size_t which)
{
	json_t *camera = json_array_get(sx_answer_find(l->j, "source.cameras"), which);
	struct line of = *l;
	const char *reason;
	json_t *images;
	int x = label(l, sx_answer_text(camera, "side"));

	of.j = camera;
	x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_PLAIN, "captured %s  ",
			   sx_answer_number(camera, "captured", 1, 0));
	x = counter(&of, x, "errors", "errors");
	x = counter(&of, x, "sequence_gaps", "lost by driver");
	x = counter(&of, x, "reconnects", "reconnects");
	json_object_foreach(json_object_get(camera, "dropped"), reason, images)
	{
		if (json_integer_value(images) > 0)
			x = sx_canvas_text(l->c, x, l->y, l->end, SX_C_BAD, "%s %" JSON_INTEGER_FORMAT "  ",
					   reason, json_integer_value(images));
	}
	say(l, x, SX_C_DIM, sx_answer_text(camera, "path"));
}

static void line_left(const struct line *l)
{
	line_camera(l, 0);
}

static void line_right(const struct line *l)
{
	line_camera(l, 1);
}

/* Lines from top to bottom. On a low page, lines of importance 0 stay longest. */
static const struct {
	void (*draw)(const struct line *l);
	int importance;
} lines[] = {
	{line_frames, 0},  {line_latency, 1}, {line_drops, 2},	{line_power, 3},  {line_board, 9},
	{line_images, 5},  {line_rows, 5},    {line_road, 4},	{line_motion, 4}, {line_stixels, 5},
	{line_classes, 5}, {line_engine, 6},  {line_source, 7}, {line_left, 8},	  {line_right, 8},
};

#define LINES ((int)(sizeof(lines) / sizeof(lines[0])))

static bool has_line(const struct sx_top *t, int i)
{
	size_t cameras = json_array_size(sx_answer_find(t->status, "source.cameras"));

	if (lines[i].draw == line_motion)
		return json_is_string(sx_answer_find(t->status, "motion.state"));
	if (lines[i].draw == line_left)
		return cameras >= 1;
	if (lines[i].draw == line_right)
		return cameras >= 2;
	if (lines[i].draw == line_classes)
		return json_is_string(sx_answer_find(t->status, "semantics.source"));
	if (lines[i].draw == line_rows)
		return sx_answer_rows(t->status);
	return lines[i].draw != line_board || json_is_string(sx_answer_find(t->status, "board.model")) ||
	       json_is_number(sx_answer_find(t->status, "board.cpu_hz"));
}

int sx_page_lines(struct sx_canvas *c, const struct sx_top *t, int y, int room)
{
	int limit, rows = 0;

	for (limit = 0; limit < 10; limit++) { /* finds how many levels of importance fit */
		int more = 0;

		for (int i = 0; i < LINES; i++)
			more += lines[i].importance == limit && has_line(t, i);
		if (rows + more > room)
			break;
		rows += more;
	}
	for (int i = 0; i < LINES; i++) {
		if (lines[i].importance >= limit || !has_line(t, i))
			continue;
		lines[i].draw(&(struct line){c, t, t->status, y++, c->width});
	}
	return y;
}
