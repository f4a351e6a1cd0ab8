/*
 * Things that move.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/motion/mover.h"

#include "base/contract.h"
#include "capture/scene/motion/turn.h"

void sx_mover_init(struct sx_mover *m, enum sx_mover_class kind, uint64_t seed)
{
	static const double sizes[SX_MOVER_CLASSES][3] = {
		[SX_MOVER_CAR] = {4.3, 1.76, 1.5},     [SX_MOVER_VAN] = {5.3, 1.95, 2.4},
		[SX_MOVER_PERSON] = {0.5, 0.5, 1.72},  [SX_MOVER_CYCLIST] = {1.75, 0.5, 1.75},
		[SX_MOVER_ROBOT] = {0.62, 0.46, 0.42},
	};
	const double scale = sx_pick(seed, 700, 0, 0.94, 1.06);

	sx_must_index(kind, SX_MOVER_CLASSES);
	*m = (struct sx_mover){
		.kind = kind,
		.seed = seed,
		.length = sizes[kind][0] * scale,
		.width = sizes[kind][1],
		.height = sizes[kind][2] * scale,
		.before = 0.5 * sizes[kind][0] * scale,
	};
}

struct sx_moved sx_mover_at(const struct sx_mover *m, double time)
{
	const struct sx_pace pace = sx_plan_at(&m->plan, time);
	const struct sx_place place = sx_path_at(&m->path, pace.way, m->aside);
	const struct sx_turn t = sx_turn_of(place.course);
	const double speed = pace.speed * (1 - m->aside * place.curve), sign = m->backwards ? -1 : 1;

	return (struct sx_moved){
		.x = place.x,
		.z = place.z,
		.course = m->backwards ? place.course + SX_PI : place.course,
		.vx = speed * t.sine,
		.vz = speed * t.cosine,
		.turning = place.curve * pace.speed,
		.way = sign * pace.way,
		.speed = sign * speed,
		.gain = sign * pace.gain,
	};
}
