/*
 * Check of stixelctl doctor: the cameras of the configuration, and whether both can use the same mode.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/v4l2/v4l2_format.h"
#include "tools/ctl/doctor/doctor.h"
#include "tools/ctl/doctor/doctor_modes.h"

#define MODES 512

struct camera {
	const char *check, *key, *path;
	struct stat st;
	bool there;
	struct sx_v4l2_mode modes[MODES];
	struct doctor_offer offer;
	char name[64];
};

/*
 * Lists the video devices, so that the user need not look for them: "/dev/video0 (vivid), /dev/video2 (...)".
 */
static const char *list_devices(const struct doctor *d, char *to, size_t bytes)
{
	char path[DOCTOR_PATH_BYTES], inside[DOCTOR_PATH_BYTES], name[64];
	DIR *dir = opendir(doctor_path(d, "/sys/class/video4linux", path, sizeof(path)));
	const struct dirent *e;
	size_t used = 0;

	*to = '\0';
	while (dir && (e = readdir(dir)))
		if (strncmp(e->d_name, "video", 5) == 0 && strlen(e->d_name) < 32) {
			snprintf(inside, sizeof(inside), "/sys/class/video4linux/%.31s/name", e->d_name);
			if (!doctor_line(d, inside, name, sizeof(name)))
				snprintf(name, sizeof(name), "no name");
			if (used < bytes)
				used += (size_t)snprintf(to + used, bytes - used, "%s/dev/%.31s (%s)",
							 used ? ", " : "there are ", e->d_name, name);
		}
	if (dir)
		closedir(dir);
	if (!used)
		snprintf(to, bytes,
			 "this machine has no video device (is it plugged in, is its driver loaded?)");
	return to;
}

