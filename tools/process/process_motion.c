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
#include "stages/motion/meaning.h"
#include "stages/motion/step.h"
#include "stixel.h"
#include "tools/common/outfile.h"
#include "tools/common/progress.h"
#include "tools/process/process.h"
#include "tools/process/process_objects.h"

#define FILES 4 /* the last one with --motion-filter alone */
#define DEGREES 57.29577951308232

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
		const uint32_t object = result->object_of ? result->object_of[i] : 0;
		const double d = s->disparity_q7 / 128.0 + result->ego->used.px,
			     z = c->fx * c->baseline_m / d;
		const int left = s->column * width;

		if (s->kind != STIXEL_OBJECT || s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN || !(d > 0.0))
			continue;
		fprintf(f, "%d,%d,%u,%u,%.3f,%.3f,", left, left + width, s->row_top, s->row_bottom,
			(left + 0.5 * (width - 1) - c->cx) / c->fx * z, z);
		if (v->measured)
			fprintf(f, "%.3f,%.3f,%.4f,%.4f,%.4f,%u,%u\n", v->vx, v->vz, v->sxx, v->sxz, v->szz,
				v->state, object);
		else
			fprintf(f, ",,,,,0,%u\n", object);
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

static void write_offset(const struct process_motion *m, FILE *f)
{
	if (sx_range_is_known(&m->range))
		fprintf(f, "%.4f %.4f\n", m->range.px, m->range.sigma_px);
}

static int write_files(const struct process *p, const char *name)
{
	static const char *const suffixes[FILES] = {"ego.txt", "offset.txt", "motion.csv", "objects.csv"};
	struct sx_outfile files[FILES] = {{0}};
	const int count = p->filters ? FILES : FILES - 1;
	int r = 0;

	for (int i = 0; r == 0 && i < count; i++)
		r = open_file(p, name, suffixes[i], &files[i]);
	if (r == 0) {
		write_ego(p->engine.backend->result(p->context)->ego, files[0].f);
		write_offset(&p->motion, files[1].f);
		write_velocities(p, files[2].f);
		if (p->filters)
			process_objects_write(p->engine.backend->result(p->context)->objects, files[3].f);
	}
	for (int i = 0; r == 0 && i < count; i++)
		r = sx_outfile_commit(&files[i]);
	for (int i = 0; i < count; i++)
		sx_outfile_abort(&files[i]);
	return r;
}

static void print_line(const struct sx_motion_ego *ego, const char *name)
{
	const double *s = ego->turn_sigma_rad;
	double turn[3];

	sx_motion_turn_deg(&ego->step, turn);
	sx_progress_hide();
	if (ego->verdict == SX_MOTION_STEP_FIRST || ego->verdict == SX_MOTION_STEP_REPEATS) {
		printf("%s: motion unknown: %s\n", name, sx_motion_verdict_text(ego->verdict));
		return;
	}
	if (ego->verdict != SX_MOTION_STEP_FOUND) {
		printf("%s: motion unknown: %s (%u of %u features agree, %u of %u of the near road)\n", name,
		       sx_motion_verdict_text(ego->verdict), ego->inliers, ego->found, ego->road_inliers,
		       ego->road_found);
		return;
	}
	printf("%s: way %.3f %.3f %.3f m (+-%.3f %.3f %.3f), turn %.3f %.3f %.3f deg (+-%.3f %.3f %.3f)\n"
	       "%s: %u of %u features agree, %u of %u of the near road, ",
	       name, ego->way_m[0], ego->way_m[1], ego->way_m[2], ego->way_sigma_m[0], ego->way_sigma_m[1],
	       ego->way_sigma_m[2], turn[0], turn[1], turn[2], s[0] * DEGREES, s[1] * DEGREES, s[2] * DEGREES,
	       name, ego->inliers, ego->found, ego->road_inliers, ego->road_found);
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

void process_motion_note(const struct process *p)
{
	const struct process_motion *m = &p->motion;
	char text[SX_RANGE_TEXT_BYTES];

	if (!m->steps)
		return;
	if (!sx_range_is_known(&m->range)) {
		printf("range: not checked: %s\n",
		       m->offset_verdict == SX_MOTION_OFFSET_FEW_ROAD
			       ? "too few features of the near road"
			       : "the camera moved too little, or the pairs are too few");
		return;
	}
	sx_range_describe(&p->config.params.camera, &m->range, 0, text);
	printf("range: %s\n", text);
}
