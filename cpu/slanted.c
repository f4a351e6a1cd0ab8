/*
 * Tables and scratch of the CPU engine's slanted stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/slanted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>

int sx_slanted_cpu_create(struct sx_slanted_cpu **ret, const struct sx_slanted_tables *t)
{
	struct sx_slanted_cpu *c = calloc(1, sizeof(*c));
	int n = 0;

	if (!c)
		return -ENOMEM;
	c->t = t;
	for (int kind = STIXEL_GROUND; kind <= STIXEL_SKY; kind++) {
		c->first[kind] = n;
		for (int k = 0; k < t->classes; k++)
			if (t->kind[k] == kind)
				c->order[n++] = (uint8_t)k;
		if (!t->exact)
			continue;
		c->outlier[kind] = calloc(SX_SLANTED_OUTLIERS, sizeof(*c->outlier[kind]));
		if (!c->outlier[kind]) {
			sx_slanted_cpu_destroy(c);
			return -ENOMEM;
		}
		for (int i = 0; i < SX_SLANTED_OUTLIERS; i++)
			c->outlier[kind][i] = t->outlier[kind][i];
	}
	c->first[3] = n;
	*ret = c;
	return 0;
}

void sx_slanted_cpu_destroy(struct sx_slanted_cpu *c)
{
	if (!c)
		return;
	for (int kind = 0; kind < 3; kind++)
		free(c->outlier[kind]);
	free(c);
}

size_t sx_slanted_cpu_bytes(const struct sx_slanted_tables *t)
{
	const struct sx_slanted_cpu c = {0};

	return sizeof(c) + (t->exact ? 3 * SX_SLANTED_OUTLIERS * sizeof(*c.outlier[0]) : 0);
}

/* Takes n elements at the start of a cache line. If memory is NULL, only counts. */
static void *slanted_take(uint8_t *memory, size_t *used, size_t n, size_t bytes)
{
	void *p = memory ? memory + *used : NULL;

	*used += (n * bytes + 63) & ~(size_t)63;
	return p;
}

static size_t slanted_lay_out(struct sx_slanted_work *w, const struct sx_slanted_tables *t, uint8_t *memory)
{
	const size_t h = (size_t)t->rows + 1 + SX_SLANTED_IDLE;
	size_t used = 0;

	w->memory = memory;
	for (int i = 0; i < SX_PREFIXES; i++)
		w->prefix[i] = slanted_take(memory, &used, h, sizeof(double));
	w->prefix_w = slanted_take(memory, &used, h, sizeof(int32_t));
	w->prefix_g = slanted_take(memory, &used, h, sizeof(int32_t));
	w->prefix_holes = slanted_take(memory, &used, h, sizeof(int32_t));
	w->w = slanted_take(memory, &used, h, sizeof(int32_t));
	w->d = slanted_take(memory, &used, h, sizeof(int32_t));
	w->origin = slanted_take(memory, &used, h, sizeof(int32_t));
	w->at = slanted_take(memory, &used, h, sizeof(int32_t));
	w->ground = slanted_take(memory, &used, h, sizeof(int32_t));
	for (int k = 0; k < t->classes; k++)
		w->score[k] = slanted_take(memory, &used, h, sizeof(int32_t));
	w->sky_cells = slanted_take(memory, &used, h, sizeof(int32_t));
	for (int k = 0; k < 3; k++) {
		w->kw[k] = slanted_take(memory, &used, h, sizeof(float));
		w->from[k] = slanted_take(memory, &used, h, sizeof(int32_t));
	}
	w->start = slanted_take(memory, &used, h, sizeof(*w->start));
	w->list = slanted_take(memory, &used, h, sizeof(*w->list));
	return used;
}

size_t sx_slanted_work_bytes(const struct sx_slanted_tables *t)
{
	struct sx_slanted_work none;

	return slanted_lay_out(&none, t, NULL);
}

int sx_slanted_work_init(struct sx_slanted_work *w, const struct sx_slanted_tables *t)
{
	const size_t bytes = sx_slanted_work_bytes(t);
	uint8_t *memory = aligned_alloc(64, bytes);

	if (!memory)
		return -ENOMEM;
	/* clears row 0 of the prefix sums and the entries of idle lanes, which are never written */
	memset(memory, 0, bytes);
	slanted_lay_out(w, t, memory);
	return 0;
}

void sx_slanted_work_finish(struct sx_slanted_work *w)
{
	free(w->memory);
	*w = (struct sx_slanted_work){0};
}
