/*
 * stixel-bench --report: measures the standard cases on every engine of this machine and writes them, with a
 * description of the machine, to one file for sending. The file names no person, computer or folder;
 * stixel-bench(1) lists its content.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "engines/load.h"
#include "predict/boards.h"
#include "tools/bench/bench_load.h"
#include "tools/bench/bench_machine.h"
#include "tools/common/outfile.h"
#include "tools/common/progress.h"

#define REPORT_VERSION 1 /* raised when a key changes its meaning or is removed */
#define REPORT_BYTES (512 * 1024)
#define BROKEN_DEPTH 5 /* JSON nesting depth up to which each value has its own line */
#define IDLE_MS 10     /* idle and busy times around the load, ms for each of --frames */
#define BUSY_MS 50
#define CASES_MAX 32
#define ENGINES_MAX 2

/* The daemon's defaults with every filter, as --board predicts them. */
static const struct bench_case defaults[] = {
	{"default 1242x375", 1242, 375, 0, {NULL}, BENCH_CHAIN},
	{"default 1280x720", 1280, 720, 0, {NULL}, BENCH_CHAIN},
};

/* An engine that is measured, and its device. */
struct report_engine {
	const char *name;
	struct sx_power_engine power;
	struct sx_device_facts facts;
	bool has_facts;
};

struct report {
	const struct bench_options *options;
	struct sx_settings settings;
	struct sx_board before;
	struct bench_zones zones_before;
	struct bench_case cases[CASES_MAX];
	char names[BENCH_SIZES_MAX][32]; /* names of the cases that --size adds */
	int case_count, done, rows;
	char backend[32]; /* setting that selects the engine being measured */
	struct sx_text text;
	char data[REPORT_BYTES];
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_case(const struct bench_case *a, const struct bench_case *b)
{
	for (size_t i = 0; i < sizeof(a->set) / sizeof(a->set[0]); i++)
		if (!same_text(a->set[i], b->set[i]))
			return false;
	return a->width == b->width && a->height == b->height && a->part == b->part;
}

/*
 * Adds a case for the whole device, unless the same case is there. The table's rows with fewer
 * multiprocessors imitate a board; here the board itself is measured.
 */
static void add_case(struct report *r, const struct bench_case *c)
{
	for (int i = 0; i < r->case_count; i++)
		if (same_case(&r->cases[i], c))
			return;
	r->cases[r->case_count] = *c;
	r->cases[r->case_count++].sms = 0;
}

static void choose_cases(struct report *r)
{
	const struct bench_options *o = r->options;

	for (int i = 0; i < o->size_count; i++) {
		const struct bench_case c = {
			.name = r->names[i], .width = o->size[i].width, .height = o->size[i].height};

		snprintf(r->names[i], sizeof(r->names[i]), "default %dx%d", c.width, c.height);
		add_case(r, &c);
	}
	if (o->size_count)
		return;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		add_case(r, &defaults[i]);
	for (int i = 0; i < bench_case_count && r->case_count < CASES_MAX; i++)
		add_case(r, &bench_cases[i]);
}

/*
 * Adds the settings that change what is computed. Other settings may contain paths and serial numbers and are
 * left out.
 */
static void add_settings(struct report *r)
{
	static const char *const sections[] = {"stereo.", "filters.", "road.", "stixels.", "engine."};
	const struct sx_settings_args *a = &r->options->args;

	sx_json_open(&r->text, "settings", '[');
	for (int i = 0; i < a->count; i++)
		for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++)
			if (strncmp(a->overrides[i], sections[k], strlen(sections[k])) == 0)
				sx_json_text(&r->text, NULL, a->overrides[i]);
	sx_json_close(&r->text, ']');
}

static void add_version(struct sx_text *t, const char *key, int version)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d", version / 1000, version % 1000 / 10);
	sx_json_text(t, key, version > 0 ? text : NULL);
}

static double positive(double value)
{
	return value > 0 ? value : -1;
}

