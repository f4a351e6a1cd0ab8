/*
 * Sizes of disparity maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/disparity.h"

#define WIDTH_MAX 4096u /* largest width of an image that stixeld accepts, px */
#define HEIGHT_MAX 2160u
#define PITCH 16u

static uint32_t rows_of(uint32_t bytes)
{
	return (bytes + PITCH - 1) / PITCH * PITCH;
}

bool sx_disparity_layout(struct stixel_disparity_header *h, uint32_t width, uint32_t height, bool confidence)
{
	if (width < 1 || width > WIDTH_MAX || height < 1 || height > HEIGHT_MAX)
		return false;
	*h = (struct stixel_disparity_header){
		.magic = STIXEL_DISPARITY_MAGIC,
		.abi_major = STIXEL_ABI_MAJOR,
		.abi_minor = STIXEL_ABI_MINOR,
		.header_bytes = sizeof(*h),
		.data_offset = sizeof(*h),
		.width = width,
		.height = height,
		.pitch = rows_of(2 * width),
	};
	h->frame_bytes = h->data_offset + (uint64_t)h->pitch * height;
	if (!confidence)
		return true;
	h->confidence_pitch = rows_of(width);
	h->confidence_offset = (uint32_t)h->frame_bytes;
	h->frame_bytes += (uint64_t)h->confidence_pitch * height;
	return true;
}

bool sx_disparity_agree(const struct stixel_disparity_header *h, uint64_t bytes)
{
	struct stixel_disparity_header want;

	if (h->magic != STIXEL_DISPARITY_MAGIC || h->abi_major != STIXEL_ABI_MAJOR ||
	    !sx_disparity_layout(&want, h->width, h->height, h->confidence_offset != 0))
		return false;
	if (h->header_bytes < sizeof(*h) || h->data_offset < h->header_bytes || h->data_offset % 8 != 0 ||
	    h->data_offset > bytes || h->frame_bytes != bytes || h->pitch != want.pitch ||
	    h->confidence_pitch != want.confidence_pitch ||
	    bytes - h->data_offset < want.frame_bytes - want.data_offset)
		return false;
	return !h->confidence_offset ||
	       h->confidence_offset == h->data_offset + (uint64_t)h->pitch * h->height;
}
