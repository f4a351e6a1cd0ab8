/*
 * Motion over several frames: velocities and identities of boxes that a camera passes, and what happens if pairs are
 * missing, useless, or show nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/motion/filter/filter.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/stages/motion/motion_world.h"

#define SPEED 8.0 /* of the camera, m/s */

/* Change of a frame before the stages see it. */
enum fault { NONE, COVERED, NOISE, FROZEN, DARKER, NO_STIXELS };

/* A drive: the last frames, and the memory of the stages. */
struct drive {
	struct mw_world world;
	struct mw_frame frames[4];
	int drawn; /* frames so far */
	int span;  /* frames between the two of a pair */
	double t, period;
	struct sx_motion_step step;
	bool has_step;
	struct sx_motion_pair pair;
	struct sx_motion_filter filter;
};

static struct drive *drive_new(uint32_t seed, int fps)
{
	struct drive *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->world = mw_street(seed);
	d->period = 1.0 / fps;
	d->span = fps / 10;
	assert_in_range(d->span, 1, 3);
	assert_int_equal(sx_motion_pair_init(&d->pair, &d->world.camera, MW_WIDTH, MW_HEIGHT, MW_STIXELS_MAX),
			 0);
	assert_int_equal(
		sx_motion_filter_init(&d->filter, &d->world.camera, MW_WIDTH, MW_HEIGHT, MW_STIXELS_MAX), 0);
	return d;
}

static void drive_free(struct drive *d)
{
	for (int i = 0; i < 4; i++)
		sx_motion_view_finish(&d->frames[i].view);
	sx_motion_pair_finish(&d->pair);
	sx_motion_filter_finish(&d->filter);
	free(d);
}

static struct mw_frame *frame_at(struct drive *d, int back)
{
	return &d->frames[(d->drawn - 1 - back) % 4];
}

static void spoil(struct drive *d, enum fault fault)
{
	struct mw_frame *now = frame_at(d, 0);
	struct sx_motion_view old = now->view;
	struct check_rng r = check_rng_seed((uint64_t)d->drawn);

	if (fault == NO_STIXELS)
		now->count = 0;
	if (fault == NONE || fault == NO_STIXELS)
		return;
	if (fault == COVERED || fault == NOISE)
		check_fill(&old.grey, fault == COVERED ? CHECK_FLAT : CHECK_NOISE, &r);
	if (fault == FROZEN)
		sx_image_copy(&old.grey, &frame_at(d, d->span)->view.grey);
	for (int y = 0; y < MW_HEIGHT && fault == DARKER; y++) {
		uint8_t *row = sx_image_row(&old.grey, y);

		for (int x = 0; x < MW_WIDTH; x++)
			row[x] = (uint8_t)(row[x] > 30 ? row[x] - 30 : 0);
	}
	assert_int_equal(sx_motion_view_init(&now->view, &old.grey, &old.disparity), 0);
	sx_motion_view_finish(&old);
}

/* Draws the next frame, `periods` after the frame before, and runs the stages. */
static const struct mw_frame *drive_on(struct drive *d, enum fault fault, int periods)
{
	const struct sx_motion_range prior = {0.0, 0.2};
	const double since = periods * d->period;
	const int back = d->drawn < d->span ? d->drawn : d->span;
	struct sx_motion_frame frame;
	struct mw_pose pose;
	struct mw_frame *now;

	if (d->drawn)
		d->t += since;
	pose = (struct mw_pose){0, SPEED * d->t, 0, d->t};
	d->drawn++;
	now = frame_at(d, 0);
	sx_motion_view_finish(&now->view);
	mw_draw(&d->world, &pose, (uint32_t)d->drawn, now);
	spoil(d, fault);
	frame = (struct sx_motion_frame){.view = &now->view,
					 .stixels = now->stixels,
					 .stixel_count = now->count,
					 .stixel_width = MW_STIXEL,
					 .seconds = (back > 1 ? back - 1 : 0) * d->period + since,
					 .road = &now->road};
	sx_motion_pair(&d->pair, &frame, back ? &frame_at(d, back)->view : NULL,
		       d->has_step ? &d->step : NULL, &prior);
	d->has_step = d->pair.ego.verdict == SX_MOTION_STEP_FOUND;
	d->step = d->pair.ego.step;
	sx_motion_filter_next(&d->filter, &sx_motion_by_reference, &frame,
			      back ? &frame_at(d, back)->view : NULL, &d->pair, back ? since : 0.0);
	return now;
}

