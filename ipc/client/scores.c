/*
 * Writer's side of class scores: libstixel's half of the way from a segmentation network to the daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/places.h"
#include "ipc/frame.h"
#include "ipc/instance.h"
#include "ipc/ring.h"
#include "ipc/scores.h"

struct stixel_scores {
	struct sx_ring *ring;
	struct stixel_scores_header header; /* what is the same in all */
	uint8_t *slot;			    /* that was begun; NULL */
	uint64_t number;
};

static bool is_member(gid_t group)
{
	gid_t groups[256];
	int n = getgroups(256, groups);

	if (group == getegid() || geteuid() == 0)
		return true;
	for (int i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Group of what lies at a path; -1: there is nothing, or the caller is no member. */
static gid_t group_at(const char *format, const char *folder, const char *name)
{
	char path[512];
	struct stat st;
	int n = snprintf(path, sizeof(path), format, folder, name);

	return n >= 0 && (size_t)n < sizeof(path) && lstat(path, &st) == 0 && is_member(st.st_gid)
		       ? st.st_gid
		       : (gid_t)-1;
}

/*
 * stixeld reads what belongs to its group, and only members can give it to that: the group of
 * what the instance of this name has made; when it has not been started yet, that of the
 * service. -1: the caller's own.
 */
static gid_t group_of(const char *folder, const char *name)
{
	gid_t group = group_at("%s/stixeld.%s", folder, name);
	struct group service, *found = NULL;
	char text[4096];

	if (group == (gid_t)-1)
		group = group_at("%s/%s", SX_PLACE_SYSTEM_DIR, name);
	if (group == (gid_t)-1 && getgrnam_r("stixel", &service, text, sizeof(text), &found) == 0 && found &&
	    is_member(service.gr_gid))
		group = service.gr_gid;
	return group;
}

static int check_slots(uint32_t slots)
{
	return slots == 0 || (slots >= 2 && slots <= STIXEL_SCORES_SLOTS_MAX && !(slots & (slots - 1)));
}

int stixel_scores_create(struct stixel_scores **ret, const char *name,
			 const struct stixel_scores_format *format, size_t bytes)
{
	struct stixel_scores_format f = {0};
	struct sx_ring_params p = {.prefix = SX_SCORES_PREFIX, .magic = STIXEL_SCORES_RING_MAGIC};
	struct stixel_scores *s;
	int e;

	if (!ret || !format || sx_instance_check(name, NULL, 0) < 0)
		return -EINVAL;
	memcpy(&f, format, bytes < sizeof(f) ? bytes : sizeof(f));
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	e = -EINVAL;
	if (!check_slots(f.slots) ||
	    !sx_scores_layout(&s->header, f.classes, f.image_width, f.image_height, f.scale))
		goto fail;
	p.instance = name;
	p.shm_dir = f.folder ? f.folder : "/dev/shm";
	p.epoch = s->header.epoch = sx_epoch_new();
	p.slots = f.slots ? (int)f.slots : SX_SCORES_SLOTS;
	p.frame_bytes = s->header.frame_bytes;
	if (p.frame_bytes < sizeof(struct stixel_frame_header))
		p.frame_bytes = sizeof(struct stixel_frame_header); /* the least of any ring */
	p.group = group_of(p.shm_dir, name);
	e = sx_ring_create(&s->ring, &p, NULL, 0);
	if (e < 0)
		goto fail;
	sx_ring_set_state(s->ring, STIXEL_STATE_RUNNING);
	*ret = s;
	return 0;
fail:
	stixel_scores_close(s);
	return e;
}

int stixel_scores_begin(struct stixel_scores *s, struct stixel_scores_planes *planes)
{
	if (!s || !planes)
		return -EINVAL;
	if (sx_ring_replaced(s->ring))
		return -ESTALE;
	s->slot = sx_ring_begin(s->ring, &s->number);
	*planes = (struct stixel_scores_planes){
		.data = s->slot + s->header.data_offset,
		.classes = s->header.classes,
		.width = s->header.width,
		.height = s->header.height,
		.pitch = s->header.pitch,
		.plane_bytes = s->header.plane_bytes,
	};
	return 0;
}

int stixel_scores_commit(struct stixel_scores *s, int64_t capture_ns, uint64_t epoch, uint64_t number)
{
	struct stixel_scores_header h;

	if (!s || !s->slot)
		return -EINVAL;
	h = s->header;
	h.number = s->number;
	h.capture_ns = capture_ns;
	h.committed_ns = sx_now_ns();
	h.frame_epoch = epoch;
	h.frame_number = number;
	memcpy(s->slot, &h, sizeof(h));
	sx_ring_commit(s->ring, h.frame_bytes);
	s->slot = NULL;
	return 0;
}

void stixel_scores_close(struct stixel_scores *s)
{
	if (!s)
		return;
	sx_ring_destroy(s->ring);
	free(s);
}
