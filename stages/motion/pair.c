/*
 * Motion of a pair of frames, see pair.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/pair.h"

#include <errno.h>
#include <stdlib.h>

#include "base/contract.h"
#include "stages/motion/refine.h"
#include "stages/motion/view.h"

int sx_motion_pair_init(struct sx_motion_pair *ret, const struct sx_camera *camera, int width, int height,
			uint32_t most)
{
	struct sx_motion_pair m = {.width = width, .height = height, .camera = *camera, .most = most};
	struct sx_motion_cells cells;
	int r;

	if (!(camera->fx > 0 && camera->fy > 0 && camera->baseline_m > 0))
		return -EINVAL;
	r = sx_image_init(&m.owner, SX_PIXEL_U32, width, height);
	if (r < 0)
		return r;
	cells = sx_motion_cells(width, height);
	m.cells = cells.columns * cells.rows;
	m.features = calloc((size_t)m.cells, sizeof(*m.features));
	m.flows = calloc((size_t)m.cells, sizeof(*m.flows));
	m.velocities = calloc((size_t)most + 1, sizeof(*m.velocities));
	m.work = calloc(2 * (size_t)most + 1, sizeof(*m.work));
	if (!m.features || !m.flows || !m.velocities || !m.work) {
		sx_motion_pair_finish(&m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

size_t sx_motion_pair_bytes(const struct sx_motion_pair *m)
{
	return m->owner.pitch * (size_t)m->owner.height +
	       (size_t)m->cells * (sizeof(*m->features) + sizeof(*m->flows)) +
	       (size_t)m->most * (sizeof(*m->velocities) + 2 * sizeof(*m->work));
}

void sx_motion_pair_finish(struct sx_motion_pair *m)
{
	sx_image_finish(&m->owner);
	free(m->features);
	free(m->flows);
	free(m->velocities);
	free(m->work);
	*m = (struct sx_motion_pair){0};
}

/*
 * Searches the features around their places by the step `at` and the offset. Later passes search those again
 * whose place by `last` and its offset was elsewhere.
 */
static void search(struct sx_motion_pair *m, const struct sx_motion_view *now,
		   const struct sx_motion_view *before, const struct sx_motion_step *at, double offset,
		   const struct sx_motion_step *last, double last_offset)
{
	static const double stands[3] = {0.0, 0.0, 0.0};

	for (int i = 0; i < m->cells; i++) {
		const struct sx_motion_feature *f = &m->features[i];
		struct sx_motion_guess guess;

		if (!f->score)
			continue;
		guess = sx_motion_expect(&m->camera, at, f, offset, stands);
		if (last && !sx_motion_is_elsewhere(
				    guess, sx_motion_expect(&m->camera, last, f, last_offset, stands)))
			continue;
		sx_motion_match(now, before, f, &guess, 1, &m->flows[i]);
		sx_motion_refine(now, before, f, &guess, &m->flows[i]);
	}
}

/* Makes the first pass of the search. Sets *at to the step that it was around. Returns whether it found a step. */
static bool first_pass(struct sx_motion_pair *m, const struct sx_motion_view *now,
		       const struct sx_motion_view *before, const struct sx_motion_step *expected,
		       const struct sx_motion_range *prior, struct sx_motion_step *at)
{
	for (int turn = expected ? 0 : 1; turn < 2; turn++) {
		if (turn == 0)
			*at = *expected;
		else if (!sx_motion_begin(now, before, &m->camera, m->features, prior->px, expected, at))
			return false;
		search(m, now, before, at, prior->px, NULL, 0.0);
		sx_motion_ego(&m->camera, m->features, m->flows, m->cells, at, prior, &m->ego);
		if (turn == 0 && sx_motion_is_good(&m->ego))
			break;
	}
	return m->ego.verdict == SX_MOTION_STEP_FOUND;
}

int sx_motion_guess_movers(const struct sx_motion_pair *m, const struct sx_motion_feature *f, double seconds,
			   struct sx_motion_guess guesses[SX_MOTION_PAIR_GUESSES])
{
	int count = 1;

	for (int i = 0; i < SX_MOTION_PAIR_GUESSES; i++) {
		struct sx_motion_guess g;
		double shift[3];

		sx_motion_mover_shift(&m->ego.step, seconds / m->camera.baseline_m, i, shift);
		g = sx_motion_expect(&m->camera, &m->ego.step, f, m->ego.used.px, shift);
		if (i == 0)
			guesses[0] = g;
		else if (sx_motion_is_other(&g, &guesses[0]))
			guesses[count++] = g;
	}
	return count;
}

/* Searches features of near objects that are not where they would be if they stood. */
static void search_movers(struct sx_motion_pair *m, const struct sx_motion_frame *now,
			  const struct sx_motion_view *before)
{
	struct sx_motion_guess guesses[SX_MOTION_PAIR_GUESSES];

	for (int i = 0; i < m->cells; i++) {
		const struct sx_motion_feature *f = &m->features[i];
		struct sx_motion_flow *flow = &m->flows[i];
		int count;

		if (!sx_motion_may_move(f, flow))
			continue;
		count = sx_motion_guess_movers(m, f, now->seconds, guesses);
		sx_motion_match(now->view, before, f, guesses, count, flow);
		sx_motion_refine(now->view, before, f, &guesses[flow->guess], flow);
	}
}

void sx_motion_pair_clear(struct sx_motion_pair *m, const struct sx_motion_frame *now,
			  const struct sx_motion_range *prior)
{
	const struct sx_motion_step stands = sx_motion_no_step();

	m->ego = sx_motion_no_ego(SX_MOTION_STEP_FIRST, &stands, prior);
	for (int i = 0; i < m->cells; i++)
		m->flows[i] = (struct sx_motion_flow){.search = SX_MOTION_UNKNOWN};
	sx_must(now->stixel_count, <=, m->most);
	for (uint32_t i = 0; i < now->stixel_count; i++)
		m->velocities[i] = (struct sx_motion_velocity){.state = SX_MOTION_STATE_UNKNOWN};
}

void sx_motion_pair(struct sx_motion_pair *m, const struct sx_motion_frame *now,
		    const struct sx_motion_view *before, const struct sx_motion_step *expected,
		    const struct sx_motion_range *prior)
{
	const struct sx_motion_cells cells = sx_motion_cells(m->width, m->height);
	struct sx_motion_step last;
	double last_offset = prior->px;

	sx_motion_pair_clear(m, now, prior);
	sx_motion_owners(now->stixels, now->stixel_count, now->stixel_width, &m->owner);
	sx_motion_corners(now->view, &m->owner, now->road, &m->camera, m->features);
	if (!before)
		return;
	m->ego.verdict = SX_MOTION_STEP_REPEATS;
	if (sx_motion_view_repeats(now->view, before))
		return;
	m->ego.verdict = SX_MOTION_STEP_FEW;
	if (!first_pass(m, now->view, before, expected, prior, &last))
		return;
	for (int pass = 1; pass < SX_MOTION_PAIR_PASSES; pass++) {
		const struct sx_motion_step at = m->ego.step;
		const double offset = m->ego.used.px;

		search(m, now->view, before, &at, offset, &last, last_offset);
		sx_motion_ego(&m->camera, m->features, m->flows, m->cells, &at, prior, &m->ego);
		if (m->ego.verdict != SX_MOTION_STEP_FOUND)
			return;
		last = at;
		last_offset = offset;
	}
	search_movers(m, now, before);
	sx_motion_group(&m->camera, &cells, m->features, m->flows, now->stixels, now->stixel_count,
			now->stixel_width, now->seconds, &m->ego, m->work, m->velocities);
}
