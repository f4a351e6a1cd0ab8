/*
 * Ground truth of motion of the synthetic scenes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/scene_motion.h"

#include <errno.h>
#include <stdlib.h>

#include "base/contract.h"
#include "capture/scene/scene_world.h"

int sx_scene_motion_init(struct sx_scene_motion *m, const struct sx_scene *s)
{
	if (!s->motion || s->lens[0].at)
		return -EINVAL;
	*m = (struct sx_scene_motion){
		.thing = calloc((size_t)s->params.width * (size_t)s->params.height, sizeof(*m->thing)),
	};
	return m->thing ? 0 : -ENOMEM;
}

void sx_scene_motion_finish(struct sx_scene_motion *m)
{
	free(m->thing);
	*m = (struct sx_scene_motion){0};
}

/* Turns a direction from camera axes to the axes of the episode, whose y is down here. */
static void to_world(const struct sx_pose *p, const struct sx_turn *course, const double c[3], double ret[3])
{
	const double right = c[0] * p->cos_roll - c[1] * p->sin_roll,
		     low = c[0] * p->sin_roll + c[1] * p->cos_roll;
	const double ahead = c[2] * p->cos_pitch - low * p->sin_pitch;

	ret[0] = right * course->cosine + ahead * course->sine;
	ret[1] = low * p->cos_pitch + c[2] * p->sin_pitch;
	ret[2] = ahead * course->cosine - right * course->sine;
}

static void set_pose(const struct sx_scene *s, double ret[12])
{
	const struct sx_turn *course = &s->motion->pose.course_turn;

	for (int k = 0; k < 3; k++) {
		const double axis[3] = {k == 0, k == 1, k == 2};
		double v[3];

		to_world(&s->pose, course, axis, v);
		for (int i = 0; i < 3; i++)
			ret[4 * i + k] = v[i];
	}
	ret[3] = s->pose.x;
	ret[7] = -s->camera.height_m - s->pose.heave;
	ret[11] = s->pose.z;
}

static void set_thing(const struct sx_scene *s, int mover, struct sx_scene_thing *ret)
{
	const struct sx_turn *course = &s->motion->pose.course_turn;
	const struct sx_mover *m = &s->motion->episode.mover[mover];
	const struct sx_moved *at = &s->motion->moved[mover];
	const double x = at->x - s->pose.x, z = at->z - s->pose.z;

	*ret = (struct sx_scene_thing){
		.identity = sx_world_identity(s->motion, mover),
		.kind = m->kind,
		.x = x * course->cosine - z * course->sine,
		.z = x * course->sine + z * course->cosine,
		.vx = at->vx * course->cosine - at->vz * course->sine,
		.vz = at->vx * course->sine + at->vz * course->cosine,
		.turning = at->turning,
		.length = m->length,
		.width = m->width,
		.height = m->height,
	};
}

void sx_scene_motion(const struct sx_scene *s, struct sx_scene_motion *m)
{
	const struct sx_view *v = &s->view[0];

	sx_must_be(s->motion && v->width == s->params.width);
	m->episode = s->motion->episode.number;
	m->count = s->motion->episode.count - 1; /* the camera's own vehicle does not count */
	for (int i = 0; i < m->count; i++)
		set_thing(s, i + 1, &m->things[i]);
	for (int i = 0; i < v->width * v->height; i++) {
		m->thing[i] = v->id[i] ? s->facets[v->id[i] - 1].mover : 0;
		if (m->thing[i])
			m->things[m->thing[i] - 1].pixels++;
	}
	set_pose(s, m->pose);
}

void sx_scene_pose_in(const double from[12], const double pose[12], double ret[12])
{
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 4; k++) {
			double sum = 0;

			for (int j = 0; j < 3; j++)
				sum += from[4 * j + i] * (pose[4 * j + k] - (k == 3 ? from[4 * j + 3] : 0));
			ret[4 * i + k] = sum;
		}
}
