/*
 * stixel-process: motion of the pairs of a sequence, see process_motion.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/process/process_motion.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/engine.h"
#include "stages/motion/group.h"
#include "stages/motion/step.h"
#include "stixel.h"
#include "tools/common/outfile.h"
#include "tools/common/progress.h"
#include "tools/process/process.h"

#define DEGREES 57.29577951308232
#define TOLD_PX 20.0 /* disparity of the distance that the sentence about the range names, about */

static const char *const verdicts[] = {
	[SX_MOTION_STEP_FOUND] = "found",
	[SX_MOTION_STEP_FIRST] = "there is no pair before",
	[SX_MOTION_STEP_REPEATS] = "the left image is equal to the one before, byte by byte",
	[SX_MOTION_STEP_FEW] = "too few features were found again",
	[SX_MOTION_STEP_SPLIT] = "too few of the features agree",
	[SX_MOTION_STEP_ROAD] = "the near road moves in another way than most features",
};

void process_motion_next(struct process *p)
{
	p->motion.captured_ns = (int64_t)p->motion.pair++ * 1000000000 / p->fps;
}

/* Writes the pose of this left camera in the one before: three rows of a rotation and a position, m. */
static void write_ego(const struct sx_motion_ego *ego, FILE *f)
{
	const struct sx_motion_rotation m = sx_motion_rotation_of(&ego->step);

	if (ego->verdict != SX_MOTION_STEP_FOUND)
		return; /* an empty file: unknown */
	for (int i = 0; i < 3; i++)
		fprintf(f, "%.9e %.9e %.9e %.9e%c", m.r[3 * i], m.r[3 * i + 1], m.r[3 * i + 2], ego->way_m[i],
			i < 2 ? ' ' : '\n');
}

/* Writes a line for each object stixel with a known disparity. Empty velocities were not measured. */
static void write_velocities(const struct process *p, FILE *f)
{
	const struct sx_result *result = p->engine.backend->result(p->context);
	const struct sx_camera *c = &p->config.params.camera;
	const int width = p->config.params.stixels.width;

	fputs("left,right,top,bottom,x,z,vx,vz,sxx,sxz,szz,state,object\n", f);
	for (uint32_t i = 0; i < result->count; i++) {
		const struct stixel *s = &result->stixels[i];
		const struct sx_motion_velocity *v = &result->velocities[i];
		const double d = s->disparity_q7 / 128.0 + result->ego->used.px,
			     z = c->fx * c->baseline_m / d;
		const int left = s->column * width;

		if (s->kind != STIXEL_OBJECT || s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN || !(d > 0.0))
			continue;
		fprintf(f, "%d,%d,%u,%u,%.3f,%.3f,", left, left + width, s->row_top, s->row_bottom,
			(left + 0.5 * (width - 1) - c->cx) / c->fx * z, z);
		if (v->measured)
			fprintf(f, "%.3f,%.3f,%.4f,%.4f,%.4f,%u,0\n", v->vx, v->vz, v->sxx, v->sxz, v->szz,
				v->state);
		else
			fputs(",,,,,0,0\n", f);
	}
}

/* Opens NAME.SUFFIX. Names of a sequence end in _left; the results of motion belong to the pair. */
static int open_file(const struct process *p, const char *name, const char *suffix, struct sx_outfile *file)
{
	const size_t length = strlen(name);
	const bool left = length > 5 && strcmp(name + length - 5, "_left") == 0;
	char path[PATH_MAX];
	int n;

	n = snprintf(path, sizeof(path), "%s/%.*s.%s", p->folder, (int)(left ? length - 5 : length), name,
		     suffix);
	return n < 0 || (size_t)n >= sizeof(path) ? -ENAMETOOLONG : sx_outfile_open(file, path);
}

/* Returns whether the sequence has measured the offset of disparities so far. */
static bool knows_offset(const struct process_motion *m)
{
	return m->range.sigma_px > 0 && m->range.sigma_px <= SX_MOTION_OFFSET_UNSURE;
}

static void write_offset(const struct process_motion *m, FILE *f)
{
	if (knows_offset(m))
		fprintf(f, "%.4f %.4f\n", m->range.px, m->range.sigma_px);
}

static int write_files(const struct process *p, const char *name)
{
	static const char *const suffixes[] = {"ego.txt", "offset.txt", "motion.csv"};
	struct sx_outfile files[3] = {{0}};
	int r = 0;

	for (int i = 0; r == 0 && i < 3; i++)
		r = open_file(p, name, suffixes[i], &files[i]);
	if (r == 0) {
		write_ego(p->engine.backend->result(p->context)->ego, files[0].f);
		write_offset(&p->motion, files[1].f);
		write_velocities(p, files[2].f);
	}
	for (int i = 0; r == 0 && i < 3; i++)
		r = sx_outfile_commit(&files[i]);
	for (int i = 0; i < 3; i++)
		sx_outfile_abort(&files[i]);
	return r;
}

