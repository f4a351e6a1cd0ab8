/*
 * Writes frames of a scene with truth of motion, with their truth, for programs that estimate motion:
 * motion-frames [OPTION]... FOLDER. The files:
 *
 * NNNN_left.png, NNNN_right.png; calib.txt: fx, fy, cx, cy (px), baseline_m, height_m (of the
 * camera), width, height, fps, disparity_offset_px (what measured disparities lack).
 * poses.txt: a line per frame, 12 numbers, rows of [R|t]: from the left camera (x right, y down, z ahead) to the
 * one of the first frame, m.
 * objects.txt: frame, identity, x, z, vx, vz, pixels, turning, class, length, width, height of each thing
 * (tests/scene_motion.h).
 * NNNN_thing.pgm: identity of the thing at each pixel, 0 for the standing world, 16 bits.
 * NNNN_truth.pgm: disparity * 256, 16 bits, 0: sky.
 * With --answers: also a result without error in that folder (measure.py has the format): true stixels of objects,
 * their velocities, and the steps of the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <png.h>
#include <stixel.h>

#include "base/why.h"
#include "stages/rectify/rectify.h"
#include "tests/scene_motion.h"

#define STANDS 0.3 /* m/s: a thing that is slower stands, in a result without error */
#define MOVES 1.0  /* m/s: a thing that is faster moves */

static const char usage[] =
	"Usage: motion-frames [OPTION]... FOLDER\n"
	"Writes frames of a scene with truth of motion, with their truth.\n"
	"      --scene NAME        traffic, crossing, bend or yard (traffic)\n"
	"      --seed N            of the scene (1)\n"
	"      --fps N             frames per second (10)\n"
	"      --start S           time of the first frame, s (2)\n"
	"  -n, --frames N          number of frames (24)\n"
	"      --size WxH          of a picture (the scene's usual one)\n"
	"      --lenses NAME       plain, wide, fisheye: raw pictures, rectified (ideal)\n"
	"      --shift PX          shifts the right picture, against its calibration (0)\n"
	"      --turn P,Y,R        turns the right camera up, right, clockwise, against its calibration, degrees\n"
	"      --width PX          of the stixels of --answers (4)\n"
	"      --answers FOLDER    also writes a result without error\n";

struct options {
	struct sx_scene_params params;
	unsigned frames;
	double start;
	int width;
	const char *folder, *answers;
};

/* The scene with ideal lenses, which has the truth, and the same scene as the cameras see it. */
struct job {
	struct options options;
	struct sx_scene *scene, *seen;
	struct sx_scene_truth truth;
	struct sx_scene_motion motion;
	struct sx_rig rig;
	bool rectifies;
	struct sx_rectify_map map[2];
	struct sx_image raw[2], image[2];
	struct stixel *stixels;
	uint32_t *offsets;
	double first[12], before[12];
	FILE *poses, *objects;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "motion-frames: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return -1;
}

static FILE *open_file(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (!f)
		fail(path, strerror(errno));
	return f;
}

static int close_file(FILE *f)
{
	const bool bad = ferror(f) != 0;

	if ((fclose(f) != 0) | bad)
		return fail("cannot write", strerror(errno));
	return 0;
}

static int write_png(const struct job *j, unsigned n, int side)
{
	const struct sx_image *image = &j->image[side];
	png_image p = {.version = PNG_IMAGE_VERSION,
		       .width = (png_uint_32)image->width,
		       .height = (png_uint_32)image->height,
		       .format = PNG_FORMAT_GRAY};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%04u_%s.png", j->options.folder, n, side ? "right" : "left");
	if (!png_image_write_to_file(&p, path, 0, sx_image_row(image, 0), (png_int_32)image->pitch, NULL))
		return fail(path, p.message);
	return 0;
}

