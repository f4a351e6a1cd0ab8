/*
 * Fuzz target for a configuration. The input up to its first zero byte is the file, and up to the next one a
 * calibration file. Each text after that is an option -s. If it begins with a byte 1 it is a drop-in; with 2,
 * the folder of drop-ins cannot be read; with 3, the folder has too many files; with 4, the file's name
 * leaves no room for the folder's name; with 5, there is no file but only options -s, as for a template. A
 * file that begins with a byte 2 cannot be read. An accepted configuration must print as a file that gives
 * the same settings, and must go through a reload. If memory has failed, no configuration may be accepted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/classes.h"
#include "config/config.h"
#include "config/option.h"
#include "config/text/file.h"
#include "tests/fuzz/fails.h"

const unsigned fails_kinds = 1u << FAILS_MEMORY;

enum { OVERRIDES = 8, TOO_MANY = 257 };

enum { UNREADABLE = 2 };

static const char configuration[] = "/nowhere/front.conf";
static const char *config_path; /* the path above, or one that leaves no room for ".d" */
static char long_path[512];
static const char *config_text, *calibration_text;

static const char folder[] = "/nowhere/front.conf.d";
static const char *drop_ins[OVERRIDES];
static int drop_in_count, folder_error, too_many;

static int give_up(struct dirent **found, int n)
{
	while (n > 0)
		free(found[--n]);
	free(found);
	errno = ENOMEM;
	return -1;
}

/* Replaces scandir() for the folder of drop-ins. */
int __wrap_scandir64(const char *path, struct dirent ***list, int (*is_wanted)(const struct dirent *),
		     int (*order)(const struct dirent **, const struct dirent **));
int __wrap_scandir64(const char *path, struct dirent ***list, int (*is_wanted)(const struct dirent *),
		     int (*order)(const struct dirent **, const struct dirent **))
{
	const int files = drop_in_count + too_many;
	struct dirent **found;
	int n = 0;

	errno = folder_error ? folder_error : ENOENT;
	if (strcmp(path, folder) != 0 || folder_error || !files)
		return -1;
	found = calloc((size_t)files + 2, sizeof(struct dirent *));
	for (int i = 0; found && i < files + 2; i++) {
		struct dirent *d = calloc(1, sizeof(*d));

		if (!d)
			return give_up(found, n);
		snprintf(d->d_name, sizeof(d->d_name),
			 i < files    ? "%d.conf"
			 : i == files ? ".%d.conf"
				      : "%d.txt",
			 i);
		if (is_wanted(d))
			found[n++] = d;
		else
			free(d);
	}
	if (!found)
		return -1;
	if (n != files)
		fuzz_fail("%d of %d drop-ins", n, files);
	for (int i = 1; i < n; i++)
		order((const struct dirent **)&found[i - 1], (const struct dirent **)&found[i]);
	*list = found;
	return n;
}

/*
 * Returns the content of a path: the configuration, its drop-ins, and the calibration under every other name.
 * A calibration may have a drop-in's name with any number.
 */
static const char *content_of(const char *path)
{
	const size_t length = strlen(folder);
	unsigned long number;

	if (strcmp(path, config_path) == 0)
		return config_text;
	if (strncmp(path, folder, length) != 0 || path[length] != '/')
		return calibration_text;
	number = strtoul(path + length + 1, NULL, 10);
	return drop_in_count ? drop_ins[number % (unsigned)drop_in_count] : "";
}

/* Replaces config/text/file.c. */
int __wrap_sx_file_read(const char *path, size_t max, char **text, size_t *size, struct sx_why *why);
int __wrap_sx_file_read(const char *path, size_t max, char **text, size_t *size, struct sx_why *why)
{
	const char *content = content_of(path);

	if (!content || *content == UNREADABLE || strlen(content) > max) {
		const int error = !content ? ENOENT : *content == UNREADABLE ? EACCES : EFBIG;

		sx_why_set(why, "%s", strerror(error));
		return -error;
	}
	*size = strlen(content);
	*text = malloc(*size + 2);
	if (!*text)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	memcpy(*text, content, *size + 1);
	return 0;
}

