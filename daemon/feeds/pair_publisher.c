/*
 * Publishes pairs for an external matcher or a segmentation network.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/feeds/pair_publisher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/runtime_dirs.h"
#include "config/config.h"
#include "ipc/frame.h"
#include "stages/stereo/ingest.h"

#define SLOTS 4
#define HEARTBEAT_PERIOD_MS 1000 /* main beats twice in each period */
#define IMAGES (1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_RIGHT)

/* Copies the constant fields of the frames' header, without columns and stages. */
static void fill_constants(struct sx_pair_publisher *o, const struct stixel_frame_header *of)
{
	o->header = *of;
	o->header.epoch = sx_epoch_new();
	o->header.row_error_q4 = STIXEL_ROW_ERROR_UNKNOWN;
	o->header.stage_count = 0;
	memset(o->header.stage_name, 0, sizeof(o->header.stage_name));
}

/*
 * Allocates all memory. Allocates grey images even if the pair has images of this form, because another
 * calibration may rectify them.
 */
static int pair_publisher_take_memory(struct sx_pair_publisher *o)
{
	int r = 0;

	sx_must(o->header.image_width, >, 0);
	for (int side = 0; side < 2 && r == 0; side++)
		r = sx_image_init(&o->grey[side], SX_PIXEL_U8, (int)o->header.image_width,
				  (int)o->header.image_height);
	if (r < 0)
		return r;
	o->frame_bytes = sx_frame_bytes(
		0, 0, sx_frame_image_bytes(IMAGES, o->header.image_width, o->header.image_height));
	o->bytes = aligned_alloc(64, (o->frame_bytes + 63) & ~(size_t)63);
	if (!o->bytes)
		return -ENOMEM;
	/* write to every page before the first frame, so that no page fault comes later */
	memset(o->bytes, 0, o->frame_bytes);
	return 0;
}

bool sx_pair_publisher_wanted(const struct sx_settings *settings)
{
	return settings->external.pairs;
}

int sx_pair_publisher_init(struct sx_pair_publisher *o, const struct sx_settings *settings,
			   const char *instance, const char *shm_dir,
			   const struct stixel_frame_header *header, struct sx_why *why)
{
	char name[STIXEL_INSTANCE_BYTES];
	struct sx_ring_params params = {.instance = name,
					.shm_dir = shm_dir,
					.slots = SLOTS,
					.heartbeat_period_ms = HEARTBEAT_PERIOD_MS,
					.group = (gid_t)-1,
					.exclusive = true};
	int n, r;

	*o = (struct sx_pair_publisher){0};
	if (!sx_pair_publisher_wanted(settings))
		return 0;
	n = snprintf(name, sizeof(name), "%s" SX_OFFER_SUFFIX, instance);
	if (n > 64)
		return sx_why_fail(-EINVAL, why, "the name %s is too long for a ring %s.pairs", instance,
				   instance);
	fill_constants(o, header);
	r = pair_publisher_take_memory(o);
	if (r < 0)
		return sx_why_fail(r, why, "no room for pairs that are offered: %s", strerror(-r));
	params.epoch = o->header.epoch;
	params.frame_bytes = o->frame_bytes;
	return sx_ring_create(&o->ring, &params, why);
}

void sx_pair_publisher_finish(struct sx_pair_publisher *o)
{
	sx_ring_destroy(o->ring);
	for (int side = 0; side < 2; side++)
		sx_image_finish(&o->grey[side]);
	free(o->bytes);
	*o = (struct sx_pair_publisher){0};
}

/*
 * Returns the grey image of one side: the pair's own if it is grey, else a copy. map: rectification; NULL:
 * the image is rectified.
 */
static struct sx_image grey_of(const struct sx_pair_publisher *o, const struct sx_image *image, int side,
			       const struct sx_rectify_map *map, struct sx_stretch stretch)
{
	if (map)
		sx_rectify(image, &o->grey[side], map, stretch);
	else if (sx_ingest_is_grey(image->pixel))
		return *image;
	else
		sx_ingest(image, &o->grey[side], stretch);
	return o->grey[side];
}

void sx_pair_publisher_publish(struct sx_pair_publisher *o, const struct sx_contexts *contexts,
			       const struct sx_pair *pair)
{
	static const uint32_t no_columns[1];
	struct stixel_image images[2];
	struct stixel_frame_header *h = &o->header;
	struct sx_stretch stretch;
	int64_t bytes, now_ns;
	int r;

	if (!o->ring)
		return;
	stretch = sx_ingest_stretch(&pair->left, &pair->right);
	for (int side = 0; side < 2; side++) {
		const struct sx_image grey =
			grey_of(o, side ? &pair->right : &pair->left, side,
				contexts->plan.rectified ? &contexts->map[side] : NULL, stretch);

		sx_must(grey.width, ==, (int)h->image_width);
		images[side] = (struct stixel_image){side ? STIXEL_PLANE_RIGHT : STIXEL_PLANE_LEFT,
						     (uint32_t)grey.width, (uint32_t)grey.height,
						     (uint32_t)grey.pitch, grey.data};
	}
	sx_contexts_fill(contexts, h);
	h->flags |= STIXEL_FRAME_STIXELS_LEFT_OUT;
	h->captured = h->published = h->number = o->number + 1;
	h->capture_left_ns = pair->left_ns;
	h->capture_right_ns = pair->right_ns;
	h->submitted_ns = pair->left_ns;
	h->published_ns = 0; /* 0: sx_frame_pack() sets the time */
	h->clock = (uint8_t)pair->clock;
	h->stamp = (uint8_t)pair->stamp;
	bytes = sx_frame_pack(o->bytes, o->frame_bytes, h, no_columns, NULL, NULL, images, 2);
	now_ns = sx_now_ns();
	r = bytes < 0 ? (int)bytes : sx_ring_publish(o->ring, o->bytes, (size_t)bytes);
	if (r < 0) {
		sx_condition_hit(&o->failing, now_ns, SX_LOG_DAEMON, SX_LOG_WARNING,
				 "pair cannot be offered: %s", strerror(-r));
		return;
	}
	o->number++;
	sx_ring_pass_wake(o->ring);
	sx_condition_clear(&o->failing, now_ns, SX_LOG_DAEMON, "pairs are offered again");
}

void sx_pair_publisher_set_state(struct sx_pair_publisher *o, enum stixel_state state)
{
	if (o->ring)
		sx_ring_set_state(o->ring, state);
}

void sx_pair_publisher_beat(struct sx_pair_publisher *o)
{
	if (o->ring)
		sx_ring_beat(o->ring);
}