static void add_gpu(struct sx_text *t, const struct sx_device_facts *f)
{
	sx_json_open(t, "gpu", '{');
	sx_json_text(t, "name", f->name);
	sx_json_count(t, "capability", f->capability);
	sx_json_count(t, "sms", f->sms);
	sx_json_bool(t, "integrated", f->integrated);
	sx_json_count(t, "max_hz", (int64_t)positive(f->clock_hz));
	sx_json_count(t, "memory_bytes", (int64_t)positive((double)f->memory_bytes));
	sx_json_count(t, "memory_bytes_per_s", (int64_t)positive(f->bytes_per_s));
	add_version(t, "cuda_of_build", f->runtime);
	add_version(t, "cuda_of_driver", f->driver);
	sx_json_text(t, "code", *f->code ? f->code : NULL);
	sx_json_close(t, '}');
}

/*
 * Adds a prediction for this board at the highest GPU clock that it may have now, to compare with the
 * measurement.
 */
static void add_predicted(struct report *r, const struct report_engine *e, const struct bench_run *b)
{
	const double clock_hz = r->before.gpu_max_hz > 0 ? (double)r->before.gpu_max_hz : e->facts.clock_hz;
	struct sx_predict_device device;
	const char *title;

	if (e->has_facts &&
	    sx_predict_device_of_model(r->before.model, clock_hz, e->facts.sms, &device, &title))
		bench_add_prediction(&r->text, "predicted", &device, title, b);
	else
		sx_json_text(&r->text, "predicted", NULL);
}

static void add_failed(struct report *r, const struct bench_case *c, int code)
{
	sx_json_open(&r->text, NULL, '{');
	sx_json_text(&r->text, "case", c->name);
	sx_json_count(&r->text, "failed", code);
	sx_json_close(&r->text, '}');
}

static void show_row(struct report *r, const struct bench_run *b, const struct bench_result *result)
{
	sx_progress_hide();
	if (r->rows++ == 0)
		bench_print_row_head(stdout);
	bench_print_row(b, result, stdout);
	fflush(stdout);
}

/*
 * Measures one case. If the engine fails or lacks memory for the case, the report says so and the other cases
 * go on.
 */
static int run_case(struct report *r, const struct report_engine *e, const struct bench_case *from)
{
	struct bench_case c = *from;
	struct bench_run b = {0};
	struct bench_result result = {0};
	int code, i = 0;

	while (c.set[i])
		i++;
	c.set[i] = r->backend;
	code = bench_run_open(&b, r->options, &c);
	if (!code && bench_result_init(&result, r->options->frames) < 0)
		code = bench_fail(EX_SOFTWARE, "out of memory", NULL);
	if (!code)
		code = bench_run_measure(&b, &result);
	if (!code) {
		show_row(r, &b, &result);
		sx_json_open(&r->text, NULL, '{');
		bench_add_result(&r->text, &b, &result);
		add_predicted(r, e, &b);
		sx_json_close(&r->text, '}');
	} else if (code == EX_SOFTWARE || code == EX_UNAVAILABLE) {
		add_failed(r, from, code);
		code = 0;
	}
	bench_result_finish(&result);
	bench_run_close(&b);
	sx_progress_update((uint64_t)++r->done);
	return code;
}

/* Runs the first case at full rate. */
static int run_load(struct report *r, const struct report_engine *e)
{
	struct bench_case c = r->cases[0];
	struct bench_load *l = calloc(1, sizeof(*l));
	struct bench_run b = {0};
	int code;

	if (!l)
		return bench_fail(EX_SOFTWARE, "out of memory", NULL);
	c.set[0] = r->backend;
	code = bench_run_open(&b, r->options, &c);
	if (!code)
		code = bench_load_run(l, &b, &e->power, IDLE_MS * r->options->frames,
				      BUSY_MS * r->options->frames);
	sx_progress_hide();
	if (!code) {
		bench_load_add(&r->text, l);
		printf("%-40s %.1f frames a second with %d in flight, %s%s\n\n", c.name,
		       l->frames / l->seconds, b.context_count,
		       *l->sensor.source ? "power by " : "no power: ",
		       *l->sensor.source ? l->sensor.source : l->sensor.reason);
	} else if (code == EX_SOFTWARE || code == EX_UNAVAILABLE) {
		sx_json_text(&r->text, "load", NULL);
		code = 0;
	}
	bench_run_close(&b);
	free(l);
	return code;
}

