/*
 * stixeld: stereo pairs in, stixels out, for as long as the machine runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/file_list.h"
#include "config/camera.h"
#include "config/config.h"
#include "config/option.h"
#include "daemon/cost.h"
#include "daemon/health.h"
#include "daemon/instance/supervisor.h"
#include "daemon/options.h"
#include "daemon/run.h"

/*
 * Threshold, bytes: malloc() maps each larger block, and free() returns it to the system. Without this
 * setting malloc() raises the threshold after the first such block. Then memory that comes and goes with
 * cameras and engines would lie in arenas, and small blocks that remain between would keep the arenas from
 * shrinking.
 */
#define MAPPED_BYTES (128 * 1024)

/* Returns the default configuration file of an instance, or NULL if it does not exist. */
static const char *default_file(const char *instance, char *path, size_t bytes)
{
	snprintf(path, bytes, "/etc/stixeld/%s.conf", instance);
	return access(path, F_OK) == 0 ? path : NULL;
}

/*
 * Opens /dev/null for the descriptors 0, 1 and 2 that are closed. Else a socket or the ring would get such a
 * number, and the log would go there.
 */
static int hold_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return fd;
}

static int load(const struct sx_options *o, struct sx_settings *ret, struct sx_origins *origins,
		struct sx_errors *errors)
{
	/* print a template to fill in if there is no file */
	if (o->print && !o->check && !o->file)
		return sx_settings_template(ret, origins, o->overrides, o->override_count, errors);
	if (o->check)
		return sx_settings_load_existing(ret, origins, o->file, o->overrides, o->override_count,
						 errors);
	return sx_settings_load_origins(ret, origins, o->file, o->overrides, o->override_count, true, errors);
}

/*
 * Checks that a start would find pairs of image files, and prints the reason if not. Returns the exit code of
 * a start.
 */
static int check_pairs(const struct sx_settings *s)
{
	struct sx_file_list list = {0};
	struct sx_why why;
	int r;

	if (s->source.kind != SX_SOURCE_FILES)
		return 0;
	r = sx_file_list_find(&list, &s->source, &why);
	if (r == 0)
		sx_file_list_finish(&list);
	else
		fprintf(stderr, "[source] %s: %s\n",
			s->source.path && *s->source.path ? "path" : "left, right", why.text);
	if (r < 0 && sx_exit_is_shortage(r))
		return SX_EXIT_FAILED;
	return r == -EBADMSG ? SX_EXIT_DATA : r < 0 ? SX_EXIT_CONFIG : 0;
}

/* Prints where the configuration file would be, if there is none and no -s sets the source. */
static void tell_no_file(const struct sx_options *o)
{
	bool said = o->file != NULL;

	for (int i = 0; i < o->override_count; i++)
		said |= strncmp(o->overrides[i], "source.kind", strlen("source.kind")) == 0;
	if (!said)
		fprintf(stderr,
			"there is no /etc/stixeld/%s.conf, and no -c FILE names another file: "
			"stixeld --print-config prints one to fill in\n",
			o->instance);
}

/*
 * Reads the first pair of image files as a start does, and checks its size against the camera. *info becomes
 * that of the open source. Other sources are not opened, and leave *info unchanged. Returns the exit code of
 * a start.
 */
static int check_images(const struct sx_settings *s, struct sx_source_info *info)
{
	struct sx_source *source;
	struct sx_why why;
	int r;

	if (s->source.kind != SX_SOURCE_FILES)
		return 0;
	r = sx_source_open(&source, &s->source, 1, &why);
	if (r < 0) {
		fprintf(stderr, "stixeld: %s\n", why.text);
		return sx_exit_is_shortage(r) ? SX_EXIT_FAILED : SX_EXIT_DATA;
	}
	*info = *sx_source_info(source);
	sx_source_close(source);
	if (sx_settings_check_size(s, info->width, info->height, &why) == 0)
		return 0;
	fprintf(stderr, "stixeld: %s\n", why.text);
	return SX_EXIT_CONFIG;
}

static void print_dataset(const struct sx_settings *s, const struct sx_source_info *info)
{
	struct sx_why text;

	if (sx_settings_tell_dataset(s, info, text.text, sizeof(text.text)))
		fprintf(stderr, "stixeld: %s\n", text.text);
}

