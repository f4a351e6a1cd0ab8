/*
 * FastDT, as its definition in fastdt.h: one plane after the other. Costs are computed once, for all planes
 * of a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/fastdt.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void sx_fastdt_weights_init(struct sx_fastdt_weights *w, const struct sx_stereo_params *p)
{
	for (int i = 0; i < 256; i++) {
		double v = exp(-1 / p->fastdt_sigma_space) * exp(-i / p->fastdt_sigma_range);
		double fixed = floor(v * (1 << SX_FASTDT_WEIGHT_BITS) + 0.5);

		w->real[i] = (float)v;
		w->fixed[i] = (uint16_t)(fixed < 32767 ? fixed : 32767);
	}
}

/* A value of a plane: binary32 in the variant float, an integer in the others. */
union cell {
	float real;
	int32_t whole;
};

struct filter {
	const struct sx_image *guide;
	const struct sx_stereo_params *p;
	struct sx_fastdt_weights weights;
	size_t size;	    /* number of pixels of a plane */
	float *real_costs;  /* variant float: costs [y][x][d] */
	uint8_t *row_costs; /* other variants: costs of one image row */
	union cell *plane;  /* plane that is being filtered */
	/* plane of the lowest disparity, as the pass before the subtraction left it */
	union cell *subtracted;
	union cell *least; /* V(O) of fastdt.h */
	union cell *gain;  /* G of fastdt.h */
};

static bool is_float(const struct sx_stereo_params *p)
{
	return p->fastdt == SX_FASTDT_FLOAT;
}

static int fastdt_weight_index(const struct sx_image *guide, int x, int y, int qx, int qy)
{
	int a = ((const uint8_t *)sx_image_row(guide, y))[x],
	    b = ((const uint8_t *)sx_image_row(guide, qy))[qx];

	return a < b ? b - a : a - b;
}

static int32_t fastdt_held(int32_t v, const struct sx_stereo_params *p)
{
	if (p->fastdt == SX_FASTDT_INT32)
		return v;
	return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
}

static union cell fastdt_step(const struct filter *f, union cell in, union cell before, int weight)
{
	if (is_float(f->p))
		in.real = fmaf(before.real, f->weights.real[weight], in.real);
	else
		in.whole = fastdt_held(in.whole + ((before.whole * f->weights.fixed[weight] + 16384) >>
						   SX_FASTDT_WEIGHT_BITS),
				       f->p);
	return in;
}

static void fastdt_subtract(const struct filter *f)
{
	for (size_t i = 0; i < f->size; i++)
		if (is_float(f->p))
			f->plane[i].real -= f->subtracted[i].real;
		else
			f->plane[i].whole -= f->subtracted[i].whole;
}

/* Filters the plane in direction dx, dy. The first pixels in this direction stay as they are. */
static void fastdt_pass(const struct filter *f, int dx, int dy)
{
	int width = f->guide->width, height = f->guide->height;
	bool back = dx + dy < 0;

	for (int j = 0; j < height; j++) {
		for (int i = 0; i < width; i++) {
			int x = back ? width - 1 - i : i, y = back ? height - 1 - j : j;
			int qx = x - dx, qy = y - dy;
			union cell *here = f->plane + (size_t)y * (size_t)width + x;

			if (qx >= 0 && qx < width && qy >= 0 && qy < height)
				*here = fastdt_step(f, *here, *(here - dy * width - dx),
						    fastdt_weight_index(f->guide, x, y, qx, qy));
		}
	}
}

static void fastdt_code(const struct filter *f)
{
	for (size_t i = 0; i < f->size; i++)
		f->plane[i].whole = sx_fastdt_decode(sx_fastdt_encode((int16_t)f->plane[i].whole));
}

/*
 * Makes all passes over the plane. keep: the plane is that of the lowest disparity. It is stored, and
 * subtracted from itself and from the planes that follow.
 */
static void fastdt_run(const struct filter *f, bool keep)
{
	bool early = f->p->fastdt == SX_FASTDT_INT8;

	fastdt_pass(f, 1, 0);
	if (early && keep)
		memcpy(f->subtracted, f->plane, f->size * sizeof(*f->plane));
	if (early)
		fastdt_subtract(f);
	fastdt_pass(f, -1, 0);
	if (early)
		fastdt_code(f);
	if (!early && keep)
		memcpy(f->subtracted, f->plane, f->size * sizeof(*f->plane));
	if (!early)
		fastdt_subtract(f);
	fastdt_pass(f, 0, 1);
	fastdt_pass(f, 0, -1);
}

