/*
 * Tables, places and scratch of the CPU engine's stixel DP.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/stixel_dp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sx_dp_cpu_tables_create(struct sx_dp_cpu_tables **ret, const struct sx_dp_tables *t)
{
	const int n = t->range, pitch = (n + 7) & ~7;
	struct sx_dp_cpu_tables *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->t = t;
	c->pitch = pitch;
	/* vi_divide() divides 2 s <= 32 D n by n; quotient and sum fit the 24 bits of a float */
	c->small = (int64_t)(32 * n + 1) * t->height < 1 << 24;
	c->object = calloc((size_t)(n + 1) * (size_t)pitch + 8, sizeof(*c->object));
	c->object_min = calloc((size_t)n + 1, sizeof(*c->object_min));
	c->sky = calloc(16 * (size_t)n + 1, sizeof(*c->sky));
	if (!c->object || !c->object_min || !c->sky) {
		sx_dp_cpu_tables_destroy(c);
		return -ENOMEM;
	}
	for (int dq = 0; dq <= n; dq++) {
		const int32_t *row = t->object + dq * n;

		c->object_min[dq] = row[0];
		for (int fn = 0; fn < pitch; fn++) {
			const int32_t x = row[fn < n ? fn : n - 1];

			c->object[dq * pitch + fn] = x;
			c->object_min[dq] = x < c->object_min[dq] ? x : c->object_min[dq];
		}
	}
	for (int d = 0; d < 16 * n; d++)
		c->sky[d] = sx_dp_sky_cost(t, (uint16_t)d);
	c->sky[16 * n] = t->invalid_sky;
	*ret = c;
	return 0;
}

void sx_dp_cpu_tables_destroy(struct sx_dp_cpu_tables *t)
{
	if (!t)
		return;
	free(t->object);
	free(t->object_min);
	free(t->sky);
	free(t);
}

size_t sx_dp_cpu_tables_bytes(const struct sx_dp_cpu_tables *t)
{
	const size_t n = (size_t)t->t->range;

	return sizeof(*t) + ((n + 1) * (size_t)t->pitch + 8) * sizeof(*t->object) +
	       (n + 1) * sizeof(*t->object_min) + (16 * n + 1) * sizeof(*t->sky);
}

int sx_dp_cpu_place_init(struct sx_dp_cpu_place *p, int height)
{
	struct sx_dp_cpu_place n = {
		.base = calloc((size_t)height, sizeof(*n.base)),
		.precision = calloc((size_t)height, sizeof(*n.precision)),
	};

	if (!n.base || !n.precision || sx_dp_place_init(&n.p, height) < 0) {
		sx_dp_cpu_place_finish(&n);
		return -ENOMEM;
	}
	*p = n;
	return 0;
}

size_t sx_dp_cpu_place_bytes(int height)
{
	const struct sx_dp_cpu_place p = {0};

	return sx_dp_place_bytes(height) + (size_t)height * (sizeof(*p.base) + sizeof(*p.precision));
}

void sx_dp_cpu_place_finish(struct sx_dp_cpu_place *p)
{
	sx_dp_place_finish(&p->p);
	free(p->base);
	free(p->precision);
	*p = (struct sx_dp_cpu_place){0};
}

void sx_dp_cpu_place_set(struct sx_dp_cpu_place *p, const struct sx_dp_tables *t, const struct sx_dp_frame *f,
			 int32_t shift_q4)
{
	sx_dp_place_set(&p->p, t, f, shift_q4);
	p->shift_q4 = shift_q4;
	for (int v = 0; v < t->height; v++) {
		const int g = p->p.ground_q4[v], row = g < 0 ? 0 : g > 16 * t->range ? 16 * t->range : g;

		p->base[v] = t->base_ground[row];
		p->precision[v] = t->precision_ground[row];
	}
}

/* Takes n elements at the start of a cache line. If memory is NULL, only counts. */
static void *dp_take(uint8_t *memory, size_t *used, size_t n, size_t bytes)
{
	void *p = memory ? memory + *used : NULL;

	*used += (n * bytes + 63) & ~(size_t)63;
	return p;
}

static size_t dp_lay_out(struct sx_dp_work *w, const struct sx_dp_cpu_tables *t, uint8_t *memory)
{
	const size_t h = (size_t)t->t->height, chunks = h / SX_DP_CHUNK + 1 + SX_DP_CHUNK;
	size_t used = 0;

	w->memory = memory;
	w->object = dp_take(memory, &used, (h + 1 + SX_DP_CHUNK) * (size_t)t->pitch, sizeof(int32_t));
	w->cheapest = dp_take(memory, &used, h + 1, sizeof(int32_t));
	w->ground = dp_take(memory, &used, h + 1, sizeof(int32_t));
	w->sky = dp_take(memory, &used, h + 1, sizeof(int32_t));
	w->sum2 = dp_take(memory, &used, h + 1 + SX_DP_CHUNK, sizeof(int32_t));
	w->valid = dp_take(memory, &used, h + 1 + SX_DP_CHUNK, sizeof(int32_t));
	for (int i = 0; i < SX_DP_RECORDS; i++)
		w->record[i] = dp_take(memory, &used, h + SX_DP_CHUNK, sizeof(int32_t));
	w->bound = dp_take(memory, &used, chunks, sizeof(int32_t));
	w->fresh = dp_take(memory, &used, chunks, sizeof(int32_t));
	w->prior = dp_take(memory, &used, chunks, sizeof(int32_t));
	for (int i = 0; i < 3; i++) {
		w->cost[i] = dp_take(memory, &used, h, sizeof(int32_t));
		w->from[i] = dp_take(memory, &used, h, sizeof(uint16_t));
		w->below[i] = dp_take(memory, &used, h, 1);
	}
	w->support = dp_take(memory, &used, h + 1, sizeof(uint16_t));
	return used;
}

size_t sx_dp_work_bytes(const struct sx_dp_cpu_tables *t)
{
	struct sx_dp_work none;

	return dp_lay_out(&none, t, NULL);
}

int sx_dp_work_init(struct sx_dp_work *w, const struct sx_dp_cpu_tables *t)
{
	const size_t bytes = sx_dp_work_bytes(t);
	uint8_t *memory = aligned_alloc(64, bytes);

	if (!memory)
		return -ENOMEM;
	/*
	 * clears row 0 of the prefix sums, which is never written, and the entries beyond the last row, which
	 * idle lanes read
	 */
	memset(memory, 0, bytes);
	dp_lay_out(w, t, memory);
	return 0;
}

void sx_dp_work_finish(struct sx_dp_work *w)
{
	free(w->memory);
	*w = (struct sx_dp_work){0};
}