/* Prints the questions that a start would log. info: the source; width 0: unknown. */
static void print_questions(const struct sx_settings *s, const struct sx_source_info *info)
{
	char question[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES];
	const int count = info->width ? sx_camera_questions(s, info, question)
				      : sx_camera_questions_before(s, question);

	for (int i = 0; i < count; i++)
		fprintf(stderr, "stixeld: warning: %s\n", question[i]);
}

/* Only warns, as this machine may be fast enough. Prints nothing if only a camera knows the image size. */
static void warn_of_cost(const struct sx_settings *s, const struct sx_source_info *info)
{
	const struct sx_frame_cost_case c = {
		.stixels = &s->params.stixels,
		.width = s->rectify    ? s->rig.width
			 : info->width ? info->width
				       : s->source.width,
		.height = s->rectify	 ? s->rig.height
			  : info->height ? info->height
					 : s->source.height,
		.plain = s->engine.backend == SX_BACKEND_REFERENCE,
	};
	struct sx_why why;

	if (c.width > 0 && c.height > 0 &&
	    sx_frame_cost_is_too_much(&(struct sx_frame_cost){0}, NULL, &c, SX_HEALTH_LIMIT_NS, &why))
		fprintf(stderr, "stixeld: warning: %s\n", why.text);
}

/* Runs the checks of --check-config that go beyond loading. Returns the exit code of a start. */
static int check(const struct sx_settings *settings)
{
	struct sx_source_info info = {0};
	int r = check_pairs(settings);

	if (r == 0)
		r = check_images(settings, &info);
	if (r == 0) {
		print_dataset(settings, &info);
		print_questions(settings, &info);
		warn_of_cost(settings, &info);
	}
	return r;
}

/* Loads the settings of an instance, and prints every error. Returns the exit code of a start. */
static int load_or_tell(const struct sx_options *o, struct sx_settings *settings, struct sx_origins *origins)
{
	struct sx_errors errors = {0};
	const int r = load(o, settings, origins, &errors);

	if (r == 0)
		return 0;
	sx_errors_print(&errors, stderr);
	sx_errors_finish(&errors);
	if (r != -ENOMEM)
		tell_no_file(o);
	if (r == -ENOMEM)
		fprintf(stderr, "stixeld: not enough memory for the configuration\n");
	return sx_exit_is_shortage(r) ? SX_EXIT_FAILED : SX_EXIT_CONFIG;
}

static int run_alone(struct sx_options *options)
{
	static struct sx_origins origins;
	struct sx_settings settings = {0};
	char path[128];
	int r;

	if (!options->file)
		options->file = default_file(options->instance, path, sizeof(path));
	r = load_or_tell(options, &settings, &origins);
	if (r)
		return r;
	if (options->print)
		sx_config_print(&settings, &origins, options->all, stdout);
	if (options->check)
		r = check(&settings);
	else
		r = options->print ? 0 : sx_run(options, &settings, &origins, NULL);
	sx_settings_finish(&settings);
	return r;
}

/* ---- several instances in one process ---- */

/*
 * One instance of several. The main thread loads its settings before the first start. The thread of the
 * instance loads them before each later start.
 */
struct instance {
	struct sx_options *options;
	char path[128]; /* default file */
	struct sx_settings settings;
	struct sx_origins origins;
};

/* Loads the settings of an instance that starts again, and logs every error. Returns the exit code of a start. */
static int load_again(struct instance *n)
{
	struct sx_errors errors = {0};
	const int r = load(n->options, &n->settings, &n->origins, &errors);

	for (int i = 0; i < errors.count; i++)
		sx_log(CONFIG, ERROR, "%s", errors.text[i]);
	if (errors.more > 0)
		sx_log(CONFIG, ERROR, "and %d more", errors.more);
	if (r == -ENOMEM)
		sx_log(CONFIG, ERROR, "not enough memory for the configuration");
	sx_errors_finish(&errors);
	return r == 0 ? 0 : sx_exit_is_shortage(r) ? SX_EXIT_FAILED : SX_EXIT_CONFIG;
}