/* Writes 16 bits for each pixel. values: identities, or NULL for the disparities. */
static int write_pgm(const struct job *j, unsigned n, const char *what, bool things)
{
	const struct sx_scene_truth *t = &j->truth;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "%04u_%s.pgm", n, what);
	f = open_file(j->options.folder, name);
	if (!f)
		return -1;
	fprintf(f, "P5\n%d %d\n65535\n", t->width, t->height);
	for (int i = 0; i < t->width * t->height; i++) {
		const double d = (double)t->disparity[i] * 256 + 0.5;
		const int thing = j->motion.thing[i];
		const uint32_t v = things ? (thing ? j->motion.things[thing - 1].identity : 0)
					  : (uint32_t)(d > 65535 ? 65535 : d);

		fputc((int)(v >> 8 & 255), f);
		fputc((int)(v & 255), f);
	}
	return close_file(f);
}

static void print_pose(FILE *f, const double pose[12])
{
	for (int i = 0; i < 12; i++)
		fprintf(f, "%s%.12g", i ? " " : "", pose[i]);
	fputc('\n', f);
}

static void print_things(const struct job *j, unsigned n)
{
	static const char *const classes[SX_MOVER_CLASSES] = {"car", "van", "person", "cyclist", "robot"};

	for (int i = 0; i < j->motion.count; i++) {
		const struct sx_scene_thing *t = &j->motion.things[i];

		fprintf(j->objects, "%u %u %.6f %.6f %.6f %.6f %d %.6f %s %.3f %.3f %.3f\n", n,
			(unsigned)t->identity, t->x, t->z, t->vx, t->vz, t->pixels, t->turning,
			classes[t->kind], t->length, t->width, t->height);
	}
}

/* Returns the index of the thing that most pixels of a stixel show, -1: the standing world. */
static int thing_of(const struct job *j, const struct stixel *s)
{
	int votes[SX_MOVERS_MAX + 1] = {0}, best = 0;

	for (int y = s->row_top; y <= s->row_bottom; y++)
		for (int x = s->column * j->options.width; x < (s->column + 1) * j->options.width; x++)
			votes[j->motion.thing[y * j->truth.width + x]]++;
	for (int i = 1; i <= SX_MOVERS_MAX; i++)
		if (votes[i] > votes[best])
			best = i;
	return best - 1;
}

/* Returns what measured disparities lack in the middle of the image, px. */
static double offset_of(const struct job *j)
{
	const struct sx_scene_params *p = &j->options.params;
	struct sx_camera c;

	sx_scene_camera(p, &c);
	return p->right.shift_px - c.fx * tan(p->right.yaw_deg * SX_DEGREE);
}

static void print_answer(FILE *f, const struct job *j, const struct stixel *s)
{
	const struct sx_camera *c = &j->truth.camera;
	const int left = s->column * j->options.width, index = thing_of(j, s);
	const double z = c->fx * c->baseline_m / (s->disparity_q7 / 128.0),
		     x = (left + 0.5 * (j->options.width - 1) - c->cx) / c->fx * z;
	const struct sx_scene_thing *t = index < 0 ? NULL : &j->motion.things[index];
	const double vx = t ? t->vx + t->turning * (z - t->z) : 0,
		     vz = t ? t->vz - t->turning * (x - t->x) : 0;
	const double speed = t ? hypot(t->vx, t->vz) : 0;
	const int state = speed < STANDS ? 1 : speed < MOVES ? 0 : 2;

	fprintf(f, "%d,%d,%d,%d,%.4f,%.4f,%.5f,%.5f,1e-6,0,1e-6,%d,%u\n", left, left + j->options.width,
		s->row_top, s->row_bottom, x, z, vx, vz, state, state == 2 ? (unsigned)t->identity : 0);
}

static int write_answers(struct job *j, unsigned n)
{
	char name[64];
	int columns;
	FILE *f;

	snprintf(name, sizeof(name), "%04u.motion.csv", n);
	f = open_file(j->options.answers, name);
	if (!f)
		return -1;
	fputs("left,right,top,bottom,x,z,vx,vz,sxx,sxz,szz,state,object\n", f);
	columns = sx_scene_stixels(&j->truth, j->options.width, j->stixels, j->offsets);
	for (uint32_t i = 0; i < j->offsets[columns]; i++)
		if (j->stixels[i].kind == STIXEL_OBJECT)
			print_answer(f, j, &j->stixels[i]);
	if (close_file(f) < 0)
		return -1;
	snprintf(name, sizeof(name), "%04u.offset.txt", n);
	f = open_file(j->options.answers, name);
	if (!f)
		return -1;
	fprintf(f, "%.6f\n", offset_of(j));
	if (close_file(f) < 0 || n == 0)
		return n == 0 ? 0 : -1;
	snprintf(name, sizeof(name), "%04u.ego.txt", n);
	f = open_file(j->options.answers, name);
	if (f) {
		double step[12];

		sx_scene_pose_in(j->before, j->motion.pose, step);
		print_pose(f, step);
	}
	return f ? close_file(f) : -1;
}

