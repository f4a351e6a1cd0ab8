/*
 * Formats values of the daemon's /status for printing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/ctl/answer.h"

json_t *sx_answer_find(json_t *j, const char *path)
{
	char key[64];

	while (j && *path) {
		size_t n = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_object_get(j, key);
		path += n + (path[n] == '.');
	}
	return j;
}

const char *sx_answer_text(json_t *j, const char *path)
{
	const char *s = json_string_value(sx_answer_find(j, path));

	return s ? s : "-";
}

const char *sx_answer_number(json_t *j, const char *path, double scale, int decimals)
{
	static char pool[16][24];
	static int next;
	json_t *v = sx_answer_find(j, path);
	char *s = pool[next++ % 16];

	if (json_is_number(v))
		snprintf(s, sizeof(pool[0]), "%.*f", decimals, json_number_value(v) * scale);
	else
		snprintf(s, sizeof(pool[0]), "-");
	return s;
}

const char *sx_answer_estimate(json_t *j, const char *path, const char *sigma, int decimals)
{
	static char pool[4][64];
	static int next;
	char *s = pool[next++ % 4];
	const bool known = json_is_number(sx_answer_find(j, sigma));

	snprintf(s, sizeof(pool[0]), "%s%s%s", sx_answer_number(j, path, 1, decimals), known ? " +-" : "",
		 known ? sx_answer_number(j, sigma, 1, decimals) : "");
	return s;
}

const char *sx_answer_images(json_t *j)
{
	static char s[160];

	if (!json_is_number(sx_answer_find(j, "pictures.density")))
		return "not known";
	snprintf(s, sizeof(s), "density %s %%, row error %s (%s %s %s), dark %s %s %%, sharp %s %s",
		 sx_answer_number(j, "pictures.density", 100, 0),
		 sx_answer_number(j, "pictures.row_error_px.all", 1, 1),
		 sx_answer_number(j, "pictures.row_error_px.left", 1, 1),
		 sx_answer_number(j, "pictures.row_error_px.middle", 1, 1),
		 sx_answer_number(j, "pictures.row_error_px.right", 1, 1),
		 sx_answer_number(j, "pictures.dark.left", 100, 0),
		 sx_answer_number(j, "pictures.dark.right", 100, 0),
		 sx_answer_number(j, "pictures.sharpness.left", 1, 0),
		 sx_answer_number(j, "pictures.sharpness.right", 1, 0));
	return s;
}

const char *sx_answer_rows(json_t *j)
{
	static char s[96];

	if (!json_is_number(sx_answer_find(j, "pictures.row_correction.shift_px")))
		return NULL;
	snprintf(s, sizeof(s), "right image corrected by %s px and %s degrees, changes %s",
		 sx_answer_number(j, "pictures.row_correction.shift_px", 1, 2),
		 sx_answer_number(j, "pictures.row_correction.rotation_deg", 1, 3),
		 sx_answer_number(j, "pictures.row_correction.changes", 1, 0));
	return s;
}

const char *sx_answer_range(json_t *j)
{
	const char *mode = json_string_value(sx_answer_find(j, "motion.mode"));
	const char *range = json_string_value(sx_answer_find(j, "motion.range.text"));

	if (!mode || strcmp(mode, "off") == 0)
		return NULL;
	if (json_is_false(sx_answer_find(j, "motion.range.checked")))
		return "distances are not checked: motion.range_offset = off";
	return range ? range : "distances are not checked yet";
}

const char *sx_answer_span(double seconds)
{
	static char s[48];
	long t = seconds > 0.0 && seconds < 1e10 ? (long)seconds : 0;

	if (t >= 86400)
		snprintf(s, sizeof(s), "%ld d %02ld:%02ld:%02ld", t / 86400, t / 3600 % 24, t / 60 % 60,
			 t % 60);
	else
		snprintf(s, sizeof(s), "%02ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
	return s;
}
