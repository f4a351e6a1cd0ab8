/*
 * Tests the scenes with truth of motion: the same bytes on every machine, the same world at every frame rate, things
 * that do not pass through others, and a truth of motion that matches the pictures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stixel.h>

#include "base/why.h"
#include "tests/capture/scene/scene_case.h"
#include "tests/emulated.h"
#include "tests/scene_motion.h"

#define SCENES 4
#define PLAIN 2 /* px: reach of is_plain() to each side */

static const char *const names[SCENES] = {"traffic", "crossing", "bend", "yard"};

static struct sx_scene *create(const char *name, unsigned seed, double fps, int width, int height)
{
	const struct sx_scene_params p = {
		.name = name, .seed = seed, .width = width, .height = height, .fps = fps};
	struct sx_scene *s;
	struct sx_why why;

	assert_int_equal(sx_scene_create(&s, &p, &why), 0);
	return s;
}

/* A scene with its pictures and all its truth. */
struct moving {
	struct street street;
	struct sx_scene_motion motion;
};

static void open_moving(struct moving *m, const char *name, unsigned seed, double fps)
{
	struct street *s = &m->street;

	memset(m, 0, sizeof(*m));
	s->scene = create(name, seed, fps, W, H);
	assert_int_equal(sx_image_init(&s->left, SX_PIXEL_U8, W, H), 0);
	assert_int_equal(sx_image_init(&s->right, SX_PIXEL_U8, W, H), 0);
	assert_int_equal(sx_scene_truth_init(&s->truth, s->scene), 0);
	assert_int_equal(sx_scene_motion_init(&m->motion, s->scene), 0);
}

static void draw_moving(struct moving *m, uint32_t frame)
{
	draw(&m->street, frame);
	sx_scene_motion(m->street.scene, &m->motion);
}

static void close_moving(struct moving *m)
{
	sx_scene_motion_finish(&m->motion);
	close_street(&m->street);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	return h;
}

static uint64_t hash_motion(const struct moving *m)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	h = hash_bytes(h, m->motion.thing, (size_t)W * H * sizeof(*m->motion.thing));
	h = hash_bytes(h, m->motion.pose, sizeof(m->motion.pose));
	for (int i = 0; i < m->motion.count; i++) {
		const struct sx_scene_thing *t = &m->motion.things[i];
		const double values[5] = {t->x, t->z, t->vx, t->vz, t->turning};

		h = hash_bytes(h, values, sizeof(values));
	}
	return h;
}

/* Stored results elsewhere depend on these bytes: change the numbers only with a reason in the commit. */
static void test_the_same_bytes_on_every_machine(void **state)
{
	static const struct {
		const char *name;
		unsigned seed;
		uint32_t frame;
		uint64_t images, truth, motion;
	} stored[] = {
		{"traffic", 1, 0, UINT64_C(0x429dff3dc7186b6b), UINT64_C(0x83c7f8743fb5a594),
		 UINT64_C(0xfe79221a553dadf6)},
		{"traffic", 2, 1234, UINT64_C(0x3574e1e222ce919d), UINT64_C(0x6fe8807dfcdbaff4),
		 UINT64_C(0xb621e377c2a94033)},
		{"crossing", 3, 17, UINT64_C(0xe5a95fafbe5ca802), UINT64_C(0xa642148c68437944),
		 UINT64_C(0x79bd068c1c5b8c1c)},
		{"crossing", 4, 987654, UINT64_C(0xb7300dc546a4ee42), UINT64_C(0x350b0447689b9eb8),
		 UINT64_C(0x4ed564e2817ec9fa)},
		{"bend", 5, 60, UINT64_C(0xd8662bcd84f044d5), UINT64_C(0x607cdc8cc5a7b2a8),
		 UINT64_C(0xeb2d3ffc8d15288e)},
		{"bend", 6, 100000, UINT64_C(0x26ab70e5bde19600), UINT64_C(0x4c2b3e1f117c174e),
		 UINT64_C(0x506de396b0d18347)},
		{"yard", 7, 33, UINT64_C(0xa7f0aadd8eff4b82), UINT64_C(0x52e8a506ceb5c0be),
		 UINT64_C(0x0e0068b2152e65ea)},
		{"yard", 8, 4321, UINT64_C(0x80ab43cc12ebdfb7), UINT64_C(0x38edaf552562aa4b),
		 UINT64_C(0x9fed9ea5045a7dba)},
	};

	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
		struct moving m;

		open_moving(&m, stored[i].name, stored[i].seed, 10);
		draw_moving(&m, stored[i].frame);
		print_message(
			"# {\"%s\", %u, %u, UINT64_C(0x%016llx), UINT64_C(0x%016llx), UINT64_C(0x%016llx)},\n",
			stored[i].name, stored[i].seed, (unsigned)stored[i].frame,
			(unsigned long long)hash_images(&m.street), (unsigned long long)hash_truth(&m.street),
			(unsigned long long)hash_motion(&m));
		assert_true(hash_images(&m.street) == stored[i].images);
		assert_true(hash_truth(&m.street) == stored[i].truth);
		assert_true(hash_motion(&m) == stored[i].motion);
		close_moving(&m);
	}
}

