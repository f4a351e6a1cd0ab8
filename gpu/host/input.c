/*
 * Brings pairs to the kernels: pins memory of sources, and takes the cheapest way for each pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "gpu/host/engine_priv.h"
#include "stages/context.h"
#include "stages/stereo/external.h"

#define PITCH 128 /* bytes, of staging and of images that are copied row by row */

/* Returns the index of the first range that ends after p. */
static int find_index(const struct sx_device *d, const uint8_t *p)
{
	int low = 0, high = d->ranges;

	while (low < high) {
		const int middle = (low + high) / 2;

		if (d->range[middle].host + d->range[middle].bytes <= p)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int sx_cuda_pin(struct sx_device *d, void *memory, size_t bytes)
{
	const uint8_t *host = memory;
	int i = find_index(d, host);
	void *device = NULL;
	cudaError_t e;

	if (!memory || bytes == 0)
		return -EINVAL;
	if (i < d->ranges && d->range[i].host < host + bytes)
		return -EEXIST;
	if (d->ranges == SX_CUDA_RANGES_MAX)
		return -ENOSPC;
	if (!d->can_register)
		return -ENOTSUP;
	e = sx_cuda_enter(d);
	if (!e)
		e = cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
	if (!e) {
		if (cudaHostGetDevicePointer(&device, memory, 0))
			device = NULL;
	} else {
		cudaGetLastError();
		e = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
	}
	cudaGetLastError(); /* clear the error: it must not be reported for a frame */
	if (e)
		return sx_cuda_errno(e);
	memmove(&d->range[i + 1], &d->range[i], (size_t)(d->ranges - i) * sizeof(d->range[0]));
	d->range[i] = (struct sx_cuda_range){host, device, bytes};
	d->ranges++;
	return 0;
}

void sx_cuda_unpin(struct sx_device *d, void *memory)
{
	int i = find_index(d, memory);

	if (i == d->ranges || d->range[i].host != memory)
		return;
	sx_cuda_enter(d);
	cudaHostUnregister(memory);
	cudaGetLastError();
	d->ranges--;
	memmove(&d->range[i], &d->range[i + 1], (size_t)(d->ranges - i) * sizeof(d->range[0]));
}

size_t sx_cuda_input_row(const struct sx_context_config *c)
{
	return (size_t)sx_context_pair_width(c) * sx_pixel_bytes(c->pixel);
}

static size_t staging_pitch(const struct sx_context_config *c)
{
	return (sx_cuda_input_row(c) + PITCH - 1) / PITCH * PITCH;
}

/*
 * Returns the size of raw and staging: the pair and a quarter more. The quarter is for bytes between the two
 * images, which are copied too if one plain copy then replaces two.
 */
size_t sx_cuda_input_bytes(const struct sx_context_config *c)
{
	const size_t one = staging_pitch(c) * (size_t)sx_context_pair_height(c);

	return 2 * ((one + one / 4 + 255) / 256 * 256);
}

/* Returns the size of all planes at scale 1. Rows are padded to PITCH bytes. */
size_t sx_cuda_scores_bytes(const struct sx_context_config *c)
{
	const size_t row = ((size_t)c->width + PITCH - 1) / PITCH * PITCH;

	return row * (size_t)c->height * (size_t)c->params.semantics.classes;
}

static size_t span(const struct sx_context_config *c, const struct sx_image *img)
{
	return img->pitch * ((size_t)img->height - 1) + sx_cuda_input_row(c);
}

static bool holds(const struct sx_cuda_range *r, const uint8_t *p, size_t bytes)
{
	return p >= r->host && p + bytes <= r->host + r->bytes;
}

/*
 * Returns the range that contains all of img. Returns NULL if img is not pinned, or if kernels must read it
 * in place and cannot.
 */
static const struct sx_cuda_range *find_range(const struct sx_context *x, const struct sx_image *img)
{
	const struct sx_device *d = x->device;
	const int i = find_index(d, img->data);
	const size_t bytes = span(&x->config, img);

	if (holds(&x->staging, img->data, bytes)) /* the pair is the warm-up frame */
		return &x->staging;
	if (i == d->ranges || !holds(&d->range[i], img->data, bytes))
		return NULL;
	return d->range[i].device || !d->mapped ? &d->range[i] : NULL;
}

static const struct sx_cuda_range *stage(struct sx_context *x, int side, struct sx_image *img)
{
	const struct sx_context_config *c = &x->config;
	const size_t row = sx_cuda_input_row(c);
	struct sx_image to = *img;

	to.pitch = staging_pitch(c);
	to.data = (void *)(uintptr_t)(x->staging.host + (size_t)side * to.pitch * (size_t)img->height);
	for (int y = 0; y < img->height; y++)
		memcpy(sx_image_row(&to, y), sx_image_row(img, y), row);
	*img = to;
	x->came.staged++;
	return &x->staging;
}

static cudaError_t copied(struct sx_context *x, cudaError_t e, size_t bytes)
{
	x->came.copies_in++;
	x->came.copied_bytes += bytes;
	return e;
}

static cudaError_t copy_plain(struct sx_context *x, uint8_t *to, const uint8_t *from, size_t bytes)
{
	return copied(x, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, x->stream), bytes);
}

/* Copies one image into its half of raw: as one block if its row pitch is small, else row by row. */
static cudaError_t copy_one(struct sx_context *x, int side, const struct sx_image *img)
{
	const size_t row = sx_cuda_input_row(&x->config), bytes = span(&x->config, img);
	const size_t pitch = staging_pitch(&x->config);
	uint8_t *to = x->raw + (size_t)side * (x->raw_bytes / 2);

	x->input->image[side] = to;
	x->input->pitch[side] = img->pitch;
	if (bytes <= x->raw_bytes / 2)
		return copy_plain(x, to, img->data, bytes);
	x->input->pitch[side] = pitch;
	return copied(x,
		      cudaMemcpy2DAsync(to, pitch, img->data, img->pitch, row, (size_t)img->height,
					cudaMemcpyHostToDevice, x->stream),
		      row * (size_t)img->height);
}

/*
 * Copies a pair, in one copy if both images lie close together (side by side, one above the other, or
 * staged).
 */
static cudaError_t copy_pair(struct sx_context *x, const struct sx_image img[2], bool one_range)
{
	const uint8_t *left = img[0].data, *right = img[1].data, *low = left < right ? left : right;
	const uint8_t *left_end = left + span(&x->config, &img[0]);
	const uint8_t *right_end = right + span(&x->config, &img[1]);
	const uint8_t *end = left_end > right_end ? left_end : right_end;
	cudaError_t e;

	if (!one_range || (size_t)(end - low) > x->raw_bytes) {
		e = copy_one(x, 0, &img[0]);
		return e ? e : copy_one(x, 1, &img[1]);
	}
	for (int side = 0; side < 2; side++) {
		x->input->image[side] = x->raw + ((const uint8_t *)img[side].data - low);
		x->input->pitch[side] = img[side].pitch;
	}
	return copy_plain(x, x->raw, low, (size_t)(end - low));
}

/* Copies the input block to the ingest, if the layout of the copied pair differs from the last one. */
static cudaError_t update_layout(struct sx_context *x)
{
	const struct sx_cuda_input *in = x->input;

	if (in->image[0] == x->layout.image[0] && in->image[1] == x->layout.image[1] &&
	    in->pitch[0] == x->layout.pitch[0] && in->pitch[1] == x->layout.pitch[1])
		return cudaSuccess;
	x->layout = *in;
	return copy_plain(x, (uint8_t *)x->ingest_input, (const uint8_t *)in, sizeof(*in));
}

static size_t scores_span(const struct sx_scores *s)
{
	return s->plane_bytes * ((size_t)s->classes - 1) + s->pitch * ((size_t)s->height - 1) +
	       (size_t)s->width;
}

/* Copies the scores row by row, if rows or planes lie far apart. */
static cudaError_t copy_planes(struct sx_context *x, const struct sx_scores *s)
{
	struct sx_cuda_scores *in = &x->input->scores;
	cudaError_t e = cudaSuccess;

	in->pitch = ((size_t)s->width + 7) / 8 * 8;
	in->plane_bytes = in->pitch * (size_t)s->height;
	for (int k = 0; !e && k < s->classes; k++)
		e = copied(x,
			   cudaMemcpy2DAsync(x->scores.raw + (size_t)k * in->plane_bytes, in->pitch,
					     s->data + (size_t)k * s->plane_bytes, s->pitch, (size_t)s->width,
					     (size_t)s->height, cudaMemcpyHostToDevice, x->stream),
			   (size_t)s->width * (size_t)s->height);
	return e;
}

/*
 * Sets the scores of a frame. Kernels read scores in place if they can, else the scores are copied once. If
 * the memory is not pinned, the runtime copies it through its own buffer. The descriptor for the kernels is
 * copied only when it changes.
 */
static cudaError_t set_scores(struct sx_context *x, const struct sx_scores *s)
{
	struct sx_cuda_scores *in = &x->input->scores;
	const struct sx_device *d = x->device;
	const size_t bytes = s ? scores_span(s) : 0;
	const int i = s ? find_index(d, s->data) : 0;
	const bool pinned = s && i < d->ranges && holds(&d->range[i], s->data, bytes);
	cudaError_t e = cudaSuccess;

	memset(in, 0, sizeof(*in));
	if (s) {
		in->pitch = s->pitch;
		in->plane_bytes = s->plane_bytes;
		in->scale = s->scale;
		in->width = s->width;
		in->height = s->height;
		in->data = x->scores.raw;
		x->came.staged += !pinned;
	}
	if (pinned && d->mapped && d->range[i].device)
		in->data = d->range[i].device + (s->data - d->range[i].host);
	else if (s && bytes <= x->scores.raw_bytes)
		e = copy_plain(x, x->scores.raw, s->data, bytes);
	else if (s)
		e = copy_planes(x, s);
	if (e || d->mapped || memcmp(in, &x->scores.layout, sizeof(*in)) == 0)
		return e;
	x->scores.layout = *in;
	return copy_plain(x, (uint8_t *)x->scores.in, (const uint8_t *)in, sizeof(*in));
}

static bool is_pinned(const struct sx_device *d, const void *memory, size_t bytes)
{
	const int i = find_index(d, memory);

	return i < d->ranges && holds(&d->range[i], memory, bytes);
}

/* Copies one plane of a map into a tap. */
static cudaError_t copy_map(struct sx_context *x, enum sx_tap tap, const void *from, size_t pitch, size_t row)
{
	const struct sx_image *to = &x->taps[tap];
	const size_t rows = (size_t)to->height;

	x->came.staged += !is_pinned(x->device, from, pitch * (rows - 1) + row);
	return copied(x,
		      cudaMemcpy2DAsync(to->data, to->pitch, from, pitch, row, rows, cudaMemcpyHostToDevice,
					x->stream),
		      row * rows);
}

/*
 * Copies a map into the winner's memory, where a kernel converts it, and copies its confidence. The map is
 * read only once, so reading it in place would gain nothing.
 */
static cudaError_t set_disparity(struct sx_context *x, const struct sx_disparity *d)
{
	const struct sx_image *winner = &x->taps[SX_TAP_WINNER], *confidence = &x->taps[SX_TAP_CONFIDENCE];
	const size_t width = (size_t)winner->width, rows = (size_t)winner->height;
	cudaError_t e;

	if (d)
		e = copy_map(x, SX_TAP_WINNER, d->data, d->pitch, 2 * width);
	else
		e = cudaMemset2DAsync(winner->data, winner->pitch, 0, 2 * width, rows, x->stream);
	if (e)
		return e;
	if (d && d->confidence)
		return copy_map(x, SX_TAP_CONFIDENCE, d->confidence, d->confidence_pitch, width);
	return cudaMemset2DAsync(confidence->data, confidence->pitch, SX_EXTERNAL_CONFIDENCE, width, rows,
				 x->stream);
}

cudaError_t sx_cuda_input_set(struct sx_context *x, const struct sx_pair *pair,
			      const struct sx_road *previous)
{
	struct sx_image img[2] = {pair->left, pair->right};
	const struct sx_cuda_range *range[2];
	cudaError_t e = cudaSuccess;

	x->came = (struct sx_transfers){0};
	x->input->number = ++x->number;
	x->input->has_previous = previous != NULL;
	if (previous)
		x->input->previous = *previous;
	if (x->scores.raw)
		e = set_scores(x, sx_context_scores(&x->config, pair));
	if (!e && sx_cuda_is_external(x))
		e = set_disparity(x, sx_context_disparity(&x->config, pair));
	if (e)
		return e;
	for (int side = 0; side < 2; side++) {
		range[side] = find_range(x, &img[side]);
		if (!range[side])
			range[side] = stage(x, side, &img[side]);
	}
	if (!x->device->mapped) {
		e = copy_pair(x, img, range[0] == range[1]);
		return e ? e : update_layout(x);
	}
	for (int side = 0; side < 2; side++) {
		x->input->image[side] =
			range[side]->device + ((const uint8_t *)img[side].data - range[side]->host);
		x->input->pitch[side] = img[side].pitch;
	}
	return cudaSuccess;
}