/* Stixels of a box by state, the object of most of them, and their mean velocity. */
struct seen {
	int stixels, state[3], of_object;
	uint32_t object;
	double vx, vz, worst;
	double pair_sigma_x; /* least standard deviation of the pair alone */
};

static struct seen look_at(const struct drive *d, const struct mw_frame *f, int box)
{
	const struct sx_motion_filter *m = &d->filter;
	const struct mw_box *b = &d->world.boxes[box];
	struct seen s = {.pair_sigma_x = 1e9};

	for (uint32_t k = 0; k < m->objects.count; k++) {
		int members = 0;

		for (uint32_t i = 0; i < f->count; i++)
			members += f->owner_box[i] == box && m->beliefs[i].object == m->objects.objects[k].id;
		if (members > s.of_object) {
			s.of_object = members;
			s.object = m->objects.objects[k].id;
		}
	}
	for (uint32_t i = 0; i < f->count; i++) {
		const struct sx_motion_velocity *v = &m->velocities[i];
		const double x = v->vx - b->vx, z = v->vz - b->vz;

		if (f->owner_box[i] != box)
			continue;
		s.stixels++;
		s.state[v->state]++;
		if (d->pair.velocities[i].measured)
			s.pair_sigma_x = fmin(s.pair_sigma_x, sqrt(d->pair.velocities[i].sxx));
		if (v->state != SX_MOTION_STATE_MOVES)
			continue;
		assert_true(v->measured && v->sxx > 0 && v->sxx * v->szz > v->sxz * v->sxz);
		s.vx += v->vx;
		s.vz += v->vz;
		s.worst = fmax(s.worst, sqrt(sx_motion_square(x, z, v->sxx, v->sxz, v->szz)));
	}
	if (s.state[SX_MOTION_STATE_MOVES]) {
		s.vx /= s.state[SX_MOTION_STATE_MOVES];
		s.vz /= s.state[SX_MOTION_STATE_MOVES];
	}
	return s;
}

static void say(const char *what, const struct drive *d, const struct seen *s)
{
	fail_msg(
		"%s, frame %d: %d stixels, %d unknown, %d stand, %d move: %.2f %.2f m/s, %d of object %u, worst %.1f "
		"sigma",
		what, d->drawn, s->stixels, s->state[0], s->state[1], s->state[2], s->vx, s->vz, s->of_object,
		s->object, s->worst);
}

/* Checks that a box moves as it does, as one object. */
static void check_moves(const struct drive *d, const struct mw_frame *f, int box, uint32_t *object)
{
	const struct mw_box *b = &d->world.boxes[box];
	const struct seen s = look_at(d, f, box);

	if (s.stixels < 5 || s.state[SX_MOTION_STATE_MOVES] < 0.85 * s.stixels ||
	    !(fabs(s.vx - b->vx) < 0.3) || !(fabs(s.vz - b->vz) < 0.6) || !(s.worst < 3.5) ||
	    s.of_object < 0.85 * s.stixels || (*object && s.object != *object))
		say("moves", d, &s);
	*object = s.object;
}

/* No stixel has a state, and no object either. */
static void check_unknown(const struct drive *d, const struct mw_frame *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		assert_int_equal(d->filter.velocities[i].state, SX_MOTION_STATE_UNKNOWN);
		assert_false(d->filter.velocities[i].measured);
		assert_int_equal(d->filter.beliefs[i].object, 0);
	}
	for (uint32_t k = 0; k < d->filter.objects.count; k++)
		assert_int_equal(d->filter.objects.objects[k].state, SX_MOTION_STATE_UNKNOWN);
}

/* A box that crosses, as the third one of the street. */
static struct drive *crossing(uint32_t seed, int fps)
{
	struct drive *d = drive_new(seed, fps);

	d->world.boxes[2] = (struct mw_box){-1.5, 16, 1.8, 4, 1.5, 2.5, 6};
	d->world.box_count = 3;
	return d;
}