static void test_other_scenes_have_no_truth_of_motion(void **state)
{
	struct sx_scene_motion motion;
	struct sx_scene *s = create("street", 1, 0, W, H);

	assert_int_equal(sx_scene_motion_init(&motion, s), -22);
	sx_scene_destroy(s);
}

/* Frame n shows the world at n / fps: only the cameras' noise depends on the number. */
static void test_the_same_world_at_every_rate(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++) {
		struct moving slow, fast;

		open_moving(&slow, names[i], 3, 10);
		open_moving(&fast, names[i], 3, 30);
		slow.street.scene->exposure.noise = 0;
		fast.street.scene->exposure.noise = 0;
		for (uint32_t frame = 0; frame < 400; frame += 133) {
			draw_moving(&slow, frame);
			draw_moving(&fast, 3 * frame);
			assert_true(hash_images(&slow.street) == hash_images(&fast.street));
			assert_true(hash_truth(&slow.street) == hash_truth(&fast.street));
			assert_true(hash_motion(&slow) == hash_motion(&fast));
		}
		close_moving(&slow);
		close_moving(&fast);
	}
}

static void test_a_frame_does_not_depend_on_the_ones_before(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++) {
		struct moving a, b;

		open_moving(&a, names[i], 5, 10);
		open_moving(&b, names[i], 5, 10);
		draw_moving(&a, 7);
		draw_moving(&a, 300);
		draw_moving(&a, 31);
		draw_moving(&b, 31);
		assert_true(hash_images(&a.street) == hash_images(&b.street));
		assert_true(hash_motion(&a) == hash_motion(&b));
		draw_moving(&b, 32);
		assert_false(hash_images(&a.street) == hash_images(&b.street));
		close_moving(&a);
		close_moving(&b);
	}
}

/* Velocity is the change of place, and turning the change of the course: at all times, of all movers. */
static void test_velocity_is_the_change_of_place(void **state)
{
	const double h = 1e-4;
	long moving = 0, turning = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++) {
		struct sx_scene *s = create(names[i], 11, 10, 64, 64);
		struct sx_world_motion *m = s->motion;

		for (double time = 0.25; time < SX_EPISODE_S - 1; time += 0.61) {
			struct sx_moved before[SX_MOVERS_MAX], now[SX_MOVERS_MAX];

			sx_world_set(m, time);
			memcpy(now, m->moved, sizeof(now));
			sx_world_set(m, time - h);
			memcpy(before, m->moved, sizeof(before));
			sx_world_set(m, time + h);
			for (int k = 0; k < m->episode.count; k++) {
				const struct sx_moved *at = &m->moved[k];

				/* where a phase of the plan begins, the mean of both accelerations applies */
				assert_true(fabs((at->x - before[k].x) / (2 * h) - now[k].vx) < 1e-3);
				assert_true(fabs((at->z - before[k].z) / (2 * h) - now[k].vz) < 1e-3);
				assert_true(fabs((at->course - before[k].course) / (2 * h) - now[k].turning) <
					    1e-3);
				moving += hypot(now[k].vx, now[k].vz) > 1;
				turning += fabs(now[k].turning) > 0.1;
			}
		}
		sx_scene_destroy(s);
	}
	assert_true(moving > 1000 && turning > 30);
}

struct rectangle {
	double x, z, half_width, before, behind;
	struct sx_turn turn;
};

static struct rectangle rectangle_of(const struct sx_world_motion *m, int i, double rim)
{
	const struct sx_mover *mover = &m->episode.mover[i];
	const struct sx_moved *at = &m->moved[i];

