/*
 * A configuration: the file up to the input's first zero byte, a calibration file up to the next, then one
 * -s up to each. What is accepted must print as a file that gives the same settings, and go through a
 * reload.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/file.h"
#include "config/option.h"
#include "tests/fuzz/fuzz.h"

enum { OVERRIDES = 8 };

static const char configuration[] = "/nowhere/front.conf";
static const char *config_text, *calibration_text;

/* In place of config/file.c: the configuration, and one calibration under every other name. */
int __wrap_sx_file_read(const char *path, size_t max, char **text, size_t *size, char *why, size_t why_bytes);
int __wrap_sx_file_read(const char *path, size_t max, char **text, size_t *size, char *why, size_t why_bytes)
{
	const char *content = strcmp(path, configuration) == 0 ? config_text : calibration_text;

	if (!content || strlen(content) > max) {
		snprintf(why, why_bytes, "%s", strerror(content ? EFBIG : ENOENT));
		return content ? -EFBIG : -ENOENT;
	}
	*size = strlen(content);
	*text = malloc(*size + 2);
	memcpy(*text, content, *size + 1);
	return 0;
}

/* Loading what is printed gives the same settings. */
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
	sx_config_print(s, to);
	fclose(to);
	config_text = printed;
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

/* A reload from the defaults: what can change live does, the rest stays. */
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
	char why[512];

	sx_config_json(s, origins, fuzz_null());
	sx_config_json_texts(s, origins, fuzz_null());
	if (sx_settings_check_size(s, info.width, info.height, why, sizeof(why)) == 0)
		sx_settings_context(s, &info);
	sx_settings_tell_rectified(s, &info, why, sizeof(why));
	check_printed(s);
	check_reload(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct sx_origins origins;
	struct fuzz_input in = {data, bytes};
	char *file = fuzz_text(&in), *calibration = fuzz_text(&in), *overrides[OVERRIDES];
	struct sx_settings s = {0};
	struct sx_errors errors = {0};
	int count = 0;

	config_text = file ? file : "";
	calibration_text = calibration;
	while (count < OVERRIDES && (overrides[count] = fuzz_text(&in)) != NULL)
		count++;
	memset(&origins, 0, sizeof(origins));
	if (sx_settings_load_origins(&s, &origins, configuration, (const char *const *)overrides, count,
				     bytes % 2 == 0, &errors) == 0) {
		use(&s, &origins);
		sx_settings_finish(&s);
	}
	sx_errors_print(&errors, fuzz_null());
	sx_errors_finish(&errors);
	while (count > 0)
		free(overrides[--count]);
	free(file);
	free(calibration);
	return 0;
}
