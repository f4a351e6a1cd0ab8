/*
 * When something is where on its path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/motion/plan.h"

#include "base/contract.h"

static struct sx_pace pace_in(const struct sx_phase *p, double time)
{
	const double t = time - p->from;

	return (struct sx_pace){p->way + t * (p->speed + 0.5 * p->gain * t), p->speed + p->gain * t, p->gain};
}

void sx_plan_begin(struct sx_plan *p, double way, double speed)
{
	*p = (struct sx_plan){.phase = {{.way = way, .speed = speed}}};
}

void sx_plan_add(struct sx_plan *p, double seconds, double gain)
{
	struct sx_phase *phase = &p->phase[p->count];
	struct sx_pace end;

	if (p->count == SX_PLAN_PHASES || seconds <= 0)
		return;
	phase->gain = gain;
	end = pace_in(phase, phase->from + seconds);
	phase[1] = (struct sx_phase){phase->from + seconds, end.way, end.speed, 0};
	p->count++;
}

void sx_plan_change(struct sx_plan *p, double speed, double gain)
{
	const double by = speed - p->phase[p->count].speed;

	sx_must_be(gain > 0);
	sx_plan_add(p, (by < 0 ? -by : by) / gain, by < 0 ? -gain : gain);
	p->phase[p->count].speed = speed; /* no rounding of earlier phases remains, so that 0 is 0 */
}

void sx_plan_until(struct sx_plan *p, double time)
{
	sx_plan_add(p, time - sx_plan_end(p), 0);
}

double sx_plan_end(const struct sx_plan *p)
{
	return p->phase[p->count].from;
}

struct sx_pace sx_plan_at(const struct sx_plan *p, double time)
{
	const struct sx_phase *phase = p->phase;
	struct sx_pace r;

	while (phase < p->phase + p->count && time > phase[1].from)
		phase++;
	if (time < 0)
		return (struct sx_pace){p->phase[0].way + time * p->phase[0].speed, p->phase[0].speed, 0};
	r = pace_in(phase, time);
	if (r.speed < 1e-9 && r.speed > -1e-9) /* rounding at the end of braking */
		r.speed = 0;
	return r;
}