	return (struct rectangle){at->x,
				  at->z,
				  0.5 * mover->width + rim,
				  mover->before + rim,
				  mover->length - mover->before + rim,
				  sx_turn_of(at->course)};
}

/* Returns true if a separating axis along one of a's sides exists. points: n points of the other thing. */
static bool is_beside(const struct rectangle *a, double points[][2], int n)
{
	double right[2] = {1e9, -1e9}, ahead[2] = {1e9, -1e9};

	for (int i = 0; i < n; i++) {
		const double x = points[i][0] - a->x, z = points[i][1] - a->z;
		const double r = x * a->turn.cosine - z * a->turn.sine,
			     f = x * a->turn.sine + z * a->turn.cosine;

		right[0] = fmin(right[0], r);
		right[1] = fmax(right[1], r);
		ahead[0] = fmin(ahead[0], f);
		ahead[1] = fmax(ahead[1], f);
	}
	return right[0] > a->half_width || right[1] < -a->half_width || ahead[0] > a->before ||
	       ahead[1] < -a->behind;
}

static void corners_of(const struct rectangle *a, double ret[4][2])
{
	for (int i = 0; i < 4; i++) {
		const double r = i & 1 ? a->half_width : -a->half_width, f = i & 2 ? a->before : -a->behind;

		ret[i][0] = a->x + r * a->turn.cosine + f * a->turn.sine;
		ret[i][1] = a->z - r * a->turn.sine + f * a->turn.cosine;
	}
}

static bool are_apart(const struct rectangle *a, const struct rectangle *b)
{
	double ca[4][2], cb[4][2];

	corners_of(a, ca);
	corners_of(b, cb);
	return is_beside(a, cb, 4) || is_beside(b, ca, 4);
}

static void test_movers_do_not_meet(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++)
		for (unsigned seed = 1; seed <= ENOUGH_OF(8); seed++) {
			struct sx_scene *s = create(names[i], seed, 10, 64, 64);
			struct sx_world_motion *m = s->motion;

			for (double time = 0; time < SX_EPISODE_S; time += 0.04) {
				struct rectangle r[SX_MOVERS_MAX];

				sx_world_set(m, time);
				for (int k = 0; k < m->episode.count; k++)
					r[k] = rectangle_of(m, k, 0.02);
				for (int k = 0; k < m->episode.count; k++)
					for (int j = 0; j < k; j++)
						if (!are_apart(&r[k], &r[j]))
							fail_msg("%s %u: %d meets %d at %.2f s", names[i],
								 seed, k, j, time);
			}
			sx_scene_destroy(s);
		}
}

/* Returns true if an upright facet of the standing world, lower than 1.5 m, stands in the way of a mover. */
static bool is_in_way(const struct sx_scene *s, const struct sx_facet *f, const struct rectangle *r)
{
	const struct sx_world_pose *p = &s->motion->pose;
	double ends[2][2], normal[2], corners[4][2], low = 1e9, high = -1e9;

	if (f->mover || f->kind != STIXEL_OBJECT || f->origin[1] > 1.5 || fabs(f->v[1]) < 0.5 || f->s1 > 300)
		return false;
	for (int k = 0; k < 2; k++) { /* turns from the camera's axes to the world */
		const double x = f->origin[0] + k * f->s1 * f->u[0], z = f->origin[2] + k * f->s1 * f->u[2];

		ends[k][0] = p->x + x * p->course_turn.cosine + z * p->course_turn.sine;
		ends[k][1] = p->z - x * p->course_turn.sine + z * p->course_turn.cosine;
	}
	if (is_beside(r, ends, 2))
		return false;
	normal[0] = ends[1][1] - ends[0][1];
	normal[1] = ends[0][0] - ends[1][0];
	corners_of(r, corners);
	for (int k = 0; k < 4; k++) {
		const double d =
			(corners[k][0] - ends[0][0]) * normal[0] + (corners[k][1] - ends[0][1]) * normal[1];

		low = fmin(low, d);
		high = fmax(high, d);
	}
	return low < 0 && high > 0;
}