static uint16_t fastdt_sum_of(const struct filter *f, size_t i)
{
	int64_t s;

	if (is_float(f->p))
		s = lrintf((f->plane[i].real - f->least[i].real) * (65535.0f / f->gain[i].real));
	else
		s = ((int64_t)f->plane[i].whole - f->least[i].whole) *
			    (UINT32_C(0xffff0000) / (uint32_t)f->gain[i].whole) >>
		    16;
	return (uint16_t)(s < 0 ? 0 : s > UINT16_MAX ? UINT16_MAX : s);
}

/* Computes G: the largest cost everywhere, through all passes without subtraction or narrow cells. */
static void fastdt_find_gain(struct filter *f)
{
	const struct sx_stereo_params *p = f->p;
	struct sx_stereo_params plain = *p;
	union cell *plane = f->plane;

	plain.fastdt = is_float(p) ? SX_FASTDT_FLOAT : SX_FASTDT_INT32;
	f->p = &plain;
	f->plane = f->gain;
	for (size_t i = 0; i < f->size; i++)
		if (is_float(p))
			f->gain[i].real = p->cost == SX_COST_ZNCC ? 2.0f : (float)sx_cost_max(p->cost);
		else
			f->gain[i].whole = sx_cost_max(p->cost);
	fastdt_pass(f, 1, 0);
	fastdt_pass(f, -1, 0);
	fastdt_pass(f, 0, 1);
	fastdt_pass(f, 0, -1);
	f->p = p;
	f->plane = plane;
}

/* Loads the matching costs of disparity d, which fastdt_make_costs() has stored. */
static void fastdt_load(const struct filter *f, const struct sx_image *sum, int d)
{
	size_t step = (size_t)f->p->disparities, width = (size_t)f->guide->width;

	for (size_t i = 0; i < f->size; i++) {
		const uint16_t *row = sx_image_row(sum, (int)(i / width));

		if (is_float(f->p))
			f->plane[i].real = f->real_costs[i * step + (size_t)d];
		else
			f->plane[i].whole = row[i % width * step + (size_t)d];
	}
}

static void fastdt_store(const struct filter *f, const struct sx_image *sum, int d)
{
	size_t step = (size_t)f->p->disparities, width = (size_t)f->guide->width;

	for (size_t i = 0; i < f->size; i++)
		((uint16_t *)sx_image_row(sum, (int)(i / width)))[i % width * step + (size_t)d] =
			fastdt_sum_of(f, i);
}

/* Computes the costs. Stores integer costs in the memory of S, float costs in a separate volume. */
static void fastdt_make_costs(const struct filter *f, const struct sx_cost_input *in,
			      const struct sx_image *sum)
{
	size_t row_cells = (size_t)f->guide->width * (size_t)f->p->disparities;

	for (int y = 0; y < f->guide->height; y++) {
		if (is_float(f->p)) {
			sx_cost_row_float(in, y, f->p, f->real_costs + (size_t)y * row_cells);
			continue;
		}
		sx_cost_row(in, y, f->p, f->row_costs);
		for (size_t i = 0; i < row_cells; i++)
			((uint16_t *)sx_image_row(sum, y))[i] = f->row_costs[i];
	}
}

size_t sx_fastdt_scratch_bytes(int width, int height, const struct sx_stereo_params *p)
{
	size_t pixels = (size_t)width * (size_t)height, row = (size_t)width * (size_t)p->disparities;

	return 4 * pixels * sizeof(union cell) + (is_float(p) ? (size_t)height * row * sizeof(float) : row);
}

void sx_fastdt(const struct sx_cost_input *in, const struct sx_image *sum, const struct sx_stereo_params *p,
	       void *scratch)
{
	struct filter f = {.guide = &in->grey[0], .p = p};

	f.size = (size_t)f.guide->width * (size_t)f.guide->height;
	f.subtracted = scratch;
	f.least = f.subtracted + f.size;
	f.gain = f.least + f.size;
	f.plane = f.gain + f.size;
	f.real_costs = (float *)(f.plane + f.size);
	f.row_costs = (uint8_t *)(f.plane + f.size);
	sx_fastdt_weights_init(&f.weights, p);
	fastdt_make_costs(&f, in, sum);
	fastdt_find_gain(&f);
	fastdt_load(&f, sum, 0);
	fastdt_run(&f, true);
	memset(f.plane, 0, f.size * sizeof(*f.plane)); /* 0 and 0.0f */
	fastdt_run(&f, false);
	memcpy(f.least, f.plane, f.size * sizeof(*f.plane));
	for (int d = 0; d < p->disparities; d++) {
		fastdt_load(&f, sum, d);
		fastdt_run(&f, false);
		fastdt_store(&f, sum, d);
	}
}