/* Checks that loading the printed settings gives the same settings. */
static void check_printed(const struct sx_settings *s)
{
	struct sx_settings again = {0};
	struct sx_settings_diff diff;
	struct sx_errors errors = {0};
	char *printed = NULL;
	size_t bytes;
	FILE *to = open_memstream(&printed, &bytes);

	if (!to)
		fuzz_fail("out of memory");
	sx_config_print(s, NULL, false, to);
	fclose(to);
	drop_in_count = too_many = folder_error = 0;
	config_text = printed;
	config_path = configuration;
	if (sx_settings_load(&again, configuration, NULL, 0, false, &errors) < 0) {
		sx_errors_print(&errors, stderr);
		fuzz_fail("what was printed is refused");
	}
	sx_settings_diff(s, &again, &diff);
	if (diff.changed)
		fuzz_fail("printed and read again: other %s %s", diff.live_keys, diff.restart_keys);
	sx_settings_finish(&again);
	sx_errors_finish(&errors);
	free(printed);
}

/* Checks a reload from the defaults: keys that can change live do, the others stay. */
static void check_reload(struct sx_settings *s)
{
	struct sx_settings runs = {0};
	struct sx_settings_diff diff;

	if (sx_settings_init(&runs) < 0)
		fuzz_fail("no defaults");
	sx_settings_take_live(&runs, s);
	sx_settings_diff(&runs, s, &diff);
	sx_settings_finish(&runs);
}

static void use(struct sx_settings *s, const struct sx_origins *origins)
{
	const struct sx_source_info info = {.width = 320, .height = 160};
	struct sx_semantic_params classes;
	struct sx_class_names names;
	struct sx_why why;

	sx_config_json(s, origins, fuzz_null());
	sx_config_json_texts(s, origins, fuzz_null());
	if (sx_settings_check_size(s, info.width, info.height, &why) == 0)
		sx_settings_context(s, &info);
	sx_settings_tell_rectified(s, &info, why.text, sizeof(why.text));
	if (sx_settings_images(s->output.planes) & 1u)
		fuzz_fail("frames that show plane 0, which is none");
	if (sx_classes_parse(s->semantics.classes, &classes, &names, &why) < 0)
		fuzz_fail("accepted: classes that are none: %s", why.text);
	check_printed(s);
	check_reload(s);
}

/* Texts after the two files. */
struct more {
	char *texts[OVERRIDES];
	const char *overrides[OVERRIDES];
	int text_count, count;
	bool template;
};

static void take_more(struct more *m, struct fuzz_input *in)
{
	drop_in_count = too_many = folder_error = 0;
	config_path = configuration;
	for (; m->text_count < OVERRIDES && (m->texts[m->text_count] = fuzz_text(in)) != NULL;
	     m->text_count++) {
		const char *text = m->texts[m->text_count];

		if (*text == 1)
			drop_ins[drop_in_count++] = text + 1;
		else if (*text == 2)
			folder_error = EACCES;
		else if (*text == 3)
			too_many = TOO_MANY;
		else if (*text == 4)
			config_path = long_path;
		else if (*text == 5)
			m->template = true;
		else
			m->overrides[m->count++] = text;
	}
}

static int load(struct sx_settings *s, struct sx_origins *origins, const struct more *m, bool source_required)
{
	struct sx_errors errors = {0};
	int r;

	fails_begin();
	r = m->template ? sx_settings_template(s, origins, m->overrides, m->count, &errors)
			: sx_settings_load_origins(s, origins, config_path, m->overrides, m->count,
						   source_required, &errors);
	if (fails_end() && r == 0)
		fuzz_fail("accepted, though there was no memory");
	if (r < 0 && r != -ENOMEM && !errors.count && !errors.more)
		fuzz_fail("refused with %d, and no sentence", r);
	sx_errors_print(&errors, fuzz_null());
	sx_errors_finish(&errors);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct sx_origins origins;
	struct fuzz_input in = fails_input(data, bytes);
	struct more more = {.text_count = 0};
	struct sx_settings s = {0};
	char *file, *calibration;

	memset(long_path, 'a', sizeof(long_path) - 2);
	file = fuzz_text(&in);
	calibration = fuzz_text(&in);
	config_text = file ? file : "";
	calibration_text = calibration;
	take_more(&more, &in);
	memset(&origins, 0, sizeof(origins));
	if (load(&s, &origins, &more, bytes % 2 == 0) == 0) {
		if (!more.template) /* a template may have no source */
			use(&s, &origins);
		sx_settings_finish(&s);
	}
	while (more.text_count > 0)
		free(more.texts[--more.text_count]);
	free(file);
	free(calibration);
	return 0;
}