static void velocities_and_identities_last(void **state)
{
	(void)state;
	for (int fps = 10; fps <= (IS_EMULATED ? 10 : 30); fps += 20) {
		struct drive *d = crossing(300, fps);
		uint32_t object = 0;

		for (int n = 0; n < (fps == 10 ? 9 : 18); n++) {
			const struct mw_frame *f = drive_on(d, NONE, 1);
			const struct seen s = look_at(d, f, 2);

			for (int box = 0; box < 2; box++) {
				const struct seen t = look_at(d, f, box);

				if (t.state[SX_MOTION_STATE_MOVES] || t.of_object)
					say("a box that stands", d, &t);
			}
			if (n == 0) {
				check_unknown(d, f);
				assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_STARTS);
				continue;
			}
			assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_RUNS);
			if (s.state[SX_MOTION_STATE_STANDS])
				say("crosses", d, &s);
			if (n < 2 * d->span)
				continue;
			check_moves(d, f, 2, &object);
			if (n > 5 * d->span &&
			    !(sqrt(d->filter.objects.objects[0].estimate.sxx) < s.pair_sigma_x))
				say("no sharper than the pair", d, &s);
		}
		assert_int_equal(d->filter.objects.last_id, object);
		drive_free(d);
	}
}

/* An object has a place, a size, and a place in 0.5 s. */
static void objects_have_a_place(void **state)
{
	struct drive *d = crossing(310, 10);
	const struct mw_box *b = &d->world.boxes[2];
	const struct sx_motion_object *o;
	struct stixel_place p, later;
	struct stixel_velocity v;
	double x, z, square;

	(void)state;
	for (int n = 0; n < 7; n++)
		drive_on(d, NONE, 1);
	assert_int_equal(d->filter.objects.count, 1);
	o = &d->filter.objects.objects[0];
	assert_true(o->shown && o->state == SX_MOTION_STATE_MOVES && o->frames >= 5 && o->unseen == 0.0);
	/* the box's front, from the camera */
	x = b->x + b->vx * d->t;
	z = b->z + b->vz * d->t - SPEED * d->t;
	if (fabs(o->x - x) > 0.35 || fabs(o->z - z) > 0.6 || fabs(o->width - b->width) > 0.7 ||
	    fabs(o->height - b->height) > 0.3 || fabs(o->y - d->world.camera.height_m) > 0.3)
		fail_msg("at %.2f %.2f %.2f m, %.2f x %.2f m; true %.2f %.2f", o->x, o->y, o->z, o->width,
			 o->height, x, z);
	p = (struct stixel_place){o->x, o->z, o->pxx, o->pxz, o->pzz};
	v = sx_motion_velocity_of(&o->estimate);
	later = stixel_place_after(&p, &v, 0.5);
	x += 0.5 * b->vx;
	z += 0.5 * b->vz;
	square = sx_motion_square(later.x - x, later.z - z, later.sxx, later.sxz, later.szz);
	if (!(hypot(later.x - x, later.z - z) < 0.7) || !(square < 9.0))
		fail_msg("in 0.5 s at %.2f %.2f m, true %.2f %.2f: %.1f sigma", later.x, later.z, x, z,
			 sqrt(square));
	drive_free(d);
}

static void ahead_adds_what_may_change(void **state)
{
	const struct stixel_velocity v = {2, -4, 0.04, 0.01, 0.09, STIXEL_MOTION_MOVES};
	const struct stixel_place p = stixel_place_at(500, 300, 0.4, 350, 20);
	struct stixel_place q;

	(void)state;
	assert_true(fabs(p.z - 10) < 1e-12 && fabs(p.x - 1) < 1e-12);
	/* 0.32 px of 20 px are 1.6 % of 10 m */
	assert_true(fabs(sqrt(p.szz) - 10 * sqrt(0.25 * 0.25 + 0.2 * 0.2) / 20) < 1e-12);
	assert_true(p.sxz > 0 && p.sxx > 0 && p.sxx * p.szz > p.sxz * p.sxz);
	q = stixel_place_after(&p, &v, 0.0);
	assert_memory_equal(&p, &q, sizeof(p));
	q = stixel_place_after(&p, &v, 2.0);
	assert_true(fabs(q.x - 5) < 1e-12 && fabs(q.z - 2) < 1e-12);
	/* an acceleration of 3 m/s^2 makes 6 m of 2 s */
	assert_true(fabs(q.sxx - (p.sxx + 0.16 + 36)) < 1e-9 && fabs(q.sxz - (p.sxz + 0.04)) < 1e-9 &&
		    fabs(q.szz - (p.szz + 0.36 + 36)) < 1e-9);
}

