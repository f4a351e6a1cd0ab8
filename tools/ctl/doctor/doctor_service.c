/*
 * Check of stixelctl doctor: the unit, the account that it runs as, and the running instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/advice.h"
#include "ipc/writers.h"
#include "tools/common/args.h"
#include "tools/common/instances.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/doctor/doctor.h"
#include "tools/ctl/ring_look.h"

#define SERVICE_USER "stixeld"
#define READERS "stixel"
#define SYSTEMCTL_SECONDS 10

/* ---- systemctl ---- */

/*
 * Runs systemctl show and returns its output, cut to `room` bytes. False: there is no systemctl, or no
 * manager answers.
 */
static bool ask_manager(const char *unit, char *to, size_t room)
{
	int pipes[2], state = 0;
	size_t used = 0;
	ssize_t n;
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return false;
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(pipes[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		alarm(SYSTEMCTL_SECONDS); /* survives exec */
		execlp("systemctl", "systemctl", "show", "--no-pager", unit, (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	while (child > 0 && (n = read(pipes[0], to + used, room - 1 - used)) > 0)
		used += (size_t)n;
	close(pipes[0]);
	to[used] = '\0';
	return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/* Returns the value of the line "Name=value"; empty if there is no such line. */
static const char *property(const char *lines, const char *name, char *to, size_t bytes)
{
	size_t length = strlen(name);

	*to = '\0';
	for (const char *line = lines; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, name, length) == 0 && line[length] == '=')
			snprintf(to, bytes, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
	return to;
}

static int number_of(const char *text)
{
	int n;

	return sx_parse_int(text, 0, INT_MAX, &n) ? n : 0;
}

/* Returns true if the unit may open devices of a class such as "char-video4linux". */
static bool allows(const char *lines, const char *class)
{
	const char *list = "DeviceAllow=";
	char policy[32], hidden[32];
	bool any = false;

	if (strcmp(property(lines, "PrivateDevices", hidden, sizeof(hidden)), "yes") == 0)
		return false;
	for (const char *line = strstr(lines, list); line; line = strstr(line + 1, list)) {
		const char *value = line + strlen(list);

		if (strncmp(value, class, strlen(class)) == 0)
			return true;
		any = any || (*value && *value != '\n');
	}
	return !any && strcmp(property(lines, "DevicePolicy", policy, sizeof(policy)), "auto") == 0;
}

static void read_unit(struct doctor *d)
{
	static char lines[65536];
	struct doctor_unit *u = &d->unit;
	char name[128], text[64];

	snprintf(name, sizeof(name), "stixeld@%s.service", d->instance);
	u->answered = ask_manager(name, lines, sizeof(lines));
	if (!u->answered)
		return;
	u->loaded = strcmp(property(lines, "LoadState", text, sizeof(text)), "loaded") == 0;
	property(lines, "ActiveState", u->active, sizeof(u->active));
	property(lines, "SubState", u->sub, sizeof(u->sub));
	property(lines, "Result", u->result, sizeof(u->result));
	property(lines, "UnitFileState", u->enabled, sizeof(u->enabled));
	property(lines, "StatusText", u->status, sizeof(u->status));
	property(lines, "LimitRTPRIO", u->rtprio, sizeof(u->rtprio));
	property(lines, "LimitMEMLOCK", u->memlock, sizeof(u->memlock));
	u->cameras = allows(lines, "char-81") ||
		     allows(lines, "char-video4linux"); /* number and name of the same class */
	u->gpu = allows(lines, doctor_is_jetson(d) ? "/dev/nvmap" : "char-nvidia");
	u->restarts = number_of(property(lines, "NRestarts", text, sizeof(text)));
	u->exit_code = number_of(property(lines, "ExecMainStatus", text, sizeof(text)));
}

static const char *advice_for(int exit_code, char *advice, size_t bytes, const struct doctor *d)
{
	const char *what = "";

	switch (exit_code) {
	case 64:
		what = "its ExecStart= is wrong: ";
		break;
	case 65:
		what = "its image files cannot be read: ";
		break;
	case 69:
		what = "no usable GPU: ";
		break;
	case 70:
		what = "the engine or the system failed, or the program has a fault: ";
		break;
	case 73:
		what = "shared memory or a socket cannot be made, or another daemon has this name: ";
		break;
	case 78:
		what = "its configuration is wrong: ";
		break;
	default:
		break;
	}
	snprintf(advice, bytes, "%sjournalctl -u stixeld@%s -n 20, then systemctl reset-failed stixeld@%s",
		 what, d->instance, d->instance);
	return advice;
}

static void say_unit(struct doctor *d)
{
	const struct doctor_unit *u = &d->unit;
	char advice[256];

	if (strcmp(u->active, "failed") == 0)
		doctor_say(d, DOCTOR_PROBLEM, "unit", advice_for(u->exit_code, advice, sizeof(advice), d),
			   "stixeld@%s failed (%s, exit status %d) after %d restarts", d->instance, u->result,
			   u->exit_code, u->restarts);
	else if (strcmp(u->sub, "auto-restart") == 0)
		doctor_say(d, DOCTOR_PROBLEM, "unit", advice_for(u->exit_code, advice, sizeof(advice), d),
			   "stixeld@%s is being restarted, attempt %d (%s, exit status %d)", d->instance,
			   u->restarts + 1, u->result, u->exit_code);
	else if (u->restarts > 0)
		doctor_say(d, DOCTOR_WARNING, "unit", "journalctl -u says why",
			   "stixeld@%s is %s, restarted %d times", d->instance, u->active, u->restarts);
	else
		doctor_say(d, DOCTOR_OK, "unit", NULL, "stixeld@%s is %s, %s at boot%s%s", d->instance,
			   u->active, strcmp(u->enabled, "enabled") == 0 ? "started" : "not started",
			   *u->status ? ": " : "", u->status);
	if (!u->cameras && d->settings.source.kind == SX_SOURCE_V4L2)
		doctor_say(d, DOCTOR_PROBLEM, "unit",
			   "remove the drop-in that takes them away (files.conf does)",
			   "the device policy of the service hides cameras");
}

/* ---- accounts ---- */

/* Finds a user of this system, or of the one below root. */
static bool find_user(const struct doctor *d, const char *name, uid_t *uid, gid_t *gid)
{
	char path[DOCTOR_PATH_BYTES];
	FILE *f = *d->root ? fopen(doctor_path(d, "/etc/passwd", path, sizeof(path)), "re") : NULL;
	const struct passwd *p = *d->root ? NULL : getpwnam(name);
	bool found;

	while (f && (p = fgetpwent(f)) && strcmp(p->pw_name, name) != 0)
		;
	found = p != NULL;
	if (found) {
		*uid = p->pw_uid;
		*gid = p->pw_gid;
	}
	if (f)
		fclose(f);
	return found;
}

static bool lists(char *const *names, const char *name)
{
	for (; name && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

bool doctor_find_group(const struct doctor *d, const char *name, const char *user, gid_t *gid, bool *member)
{
	char path[DOCTOR_PATH_BYTES];
	FILE *f = *d->root ? fopen(doctor_path(d, "/etc/group", path, sizeof(path)), "re") : NULL;
	const struct group *g = *d->root ? NULL : getgrnam(name);
	bool found;
	uid_t uid;
	gid_t own;

	while (f && (g = fgetgrent(f)) && strcmp(g->gr_name, name) != 0)
		;
	found = g != NULL;
	if (found) {
		*gid = g->gr_gid;
		*member = lists(g->gr_mem, user);
	}
	if (f)
		fclose(f);
	if (found && !*member)
		*member = user && find_user(d, user, &uid, &own) && own == *gid;
	return found;
}

/*
 * Sets the user of the unit with the groups that the unit adds, and with the writers' group if the user is a
 * member.
 */
static void read_service_account(struct doctor *d)
{
	static const char *const groups[] = {READERS, "video", "render", SX_WRITERS_GROUP};
	const size_t given = 3;
	struct doctor_account *a = &d->service;
	bool member;

	if (!find_user(d, SERVICE_USER, &a->uid, &a->groups[0]))
		return;
	a->count = 1;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		a->count += doctor_find_group(d, groups[i], SERVICE_USER, &a->groups[a->count], &member) &&
			    (i < given || member);
	snprintf(a->name, sizeof(a->name), "%s", SERVICE_USER);
}

/* Reports a path that the unit cannot see: homes and temporary files are hidden from it. */
static void say_hidden(struct doctor *d, const char *what, const char *path)
{
	static const char *const hidden[] = {"/home", "/root", "/run/user", "/tmp", "/var/tmp"};
	const char *inside = path;
	struct stat st;

	if (!path || !*path)
		return;
	if (strncmp(path, d->root, strlen(d->root)) == 0)
		inside += strlen(d->root);
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (strncmp(inside, hidden[i], strlen(hidden[i])) == 0 && inside[strlen(hidden[i])] == '/') {
			doctor_say(d, DOCTOR_WARNING, "unit", "put it below /etc/stixeld or /srv",
				   "%s %s lies where the service sees nothing (ProtectHome=, PrivateTmp=)",
				   what, path);
			return;
		}
	if (*d->service.name && stat(path, &st) == 0 &&
	    !doctor_may(&d->service, &st, S_ISDIR(st.st_mode) ? 05 : 04))
		doctor_say(d, DOCTOR_PROBLEM, "unit", "chmod o+r, or give it to group stixel",
			   "%s %s cannot be read by user %s (mode %03o)", what, path, d->service.name,
			   (unsigned)st.st_mode & 0777);
}

static void say_readers(struct doctor *d)
{
	gid_t readers, mine[256];
	int count = getgroups(256, mine);
	bool member;

	if (!doctor_find_group(d, READERS, NULL, &readers, &member) || geteuid() == 0 || getegid() == readers)
		return;
	for (int i = 0; i < count; i++)
		if (mine[i] == readers)
			return;
	doctor_say(d, DOCTOR_WARNING, "readers", "usermod -aG stixel YOU, then log in again",
		   "you are not in group " READERS
		   ": frames and status of the service are not accessible to you");
}

void doctor_service(struct doctor *d)
{
	read_unit(d);
	read_service_account(d);
	if (!d->unit.answered) {
		doctor_say(d, DOCTOR_OK, "unit", NULL, "systemd does not answer: nothing to check");
	} else if (!d->unit.loaded) {
		doctor_say(d, DOCTOR_OK, "unit", NULL,
			   "stixeld@.service is not installed: the daemon is started by hand");
	} else {
		if (!*d->service.name)
			doctor_say(d, DOCTOR_PROBLEM, "unit", "systemd-sysusers",
				   "user " SERVICE_USER ", which the service runs as, does not exist");
		say_unit(d);
		if (!d->asked) { /* otherwise the daemon has read these files, however it was started */
			say_hidden(d, "configuration", d->file);
			say_hidden(d, "calibration", d->settings.calibration);
			say_hidden(d, "source.path", d->settings.source.path);
		}
	}
	say_readers(d);
}

/* ---- the running instance ---- */

static const char *text_of(json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static void say_stamps(struct doctor *d)
{
	json_t *source = json_object_get(d->status, "source");
	const char *stamp = text_of(source, "stamp");

	if (strcmp(text_of(source, "kind"), "v4l2") != 0 || !*stamp)
		return;
	if (strcmp(stamp, "software") == 0)
		doctor_say(d, DOCTOR_WARNING, "time stamps",
			   "compare source.pair_skew_us of the status with half a period",
			   "the cameras give no monotonic time: pairs are matched by when pictures were "
			   "fetched");
	else
		doctor_say(d, DOCTOR_OK, "time stamps", NULL, "the cameras' own, monotonic: %s", stamp);
}

/*
 * Reports how often the daemon used JPEGs that violate the standard. The camera produces them; this is not a
 * fault.
 */
static void say_odd_jpeg(struct doctor *d)
{
	static const char *const kinds[][2] = {
		{"padding", "fill bytes before the end marker"},
		{"restart_padding", "fill bytes before a restart marker"},
		{"header_bytes", "bytes between the segments of the header"},
		{"scan_header", "numbers in the scan header that do not belong there"},
		{"other", "something else that libjpeg warns about"}};
	json_t *cameras = json_object_get(json_object_get(d->status, "source"), "cameras"), *camera;
	size_t i;

	json_array_foreach(cameras, i, camera)
	{
		json_t *odd = json_object_get(camera, "odd_jpeg");
		json_int_t images = json_integer_value(json_object_get(camera, "captured"));

		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			json_int_t n = json_integer_value(json_object_get(odd, kinds[k][0]));

			if (n > 0)
				doctor_say(d, DOCTOR_OK, "JPEG", NULL,
					   "%s writes odd JPEGs, which are used all the same: %s, in %lld of "
					   "%lld images",
					   text_of(camera, "path"), kinds[k][1], (long long)n,
					   (long long)images);
		}
	}
}

static void say_state(struct doctor *d)
{
	const char *state = text_of(d->status, "state"), *reason = text_of(d->status, "reason");
	enum doctor_level level = strcmp(state, "running") == 0	    ? DOCTOR_OK
				  : strcmp(state, "no_camera") == 0 ? DOCTOR_PROBLEM
								    : DOCTOR_WARNING;

	const char *remedy = sx_advice_on_reason(reason);

	doctor_say(d, level, "instance", remedy, "'%s' runs as process %lld: %s%s%s", d->instance,
		   (long long)json_integer_value(json_object_get(d->status, "pid")), state,
		   *reason ? ": " : "", reason);
	if (strcmp(text_of(d->status, "version"), SX_VERSION) != 0)
		doctor_say(d, DOCTOR_WARNING, "instance", "restart it",
			   "the daemon is version %s, this is " SX_VERSION, text_of(d->status, "version"));
}

json_t *doctor_fetch(const char *instance)
{
	struct sx_reply reply;
	json_t *status = ctl_ask_status(instance, CTL_ANSWER_MS, &reply);

	sx_reply_finish(&reply);
	return status;
}

void doctor_ask(struct doctor *d)
{
	d->status = ctl_ask_status(d->instance, CTL_ANSWER_MS, &d->reply);
	sx_reply_finish(&d->reply);
}

/*
 * Returns true if a replay publishes the instance. Always false below a test's root, whose /dev/shm is not
 * looked at.
 */
static bool is_replay(const struct doctor *d)
{
	struct ctl_ring ring;

	return !*d->root && ctl_ring_look(&ring, d->instance) == 0 && ctl_ring_lives(&ring) &&
	       ctl_ring_replays(&ring);
}

void doctor_instance(struct doctor *d)
{
	const bool active = strcmp(d->unit.active, "active") == 0;
	const char *why = d->reply.why;
	const int r = d->reply.code;

	if (d->status) {
		say_state(d);
		say_stamps(d);
		say_odd_jpeg(d);
		return;
	}
	if (is_replay(d))
		doctor_say(d, DOCTOR_OK, "instance", NULL, "'%s' is a replay of a recording", d->instance);
	else if (r == -ENOENT || r == -ECONNREFUSED)
		doctor_say(d, active ? DOCTOR_PROBLEM : DOCTOR_OK, "instance", NULL,
			   "no stixeld runs as '%s'%s", d->instance,
			   active ? ", or its socket is not accessible to you" : "");
	else if (r == -EACCES)
		doctor_say(d, DOCTOR_WARNING, "instance", "ask as root", "%s",
			   why); /* the text names the group */
	else
		doctor_say(d, DOCTOR_PROBLEM, "instance",
			   "if that lasts, the daemon hangs: systemctl restart", "%s", why);
}