static void test_nothing_stands_in_the_way(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++)
		for (unsigned seed = 1; seed <= ENOUGH_OF(6); seed++) {
			struct sx_scene *s = create(names[i], seed, 10, 64, 64);

			for (uint32_t frame = 0; frame < 240; frame += 6) {
				sx_scene_build(s, frame);
				assert_true(s->count < SX_FACETS_MAX * 3 / 4);
				assert_true(s->shadow_count < SX_SHADOWS_MAX);
				for (int k = 0; k < s->motion->episode.count; k++) {
					const struct rectangle r = rectangle_of(s->motion, k, -0.02);

					for (int j = 0; j < s->count; j++)
						if (is_in_way(s, &s->facets[j], &r))
							fail_msg(
								"%s %u: a facet of material %d in the way of %d (%d)"
								" at %.1f s: %.2f %.2f",
								names[i], seed, s->facets[j].material, k,
								s->motion->episode.mover[k].kind,
								frame / 10.0, r.x, r.z);
				}
			}
			sx_scene_destroy(s);
		}
}

/* Sums of differences of grey values: with the truth, and with a wrong velocity. */
struct difference {
	double exact, wrong;
	long count;
};

/*
 * Computes where a camera sees a point: image coordinates and disparity. False: outside of the picture, or nearer to its
 * border than is_plain() looks.
 */
static bool project(const struct sx_camera *c, const double pose[12], const double p[3], double ret[3])
{
	double q[3];

	for (int i = 0; i < 3; i++)
		q[i] = pose[4 * i] * p[0] + pose[4 * i + 1] * p[1] + pose[4 * i + 2] * p[2] + pose[4 * i + 3];
	if (q[2] < 0.3)
		return false;
	ret[0] = c->fx * q[0] / q[2] + c->cx;
	ret[1] = c->fy * q[1] / q[2] + c->cy;
	ret[2] = c->fx * c->baseline_m / q[2];
	return ret[0] >= PLAIN && ret[1] >= PLAIN && ret[0] < W - 1 - PLAIN && ret[1] < H - 1 - PLAIN;
}

static double grey_at(const struct sx_image *image, double x, double y)
{
	const int i = (int)x, k = (int)y;
	const uint8_t *row = sx_image_row(image, k), *next = sx_image_row(image, k + 1);
	const double a = x - i, b = y - k;

	return (row[i] * (1 - a) + row[i + 1] * a) * (1 - b) + (next[i] * (1 - a) + next[i + 1] * a) * b;
}

/* Returns true if the pixel and its neighbours show one surface that keeps its grey value when it moves. */
static bool is_plain(const struct moving *m, size_t at)
{
	const struct sx_view *v = &m->street.scene->view[0];
	const uint16_t id = v->id[at];
	const struct sx_facet *f;

	if (!id || m->street.truth.through[at])
		return false;
	for (ptrdiff_t k = -PLAIN; k <= PLAIN; k++)
		if (v->id[(ptrdiff_t)at + k] != id || v->id[(ptrdiff_t)at + W * k] != id)
			return false;
	f = &m->street.scene->facets[id - 1];
	/* the ground has shadows of things that move; leaves sway; tones of cloth turn with the viewer */
	return f->material != SX_MATERIAL_LEAVES && f->material != SX_MATERIAL_HILLS &&
	       (!f->mover || m->street.scene->motion->episode.mover[f->mover].kind != SX_MOVER_CYCLIST) &&
	       (f->kind == STIXEL_GROUND || f->shape == SX_SHAPE_RECTANGLE || f->shape == SX_SHAPE_TRAPEZOID);
}

/*
 * Takes points of frame `now` back to the frame before, with disparity, velocity, and both poses, and compares the
 * grey values. off: error of the velocity, m/s.
 */
static void compare(const struct moving *before, const struct moving *now, double dt, bool moving, double off,
		    struct difference *sum)
{
	const struct sx_scene_truth *t = &now->street.truth;
	const struct sx_camera *c = &t->camera;
	double pose[12];

