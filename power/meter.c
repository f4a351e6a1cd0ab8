/*
 * Computes energy from readings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/meter.h"

#include <math.h>
#include <string.h>

#define MOST_W 10000.0 /* a counter that rises faster was reset, or wrapped unnoticed */
#define LEAST_S 1.0    /* shortest window for values per frame, s */
#define WATTS_NS INT64_C(1000000000)

void sx_meter_init(struct sx_meter *m, int64_t interval_ns)
{
	memset(m, 0, sizeof(*m));
	m->stale_ns = 3 * interval_ns > SX_METER_STALE_NS ? 3 * interval_ns : SX_METER_STALE_NS;
}

static const struct sx_meter_point *newest(const struct sx_meter *m)
{
	return &m->points[(m->count - 1) % SX_METER_POINTS];
}

/* Returns the energy of the span that ends with r, J. NAN: not known. */
static double energy(const struct sx_meter *m, int64_t span_ns, const struct sx_power_reading *r)
{
	double seconds = (double)span_ns / 1e9, joules;

	if (isfinite(r->joules) && isfinite(m->last.joules)) {
		/* A counter also covers a time without readings, but not an unlimited one. */
		joules = r->joules - m->last.joules;
		return span_ns <= SX_METER_WINDOW_NS && joules >= 0.0 && joules <= MOST_W * seconds
			       ? joules
			       : (double)NAN;
	}
	return span_ns <= m->stale_ns ? (m->last.watts + r->watts) / 2.0 * seconds : (double)NAN;
}

void sx_meter_add(struct sx_meter *m, int64_t now_ns, const struct sx_power_reading *r, uint64_t frames)
{
	struct sx_meter_point point = {.ns = now_ns};
	double joules;

	if (m->begun && isfinite(r->joules) && r->joules == m->last.joules)
		return;
	if (m->begun && now_ns <= m->last_ns)
		return;
	if (m->begun) {
		joules = energy(m, now_ns - m->last_ns, r);
		point = *newest(m);
		point.ns = now_ns;
		if (isfinite(joules)) {
			point.joules += joules;
			point.measured_ns += now_ns - m->last_ns;
			point.frames += frames - m->last_frames;
		}
	}
	m->points[m->count++ % SX_METER_POINTS] = point;
	m->begun = true;
	m->last = *r;
	m->last_ns = now_ns;
	m->last_frames = frames;
}

/* Returns the newest point that is at least span_ns older than the last one, else the oldest point. */
static const struct sx_meter_point *before(const struct sx_meter *m, int64_t span_ns)
{
	uint64_t kept = m->count < SX_METER_POINTS ? m->count : SX_METER_POINTS;
	const struct sx_meter_point *p = newest(m);

	for (uint64_t i = 1; i < kept && m->last_ns - p->ns < span_ns; i++)
		p = &m->points[(m->count - 1 - i) % SX_METER_POINTS];
	return p;
}

static double quotient(double a, double b)
{
	return b > 0.0 ? a / b : (double)NAN;
}

void sx_meter_get(const struct sx_meter *m, int64_t now_ns, struct sx_meter_readings *ret)
{
	const struct sx_meter_point *end, *second, *window;
	double joules, seconds, frames;

	*ret = (struct sx_meter_readings){.stale = true,
					  .watts = NAN,
					  .watts_10s = NAN,
					  .joules_per_frame = NAN,
					  .fps_per_watt = NAN,
					  .age_ns = -1};
	if (!m->begun)
		return;
	end = newest(m);
	ret->age_ns = now_ns > m->last_ns ? now_ns - m->last_ns : 0;
	ret->joules = end->joules;
	ret->seconds = (double)end->measured_ns / 1e9;
	ret->frames = end->frames;
	ret->stale = ret->age_ns > m->stale_ns;
	if (ret->stale)
		return;
	second = before(m, WATTS_NS);
	ret->watts = quotient(end->joules - second->joules,
			      (double)(end->measured_ns - second->measured_ns) / 1e9);
	window = before(m, SX_METER_WINDOW_NS);
	joules = end->joules - window->joules;
	seconds = (double)(end->measured_ns - window->measured_ns) / 1e9;
	frames = (double)(end->frames - window->frames);
	ret->watts_10s = quotient(joules, seconds);
	if (seconds < LEAST_S)
		return;
	ret->joules_per_frame = quotient(joules, frames);
	ret->fps_per_watt = quotient(frames, joules);
}
