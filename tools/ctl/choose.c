/*
 * Chooses the instance if none is named, and reports an instance that is absent or does not answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "ipc/instance.h"
#include "tools/common/ring_layout.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/found.h"

int ctl_absent(const struct ctl *c)
{
	struct ctl_found *all = NULL;
	size_t count = ctl_find(&all);
	char names[256], state[sizeof(all->state)] = "";

	ctl_found_names(all, count, names, sizeof(names));
	for (size_t i = 0; i < count; i++) {
		/* it may be starting: the status socket of a daemon exists before its ring */
		if (all[i].running && strcmp(all[i].name, c->instance) == 0)
			snprintf(state, sizeof(state), "%s", all[i].state);
	}
	free(all);
	if (strcmp(state, "starting") == 0)
		return ctl_fail(CTL_NOTHING,
				"instance '%s' starts, and has no frames yet: try again in a moment",
				c->instance);
	if (*state)
		return ctl_fail(
			CTL_NOTHING,
			"instance '%s' runs (%s), but has no ring: it is creating one again, or output.ring = no",
			c->instance, state);
	if (strcmp(names, "none") == 0)
		return ctl_fail(CTL_NOTHING,
				"no stixeld runs as instance '%s'; running: none; start it: stixeld -i %s",
				c->instance, c->instance);
	return ctl_fail(CTL_NOTHING, "no stixeld runs as instance '%s'; running: %s", c->instance, names);
}

/* Returns the only running instance that uses this file. NULL: none, or several. */
static const struct ctl_found *runs_with(const struct ctl_found *all, size_t count, const char *file)
{
	const struct ctl_found *found = NULL;
	struct stat wanted, st;

	if (!file || stat(file, &wanted) < 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!all[i].running || !*all[i].file || stat(all[i].file, &st) < 0 ||
		    st.st_dev != wanted.st_dev || st.st_ino != wanted.st_ino)
			continue;
		if (found)
			return NULL;
		found = &all[i];
	}
	return found;
}

/* Takes NAME from FOLDER/NAME.conf, the form of the service's files. False: the file has another form. */
static bool name_of_file(const char *file, char *name, size_t bytes)
{
	const char *slash = file ? strrchr(file, '/') : NULL, *base = slash ? slash + 1 : file;
	const size_t n = base ? strlen(base) : 0;

	if (n <= 5 || n - 5 >= bytes || strcmp(base + n - 5, ".conf") != 0)
		return false;
	snprintf(name, bytes, "%.*s", (int)(n - 5), base);
	return sx_instance_check(name, NULL) == 0;
}

int ctl_choose(const struct ctl *c, const char **how, char *name, size_t bytes)
{
	struct ctl_found *all = NULL;
	const size_t count = ctl_find(&all);
	const struct ctl_found *found = runs_with(all, count, c->config);
	size_t running = 0;
	int code = 0;

	*how = found ? "which runs with that file" : NULL;
	for (size_t i = 0; i < count && !found; i++)
		if (all[i].running && strcmp(all[i].name, CTL_DEFAULT) == 0)
			found = &all[i];
	for (size_t i = 0; i < count && !found; i++)
		running += all[i].running;
	for (size_t i = 0; i < count && running == 1; i++)
		if (all[i].running) {
			found = &all[i];
			*how = "the only one that runs";
		}
	if (running > 1 && name_of_file(c->config, name, bytes)) {
		*how = "by the file's name";
	} else if (running > 1) {
		ctl_fail(0, "several instances run: name one with -i");
		code = ctl_absent(c);
	} else {
		snprintf(name, bytes, "%s", found ? found->name : CTL_DEFAULT);
	}
	free(all);
	return code;
}

int ctl_ask_failed(const struct ctl *c, const struct sx_reply *reply)
{
	const int r = reply->code;
	json_t *j = r == -ENOENT ? ctl_ask_ring(c->instance) : NULL;
	int code = r >= 0 || r == -EPROTO || r == -EMSGSIZE || r == -EBADMSG ? EX_DATAERR : CTL_NOTHING;
	char layout[SX_RING_LAYOUT_BYTES];

	if (j && json_is_true(json_object_get(j, "replay")))
		code = ctl_fail(code, "instance '%s' is a replay, which has frames alone", c->instance);
	else if (r == -ENOENT && !j && sx_ring_other_layout(c->instance, SX_PROGRAM, layout))
		code = ctl_explain(c, -EPROTONOSUPPORT);
	else if (r == -ENOENT && !j)
		code = ctl_absent(c);
	else
		code = ctl_fail(code, "%s", reply->why);
	json_decref(j);
	return code;
}