/* Frames that show nothing: all is unknown, and the object is found again where it should be by then. */
static void useless_frames_make_all_unknown(void **state)
{
	const enum fault faults[] = {COVERED, NOISE, FROZEN};

	(void)state;
	for (size_t i = 0; i < (IS_EMULATED ? 1 : 3); i++) {
		struct drive *d = crossing(320 + (uint32_t)i, 10);
		uint32_t object = 0;

		for (int n = 0; n < 5; n++)
			drive_on(d, NONE, 1);
		check_moves(d, frame_at(d, 0), 2, &object);
		check_unknown(d, drive_on(d, faults[i], 1));
		assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_LOST);
		if (faults[i] != FROZEN) {
			/* this pair has a useless frame before it */
			check_unknown(d, drive_on(d, NONE, 1));
			assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_LOST);
		}
		assert_int_equal(d->filter.objects.count, 1);
		assert_true(d->filter.objects.objects[0].unseen > 0.0);
		assert_true(d->filter.objects.objects[0].biased.sxx >
			    d->filter.objects.objects[0].estimate.sxx);
		drive_on(d, NONE, 1);
		drive_on(d, NONE, 1);
		assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_RUNS);
		check_moves(d, drive_on(d, NONE, 1), 2, &object);
		drive_free(d);
	}
}

/* A camera that is covered for longer: the memory ends, and identities are not used again. */
static void long_loss_ends_identities(void **state)
{
	struct drive *d;
	uint32_t before = 0, after = 0;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	d = crossing(330, 10);
	for (int n = 0; n < 4; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &before);
	for (int n = 0; n < 6; n++)
		check_unknown(d, drive_on(d, COVERED, 1));
	assert_int_equal(d->filter.objects.count, 0);
	for (int n = 0; n < 4; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &after);
	assert_true(after > before);
	drive_free(d);
}

static void missing_pairs(void **state)
{
	struct drive *d;
	uint32_t object = 0, other = 0;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	d = crossing(340, 10);
	for (int n = 0; n < 4; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &object);
	/* a frame is missing: the next frame is measured over 0.2 s */
	check_moves(d, drive_on(d, NONE, 2), 2, &object);
	assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_RUNS);
	/* half a second without any: a new start, from two frames alone */
	drive_on(d, NONE, 5);
	assert_int_not_equal(d->filter.memory, SX_MOTION_MEMORY_STALE);
	for (int n = 0; n < 3; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &other);
	assert_true(other > object);
	drive_free(d);
}

static void exposure_does_not_end_motion(void **state)
{
	struct drive *d;
	uint32_t object = 0;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	d = crossing(350, 10);
	for (int n = 0; n < 5; n++)
		drive_on(d, NONE, 1);
	for (int n = 0; n < 3; n++) {
		const struct mw_frame *f = drive_on(d, n ? NONE : DARKER, 1);
		const struct seen s = look_at(d, f, 2);

		if (s.state[SX_MOTION_STATE_STANDS])
			say("stands after a step of exposure", d, &s);
		check_moves(d, f, 2, &object);
	}
	drive_free(d);
}

/* The object is not seen for two frames, and found again. */
static void unseen_objects_are_predicted(void **state)
{
	struct drive *d;
	uint32_t object = 0;
	double z, sxx, ahead;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	d = crossing(360, 10);
	for (int n = 0; n < 5; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &object);
	z = d->filter.objects.objects[0].z;
	sxx = d->filter.objects.objects[0].biased.sxx;
	for (int n = 0; n < 2; n++)
		drive_on(d, NO_STIXELS, 1);
	assert_int_equal(d->filter.objects.count, 1);
	assert_int_equal(d->filter.objects.objects[0].stixels, 0);
	assert_true(fabs(d->filter.objects.objects[0].unseen - 0.2) < 1e-9);
	assert_true(d->filter.objects.objects[0].biased.sxx > sxx);
	ahead = d->filter.objects.objects[0].z - (z + 0.2 * (6 - SPEED));
	if (!(fabs(ahead) < 0.3))
		fail_msg("predicted %.2f m away", ahead);
	for (int n = 0; n < 2; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &object);
	for (int n = 0; n < 6; n++)
		drive_on(d, NO_STIXELS, 1);
	assert_int_equal(d->filter.objects.count, 0);
	drive_free(d);
}

