/*
 * INA3221, INA238 and similar chips: power monitors on the rails of a board.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/rails.h"
#include "power/sensor.h"

/* Limits of a plausible measurement. A board has a bus of at most 26 V, and shunts of some milliohms. */
#define MOST_MV 100000
#define MOST_MA 1000000
#define MOST_W 10000

struct ina {
	struct sx_power_sensor head;
	int count;
	struct sx_rail rail[SX_RAIL_SUM_MAX];
};

static int read_rail(const struct sx_rail *rail, double *watts, struct sx_why *why)
{
	int64_t most = (int64_t)MOST_W * rail->power_per_watt, power, volts, amperes;
	int r;

	/*
	 * The current, and so the power, may be a little below 0: without current a shunt measures its
	 * offset.
	 */
	if (*rail->power) {
		r = sx_file_number(rail->power, -most, most, &power, why);
		*watts = (double)power / rail->power_per_watt;
		return r;
	}
	r = sx_file_number(rail->volts, 0, MOST_MV, &volts, why);
	if (r == 0)
		r = sx_file_number(rail->amperes, -MOST_MA, MOST_MA, &amperes, why);
	if (r == 0)
		*watts = (double)volts * (double)amperes / 1e6;
	return r;
}

static int read_energy(const struct sx_rail *rail, double *joules, struct sx_why *why)
{
	int64_t energy;
	int r = sx_file_number(rail->energy, 0, INT64_MAX, &energy, why);

	if (r == 0)
		*joules = (double)energy / 1e6;
	return r;
}

static int ina_read(struct sx_power_sensor *sensor, struct sx_power_reading *r, struct sx_why *why)
{
	const struct ina *s = (const struct ina *)sensor;
	double watts = 0.0, joules = 0.0, one = 0.0;
	bool counted = true;
	int error;

	for (int i = 0; i < s->count; i++) {
		error = read_rail(&s->rail[i], &one, why);
		if (error < 0)
			return error;
		watts += one;
		counted = counted && *s->rail[i].energy;
	}
	if (watts < 0.0)
		return sx_why_fail(-ERANGE, why, "%s: %.3f W, below zero", s->head.device, watts);
	for (int i = 0; counted && i < s->count; i++) {
		error = read_energy(&s->rail[i], &one, why);
		if (error < 0)
			return error;
		joules += one;
	}
	r->watts = watts;
	r->joules = counted ? joules : (double)NAN;
	return 0;
}

static void ina_close(struct sx_power_sensor *sensor)
{
	free(sensor);
}

static const struct sx_power_kind kind = {.read = ina_read, .close = ina_close};

/* Describes the rails: "GPU, CPU at 1-0040; CV at 1-0041". */
static void ina_describe(struct ina *s, const char *scope)
{
	size_t used = 0, bytes = sizeof(s->head.device);

	snprintf(s->head.source, sizeof(s->head.source), "%s", s->rail[0].chip);
	if (scope)
		snprintf(s->head.scope, sizeof(s->head.scope), "%s", scope);
	else if (s->count == 1)
		snprintf(s->head.scope, sizeof(s->head.scope), "rail %.32s", s->rail[0].label);
	else
		snprintf(s->head.scope, sizeof(s->head.scope), "sum of %d rails", s->count);
	for (int i = 0; i < s->count && used < bytes; i++) {
		const struct sx_rail *rail = &s->rail[i], *next = i + 1 < s->count ? rail + 1 : NULL;
		bool last_here = !next || strcmp(rail->place, next->place) != 0;
		const char *separator = !next ? "" : last_here ? "; " : ", ";

		used += (size_t)snprintf(s->head.device + used, bytes - used, "%s%s%s%s", rail->label,
					 last_here ? " at " : "", last_here ? rail->place : "", separator);
	}
	for (int i = 0; i < s->count; i++)
		if (s->rail[i].update_ms > s->head.least_ms)
			s->head.least_ms = s->rail[i].update_ms;
}

int sx_ina_open(struct sx_power_sensor **ret, const struct sx_power_params *p, struct sx_why *why)
{
	struct sx_rails *rails = malloc(sizeof(*rails));
	struct ina *s = calloc(1, sizeof(*s));
	struct sx_rail_sum sum;
	int r = -ENOMEM;

	sx_why_set(why, "out of memory");
	if (!rails || !s)
		goto fail;
	sx_rails_find(rails, p->root ? p->root : "");
	r = sx_rails_sum(rails, p->rails, &sum, why);
	if (r < 0)
		goto fail;
	s->head.kind = &kind;
	s->count = sum.count;
	for (int i = 0; i < sum.count; i++)
		s->rail[i] = rails->rail[sum.rail[i]];
	ina_describe(s, sum.scope);
	free(rails);
	*ret = &s->head;
	return 0;
fail:
	free(rails);
	free(s);
	return r;
}
