/*
 * stixelctl doctor: the configuration, and whether the service can read what it names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/ctl/doctor/doctor.h"

#define CHECK "configuration"

static void say_errors(struct doctor *d, const struct sx_errors *errors)
{
	for (int i = 0; i < errors->count; i++)
		doctor_say(d, DOCTOR_PROBLEM, CHECK, NULL, "%s", errors->text[i]);
	if (errors->more)
		doctor_say(d, DOCTOR_PROBLEM, CHECK, NULL, "and %d more errors", errors->more);
}

static const char *camera_model(const struct sx_settings *s)
{
	return s->calibration && *s->calibration ? s->calibration : "fx .. baseline_m of [camera]";
}

static void say_sound(struct doctor *d)
{
	static const char *const kinds[] = {"cameras", "image files", "a generated street"};
	const struct sx_settings *s = &d->settings;
	char why[DOCTOR_WHY_BYTES];

	if (s->source.width &&
	    sx_settings_check_size(s, s->source.width, s->source.height, why, sizeof(why)) < 0) {
		doctor_say(d, DOCTOR_PROBLEM, CHECK, NULL, "%s: %s", d->file, why);
		return;
	}
	doctor_say(d, DOCTOR_OK, CHECK, NULL, "%s: pairs from %s, camera by %s", d->file,
		   kinds[s->source.kind], camera_model(s));
}

/* Instances that have a configuration: "-i front or -i rear". */
static void list_instances(const struct doctor *d, char *to, size_t bytes)
{
	char path[DOCTOR_PATH_BYTES];
	DIR *dir = opendir(doctor_path(d, "/etc/stixeld", path, sizeof(path)));
	const struct dirent *e;
	size_t used = 0;

	*to = '\0';
	while (dir && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (n > 5 && strcmp(e->d_name + n - 5, ".conf") == 0 &&
		    strcmp(e->d_name, "example.conf") != 0 && used < bytes)
			used += (size_t)snprintf(to + used, bytes - used, "%s-i %.*s", used ? " or " : "",
						 (int)n - 5, e->d_name);
	}
	if (dir)
		closedir(dir);
}

static void say_absent(struct doctor *d, int error)
{
	char instances[256], advice[400];

	list_instances(d, instances, sizeof(instances));
	snprintf(advice, sizeof(advice), "%s%scopy /etc/stixeld/example.conf there, or name a file by -c",
		 instances, *instances ? ", or " : "");
	doctor_say(d, DOCTOR_PROBLEM, CHECK, advice, "%s: %s", d->file, strerror(error));
}

void doctor_configuration(struct doctor *d)
{
	struct sx_errors errors = {0};
	struct sx_settings loaded = {0};
	int r;

	if (access(d->file, F_OK) < 0) {
		say_absent(d, errno);
		return;
	}
	r = sx_settings_load(&loaded, d->file, NULL, 0, true, &errors);
	if (r < 0) {
		say_errors(d, &errors);
	} else {
		sx_settings_finish(&d->settings);
		d->settings = loaded;
		d->loaded = true;
		say_sound(d);
	}
	sx_errors_finish(&errors);
}
