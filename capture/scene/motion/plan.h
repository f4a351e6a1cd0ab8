/*
 * When something is where on its path: phases of constant acceleration. Way, speed and acceleration at a time
 * are exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_MOTION_PLAN_H
#define SX_CAPTURE_SCENE_MOTION_PLAN_H

#define SX_PLAN_PHASES 16

struct sx_phase {
	double from;		 /* time, s */
	double way, speed, gain; /* at its beginning: m, m/s, m/s2 */
};

/* phase[count]: what follows the last phase, at constant speed. Before time 0 speed is constant, too. */
struct sx_plan {
	int count;
	struct sx_phase phase[SX_PLAN_PHASES + 1];
};

/* State of a plan at a time: m, m/s, m/s2. */
struct sx_pace {
	double way, speed, gain;
};

void sx_plan_begin(struct sx_plan *p, double way, double speed);
/* Appends some seconds of a constant acceleration. Phases after the last possible one are left out. */
void sx_plan_add(struct sx_plan *p, double seconds, double gain);
/* Appends a change to another speed with that acceleration or braking, gain > 0. */
void sx_plan_change(struct sx_plan *p, double speed, double gain);
/* Appends phases until that time, at constant speed. */
void sx_plan_until(struct sx_plan *p, double time);
/* Returns the time at which the last phase ends, s. */
double sx_plan_end(const struct sx_plan *p);
struct sx_pace sx_plan_at(const struct sx_plan *p, double time);

#endif