	sx_scene_pose_in(before->motion.pose, now->motion.pose, pose);
	for (int y = PLAIN; y < H - PLAIN; y++)
		for (int x = PLAIN; x < W - PLAIN; x++) {
			const size_t at = (size_t)(y * W + x);
			const double z = c->fx * c->baseline_m / (double)t->disparity[at];
			const int index = now->motion.thing[at] - 1;
			double p[3] = {(x - c->cx) / c->fx * z, (y - c->cy) / c->fy * z, z}, was[3], side[3];
			size_t then;

			if ((index >= 0) != moving || z > 40 || !is_plain(now, at))
				continue;
			if (index >= 0) {
				const struct sx_scene_thing *g = &now->motion.things[index];

				if (hypot(g->vx, g->vz) < 0.5)
					continue;
				/* pitch and roll are so small that the axes of the camera count as level ones */
				p[0] -= dt * (g->vx + g->turning * (p[2] - g->z));
				p[2] -= dt * (g->vz - g->turning * (p[0] - g->x));
			}
			memcpy(side, p, sizeof(side));
			side[0] += off * dt;
			if (!project(c, pose, p, was))
				continue;
			then = (size_t)((int)(was[1] + 0.5) * W + (int)(was[0] + 0.5));
			/* it must be the same surface there, seen from there */
			if (now->motion.thing[at] != before->motion.thing[then] || !is_plain(before, then) ||
			    fabs((double)before->street.truth.disparity[then] - was[2]) > 0.02 * was[2] + 0.1)
				continue;
			sum->exact += fabs(grey_at(&before->street.left, was[0], was[1]) -
					   *((uint8_t *)sx_image_row(&now->street.left, y) + x));
			if (!project(c, pose, side, was))
				continue;
			sum->wrong += fabs(grey_at(&before->street.left, was[0], was[1]) -
					   *((uint8_t *)sx_image_row(&now->street.left, y) + x));
			sum->count++;
		}
}

