/*
 * Draws stereo pairs of the synthetic street and writes them in every form a camera could give them:
 *
 *	stereo-images FOLDER WIDTHxHEIGHT COUNT [LENSES]
 *
 * makes FOLDER/left-N.pgm, .grey, .yuyv, .uyvy, .nv12, .jpg, and the same for the right camera, and
 * camera.conf with the matching section [camera]. For raw cameras it also writes stereo.yaml in OpenCV's
 * format. Chroma is not neutral, so that a reader that takes it for luminance is detected.
 *
 *	stereo-images --faults FOLDER WIDTHxHEIGHT COUNT FAULT...
 *
 * makes FOLDER/camera.conf, and FOLDER/FAULT/left-N.grey and right-N.grey for each fault of source.fault.
 * The pictures are a drive there and back, so that a player in a loop shows no jump.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>

#include "capture/scene/scene.h"
#include "capture/scene/scene_fault.h"

#define QUALITY 85
#define SEED 7

#define USAGE                                                                      \
	"usage: stereo-images FOLDER WIDTHxHEIGHT COUNT [LENSES] (even numbers)\n" \
	"       stereo-images --faults FOLDER WIDTHxHEIGHT COUNT FAULT...\n"

struct picture {
	int width, height;
	uint8_t *light;	 /* luminance: width * height bytes */
	uint8_t *chroma; /* chroma, two values for each pair of pixels of a row: width * height bytes */
	uint8_t *out;
};

/* Returns chroma with two colours that vary over the image. A camera's white balance would not allow this. */
static uint8_t chroma_at(int x, int y)
{
	return (uint8_t)(x % 2 ? 64 + (x + y) % 128 : 192 - (x * 3 + y) % 128);
}

static size_t grey(const struct picture *p)
{
	size_t n = (size_t)p->width * (size_t)p->height;

	memcpy(p->out, p->light, n);
	return n;
}

/* Packs luminance and chroma. `first` is 0 for luminance first (YUYV), 1 for chroma first (UYVY). */
static size_t packed(const struct picture *p, int first)
{
	size_t n = (size_t)p->width * (size_t)p->height;

	for (size_t i = 0; i < n; i++) {
		p->out[2 * i + (size_t)first] = p->light[i];
		p->out[2 * i + (size_t)!first] = p->chroma[i];
	}
	return 2 * n;
}

static size_t yuyv(const struct picture *p)
{
	return packed(p, 0);
}

static size_t uyvy(const struct picture *p)
{
	return packed(p, 1);
}

static size_t nv12(const struct picture *p)
{
	size_t n = grey(p);

	for (int y = 0; y < p->height; y += 2) {
		memcpy(p->out + n, p->chroma + (size_t)y * (size_t)p->width, (size_t)p->width);
		n += (size_t)p->width;
	}
	return n;
}

/* Encodes the picture with 4:2:2 chroma, as cameras do. */
static size_t jpg(const struct picture *p)
{
	unsigned long bytes = (unsigned long)p->width * (unsigned long)p->height * 2;
	uint8_t *row = malloc((size_t)p->width * 3), *jpeg = p->out;
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr error;

	if (!row)
		exit(1);
	c.err = jpeg_std_error(&error); /* prints the error and exits */
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &jpeg, &bytes);
	c.image_width = (JDIMENSION)p->width;
	c.image_height = (JDIMENSION)p->height;
	c.input_components = 3;
	c.in_color_space = JCS_YCbCr;
	jpeg_set_defaults(&c);
	jpeg_set_quality(&c, QUALITY, TRUE);
	c.comp_info[0].h_samp_factor = 2;
	c.comp_info[0].v_samp_factor = 1;
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < p->height; y++) {
		const size_t from = (size_t)y * (size_t)p->width;

		for (size_t x = 0; x < (size_t)p->width; x++) {
			row[3 * x] = p->light[from + x];
			row[3 * x + 1] = p->chroma[from + (x & ~(size_t)1)];
			row[3 * x + 2] = p->chroma[from + (x | 1)];
		}
		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(row);
	if (jpeg != p->out) { /* the picture did not fit, and libjpeg allocated other memory */
		fprintf(stderr, "stereo-images: a JPEG takes more than two bytes a pixel\n");
		exit(1);
	}
	return bytes;
}

