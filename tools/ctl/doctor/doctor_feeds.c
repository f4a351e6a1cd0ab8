/*
 * Check of stixelctl doctor: whether the daemon may read the class scores, disparity maps and pairs of other
 * processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/feed/feed_dirs.h"
#include "ipc/feed/feed_kind.h"
#include "ipc/feed/trust.h"
#include "ipc/writers.h"
#include "tools/ctl/doctor/doctor.h"

/* Process that reads the maps: the running daemon, else the service, else the user of this program. */
struct reader {
	struct doctor_account account;
	char text[96]; /* "user stixeld, as the service," */
	gid_t writers; /* 0: there is no such group */
	bool member;   /* the reader is a member of the writers' group */
	/*
	 * the group's list of members has the reader; a process that started earlier does not have the group
	 */
	bool registered;
	bool process;
};

/* ---- the reader ---- */

static bool has_number(const char *list, gid_t number)
{
	char *end;

	for (unsigned long n = strtoul(list, &end, 10); end != list; n = strtoul(list, &end, 10)) {
		if (n == number)
			return true;
		list = end;
	}
	return false;
}

static void reader_join(struct reader *r)
{
	r->account.groups[r->account.count++] = r->writers;
	r->member = true;
}

/* Reads the user and groups of a process from the kernel. */
static bool read_process(const struct doctor *d, long long pid, struct reader *r)
{
	char path[DOCTOR_PATH_BYTES], below[64], line[4096];
	unsigned uid, gid;
	bool found = false;
	FILE *f;

	snprintf(below, sizeof(below), "/proc/%lld/status", pid);
	f = fopen(doctor_path(d, below, path, sizeof(path)), "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Uid: %*u %u", &uid) == 1) {
			r->account.uid = uid;
			found = true;
		} else if (sscanf(line, "Gid: %*u %u", &gid) == 1) {
			r->account.groups[r->account.count++] = gid;
			r->member = r->writers && gid == r->writers;
		} else if (strncmp(line, "Groups:", 7) == 0 && r->writers && !r->member &&
			   has_number(line + 7, r->writers)) {
			reader_join(r);
		}
	}
	if (f)
		fclose(f);
	return found;
}

static void read_caller(struct reader *r)
{
	r->account.uid = geteuid();
	r->account.groups[r->account.count++] = getegid();
	if (r->writers && sx_writers_member(r->writers) > 0)
		reader_join(r);
}

static void name_account(const struct doctor *d, struct doctor_account *a)
{
	const bool service = *d->service.name && a->uid == d->service.uid;
	const struct passwd *p = service ? NULL : getpwuid(a->uid);

	if (service || p)
		snprintf(a->name, sizeof(a->name), "%s", service ? d->service.name : p->pw_name);
	else
		snprintf(a->name, sizeof(a->name), "%u", (unsigned)a->uid);
}

static void find_reader(const struct doctor *d, struct reader *r)
{
	const long long pid = json_integer_value(json_object_get(d->status, "pid"));
	bool service;

	*r = (struct reader){0};
	if (!doctor_find_group(d, SX_WRITERS_GROUP, NULL, &r->writers, &r->registered))
		r->writers = 0;
	r->process = pid > 0 && read_process(d, pid, r);
	service = !r->process && d->unit.loaded && *d->service.name;
	if (service)
		r->account = d->service;
	else if (!r->process)
		read_caller(r);
	name_account(d, &r->account);
	doctor_find_group(d, SX_WRITERS_GROUP, r->account.name, &r->writers, &r->registered);
	if (service)
		r->member = r->registered;
	if (r->process)
		snprintf(r->text, sizeof(r->text), "process %lld of user %s", pid, r->account.name);
	else
		snprintf(r->text, sizeof(r->text), "user %s%s", r->account.name,
			 service ? ", as the service," : "");
}

/* ---- findings ---- */

/*
 * Reports that the daemon has refused the ring. The daemon may see less than this program: with
 * PrivateUsers=yes it sees all other users as the user `nobody`.
 */
static bool say_refused(struct doctor *d, enum sx_feed_kind kind)
{
	const char *what = sx_feed_words(kind)->many;
	json_t *feed = json_object_get(d->status, kind == SX_FEED_SCORES ? "semantics" : "external");
	const char *state = json_string_value(json_object_get(feed, "state"));
	const char *why = json_string_value(json_object_get(feed, "reason"));

	if (!state || strcmp(state, sx_feed_state_name(SX_FEED_REFUSED)) != 0)
		return false;
	doctor_say(d, DOCTOR_PROBLEM, what, "see who may write, and PrivateUsers=, in docs/use/semantics.md",
		   "the daemon refuses %s: %s", what, why ? why : "it does not say why");
	return true;
}

