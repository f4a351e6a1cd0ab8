/*
 * Motion of a scene in a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/motion/motion.h"

#include "base/contract.h"

enum dice { D_SHAKE = 1100 };

/* Oscillations of a camera on wheels: frequency, Hz; amplitudes of pitch, roll and course, degrees, and of heave, m. */
static const struct {
	double hertz, pitch, roll, course, heave;
} shakes[] = {
	{0.43, 0.06, 0.08, 0.03, 0.008},
	{1.31, 0.14, 0.10, 0.04, 0.015},
	{2.63, 0.05, 0.04, 0.03, 0.006},
	{5.71, 0.025, 0.02, 0.02, 0.002},
};

void sx_world_init(struct sx_world_motion *m, enum sx_episode_kind kind, uint64_t seed)
{
	m->kind = kind;
	m->seed = seed;
	sx_episode_init(&m->episode, kind, seed, 0);
	sx_world_set(m, 0);
}

/* Sets the pose of the camera. It dives when it brakes. */
static void set_pose(struct sx_world_motion *m)
{
	const struct sx_moved *self = &m->moved[0];
	struct sx_world_pose *p = &m->pose;
	const double gain = self->gain < -3 ? -3 : self->gain > 3 ? 3 : self->gain;
	/* a small robot has stiff wheels */
	const double size = m->kind == SX_EPISODE_YARD ? 0.15 : 1,
		     rough = self->speed > 2 ? 1 : self->speed / 2;
	const double moving = m->kind == SX_EPISODE_YARD ? 1 : 0.1 + 0.9 * rough;
	double sum[4] = {0};

	for (int i = 0; i < (int)(sizeof(shakes) / sizeof(shakes[0])); i++) {
		for (int k = 0; k < 4; k++) {
			const double phase = sx_pick(m->seed, D_SHAKE, 4 * i + k, 0, 1);
			const double most = k == 0   ? shakes[i].pitch
					    : k == 1 ? shakes[i].roll
					    : k == 2 ? shakes[i].course
						     : shakes[i].heave;

			sum[k] += most * sx_sine_wave(shakes[i].hertz * m->time + phase);
		}
	}
	for (int k = 0; k < 4; k++)
		sum[k] *= m->episode.shake * moving;
	p->x = self->x;
	p->z = self->z;
	p->heave = size * sum[3];
	p->course = self->course + sum[2] * SX_DEGREE;
	p->pitch = (sum[0] - 0.08 * gain * size) * SX_DEGREE;
	p->roll = sum[1] * SX_DEGREE;
	p->course_turn = sx_turn_of(p->course);
	p->roll_turn = sx_turn_of(p->roll);
	sx_must_be(p->pitch > -0.019 && p->pitch < 0.019);
}

void sx_world_set(struct sx_world_motion *m, double time)
{
	const int64_t number = sx_floor(time / SX_EPISODE_S);

	sx_must_be(time >= 0);
	if (number != m->episode.number)
		sx_episode_init(&m->episode, m->kind, m->seed, number);
	m->time = time - SX_EPISODE_S * (double)number;
	for (int i = 0; i < m->episode.count; i++)
		m->moved[i] = sx_mover_at(&m->episode.mover[i], m->time);
	set_pose(m);
}

uint32_t sx_world_identity(const struct sx_world_motion *m, int mover)
{
	sx_must_index(mover, SX_MOVERS_MAX);
	return (uint32_t)m->episode.number * SX_MOVERS_MAX + (uint32_t)mover + 1;
}
