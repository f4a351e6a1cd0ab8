/*
 * Calibration in YAML: detects the format and reads the parts common to all formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"

#define NESTING_MAX 16
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAME LETTERS "0123456789."

/* Skips blank lines and comments. */
static const char *first_line(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			return text;
		text += strcspn(text, "\n");
	}
}

/*
 * Returns true if a structured value follows the colon of a name: a list, a mapping, a tag, or an indented
 * block.
 */
static bool begins_value(const char *at)
{
	at += strspn(at, " \t\r");
	return *at && (strchr("[{!", *at) || (*at == '\n' && (at[1] == ' ' || at[1] == '-')));
}

/*
 * Returns true if names at the start of lines have structured values. False for a line "fx" with a number, as
 * in plain text.
 */
static bool has_structure(const char *text)
{
	bool found = false;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const size_t n = strspn(text, NAME);

		if (n == 2 && !strncmp(text, "fx", 2))
			return false;
		found = found || (n && text[n] == ':' && begins_value(text + n + 1));
	}
	return found;
}

bool sx_calibration_is_yaml(const char *text)
{
	const char *first = first_line(text);

	return !strncmp(first, "%YAML", 5) || !strncmp(first, "---", 3) || *first == '{' ||
	       has_structure(text) || strstr(text, "projection_matrix") || strstr(text, "distortion_model");
}

/* Reads width or height, under any of its names. */
static int read_size(const struct sx_yaml *y, const char *const names[2], double *ret)
{
	double value[2] = {0};
	int r = sx_yaml_number(y, y->root, names[0], &value[0]), other;

	other = r < 0 ? r : sx_yaml_number(y, y->root, names[1], &value[1]);
	if (other < 0)
		return other;
	for (int i = 0; i < 2; i++) {
		if (!(i ? other : r))
			continue;
		if (*ret != 0 && *ret != value[i])
			return sx_calibration_refuse(y->why,
						     "the images' %s is %g and %g: which one is meant?",
						     names[1], *ret, value[i]);
		*ret = value[i];
	}
	return 0;
}

/* Files of other programs: a key that identifies each one, its description and advice for the user. */
static const struct {
	const char *key, *text;
} foreign[] = {
	{"FocalLengthX",
	 "a camera file of libSGM or stixel-world: write its numbers as lines of fx, fy, cx, cy and "
	 "baseline_m"},
	{"LEFT.K",
	 "settings of ORB-SLAM2: write LEFT.K, LEFT.D, LEFT.R, LEFT.P as K1, D1, R1, P1, and RIGHT as 2"},
	{"Camera1.fx",
	 "settings of ORB-SLAM3: write K1, D1, K2, D2, and of Stereo.T_c1_c2 the inverse as R and T"},
	{"Camera.fx",
	 "settings of ORB-SLAM: where images are rectified, write fx, fy, cx, cy, and Camera.bf / "
	 "Camera.fx as baseline_m"},
	{"intrinsic",
	 "a camera file of Cityscapes: write fx, fy, u0 as cx, v0 as cy, and baseline as baseline_m"},
	{"value0", "a calibration of Basalt: write K1, D1, K2, D2, R and T as OpenCV's YAML"},
	{"cam0_calib", "settings of VINS-Fusion: write K1, D1, K2, D2, R and T as OpenCV's YAML"},
	{"mirror_parameters",
	 "an omnidirectional camera (MEI), which is not supported: calibrate it as equidistant"},
	{"projection_parameters",
	 "a camera of camodocal or VINS: write both as K1, D1, K2, D2, R and T of OpenCV's YAML"},
	{"T_imu_cam", "IMU data only: name the camchain that has cam0 and cam1"},
	{"cameraData",
	 "a calibration of DepthAI (OAK): write K1, D1, K2, D2, R and T of its left and right camera as "
	 "OpenCV's YAML; its translations are in centimetres"},
	{"intrinsic_left.x.x",
	 "a calibration table of RealSense: its infrared images are rectified, and rs-enumerate-devices -c "
	 "prints their fx, fy, ppx, ppy: write them as lines of fx, fy, cx, cy, with baseline_m in metres"},
	{"ppx",
	 "a camera of RealSense: where images are rectified, as infrared ones are, write lines of fx, fy, "
	 "ppx as cx, ppy as cy, and baseline_m, the distance between infrared 1 and 2 in metres"},
	{"controls-laserpower", "a preset of RealSense: see rs-enumerate-devices -c for its calibration"},
	{"fx", "single numbers: write them as lines of text, 'fx: 700', also fy, cx, cy and baseline_m"},
};

/* Returns true if any mapping of the document has this key, at any depth. */
static bool has_name(const struct sx_yaml *y, const char *name)
{
	for (yaml_node_t *n = y->doc->nodes.start; n < y->doc->nodes.top; n++)
		if (sx_yaml_get(y, n, name))
			return true;
	return false;
}

