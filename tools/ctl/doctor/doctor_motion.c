/*
 * stixelctl doctor: what the motion of the camera says about its distances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "tools/ctl/answer.h"
#include "tools/ctl/doctor/doctor.h"

#define CHECK "range"

static const char *text_at(json_t *status, const char *path)
{
	return json_string_value(sx_answer_find(status, path));
}

void doctor_motion(struct doctor *d)
{
	const char *mode = text_at(d->status, "motion.mode"), *state = text_at(d->status, "motion.state");
	const char *range = text_at(d->status, "motion.range.text");

	if (!mode || strcmp(mode, "off") == 0)
		return;
	if (json_is_false(sx_answer_find(d->status, "motion.range.checked")))
		doctor_say(d, DOCTOR_OK, CHECK, NULL, "%s", sx_answer_range(d->status));
	else if (range && json_is_true(sx_answer_find(d->status, "motion.range.wrong")))
		doctor_say(
			d, DOCTOR_WARNING, CHECK,
			"calibrate the cameras again (stixel-calibrate); docs/use/cameras.md, \"Distances that "
			"are wrong\", has other causes",
			"%s", range);
	else if (range)
		doctor_say(d, DOCTOR_OK, CHECK, NULL, "%s", range);
	else if (state && strcmp(state, "found") == 0)
		doctor_say(
			d, DOCTOR_OK, CHECK, "drive a few metres over ground with texture",
			"distances were not checked yet: the camera moved too little, or sees too little of the "
			"near road");
	else
		doctor_say(d, DOCTOR_OK, CHECK, NULL, "the motion of the camera is unknown: %s",
			   state ? state : "there is no frame yet");
}
