/*
 * Rectification on the GPU. Must equal sx_rectify() and sx_views_hide() byte for byte.
 *
 * Work:    one thread per four pixels of a row, both images in one launch. It loads entries of the map by 16
 *          and 8 bytes. For each pixel it loads the four raw pixels around its place, a byte each, directly
 *          from the camera's buffer. Neighbouring pixels are neighbours in the raw image too, so a warp's
 *          bytes are in few lines of L1.
 * Memory:  6 bytes of map per pixel, each raw byte about once, output 1 byte. Hidden disparities: 2 bytes per
 *          pixel in, and out if they change.
 * Ranges:  sums of four products are below 2^24.
 * Shapes:  any sizes, any address and pitch of the raw images; nothing outside them is accessed.
 * Speed:   tests/lab/lab-performance.md, "CUDA: rectification".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/ingest/rectify_cuda.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu/cuda.cuh"
#include "gpu/ingest/grey.cuh"
#include "gpu/ingest/stretch.cuh"
#include "stages/context.h"

#define BLOCK_X 32
#define BLOCK_Y 4

/* Maps and pixels of one image. */
struct rectify_side {
	const uint32_t *place;
	const uint16_t *part;
	const uint8_t *raw; /* Y16 only */
	uint8_t *grey;
	size_t raw_pitch, grey_pitch;
};

struct rectify_work {
	struct rectify_side left, right;
	int stride, width, height, raw_width, raw_height;
};

struct sx_rectify_cuda {
	struct rectify_work work;	   /* arguments without the images */
	const struct sx_row_view *view[2]; /* NULL: both cameras see everything */
	int min_disparity;
};

template <enum sx_pixel PIXEL>
__device__ __forceinline__ uint32_t level_of(const struct sx_stretcher &by, const uint8_t *row, uint32_t x)
{
	if (PIXEL == SX_PIXEL_Y16)
		return sx_stretched(&by, reinterpret_cast<const uint16_t *>(row)[x]);
	return sx_grey1<PIXEL>(row, x);
}

template <enum sx_pixel PIXEL>
__device__ __forceinline__ uint32_t blend(const struct sx_source &s, const struct sx_stretcher &by,
					  uint32_t place, uint32_t part)
{
	const uint32_t x = place & 0xffff, a = part & 0xff, b = part >> 8;
	const uint8_t *upper = s.data + (size_t)(place >> 16) * s.pitch, *lower = upper + s.pitch;
	uint32_t above, below;

	if (place == SX_RECTIFY_OUTSIDE)
		return 0;
	above = level_of<PIXEL>(by, upper, x) * (256 - a) + level_of<PIXEL>(by, upper, x + 1) * a;
	below = level_of<PIXEL>(by, lower, x) * (256 - a) + level_of<PIXEL>(by, lower, x + 1) * a;
	return (above * (256 - b) + below * b + 32768) >> 16;
}

template <enum sx_pixel PIXEL>
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
	rectify(const struct sx_cuda_input *in, const struct sx_stretch_range *range, struct rectify_work w)
{
	const int x = 4 * (int)(blockIdx.x * BLOCK_X + threadIdx.x),
		  y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	const struct rectify_side side = blockIdx.z ? w.right : w.left;
	const size_t at = (size_t)y * (size_t)w.stride + (size_t)x;
	struct sx_stretcher by = {};
	struct sx_source s = {};
	uint4 place;
	uint2 part;

	if (x >= w.width || y >= w.height)
		return;
	if (PIXEL == SX_PIXEL_Y16) {
		by = sx_stretcher_of(range);
		s.data = side.raw;
		s.pitch = side.raw_pitch;
	} else {
		s = sx_source_of<PIXEL>(in, (int)blockIdx.z, w.raw_width, w.raw_height);
	}
	place = __ldg(reinterpret_cast<const uint4 *>(side.place + at));
	part = __ldg(reinterpret_cast<const uint2 *>(side.part + at));
	*reinterpret_cast<uint32_t *>(side.grey + (size_t)y * side.grey_pitch + (size_t)x) =
		blend<PIXEL>(s, by, place.x, part.x & 0xffff) |
		blend<PIXEL>(s, by, place.y, part.x >> 16) << 8 |
		blend<PIXEL>(s, by, place.z, part.y & 0xffff) << 16 |
		blend<PIXEL>(s, by, place.w, part.y >> 16) << 24;
}

__device__ __forceinline__ bool contains(const struct sx_row_view &view, int x)
{
	return x >= view.first && x < view.end;
}