static size_t pgm(const struct picture *p)
{
	int head = snprintf((char *)p->out, 64, "P5\n%d %d\n255\n", p->width, p->height);

	memcpy(p->out + head, p->light, (size_t)p->width * (size_t)p->height);
	return (size_t)head + (size_t)p->width * (size_t)p->height;
}

static const struct form {
	const char *suffix;
	size_t (*encode)(const struct picture *);
} forms[] = {{"grey", grey}, {"pgm", pgm}, {"yuyv", yuyv}, {"uyvy", uyvy}, {"nv12", nv12}, {"jpg", jpg}};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* Writes the first `count` forms of a picture. */
static int write_forms(const struct picture *p, size_t count, const char *folder, const char *side,
		       int number)
{
	for (size_t i = 0; i < count; i++) {
		char path[4096];
		FILE *f = NULL;
		size_t bytes = forms[i].encode(p);
		int n = snprintf(path, sizeof(path), "%s/%s-%d.%s", folder, side, number, forms[i].suffix);

		errno = ENAMETOOLONG;
		if (n < (int)sizeof(path))
			f = fopen(path, "wb");
		if (!f || fwrite(p->out, 1, bytes, f) != bytes || fclose(f) != 0) {
			fprintf(stderr, "stereo-images: %s: %s\n", path, strerror(errno));
			return -EIO;
		}
	}
	return 0;
}

static int write_camera(const struct picture *p, const char *folder)
{
	struct sx_camera c;
	char path[4096];
	FILE *f;

	sx_scene_camera(&(struct sx_scene_params){.width = p->width, .height = p->height}, &c);
	snprintf(path, sizeof(path), "%s/camera.conf", folder);
	f = fopen(path, "w");
	if (!f)
		return -errno;
	fprintf(f,
		"[camera]\nfx = %g\nfy = %g\ncx = %g\ncy = %g\nbaseline_m = %g\nheight_m = %g\npitch_deg = "
		"%g\n",
		c.fx, c.fy, c.cx, c.cy, c.baseline_m, c.height_m, c.pitch_deg);
	return fclose(f) == 0 ? 0 : -EIO;
}

/* Computes a^T b of matrices stored by rows. */
static void transposed_by(const double a[9], const double b[9], double ret[9])
{
	for (int i = 0; i < 9; i++)
		ret[i] = a[i / 3] * b[i % 3] + a[3 + i / 3] * b[3 + i % 3] + a[6 + i / 3] * b[6 + i % 3];
}

/* Writes the rig. A point p in the left camera's axes is R p + T in the right camera's axes. */
static int write_rig(const struct sx_rig *g, const char *folder)
{
	double r[9];
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/stereo.yaml", folder);
	f = fopen(path, "w");
	if (!f)
		return -errno;
	fprintf(f, "%%YAML:1.0\n---\nimage_width: %d\nimage_height: %d\n", g->raw_width, g->raw_height);
	for (int side = 0; side < 2; side++) {
		const struct sx_raw_camera *c = &g->raw[side];
		const double *d = c->distortion;

		fprintf(f, "K%d: [%.9g, 0, %.9g, 0, %.9g, %.9g, 0, 0, 1]\n", side + 1, c->fx, c->cx, c->fy,
			c->cy);
		fprintf(f, "D%d: [%.9g, %.9g, %.9g, %.9g, %.9g]\n", side + 1, d[0], d[1], d[2], d[3], d[4]);
	}
	transposed_by(g->rotation[1], g->rotation[0], r);
	fprintf(f, "R: [%.12g, %.12g, %.12g, %.12g, %.12g, %.12g, %.12g, %.12g, %.12g]\n", r[0], r[1], r[2],
		r[3], r[4], r[5], r[6], r[7], r[8]);
	fprintf(f, "T: [%.12g, %.12g, %.12g]\n", -g->baseline_m * g->rotation[1][0],
		-g->baseline_m * g->rotation[1][1], -g->baseline_m * g->rotation[1][2]);
	return fclose(f) == 0 ? 0 : -EIO;
}

static void take(struct picture *p, const struct sx_image *image)
{
	for (int y = 0; y < p->height; y++)
		memcpy(p->light + (size_t)y * (size_t)p->width, sx_image_row(image, y), (size_t)p->width);
}