/*
 * Opens the engine once. False: the engine cannot be used. `why` is the sentence for the terminal. *unusable
 * is the sentence for the report, and names no file.
 */
static bool find_engine(struct report *r, struct report_engine *e, struct sx_why *why, const char **unusable)
{
	struct sx_engine_params p = r->settings.engine;
	const struct sx_backend *cuda;
	const char *bus_id;
	struct sx_engine engine;
	int loaded = 0;

	p.backend = strcmp(e->name, "cuda") == 0  ? SX_BACKEND_CUDA
		    : strcmp(e->name, "cpu") == 0 ? SX_BACKEND_CPU
						  : SX_BACKEND_REFERENCE;
	if (p.backend == SX_BACKEND_CUDA)
		loaded = sx_cuda_load(&cuda, why);
	if (loaded < 0 || sx_engine_open(&engine, &p, why) < 0) {
		*unusable = loaded == -ENOENT ? "the CUDA engine is not installed"
			    : loaded < 0      ? "the CUDA engine cannot be loaded, or is of another build"
					      : why->text;
		return false;
	}
	e->has_facts = sx_engine_facts(&engine, &e->facts);
	e->power.gpu = p.backend == SX_BACKEND_CUDA;
	bus_id = engine.backend->bus_id ? engine.backend->bus_id(engine.device) : NULL;
	snprintf(e->power.bus_id, sizeof(e->power.bus_id), "%s", bus_id ? bus_id : "");
	printf("engine %s (%s)\n", e->name, engine.backend->describe(engine.device));
	sx_engine_close(&engine);
	return true;
}

static int add_engine(struct report *r, const char *name)
{
	struct report_engine e = {.name = name};
	struct sx_why why = {""};
	const char *unusable = NULL;
	bool usable;
	int code = 0;

	snprintf(r->backend, sizeof(r->backend), "engine.backend=%s", name);
	sx_progress_hide();
	usable = find_engine(r, &e, &why, &unusable);
	if (!usable && r->settings.engine.backend != SX_BACKEND_AUTO)
		return bench_fail(EX_UNAVAILABLE, why.text, NULL);
	sx_json_open(&r->text, NULL, '{');
	sx_json_text(&r->text, "engine", name);
	sx_json_text(&r->text, "unusable", unusable);
	if (usable && e.has_facts)
		add_gpu(&r->text, &e.facts);
	if (!usable)
		printf("engine %s: %s\n", name, why.text);
	if (usable) {
		sx_json_open(&r->text, "results", '[');
		for (int i = 0; !code && i < r->case_count; i++)
			code = run_case(r, &e, &r->cases[i]);
		sx_json_close(&r->text, ']');
		if (!code)
			code = run_load(r, &e);
	} else {
		r->done += r->case_count;
	}
	sx_json_close(&r->text, '}');
	return code;
}

static void show_cases(const struct report *r)
{
	printf("%d cases, %d frames each:", r->case_count, r->options->frames);
	for (int i = 0; i < r->case_count; i++)
		printf("%s %s", i ? ";" : "", r->cases[i].name);
	puts("");
	fflush(stdout);
}

static int add_engines(struct report *r)
{
	static const char *const one[][ENGINES_MAX] = {[SX_BACKEND_AUTO] = {"cuda", "cpu"},
						       [SX_BACKEND_CPU] = {"cpu"},
						       [SX_BACKEND_CUDA] = {"cuda"},
						       [SX_BACKEND_REFERENCE] = {"reference"}};
	const char *const *names = one[r->settings.engine.backend];
	int count = names[1] ? 2 : 1, code = 0;

	show_cases(r);
	sx_progress_begin("cases", (uint64_t)(count * r->case_count));
	sx_json_open(&r->text, "engines", '[');
	for (int i = 0; !code && i < count; i++)
		code = add_engine(r, names[i]);
	sx_json_close(&r->text, ']');
	sx_progress_end();
	return code;
}