/* Grey values of frame n equal the values of frame n-1 at the places that the truth of motion gives. */
static void test_motion_leads_to_the_same_surface(void **state)
{
	if (TOO_SLOW(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++) {
		struct difference stands = {0}, moves = {0};

		for (unsigned seed = 1; seed <= 6; seed++) {
			struct moving before, now;
			const uint32_t frame = 60 + 100 * seed;

			open_moving(&before, names[i], seed, 30);
			open_moving(&now, names[i], seed, 30);
			before.street.scene->exposure.noise = 0;
			now.street.scene->exposure.noise = 0;
			draw_moving(&before, frame - 1);
			draw_moving(&now, frame);
			compare(&before, &now, 1 / 30.0, false, 2, &stands);
			compare(&before, &now, 1 / 30.0, true, 2, &moves);
			close_moving(&before);
			close_moving(&now);
		}
		print_message(
			"# %s: standing %ld points, %.2f, wrong by 2 m/s %.2f; moving %ld, %.2f, %.2f\n",
			names[i], stands.count, stands.exact / (double)stands.count,
			stands.wrong / (double)stands.count, moves.count, moves.exact / (double)moves.count,
			moves.wrong / (double)moves.count);
		assert_true(stands.count > 20000 && moves.count > 250);
		assert_true(stands.exact < 0.45 * stands.wrong);
		assert_true(moves.exact < 0.3 * moves.wrong);
	}
}

/* Things that a scene must show within an episode, for a test of motion. */
struct show {
	int brakes, speeds_up;	  /* cars before the camera in its lane */
	int oncoming, turns;	  /* cars */
	int cyclists, persons;	  /* things that move, within 40 m */
	int across, starts_stops; /* people on the roadway */
	int hidden;		  /* things that something hides and shows again within 3 s, within 30 m */
	int robots, stands;	  /* things that were seen; persons that stand */
	double turning;		  /* largest rate of the camera, degrees/s */
};

static void watch(struct moving *m, struct show *r)
{
	uint8_t seen[SX_MOVERS_MAX] = {0}, was[SX_MOVERS_MAX] = {0}; /* kinds of events, as bits */
	double lost[SX_MOVERS_MAX] = {0};

	for (uint32_t frame = 0; frame < 80; frame++) {
		const struct sx_world_motion *motion = m->street.scene->motion;

		sx_scene_build(m->street.scene, 3 * frame); /* the truth has only the things */
		sx_view_draw(&m->street.scene->view[0], m->street.scene, 0);
		sx_scene_motion(m->street.scene, &m->motion);
		r->turning = fmax(r->turning, fabs(motion->moved[0].turning) / SX_DEGREE);
		for (int i = 0; i < m->motion.count; i++) {
			const struct sx_scene_thing *t = &m->motion.things[i];
			const struct sx_moved *at = &motion->moved[i + 1];
			const double speed = hypot(t->vx, t->vz), time = 0.3 * frame;
			const bool vehicle = t->kind == SX_MOVER_CAR || t->kind == SX_MOVER_VAN;
			const bool on_road = fabs(at->x)<SX_STREET_HALF - 1, shown = t->pixels> 12;

			if (shown && lost[i] > 0 && time - lost[i] < 3 && t->z < 30)
				seen[i] |= 1;
			if (was[i] && t->pixels == 0 && fabs(t->x) < 0.6 * t->z)
				lost[i] = time;
			if (shown)
				lost[i] = 0;
			was[i] = t->pixels > 0;
			if (!shown || t->z > 40)
				continue;
			if (vehicle && fabs(t->x) < 1.5 && t->vz > 1)
				seen[i] |= (at->gain < -1) * 2 + (at->gain > 0.8) * 4;
			if (vehicle && t->vz < -3 && fabs(t->vx) < 2)
				seen[i] |= 8;
			if (vehicle && fabs(t->turning) > 0.15)
				seen[i] |= 16;
			if (!vehicle && speed > 0.5)
				seen[i] |= 32;
			if (t->kind == SX_MOVER_PERSON && on_road)
				seen[i] |= fabs(at->gain) > 1 ? 64 + 128 : 64;
			if (t->kind == SX_MOVER_PERSON && speed == 0)
				r->stands++;
			r->robots += t->kind == SX_MOVER_ROBOT;
		}
	}
	for (int i = 0; i < m->motion.count; i++) {
		const bool person = m->motion.things[i].kind == SX_MOVER_PERSON,
			   cyclist = m->motion.things[i].kind == SX_MOVER_CYCLIST;

		r->hidden += seen[i] & 1;
		r->brakes += seen[i] >> 1 & 1;
		r->speeds_up += seen[i] >> 2 & 1;
		r->oncoming += seen[i] >> 3 & 1;
		r->turns += seen[i] >> 4 & 1;
		r->persons += person && seen[i] >> 5 & 1;
		r->cyclists += cyclist && seen[i] >> 5 & 1;
		r->across += seen[i] >> 6 & 1;
		r->starts_stops += seen[i] >> 7;
	}
}

static void test_scenes_show_what_their_names_say(void **state)
{
	if (TOO_SLOW(SAME_BYTES))
		return;
	for (int i = 0; i < SCENES; i++) {
		struct show all = {0};

		for (unsigned seed = 1; seed <= 6; seed++) {
			struct moving m;

			open_moving(&m, names[i], seed, 10);
			watch(&m, &all);
			close_moving(&m);
		}
		print_message(
			"# %s: brakes %d, speeds up %d, oncoming %d, turns %d, cyclists %d, persons %d, across "
			"%d, starts or stops %d, hidden %d, robots %d, stands %d, turning %.1f\n",
			names[i], all.brakes, all.speeds_up, all.oncoming, all.turns, all.cyclists,
			all.persons, all.across, all.starts_stops, all.hidden, all.robots, all.stands,
			all.turning);
		assert_true(all.hidden >= 5);
		assert_true(all.stands >= 6);
		switch (i) {
		case 0:
			assert_true(all.brakes >= 3 && all.speeds_up >= 2 && all.oncoming >= 12 &&
				    all.turns >= 4);
			assert_true(all.cyclists >= 12 && all.persons >= 12);
			break;
		case 1:
			assert_true(all.across >= 20 && all.starts_stops >= 6 && all.cyclists >= 6);
			break;
		case 2:
			assert_true(all.turning > 20 && all.turning < 29 && all.oncoming >= 6 &&
				    all.persons >= 12);
			break;
		default:
			assert_true(all.persons >= 24 && all.robots >= 20 && all.turning > 10);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_bytes_on_every_machine),
		cmocka_unit_test(test_other_scenes_have_no_truth_of_motion),
		cmocka_unit_test(test_the_same_world_at_every_rate),
		cmocka_unit_test(test_a_frame_does_not_depend_on_the_ones_before),
		cmocka_unit_test(test_velocity_is_the_change_of_place),
		cmocka_unit_test(test_movers_do_not_meet),
		cmocka_unit_test(test_nothing_stands_in_the_way),
		cmocka_unit_test(test_motion_leads_to_the_same_surface),
		cmocka_unit_test(test_scenes_show_what_their_names_say),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
