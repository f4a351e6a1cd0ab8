/*
 * Sizes of class scores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/scores.h"

#include <string.h>

/* Largest width and height of an image, px. Any camera that stixeld accepts is smaller. */
#define SIDE_MAX 16384u
#define PITCH 16u

bool sx_scores_layout(struct stixel_scores_header *h, uint32_t classes, uint32_t image_width,
		      uint32_t image_height, uint32_t scale)
{
	if (classes < 1 || classes > STIXEL_CLASSES_MAX || scale < 1 || scale > STIXEL_SCORES_SCALE_MAX ||
	    image_width < 1 || image_width > SIDE_MAX || image_height < 1 || image_height > SIDE_MAX)
		return false;
	*h = (struct stixel_scores_header){
		.magic = STIXEL_SCORES_MAGIC,
		.abi_major = STIXEL_ABI_MAJOR,
		.abi_minor = STIXEL_ABI_MINOR,
		.header_bytes = sizeof(*h),
		.data_offset = sizeof(*h),
		.classes = classes,
		.scale = scale,
		.image_width = image_width,
		.image_height = image_height,
		.width = (image_width + scale - 1) / scale,
		.height = (image_height + scale - 1) / scale,
	};
	h->pitch = (h->width + PITCH - 1) / PITCH * PITCH;
	h->plane_bytes = (uint64_t)h->pitch * h->height;
	h->frame_bytes = h->data_offset + classes * h->plane_bytes;
	return h->frame_bytes <= STIXEL_FRAME_BYTES_MAX;
}

bool sx_scores_agree(const struct stixel_scores_header *h, uint64_t bytes)
{
	struct stixel_scores_header want;

	if (h->magic != STIXEL_SCORES_MAGIC || h->abi_major != STIXEL_ABI_MAJOR ||
	    !sx_scores_layout(&want, h->classes, h->image_width, h->image_height, h->scale))
		return false;
	return h->width == want.width && h->height == want.height && h->pitch == want.pitch &&
	       h->plane_bytes == want.plane_bytes && h->header_bytes >= sizeof(*h) &&
	       h->data_offset >= h->header_bytes && h->data_offset % 8 == 0 && h->data_offset <= bytes &&
	       h->frame_bytes == bytes && h->classes * h->plane_bytes <= bytes - h->data_offset;
}
