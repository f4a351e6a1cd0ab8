/*
 * What tests of source "v4l2" share: two made-up cameras, and a source on them that leaves nothing behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_V4L2_CASE_H
#define SX_TESTS_CAPTURE_V4L2_V4L2_CASE_H

#include "capture/v4l2/v4l2_priv.h"
#include "tests/kit/fake_v4l2.h"

#define CASE_W 48
#define CASE_H 34
#define CASE_LEFT "/dev/fake-left"
#define CASE_RIGHT "/dev/fake-right"
#define CASE_EXPORTER "/dev/fake-exporter"
#define CASE_MS 1000000LL
#define CASE_TIMEOUT_S 20
#define CASE_PERIOD_NS (1000 * CASE_MS / 30)
#define CASE_SLOTS 3
/* Of the nth picture, counted from a time in the past; the source compares times with each other only. */
#define CASE_TIME(n) (100000 * CASE_MS + (n)*CASE_PERIOD_NS)

/* The last sentence. */
extern char case_why[512];

/* Two cameras, 48x34 at 30 fps, which may be silent for CASE_TIMEOUT_S: no machine is so busy. */
struct sx_source_params case_params(void);
/* Adds the cameras of case_params() and one that exports; modes: of all of them. */
void case_cameras(struct fake_camera *cameras[2], const struct fake_mode *modes);
/* GREY of that size at 30 fps. */
void case_grey(struct fake_camera *cameras[2]);

/* Opens, or fails the test with the sentence. */
struct sx_source *case_open(const struct sx_source_params *p, int slots);
/* Opens, and both cameras have given their first picture, number 0, which is dropped. */
struct sx_source *case_begin(struct fake_camera *cameras[2], const struct sx_source_params *p);
/* case_grey() and case_params(). */
struct sx_source *case_begin_grey(struct fake_camera *cameras[2]);
/* Open must fail with this and say this, and leave no descriptor. */
void case_refused(const struct sx_source_params *p, int error, const char *words);
/* Whether all of the image lies in a block of the source. */
bool case_in_blocks(const struct sx_source *s, const struct sx_image *img);
const struct sx_v4l2 *case_inside(const struct sx_source *s);
/* Closes; no descriptor may be left of those opened since case_open(). Forgets the cameras. */
void case_close(struct sx_source *s);

/* One picture of each camera, pattern and time alike. */
void case_fill(struct fake_camera *cameras[2], int pattern, int64_t ns);
/* sx_source_next(), until it gives something else than 0 or seconds have gone. */
int case_next(struct sx_source *s, struct sx_pair *pair, double seconds);
/* next must give this and say this. */
void case_expect(struct sx_source *s, int result, const char *words);
/* So much time passes in which nothing happens. */
void case_wait(struct sx_source *s, int seconds);
/*
 * captured = dropped + given out, on both sides; on_way: images of each side that wait or are being decoded.
 */
void case_balanced(const struct sx_source *s, int on_way_left, int on_way_right);
/* "left/right" of the images dropped for one reason. */
void case_dropped(const struct sx_source *s, enum sx_image_drop why_dropped, int left, int right);

#endif