/* Returns true if process pid has the device open. */
static bool has_open(const struct doctor *d, const char *pid, dev_t device)
{
	char path[DOCTOR_PATH_BYTES], below[64];
	const struct dirent *e;
	bool found = false;
	struct stat st;
	DIR *dir;

	snprintf(below, sizeof(below), "/proc/%.16s/fd", pid);
	dir = opendir(doctor_path(d, below, path, sizeof(path)));
	while (dir && !found && (e = readdir(dir)))
		found = fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISCHR(st.st_mode) &&
			st.st_rdev == device;
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Finds another process that has the device open: "process 4711 (guvcview)". False: there is none among the
 * processes that this user may look at.
 */
static bool find_holder(const struct doctor *d, dev_t device, long *pid, char *name, size_t bytes)
{
	char path[DOCTOR_PATH_BYTES];
	DIR *dir = opendir(doctor_path(d, "/proc", path, sizeof(path)));
	const struct dirent *e;

	*pid = 0;
	while (dir && !*pid && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && strtol(e->d_name, NULL, 10) != getpid() &&
		    has_open(d, e->d_name, device)) {
			*pid = strtol(e->d_name, NULL, 10);
			snprintf(path, sizeof(path), "/proc/%.16s/comm", e->d_name);
			if (!doctor_line(d, path, name, bytes))
				snprintf(name, bytes, "?");
		}
	if (dir)
		closedir(dir);
	return *pid != 0;
}

static void say_holder(struct doctor *d, const struct camera *c, bool busy)
{
	long long daemon = json_integer_value(json_object_get(d->status, "pid"));
	char name[64];
	long pid;

	if (find_holder(d, c->st.st_rdev, &pid, name, sizeof(name))) {
		if (pid == daemon)
			doctor_say(d, DOCTOR_OK, c->check, NULL, "in use by this instance's daemon");
		else
			doctor_say(d, busy ? DOCTOR_PROBLEM : DOCTOR_WARNING, c->check,
				   "only one program at a time can take images: end the other",
				   "%s is open in process %ld (%s)", c->path, pid, name);
	} else if (busy) {
		doctor_say(d, DOCTOR_PROBLEM, c->check, "as root, doctor sees which process it is",
			   "%s is busy", c->path);
	}
}

/* Reports whether the service may open an existing device node, if there is a service. */
static void say_rights(struct doctor *d, const struct camera *c, bool mine)
{
	const char *group = doctor_group(c->st.st_gid);
	bool service = *d->service.name != '\0', its = service && doctor_may(&d->service, &c->st, 06);
	char advice[128];

	if (service && !its) {
		doctor_say(d, DOCTOR_PROBLEM, c->check,
			   "a udev rule has to give it to group video, mode 0660",
			   "%s belongs to group %s, mode %03o: user %s, as the service, cannot open it",
			   c->path, group, (unsigned)c->st.st_mode & 0777, d->service.name);
	} else if (!mine) {
		snprintf(advice, sizeof(advice),
			 (c->st.st_mode & 060) == 060 && c->st.st_gid
				 ? "usermod -aG %s YOU, then log in again; or run doctor as root"
				 : "run doctor as root",
			 group);
		doctor_say(d, its ? DOCTOR_WARNING : DOCTOR_PROBLEM, c->check, advice,
			   "%s: you are not allowed to open it (group %s, mode %03o)%s", c->path, group,
			   (unsigned)c->st.st_mode & 0777, its ? ", the service is" : "");
	}
}

static void say_failure(struct doctor *d, const struct camera *c, int r, const char *why)
{
	char advice[600], list[512];

	switch (-r) {
	case EACCES:
	case EPERM:
		say_rights(d, c, false);
		return;
	case EBUSY:
		say_holder(d, c, true);
		return;
	default:
		snprintf(advice, sizeof(advice), "%s: %s", c->key, list_devices(d, list, sizeof(list)));
		doctor_say(d, DOCTOR_PROBLEM, c->check, advice, "%s", why);
	}
}

static void look_at(struct doctor *d, struct camera *c)
{
	char text[256];
	struct sx_why why;
	int r;

	if (!c->path || !*c->path) {
		doctor_say(d, DOCTOR_PROBLEM, c->check, NULL, "%s is not set", c->key);
		return;
	}
	c->there = stat(c->path, &c->st) == 0;
	r = sx_v4l2_probe(c->path, c->modes, MODES, c->name, sizeof(c->name), &why);
	if (r < 0) {
		say_failure(d, c, r, why.text);
		return;
	}
	c->offer = (struct doctor_offer){c->modes, r};
	doctor_say(d, r > 0 ? DOCTOR_OK : DOCTOR_PROBLEM, c->check, NULL, "%s is %s: %s", c->path, c->name,
		   doctor_formats_text(&c->offer, text, sizeof(text)));
	say_rights(d, c, true);
	say_holder(d, c, false);
}

/*
 * Makes the wish for one camera. The configured size is of one image. A camera that delivers both images in
 * one picture has twice this size, except if they are interleaved.
 */
static struct doctor_wish wish_of(const struct sx_source_params *p)
{
	struct doctor_wish wish = {NULL, p->width, p->height, p->fps, sx_layout_is_interleaved(p->layout)};

	for (int i = 0; i < SX_V4L2_FORMATS; i++)
		if (p->format != SX_FORMAT_AUTO && sx_v4l2_formats[i].choice == p->format)
			wish.format = sx_v4l2_formats[i].name;
	if (p->layout == SX_LAYOUT_SIDE_BY_SIDE)
		wish.width *= 2;
	if (p->layout == SX_LAYOUT_TOP_BOTTOM)
		wish.height *= 2;
	return wish;
}

static void say_lack(struct doctor *d, const struct camera *c, const struct doctor_wish *wish,
		     const char *wished)
{
	const struct doctor_wish other = {NULL, 0, 0, 0, !wish->interleaved};
	struct sx_v4l2_mode mode;
	const char *advice = "change source.size or source.format";
	char offer[600];

	if (doctor_mode(&c->offer, NULL, &other, &mode))
		advice = wish->interleaved
				 ? "change source.size, source.format or source.layout"
				 : "change source.size or source.format; of Y8I and Y12I, which have both "
				   "images of one camera, source.layout is interleaved";
	doctor_say(d, DOCTOR_PROBLEM, "camera modes", advice, "%s does not offer %s, but %s", c->path, wished,
		   doctor_offer_text(&c->offer, offer, sizeof(offer)));
}

static void say_modes(struct doctor *d, const struct camera *left, const struct camera *right)
{
	const struct doctor_wish wish = wish_of(&d->settings.source);
	const struct doctor_wish any_rate = {wish.format, wish.width, wish.height, 0, wish.interleaved};
	const struct doctor_offer *other = right ? &right->offer : NULL;
	struct sx_v4l2_mode mode;
	char text[128], shape[128];

	doctor_wish_text(&wish, text, sizeof(text));
	doctor_wish_text(&any_rate, shape, sizeof(shape));
	if (!doctor_mode(&left->offer, NULL, &any_rate, &mode))
		say_lack(d, left, &any_rate, shape);
	else if (right && !doctor_mode(&right->offer, NULL, &any_rate, &mode))
		say_lack(d, right, &any_rate, shape);
	else if (doctor_mode(&left->offer, other, &wish, &mode))
		doctor_say(d, DOCTOR_OK, "camera modes", NULL,
			   "%s%s %dx%d at up to %.4g fps; asked for is %s%s", right ? "both offer " : "",
			   mode.format, mode.width, mode.height, mode.fps, text,
			   wish.width ? "" : ", in the size that they are set to");
	else if (doctor_fastest(&left->offer, other, &wish, &mode))
		doctor_say(d, DOCTOR_WARNING, "camera modes",
			   "lower source.fps, or choose a smaller source.size",
			   "%s%s %dx%d at %.4g fps at most; asked for is %s", right ? "both offer " : "",
			   mode.format, mode.width, mode.height, mode.fps, text);
	else
		doctor_say(d, DOCTOR_PROBLEM, "camera modes",
			   "the two have to be set alike: change source.size or source.format",
			   "%s and %s offer %s, but not in the same format", left->path, right->path, shape);
}

bool doctor_files_look(const struct sx_source_params *p, struct doctor_files *ret, struct sx_why *why)
{
	struct sx_source *source;

	if (sx_source_open(&source, p, 1, why) < 0)
		return false;
	ret->width = sx_source_info(source)->width;
	ret->height = sx_source_info(source)->height;
	snprintf(ret->note, sizeof(ret->note), "%s", sx_source_info(source)->note);
	sx_source_close(source);
	return true;
}

static void look_at_files(struct doctor *d)
{
	const struct sx_source_params *p = &d->settings.source;
	struct doctor_files files;
	struct sx_why why;

	if (doctor_files_look(p, &files, &why))
		doctor_say(d, DOCTOR_OK, "images", NULL, "pairs of %dx%d in %s%s%s", files.width,
			   files.height, p->path && *p->path ? p->path : p->left, *files.note ? "; " : "",
			   files.note);
	else
		doctor_say(d, DOCTOR_PROBLEM, "images", "see [source] in stixeld.conf(5)", "%s", why.text);
}

void doctor_cameras(struct doctor *d)
{
	const struct sx_source_params *p = &d->settings.source;
	struct camera *both;

	if (!d->loaded) {
		char list[512];

		doctor_say(d, DOCTOR_OK, "cameras", NULL, "nothing says which ones; %s",
			   list_devices(d, list, sizeof(list)));
		return;
	}
	if (p->kind == SX_SOURCE_FILES)
		look_at_files(d);
	if (p->kind != SX_SOURCE_V4L2)
		return;
	both = calloc(2, sizeof(*both));
	if (!both)
		return;
	both[0].check = p->layout == SX_LAYOUT_TWO ? "left camera" : "camera";
	both[0].key = "source.left";
	both[0].path = p->left;
	both[1].check = "right camera";
	both[1].key = "source.right";
	both[1].path = p->right;
	look_at(d, &both[0]);
	if (p->layout == SX_LAYOUT_TWO) {
		look_at(d, &both[1]);
		if (both[0].there && both[1].there && both[0].st.st_rdev == both[1].st.st_rdev &&
		    S_ISCHR(both[0].st.st_mode))
			doctor_say(d, DOCTOR_PROBLEM, "camera modes",
				   "name two cameras, or set source.layout",
				   "source.left and source.right are the same device");
		else if (both[0].offer.count > 0 && both[1].offer.count > 0)
			say_modes(d, &both[0], &both[1]);
	} else if (both[0].offer.count > 0) {
		say_modes(d, &both[0], NULL);
	}
	free(both);
}