static int report_fill(struct report *r)
{
	const char *root = r->settings.power.root;
	struct sx_text *t = &r->text;
	struct bench_zones zones;
	struct sx_board after;
	int code;

	sx_board_read(&r->before, root);
	bench_zones_read(&r->zones_before, root);
	sx_text_init(t, r->data, sizeof(r->data));
	sx_json_open(t, NULL, '{');
	sx_json_count(t, "report", REPORT_VERSION);
	bench_machine_program(t);
	bench_machine_board(t, &r->before, root);
	add_settings(r);
	code = add_engines(r);
	sx_board_read(&after, root);
	bench_zones_read(&zones, root);
	sx_json_open(t, "clocks", '{');
	bench_machine_clocks(t, "before", &r->before);
	bench_machine_clocks(t, "after", &after);
	sx_json_close(t, '}');
	bench_machine_zones(t, &r->zones_before, &zones);
	sx_json_close(t, '}');
	if (!code && t->cut)
		code = bench_fail(EX_SOFTWARE, "the report is too long", NULL);
	return code;
}

static void new_line(FILE *f, int depth)
{
	fprintf(f, "\n%*s", 2 * depth, "");
}

/*
 * Writes the JSON with line breaks, so that a person can read it before sending it. Brackets inside of
 * strings are ignored; empty brackets stay together.
 */
static void write_lines(FILE *f, const char *json)
{
	bool quoted = false;
	int depth = 0;

	for (const char *c = json; *c; c++) {
		if (quoted || *c == '"') {
			quoted = quoted == (*c != '"');
			putc(*c, f);
			if (*c == '\\')
				putc(*++c, f);
			continue;
		}
		if ((*c == '}' || *c == ']') && depth-- <= BROKEN_DEPTH && !strchr("{[", c[-1]))
			new_line(f, depth);
		putc(*c, f);
		depth += *c == '{' || *c == '[';
		if (strchr("{[,", *c) && depth <= BROKEN_DEPTH && !strchr("}]", c[1]))
			new_line(f, depth);
	}
	putc('\n', f);
}

static int refuse(const char *path, int r)
{
	return bench_fail(EX_CANTCREAT, path,
			  r == -EEXIST ? "already exists: choose another name" : strerror(-r));
}

/*
 * Checks that the report can be written, before minutes are spent. save() creates the file when all results
 * are there.
 */
static int try_place(const char *path)
{
	struct sx_outfile f;
	int r = sx_outfile_open_new(&f, path);

	sx_outfile_abort(&f);
	return r < 0 ? refuse(path, r) : 0;
}

static int save(const struct report *r, const char *path)
{
	struct sx_outfile f;
	int e = sx_outfile_open_new(&f, path);

	if (e == 0) {
		write_lines(f.f, r->data);
		e = sx_outfile_commit(&f);
	}
	if (e < 0)
		return refuse(path, e);
	printf("%s: names no person, computer, address or serial number; read it before you send it\n", path);
	return fflush(stdout) == 0 ? 0 : bench_fail(EX_SOFTWARE, "cannot print the result", strerror(errno));
}

int bench_file(const struct bench_options *o)
{
	struct report *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return bench_fail(EX_SOFTWARE, "out of memory", NULL);
	r->options = o;
	code = try_place(o->report);
	if (!code) {
		code = sx_settings_args_load(&r->settings, &o->args, SX_PROGRAM);
		if (!code) {
			choose_cases(r);
			code = report_fill(r);
			if (!code)
				code = save(r, o->report);
			sx_settings_finish(&r->settings);
		}
	}
	free(r);
	return code;
}