static void draw(struct job *j, uint32_t frame)
{
	sx_scene_render(j->seen, frame, &j->raw[0], &j->raw[1]);
	for (int side = 0; side < 2; side++) {
		if (j->rectifies)
			sx_rectify(&j->raw[side], &j->image[side], &j->map[side], (struct sx_stretch){0});
		else
			for (int y = 0; y < j->image[side].height; y++)
				memcpy(sx_image_row(&j->image[side], y), sx_image_row(&j->raw[side], y),
				       (size_t)j->image[side].width);
	}
	sx_scene_truth(j->scene, frame, &j->truth);
	sx_scene_motion(j->scene, &j->motion);
}

static int write_frame(struct job *j, unsigned n)
{
	const double fps = j->options.params.fps;
	const int64_t episode = j->motion.episode;
	double pose[12];

	draw(j, (uint32_t)(j->options.start * fps + 0.5) + n);
	if (n && episode != j->motion.episode)
		return fail("the frames reach into the next episode", NULL);
	if (n == 0)
		memcpy(j->first, j->motion.pose, sizeof(j->first));
	for (int side = 0; side < 2; side++)
		if (write_png(j, n, side) < 0)
			return -1;
	if (write_pgm(j, n, "thing", true) < 0 || write_pgm(j, n, "truth", false) < 0)
		return -1;
	sx_scene_pose_in(j->first, j->motion.pose, pose);
	print_pose(j->poses, pose);
	print_things(j, n);
	if (j->options.answers && write_answers(j, n) < 0)
		return -1;
	memcpy(j->before, j->motion.pose, sizeof(j->before));
	return 0;
}

static int write_calibration(const struct job *j)
{
	const struct sx_scene_params *p = &j->options.params;
	FILE *f = open_file(j->options.folder, "calib.txt");
	struct sx_camera c;

	if (!f)
		return -1;
	sx_scene_camera(p, &c);
	fprintf(f,
		"fx: %.9g\nfy: %.9g\ncx: %.9g\ncy: %.9g\nbaseline_m: %.9g\nheight_m: %.9g\nwidth: %d\nheight: %d\nfps: %.9g\n"
		"disparity_offset_px: %.9g\n",
		c.fx, c.fy, c.cx, c.cy, c.baseline_m, c.height_m, p->width, p->height, p->fps, offset_of(j));
	return close_file(f);
}

static int init(struct job *j)
{
	static const int radius[2] = {0, 0};
	struct sx_scene_params ideal = j->options.params;
	const struct sx_scene_params *p = &j->options.params;
	struct sx_why why = {""};

	ideal.lenses = NULL;
	ideal.right = (struct sx_scene_error){0};
	if (sx_scene_create(&j->scene, &ideal, &why) < 0 || sx_scene_create(&j->seen, p, &why) < 0 ||
	    sx_scene_rig(p, &j->rig, &why) < 0)
		return fail(why.text, NULL);
	if (sx_scene_motion_init(&j->motion, j->scene) < 0)
		return fail("the scene has no truth of motion", p->name);
	j->rectifies = p->lenses && strcmp(p->lenses, "ideal") != 0;
	j->stixels = calloc((size_t)p->width * (size_t)p->height, sizeof(*j->stixels));
	j->offsets = calloc((size_t)p->width + 1, sizeof(*j->offsets));
	if (sx_scene_truth_init(&j->truth, j->scene) < 0 || !j->stixels || !j->offsets)
		return fail("no memory", NULL);
	for (int side = 0; side < 2; side++)
		if (sx_image_init(&j->image[side], SX_PIXEL_U8, p->width, p->height) < 0 ||
		    sx_image_init(&j->raw[side], SX_PIXEL_U8, j->rig.raw_width, j->rig.raw_height) < 0 ||
		    (j->rectifies && sx_rectify_map_init(&j->map[side], &j->rig, side, radius) < 0))
			return fail("no memory", NULL);
	return 0;
}