static void reset_and_stale_frames(void **state)
{
	struct drive *d;
	struct sx_motion_frame same;
	const struct mw_frame *f;
	uint32_t object = 0, other = 0;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	d = crossing(370, 10);
	for (int n = 0; n < 4; n++)
		drive_on(d, NONE, 1);
	f = frame_at(d, 0);
	check_moves(d, f, 2, &object);
	same = (struct sx_motion_frame){.view = &f->view,
					.stixels = f->stixels,
					.stixel_count = f->count,
					.stixel_width = MW_STIXEL,
					.seconds = 0.001,
					.road = &f->road};
	sx_motion_filter_next(&d->filter, &sx_motion_by_reference, &same, &f->view, &d->pair, 0.001);
	assert_int_equal(d->filter.memory, SX_MOTION_MEMORY_STALE);
	for (uint32_t i = 0; i < f->count; i++)
		assert_int_equal(d->filter.velocities[i].state, SX_MOTION_STATE_UNKNOWN);
	check_moves(d, drive_on(d, NONE, 1), 2, &object);
	sx_motion_filter_reset(&d->filter);
	assert_int_equal(d->filter.objects.count, 0);
	for (int n = 0; n < 3; n++)
		drive_on(d, NONE, 1);
	check_moves(d, frame_at(d, 0), 2, &other);
	assert_true(other > object);
	drive_free(d);
}

/* The filter says nothing about things beyond the farthest distance, even if they were known before. */
static void far_things_are_unknown(void **state)
{
	struct drive *d = drive_new(380, 10);
	const struct sx_camera *c = &d->world.camera;
	const double farthest = sx_motion_farthest(c, 0.1), least = c->fx * c->baseline_m / farthest;
	int known = 0, far = 0;

	(void)state;
	d->world.boxes[2] = (struct mw_box){0.5, farthest - 4, 3, 4, 2.5, 0, SPEED + 10};
	d->world.box_count = 3;
	for (int n = 0; n < 8; n++) {
		const struct mw_frame *f = drive_on(d, NONE, 1);

		for (uint32_t i = 0; i < f->count; i++) {
			if (f->stixels[i].disparity_q7 / 128.0 + d->pair.ego.used.px >= least) {
				known += f->owner_box[i] == 2 &&
					 d->filter.velocities[i].state == SX_MOTION_STATE_MOVES;
				continue;
			}
			far++;
			assert_int_equal(d->filter.velocities[i].state, SX_MOTION_STATE_UNKNOWN);
			assert_int_equal(d->filter.beliefs[i].object, 0);
		}
	}
	if (known < 10 || far < 10)
		fail_msg("%d known, %d too far", known, far);
	drive_free(d);
}

/* Equal frames lead to equal bytes. */
static void results_repeat(void **state)
{
	struct drive *a, *b;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	a = crossing(390, 10);
	b = crossing(390, 10);
	for (int n = 0; n < 5; n++) {
		const struct mw_frame *f = drive_on(a, NONE, 1);

		drive_on(b, NONE, 1);
		assert_memory_equal(a->filter.velocities, b->filter.velocities,
				    f->count * sizeof(*a->filter.velocities));
	}
	drive_free(a);
	drive_free(b);
}

/* Things that move, side by side, each of 5 columns: velocities as if they were measured. */
static uint32_t draw_row(struct stixel *stixels, struct sx_motion_velocity *velocities, uint32_t things)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < things; k++)
		for (uint32_t i = 0; i < 5; i++, n++) {
			stixels[n] = (struct stixel){.column = (uint16_t)(10 * k + i),
						     .row_top = 40,
						     .row_bottom = 80,
						     .disparity_q7 = 20 * 128,
						     .kind = STIXEL_OBJECT};
			velocities[n] = (struct sx_motion_velocity){.state = SX_MOTION_STATE_MOVES,
								    .measured = 1,
								    .vx = 3,
								    .vz = 2,
								    .raw_x = 3,
								    .raw_z = 2,
								    .sxx = 0.04,
								    .szz = 0.04,
								    .gain = 20};
		}
	return n;
}

