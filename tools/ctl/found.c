/*
 * Finds the instances of this machine by the folders of their sockets and by their rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/found.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/instance.h"
#include "tools/common/instances.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/ring_look.h"

enum { ASK_MS = 1000 };

struct finding {
	struct ctl_found *all;
	size_t count, room;
};

/* Adds the name of a folder or ring to the list. The name is checked, because any file may lie there. */
static void found_take(void *user, const char *name)
{
	struct finding *f = user;

	if (sx_instance_check(name, NULL) < 0)
		return;
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->all[i].name, name) == 0)
			return;
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 8;
		struct ctl_found *more = realloc(f->all, room * sizeof(*more));

		if (!more)
			return;
		f->all = more;
		f->room = room;
	}
	memset(&f->all[f->count], 0, sizeof(f->all[0]));
	snprintf(f->all[f->count++].name, sizeof(f->all[0].name), "%s", name);
}

static void found_take_ring(void *user, const char *name, bool trusted)
{
	(void)trusted; /* not used: the list shows the owner of each ring, and whether it can be read */
	found_take(user, name);
}

/* Takes the main file, which is the first of the list. The others are drop-ins. */
static void take_file(struct ctl_found *f, json_t *j)
{
	const char *file = json_string_value(json_array_get(sx_answer_find(j, "config.files"), 0));
	const char *folder = json_string_value(sx_answer_find(j, "config.folder"));

	if (!file)
		return;
	if (*file == '/' || !folder)
		snprintf(f->file, sizeof(f->file), "%s", file);
	else
		snprintf(f->file, sizeof(f->file), "%s/%s", folder, file);
}

static void take_answer(struct ctl_found *f, json_t *j)
{
	json_t *fps = sx_answer_find(j, "fps.last_1s");

	f->running = true;
	f->kind = json_is_true(json_object_get(j, "replay")) ? CTL_FOUND_REPLAY : CTL_FOUND_DAEMON;
	snprintf(f->state, sizeof(f->state), "%s", sx_answer_text(j, "state"));
	snprintf(f->version, sizeof(f->version), "%s", sx_answer_text(j, "version"));
	f->pid = json_integer_value(json_object_get(j, "pid"));
	f->fps = json_is_number(fps) ? json_number_value(fps) : (double)NAN;
	take_file(f, j);
}

/*
 * Fills f from the ring if the status socket did not answer; status: the socket's error. False: there is no
 * ring.
 */
static bool take_ring(struct ctl_found *f, int status)
{
	struct ctl_ring ring;
	int r = ctl_ring_look(&ring, f->name);
	json_t *j;

	f->fps = (double)NAN;
	if (r == 0) {
		j = ctl_ring_status(&ring);
		take_answer(f, j);
		json_decref(j);
		if (!ctl_ring_lives(&ring)) {
			f->kind = CTL_FOUND_LEFTOVER;
			f->running = false;
			f->fps = (double)NAN;
		}
		return true;
	}
	if (r == -EACCES || r == -EPERM || status == -EACCES)
		snprintf(f->state, sizeof(f->state), "no access");
	else if (r == -EPROTONOSUPPORT && sx_ring_other_layout(f->name, "stixelctl", f->layout))
		snprintf(f->state, sizeof(f->state), "unreadable");
	else if (status != -ENOENT && status != -ECONNREFUSED)
		snprintf(f->state, sizeof(f->state), "no answer");
	else
		return false;
	f->running = strcmp(f->state, "no answer") == 0;
	return true;
}

static bool look_at(struct ctl_found *f)
{
	struct sx_reply reply;
	json_t *j = ctl_ask_status(f->name, ASK_MS, &reply);
	bool there = j != NULL;

	if (there)
		take_answer(f, j);
	else
		there = take_ring(f, reply.code);
	json_decref(j);
	sx_reply_finish(&reply);
	return there;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ctl_found *)a)->name, ((const struct ctl_found *)b)->name);
}

size_t ctl_find(struct ctl_found **ret)
{
	struct finding f = {0};
	size_t kept = 0;

	sx_instances_find(found_take, &f);
	sx_instances_find_rings(found_take_ring, &f);
	for (size_t i = 0; i < f.count; i++)
		if (look_at(&f.all[i]))
			f.all[kept++] = f.all[i];
	if (kept)
		qsort(f.all, kept, sizeof(f.all[0]), by_name);
	*ret = f.all;
	return kept;
}

void ctl_found_names(const struct ctl_found *all, size_t count, char *to, size_t bytes)
{
	size_t used = 0;

	snprintf(to, bytes, "none");
	for (size_t i = 0; i < count; i++) {
		if (!all[i].running)
			continue;
		if (used + strlen(all[i].name) + 8 > bytes) {
			snprintf(to + used, bytes - used, ", ...");
			return;
		}
		used += (size_t)snprintf(to + used, bytes - used, "%s%s", used ? ", " : "", all[i].name);
	}
}

const char *ctl_found_kind_name(enum ctl_found_kind kind)
{
	static const char *const names[] = {[CTL_FOUND_DAEMON] = "daemon",
					    [CTL_FOUND_REPLAY] = "replay",
					    [CTL_FOUND_LEFTOVER] = "left over"};

	return names[kind];
}