/*
 * Finds the ring for the reader: in the first folder that has one. If no folder has one, returns the folder
 * that is tried first. The personal folders of another user are unknown here.
 */
static bool find_feed(const struct doctor *d, const struct reader *r, enum sx_feed_kind kind,
		      const char *name, enum sx_feed_dir *place, char *path, size_t bytes, struct stat *st)
{
	char folder[384], below[512];

	for (*place = SX_FEED_SYSTEM; *place < SX_FEED_DIRS; ++*place) {
		const bool own = *place == SX_FEED_RUNTIME || *place == SX_FEED_USER;

		if ((own && (r->account.uid != geteuid() || *d->root)) ||
		    !sx_feed_dir(*place, folder, sizeof(folder)))
			continue;
		snprintf(below, sizeof(below), "%s/%s%s", folder, sx_feed_words(kind)->prefix, name);
		if (lstat(doctor_path(d, below, path, bytes), st) == 0)
			return true;
	}
	sx_feed_dir(SX_FEED_SYSTEM, folder, sizeof(folder));
	snprintf(below, sizeof(below), "%s/%s%s", folder, sx_feed_words(kind)->prefix, name);
	doctor_path(d, below, path, bytes);
	return false;
}

/* Reports the state of the ring. Returns true if the ring exists and the reader may read it. */
static bool say_ring(struct doctor *d, const struct reader *r, enum sx_feed_kind kind, const char *name)
{
	const char *what = sx_feed_words(kind)->many;
	char path[DOCTOR_PATH_BYTES];
	struct sx_why why;
	enum sx_feed_dir place;
	struct stat st;

	if (!find_feed(d, r, kind, name, &place, path, sizeof(path), &st)) {
		doctor_say(d, DOCTOR_OK, what, NULL, "no process writes %s yet: there is no %s", what, path);
		return false;
	}
	if (!S_ISREG(st.st_mode))
		doctor_say(d, DOCTOR_PROBLEM, what, "remove it, and start its writer again",
			   "%s is not a regular file", path);
	else if (sx_feed_trusted_by(r->account.uid, &st, r->writers, path, &why) < 0)
		doctor_say(d, DOCTOR_PROBLEM, what, "then start the writer again", "%s", why.text);
	else if (!doctor_may(&r->account, &st, 04))
		doctor_say(d, DOCTOR_PROBLEM, what,
			   r->member || st.st_gid != r->writers ? "its writer has to let others read it"
								: NULL,
			   "%s belongs to group %s, mode %o: %s may not read it", path,
			   st.st_gid == r->writers ? SX_WRITERS_GROUP : doctor_group(st.st_gid),
			   (unsigned)st.st_mode & 0777, r->text);
	else if (!say_refused(d, kind)) {
		if (place == SX_FEED_SHARED)
			doctor_say(d, DOCTOR_WARNING, what,
				   "give it libstixel 0.2 and group " SX_WRITERS_GROUP ", and start it again",
				   "%s may be read by user %s, but lies where any user may take its name",
				   path, r->account.name);
		else
			doctor_say(d, DOCTOR_OK, what, NULL, "%s may be read by user %s", path,
				   r->account.name);
		return true;
	}
	return false;
}

/* Reports the socket of a running daemon: the users that may write pairs to it. True: the group may. */
static bool say_socket(struct doctor *d, const struct reader *r, const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		doctor_say(d, DOCTOR_PROBLEM, "pairs", "start the daemon again",
			   "there is no socket %s: no process can write pairs", path);
		return false;
	}
	if (!r->writers || st.st_gid != r->writers || (st.st_mode & 060) != 060) {
		doctor_say(d, DOCTOR_WARNING, "pairs",
			   "let the daemon's user join group " SX_WRITERS_GROUP
			   ", and start the daemon again",
			   "only root and user %s may write pairs to %s", r->account.name, path);
		return false;
	}
	doctor_say(d, DOCTOR_OK, "pairs", NULL, "members of group " SX_WRITERS_GROUP " may write pairs to %s",
		   path);
	return true;
}