static int write_pair(struct picture *p, const struct sx_image *images, size_t count, const char *folder,
		      int number)
{
	int r = 0;

	for (int side = 0; side < 2 && r == 0; side++) {
		take(p, &images[side]);
		r = write_forms(p, count, folder, side ? "right" : "left", number);
	}
	return r;
}

/* Writes pairs of frames that are far apart, so that the pictures differ. */
static int write_pairs(struct picture *p, struct sx_scene *scene, struct sx_image *images, int count,
		       const char *folder)
{
	int r = 0;

	for (int n = 0; n < count && r == 0; n++) {
		sx_scene_render(scene, (uint32_t)n * 10, &images[0], &images[1]);
		r = write_pair(p, images, FORMS, folder, n);
	}
	return r;
}

/*
 * Returns the n-th frame of a drive there and back over `count` pictures. It takes every second frame, so
 * that moving objects move by more than a pixel.
 */
static uint32_t there_and_back(int n, int count)
{
	return 2 * (uint32_t)(n % count <= count / 2 ? n % count : count - n % count);
}

/*
 * Writes the pictures of a fault. `images`: left, right, scratch. A right camera that is late by some
 * pictures is late on the way back, too.
 */
static int write_fault(struct picture *p, struct sx_scene *scene, struct sx_image *images, int count,
		       const char *folder, const char *name)
{
	struct sx_fault f;
	char path[4096];
	struct sx_why why;
	int r = 0;

	if (sx_fault_parse(&f, name, &why) < 0) {
		fprintf(stderr, "stereo-images: %s\n", why.text);
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (mkdir(path, 0755) < 0) {
		fprintf(stderr, "stereo-images: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	for (int n = 0; n < count && r == 0; n++) {
		sx_scene_render(scene, there_and_back(n, count), &images[0], &images[1]);
		if (f.kind == SX_FAULT_LATE_RIGHT)
			sx_scene_render(scene, there_and_back(n + (int)f.amount, count), &images[2],
					&images[1]);
		sx_fault_plant(&f, &images[0], &images[1], &images[2]);
		r = write_pair(p, images, 1, path, n);
	}
	return r;
}

/* Allocates one block for luminance, chroma, and the output. */
static int picture_init(struct picture *p, int width, int height)
{
	const size_t pixels = (size_t)width * (size_t)height;

	p->width = width;
	p->height = height;
	p->light = malloc(4 * pixels + 64);
	if (!p->light)
		return -ENOMEM;
	p->chroma = p->light + pixels;
	p->out = p->chroma + pixels;
	for (size_t i = 0; i < pixels; i++)
		p->chroma[i] = chroma_at((int)(i % (size_t)width), (int)(i / (size_t)width));
	return 0;
}

int main(int argc, char **argv)
{
	const bool faults = argc > 1 && strcmp(argv[1], "--faults") == 0;
	char **words = argv + 1 + faults;
	const int given = argc - 1 - faults;
	struct sx_scene_params params = {.name = "street", .seed = SEED};
	struct sx_scene *scene;
	struct sx_rig rig;
	struct sx_image images[3];
	struct picture p = {0};
	struct sx_why why;
	int count, r = 0;

	if (given < 3 || (!faults && given > 4) || (faults && given < 4) ||
	    sscanf(words[1], "%dx%d", &params.width, &params.height) != 2 || params.width % 2 ||
	    params.height % 2 || (count = (int)strtol(words[2], NULL, 10)) < 1) {
		fputs(USAGE, stderr);
		return 64;
	}
	params.lenses = faults ? NULL : words[3];
	if (picture_init(&p, params.width, params.height) < 0 || sx_scene_create(&scene, &params, &why) < 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (sx_image_init(&images[i], SX_PIXEL_U8, p.width, p.height) < 0)
			return 1;
	for (int i = 3; faults && i < given && r == 0; i++)
		r = write_fault(&p, scene, images, count, words[0], words[i]);
	if (!faults)
		r = write_pairs(&p, scene, images, count, words[0]);
	if (r < 0 || write_camera(&p, words[0]) < 0)
		return 1;
	return params.lenses && (sx_scene_rig(&params, &rig, &why) < 0 || write_rig(&rig, words[0]) < 0);
}