static void print_line(const struct sx_motion_ego *ego, const char *name)
{
	const double *q = ego->step.q, *s = ego->turn_sigma_rad;
	const double half = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	const double k = half > 0 ? 2.0 * atan2(half, q[0]) / half * DEGREES : 0.0;

	sx_progress_hide();
	if (ego->verdict == SX_MOTION_STEP_FIRST || ego->verdict == SX_MOTION_STEP_REPEATS) {
		printf("%s: motion unknown: %s\n", name, verdicts[ego->verdict]);
		return;
	}
	if (ego->verdict != SX_MOTION_STEP_FOUND) {
		printf("%s: motion unknown: %s (%u of %u features agree, %u of %u of the near road)\n", name,
		       verdicts[ego->verdict], ego->inliers, ego->found, ego->road_inliers, ego->road_found);
		return;
	}
	printf("%s: way %.3f %.3f %.3f m (+-%.3f %.3f %.3f), turn %.3f %.3f %.3f deg (+-%.3f %.3f %.3f)\n"
	       "%s: %u of %u features agree, %u of %u of the near road, ",
	       name, ego->way_m[0], ego->way_m[1], ego->way_m[2], ego->way_sigma_m[0], ego->way_sigma_m[1],
	       ego->way_sigma_m[2], k * q[1], k * q[2], k * q[3], s[0] * DEGREES, s[1] * DEGREES,
	       s[2] * DEGREES, name, ego->inliers, ego->found, ego->road_inliers, ego->road_found);
	if (ego->offset_verdict == SX_MOTION_OFFSET_FOUND)
		printf("offset %.2f px (+-%.2f), here %.2f (+-%.2f)\n", ego->range.px, ego->range.sigma_px,
		       ego->measured.px, ego->measured.sigma_px);
	else if (ego->offset_verdict == SX_MOTION_OFFSET_FEW_ROAD)
		printf("offset not measured: it needs %d of the near road\n", SX_MOTION_ROAD_LEAST);
	else
		printf("offset not measured: the camera hardly moves\n");
}

int process_motion_pair(struct process *p, const char *name, struct sx_why *why)
{
	const struct sx_motion_ego *ego = p->engine.backend->result(p->context)->ego;
	struct process_motion *m = &p->motion;
	int r;

	if (ego->verdict == SX_MOTION_STEP_FOUND) {
		m->steps++;
		m->offset_verdict = ego->offset_verdict;
		if (m->offset_verdict == SX_MOTION_OFFSET_FOUND)
			m->range = ego->range;
	}
	r = write_files(p, name);
	if (r < 0)
		return sx_why_fail(r, why, "cannot write the motion of %s to %s: %s", name, p->folder,
				   strerror(-r));
	print_line(ego, name);
	return 0;
}

/* Returns a round distance, m, whose disparity is about TOLD_PX. */
static double told_m(double focal_baseline)
{
	const double wanted = focal_baseline / TOLD_PX, ten = pow(10.0, floor(log10(wanted)));
	const double part = wanted / ten;

	return ten * (part < 1.5 ? 1.0 : part < 3.5 ? 2.0 : part < 7.5 ? 5.0 : 10.0);
}

void process_motion_note(const struct process *p)
{
	const struct sx_camera *c = &p->config.params.camera;
	const struct process_motion *m = &p->motion;
	const double fb = c->fx * c->baseline_m, at = told_m(fb), o = m->range.px, s = m->range.sigma_px;
	const double percent = 100.0 * o / (fb / at - o), unsure = 100.0 * s / (fb / at - o);

	if (!m->steps)
		return;
	if (!knows_offset(m)) {
		printf("range: not checked: %s\n",
		       m->offset_verdict == SX_MOTION_OFFSET_FEW_ROAD
			       ? "too few features of the near road"
			       : "the camera moved too little, or the pairs are too few");
		return;
	}
	if (fabs(o) < 2.0 * s)
		printf("range: no error found: offset %.2f px (+-%.2f); distances at %g m are right within "
		       "%.1f %%\n",
		       o, s, at, fabs(percent) + unsure);
	else
		printf("range: at %g m distances are %.1f %% (+-%.1f) too %s: offset %.2f px (+-%.2f); the cameras "
		       "are rotated by %.3f degrees (+-%.3f) against their calibration\n",
		       at, fabs(percent), unsure, o > 0 ? "long" : "short", o, s, fabs(o) / c->fx * DEGREES,
		       s / c->fx * DEGREES);
}