static int nothing_found(const struct sx_yaml *y)
{
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (has_name(y, foreign[i].key))
			return sx_calibration_refuse(y->why, "'%s' is of %s", foreign[i].key,
						     foreign[i].text);
	return sx_calibration_refuse(
		y->why,
		"no stereo rectification found: neither P1 and P2, nor Q, nor K1, D1, K2, D2 with R "
		"and T (OpenCV), nor projection_matrix (ROS), nor cam0 and cam1 (Kalibr), nor T_BS (EuRoC)");
}

int sx_calibration_document(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	static const char *const names[2][2] = {{"image_width", "width"}, {"image_height", "height"}};
	int r = sx_yaml_check_keys(y);

	if (!r)
		r = sx_calibration_opencv(raw, y);
	if (!r)
		r = sx_calibration_euroc(raw, y);
	if (!r)
		r = sx_calibration_ros(raw, y);
	if (!r)
		r = sx_calibration_kalibr(raw, y);
	if (!r)
		return nothing_found(y);
	if (r < 0 || read_size(y, names[0], &raw->width) < 0 || read_size(y, names[1], &raw->height) < 0)
		return -EINVAL;
	return 0;
}

/*
 * Returns true if brackets are nested too deeply. libyaml needs quadratic time for them; a calibration has
 * two levels.
 */
static bool nested_too_deeply(const char *text)
{
	int depth = 0;

	for (; *text && depth <= NESTING_MAX; text++) {
		depth += *text == '[' || *text == '{';
		depth -= (*text == ']' || *text == '}') && depth;
	}
	return depth > NESTING_MAX;
}

/*
 * Converts OpenCV's dialect to YAML. A first line "%YAML:1.0", even after comments, becomes a comment.
 * "data:[" without a blank gets a blank. Lines keep their numbers. The caller frees the result; NULL: no
 * memory.
 */
static char *as_yaml(const char *text)
{
	char *copy = malloc(2 * strlen(text) + 1), *to = copy;
	const char *directive = first_line(text);

	if (!copy)
		return NULL;
	while (*text) {
		const size_t blanks = strspn(text, " "), name = strspn(text + blanks, NAME);
		const size_t line = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
		const char *colon = text + blanks + name;
		size_t head = 0;

		if (name && *colon == ':' && !strchr(" \t\r\n:/", colon[1]) &&
		    strchr(LETTERS, text[blanks])) {
			head = blanks + name + 1;
			memcpy(to, text, head);
			to += head;
			*to++ = ' ';
		}
		memcpy(to, text + head, line - head);
		if (text == directive && *text == '%')
			*to = '#';
		to += line - head;
		text += line;
	}
	*to = 0;
	return copy;
}

/*
 * Checks that the last line has an end. An incomplete copy may end in a number or word that lost its last
 * characters. Lists and mappings have their own end.
 */
static int check_whole(const char *text, struct sx_why *why)
{
	const size_t size = strlen(text);
	const char *line = text + size;
	size_t lines = 1;

	while (line > text && line[-1] != '\n')
		line--;
	for (const char *at = text; at < line; at++)
		lines += *at == '\n';
	if (!*line || line[strspn(line, " \t\r")] == '#' || strchr("]} \t\r\"'", text[size - 1]))
		return 0;
	if (!strncmp(line, "...", 3))
		return 0;
	return sx_calibration_refuse(
		why,
		"the file ends within line %zu, '%.40s': was it cut short? If it is whole, end "
		"the line",
		lines, line);
}

static int load(struct sx_calibration_raw *raw, const char *text, struct sx_why *why)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	struct sx_yaml y = {.doc = &doc, .why = why};
	int r;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
	if (!yaml_parser_load(&parser, &doc)) {
		sx_why_set(why, "line %zu: not YAML: %s",
			   (parser.problem_mark.line ? parser.problem_mark.line : parser.context_mark.line) +
				   1,
			   parser.problem ? parser.problem : "unreadable");
		yaml_parser_delete(&parser);
		return -EINVAL;
	}
	y.root = yaml_document_get_root_node(&doc);
	y.format = *first_line(text) == '{' ? "OpenCV JSON" : NULL;
	r = sx_calibration_document(raw, &y);
	yaml_document_delete(&doc);
	yaml_parser_delete(&parser);
	return r;
}

int sx_calibration_yaml(struct sx_calibration_raw *raw, const char *text, struct sx_why *why)
{
	char *yaml;
	int r;

	if (nested_too_deeply(text))
		return sx_calibration_refuse(why, "brackets are nested more than %d deep", NESTING_MAX);
	yaml = as_yaml(text);
	if (!yaml)
		return -ENOMEM;
	r = load(raw, yaml, why);
	free(yaml);
	return r < 0 ? r : check_whole(text, why);
}