static void finish(struct job *j)
{
	for (int side = 0; side < 2; side++) {
		sx_image_finish(&j->image[side]);
		sx_image_finish(&j->raw[side]);
		if (j->rectifies)
			sx_rectify_map_finish(&j->map[side]);
	}
	free(j->stixels);
	free(j->offsets);
	sx_scene_truth_finish(&j->truth);
	sx_scene_motion_finish(&j->motion);
	sx_scene_destroy(j->scene);
	sx_scene_destroy(j->seen);
}

static int run(struct job *j)
{
	int r = write_calibration(j);

	j->poses = open_file(j->options.folder, "poses.txt");
	j->objects = open_file(j->options.folder, "objects.txt");
	if (!j->poses || !j->objects)
		r = -1;
	for (unsigned n = 0; n < j->options.frames && r == 0; n++)
		r = write_frame(j, n);
	if (j->poses && close_file(j->poses) < 0)
		r = -1;
	if (j->objects && close_file(j->objects) < 0)
		r = -1;
	return r;
}

static bool parse(struct options *o, int argc, char **argv)
{
	static const struct option list[] = {
		{"scene", 1, NULL, 's'},  {"seed", 1, NULL, 'S'},    {"fps", 1, NULL, 'f'},
		{"start", 1, NULL, 't'},  {"frames", 1, NULL, 'n'},  {"size", 1, NULL, 'z'},
		{"lenses", 1, NULL, 'l'}, {"shift", 1, NULL, 'o'},   {"turn", 1, NULL, 'r'},
		{"width", 1, NULL, 'w'},  {"answers", 1, NULL, 'a'}, {"help", 0, NULL, 'h'},
		{NULL, 0, NULL, 0}};
	struct sx_scene_error *e = &o->params.right;
	int c, width = 0, height = 0;

	*o = (struct options){
		.params = {.name = "traffic", .seed = 1, .fps = 10}, .frames = 24, .start = 2, .width = 4};
	while ((c = getopt_long(argc, argv, "n:", list, NULL)) != -1) {
		switch (c) {
		case 's':
			o->params.name = optarg;
			break;
		case 'S':
			o->params.seed = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'f':
			o->params.fps = strtod(optarg, NULL);
			break;
		case 't':
			o->start = strtod(optarg, NULL);
			break;
		case 'n':
			o->frames = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'z':
			if (sscanf(optarg, "%dx%d", &width, &height) != 2)
				return false;
			break;
		case 'l':
			o->params.lenses = optarg;
			break;
		case 'o':
			e->shift_px = strtod(optarg, NULL);
			break;
		case 'r':
			if (sscanf(optarg, "%lf,%lf,%lf", &e->pitch_deg, &e->yaw_deg, &e->roll_deg) != 3)
				return false;
			break;
		case 'w':
			o->width = atoi(optarg);
			break;
		case 'a':
			o->answers = optarg;
			break;
		default:
			return false;
		}
	}
	sx_scene_usual_size(o->params.name, &o->params.width, &o->params.height);
	if (width > 0) {
		o->params.width = width;
		o->params.height = height;
	}
	o->folder = optind + 1 == argc ? argv[optind] : NULL;
	return o->folder && o->params.fps > 0 && o->start >= 0 && o->frames > 0 && o->frames < 10000 &&
	       o->width > 0;
}

int main(int argc, char **argv)
{
	struct job *j = calloc(1, sizeof(*j));
	int r = 1;

	if (!j)
		return 1;
	if (!parse(&j->options, argc, argv)) {
		fputs(usage, stderr);
		free(j);
		return 64;
	}
	if ((mkdir(j->options.folder, 0777) < 0 && errno != EEXIST) ||
	    (j->options.answers && mkdir(j->options.answers, 0777) < 0 && errno != EEXIST))
		fail("cannot make the folder", strerror(errno));
	else if (init(j) == 0)
		r = run(j) < 0;
	finish(j);
	free(j);
	return r;
}