/* Hides disparities, two pixels per thread. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
	hide(const struct sx_row_view *left, const struct sx_row_view *right, int min_disparity,
	     uint8_t *winner, size_t pitch, int width, int height)
{
	const int x = 2 * (int)(blockIdx.x * BLOCK_X + threadIdx.x),
		  y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	uint32_t *const at = reinterpret_cast<uint32_t *>(winner + (size_t)y * pitch + 2 * (size_t)x);
	uint32_t both, seen = 0;

	if (x >= width || y >= height)
		return;
	both = *at;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		const int partner = x + i - (int)(both >> (16 * i + 4) & 0xfff) - min_disparity;

		if (contains(left[y], x + i) &&
		    (partner < 0 || partner >= width || contains(right[y], partner)))
			seen |= 0xffffu << (16 * i);
	}
	if (seen != UINT32_MAX)
		*at = both | ~seen;
}

static void upload_map(struct rectify_side *side, struct sx_cuda_memory *m, const struct sx_rectify_map *map)
{
	const size_t entries = (size_t)map->stride * (size_t)map->height;

	side->place = (const uint32_t *)sx_cuda_upload(m, map->place, entries * sizeof(*map->place));
	side->part = (const uint16_t *)sx_cuda_upload(m, map->part, entries * sizeof(*map->part));
}

static int upload(struct sx_rectify_cuda *s, struct sx_cuda_memory *m, const struct sx_rectify_map map[2])
{
	bool whole = true;

	for (int i = 0; i < 2; i++)
		whole = whole && sx_views_are_whole(map[i].view, map[i].width, map[i].height);
	for (int i = 0; !whole && i < 2; i++)
		s->view[i] = (const struct sx_row_view *)sx_cuda_upload(
			m, map[i].view, (size_t)map[i].height * sizeof(*map[i].view));
	upload_map(&s->work.left, m, &map[0]);
	upload_map(&s->work.right, m, &map[1]);
	s->work.stride = map[0].stride;
	return m->error == cudaSuccess ? 0 : -ENOMEM;
}

int sx_rectify_cuda_create(struct sx_rectify_cuda **ret, struct sx_cuda_memory *m,
			   const struct sx_context_config *c)
{
	struct sx_rectify_cuda *s = (struct sx_rectify_cuda *)calloc(1, sizeof(*s));
	struct sx_rectify_map map[2];
	int r;

	if (!s)
		return -ENOMEM;
	s->work.raw_width = c->rig.raw_width;
	s->work.raw_height = c->rig.raw_height;
	s->work.width = c->width;
	s->work.height = c->height;
	s->min_disparity = c->params.stereo.min_disparity;
	r = sx_context_maps_init(map, c);
	if (r == 0)
		r = upload(s, m, map);
	for (int i = 0; i < 2; i++)
		sx_rectify_map_finish(&map[i]);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_rectify_cuda_destroy(struct sx_rectify_cuda *s)
{
	free(s);
}

static void set_images(struct rectify_side *side, const struct sx_image *raw, const struct sx_image *grey)
{
	side->raw = (const uint8_t *)raw->data;
	side->raw_pitch = raw->pitch;
	side->grey = (uint8_t *)grey->data;
	side->grey_pitch = grey->pitch;
}

cudaError_t sx_rectify_cuda_run(const struct sx_rectify_cuda *s, enum sx_pixel pixel,
				const struct sx_cuda_input *in, const struct sx_image raw[2],
				const struct sx_stretch_range *range, const struct sx_image grey[2],
				cudaStream_t stream)
{
	struct rectify_work w = s->work;
	const dim3 block(BLOCK_X, BLOCK_Y), grid((unsigned)(w.width + 4 * BLOCK_X - 1) / (4 * BLOCK_X),
						 (unsigned)(w.height + BLOCK_Y - 1) / BLOCK_Y, 2);

	set_images(&w.left, &raw[0], &grey[0]);
	set_images(&w.right, &raw[1], &grey[1]);
	switch (pixel) {
	case SX_PIXEL_U8:
	case SX_PIXEL_NV12:
		SX_LAUNCH((rectify<SX_PIXEL_U8>), grid, block, 0, stream, in, range, w);
		break;
	case SX_PIXEL_YUYV:
		SX_LAUNCH((rectify<SX_PIXEL_YUYV>), grid, block, 0, stream, in, range, w);
		break;
	case SX_PIXEL_UYVY:
		SX_LAUNCH((rectify<SX_PIXEL_UYVY>), grid, block, 0, stream, in, range, w);
		break;
	case SX_PIXEL_RGB24:
		SX_LAUNCH((rectify<SX_PIXEL_RGB24>), grid, block, 0, stream, in, range, w);
		break;
	case SX_PIXEL_Y16:
		SX_LAUNCH((rectify<SX_PIXEL_Y16>), grid, block, 0, stream, in, range, w);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}

cudaError_t sx_rectify_cuda_hide(const struct sx_rectify_cuda *s, const struct sx_image *winner,
				 cudaStream_t stream)
{
	const dim3 block(BLOCK_X, BLOCK_Y), grid((unsigned)(winner->width + 2 * BLOCK_X - 1) / (2 * BLOCK_X),
						 (unsigned)(winner->height + BLOCK_Y - 1) / BLOCK_Y);

	if (!s->view[0])
		return cudaSuccess;
	SX_LAUNCH(hide, grid, block, 0, stream, s->view[0], s->view[1], s->min_disparity,
		  (uint8_t *)winner->data, winner->pitch, winner->width, winner->height);
	return SX_LAUNCHED();
}