/* Thread: the instance's own. */
static int run_member(void *user, struct sx_member *member, bool restarted)
{
	struct instance *n = user;
	int r = restarted ? load_again(n) : 0;

	if (r == 0)
		r = sx_run(n->options, &n->settings, &n->origins, member);
	if (!atomic_load(&member->abandoned))
		sx_settings_finish(&n->settings);
	return r;
}

static bool is_same_device(const char *a, const char *b)
{
	struct stat x, y;

	if (!a || !b)
		return false;
	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISCHR(x.st_mode) && S_ISCHR(y.st_mode) &&
	       x.st_rdev == y.st_rdev;
}

/* Returns the camera that both instances would open, or NULL. */
static const char *shared_device(const struct sx_source_params *a, const struct sx_source_params *b)
{
	const char *const mine[] = {a->left, a->right}, *const its[] = {b->left, b->right};

	if (a->kind != SX_SOURCE_V4L2 || b->kind != SX_SOURCE_V4L2)
		return NULL;
	for (int i = 0; i < 4; i++)
		if (is_same_device(mine[i / 2], its[i % 2]))
			return mine[i / 2];
	return NULL;
}

static int check_devices(const struct instance *list, int count)
{
	int code = 0;

	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++) {
			const char *device =
				shared_device(&list[i].settings.source, &list[k].settings.source);

			if (!device)
				continue;
			fprintf(stderr, "stixeld: instances %s and %s have the same camera: %s\n",
				list[k].options->instance, list[i].options->instance, device);
			code = SX_EXIT_CONFIG;
		}
	return code;
}

/* Loads all settings before anything starts, so that a wrong file is found at once. */
static int load_all(struct instance *list, struct sx_command_line *l)
{
	int code = 0;

	for (int i = 0; i < l->count; i++) {
		struct instance *n = &list[i];
		int r;

		n->options = &l->instance[i];
		if (!n->options->file)
			n->options->file = default_file(n->options->instance, n->path, sizeof(n->path));
		r = load_or_tell(n->options, &n->settings, &n->origins);
		if (r)
			fprintf(stderr, "stixeld: instance %s cannot start\n", n->options->instance);
		code = code ? code : r;
	}
	return code ? code : check_devices(list, l->count);
}

static int check_all(const struct instance *list, int count)
{
	int code = 0;

	for (int i = 0; i < count; i++) {
		const int r = check(&list[i].settings);

		if (r)
			fprintf(stderr, "stixeld: instance %s would not start\n", list[i].options->instance);
		code = code ? code : r;
	}
	return code;
}

static int supervise(struct instance *list, int count)
{
	struct sx_supervised *members = calloc((size_t)count, sizeof(*members));
	bool abandoned = false;
	int code = SX_EXIT_FAILED;

	if (!members) {
		fprintf(stderr, "stixeld: not enough memory\n");
		return code;
	}
	for (int i = 0; i < count; i++) {
		members[i].member.log.name = list[i].options->instance;
		members[i].run = run_member;
		members[i].user = &list[i];
	}
	code = sx_supervise(members, count, &abandoned);
	if (abandoned)
		_exit(code); /* threads that hang still use the memory */
	free(members);
	return code;
}

static int run_several(struct sx_command_line *l)
{
	struct instance *list = calloc((size_t)l->count, sizeof(*list));
	int code;

	if (!list) {
		fprintf(stderr, "stixeld: not enough memory\n");
		return SX_EXIT_FAILED;
	}
	code = load_all(list, l);
	if (code == 0)
		code = l->common.check ? check_all(list, l->count) : supervise(list, l->count);
	for (int i = 0; i < l->count; i++)
		sx_settings_finish(&list[i].settings);
	free(list);
	return code;
}

int main(int argc, char **argv)
{
	static struct sx_command_line line;
	int r;

	if (hold_standard_descriptors() < 0) {
		fprintf(stderr, "stixeld: /dev/null: %s\n", strerror(errno));
		return SX_EXIT_FAILED;
	}
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	r = sx_options_parse(&line, argc, argv);
	if (r >= 0)
		return r;
	r = line.count == 1 ? run_alone(&line.instance[0]) : run_several(&line);
	if (fflush(stdout) == 0)
		return r;
	fprintf(stderr, "stixeld: cannot print: %s\n", strerror(errno));
	return SX_EXIT_FAILED;
}