/* Reports the writer of pairs. Returns true if the rights need no more words. */
static bool say_pairs(struct doctor *d, const struct reader *r)
{
	json_t *source = json_object_get(d->status, "source");
	json_t *camera = json_array_get(json_object_get(source, "cameras"), 0);
	const char *path = json_string_value(json_object_get(camera, "path"));
	const char *kind = json_string_value(json_object_get(source, "kind"));
	const char *writer = json_string_value(json_object_get(source, "writer"));
	const char *reason = json_string_value(json_object_get(d->status, "reason"));
	bool well;

	if (!path || !kind || strcmp(kind, "shared") != 0) {
		doctor_say(d, DOCTOR_OK, "pairs", NULL,
			   "another process writes them to pairs.sock, which a running daemon makes");
		return false;
	}
	well = say_socket(d, r, path);
	if (writer)
		doctor_say(d, DOCTOR_OK, "writer", NULL, "%s writes the pairs", writer);
	else
		doctor_say(
			d, DOCTOR_WARNING, "writer",
			"start the process that writes the pairs (docs/use/pairs.md); its user has to be a "
			"member of group " SX_WRITERS_GROUP,
			"%s", reason ? reason : "no process writes pairs");
	return well;
}

/* Checks the folder: only members of the group may create files in it. */
static void say_folder(struct doctor *d, const struct reader *r)
{
	static const char advice[] = SX_FEED_REMEDY;
	char folder[DOCTOR_PATH_BYTES], path[DOCTOR_PATH_BYTES];
	struct stat st;

	if (!r->writers || !*d->service.name || !sx_feed_dir(SX_FEED_SYSTEM, folder, sizeof(folder)))
		return;
	if (lstat(doctor_path(d, folder, path, sizeof(path)), &st) < 0)
		doctor_say(d, DOCTOR_WARNING, "feed folder", advice,
			   "there is no %s: writers use /dev/shm, where any user may take their names", path);
	else if (!S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_gid != r->writers ||
		 (st.st_mode & 07777) != SX_FEED_MODE)
		doctor_say(d, DOCTOR_PROBLEM, "feed folder", advice,
			   "%s has owner %u, group %u, mode %o: needed are root, group %s, mode %o", path,
			   (unsigned)st.st_uid, (unsigned)st.st_gid, (unsigned)st.st_mode & 07777,
			   SX_WRITERS_GROUP, (unsigned)SX_FEED_MODE);
}

/*
 * Reports the reader's membership of the writers' group. well: the reader may read all rings, whatever its
 * groups.
 */
static void say_membership(struct doctor *d, const struct reader *r, bool well)
{
	const bool service = *d->service.name && r->account.uid == d->service.uid;
	char advice[160];

	if (!r->writers) {
		doctor_say(d, DOCTOR_WARNING, "writers",
			   "systemd-sysusers, or groupadd -r " SX_WRITERS_GROUP
			   "; then start daemon and writer again",
			   "there is no group " SX_WRITERS_GROUP ": read is only what root and user %s write",
			   r->account.name);
	} else if (r->account.uid == 0) {
		doctor_say(d, DOCTOR_OK, "writers", NULL,
			   "%s, as root, may read what members of group " SX_WRITERS_GROUP " write", r->text);
	} else if (r->member) {
		doctor_say(d, DOCTOR_OK, "writers", NULL, "%s is a member of group " SX_WRITERS_GROUP,
			   r->text);
	} else if (!well) {
		snprintf(advice, sizeof(advice), "usermod -aG " SX_WRITERS_GROUP " %s, then start it again",
			 r->account.name);
		doctor_say(d, service ? DOCTOR_PROBLEM : DOCTOR_WARNING, "writers",
			   r->process && r->registered
				   ? "start it again: its user became one after it had started"
				   : advice,
			   "%s is not a member of group " SX_WRITERS_GROUP
			   ": what other users write for it is not read",
			   r->text);
	}
}

void doctor_feeds(struct doctor *d)
{
	const char *scores = d->settings.semantics.source;
	const char *maps =
		d->settings.params.stereo.matcher == SX_MATCH_EXTERNAL ? d->settings.external.source : NULL;
	const bool pairs = d->settings.source.kind == SX_SOURCE_SHARED;
	struct reader r;
	bool well = true;

	if (!d->loaded || (!scores && !maps && !pairs))
		return;
	find_reader(d, &r);
	if (scores)
		well = say_ring(d, &r, SX_FEED_SCORES, scores);
	if (maps)
		well = say_ring(d, &r, SX_FEED_DISPARITY, maps) && well;
	if (pairs)
		well = say_pairs(d, &r) && well;
	say_membership(d, &r, well);
	if (scores || maps)
		say_folder(d, &r);
}