/* There are at most 64 objects; what is too much stays unknown, and no identity is lost by it. */
static void objects_are_limited(void **state)
{
	enum { THINGS = 70, STIXELS = 5 * THINGS };
	static struct stixel stixels[STIXELS];
	static struct sx_motion_velocity measured[STIXELS], velocities[STIXELS];
	static struct sx_motion_belief beliefs[STIXELS];
	static uint32_t work[2 * STIXELS];
	const struct sx_camera c = {.fx = 700, .fy = 700, .cx = 1400, .cy = 60, .baseline_m = 0.5};
	const struct sx_motion_frame frame = {
		.stixels = stixels, .stixel_count = STIXELS, .stixel_width = 4, .seconds = 0.1};
	const struct sx_motion_step step = sx_motion_no_step();
	struct sx_motion_objects os = {.count = 0};

	(void)state;
	for (int n = 0; n < 3; n++) {
		assert_int_equal(draw_row(stixels, measured, THINGS), STIXELS);
		memcpy(velocities, measured, sizeof(velocities));
		for (uint32_t i = 0; i < STIXELS; i++) {
			/* the predecessor is the same stixel */
			beliefs[i].known = true;
			beliefs[i].gain = 20;
		}
		if (n)
			for (uint32_t k = 0; k < os.count; k++)
				os.objects[k].estimate.vx = os.objects[k].estimate.vz = 0.0;
		sx_motion_objects_predict(&os, &c, &step, n ? 0.1 : 0.0, 0.1, 4096, 200);
		for (uint32_t k = 0; k < os.count; k++) {
			os.objects[k].estimate.vx = 3;
			os.objects[k].estimate.vz = 2;
		}
		sx_motion_objects_next(&os, &c, &frame, measured, 0.0, 0.1, work, beliefs, velocities);
		assert_int_equal(os.count, SX_MOTION_OBJECTS_MAX);
		assert_int_equal(os.last_id, SX_MOTION_OBJECTS_MAX);
		for (uint32_t i = 0; i < STIXELS; i++) {
			const uint32_t thing = i / 5;
			const bool has = thing < SX_MOTION_OBJECTS_MAX;

			assert_int_equal(beliefs[i].object, has ? thing + 1 : 0);
			/* 5 stixels are too few to be believed in one frame */
			assert_int_equal(velocities[i].state,
					 has && n ? SX_MOTION_STATE_MOVES : SX_MOTION_STATE_UNKNOWN);
		}
	}
}

/* The published covariance decides the state, and has the bias straight ahead, at 63 degrees from the axis as well. */
static void the_covariance_decides_the_state(void **state)
{
	static struct stixel stixels[5];
	static struct sx_motion_velocity measured[5], velocities[5];
	static struct sx_motion_belief beliefs[5];
	static uint32_t work[10];
	const struct sx_motion_frame frame = {
		.stixels = stixels, .stixel_count = 5, .stixel_width = 4, .seconds = 0.1};

	(void)state;
	for (int aside = 0; aside < 2; aside++) {
		const struct sx_camera c = {
			.fx = 700, .fy = 700, .cx = aside ? -1400 : 10, .cy = 60, .baseline_m = 0.5};
		struct sx_motion_objects os = {.count = 0};
		const struct sx_motion_object *o = &os.objects[0];

		assert_int_equal(draw_row(stixels, measured, 1), 5);
		for (uint32_t i = 0; i < 5; i++) {
			measured[i].vx = measured[i].raw_x = 0.9;
			measured[i].vz = measured[i].raw_z = 0.45;
		}
		memcpy(velocities, measured, sizeof(velocities));
		memset(beliefs, 0, sizeof(beliefs));
		sx_motion_objects_next(&os, &c, &frame, measured, 0.0, 0.1, work, beliefs, velocities);
		assert_int_equal(os.count, 1);
		assert_true(fabs(o->biased.vx - 0.9) < 1e-6 && fabs(o->biased.vz - 0.45) < 1e-6);
		assert_true(o->biased.sxz == o->estimate.sxz && o->biased.szz > o->biased.sxx);
		assert_int_equal(o->state, SX_MOTION_STATE_MOVES);
		assert_int_equal(sx_motion_decide(&o->biased), o->state);
	}
}

static void memory_is_refused(void **state)
{
	const struct sx_camera none = {.fx = 0, .fy = 500, .baseline_m = 0.4},
			       c = {.fx = 500, .fy = 500, .baseline_m = 0.4};
	struct sx_motion_filter f = {0};

	(void)state;
	assert_int_equal(sx_motion_filter_init(&f, &none, 100, 100, 10), -EINVAL);
	assert_int_equal(sx_motion_filter_init(&f, &c, 0, 100, 10), -EINVAL);
	sx_motion_filter_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(velocities_and_identities_last),
		cmocka_unit_test(objects_have_a_place),
		cmocka_unit_test(ahead_adds_what_may_change),
		cmocka_unit_test(useless_frames_make_all_unknown),
		cmocka_unit_test(long_loss_ends_identities),
		cmocka_unit_test(missing_pairs),
		cmocka_unit_test(exposure_does_not_end_motion),
		cmocka_unit_test(unseen_objects_are_predicted),
		cmocka_unit_test(reset_and_stale_frames),
		cmocka_unit_test(far_things_are_unknown),
		cmocka_unit_test(results_repeat),
		cmocka_unit_test(objects_are_limited),
		cmocka_unit_test(the_covariance_decides_the_state),
		cmocka_unit_test(memory_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
