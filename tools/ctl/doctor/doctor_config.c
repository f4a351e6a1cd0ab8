/*
 * Check of stixelctl doctor: the configuration, and whether the service can read the files that it names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/camera.h"
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
	if (s->calibration && *s->calibration)
		return s->calibration;
	return s->source.kind == SX_SOURCE_SHARED && !(s->params.camera.fx > 0)
		       ? "the writer"
		       : "fx .. baseline_m of [camera]";
}

/* Names the configuration: "FILE", "FILE and 2 settings by -s", "3 settings by -s, no file". */
static const char *name_of(const struct doctor *d, char *to, size_t bytes)
{
	const char *plural = d->override_count == 1 ? "" : "s";

	if (!*d->file)
		snprintf(to, bytes, "%d setting%s by -s, no file", d->override_count, plural);
	else if (d->override_count)
		snprintf(to, bytes, "%s and %d setting%s by -s", d->file, d->override_count, plural);
	else
		snprintf(to, bytes, "%s", d->file);
	return to;
}

/*
 * Reports the open questions about the camera. The daemon's questions come first: it knows the image size,
 * which the configuration may lack. info: width 0 if the size is unknown.
 */
static void say_questions(struct doctor *d, const struct sx_source_info *info)
{
	json_t *asked = json_object_get(json_object_get(d->status, "camera"), "questions"), *text;
	char question[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES];
	const int count = json_is_array(asked) ? 0
			  : info->width	       ? sx_camera_questions(&d->settings, info, question)
					       : sx_camera_questions_before(&d->settings, question);
	size_t i;

	json_array_foreach(asked, i, text)
	{
		if (json_is_string(text))
			doctor_say(d, DOCTOR_WARNING, "camera", NULL, "%s", json_string_value(text));
	}
	for (int k = 0; k < count; k++)
		doctor_say(d, DOCTOR_WARNING, "camera", NULL, "%s", question[k]);
}

/*
 * Reports the camera and the distances that it can measure. Prefers the daemon's sentence, because the daemon
 * knows the source's camera. Without a daemon, says nothing if only the source knows the camera.
 */
static void say_distances(struct doctor *d, const struct sx_source_info *info)
{
	const char *told = json_string_value(json_object_get(json_object_get(d->status, "camera"), "text"));
	const struct sx_settings *s = &d->settings;
	char text[SX_CAMERA_TEXT_BYTES];

	if (!told && (s->source.kind == SX_SOURCE_SYNTHETIC || !(s->params.camera.fx > 0)))
		return;
	if (!told)
		sx_camera_tell(s, info, text, sizeof(text));
	doctor_say(d, DOCTOR_OK, "distances", NULL, "%s", told ? told : text);
}

static void say_sound(struct doctor *d)
{
	static const char *const kinds[] = {[SX_SOURCE_V4L2] = "cameras",
					    [SX_SOURCE_FILES] = "image files",
					    [SX_SOURCE_SYNTHETIC] = "a generated street",
					    [SX_SOURCE_SHARED] = "another process"};
	const struct sx_settings *s = &d->settings;
	struct sx_source_info info = {0};
	char name[DOCTOR_PATH_BYTES + 64];
	struct doctor_files files;
	struct sx_why why;
	int width = s->source.width, height = s->source.height;

	if (s->source.kind == SX_SOURCE_FILES && doctor_files_look(&s->source, &files, &why)) {
		width = info.width = files.width;
		height = info.height = files.height;
	}
	if (width && sx_settings_check_size(s, width, height, &why) < 0) {
		doctor_say(d, DOCTOR_PROBLEM, CHECK, NULL, "%s: %s", name_of(d, name, sizeof(name)),
			   why.text);
		return;
	}
	doctor_say(d, DOCTOR_OK, CHECK, NULL, "%s: %s%s%spairs from %s, camera by %s",
		   name_of(d, name, sizeof(name)), s->preset ? "preset " : "", s->preset ? s->preset : "",
		   s->preset ? ", " : "", kinds[s->source.kind], camera_model(s));
	say_distances(d, &info);
	say_questions(d, &info);
}

/* Lists the instances that have a configuration: "-i front or -i rear". */
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

/*
 * Takes the file and the overrides that the running daemon has read. False: an older daemon that does not
 * report them.
 */
static bool take_from_daemon(struct doctor *d)
{
	json_t *config = json_object_get(d->status, "config"), *files = json_object_get(config, "files");
	json_t *overrides = json_object_get(config, "overrides"), *text;
	const char *file = json_string_value(json_array_get(files, 0));
	const char *folder = json_string_value(json_object_get(config, "folder"));
	size_t i;

	if (!json_is_array(files) || !json_is_array(overrides) ||
	    json_array_size(overrides) > SX_OVERRIDES_MAX || (file && strlen(file) >= sizeof(d->file)))
		return false;
	if (folder && chdir(folder) < 0)
		errno = 0; /* relative names will not be found, but most are absolute */
	snprintf(d->file, sizeof(d->file), "%s", file ? file : "");
	json_array_foreach(overrides, i, text)
	{
		if (json_is_string(text))
			d->overrides[d->override_count++] = json_string_value(text);
	}
	d->asked = true;
	return true;
}

void doctor_choose_file(struct doctor *d)
{
	if (!take_from_daemon(d))
		snprintf(d->file, sizeof(d->file), "%s/etc/stixeld/%s.conf", d->root, d->instance);
}

/*
 * Reports a file that this program cannot read. This is only a warning, because the daemon has read the file.
 */
static void say_out_of_sight(struct doctor *d, int error)
{
	doctor_say(d, DOCTOR_WARNING, CHECK,
		   error == EACCES ? "ask as root" : "the daemon will miss it when it starts again",
		   "%s, which the running daemon was started with: %s; other checks take the defaults",
		   d->file, strerror(error));
}

void doctor_configuration(struct doctor *d)
{
	struct sx_errors errors = {0};
	struct sx_settings loaded = {0};
	int r;

	if (*d->file && access(d->file, d->asked ? R_OK : F_OK) < 0) {
		(d->asked ? say_out_of_sight : say_absent)(d, errno);
		return;
	}
	r = sx_settings_load(&loaded, *d->file ? d->file : NULL, d->overrides, d->override_count, true,
			     &errors);
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
